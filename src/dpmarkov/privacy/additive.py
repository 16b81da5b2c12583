"""Integer noise on every cell of the count table: what it guarantees, and how much of it a budget needs.

**Discrete Laplace noise.** Among all changes of a unit the worst moves as much as it can in as few cells as
it can: moving a cell by a + b dominates moving two cells by a and b, and (a + 1, b - 1) dominates (a, b) for
a >= b. (Proof in docs/mathematics.md.) The worst change of `worst_changes` is therefore the worst at every
epsilon, and the curve is exact.

**Discrete Gaussian noise.** Where a change moves a few cells by a step or two (events, visits) the curve is
the exact composition of the shifted pairs. Where vectors of different shapes are possible (users), the bound
by the Euclidean norm holds for all of them at once, and costs a share 3/(4 sigma^2) of sigma.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.calibrate import need_delta
from dpmarkov.privacy.certify import fraction_up
from dpmarkov.privacy.pairs import Pair
from dpmarkov.privacy.pairs_additive import (
    LARGEST_EXACT_SIGMA,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianNormPair,
)
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.sensitivity import Change, row_total_changes, sensitivity, worst_changes
from dpmarkov.privacy.unit import Unit

__all__ = [
    "calibrate_gaussian",
    "calibrate_laplace",
    "gaussian_profile",
    "laplace_profile",
    "row_totals_profile",
    "row_totals_scale",
]

_BITS = 20
_TOLERANCE = 1e-6
# Beyond so many cells the exact composition takes seconds and gains less than 1 % over the norm bound.
_EXACT_CELLS = 3


def laplace_profile(unit: Unit, scale: float) -> Profile:
    """Discrete Laplace noise of `scale` on every cell: the exact curve under `unit`."""
    return _laplace(worst_changes(unit), scale)


def row_totals_profile(unit: Unit, scale: float) -> Profile:
    """Discrete Laplace noise of `scale` on the total of every row: the exact curve under `unit`."""
    return _laplace(row_total_changes(unit), scale)


def row_totals_scale(unit: Unit, epsilon: Fraction) -> float:
    """The scale for which noisy row totals cost `epsilon`, with delta = 0; rounded up."""
    return fraction_up(max(sum(change.steps) for change in row_total_changes(unit)) / epsilon)


def _laplace(changes: tuple[Change, ...], scale: float) -> Profile:
    return Profile(
        tuple(
            tuple(DiscreteLaplacePair(scale=scale, shift=step) for step in change.steps) for change in changes
        )
    )


def gaussian_profile(unit: Unit, sigma: float) -> Profile:
    """Discrete Gaussian noise of parameter `sigma` on every cell, under `unit`."""
    return Profile(tuple(_gaussian(change, sigma) for change in worst_changes(unit)))


def _gaussian(change: Change, sigma: float) -> tuple[Pair, ...]:
    steps = change.steps
    # With gains (and losses) of at most one event a cell no other vector is possible than this one with
    # entries left out; a visit lists its two shapes. A user's (2, 1) may also be (1, 1, 1): not this way.
    exact = len(steps) <= _EXACT_CELLS and sigma <= LARGEST_EXACT_SIGMA
    if exact and (max(steps) == 1 or (change.gains, change.losses) == ((2,), (1,))):
        return tuple(DiscreteGaussianPair(sigma=sigma, shift=step) for step in steps)
    return _by_norm(change, sigma)


def _by_norm(change: Change, sigma: float) -> tuple[Pair, ...]:
    return (GaussianNormPair(sigma=sigma, squared=change.squared, cells=sum(change.steps)),)


def calibrate_laplace(unit: Unit, budget: Budget) -> float:
    """The smallest scale (to 20 bits) for which discrete Laplace noise is proven to stay within the budget.

    With delta = 0 it is the L1 sensitivity over epsilon: a pure guarantee.
    """
    pure = fraction_up(Fraction(sensitivity(unit).l1) / Fraction(budget.epsilon))
    if budget.delta == 0:
        return pure
    return min(pure, _smallest(lambda scale: laplace_profile(unit, scale), budget, pure, 1.1))


def calibrate_gaussian(unit: Unit, budget: Budget) -> float:
    """A sigma (to 20 bits) for which discrete Gaussian noise is proven to stay within the budget.

    The smallest up to epsilon = 9; above that delta goes up and down with sigma, and a smaller one may fit
    too. Laplace noise is narrower there.
    """
    need_delta(budget)
    classical = sensitivity(unit).l2 * math.sqrt(2 * math.log(1.25 / budget.delta)) / budget.epsilon
    changes = worst_changes(unit)

    def by_norm(sigma: float) -> Profile:
        return Profile(tuple(_by_norm(change, sigma) for change in changes))

    # The norm bound is quick and within a few per cent: the search for the exact value starts beside it.
    start = _smallest(by_norm, budget, classical, 2.0)
    return _smallest(lambda sigma: gaussian_profile(unit, sigma), budget, start, 1.01)


def _smallest(profile: Callable[[float], Profile], budget: Budget, start: float, factor: float) -> float:
    """The smallest parameter of a noise within `budget`: bracket and bisect in floats, then prove."""

    def fits(value: float) -> bool:
        return bool(profile(value).delta(budget.epsilon) <= budget.delta)

    low, high = start / factor, start
    while not fits(high):
        low, high, factor = high, high * factor, factor * factor
    while low > 1e-9 and fits(low):
        low, high, factor = low / factor, low, factor * factor
    while high - low > _TOLERANCE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    value = _round_up(high)
    step = 2.0 ** (1 - _BITS)
    while not profile(value).certified_delta(budget.epsilon) <= budget.delta:
        value, step = _round_up(value * (1 + step)), 2 * step
    return value


def _round_up(value: float) -> float:
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.ceil(math.ldexp(mantissa, _BITS)), exponent - _BITS)
