"""Dominating pairs: what an observer has to tell apart in the worst case.

A pair (P, Q) *dominates* a mechanism for a relation when, whatever two neighbouring data sets one takes,
their two output laws are at most as easy to tell apart as P and Q: H_eps(output || output') <= H_eps(P || Q)
for every real eps. A pair is directed: `reverse()` is (Q, P), and a guarantee takes the worse of both.

================  =============================================================================
`BetaPair`        Theorem A: one count moves by w from a cell to another
`GammaPair`       Theorem B: one count of weight w appears (reversed: vanishes)
`PurePair`        randomised response: dominates whatever is epsilon-differentially private
`ApproximatePair` dominates whatever is (epsilon, delta)-differentially private
================  =============================================================================
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import InputError, ParameterError, ReleaseFormatError
from dpmarkov.privacy.certify import (
    certified_beta,
    certified_gamma_add,
    certified_gamma_remove,
    certified_response,
)
from dpmarkov.privacy.tails import log_delta_beta, log_delta_gamma_add, log_delta_gamma_remove

__all__ = ["ApproximatePair", "BetaPair", "GammaPair", "Pair", "PurePair", "pair_from_dict", "register_pair"]

Floats = npt.NDArray[np.float64]


def check_positive(name: str, value: float) -> float:
    """`value` as a float, refused unless it is finite and > 0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a finite number > 0; got {value!r}") from None
    if not (math.isfinite(number) and number > 0):
        raise ParameterError(f"{name} must be a finite number > 0; got {value!r}")
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Base of the dominating pairs: two laws P and Q, in this order."""

    kind: ClassVar[str]
    is_exact: ClassVar[bool] = True
    """Whether the worst neighbours' releases are as easy to tell apart as the pair, and not less."""

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of H_eps(P || Q) for each (real, also negative) epsilon, in floats."""
        raise InputError("a bare Pair has no laws: use BetaPair, GammaPair or another pair")

    def certified_delta(self, epsilon: float) -> float:
        """A float that is proven not to be below H_eps(P || Q)."""
        raise InputError("a bare Pair has no laws: use BetaPair, GammaPair or another pair")

    @property
    def largest_loss(self) -> Fraction | None:
        """The largest finite ln P / Q, exactly, where there is one: from there on delta is `failure`."""
        return None

    @property
    def failure(self) -> float:
        """P's mass on outputs that Q never gives, for pairs with a largest finite loss."""
        return 0.0

    def atoms(self) -> tuple[Fraction, npt.NDArray[np.int64], Floats] | None:
        """For losses on a lattice: its step, the losses in steps, and P's mass on each; else None."""
        return None

    def reverse(self) -> "Pair":
        """The pair (Q, P)."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The pair as it stands in `release.json`."""
        return {"kind": self.kind, **{field.name: getattr(self, field.name) for field in fields(self)}}


