"""The budget: the (epsilon, delta) that was asked for."""

import math
from dataclasses import dataclass

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.readable import readable_up

__all__ = ["Budget", "check_delta", "check_epsilon"]


def check_epsilon(epsilon: float) -> float:
    """`epsilon` as a float, refused unless it is finite and > 0."""
    try:
        value = float(epsilon)
    except (TypeError, ValueError):
        raise ParameterError(f"epsilon must be a finite number > 0; got {epsilon!r}") from None
    if not (math.isfinite(value) and value > 0):
        raise ParameterError(f"epsilon must be a finite number > 0; got {epsilon!r}")
    return value


def check_delta(delta: float) -> float:
    """`delta` as a float, refused unless 0 <= delta < 1."""
    try:
        value = float(delta)
    except (TypeError, ValueError):
        raise ParameterError(f"delta must be a number with 0 <= delta < 1; got {delta!r}") from None
    if not 0 <= value < 1:
        raise ParameterError(f"delta must be a number with 0 <= delta < 1; got {delta!r}")
    return value


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
        return f"epsilon = {self.epsilon:.6g}, delta = {readable_up(self.delta)}"
