"""Units of privacy: what one neighbouring data set may change.

A unit is always tied to a relation, written out in the object, the file and every message:

- `Destination`: one event goes to another destination; the origin of every event is public.
- `Event`: one event is added or removed (`add_remove`), or replaced by any other (`replace`).
- `TimePoint`: the state of one person at one time point is one or another, and the rest follows (Pufferfish).

"Any other" includes an event that is not counted at all (a missing or undeclared state): a guarantee for
`replace` or `Destination` covers that change too, and no figure about how many events were counted is public.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from dpmarkov.errors import InputError, ParameterError

__all__ = ["Destination", "Event", "Relation", "TimePoint", "Unit", "unit_from_dict"]

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

    @property
    def notion(self) -> str:
        """The notion of privacy that the guarantee is given in."""
        return "differential privacy"

    @property
    def from_whom(self) -> str:
        """Against which observers the guarantee holds."""
        return "anybody who sees the release, whatever else they know and however much they compute"

    @property
    def scope(self) -> str:
        """What the guarantee says about further releases."""
        return "this release alone: releases from the same data add up"

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


class Described(Protocol):
    """What a unit needs to know of a class of chains: `dpmarkov.pufferfish.ChainClass` has it."""

    @property
    def text(self) -> str:
        """The class in one canonical line of JSON."""

    @property
    def in_words(self) -> str:
        """The class as a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePoint(Unit):
    """The state of one person at one time point, when neighbouring time points give each other away.

    Pufferfish privacy (Kifer and Machanavajjhala; Wang, Song and Chaudhuri): the two cases that must not be
    told apart are the data that follow when the state at the time point is a, and when it is b.

    Parameters
    ----------
    theta
        The declared class of chains that the person's data may follow; it is kept as plain data.
    in_words
        The class as a sentence; taken from `theta`.
    secrets
        What is hidden, as a phrase.
    """

    name: ClassVar[str] = "timepoint"
    theta: Described | Mapping[str, Any] | str = field(kw_only=False)
    in_words: str = ""
    secrets: str = "the state at any single time point"

    def __post_init__(self) -> None:
        theta = self.theta
        if not isinstance(theta, str):
            if isinstance(theta, Mapping):
                text, words = _canonical(theta), self.in_words
            else:
                text, words = theta.text, theta.in_words
            object.__setattr__(self, "theta", text)
            object.__setattr__(self, "in_words", words)

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        return (
            "the state at one time point is one declared state or any other, and all other points follow "
            f"from it as in a chain of the declared class: {self.in_words} (Pufferfish)"
        )

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        return f"{self.secrets}, although the points around it depend on it"

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        return (
            "the number of people, of time points and the gaps; how often the states occur over the whole "
            "time; long stretches of time, and several time points together; dependence that the declared "
            "class does not admit"
        )

    @property
    def notion(self) -> str:
        """The notion of privacy that the guarantee is given in."""
        return "Pufferfish privacy"

    @property
    def from_whom(self) -> str:
        """Against which observers the guarantee holds."""
        return (
            "anybody whose belief about the data before the release is a chain of the declared class; not "
            "somebody who knows states at other time points already"
        )

    @property
    def scope(self) -> str:
        """What the guarantee says about further releases."""
        return (
            "this release alone: Pufferfish guarantees do not add up by themselves; for several releases "
            "under one class, dpmarkov.pufferfish.joint_epsilon says what is proven"
        )

    def to_dict(self) -> dict[str, Any]:
        """The unit as it stands in `release.json`."""
        return {
            "name": self.name,
            "theta": json.loads(str(self.theta)),
            "in_words": self.in_words,
            "secrets": self.secrets,
        }


def _canonical(data: Mapping[str, Any]) -> str:
    return json.dumps(dict(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


_UNITS: dict[str, type[Unit]] = {"destination": Destination, "event": Event, "timepoint": TimePoint}


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