@dataclass(frozen=True, slots=True, kw_only=True)
class BetaPair(Pair):
    """P = Beta(alpha + w, alpha) against Q = Beta(alpha, alpha + w): Theorem A.

    Parameters
    ----------
    alpha
        The floor: the least parameter that a cell can have.
    weight
        w, what one event adds to its cell.

    Guarantee
    ---------
    It dominates every change in which one cell gains at most w and another loses at most w, both staying
    at or above the floor, in one row or in two; also a change in which only one of the two happens (an event
    replaced by one that is not counted), which is the pair's marginal on one of its two gammas.
    """

    kind: ClassVar[str] = "beta"
    alpha: float
    weight: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_positive("alpha", self.alpha))
        object.__setattr__(self, "weight", check_positive("weight", self.weight))

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of H_eps(P || Q); the pair is its own mirror image, so both directions agree."""
        return log_delta_beta(self.alpha, self.weight, epsilon)

    def certified_delta(self, epsilon: float) -> float:
        """A float that is proven not to be below H_eps(P || Q)."""
        return certified_beta(self.alpha, self.weight, epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class GammaPair(Pair):
    """P = G_{alpha + w} against Q = G_alpha, or the reverse: Theorem B.

    Parameters
    ----------
    alpha
        The floor: the least parameter that a cell can have.
    weight
        w, what the event adds to its cell.
    vanishes
        False: P = G_{alpha + w} (the event appears). True: P = G_alpha (it vanishes).
    """

    kind: ClassVar[str] = "gamma"
    alpha: float
    weight: float
    vanishes: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_positive("alpha", self.alpha))
        object.__setattr__(self, "weight", check_positive("weight", self.weight))
        object.__setattr__(self, "vanishes", bool(self.vanishes))

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of H_eps(P || Q) in this direction."""
        rule = log_delta_gamma_remove if self.vanishes else log_delta_gamma_add
        return rule(self.alpha, self.weight, epsilon)

    def certified_delta(self, epsilon: float) -> float:
        """A float that is proven not to be below H_eps(P || Q)."""
        rule = certified_gamma_remove if self.vanishes else certified_gamma_add
        return rule(self.alpha, self.weight, epsilon)

    def reverse(self) -> Self:
        """The pair (Q, P)."""
        return replace(self, vanishes=not self.vanishes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximatePair(Pair):
    """Dominates every (epsilon, delta)-differentially private mechanism, whatever it does.

    With probability `delta` the two laws are told apart for certain; else one bit is answered truthfully
    with odds e^epsilon (Kairouz, Oh, Viswanath 2015).
    """

    kind: ClassVar[str] = "approximate"
    is_exact: ClassVar[bool] = False
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        _check_response(self.epsilon, self.delta)
        object.__setattr__(self, "epsilon", float(self.epsilon))
        object.__setattr__(self, "delta", float(self.delta))

    @property
    def largest_loss(self) -> Fraction:
        """The epsilon, exactly."""
        return Fraction(self.epsilon)

    @property
    def failure(self) -> float:
        """The delta."""
        return self.delta

    def atoms(self) -> tuple[Fraction, npt.NDArray[np.int64], Floats] | None:
        """Losses of plus and minus epsilon, where the answer is no failure."""
        return _response_atoms(self.epsilon, self.delta)

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of H_eps(P || Q)."""
        return _log_response(self.epsilon, self.delta, epsilon)

    def certified_delta(self, epsilon: float) -> float:
        """A float that is proven not to be below H_eps(P || Q)."""
        return certified_response(self.epsilon, self.delta, epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurePair(Pair):
    """Randomised response with odds e^epsilon: dominates every epsilon-differentially private mechanism."""

    kind: ClassVar[str] = "pure"
    is_exact: ClassVar[bool] = False
    epsilon: float

    def __post_init__(self) -> None:
        _check_response(self.epsilon, 0.0)
        object.__setattr__(self, "epsilon", float(self.epsilon))

    @property
    def largest_loss(self) -> Fraction:
        """The pure epsilon, exactly."""
        return Fraction(self.epsilon)

    def atoms(self) -> tuple[Fraction, npt.NDArray[np.int64], Floats] | None:
        """Losses of plus and minus epsilon."""
        return _response_atoms(self.epsilon, 0.0)

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of H_eps(P || Q); -inf from `epsilon` on."""
        return _log_response(self.epsilon, 0.0, epsilon)

    def certified_delta(self, epsilon: float) -> float:
        """A float that is proven not to be below H_eps(P || Q)."""
        return certified_response(self.epsilon, 0.0, epsilon)


def _check_response(epsilon: float, delta: float) -> None:
    if not (math.isfinite(epsilon) and epsilon >= 0):
        raise ParameterError(f"epsilon of a pair must be a finite number >= 0; got {epsilon!r}")
    if not 0 <= delta < 1:
        raise ParameterError(f"delta of a pair must lie in [0, 1); got {delta!r}")


def _response_atoms(strength: float, failure: float) -> tuple[Fraction, npt.NDArray[np.int64], Floats] | None:
    if strength == 0:
        return None
    truth = (1 - failure) / (1 + math.exp(-strength))
    return Fraction(strength), np.array([1, -1]), np.array([truth, math.exp(-strength) * truth])


def _log_response(strength: float, failure: float, epsilon: npt.ArrayLike) -> Floats:
    e = np.asarray(epsilon, dtype=np.float64)
    size = np.abs(e)
    # (e^s - e^eps) / (1 + e^s), without overflow.
    truthful = -np.expm1(np.minimum(size - strength, 0.0)) / (1.0 + math.exp(-strength))
    positive = failure + (1.0 - failure) * truthful
    mirrored = -np.expm1(-size) + np.exp(-size) * positive
    with np.errstate(divide="ignore"):
        return np.asarray(np.minimum(np.log(np.where(e < 0, mirrored, positive)), 0.0), dtype=np.float64)


_PAIRS: dict[str, type[Pair]] = {}


def register_pair(pair: type[Pair]) -> type[Pair]:
    """Let `pair_from_dict` know a kind of pair."""
    _PAIRS[pair.kind] = pair
    return pair


for _pair in (BetaPair, GammaPair, ApproximatePair, PurePair):
    register_pair(_pair)


def pair_from_dict(data: Mapping[str, Any]) -> Pair:
    """The pair that `to_dict` wrote."""
    values = dict(data)
    kind = _PAIRS.get(str(values.pop("kind", None)))
    if kind is None:
        raise ReleaseFormatError(f"unknown pair {data.get('kind')!r}; this version knows {', '.join(_PAIRS)}")
    try:
        return kind(**values)
    except TypeError as error:
        raise ReleaseFormatError(f"pair {kind.kind!r} has fields that cannot be read: {error}") from None
