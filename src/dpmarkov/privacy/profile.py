"""The privacy profile: delta as a function of epsilon, from dominating pairs.

A profile is a set of alternatives (the worst one counts: several rows, several kinds of change), each a
product of pairs that happen together (several cells that change at once, several releases). Both directions
of each alternative count, since either of two neighbours may be the true data.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError, ReleaseFormatError
from dpmarkov.privacy.compose import composition
from dpmarkov.privacy.pairs import Pair, pair_from_dict

__all__ = ["SLACK", "Profile"]

Floats = npt.NDArray[np.float64]

# The float path errs by less than 1e-10 of delta (tests hold it); what it returns is rounded up by this much.
SLACK = 1e-9
_MAX_EPSILON = 2.0**40


@dataclass(frozen=True, slots=True)
class Profile:
    """delta(epsilon) = the largest over alternatives and directions of the composition of their pairs.

    Parameters
    ----------
    alternatives
        Each alternative is a tuple of pairs whose product dominates one kind of change.

    Examples
    --------
    >>> from dpmarkov.privacy.pairs import BetaPair
    >>> profile = Profile(((BetaPair(alpha=1.0, weight=1.0),),))
    >>> round(float(profile.delta(0.0)), 6), round(profile.epsilon(1e-6), 3)
    (0.5, 13.816)
    """

    alternatives: tuple[tuple[Pair, ...], ...]

    def __post_init__(self) -> None:
        kept = tuple(dict.fromkeys(tuple(pairs) for pairs in self.alternatives))
        if not kept or not all(kept):
            raise ParameterError("a profile needs at least one alternative, and each at least one pair")
        object.__setattr__(self, "alternatives", kept)

    def _directions(self) -> tuple[tuple[Pair, ...], ...]:
        both = (
            pairs
            for alternative in self.alternatives
            for pairs in (alternative, tuple(pair.reverse() for pair in alternative))
        )
        return tuple(dict.fromkeys(both))

    @property
    def is_exact(self) -> bool:
        """Whether the curve is the worst neighbours' own, and not an upper bound of it.

        A product is composed by rounding up, unless all its losses lie on one lattice.
        """
        return all(
            all(pair.is_exact for pair in pairs)
            and (len(pairs) == 1 or all(pair.atoms() is not None for pair in pairs))
            for pairs in self.alternatives
        )

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of delta for each epsilon, in floats, without the rounding up."""
        e = np.asarray(epsilon, dtype=np.float64)
        worst = np.full(e.shape, -np.inf)
        for pairs in self._directions():
            worst = np.maximum(worst, pairs[0].log_delta(e) if len(pairs) == 1 else _composed(pairs, e))
        return worst

    def delta(self, epsilon: npt.ArrayLike) -> Any:
        """The delta for each epsilon, in floats, rounded up by the relative `SLACK`; a float for a float."""
        values = np.minimum(np.exp(self.log_delta(epsilon)) * (1 + SLACK), 1.0)
        return float(values) if values.ndim == 0 else values

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon >= 0 with `self.delta(epsilon) <= delta`, rounded up; infinity if none."""
        found = _smallest(lambda e: self.delta(e) <= delta)
        # Where delta never falls below a failure probability, the slack alone can hide the answer.
        return found if math.isfinite(found) else _smallest(lambda e: self.certified_delta(e) <= delta)

    def certified_delta(self, epsilon: float) -> float:
        """A delta for this epsilon that is proven: ball arithmetic, its upper end, rounded up."""
        worst = 0.0
        for pairs in self._directions():
            if len(pairs) == 1:
                worst = max(worst, pairs[0].certified_delta(epsilon))
            else:
                worst = max(worst, _certified_composed(pairs, epsilon))
        return worst

    def certified_epsilon(self, delta: float) -> float:
        """An epsilon for this delta that is proven; infinity if there is none."""
        start = self.epsilon(delta)
        # The float solution is right or just short of it: step up until the proof goes through.
        for step in (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2):
            value = start * (1 + step)
            if not math.isfinite(value) or self.certified_delta(value) <= delta:
                return value
        return _smallest(lambda e: self.certified_delta(e) <= delta)

    def compose(self, other: "Profile") -> "Profile":
        """Both happen: the product of every alternative of one with every alternative of the other.

        Nothing is assumed about which direction of one goes with which direction of the other.
        """
        return Profile(
            tuple(
                a + turned
                for a in self.alternatives
                for b in other.alternatives
                for turned in dict.fromkeys((b, tuple(pair.reverse() for pair in b)))
            )
        )

    def worst(self, other: "Profile") -> "Profile":
        """Either happens: the union of the alternatives."""
        return Profile(self.alternatives + other.alternatives)

    def to_dict(self) -> dict[str, Any]:
        """The profile as it stands in `release.json`."""
        return {"alternatives": [[pair.to_dict() for pair in pairs] for pairs in self.alternatives]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Profile":
        """The profile that `to_dict` wrote."""
        try:
            return cls(tuple(tuple(pair_from_dict(pair) for pair in pairs) for pairs in data["alternatives"]))
        except (KeyError, TypeError) as error:
            raise ReleaseFormatError(f"the profile in release.json cannot be read: {error!r}") from None


def _smallest(holds: Callable[[float], bool]) -> float:
    """The smallest epsilon >= 0, from above, for which a monotone statement holds; infinity if none does."""
    if holds(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, 2 * high
        if high > _MAX_EPSILON:
            return math.inf
    if low == 0.0:
        low = high
        while holds(low) and low > 1e-12:
            low, high = low / 2, low
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


def _composed(pairs: tuple[Pair, ...], epsilon: Floats) -> Floats:
    return composition(pairs).log_delta(epsilon)


def _certified_composed(pairs: tuple[Pair, ...], epsilon: float) -> float:
    return composition(pairs, certified=True).delta(epsilon)
