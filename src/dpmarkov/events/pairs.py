"""Count a table whose rows are events: a from-state and a to-state, or a single category."""

import numpy as np

from dpmarkov.counts import COUNT_LIMIT
from dpmarkov.errors import TableError
from dpmarkov.events.engine import Column, Engine, Integers, Query
from dpmarkov.events.matching import key_of, share_states
from dpmarkov.layout import Layout
from dpmarkov.states import State

__all__ = ["count_pairs"]


def count_pairs(
    engine: Engine,
    layout: Layout,
    *,
    source: Column | None,
    target: Column,
    weight: Column | None,
    unknown: State | None,
    progress: bool,
) -> Integers:
    """One count for each cell of the layout.

    Rows are grouped by their raw values first and only the groups are matched with the states: matching costs
    next to nothing, however many rows there are.
    """
    dialect = engine.dialect
    if weight is None:
        amount = "COUNT(*)"
    else:
        whole = dialect.whole("n", weight.kind)
        if whole is None:
            raise TableError(f"column {weight.name!r} holds {weight.kind.value}; counts must be numbers")
        # Negative, fractional and missing counts are no counts: their row is dropped. Sums cannot overflow.
        held = f"(CASE WHEN {whole} > {COUNT_LIMIT} THEN {COUNT_LIMIT} WHEN {whole} > 0 THEN {whole} END)"
        amount = f"SUM({dialect.wide(held)})"
    fields = [f"{target.sql} AS b"]
    if source is not None:
        fields.append(f"{source.sql} AS a")
    if weight is not None:
        fields.append(f"{weight.sql} AS n")
    keys = "b" if source is None else "a, b"
    steps = {
        "events": f"SELECT {', '.join(fields)} FROM {engine.relation} AS data",
        "grouped": f"SELECT {keys}, {amount} AS amount FROM events GROUP BY {keys}",
    }
    share_states(engine, "to_states", layout.target)
    join = "JOIN" if unknown is None else "LEFT JOIN"
    tables = f"grouped {join} to_states AS t ON t.key = {key_of(engine, target, layout.target, 'b')}"
    column = _position("t.position", None if unknown is None else layout.target.index(unknown))
    row = "0"
    if source is not None and layout.source is not None:
        share_states(engine, "from_states", layout.source)
        tables += f" {join} from_states AS f ON f.key = {key_of(engine, source, layout.source, 'a')}"
        row = _position("f.position", None if unknown is None else layout.source.index(unknown))
    steps["matched"] = f"SELECT {row} AS r, {column} AS c, amount FROM {tables}"
    total = dialect.least(f"SUM({dialect.wide('amount')})", COUNT_LIMIT)
    select = f"SELECT r, c, {total} AS n FROM matched WHERE amount IS NOT NULL GROUP BY r, c"
    rows, columns, counts = engine.integers(Query(steps, select), progress=progress)
    return scatter(layout, rows, columns, counts)


def scatter(layout: Layout, rows: Integers, columns: Integers, counts: Integers) -> Integers:
    """Counts at (row, column) as one flat array; what lies outside the support is not counted."""
    values = np.zeros(layout.cells.n_cells, dtype=np.int64)
    if rows.size:
        at = layout.cells.locate(rows, columns)
        values[at[at >= 0]] = counts[at >= 0]
    return values


def _position(expression: str, otherwise: int | None) -> str:
    return expression if otherwise is None else f"COALESCE({expression}, {otherwise})"
