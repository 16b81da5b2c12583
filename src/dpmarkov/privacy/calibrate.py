"""Calibration: the largest weight that a budget allows, solved in floats and then proven.

Every Dirichlet mechanism of this package has a floor alpha (the least that a cell's parameter can be) and a
weight w (what one event adds to its cell); `dirichlet_profile` says what such a mechanism guarantees for each
unit, `calibrate` inverts it.
"""

from collections.abc import Callable
from typing import overload

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError, UnitError
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.pairs import BetaPair, GammaPair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.tails import log_delta_beta, log_delta_gamma_add, log_delta_gamma_remove
from dpmarkov.privacy.unit import Destination, Event, Unit

__all__ = ["calibrate", "dirichlet_profile", "round_down"]

Floats = npt.NDArray[np.float64]

_BITS = 20
_ROUNDS = 60


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
    """
    if isinstance(unit, Destination) or (isinstance(unit, Event) and unit.relation == "replace"):
        return Profile(((BetaPair(alpha=floor, weight=weight),),))
    if isinstance(unit, Event):
        return Profile(((GammaPair(alpha=floor, weight=weight),),))
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

    def excess(weights: Floats) -> Floats:
        return _log_delta(unit, weights, distinct, budget.epsilon) - log_target

    weights = round_down(_largest(excess, np.sqrt(distinct) * 0.1))
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


def _log_delta(unit: Unit, weights: Floats, floors: Floats, epsilon: float) -> Floats:
    """The logarithm of the delta of `dirichlet_profile` for each weight and floor."""
    sample = dirichlet_profile(unit, float(weights[0]), float(floors[0])).alternatives
    if len(sample) == 1 and len(sample[0]) == 1:
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


def _largest(excess: Callable[[Floats], Floats], guess: Floats) -> Floats:
    """Where the increasing function `excess` of the logarithm crosses zero, for all rows at once.

    Bracketed secant steps in ln w; what is returned is within 1e-9 of the root, relative.
    """
    low = np.log(guess)
    low_value = excess(np.exp(low))
    high, high_value = low.copy(), low_value.copy()
    for _ in range(_ROUNDS):
        up, down = high_value <= 0, low_value > 0
        if not (up.any() or down.any()):
            break
        # ln delta is steep in ln w: a step of 1 either way is enough to find the bracket soon.
        low, low_value = np.where(up, high, low), np.where(up, high_value, low_value)
        high, high_value = np.where(down, low, high), np.where(down, low_value, high_value)
        high, low = high + up, low - down
        value = excess(np.exp(np.where(up, high, low)))
        high_value, low_value = np.where(up, value, high_value), np.where(down, value, low_value)
    for _ in range(_ROUNDS):
        width = high - low
        if np.all(width < 1e-9):
            break
        with np.errstate(invalid="ignore"):
            share = -low_value / (high_value - low_value)
        # Never closer to an end than a sliver, so that the bracket closes from both sides.
        share = np.where(np.isfinite(share), share, 0.5)
        middle = low + width * np.clip(share, 1e-3, 1 - 1e-3)
        value = excess(np.exp(middle))
        below = value <= 0
        low, low_value = np.where(below, middle, low), np.where(below, value, low_value)
        high, high_value = np.where(below, high, middle), np.where(below, high_value, value)
    return np.exp(low)
