"""Secrets and statistics: what is hidden, and what is released instead.

A Pufferfish framework has three parts: the secrets, the pairs of secrets that nobody may tell apart, and the
class Theta of distributions under which they may not (Kifer and Machanavajjhala). For chains the secrets are
the states at time points, the pairs are any two states at one time point, and Theta is a `ChainClass`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmarkov.errors import ParameterError

__all__ = ["HISTOGRAM", "TRANSITIONS", "Secrets", "Statistic", "check_length", "check_positive"]


def check_positive(name: str, value: object) -> float:
    """`value` as a float, refused unless finite and > 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise ParameterError(f"{name} must be a finite number > 0; got {value!r}")
    number = float(value)
    if not 0 < number < float("inf"):
        raise ParameterError(f"{name} must be a finite number > 0; got {value!r}")
    return number


def check_length(length: object) -> int:
    """T as an int >= 1."""
    if isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 1:
        raise ParameterError(f"the number of time points must be a whole number >= 1; got {length!r}")
    return int(length)


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Which time points are secrets: pairs (X_t = a, X_t = b) of any two states, for each such t.

    Parameters
    ----------
    times
        The protected time points, the first is 1; None for all of them.
    people
        The protected people, by their position (from 0) among several; None for all of them.
    """

    times: tuple[int, ...] | None = None
    people: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name, least in (("times", 1), ("people", 0)):
            given = getattr(self, name)
            if given is None:
                continue
            chosen = tuple(sorted(set(given)))
            if not chosen or chosen[0] < least or not all(isinstance(t, int | np.integer) for t in chosen):
                raise ParameterError(
                    f"{name} must be whole numbers >= {least}, at least one of them; got {given!r:.80}"
                )
            object.__setattr__(self, name, tuple(int(t) for t in chosen))

    @property
    def in_words(self) -> str:
        """The secrets as a phrase."""
        points = "at any single time point" if self.times is None else f"at {_listed(self.times)}"
        whose = "" if self.people is None else f" of the people at positions {_numbers(self.people)}"
        return f"the state {points}{whose}"

    def to_dict(self) -> dict[str, Any]:
        """The secrets as plain values."""
        return {
            "times": None if self.times is None else list(self.times),
            "people": None if self.people is None else list(self.people),
        }


def _numbers(values: Sequence[int]) -> str:
    shown = ", ".join(map(str, values[:5]))
    return shown if len(values) <= 5 else f"{shown} and {len(values) - 5} more"


def _listed(times: tuple[int, ...]) -> str:
    if len(times) > 1 and times[-1] - times[0] == len(times) - 1:
        return f"any single one of the time points {times[0]} to {times[-1]}"
    return f"any single one of the time points {_numbers(times)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """What is released: how far it moves when time points change.

    Parameters
    ----------
    name
        In words.
    lipschitz
        L: changing one time point moves it by at most L (in L1 norm for a vector).
    links
        Whether it counts links between neighbouring points instead of points: c changed points in a row then
        move it by at most L times the links they touch, c + 1 in the middle of a chain.
    """

    name: str
    lipschitz: float = 1.0
    links: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "lipschitz", check_positive("lipschitz", self.lipschitz))


HISTOGRAM = Statistic(name="histogram of states", lipschitz=2.0)
"""The counts of the states: one changed point takes 1 from one count and gives it to another."""

TRANSITIONS = Statistic(name="transition counts", lipschitz=2.0, links=True)
"""The counts of pairs of states in a row: a changed link takes 1 from one count and gives it to another."""
