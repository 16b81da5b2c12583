"""Units of privacy: what one neighbouring data set may change.

A unit is always tied to a relation, written out in the object, the file and every message:

- `Destination`: one event goes to another destination; the origin of every event is public.
- `Event`: one event is added or removed (`add_remove`), or replaced by any other (`replace`).

"Any other" includes an event that is not counted at all (a missing or undeclared state): a guarantee for
`replace` or `Destination` covers that change too, and no figure about how many events were counted is public.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from dpmarkov.errors import InputError, ParameterError

__all__ = ["Destination", "Event", "Relation", "Unit", "unit_from_dict"]

Relation = Literal["add_remove", "replace"]
_RELATIONS = ("add_remove", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Base of the units; a subclass says in words what it protects."""

    name: ClassVar[str]

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        raise InputError("a bare Unit protects nothing: use Destination(), Event() or another unit")

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        raise InputError("a bare Unit protects nothing: use Destination(), Event() or another unit")

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        raise InputError("a bare Unit protects nothing: use Destination(), Event() or another unit")

    def to_dict(self) -> dict[str, Any]:
        """The unit as it stands in `release.json`."""
        return {"name": self.name}

    def __str__(self) -> str:
        return f"{self.name} ({self.relation_in_words})"


def _check_relation(relation: str) -> None:
    if relation not in _RELATIONS:
        raise ParameterError(f"relation must be one of {', '.join(_RELATIONS)}; got {relation!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination(Unit):
    """One event's destination; its origin is public (the setting of Benvenuti et al.)."""

    name: ClassVar[str] = "destination"

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        return "one event is given any other destination; the origin of every event is public"

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        return (
            "where any one event went, even from somebody who knows every other event and this one's origin"
        )

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        return "that the event took place and where it started; a person behind several events"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Unit):
    """One event: its presence (`add_remove`) or its whole content (`replace`).

    Parameters
    ----------
    relation
        `"add_remove"`: neighbours differ by one event more or less. `"replace"`: neighbours have the same
        number of events and differ in one of them, which costs about twice as much noise.
    """

    name: ClassVar[str] = "event"
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        _check_relation(self.relation)

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        if self.relation == "replace":
            return "one event is replaced by any other (relation: replace)"
        return "one event is added or removed (relation: add_remove)"

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        if self.relation == "replace":
            return (
                "what any one event was, origin and destination, even from somebody who knows all the others"
            )
        return "whether any one event is in the data, even from somebody who knows all the others"

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        return (
            "a person behind several events: each further event of the same person adds to what can be told"
        )

    def to_dict(self) -> dict[str, Any]:
        """The unit as it stands in `release.json`."""
        return {"name": self.name, "relation": self.relation}


_UNITS: dict[str, type[Unit]] = {"destination": Destination, "event": Event}


def unit_from_dict(data: dict[str, Any]) -> Unit:
    """The unit that `to_dict` wrote."""
    fields = dict(data)
    name = fields.pop("name", None)
    kind = _UNITS.get(str(name))
    if kind is None:
        raise InputError(f"unknown unit {name!r}; this version knows {', '.join(_UNITS)}")
    try:
        return kind(**fields)
    except TypeError as error:
        raise InputError(f"unit {name!r} has fields that this version does not know: {error}") from None
