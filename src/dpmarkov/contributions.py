"""What one user or one row can contribute to a count: the public bounds that a count was made under.

Counts carry them, so that a release refuses a unit of privacy for which the counts were not made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from dpmarkov.errors import StateSpaceError, UnitError

if TYPE_CHECKING:
    from dpmarkov.privacy.unit import Unit

__all__ = ["Contributions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributions:
    """How rows became events, and how many events of one user were kept.

    Parameters
    ----------
    kind
        `"events"`: each row is one event. `"sequences"`: events are made of consecutive rows of one user.
    max_events
        At most so many events of a user were kept, over all rows and groups together; None for all.
    max_per_pair
        At most so many of these in any one cell; None for no such bound.
    visit_obstacle
        Why one row of a sequence may change more than two transitions that vanish and one that appears (or
        the reverse), and None where it may not.
    details
        Public parameters of the count, for the record: gap, start, end, ...
    """

    kind: Literal["events", "sequences"] = "events"
    max_events: int | None = None
    max_per_pair: int | None = None
    visit_obstacle: str | None = None
    details: Mapping[str, str | int | bool] = field(default_factory=dict)

    def check(self, unit: "Unit") -> None:
        """Refuse a unit of privacy for which these counts were not made."""
        if unit.name == "user":
            self._check_user(unit)
        elif self.max_events is not None:
            raise UnitError(
                f"these counts keep at most {self.max_events} events of a user: one event more can push "
                f"another out, so the unit {unit.name} does not fit. Protect the user "
                f"(User(max_events={self.max_events}), --unit user), or count without max_events "
                "(--max-events)"
            )
        elif unit.name == "visit":
            if self.kind != "sequences":
                raise UnitError(
                    "the unit visit is for sequences (user, time, state); a table of pairs has the unit "
                    "event (Event(), --unit event)"
                )
            if self.visit_obstacle is not None:
                raise UnitError(f"the unit visit does not fit these counts: {self.visit_obstacle}")
        elif self.kind == "sequences":
            raise UnitError(
                f"the unit {unit.name} does not fit sequences: taking out one row of a user deletes two "
                "transitions and adds one. Take the unit visit for one row of a sequence (Visit(), --unit "
                "visit), or the unit user for the person (User(max_events=...) and the same bound for count; "
                "--unit user --max-events M)"
            )

    def _check_user(self, unit: "Unit") -> None:
        wanted = (getattr(unit, "max_events", None), getattr(unit, "max_per_pair", None))
        if self.max_events is None:
            raise UnitError(
                "the unit user needs counts in which each user's events were bounded: name the user's column "
                f"and the bound max_events={wanted[0]} when counting"
            )
        if wanted != (self.max_events, self.max_per_pair):
            raise UnitError(
                f"these counts keep at most {self.max_events} events of a user and "
                f"{self.max_per_pair or 'as many'} in any one cell; the unit says {wanted[0]} and "
                f"{wanted[1] or 'as many'}. Give both the same bounds"
            )

    def merge(self, other: "Contributions") -> "Contributions":
        """The bounds of two data sets' counts together; a user may be in both."""
        if self.kind != other.kind or (self.max_events is None) != (other.max_events is None):
            raise StateSpaceError("only counts that were made in the same way can be merged")
        per_pair = None
        if self.max_per_pair is not None and other.max_per_pair is not None:
            per_pair = self.max_per_pair + other.max_per_pair
        total = None
        if self.max_events is not None and other.max_events is not None:
            total = self.max_events + other.max_events
        return Contributions(
            kind=self.kind,
            max_events=total,
            max_per_pair=per_pair,
            visit_obstacle=self.visit_obstacle or other.visit_obstacle,
            details={name: value for name, value in self.details.items() if other.details.get(name) == value},
        )

    def to_dict(self) -> dict[str, Any]:
        """The bounds as they stand in `release.json`."""
        data: dict[str, Any] = {"kind": self.kind, **self.details}
        if self.max_events is not None:
            data["max_events"] = self.max_events
        if self.max_per_pair is not None:
            data["max_per_pair"] = self.max_per_pair
        return data
