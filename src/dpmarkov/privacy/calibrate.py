"""Calibration: the largest weight that a budget allows, solved in floats and then proven.

Every Dirichlet mechanism of this package has a floor alpha (the least that a cell's parameter can be) and a
weight w (what one event adds to its cell); `dirichlet_profile` says what such a mechanism guarantees for each
unit, `calibrate` inverts it.
"""

from collections.abc import Callable
from typing import overload

import numpy as np
import numpy.typing as npt
from scipy.interpolate import CubicSpline

from dpmarkov.errors import ParameterError, UnitError
from dpmarkov.privacy.allocations import cover
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.pairs import BetaPair, GammaPair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.tails import log_delta_beta, log_delta_gamma_add, log_delta_gamma_remove
from dpmarkov.privacy.unit import Destination, Event, Unit, User, Visit

__all__ = ["calibrate", "dirichlet_profile", "round_down"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

_BITS = 20
_ROUNDS = 60
_GRID = 48
_TOLERANCE = 1e-6


def dirichlet_profile(unit: Unit, weight: float, floor: float) -> Profile:
    """What a Dirichlet draw guarantees whose cells gain `weight` an event and never fall below `floor`.

    Parameters
    ----------
    unit
        The unit of privacy.
    weight
        w, what one event adds to the parameter of its cell.
    floor
        alpha, the least parameter of any cell, whatever the data.

    Returns
    -------
    Profile
        For the whole matrix: a unit that touches one row or two costs one pair, not one a row.

    Notes
    -----
    `Destination` and `Event(relation="replace")`: Theorem A. A change moves one event from a cell to another,
    G_{alpha+w} x G_alpha against G_alpha x G_{alpha+w}. It may also turn an event that is counted into one
    that is not (dropped for an undeclared state) or the reverse: then one cell alone changes, G_{alpha+w}
    against G_alpha or the reverse. That is the same pair with one coordinate left out, and leaving out never
    helps an observer: Theorem A covers it in both directions.

    `Event(relation="add_remove")`: Theorem B, both directions.

    `User`: Theorem C. Whoever is added contributes an allocation of at most `max_events` events, which the
    pairs of `cover` dominate; rows and groups do not matter, so m bounds a user over all of them together.
    Whoever is replaced takes one allocation away and brings another, in whatever cells: events that leave a
    cell and enter it again cancel, what remains gains at most m in some cells and loses at most m in others.
    Gains are dominated by the pairs of `cover`, losses by their reverses, and (G_{s+kw}, G_s) times its
    reverse is the beta pair (s, k w), since the sum of its two gammas has the same law under both.

    `Visit`: two transitions appear (in one cell at worst) and one vanishes, or the reverse.
    """
    if isinstance(unit, Destination) or (isinstance(unit, Event) and unit.relation == "replace"):
        return Profile(((BetaPair(alpha=floor, weight=weight),),))
    if isinstance(unit, Event):
        return Profile(((GammaPair(alpha=floor, weight=weight),),))
    if isinstance(unit, User):
        covering = cover(floor, unit.max_events, unit.most_in_a_cell)
        kind = BetaPair if unit.relation == "replace" else GammaPair
        pairs = (
            kind(alpha=shape, weight=events * weight)
            for shape, events, copies in covering
            for _ in range(copies)
        )
        return Profile((tuple(pairs),))
    if isinstance(unit, Visit):
        gains = (
            GammaPair(alpha=shape, weight=events * weight)
            for shape, events, copies in cover(floor, 2, 2)
            for _ in range(copies)
        )
        return Profile(((*gains, GammaPair(alpha=floor, weight=weight, vanishes=True)),))
    raise UnitError(f"no Dirichlet mechanism knows the unit {unit.name!r}")


def round_down(values: npt.ArrayLike, bits: int = _BITS) -> Floats:
    """The largest floats with `bits` significant bits that are not above `values`."""
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return np.asarray(np.ldexp(np.floor(np.ldexp(mantissa, bits)), exponent - bits), dtype=np.float64)


def need_delta(budget: Budget) -> None:
    """Refuse a pure budget for a mechanism that has no pure guarantee."""
    if budget.delta == 0:
        raise ParameterError(
            "delta = 0 asks for a pure guarantee, which this mechanism does not have; discrete Laplace noise "
            "and the Pufferfish mechanisms have one. Ask for a delta > 0, such as 1e-6, or for one of these"
        )


@overload
def calibrate(unit: Unit, budget: Budget, floor: float) -> float: ...
@overload
def calibrate(unit: Unit, budget: Budget, floor: Floats) -> Floats: ...
def calibrate(unit: Unit, budget: Budget, floor: float | Floats) -> float | Floats:
    """The largest weight with 20 significant bits for which the budget is proven to hold.

    Parameters
    ----------
    unit
        The unit of privacy.
    budget
        The (epsilon, delta) to stay within; delta > 0.
    floor
        alpha > 0: a number, or an array with one entry a row (each distinct value is solved once).

    Returns
    -------
    float or array
        The weight for each floor.

    Guarantee
    ---------
    `dirichlet_profile(unit, weight, floor).certified_delta(budget.epsilon) <= budget.delta`, evaluated in
    ball arithmetic at the very weight that is returned, for every entry.

    Examples
    --------
    >>> budget = Budget(epsilon=1.0, delta=1e-6)
    >>> [round(calibrate(Destination(), budget, alpha), 4) for alpha in (1.0, 10.0, 100.0)]
    [0.0878, 0.4883, 1.6649]
    """
    need_delta(budget)
    floors = np.asarray(floor, dtype=np.float64)
    if floors.size == 0 or not np.all(np.isfinite(floors)) or np.any(floors <= 0):
        raise ParameterError("floor must hold finite numbers > 0")
    distinct, places = np.unique(floors, return_inverse=True)
    log_target = float(np.log(budget.delta))

    weights = round_down(_solve(unit, distinct, budget.epsilon, log_target))
    for place, (alpha, weight) in enumerate(zip(distinct.tolist(), weights.tolist(), strict=True)):
        proven, step = weight, 2.0 ** (1 - _BITS)
        while not dirichlet_profile(unit, proven, alpha).certified_delta(budget.epsilon) <= budget.delta:
            proven = float(round_down(proven * (1 - step)))
            step = min(2 * step, 0.5)
            if proven <= 0:
                raise ParameterError(
                    f"no weight keeps a floor of {alpha:g} within {budget}: raise the floor or the budget"
                )
        weights[place] = proven
    if floors.ndim == 0:
        return float(weights[0])
    return weights[places].reshape(floors.shape)


def _solve(unit: Unit, floors: Floats, epsilon: float, log_target: float) -> Floats:
    """The largest weight for each of the increasing `floors`, short of it by about 1e-7."""

    def largest(some: Floats, guess: Floats, stride: float) -> Floats:
        return _largest(
            lambda weights, rows: _log_delta(unit, weights, some[rows], epsilon) - log_target, guess, stride
        )

    if not isinstance(unit, Destination | Event):
        # Products are slow to evaluate: begin at what one event alone would be allowed, for m events.
        events = unit.max_events if isinstance(unit, User) else 2
        return largest(floors, _solve(Event(), floors, epsilon, log_target) / events, 0.3)
    if floors.size <= 2 * _GRID:
        return largest(floors, np.sqrt(floors) * 0.1, 1.0)
    # The weight is a smooth function of the floor: solve on a grid, and take one Newton step from its
    # interpolation; whatever that leaves is solved like the grid.
    grid = np.geomspace(floors[0], floors[-1], _GRID)
    roots = largest(grid, np.sqrt(grid) * 0.1, 1.0)
    slopes = (
        _log_delta(unit, roots * (1 + 1e-5), grid, epsilon) - _log_delta(unit, roots, grid, epsilon)
    ) / 1e-5
    place = np.log(floors)
    start = CubicSpline(np.log(grid), np.log(roots))(place)
    missing = log_target - _TOLERANCE / 2 - _log_delta(unit, np.exp(start), floors, epsilon)
    weights = np.exp(start + missing / CubicSpline(np.log(grid), slopes)(place))
    excess = _log_delta(unit, weights, floors, epsilon) - log_target
    off = np.flatnonzero((excess > 0) | (excess < -_TOLERANCE))
    if off.size:
        weights[off] = largest(floors[off], weights[off], 1e-5)
    return np.asarray(weights, dtype=np.float64)


def _log_delta(unit: Unit, weights: Floats, floors: Floats, epsilon: float) -> Floats:
    """The logarithm of the delta of `dirichlet_profile` for each weight and floor."""
    sample = dirichlet_profile(unit, float(weights[0]), float(floors[0])).alternatives
    if isinstance(unit, Destination | Event):
        if isinstance(sample[0][0], BetaPair):
            return log_delta_beta(floors, weights, epsilon)
        return np.maximum(
            log_delta_gamma_add(floors, weights, epsilon), log_delta_gamma_remove(floors, weights, epsilon)
        )
    return np.asarray(
        [
            float(dirichlet_profile(unit, weight, floor).log_delta(epsilon))
            for weight, floor in zip(weights.tolist(), floors.tolist(), strict=True)
        ]
    )


def _largest(excess: Callable[[Floats, Rows], Floats], guess: Floats, stride: float) -> Floats:
    """Where the functions `excess` of ln w, which increase, come up to zero: for many rows at once.

    Bracketed secant steps (Illinois). What is returned has an excess in [-_TOLERANCE, 0].
    """
    low = np.log(guess)
    low_value = excess(np.exp(low), np.arange(low.size))
    high, high_value = low.copy(), low_value.copy()
    for _ in range(_ROUNDS):
        up, down = high_value <= 0, low_value > 0
        rows = np.flatnonzero(up | down)
        if rows.size == 0:
            break
        low, low_value = np.where(up, high, low), np.where(up, high_value, low_value)
        high, high_value = np.where(down, low, high), np.where(down, low_value, high_value)
        # ln delta is steep in ln w: a few growing strides find the bracket.
        high, low, stride = high + stride * up, low - stride * down, 2 * stride
        value = excess(np.exp(np.where(up, high, low)[rows]), rows)
        high_value[rows] = np.where(up[rows], value, high_value[rows])
        low_value[rows] = np.where(down[rows], value, low_value[rows])
    for _ in range(_ROUNDS):
        rows = np.flatnonzero((low_value < -_TOLERANCE) & (high - low > 1e-12))
        if rows.size == 0:
            break
        below, above = low_value[rows], high_value[rows]
        width = high[rows] - low[rows]
        with np.errstate(invalid="ignore"):
            share = (-_TOLERANCE / 2 - below) / (above - below)
        share = np.clip(np.where(np.isfinite(share), share, 0.5), 1e-4, 1 - 1e-4)
        middle = low[rows] + share * width
        value = excess(np.exp(middle), rows)
        under = value <= 0
        low[rows], high[rows] = np.where(under, middle, low[rows]), np.where(under, high[rows], middle)
        # The end that stays has its value halved, so that the next step crosses over to it.
        low_value[rows] = np.where(under, value, np.minimum(below / 2, -2 * _TOLERANCE))
        high_value[rows] = np.where(under, above / 2, value)
    return np.exp(low)
