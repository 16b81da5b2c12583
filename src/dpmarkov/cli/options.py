"""How the command line writes states, supports and units."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from dpmarkov.errors import ParameterError, StateSpaceError, UnitError

if TYPE_CHECKING:
    from dpmarkov.privacy.unit import Unit
    from dpmarkov.releases import Release
    from dpmarkov.states import StateSpace

__all__ = ["STATES_HELP", "UNITS", "parse_states", "parse_unit", "released_group", "typed"]

STATES_HELP = (
    "The declared, public states: a file and its column (zones.csv:LocationID, with labels "
    "zones.csv:LocationID:Zone), a list (A,B,C), a range of integers (1..69), or another release's directory."
)

UNITS = {"event": "Event", "destination": "Destination", "user": "User", "visit": "Visit"}


def typed(name: str) -> bool:
    """Whether the user gave the option, be it with the value that it has anyway."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def parse_states(text: str, data: str | None = None) -> "StateSpace":
    """The state space that `text` declares; the sensitive table `data` itself is refused."""
    from dpmarkov.events import refuse_sensitive
    from dpmarkov.states import StateSpace

    path, columns = _split_columns(text)
    if path is not None:
        refuse_sensitive("list of states", path, data)
        if not columns:
            raise StateSpaceError(f"--states {text} needs a column: write {path.name}:COLUMN")
        return StateSpace.read(path, column=columns[0], label=columns[1] if len(columns) > 1 else None)
    if Path(text).is_dir():
        from dpmarkov.releases import load

        return load(text).layout.target
    start, dots, stop = text.partition("..")
    if dots:
        try:
            first, last = int(start), int(stop)
        except ValueError:
            raise StateSpaceError(f"a range of states is written 1..69; got {text!r}") from None
        if last < first:
            raise StateSpaceError(f"the range {text} runs backwards; write {last}..{first}")
        return StateSpace.range(first, last + 1)
    items = [item.strip() for item in text.split(",")]
    if any(not item for item in items):
        raise StateSpaceError(f"--states {text!r} has an empty state; write A,B,C")
    if len(items) == 1:
        raise StateSpaceError(
            f"--states {text!r} is no file, release or list. Write a file and its column "
            "(zones.csv:LocationID), a list (A,B,C), a range (1..69) or a release's directory"
        )
    whole = all(item.removeprefix("-").isdecimal() and item.isascii() for item in items)
    return StateSpace([int(item) for item in items] if whole else items)


def _split_columns(text: str) -> tuple[Path | None, list[str]]:
    """The file that `text` starts with and the columns after it; (None, []) when it names no file."""
    if Path(text).is_file():
        return Path(text), []
    parts = text.split(":")
    for cut in range(len(parts) - 1, 0, -1):
        path = Path(":".join(parts[:cut]))
        if path.is_file():
            return path, parts[cut:]
        if path.suffix.lower() in {".csv", ".parquet", ".tsv", ".gz"}:
            raise StateSpaceError(f"--states {text}: no such file: {path}")
    return None, []


def parse_unit(name: str | None, relation: str | None, table: dict[str, Any]) -> "Unit":
    """The unit that `--unit` and `--relation` name, with the bounds of the table's options."""
    from dpmarkov.privacy import unit as units

    if name is None:
        if table["user"] is not None:
            raise UnitError(
                "with --user, say what is protected: --unit user --max-events M (the person), --unit visit "
                "(one row of a sequence) or, for a table of pairs, --unit event"
            )
        name = "event"
    if name == "timepoint":
        raise UnitError(
            "the unit timepoint has one mechanism, so there is nothing to compare; see its noise with "
            "dpmarkov release ... --unit timepoint --theta FILE --dry-run --length T"
        )
    if name in UNITS and name != "user":
        for option in ("max_events", "max_per_pair"):
            if table[option] is not None:
                raise UnitError(
                    f"--{option.replace('_', '-')} bounds what a user contributes and goes with --unit user; "
                    f"the unit is {name}. Give --unit user, or leave the bound out"
                )
    if relation is not None and name not in ("event", "user"):
        raise UnitError(
            f"--relation goes with --unit event and --unit user; a {name} has one relation, its own"
        )
    if relation not in (None, "add_remove", "replace"):
        raise ParameterError(f"--relation must be add_remove or replace; got {relation!r}")
    given: dict[str, Any] = {} if relation is None else {"relation": relation}
    if name == "user":
        if table["max_events"] is None:
            raise UnitError("--unit user needs --max-events M: how many events of a user may count at most")
        given |= {"max_events": table["max_events"], "max_per_pair": table["max_per_pair"]}
    if name not in UNITS:
        raise UnitError(f"--unit must be one of {', '.join(UNITS)}, timepoint; got {name!r}")
    made: Unit = getattr(units, UNITS[name])(**given)
    return made


def released_group(release: "Release", group: str | None) -> "Release":
    """The part of `release` that `--group` names; the release itself where it has no groups."""
    from dpmarkov.states import shown_states

    if release.groups is None:
        if group is not None:
            raise ParameterError(f"this release has no groups; leave out --group {group}")
        return release
    named = {str(state): state for state in release.groups}
    if group not in named:
        problem = "--group is missing" if group is None else f"{group!r} is no group of this release"
        raise ParameterError(
            f"{problem}; there are {len(named)} groups, each a chain of its own: "
            f"{shown_states(release.groups.states)}"
        )
    return release.of(named[group])
