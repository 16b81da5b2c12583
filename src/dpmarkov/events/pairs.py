"""Count a table whose rows are events: a from-state and a to-state, or a single category."""

from dpmarkov.counts import COUNT_LIMIT
from dpmarkov.errors import TableError
from dpmarkov.events.dialect import Dialect
from dpmarkov.events.engine import Column, Engine
from dpmarkov.events.grouping import Grouping
from dpmarkov.events.matching import key_of, share_states
from dpmarkov.events.sequences import user_key
from dpmarkov.layout import Layout
from dpmarkov.states import State

__all__ = ["pair_steps", "read_weight"]


def pair_steps(
    engine: Engine,
    layout: Layout,
    *,
    source: Column | None,
    target: Column,
    user: Column | None,
    weight: Column | None,
    unknown: State | None,
    grouping: Grouping,
) -> dict[str, str]:
    """Steps up to `events`: (u, cell) with a user, (u, cell, n) with weights too, else (cell, n).

    Without users, rows are grouped by their raw values first and only the groups are matched with the states:
    matching costs next to nothing, however many rows there are.
    """
    dialect = engine.dialect
    raw = [f"{target.sql} AS {target.sql}"]
    if source is not None and source.sql != target.sql:
        raw.append(f"{source.sql} AS {source.sql}")
    group, group_join = grouping.join(engine, layout)
    if grouping.column is not None and grouping.column.sql not in (target.sql, source and source.sql):
        raw.append(f"{grouping.column.sql} AS {grouping.column.sql}")
    keys = ", ".join(field.split(" AS ")[1] for field in raw)
    steps = {}
    if user is not None:
        raw.append(f"{user_key(dialect, user)} AS u")
        if weight is not None:
            raw.append(f"{_held(engine, weight)} AS n")
        steps["grouped"] = f"SELECT {', '.join(raw)} FROM {engine.relation} AS data"
    else:
        if weight is not None:
            raw.append(f"{_held(engine, weight)} AS n")
        steps["read"] = f"SELECT {', '.join(raw)} FROM {engine.relation} AS data"
        steps["grouped"] = f"SELECT {keys}, {_amount(engine, weight)} AS n FROM read GROUP BY {keys}"
    join = "JOIN" if unknown is None else "LEFT JOIN"
    share_states(engine, "states", layout.target, grouping.merge)
    column = _position("t.position", None if unknown is None else layout.target.index(unknown))
    tables = f"grouped {join} states AS t ON t.key = {key_of(engine, target, layout.target)}"
    row = "0"
    if source is not None and layout.source is not None:
        share_states(engine, "from_states", layout.source, grouping.merge if layout.is_chain else None)
        tables += f" {join} from_states AS f ON f.key = {key_of(engine, source, layout.source)}"
        row = _position("f.position", None if unknown is None else layout.source.index(unknown))
    tables += group_join
    place = f"({group} * {layout.allowed.n_rows} + {row}) * {layout.cells.n_columns} + {column}"
    which = ["u"] * (user is not None) + ["n"] * (user is None or weight is not None)
    present = " AND ".join(f"{name} IS NOT NULL" for name in [*which, "cell"])
    steps["matched"] = f"SELECT {', '.join(which)}, {dialect.cast_whole(place)} AS cell FROM {tables}"
    steps["events"] = f"SELECT {', '.join(which)}, cell FROM matched WHERE {present}"
    return steps


def _amount(engine: Engine, weight: Column | None) -> str:
    """How many events a group of rows stands for; sums cannot overflow."""
    return "COUNT(*)" if weight is None else f"SUM({engine.dialect.wide('n')})"


def _held(engine: Engine, weight: Column) -> str:
    """How many events a row stands for; negative, fractional and missing counts are no counts."""
    amount = read_weight(engine.dialect, weight)
    return f"(CASE WHEN {amount} > {COUNT_LIMIT} THEN {COUNT_LIMIT} WHEN {amount} > 0 THEN {amount} END)"


def read_weight(dialect: Dialect, weight: Column) -> str:
    """A column of counts as whole numbers.

    One that is too large to be read is not missing: a row of one event more must not count for none.
    """
    whole = dialect.whole(weight.sql, weight.kind)
    if whole is None:
        raise TableError(f"column {weight.name!r} holds {weight.kind.value}; counts must be numbers")
    beyond = dialect.beyond(weight.sql, weight.kind)
    return f"(CASE WHEN {whole} IS NULL AND {beyond} THEN {COUNT_LIMIT} ELSE {whole} END)"


def _position(expression: str, otherwise: int | None) -> str:
    return expression if otherwise is None else f"COALESCE({expression}, {otherwise})"
