"""Units of data that are rows and people: a destination, an event, a user, a visit."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.unit_base import Unit, whole_number

__all__ = ["Destination", "Event", "Relation", "User", "Visit"]

Relation = Literal["add_remove", "replace"]
_RELATIONS = ("add_remove", "replace")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class User(Unit):
    """One user, with all events; counts must be made with the same bounds.

    Parameters
    ----------
    max_events
        m: at most so many events of any one user are counted, over all rows and groups together. Public, and
        never read off the data.
    max_per_pair
        c: at most so many of them in any one cell; `None` for no such bound.
    relation
        `"add_remove"`: neighbours differ by one user more or less. `"replace"`: one user's events are
        replaced by any others.
    """

    name: ClassVar[str] = "user"
    max_events: int
    max_per_pair: int | None = None
    relation: Relation = "add_remove"

    def __post_init__(self) -> None:
        _check_relation(self.relation)
        object.__setattr__(self, "max_events", whole_number("max_events", self.max_events))
        if self.max_per_pair is not None:
            object.__setattr__(self, "max_per_pair", whole_number("max_per_pair", self.max_per_pair))
            if self.max_per_pair > self.max_events:
                raise ParameterError(
                    f"max_per_pair must not exceed max_events; got {self.max_per_pair} and {self.max_events}"
                )

    @property
    def most_in_a_cell(self) -> int:
        """How many events of one user can lie in one cell."""
        return self.max_events if self.max_per_pair is None else self.max_per_pair

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        bound = f"at most {self.max_events} events of a user are counted"
        if self.max_per_pair is not None:
            bound += f", at most {self.max_per_pair} of them in any one cell"
        if self.relation == "replace":
            return f"one user's events are replaced by any others; {bound} (relation: replace)"
        return f"one user with all events is added or removed; {bound} (relation: add_remove)"

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        if self.relation == "replace":
            return "what any one user did, even from somebody who knows everything about all the others"
        return "whether any one user is in the data, even from somebody who knows everything about the others"

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        return "what is common to several users, such as a household or a company"

    def to_dict(self) -> dict[str, Any]:
        """The unit as it stands in `release.json`."""
        data: dict[str, Any] = {
            "name": self.name,
            "max_events": self.max_events,
            "relation": self.relation,
        }
        if self.max_per_pair is not None:
            data["max_per_pair"] = self.max_per_pair
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit(Unit):
    """One row of one user's sequence: two transitions vanish and one appears, or the reverse."""

    name: ClassVar[str] = "visit"

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        return (
            "one visit (a row of a user's sequence) is added or removed: at most two transitions appear and "
            "one vanishes, or the reverse (relation: add_remove)"
        )

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        return "whether any one visit took place, even from somebody who knows all the others"

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        return "a person behind several visits: each further visit adds to what can be told"
