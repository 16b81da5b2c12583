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

from typing import Any

from dpmarkov.errors import InputError
from dpmarkov.privacy.unit_base import Unit
from dpmarkov.privacy.unit_entry import Entry
from dpmarkov.privacy.unit_events import Destination, Event, Relation, User, Visit
from dpmarkov.privacy.unit_secrets import Secret, TimePoint

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
