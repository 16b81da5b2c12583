"""A question to a table: columns, rules, layout. Public, and checked before any data is opened."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from dpmarkov.contributions import Contributions
from dpmarkov.errors import ParameterError, StateSpaceError
from dpmarkov.events.bounding import check_bounds
from dpmarkov.events.engine import Engine
from dpmarkov.events.expression import Expression
from dpmarkov.events.grouping import declare_groups, expression_of, merge_states, parse_by, read_merge
from dpmarkov.events.matching import parse_unknown
from dpmarkov.events.opening import open_table
from dpmarkov.events.sequences import SequenceRules, parse_gap
from dpmarkov.events.supports import SupportLike, build_layout
from dpmarkov.layout import Layout
from dpmarkov.states import State, StateSpace

__all__ = ["Question", "ask", "make_layout"]

_LONGEST = 10_000

MergeLike = Mapping[State, State] | str | PathLike[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What to count; `rules` are set for sequences, where `target` is the state's column."""

    layout: Layout
    target: str
    source: str | None
    user: str | None
    time: str | None
    weight: str | None
    unknown: State | None
    rules: SequenceRules | None
    max_events: int | None
    max_per_pair: int | None
    group_column: str | None
    group_part: str | None
    group_expression: Expression | None
    merge: Mapping[State, State]
    details: Mapping[str, str | int | bool]

    @property
    def wanted(self) -> list[str]:
        """The columns that must be read, each once."""
        names = [self.source, self.target, self.user, self.time, self.weight]
        names += [self.group_column] if self.group_expression is None else self.group_expression.columns
        return list(dict.fromkeys(name for name in names if name is not None))

    def open(self, data: Any, *, table: str | None, query: str | None, delimiter: str | None) -> Engine:
        """Open `data` for this question, as `open_table` does."""
        return open_table(
            data,
            self.wanted,
            table=table,
            query=query,
            delimiter=delimiter,
            derived=self.group_expression,
            counted=self.weight,
        )

    @property
    def contributions(self) -> Contributions:
        """The public bounds that the counts are made under."""
        return Contributions(
            kind="sequences" if self.rules is not None else "events",
            max_events=self.max_events,
            max_per_pair=self.max_per_pair,
            visit_obstacle=None if self.rules is None else self.rules.visit_obstacle(self.layout),
            details=self.details,
        )


def make_layout(
    *,
    states: StateSpace | Iterable[State],
    source_states: StateSpace | Iterable[State] | None = None,
    support: SupportLike | None = None,
    single: bool = False,
    sequences: bool = False,
    by: str | None = None,
    time: str | None = None,
    groups: StateSpace | Iterable[State] | None = None,
    start: State | None = None,
    lengths: int | None = None,
    merge: MergeLike | None = None,
) -> Layout:
    """The layout of a count, from what is declared; nothing is read but public files.

    Parameters
    ----------
    states, source_states, support, groups, merge, start, lengths, by, time
        As for `dpmarkov.count`.
    single
        A single categorical column: one row.
    sequences
        A log of visits: there is a row of starts, unless a start state is declared.
    """
    space = states if isinstance(states, StateSpace) else StateSpace(states)
    if merge is not None:
        if source_states is not None:
            raise ParameterError("a merge map goes with one state space; leave out the from-states")
        space, _ = merge_states(space, _merge_map(merge))
    declared = declare_groups(by, parse_by(by, time)[1] if by is not None else None, groups)
    spread = None
    if lengths is not None:
        if isinstance(lengths, bool) or not isinstance(lengths, int) or not 2 <= lengths <= _LONGEST:
            raise ParameterError(f"lengths must be a whole number from 2 to {_LONGEST:,}; got {lengths!r}")
        spread = StateSpace.range(1, lengths + 1)
    return build_layout(
        states=space,
        source_states=source_states,
        support=support,
        single=single,
        groups=declared,
        starts=sequences and start is None,
        lengths=spread,
    )


