"""The operator's look at the data before a release: exact figures about the rows, sensitive themselves.

They go to the operator's terminal alone, and never into a release, a report, a log or a `--json` file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmarkov.events.counting import event_steps
from dpmarkov.events.dialect import Dialect
from dpmarkov.events.engine import Column, Engine, Query
from dpmarkov.events.grouping import Grouping
from dpmarkov.events.matching import key_of, share_states
from dpmarkov.events.pairs import read_weight
from dpmarkov.events.question import Question, ask
from dpmarkov.events.sequences import parse_gap, time_key, user_key
from dpmarkov.layout import Layout

__all__ = ["Inspection", "check"]

SENSITIVE = "exact, sensitive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """Exact figures about a table. Sensitive: never publish them.

    Parameters
    ----------
    layout
        The public shape that was asked for.
    figures
        What was counted, by what it is.
    """

    layout: Layout
    figures: Mapping[str, int]

    def describe(self) -> str:
        """The figures as a list, marked as what they are."""
        width = max(len(name) for name in self.figures)
        rule = f"--- {SENSITIVE}: for the operator's eyes, never to be published ---"
        lines = [f"{name:<{width}}  {value:>15,}" for name, value in self.figures.items()]
        return "\n".join([rule, f"Shape: {self.layout}", *lines, rule])

    def __str__(self) -> str:
        return self.describe()

    __repr__ = __str__


def check(
    data: Any,
    *,
    table: str | None = None,
    query: str | None = None,
    delimiter: str | None = None,
    progress: bool = False,
    **question: Any,
) -> Inspection:
    """Look at a table before it is counted: rows, missing and undeclared values, users over the bound.

    Of CSV files also the lines that could not be read, and with a support the events that it rules out.

    Parameters
    ----------
    data, table, query, delimiter, progress
        As for `dpmarkov.count`.
    **question
        The other parameters of `dpmarkov.count`.

    Returns
    -------
    Inspection
        Exact and sensitive: looking costs no privacy as long as nobody acts on it in public. A bound or a
        state space that is chosen because of it is no longer public.
    """
    asked = ask(**question)
    with asked.open(data, table=table, query=query, delimiter=delimiter) as engine:
        figures = _rows(engine, asked, progress)
        if engine.lines is not None:
            unread = {"lines that could not be read": engine.lines() - figures["rows read"]}
            figures = {"rows read": figures["rows read"]} | unread | figures
        if not asked.layout.allowed.is_full:
            figures |= _outside(engine, asked, progress)
        if asked.user is not None:
            figures |= _users(engine, asked, progress)
    return Inspection(layout=asked.layout, figures=figures)


def _rows(engine: Engine, question: Question, progress: bool) -> dict[str, int]:
    """Row by row: what is missing, what is not declared."""
    dialect, layout = engine.dialect, question.layout
    columns = {column.name: column for column in engine.columns}
    fields: dict[str, str] = {}
    joins = ""
    tests: dict[str, str] = {"rows read": "TRUE"}
    for role, name in (("from-state", question.source), ("to-state", question.target)):
        if name is None:
            continue
        shown = "state" if question.source is None else role
        space = layout.source if role == "from-state" and layout.source is not None else layout.target
        alias = "sf" if role == "from-state" else "st"
        share_states(engine, f"states_{alias}", space, question.merge)
        joins += (
            f" LEFT JOIN states_{alias} AS {alias} ON {alias}.key = {key_of(engine, columns[name], space)}"
        )
        raw = columns[name].sql
        fields |= {f"{alias}_missing": f"({raw} IS NULL)", f"{alias}_at": f"{alias}.position"}
        tests[f"{shown} missing"] = f"{alias}_missing"
        tests[f"{shown} not declared"] = f"NOT {alias}_missing AND {alias}_at IS NULL"
    if question.group_column is not None:
        grouping = Grouping(column=columns[question.group_column], part=question.group_part)
        position, join = grouping.join(engine, layout)
        fields["g"], joins = position, joins + join
        tests["group missing or not declared"] = "g IS NULL"
    if question.user is not None:
        fields["u"] = user_key(dialect, columns[question.user])
        tests["user missing"] = "u IS NULL"
    if question.weight is not None:
        fields["w"] = read_weight(dialect, columns[question.weight])
        tests["count missing, negative or no whole number"] = "w IS NULL OR w < 0"
    if question.time is not None and question.rules is not None:
        gap = None if question.rules.gap is None else parse_gap(question.rules.gap)
        fields["t"] = time_key(dialect, columns[question.time], gap)
        tests["time missing or unreadable"] = "t IS NULL"
    chosen = ", ".join(f"{expression} AS {name}" for name, expression in fields.items())
    steps = {"looked": f"SELECT {chosen} FROM {engine.relation} AS data{joins}"}
    return _tally(engine, steps, "looked", tests, progress)


def _outside(engine: Engine, question: Question, progress: bool) -> dict[str, int]:
    """How many events move between states that the support does not connect."""
    dialect, cells = engine.dialect, question.layout.cells
    steps = event_steps(engine, question)
    amount = "1" if question.user is not None and question.weight is None else "n"
    total = dialect.least("n", 2**62)
    every = "events"
    if question.user is not None:
        every = "placed"
        del steps["events"]  # engines that keep the events would drop what stands before them
    steps["every"] = f"SELECT cell, SUM({dialect.wide(amount)}) AS n FROM {every} GROUP BY cell"
    places, amounts = engine.integers(
        Query(steps, f"SELECT cell, {total} AS n FROM every"), progress=progress
    )
    at = cells.locate(places // cells.n_columns, places % cells.n_columns)
    return {"events in pairs that the support does not allow": int(np.sum(amounts[at < 0]))}


def _users(engine: Engine, question: Question, progress: bool) -> dict[str, int]:
    """User by user: events, and how many have more than the bound."""
    dialect = engine.dialect
    figures: dict[str, int] = {}
    if question.rules is not None:
        figures |= _order(engine, question, progress)
    steps = dict(event_steps(engine, question))
    amount = dialect.cast_whole("COUNT(*)" if question.weight is None else f"SUM({dialect.wide('n')})")
    steps["per_user"] = f"SELECT u, {amount} AS n FROM events GROUP BY u"
    tests = {"users with events": "TRUE"}
    sums = {"events in declared cells": "n"}
    if question.max_events is not None:
        bound = question.max_events
        tests[f"users with more than {bound} events"] = f"n > {bound}"
        sums[f"events that the bound of {bound} leaves out"] = (
            f"CASE WHEN n > {bound} THEN n - {bound} ELSE 0 END"
        )
    return figures | _tally(engine, steps, "per_user", tests, progress, sums)


def _order(engine: Engine, question: Question, progress: bool) -> dict[str, int]:
    """Rows that stand before an earlier one of their user, and rows of one user at the same time."""
    dialect = engine.dialect
    columns = {column.name: column for column in engine.columns}
    user: Column = columns[str(question.user)]
    time: Column = columns[str(question.time)]
    gap = None if question.rules is None or question.rules.gap is None else parse_gap(question.rules.gap)
    steps = {
        "placed": (
            f"SELECT {user_key(dialect, user)} AS u, {time_key(dialect, time, gap)} AS t, "
            f"{dialect.row_place} AS place FROM {engine.relation} AS data"
        ),
        "timed": (
            "SELECT t, LAG(t) OVER (PARTITION BY u ORDER BY place) AS before, "
            "LAG(t) OVER (PARTITION BY u ORDER BY t) AS nearest FROM placed "
            "WHERE u IS NOT NULL AND t IS NOT NULL"
        ),
    }
    tests = {"rows out of time order": "t < before", "rows at a time of the same user's": "t = nearest"}
    return _tally(engine, steps, "timed", tests, progress)


def _tally(
    engine: Engine,
    steps: dict[str, str],
    source: str,
    tests: Mapping[str, str],
    progress: bool,
    sums: Mapping[str, str] | None = None,
) -> dict[str, int]:
    """How many rows of a step pass each test, and the sums of some expressions."""
    dialect: Dialect = engine.dialect
    wanted = {name: f"CASE WHEN {test} THEN 1 ELSE 0 END" for name, test in tests.items()} | dict(sums or {})
    fields = ", ".join(
        f"{dialect.cast_whole(f'COALESCE(SUM({dialect.wide(expression)}), 0)')} AS x{i}"
        for i, expression in enumerate(wanted.values())
    )
    answer = engine.integers(Query(steps, f"SELECT {fields} FROM {source}"), progress=progress)
    return {name: int(values[0]) for name, values in zip(wanted, answer, strict=True)}
