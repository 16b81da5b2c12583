"""`dpmarkov.count`: from a table, wherever it lies, to integer transition counts."""

from collections.abc import Iterable
from typing import Any

from dpmarkov.counts import TransitionCounts
from dpmarkov.errors import ParameterError, StateSpaceError
from dpmarkov.events.matching import parse_unknown
from dpmarkov.events.opening import open_table
from dpmarkov.events.pairs import count_pairs
from dpmarkov.events.supports import SupportLike, make_layout
from dpmarkov.layout import Layout
from dpmarkov.states import State, StateSpace

__all__ = ["count"]


def count(
    data: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    column: str | None = None,
    states: StateSpace | Iterable[State] | None = None,
    source_states: StateSpace | Iterable[State] | None = None,
    support: SupportLike | None = None,
    layout: Layout | None = None,
    count: str | None = None,
    unknown: str = "drop",
    delimiter: str | None = None,
    progress: bool = False,
) -> TransitionCounts:
    """Count the transitions in a table.

    Parameters
    ----------
    data
        A file name or a glob (`.csv`, `.tsv`, also `.gz`; `.parquet`), or a pandas, polars or Arrow table.
    source, target
        The columns of the from-state and the to-state: each row is one event.
    column
        Instead of these, a single categorical column.
    states
        The declared, public states; the to-states where `source_states` are given.
    source_states
        The from-states, where they differ.
    support
        The allowed pairs, public: a `Support`, a file with the columns `from` and `to`, or a list. Others
        are not counted.
    layout
        Instead of states and support, a layout that was made before.
    count
        For a table that is aggregated already, the column that says how many events a row stands for.
    unknown
        What becomes of missing and undeclared states: `"drop"` the event, or map them to a declared state
        with `"state:NAME"`.
    delimiter
        The field delimiter of a CSV file; by default a tab for `.tsv` and a comma otherwise.
    progress
        Whether to show progress on standard error when counting lasts longer than a second.

    Returns
    -------
    TransitionCounts
        Exact and sensitive: give it to `dpmarkov.release`.

    Notes
    -----
    No content of a row decides whether counting succeeds; how values are read is told in `docs/data.md`.
    """
    if layout is None:
        if states is None:
            raise StateSpaceError(
                "states must be declared: a StateSpace or a list of states. They are public knowledge and "
                "never read off the sensitive table"
            )
        layout = make_layout(
            states=states, source_states=source_states, support=support, single=column is not None
        )
    elif states is not None or source_states is not None or support is not None:
        raise ParameterError("give either a layout or states and support, not both")
    wanted = _columns(source, target, column, layout)
    if count is not None:
        wanted.append(count)
    spaces = [layout.target] if layout.source is None else [layout.target, layout.source]
    mapped = parse_unknown(unknown, spaces)
    with open_table(data, wanted, delimiter=delimiter) as engine:
        opened = list(engine.columns)
        weight = opened.pop() if count is not None else None
        values = count_pairs(
            engine,
            layout,
            source=opened[0] if len(opened) == 2 else None,
            target=opened[-1],
            weight=weight,
            unknown=mapped,
            progress=progress,
        )
    return TransitionCounts(layout, values)


def _columns(source: str | None, target: str | None, column: str | None, layout: Layout) -> list[str]:
    if column is not None:
        if source is not None or target is not None:
            raise ParameterError("give either column, or source and target")
        if layout.source is not None:
            raise ParameterError("a single column needs a layout of one row: Layout(target=...)")
        return [column]
    if source is None or target is None:
        raise ParameterError(
            "name the columns: source and target for a Markov chain, or column for one distribution"
        )
    if layout.source is None:
        raise ParameterError(
            "source and target need a layout with from-states: Layout(target=..., source=...)"
        )
    return [source, target]
