r"""What a private policy costs: the loss in expected total reward of a decision process.

A randomised policy gives, for each state s, probabilities of the actions a. With transitions T(s' | s, a),
rewards r(s, a) and a discount g < 1 it earns J = mu' (I - g T_pi)^{-1} r_pi from the start distribution mu.
For a private policy pi~ (a release of `privatize_matrix`, states by actions),

    J(pi~) - J(pi) = sum_s d(s) sum_a (pi~(a|s) - pi(a|s)) Q~(s, a),

with d the discounted visits under pi and Q~ the private policy's action values. So the loss is at most
1/2 sum_s d(s) |pi~_s - pi_s|_1 span Q~(s, .).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import InputError, ParameterError

__all__ = ["DecisionProcess"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecisionProcess:
    """A finite decision process with public dynamics.

    Parameters
    ----------
    transitions
        Shape (states, actions, states): where each action leads.
    rewards
        Shape (states, actions).
    discount
        g, with 0 <= g < 1.
    start
        The start distribution; uniform by default.
    """

    transitions: Array
    rewards: Array
    discount: float
    start: Array | None = None

    def __post_init__(self) -> None:
        moves, rewards = np.asarray(self.transitions, dtype=float), np.asarray(self.rewards, dtype=float)
        if moves.ndim != 3 or moves.shape[:2] != rewards.shape or moves.shape[2] != moves.shape[0]:
            raise InputError(
                f"transitions must have shape (states, actions, states) and rewards (states, actions); got "
                f"{moves.shape} and {rewards.shape}"
            )
        if not (np.all(moves >= 0) and np.allclose(moves.sum(axis=2), 1, rtol=0, atol=1e-9)):
            raise InputError("transitions must be probabilities that sum to one over the last axis")
        if not 0 <= self.discount < 1:
            raise ParameterError(f"discount must lie in [0, 1); got {self.discount!r}")
        uniform = np.full(len(rewards), 1 / len(rewards))
        start = uniform if self.start is None else np.asarray(self.start, dtype=float)
        for name, value in (("transitions", moves), ("rewards", rewards), ("start", start)):
            object.__setattr__(self, name, value)

    def total_reward(self, policy: npt.ArrayLike) -> float:
        """The expected total discounted reward of a randomised policy, states by actions."""
        return float(np.asarray(self.start) @ self._values(self._checked(policy)))

    def loss(self, policy: npt.ArrayLike, private: npt.ArrayLike) -> float:
        """How much less the private policy earns; negative where chance made it better."""
        return self.total_reward(policy) - self.total_reward(private)

    def loss_bound(self, private: npt.ArrayLike, row_errors: npt.ArrayLike) -> float:
        """A bound of |loss| for one release, from the L1 errors of its rows.

        Parameters
        ----------
        private
            The released policy.
        row_errors
            |pi~_s - pi_s|_1 or a bound of it, for each state or one for all.

        Notes
        -----
        With the private policy's action values, J(pi) - J(pi~) = sum_s d(s) sum_a (pi - pi~)(a|s) Q~(s, a):
        at most the largest 1/2 |pi~_s - pi_s|_1 span Q~(s, .) over s, over 1 - g, whatever the true visits d
        are. With the private policy's visits in the place of d, and the true values', whose span is at most
        that of the rewards over 1 - g, another bound. Both are public; the smaller one is given.
        """
        policy = self._checked(private)
        errors = np.broadcast_to(np.asarray(row_errors, dtype=float), (len(policy),))
        values = self.rewards + self.discount * self.transitions @ self._values(policy)
        by_values = float(np.max(errors * np.ptp(values, axis=1))) / (1 - self.discount)
        by_visits = float(self._visits(policy) @ errors) * float(np.ptp(self.rewards)) / (1 - self.discount)
        return min(by_values, by_visits) / 2

    def _checked(self, policy: npt.ArrayLike) -> Array:
        p = np.asarray(policy, dtype=float)
        if p.shape != self.rewards.shape:
            raise InputError(f"a policy is {self.rewards.shape[0]} states x {self.rewards.shape[1]} actions")
        return p

    def _chain(self, policy: Array) -> Array:
        return np.asarray(np.einsum("sa,sat->st", policy, self.transitions))

    def _values(self, policy: Array) -> Array:
        system = np.eye(len(policy)) - self.discount * self._chain(policy)
        return np.asarray(np.linalg.solve(system, (policy * self.rewards).sum(axis=1)))

    def _visits(self, policy: Array) -> Array:
        system = np.eye(len(policy)) - self.discount * self._chain(policy)
        return np.asarray(np.linalg.solve(system.T, np.asarray(self.start)))
