"""Products of pairs with few losses (randomised response, discrete Laplace noise), exactly.

Every combination of the pairs' losses is listed with its probability; nothing is put on a grid. From the sum
of the largest losses on, delta is the probability of an infinite loss alone: exactly 0 for pure pairs.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpmarkov.privacy.pairs import Pair

__all__ = ["ROUNDING", "FewLosses", "add_up", "few_losses"]

Floats = npt.NDArray[np.float64]

_SLACK = 1e-9
ROUNDING = 2.0**-46
"""Losses are sums of at most some dozens of floats: they are right to this share of the largest."""
_MOST_ATOMS = 4000


@dataclass(frozen=True, slots=True, eq=False)
class FewLosses:
    """The product of pairs with few losses, exactly."""

    losses: Floats
    masses: Floats
    largest_loss: Fraction
    failure: float

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of the delta for each epsilon."""
        e = np.asarray(epsilon, dtype=np.float64)
        flat = np.array([self._sum(float(x)) for x in e.reshape(-1)])
        with np.errstate(divide="ignore"):
            return np.asarray(np.minimum(np.log(flat.reshape(e.shape)), 0.0), dtype=np.float64)

    def _sum(self, epsilon: float) -> float:
        if epsilon >= self.largest_loss:
            return self.failure
        return self._at(epsilon, self.losses)

    def _at(self, epsilon: float, losses: Floats) -> float:
        above = losses > epsilon
        return self.failure + float(self.masses[above] @ -np.expm1(epsilon - losses[above]))

    def delta(self, epsilon: float) -> float:
        """The delta for `epsilon`, rounded up; from the largest finite loss on the infinite one's alone."""
        if epsilon >= self.largest_loss:
            return self.failure
        raised = self.losses + ROUNDING * float(self.largest_loss)
        return min(1.0, self._at(epsilon, raised) * (1 + _SLACK) + 5e-324)


def few_losses(counted: tuple[tuple[Pair, int], ...], largest: Fraction, failure: float) -> FewLosses | None:
    """The exact product, where every pair has few losses."""
    losses, masses = np.zeros(1), np.ones(1)
    for pair, times in counted:
        atoms = pair.atoms()
        if atoms is None or times * np.ptp(atoms[1]) * losses.size > _MOST_ATOMS:
            return None
        step, levels, values = atoms
        first = int(levels.min())
        single = np.zeros(int(np.ptp(levels)) + 1)
        single[levels - first] = values
        power = np.ones(1)
        for _ in range(times):
            power = np.convolve(power, single)
        own = float(step) * (times * first + np.arange(power.size))
        losses = np.add.outer(losses, own[power > 0]).reshape(-1)
        masses = np.multiply.outer(masses, power[power > 0]).reshape(-1)
    return FewLosses(losses, masses, largest, failure)


def add_up(first: float, second: float) -> float:
    """The sum of two probabilities, rounded up."""
    total = first + second
    return np.nextafter(total, np.inf).item() if first and second else total
