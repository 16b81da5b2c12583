"""The guarantee: the (epsilon, delta) that is delivered, for which unit, on what evidence.

It is fixed when a release is made and cannot be set later. From its evidence (the dominating pairs and their
parameters) anybody can recompute the whole curve delta(epsilon).
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ReleaseFormatError
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.readable import budget_warning, no_protection, odds_factor, readable_up
from dpmarkov.privacy.unit import Unit, unit_from_dict

__all__ = ["IDEAL_DRAW", "SEEDED", "Evidence", "Guarantee", "readable_up"]

IDEAL_DRAW = (
    "the draw is an ideal real-valued one: floating-point rounding in the sampler itself is not yet certified"
)

SEEDED = "SEEDED: NOT PRIVATE."
"""How the assumption begins that makes a guarantee void: noise that was drawn from a seed."""

_CURVE_POINTS = 60

_TOLERANCE = 1.01
"""What is read may have been computed by another version, to other digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Why a guarantee holds.

    Parameters
    ----------
    theorem
        What was proven, with its place in `docs/mathematics.md` or in a named paper.
    kind
        `"exact"`: the curve is the worst neighbours' own, certified in ball arithmetic.
        `"theorem"`: a bound that a theorem gives; the truth may be better.
    profile
        The dominating pairs: the whole curve delta(epsilon).
    parameters
        The public parameters that entered, by name.
    """

    theorem: str
    kind: Literal["exact", "theorem"]
    profile: Profile
    parameters: Mapping[str, float | int | str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The evidence as it stands in `release.json`."""
        return {
            "theorem": self.theorem,
            "kind": self.kind,
            "parameters": dict(self.parameters),
            "profile": self.profile.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Evidence":
        """The evidence that `to_dict` wrote."""
        return cls(
            theorem=data["theorem"],
            kind=data["kind"],
            profile=Profile.from_dict(data["profile"]),
            parameters=dict(data["parameters"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """The (epsilon, delta) that a release delivers.

    Parameters
    ----------
    epsilon, delta
        The pair that is claimed; delta is a certified upper bound.
    unit
        What is protected, with its relation.
    assumptions
        What must be true for the guarantee to hold, in words.
    evidence
        Why it holds.

    Guarantee
    ---------
    For every two data sets that differ as `unit.relation_in_words` says, and every set S of outputs,
    P(release in S) <= e^epsilon P'(release in S) + delta. It holds for this release alone: releases from the
    same data add up.
    """

    epsilon: float
    delta: float
    unit: Unit
    assumptions: tuple[str, ...]
    evidence: Evidence

    def delta_at(self, epsilon: float) -> float:
        """The smallest delta that is proven for `epsilon`: one point of the curve."""
        return self.evidence.profile.certified_delta(epsilon)

    def epsilon_at(self, delta: float) -> float:
        """The smallest epsilon that is proven for `delta`."""
        return self.evidence.profile.certified_epsilon(delta)

    def curve(self, epsilons: npt.ArrayLike | None = None) -> tuple[npt.NDArray[np.float64], ...]:
        """The curve delta(epsilon) as two arrays; by default from 0 to three times the claimed epsilon."""
        grid = (
            np.linspace(0, 3 * self.epsilon, _CURVE_POINTS)
            if epsilons is None
            else np.asarray(epsilons, float)
        )
        return grid, np.asarray(self.evidence.profile.delta(grid), dtype=float)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why it is void: what was drawn from a seed, here or in a charge that it covers."""
        return tuple(text for text in self.assumptions if text.startswith(SEEDED))

    @property
    def citation(self) -> str:
        """The guarantee in one line, as it can be cited."""
        epsilon, delta = readable_up(self.epsilon, 6), readable_up(self.delta)
        return (
            f"({epsilon}, {delta})-{self.unit.notion} for one {self.unit.name}: {self.unit.relation_in_words}"
        )

    def describe(self) -> str:
        """What is protected, from whom, under which relation, how strongly and on what evidence."""
        factor = odds_factor(self.epsilon, ".4g")
        epsilon, delta = readable_up(self.epsilon, 6), readable_up(self.delta)
        lines = [
            ("Protected", self.unit.protects + "."),
            ("From whom", self.unit.from_whom + "."),
            ("Neighbours", self.unit.relation_in_words + "."),
            (
                "How strongly",
                f"epsilon = {epsilon}, delta = {delta}: no conclusion about one {self.unit.name} becomes "
                f"more than {factor} times as likely as it would otherwise be"
                + (f", plus {delta} in probability" if self.delta else "")
                + f"{no_protection(self.epsilon)}.",
            ),
            ("Not protected", self.unit.leaves_open + "."),
            ("Evidence", f"{self.evidence.theorem} ({_KINDS[self.evidence.kind]})."),
            ("Assumptions", ("; ".join(self.assumptions) or "none") + "."),
            ("Scope", self.unit.scope + "."),
        ]
        warning = budget_warning(self.epsilon, self.delta)
        if warning:
            lines.append(("Warning", warning + "."))
        width = max(len(name) for name, _ in lines) + 2
        blank = " " * width
        return "\n".join(
            textwrap.fill(text, 100, initial_indent=f"{name:<{width}}", subsequent_indent=blank)
            for name, text in lines
        )

    def __str__(self) -> str:
        return self.describe()

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """The guarantee as it stands in `release.json`."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "unit": self.unit.to_dict(),
            "relation": self.unit.relation_in_words,
            "assumptions": list(self.assumptions),
            "evidence": self.evidence.to_dict(),
            "scope": self.unit.scope,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Guarantee":
        """The guarantee that `to_dict` wrote; refused if its own evidence does not prove it."""
        try:
            read = cls(
                epsilon=float(data["epsilon"]),
                delta=float(data["delta"]),
                unit=unit_from_dict(data["unit"]),
                assumptions=tuple(data["assumptions"]),
                evidence=Evidence.from_dict(data["evidence"]),
            )
        except (KeyError, TypeError) as error:
            raise ReleaseFormatError(f"the guarantee in release.json cannot be read: {error!r}") from None
        proven = read.delta_at(read.epsilon)
        if not proven <= _TOLERANCE * read.delta:
            raise ReleaseFormatError(
                f"release.json claims delta = {read.delta:.3g} at epsilon = {read.epsilon:g}, but its own "
                f"evidence proves no less than {proven:.3g}: the file was changed"
            )
        return read


_KINDS = {
    "exact": "exact, and certified in ball arithmetic at the parameters used",
    "theorem": "a theorem's bound; the truth may be better",
}
