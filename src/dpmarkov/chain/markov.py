"""MarkovChain: a stochastic matrix, its states and every question that is asked of them."""

import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpmarkov.chain import mixing, passage, simulate
from dpmarkov.chain.gth import passage_times
from dpmarkov.chain.stationary import DENSE_STATES, stationary
from dpmarkov.chain.structure import (
    CommunicatingClass,
    classes_in_words,
    communicating_classes,
    obstacle_to_ergodicity,
    only_recurrent_class,
)
from dpmarkov.chain.validate import checked_distribution, checked_matrix
from dpmarkov.entropy import Entropy
from dpmarkov.errors import ChainError, ParameterError
from dpmarkov.states import State, StateSpace

__all__ = ["MarkovChain"]

Array = npt.NDArray[np.float64]
T = TypeVar("T")


class MarkovChain:
    """A Markov chain that never changes: what is computed once is kept.

    Parameters
    ----------
    matrix
        The transition matrix: square, entries >= 0, rows that sum to 1 (to 1e-8; they are scaled to 1). A
        dense array or any scipy sparse matrix; the chain keeps a copy.
    states
        The states, as a `StateSpace` or a list; 0, 1, 2, ... unless given.

    Examples
    --------
    >>> chain = MarkovChain([[0.9, 0.1], [0.5, 0.5]], ["sun", "rain"])
    >>> chain.stationary_distribution.round(4).tolist()
    [0.8333, 0.1667]
    >>> chain.mixing_time()
    2
    """

    __slots__ = ("_kept", "matrix", "states")

    matrix: Array | sparse.csr_array
    states: StateSpace
    _kept: dict[str, Any]

    def __init__(self, matrix: object, states: StateSpace | Iterable[State] | None = None) -> None:
        checked = checked_matrix(matrix)
        n = checked.shape[0]
        if states is None:
            states = StateSpace.range(0, n)
        elif not isinstance(states, StateSpace):
            states = StateSpace(states)
        if len(states) != n:
            raise ChainError(f"the matrix has {n} rows but {len(states)} states were named")
        object.__setattr__(self, "matrix", checked)
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "_kept", {})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a MarkovChain never changes: {name} cannot be set; make a new chain")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a MarkovChain never changes: {name} cannot be deleted")

    def __reduce__(self) -> tuple[type, tuple[object, StateSpace]]:
        return MarkovChain, (self.matrix, self.states)

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return f"MarkovChain({len(self)} states, {kind})"

    def _once(self, name: str, compute: Callable[[], T]) -> T:
        if name not in self._kept:
            value = compute()
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            self._kept[name] = value
        kept: T = self._kept[name]
        return kept

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is kept sparse."""
        return not isinstance(self.matrix, np.ndarray)

    def dense(self) -> Array:
        """The matrix as a dense array; refused for sparse chains too large to treat densely."""
        matrix = self.matrix
        if isinstance(matrix, np.ndarray):
            return matrix
        if len(self) > DENSE_STATES:
            raise ChainError(
                f"this question needs all pairs of states at once; a sparse chain of {len(self):,} states is "
                f"above the limit of {DENSE_STATES:,}. Ask about fewer states (`restricted_to`), or use the "
                "stationary distribution, hitting times of given targets, predictions and simulation, which "
                "have no such limit"
            )
        return self._once("dense", lambda: np.asarray(matrix.toarray()))

    @property
    def classes(self) -> tuple[CommunicatingClass, ...]:
        """The communicating classes, recurrent ones first."""
        return self._once(
            "classes", lambda: communicating_classes(sparse.csr_array(self.matrix), self.states)
        )

    @property
    def recurrent_classes(self) -> tuple[CommunicatingClass, ...]:
        """The classes that are never left."""
        return tuple(c for c in self.classes if c.is_recurrent)

    @property
    def transient_states(self) -> tuple[State, ...]:
        """The states that are left for good sooner or later."""
        at = np.sort(np.concatenate([[], *(c.positions for c in self.classes if not c.is_recurrent)]))
        return tuple(self.states.states[int(i)] for i in at)

    @property
    def absorbing_states(self) -> tuple[State, ...]:
        """The states that are never left."""
        return tuple(c.states[0] for c in self.classes if c.is_absorbing)

    @property
    def is_irreducible(self) -> bool:
        """Whether every state can be reached from every other."""
        return len(self.classes) == 1

    @property
    def period(self) -> int:
        """The least common multiple of the recurrent classes' periods; 1 for an aperiodic chain."""
        return math.lcm(*(c.period for c in self.recurrent_classes))

    @property
    def is_aperiodic(self) -> bool:
        """Whether the period is 1."""
        return self.period == 1

    @property
    def is_ergodic(self) -> bool:
        """Whether the chain settles in one distribution from every start; transient states may empty."""
        return not self.why_not_ergodic

    @property
    def why_not_ergodic(self) -> str:
        """What keeps the chain from settling in one distribution, in words; empty when nothing does."""
        return obstacle_to_ergodicity(self.recurrent_classes)

    def restricted_to(self, states: Iterable[State]) -> "MarkovChain":
        """The chain on a set of states that is never left, such as a recurrent class."""
        chosen = self._mask(states)
        block = self.matrix[chosen][:, chosen]
        if not np.allclose(np.asarray(block.sum(axis=1)), 1.0, rtol=0, atol=1e-8):
            raise ChainError(
                "a chain can only be restricted to states that are never left together; "
                f"the classes here are {classes_in_words(self.classes)}"
            )
        at = np.flatnonzero(chosen)
        return MarkovChain(
            block, StateSpace([self.states.states[i] for i in at], [self.states.labels[i] for i in at])
        )

    @property
    def stationary_distribution(self) -> Array:
        """The stationary distribution; refused, with the classes' names, when there are several."""

        def compute() -> Array:
            only_recurrent_class(self.classes, "a single stationary distribution")
            return self.stationary_distributions[0].copy()

        return self._once("pi", compute)

    @property
    def stationary_distributions(self) -> tuple[Array, ...]:
        """One stationary distribution for each recurrent class, over all states."""

        def compute() -> tuple[Array, ...]:
            found = []
            for c in self.recurrent_classes:
                whole = len(c) == len(self)
                at = c.positions
                pi = np.zeros(len(self))
                pi[at] = stationary(self.matrix if whole else self.matrix[at][:, at])
                pi.flags.writeable = False
                found.append(pi)
            return tuple(found)

        return self._once("pis", compute)

    @property
    def recurrence_times(self) -> Array:
        """The mean time to return to each state: 1 / pi; infinite for transient states."""
        total = np.sum(self.stationary_distributions, axis=0)
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / total)

    def entropy_rate(self, base: float = 2.0) -> float:
        """The uncertainty of the next step in the long run: bits a step, or another base."""
        if not base > 1:
            raise ParameterError(f"base must be a number > 1; got {base!r}")
        chain = sparse.csr_array(self.matrix, copy=True)
        chain.eliminate_zeros()
        surprise = chain.data * np.log(chain.data)
        rows = np.repeat(self.stationary_distribution, np.diff(chain.indptr))
        return max(0.0, float(-(rows * surprise).sum() / math.log(base)))

    def is_reversible(self, tolerance: float = 1e-9) -> bool:
        """Whether pi_i P_ij = pi_j P_ji for every pair, to a relative tolerance."""
        pi = self.stationary_distribution
        flow = sparse.csr_array(sparse.csr_array(self.matrix) * pi[:, None])
        back = sparse.csr_array(flow.T)
        larger = flow.maximum(back)
        return bool((abs(flow - back) - tolerance * larger).max() <= 0.0)

    def _mixing_parts(self, question: str) -> tuple[Array, Array]:
        c = only_recurrent_class(self.classes, question)
        if c.period != 1:
            raise ChainError(
                f"{question} needs an aperiodic chain; this one has period {c.period} on {c} and never "
                "settles. Its stationary distribution is the average over time"
            )
        return self.dense(), self.stationary_distribution

    def mixing_time(self, distance: float = 0.25) -> int:
        """Steps until the worst start is within `distance` (total variation) of the long run."""
        matrix, pi = self._mixing_parts("the mixing time")
        return mixing.mixing_time(matrix, pi, distance)

    def mixing_curve(self, times: Iterable[int] | None = None) -> tuple[list[int], Array]:
        """The worst-case distance d(t): the times and the distances.

        Without `times`: 0, 1, 2, 3, 4, 6, 8, 12, 16, ... until the distance falls below 1e-4.
        """
        matrix, pi = self._mixing_parts("the mixing curve")
        return mixing.mixing_curve(matrix, pi, times)

    @property
    def _gaps(self) -> npt.NDArray[np.complex128]:
        """1 - lambda for every eigenvalue, largest modulus of lambda first."""

        def deviation_of(c: CommunicatingClass) -> Array:
            return (self if len(c) == len(self) else self.restricted_to(c.states)).deviation_matrix

        return self._once("gaps", lambda: mixing.all_gaps(self.dense(), self.classes, deviation_of))

    @property
    def eigenvalues(self) -> npt.NDArray[np.complex128]:
        """All eigenvalues, largest modulus first."""
        return np.asarray(1.0 - self._gaps)

    @property
    def spectral_gap(self) -> float:
        """One minus the second largest modulus of an eigenvalue; 0 for a periodic chain."""
        c = only_recurrent_class(self.classes, "the spectral gap")
        if c.period != 1:
            return 0.0
        return mixing.gap(self._gaps)

    @property
    def relaxation_time(self) -> float:
        """One over the spectral gap; infinite for a periodic chain."""
        gap = self.spectral_gap
        return math.inf if gap == 0.0 else 1.0 / gap

    @property
    def tau_1(self) -> float:
        """Half the largest L1 distance between two rows (Dobrushin's coefficient)."""
        return self._once("tau_1", lambda: mixing.tau_1(self.dense()))

    @property
    def tau_inf(self) -> float:
        """The infinity-norm ergodicity coefficient (Benvenuti et al., Definition 7)."""
        return self._once("tau_inf", lambda: mixing.tau_inf(self.dense()))

    @property
    def mean_first_passage(self) -> Array:
        """The matrix of mean first passage times between all pairs; 0 on the diagonal."""
        if not self.is_irreducible:
            raise ChainError(
                "mean first passage times between all pairs need an irreducible chain; the classes here are "
                f"{classes_in_words(self.classes)}. Use `hitting_times(targets)`, or `restricted_to` a class"
            )
        return self._once("passage", lambda: passage_times(self.dense()))

    @property
    def kemeny_constant(self) -> float:
        """The mean time from any state to one drawn from the stationary distribution."""
        only = only_recurrent_class(self.classes, "Kemeny's constant")
        chain = self if self.is_irreducible or len(only) == 1 else self.restricted_to(only.states)
        if len(only) == 1:
            return 0.0
        return float(chain.mean_first_passage[0] @ chain.stationary_distribution)

    @property
    def deviation_matrix(self) -> Array:
        """Sum over t of (P^t - 1 pi'), Abel-summed: the group inverse of I - P (irreducible chains)."""

        def compute() -> Array:
            m, pi = self.mean_first_passage, self.stationary_distribution
            return np.asarray((pi @ m - m) * pi)

        return self._once("deviation", compute)

    @property
    def fundamental_matrix(self) -> Array:
        """Z = (I - P + 1 pi')^-1."""
        return np.asarray(self.deviation_matrix + self.stationary_distribution)

    def hitting_times(self, targets: State | Iterable[State]) -> Array:
        """Expected steps until any of `targets`, from every state; infinite where they may be missed."""
        return passage.hitting_times(self.matrix, self._mask(targets))

    def hitting_probabilities(self, targets: State | Iterable[State]) -> Array:
        """The probability of ever reaching any of `targets`, from every state."""
        return passage.hitting_probabilities(self.matrix, self._mask(targets))

    def power(self, steps: int) -> Array:
        """The matrix of `steps`-step transition probabilities."""
        return mixing.power(self.dense(), mixing.check_steps(steps))

    def distribution_after(self, steps: int, start: object = None) -> Array:
        """The distribution of the state after `steps` steps.

        Parameters
        ----------
        steps
            A whole number >= 0.
        start
            A state, or a distribution over the states; the stationary distribution unless given.
        """
        x = self._start(start)
        steps = mixing.check_steps(steps)
        if not self.is_sparse and steps > 4 * len(self):
            return np.asarray(x @ self.power(steps))
        step = sparse.csr_array(self.matrix.T) if self.is_sparse else self.matrix.T
        for _ in range(steps):
            x = step @ x
        return x

    def predict(self, state: State, steps: int = 1, top: int = 5) -> list[tuple[State, float]]:
        """The `top` likeliest states `steps` steps after `state`, with their probabilities."""
        x = self.distribution_after(steps, state)
        order = np.argsort(-x, kind="stable")[: max(0, top)]
        return [(self.states.states[i], float(x[i])) for i in order]

    def simulate(
        self, length: int, *, users: int | None = None, start: object = None, seed: int | None = None
    ) -> npt.NDArray[Any]:
        """Random walks, as an array of states.

        Parameters
        ----------
        length
            States in each walk, the first included; >= 1.
        users
            How many independent walks; the result then has shape (users, length). One walk of shape
            (length,) unless given.
        start
            A state, or a distribution over the states; the stationary distribution unless given.
        seed
            A whole number for walks that can be repeated; the operating system's entropy unless given.
        """
        for name, value in (("length", length), ("users", users)):
            if value is not None and (mixing.check_steps(value)) < 1:
                raise ParameterError(f"{name} must be a whole number >= 1; got {value!r}")
        walks = simulate.simulate(
            self.matrix, self._start(start), 1 if users is None else users, length, Entropy.choose(seed)
        )
        named = np.array(self.states.states)[walks]
        return np.asarray(named[0] if users is None else named)

    def _start(self, start: object) -> Array:
        if start is None:
            return self.stationary_distribution.copy()
        if isinstance(start, str | int | np.integer):
            at = self.states.index(start)  # type: ignore[arg-type]
            return np.asarray(np.arange(len(self)) == at, dtype=np.float64)
        return checked_distribution(start, len(self))

    def _mask(self, states: State | Iterable[State]) -> npt.NDArray[np.bool_]:
        chosen = np.zeros(len(self), dtype=bool)
        named = [states] if isinstance(states, str | int | np.integer) else list(states)
        if not named:
            raise ParameterError("name at least one state; got none")
        chosen[[self.states.index(state) for state in named]] = True
        return chosen