def ask(
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
    merge: MergeLike | None = None,
    gap: int | str | None = None,
    start: State | None = None,
    end: State | None = None,
    collapse: bool = False,
    lengths: int | None = None,
) -> Question:
    """The question that the parameters of `dpmarkov.count` ask."""
    sequences = state is not None
    _check_columns(source, target, column, user, time, state, by)
    check_bounds(max_events, max_per_pair)
    if max_events is not None and user is None:
        raise ParameterError(
            "max_events bounds what a user contributes: name the column of the user (user=, --user)"
        )
    if count is not None and sequences:
        raise ParameterError("sequences have one row for each visit; leave out count")
    rules = SequenceRules(gap=gap, start=start, end=end, collapse=collapse) if sequences else None
    if (rules is None and (gap, start, end, lengths) != (None,) * 4) or (rules is None and collapse):
        raise ParameterError("gap, start, end, collapse and lengths go with sequences: user, time and state")
    if gap is not None:
        parse_gap(gap)
    mapping = None if merge is None else _merge_map(merge)
    full: Mapping[State, State] = {}
    if layout is None:
        if states is None:
            raise StateSpaceError(
                "states must be declared: a StateSpace or a list of states. They are public knowledge and "
                "never read off the sensitive table"
            )
        space = states if isinstance(states, StateSpace) else StateSpace(states)
        layout = make_layout(
            states=space,
            source_states=source_states,
            support=support,
            single=column is not None,
            sequences=sequences,
            by=by,
            time=time,
            groups=groups,
            start=start,
            lengths=lengths,
            merge=mapping,
        )
        if mapping is not None:
            full = merge_states(space, mapping)[1]
    elif support is not None or source_states is not None or groups is not None or lengths is not None:
        raise ParameterError("give either a layout, or states, support, groups and lengths; not both")
    elif mapping is not None:
        if states is None:
            raise ParameterError("with a layout and a merge map, give the states before merging too")
        space = states if isinstance(states, StateSpace) else StateSpace(states)
        full = merge_states(space, mapping)[1]
    elif states is not None:
        raise ParameterError("give either a layout, or states, support, groups and lengths; not both")
    _check_layout(layout, sequences=sequences, single=column is not None, start=start, end=end, by=by)
    spaces = [layout.target] if layout.source is None else [layout.target, layout.source]
    group_column, group_part = (None, None) if by is None else parse_by(by, time)
    computed = None if group_column is None or group_part is not None else expression_of(group_column)
    details: dict[str, str | int | bool] = {"unknown": unknown}
    if rules is not None:
        details |= rules.details()
    if by is not None:
        details["by"] = by
    return Question(
        layout=layout,
        target=str(state if sequences else column if column is not None else target),
        source=source,
        # Without a bound, whose event a row of pairs is makes no difference.
        user=user if sequences or max_events is not None else None,
        time=time if sequences else None,
        weight=count,
        unknown=parse_unknown(unknown, spaces),
        rules=rules,
        max_events=max_events,
        max_per_pair=max_per_pair,
        group_column=group_column,
        group_part=group_part,
        group_expression=computed,
        merge=full,
        details=details,
    )


def _merge_map(merge: MergeLike) -> dict[State, State]:
    given: Mapping[Any, State] = merge if isinstance(merge, Mapping) else read_merge(merge)
    return dict(given)


def _check_columns(
    source: str | None,
    target: str | None,
    column: str | None,
    user: str | None,
    time: str | None,
    state: str | None,
    by: str | None,
) -> None:
    pairs, single, sequences = source is not None or target is not None, column is not None, state is not None
    if pairs + single + sequences != 1:
        raise ParameterError(
            "name the columns in one of three ways: source and target for a table of events, either column "
            "for one distribution, or user, time and state for sequences"
        )
    if pairs and (source is None or target is None):
        raise ParameterError(
            "a table of events needs both columns: source (source=, --from) and target (target=, --to)"
        )
    if sequences and (user is None or time is None):
        raise ParameterError(
            "sequences need three columns: user (user=, --user), time (time=, --time) and state (state=, "
            "--state)"
        )
    if time is not None and not sequences and by is None:
        raise ParameterError(
            "time (time=, --time) goes with user and state (sequences), or with by, such as by='hour' (by=, "
            "--by)"
        )


def _check_layout(
    layout: Layout, *, sequences: bool, single: bool, start: State | None, end: State | None, by: str | None
) -> None:
    if single and layout.source is not None:
        raise ParameterError("a single column needs a layout of one row: Layout(target=...)")
    if not single and layout.source is None:
        raise ParameterError("transitions need a layout with from-states: Layout(target=..., source=...)")
    if sequences and not layout.is_chain:
        raise ParameterError("sequences move within one state space; leave out the from-states")
    if not sequences and (layout.starts or layout.lengths is not None):
        raise ParameterError("starts and lengths go with sequences: user, time and state")
    if start is not None and layout.starts:
        raise ParameterError(
            "with a start state there is no row of starts; make the layout with the same start"
        )
    if (by is None) != (layout.groups is None):
        raise ParameterError("a layout with groups goes with by, the column that they stand in")
    for role, extra in (("start", start), ("end", end)):
        if extra is not None and extra not in layout.target:
            raise StateSpaceError(f"the {role} state {extra!r} is not declared; add it to the states")
    if start is not None and start == end:
        raise ParameterError(f"start and end must be two states; got {start!r} for both")
