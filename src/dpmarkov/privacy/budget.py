"""The budget: the (epsilon, delta) that was asked for."""

import math
from dataclasses import dataclass

import numpy as np

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.readable import readable_up

__all__ = ["Budget", "check_delta", "check_epsilon"]


def check_epsilon(epsilon: float) -> float:
    """`epsilon` as a float, refused unless it is finite and > 0."""
    value = _number(epsilon)
    if not (math.isfinite(value) and value > 0):
        raise ParameterError(f"epsilon must be a finite number > 0; got {epsilon!r}")
    return value


def check_delta(delta: float) -> float:
    """`delta` as a float, refused unless 0 <= delta < 1."""
    value = _number(delta)
    if not 0 <= value < 1:
        raise ParameterError(f"delta must be a number with 0 <= delta < 1; got {delta!r}")
    return value


def _number(given: object) -> float:
    """`given` as a float; NaN for what is no number: a truth value or a text."""
    if isinstance(given, bool | np.bool_ | str | bytes):
        return math.nan
    try:
        return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The privacy that is asked for.

    Parameters
    ----------
    epsilon
        How much the odds of any conclusion about one unit may shift: a factor of e^epsilon. Finite, > 0.
    delta
        What may come on top of that factor, in probability, 0 <= delta < 1. Choose it far below one
        over the number of units; 0 asks for a pure guarantee, which not every mechanism has.
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "delta", check_delta(self.delta))

    def __str__(self) -> str:
        return f"epsilon = {readable_up(self.epsilon, 6)}, delta = {readable_up(self.delta)}"
