"""Groups (`by`): one chain for each hour, each district, ... in one release; and public merge maps."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from dpmarkov.errors import ParameterError, StateSpaceError, TableError
from dpmarkov.events.dialect import Kind
from dpmarkov.events.engine import Column, Engine
from dpmarkov.events.expression import Expression, is_expression, parse_expression
from dpmarkov.events.matching import key_of, share_states
from dpmarkov.events.public import read_public_columns
from dpmarkov.layout import Layout
from dpmarkov.states import State, StateSpace

__all__ = ["Grouping", "declare_groups", "expression_of", "merge_states", "parse_by", "read_merge"]

_PARTS = {"hour": (0, 24), "weekday": (1, 8), "month": (1, 13), "date": None}
_MOST = 100_000
_CALL = re.compile(r"^(hour|weekday|month|date)\(([^()]+)\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Which group a row belongs to, and which values are merged into which state.

    Parameters
    ----------
    column
        The column that decides, or None without groups.
    part
        `hour`, `weekday`, `month` or `date`, where the group is that part of a time.
    merge
        The public merge map.
    """

    column: Column | None = None
    part: str | None = None
    merge: Mapping[State, State] = field(default_factory=dict)

    def join(self, engine: Engine, layout: Layout) -> tuple[str, str]:
        """SQL for the group's position (missing for undeclared groups) and the join that it needs."""
        if self.column is None or layout.groups is None:
            return "0", ""
        share_states(engine, "groups", layout.groups)
        if self.part is None:
            key = key_of(engine, self.column, layout.groups)
        else:
            key = self._part(engine, layout.groups)
        return "g.position", f" LEFT JOIN groups AS g ON g.key = {key}"

    def _part(self, engine: Engine, groups: StateSpace) -> str:
        column = self.column
        if column is None or self.part is None or column.kind not in (Kind.TIMESTAMP, Kind.DATE, Kind.TEXT):
            raise TableError(f"{self.part} needs a column of timestamps, dates or ISO 8601 text")
        if groups.is_integer == (self.part == "date"):
            kind = "text such as 2020-01-31" if self.part == "date" else "integers"
            raise StateSpaceError(f"groups by {self.part} are {kind}; the declared ones are not")
        return engine.dialect.time_part(self.part, engine.dialect.epoch_us(column.sql, column.kind))


def parse_by(by: str, time: str | None) -> tuple[str, str | None]:
    """The column that `by` needs, and the part of time it asks for.

    `hour`, `weekday`, `month` and `date` are parts of the time column where there is one, `hour(column)` of
    any column. What begins with a call or stands in brackets is an SQL expression (`expression_of`), whatever
    else a column.
    """
    if time is not None and by in _PARTS:
        return time, by
    call = _CALL.match(by)
    if call is not None:
        return call.group(2).strip(), call.group(1)
    return by, None


def expression_of(by: str) -> Expression | None:
    """The SQL expression that `by` is, or None where it is a column."""
    return parse_expression(by) if is_expression(by) else None


def declare_groups(
    by: str | None, part: str | None, groups: StateSpace | Iterable[State] | None
) -> StateSpace | None:
    """The declared groups; hours, weekdays and months are known to everybody."""
    if by is None:
        if groups is not None:
            raise ParameterError("groups go with by, the column that they stand in")
        return None
    if groups is not None:
        space = groups if isinstance(groups, StateSpace) else StateSpace(groups)
        if len(space) > _MOST:
            raise StateSpaceError(
                f"{len(space):,} groups are declared; at most {_MOST:,} can be, one chain each. "
                "Group by less: hours, weekdays, districts"
            )
        return space
    known = _PARTS.get(part or "")
    if known is None:
        time = f". For the {by} of a time name its column (time=, --time) or write {by}(column)"
        raise StateSpaceError(
            f"the groups of by={by!r} must be declared, as states are (groups=, --groups). They are public "
            f"knowledge, never read off the sensitive table{time if part is None and by in _PARTS else ''}"
        )
    return StateSpace.range(*known)


def read_merge(
    path: str | PathLike[str], *, columns: tuple[str, str] = ("state", "merged")
) -> dict[str, str]:
    """A public merge map from a CSV or Parquet file with the columns `state` and `merged`."""
    states, merged = read_public_columns(Path(path), list(columns))
    if any(value is None for value in (*states, *merged)):
        raise TableError(f"{path} has an empty value; a merge map needs a state and what it becomes")
    found: dict[str, str] = {}
    for state, target in zip(map(str, states), map(str, merged), strict=True):
        if found.setdefault(state, target) != target:
            raise StateSpaceError(
                f"{path} merges {state!r} into both {found[state]!r} and {target!r}; each state becomes one"
            )
    return found


def merge_states(space: StateSpace, merge: Mapping[State, State]) -> tuple[StateSpace, dict[State, State]]:
    """The states after merging, and the map from every declared state to its merged one.

    States that the map does not name stay. The merged states are integers only where all of them are.
    """
    known = {str(state): state for state in space}
    named = {str(given): target for given, target in merge.items()}
    absent = [given for given in named if given not in known]
    if absent:
        raise StateSpaceError(f"the merge map names {absent[0]!r}, which is not a declared state")
    becomes = {text: named.get(text, state) for text, state in known.items()}
    whole = all(re.fullmatch(r"-?(0|[1-9][0-9]{0,18})", str(value)) for value in becomes.values())
    typed = {text: int(value) if whole else str(value) for text, value in becomes.items()}
    order = list(dict.fromkeys(typed.values()))
    labels = {
        state: space.label(known[str(state)])
        for state in order
        if str(state) in known and str(state) not in named
    }
    if whole and not space.is_integer:
        raise StateSpaceError("a merge map may not turn text states into integers")
    full: dict[State, State] = {(int(text) if whole else text): value for text, value in typed.items()}
    return StateSpace(order, labels), full
