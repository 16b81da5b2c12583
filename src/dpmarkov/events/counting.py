"""`dpmarkov.count`: from a table, wherever it lies, to integer transition counts."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from dpmarkov.counts import TransitionCounts
from dpmarkov.entropy import Entropy
from dpmarkov.events.bounding import bounded_counts
from dpmarkov.events.engine import Column, Engine, Query
from dpmarkov.events.files import refuse_sensitive
from dpmarkov.events.grouping import Grouping
from dpmarkov.events.pairs import pair_steps
from dpmarkov.events.question import Question, ask
from dpmarkov.events.sequences import sequence_steps
from dpmarkov.events.supports import SupportLike
from dpmarkov.layout import Layout
from dpmarkov.states import State, StateSpace

__all__ = ["count"]


def count(
    data: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    column: str | None = None,
    user: str | None = None,
    time: str | None = None,
    state: str | None = None,
    states: StateSpace | Iterable[State] | None = None,
    source_states: StateSpace | Iterable[State] | None = None,
    support: SupportLike | None = None,
    layout: Layout | None = None,
    count: str | None = None,
    unknown: str = "drop",
    max_events: int | None = None,
    max_per_pair: int | None = None,
    by: str | None = None,
    groups: StateSpace | Iterable[State] | None = None,
    merge: Mapping[State, State] | str | PathLike[str] | None = None,
    gap: int | str | None = None,
    start: State | None = None,
    end: State | None = None,
    collapse: bool = False,
    lengths: int | None = None,
    table: str | None = None,
    query: str | None = None,
    delimiter: str | None = None,
    seed: int | None = None,
    progress: bool = False,
) -> TransitionCounts:
    """Count the transitions in a table.

    A table of events has one row for each: `source` and `target`, or a single `column`. A log of visits has a
    row for each visit: `user`, `time` and `state`; its transitions are consecutive rows of one user.

    Parameters
    ----------
    data
        A file name or a glob (`.csv`, `.tsv`, also `.gz`; `.parquet`); a pandas, polars or Arrow table; a
        database (`postgresql://...`, `duckdb:///file.db`) with `table` or `query`; a Spark DataFrame, or a
        SparkSession or `spark://...` with `table` or `query`.
    source, target
        The columns of the from-state and the to-state: each row is one event.
    column
        Instead of these, a single categorical column.
    user, time, state
        The columns of a log of visits. With `source` and `target`, `user` says whose event a row is.
    states
        The declared, public states; the to-states where `source_states` are given.
    source_states
        The from-states, where they differ.
    support
        The allowed pairs, public: a `Support`, a file with the columns `from` and `to`, or a list. Others
        are not counted.
    layout
        Instead of states, support, groups and lengths, a layout that `make_layout` made before.
    count
        For a table that is aggregated already, the column that says how many events a row stands for.
    unknown
        What becomes of missing and undeclared states: `"drop"` the row, or map them to a declared state
        with `"state:NAME"`.
    max_events
        Keep at most so many events of each user, over all rows and groups together (the unit `User`).
    max_per_pair
        And at most so many of them in any one cell.
    by
        One chain for each group: a column; `hour`, `weekday`, `month` or `date` of the time; or such a part
        of another column, as in `"hour(pickup)"`; or an SQL expression over the columns of its own row, which
        begins with a call or stands in brackets. A transition belongs to the group that it starts in.
    groups
        The declared groups; not needed for hours, weekdays and months.
    merge
        A public map that combines states: a mapping, or a file with the columns `state` and `merged`.
    gap
        A sequence ends where more time than this goes by: `"30m"`, `"2h"`, or a whole number for integer
        times.
    start, end
        Declared states that are put before and after every sequence.
    collapse
        Count a repeated state of a sequence once.
    lengths
        Count how long sequences are, too, up to this length (which stands for longer ones).
    table, query
        The table of a database, or a read-only query, that holds the rows.
    delimiter
        The field delimiter of a CSV file; by default a tab for `.tsv` and a comma otherwise.
    seed
        Makes it reproducible which events of a user are kept. The guarantee does not depend on it.
    progress
        Whether to show progress on standard error when counting lasts longer than a second.

    Returns
    -------
    TransitionCounts
        Exact and sensitive: give it to `dpmarkov.release`.

    Notes
    -----
    No content of a row decides whether counting succeeds; how values are read is told in `docs/data.md`.
    Floats of 2^53 and more are read as missing: ids and states that large need text or, in pandas, `Int64`.
    """
    for role, listed in (("support", support), ("merge map", merge)):
        refuse_sensitive(role, listed, data)
    question = ask(
        source=source,
        target=target,
        column=column,
        user=user,
        time=time,
        state=state,
        states=states,
        source_states=source_states,
        support=support,
        layout=layout,
        count=count,
        unknown=unknown,
        max_events=max_events,
        max_per_pair=max_per_pair,
        by=by,
        groups=groups,
        merge=merge,
        gap=gap,
        start=start,
        end=end,
        collapse=collapse,
        lengths=lengths,
    )
    key = Entropy.choose(seed).key("bounding")
    with question.open(data, table=table, query=query, delimiter=delimiter) as engine:
        return answer(engine, question, key=key, progress=progress)


def answer(engine: Engine, question: Question, *, key: bytes, progress: bool = False) -> TransitionCounts:
    """The counts that answer a question, on an open table."""
    layout = question.layout
    steps = event_steps(engine, question)
    if question.user is None:
        final = "SELECT cell, SUM(n) AS n FROM events GROUP BY cell"
        total = engine.dialect.least("n", 2**62)
        query = Query({**steps, "kept": final}, f"SELECT cell, {total} AS n FROM kept")
    else:
        more, select = bounded_counts(
            engine.dialect,
            max_events=question.max_events,
            max_per_pair=question.max_per_pair,
            weighted=question.weight is not None,
            cells=layout.cells.n_cells,
            key=key,
        )
        query = Query({**steps, **more}, select)
    cells, amounts = engine.integers(query, progress=progress)
    values = np.zeros(layout.cells.n_cells, dtype=np.int64)
    if cells.size:
        at = layout.cells.locate(cells // layout.cells.n_columns, cells % layout.cells.n_columns)
        values[at[at >= 0]] = amounts[at >= 0]
    return TransitionCounts(layout, values, question.contributions)


def event_steps(engine: Engine, question: Question) -> dict[str, str]:
    """Steps up to `events`: (u, cell) with a user, else (cell, n), on the cells that the support allows."""
    layout = question.layout
    columns: dict[str, Column] = {column.name: column for column in engine.columns}

    def found(name: str | None) -> Column | None:
        return None if name is None else columns[name]

    grouping = Grouping(column=found(question.group_column), part=question.group_part, merge=question.merge)
    user, state = found(question.user), columns[question.target]
    if question.rules is not None and user is not None and question.time is not None:
        steps = sequence_steps(
            engine,
            layout,
            question.rules,
            user=user,
            time=columns[question.time],
            state=state,
            unknown=question.unknown,
            grouping=grouping,
        )
    else:
        steps = pair_steps(
            engine,
            layout,
            source=found(question.source),
            target=state,
            user=user,
            weight=found(question.weight),
            unknown=question.unknown,
            grouping=grouping,
        )
    if not layout.allowed.is_full and user is not None:
        # What the support rules out must not use up a user's allowance.
        numbers = layout.cells.row_of_cell * layout.cells.n_columns + layout.cells.indices
        engine.share("allowed", {"cell": numbers})
        steps["placed"] = steps.pop("events")
        weight = "" if question.weight is None else ", p.n AS n"
        steps["events"] = (
            f"SELECT p.u AS u, p.cell AS cell{weight} FROM placed AS p JOIN allowed AS a ON a.cell = p.cell"
        )
    return steps
