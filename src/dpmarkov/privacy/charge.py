"""A charge: what an earlier private look at the same data has cost."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from dpmarkov.errors import ParameterError, ReleaseFormatError, UnitError
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.certify import fraction_down, fraction_up
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.readable import readable_up
from dpmarkov.privacy.unit import Unit
from dpmarkov.whole import check_free, write_whole

__all__ = ["Charge", "remaining", "total_delta"]

_FORMAT = "dpmarkov charge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A private look at the data, and its price.

    Parameters
    ----------
    purpose
        What was looked for, in words.
    unit
        The name of the unit that the look protects.
    relation
        How neighbours differ: `add_remove` or `replace`.
    epsilon, delta
        The price.
    profile
        The whole curve delta(epsilon) of the look.
    result
        What was found: private, so public.
    """

    purpose: str
    unit: str
    relation: str
    epsilon: float
    delta: float
    profile: Profile
    result: Mapping[str, Any] = field(hash=False)

    def check(self, unit: Unit) -> None:
        """Refuse a release whose unit the look did not protect."""
        otherwise = "replace" if unit.name == "destination" else "add_remove"
        relation = getattr(unit, "relation", otherwise)
        if unit.name != self.unit or relation != self.relation:
            raise UnitError(
                f"the {self.purpose} protects one {self.unit} ({self.relation}); the release protects one "
                f"{unit.name} ({relation}). Make both for the same unit and relation"
            )

    def in_words(self) -> str:
        """Purpose and price in a line."""
        return f"{self.purpose}: epsilon = {readable_up(self.epsilon, 6)}, delta = {readable_up(self.delta)}"

    def to_dict(self) -> dict[str, Any]:
        """The charge as it stands in its file."""
        return {
            "format": _FORMAT,
            "schema_version": 1,
            "purpose": self.purpose,
            "unit": self.unit,
            "relation": self.relation,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "profile": self.profile.to_dict(),
            "result": dict(self.result),
        }

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the charge to a file, whole or not at all; it may be shared."""
        target = check_free(path, overwrite=overwrite)
        write_whole(target, (json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n").encode())
        return target

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Charge":
        """Read the charge that `save` wrote."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise ReleaseFormatError(f"{path} is missing or is no charge file of dpmarkov") from None
        if not isinstance(data, dict) or data.get("format") != _FORMAT or data.get("schema_version") != 1:
            raise ReleaseFormatError(f"{path} is no charge file that this version reads")
        try:
            return cls(
                purpose=str(data["purpose"]),
                unit=str(data["unit"]),
                relation=str(data["relation"]),
                epsilon=float(data["epsilon"]),
                delta=float(data["delta"]),
                profile=Profile.from_dict(data["profile"]),
                result=dict(data["result"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ReleaseFormatError(f"{path} is damaged: {type(error).__name__} at {error}") from None


def remaining(budget: Budget, charges: Sequence[Charge]) -> Budget:
    """What a budget leaves after charges, rounded down: the price of a composition is at most the sum."""
    if not charges:
        return budget
    epsilon = Fraction(budget.epsilon) - sum(Fraction(charge.epsilon) for charge in charges)
    delta = Fraction(budget.delta) - sum(Fraction(charge.delta) for charge in charges)
    if not (epsilon > 0 and delta >= 0):
        spent = "; ".join(charge.in_words() for charge in charges)
        raise ParameterError(f"the budget of {budget} does not cover what was spent before ({spent})")
    return Budget(epsilon=fraction_down(epsilon), delta=fraction_down(delta))


def total_delta(rest: float, charges: Sequence[Charge]) -> float:
    """The delta of a release and of the charges before it, rounded up."""
    return fraction_up(Fraction(rest) + sum(Fraction(charge.delta) for charge in charges))
