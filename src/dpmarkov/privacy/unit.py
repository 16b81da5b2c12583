"""Units of privacy: what one neighbouring data set may change.

A unit is always tied to a relation, written out in the object, the file and every message:

- `Destination`: one event goes to another destination; the origin of every event is public.
- `Event`: one event is added or removed (`add_remove`), or replaced by any other (`replace`).
- `User`: all events of one user, of whom at most so many were counted (`add_remove` or `replace`).
- `Visit`: one row of one user's sequence appears or disappears.
- `Secret`: one fact is one way or another, and what depends on it follows (Pufferfish).
- `Entry`: two entries of a row of a sensitive stochastic matrix differ by at most b in L1 norm.
- `TimePoint`: the same for the state of one person at one time point of a chain.

"Any other" includes an event that is not counted at all (a missing or undeclared state): a guarantee for
`replace` or `Destination` covers that change too, and no figure about how many events were counted is public.
"""

import json
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from dpmarkov.errors import InputError, ParameterError

__all__ = [
    "Destination",
    "Entry",
    "Event",
    "Relation",
    "Secret",
    "TimePoint",
    "Unit",
    "User",
    "Visit",
    "unit_from_dict",
]

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
        object.__setattr__(self, "max_events", _whole("max_events", self.max_events))
        if self.max_per_pair is not None:
            object.__setattr__(self, "max_per_pair", _whole("max_per_pair", self.max_per_pair))
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


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool):
        raise ParameterError(f"{name} must be a whole number >= 1; got {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise ParameterError(f"{name} must be a whole number >= 1; got {value!r}") from None
    if number < 1:
        raise ParameterError(f"{name} must be a whole number >= 1; got {value!r}")
    return number


class Described(Protocol):
    """What a unit needs to know of a class of chains: `dpmarkov.pufferfish.ChainClass` has it."""

    @property
    def text(self) -> str:
        """The class in one canonical line of JSON."""

    @property
    def in_words(self) -> str:
        """The class as a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret(Unit):
    """One fact among facts that give each other away: Pufferfish privacy (Kifer and Machanavajjhala).

    The two cases that must not be told apart are the data that follow when the fact is one way, and when it
    is another, under any distribution of a declared class.

    Parameters
    ----------
    in_words
        The declared class as a sentence.
    secrets
        What is hidden, as a phrase.
    """

    name: ClassVar[str] = "secret"
    in_words: str
    secrets: str

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        return (
            f"{self.secrets} is one way or another, and the rest of the data follows from it under a "
            f"distribution of the declared class: {self.in_words} (Pufferfish)"
        )

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        return f"{self.secrets}, although other facts in the data depend on it"

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        return "facts that are no single secret; dependence that the declared class does not admit"

    @property
    def notion(self) -> str:
        """The notion of privacy that the guarantee is given in."""
        return "Pufferfish privacy"

    @property
    def from_whom(self) -> str:
        """Against which observers the guarantee holds."""
        return (
            "anybody whose belief about the data before the release lies in the declared class; not somebody "
            "who knows other parts of the data already"
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
        return {"name": self.name, "in_words": self.in_words, "secrets": self.secrets}


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePoint(Secret):
    """The state of one person at one time point, when neighbouring time points give each other away.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Unit):
    """Two entries of a row of a sensitive stochastic matrix (Gohari et al., Fallin et al.).

    The matrix, vector or collection of vectors is itself the sensitive data. A vector is a matrix of one row;
    for an average, the rows are the vectors that are averaged.

    Parameters
    ----------
    b
        By how much, in L1 norm, a row may differ: a mass of at most b/2 moves from one entry to another.
        0 < b <= 2.
    rows
        `"one"`: one row differs. `"all"`: every row may differ, each in two entries of its own.
    among
        The index set W: column positions of the entries that may differ, one list for every row or one list
        for each row. By default any entry may differ, apart from known zeros.
    """

    name: ClassVar[str] = "entry"
    b: float
    rows: Literal["one", "all"] = "one"
    among: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.b, bool) or not isinstance(self.b, int | float) or not 0 < self.b <= 2:
            raise ParameterError(f"b must be a number with 0 < b <= 2; got {self.b!r}")
        object.__setattr__(self, "b", float(self.b))
        if self.rows not in ("one", "all"):
            raise ParameterError(f"rows must be 'one' or 'all'; got {self.rows!r}")
        if self.among is not None:
            object.__setattr__(self, "among", _index_sets(self.among))

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        which = "in one row" if self.rows == "one" else "in every row"
        where = "" if self.among is None else " of the declared index set"
        return (
            f"{which}, two entries{where} differ: a mass of at most b/2 = {self.b / 2:g} moves from one to "
            f"the other (L1 distance at most {self.b:g})"
        )

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        which = "one row" if self.rows == "one" else "every row at once"
        return (
            f"which of two versions of {which} is the true one, if they are a shift of {self.b / 2:g} apart"
        )

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        kept = "the known zeros and the number of rows"
        if self.among is not None:
            kept += ", every entry outside the index set"
        return f"differences larger than b; {kept}"

    def to_dict(self) -> dict[str, Any]:
        """The unit as it stands in `release.json`."""
        data: dict[str, Any] = {"name": self.name, "b": self.b, "rows": self.rows}
        if self.among is not None:
            data["among"] = [list(positions) for positions in self.among]
        return data


def _index_sets(among: Any) -> tuple[tuple[int, ...], ...]:
    """Index sets as sorted tuples: one for every row, or one for each row."""
    listed = list(among)
    sets = [listed] if listed and all(isinstance(at, int | np.integer) for at in listed) else listed
    found: list[tuple[int, ...]] = []
    for positions in sets:
        try:
            row = tuple(sorted({operator.index(at) for at in positions}))
        except TypeError:
            raise ParameterError("among must hold column positions, whole numbers from 0") from None
        if len(row) < 2 or row[0] < 0:
            raise ParameterError("an index set must hold at least two column positions, counted from 0")
        found.append(row)
    if not found:
        raise ParameterError("among must hold at least one index set; leave it out for all entries")
    return tuple(found)


_UNITS: dict[str, type[Unit]] = {
    "destination": Destination,
    "event": Event,
    "user": User,
    "visit": Visit,
    "secret": Secret,
    "timepoint": TimePoint,
    "entry": Entry,
}


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
