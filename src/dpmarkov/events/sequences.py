"""Count a log of visits (user, time, state): transitions are consecutive rows of one user in time order.

Each visit is one event: a transition into it from the user's visit before, or a start where there is none (or
where more time than the gap went by). With a declared end each sequence has one event more, and with lengths
another. Rows without a user, a time or a declared state are as if they were not there. Ties in time are
broken by the state and the group, so that equal rows are interchangeable and no engine or file order matters.
"""

from dataclasses import dataclass

from dpmarkov.errors import ParameterError, TableError
from dpmarkov.events.dialect import Dialect, Kind
from dpmarkov.events.engine import Column, Engine
from dpmarkov.events.grouping import Grouping
from dpmarkov.events.matching import key_of, share_states
from dpmarkov.layout import Layout
from dpmarkov.states import State

__all__ = ["SequenceRules", "parse_gap", "sequence_steps", "user_key"]

_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_LATEST = 4 * 10**18


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceRules:
    """How visits become events; all of it public.

    Parameters
    ----------
    gap
        A sequence ends where more time than this goes by: a whole number in the unit of integer times, or
        text such as `"30m"` (s, m, h, d, w) for timestamps and dates.
    start, end
        Declared states that every sequence is given at its start and at its end.
    collapse
        Whether a state that is repeated counts once.
    """

    gap: int | str | None = None
    start: State | None = None
    end: State | None = None
    collapse: bool = False

    def visit_obstacle(self, layout: Layout) -> str | None:
        """Why a single visit may change more than two transitions one way and one the other."""
        if layout.lengths is not None:
            return (
                "one row more or less also changes the length of a sequence. Leave out lengths, or use User"
            )
        if self.gap is not None and self.end is not None:
            return (
                "with a gap and an end state one row less can split a sequence, which changes four events. "
                "Leave out one of them, or use User"
            )
        return None

    def details(self) -> dict[str, str | int | bool]:
        """The rules for the record."""
        given = {"gap": self.gap, "start": self.start, "end": self.end}
        found: dict[str, str | int | bool] = {
            name: value for name, value in given.items() if value is not None
        }
        if self.collapse:
            found["collapse"] = True
        return found


def parse_gap(gap: int | str, name: str = "gap") -> tuple[int, bool]:
    """The gap (or the step, by `name`) as a number, and whether it is a duration (in microseconds)."""
    text = str(gap).strip().lower()
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz").strip()
    unit = text[len(digits) :].strip() if text.startswith(digits) else ""
    known = unit == "" or unit in _UNITS
    if not (digits.isascii() and digits.isdecimal()) or not known or isinstance(gap, bool) or int(digits) < 1:
        raise ParameterError(
            f"{name} must be a whole number >= 1 (for integer times) or a duration such as 30m, 2h or 1d; "
            f"got {gap!r}"
        )
    if int(digits) > 10**9:
        raise ParameterError(f"{name} must be at most 1,000,000,000; got {gap!r}")
    return (int(digits), False) if unit == "" else (int(digits) * _UNITS[unit] * 10**6, True)


def user_key(dialect: Dialect, column: Column) -> str:
    """SQL for a user's name: integers or text; what has neither is missing."""
    match column.kind:
        case Kind.INTEGER:
            return column.sql  # in its own width: narrow keys are sorted in half the time
        case Kind.FLOAT:
            return str(dialect.whole(column.sql, column.kind))
        case Kind.DECIMAL:
            return dialect.decimal_text(column.sql)
        case Kind.TEXT | Kind.BOOLEAN:
            return str(dialect.text(column.sql, column.kind))
        case _:
            raise TableError(
                f"column {column.name!r} holds {column.kind.value}; users are text or whole numbers"
            )


def time_key(dialect: Dialect, column: Column, gap: tuple[int, bool] | None) -> str:
    """SQL for a time as a 64-bit integer; what cannot be read as one is missing.

    Text is read as ISO 8601 or as a whole number; with a gap, only as what the gap measures.
    """
    duration = None if gap is None else gap[1]
    match column.kind:
        case Kind.TIMESTAMP | Kind.DATE:
            if duration is False:
                raise ParameterError(
                    f"column {column.name!r} holds {column.kind.value}: write the gap as a duration such as "
                    "30m"
                )
            value = dialect.epoch_us(column.sql, column.kind)
        case Kind.INTEGER | Kind.DECIMAL | Kind.FLOAT:
            if duration is True:
                raise ParameterError(
                    f"column {column.name!r} holds {column.kind.value}: write the gap as a whole number in "
                    "their unit"
                )
            value = (
                str(dialect.whole(column.sql, column.kind)) if column.kind is not Kind.INTEGER else column.sql
            )
        case Kind.TEXT:
            moment = dialect.epoch_us(column.sql, column.kind)
            number = str(dialect.whole(column.sql, column.kind))
            value = {None: f"COALESCE({moment}, {number})", True: moment, False: number}[duration]
        case _:
            raise TableError(
                f"column {column.name!r} holds {column.kind.value}; times are timestamps, dates, integers or "
                "text"
            )
    # Differences of what is left fit in 64 bits.
    return f"(CASE WHEN {value} BETWEEN -{_LATEST} AND {_LATEST} THEN {value} END)"


def sequence_steps(
    engine: Engine,
    layout: Layout,
    rules: SequenceRules,
    *,
    user: Column,
    time: Column,
    state: Column,
    unknown: State | None,
    grouping: Grouping,
) -> dict[str, str]:
    """Steps up to `events` (u, cell): one row for each event, with its cell's number in the layout."""
    dialect = engine.dialect
    gap = None if rules.gap is None else parse_gap(rules.gap)
    share_states(engine, "states", layout.target, grouping.merge)
    position = "s.position"
    join = "JOIN"
    if unknown is not None:
        position, join = f"COALESCE(s.position, {layout.target.index(unknown)})", "LEFT JOIN"
    position = dialect.narrow(position, len(layout.target))
    tables = (
        f"FROM {engine.relation} AS data {join} states AS s ON s.key = {key_of(engine, state, layout.target)}"
    )
    group, group_join = grouping.join(engine, layout)
    before, grouped = "0", ""
    if layout.groups is not None:
        group, before, grouped = dialect.narrow(group, len(layout.groups)), "LAG(g) OVER w", ", g"
    steps = {
        "read": (
            f"SELECT {user_key(dialect, user)} AS u, {time_key(dialect, time, gap)} AS t, "
            f"{position} AS s, {group} AS g {tables}{group_join}"
        ),
        "visits": "SELECT u, t, s, g FROM read WHERE u IS NOT NULL AND t IS NOT NULL",
        "steps": (
            f"SELECT u, t, s, g, LAG(s) OVER w AS s0, {before} AS g0"
            + (", LAG(t) OVER w AS t0" if gap is not None else "")
            + (", ROW_NUMBER() OVER w AS k" if _needs_ends(rules, layout) else "")
            + f" FROM visits WINDOW w AS (PARTITION BY u ORDER BY t, s{grouped})"
        ),
    }
    passed = f"{dialect.cast_whole('t')} - {dialect.cast_whole('t0')}"
    begins = "s0 IS NULL" if gap is None else f"(s0 IS NULL OR {passed} > {gap[0]})"
    width, rows = layout.cells.n_columns, layout.allowed.n_rows
    first, whole = layout.blocks[0].first_row, dialect.cast_whole

    def cell(row: str, column: str) -> str:
        return f"(({row}) * {whole(str(width))} + {column})"

    if rules.start is not None and layout.source is not None:
        entry = cell(f"{first + layout.source.index(rules.start)} + {whole('g')} * {rows}", whole("s"))
    elif layout.starts:
        at = next(block.first_row for block in layout.blocks if block.kind == "starts")
        entry = cell(f"{at} + {whole('g')}", whole("s"))
    else:
        entry = "NULL"
    move = cell(f"{first} + {whole('g0')} * {rows} + {whole('s0')}", whole("s"))
    if rules.collapse:
        move = f"CASE WHEN s <> s0 THEN {move} END"
    sources = [f"SELECT u, CASE WHEN {begins} THEN {entry} ELSE {move} END AS cell FROM steps"]
    if _needs_ends(rules, layout):
        steps |= _end_steps(begins, rules.collapse)
        if rules.end is not None:
            leave = cell(
                f"{first} + {whole('last_g')} * {rows} + {whole('last_s')}",
                str(layout.target.index(rules.end)),
            )
            sources.append(f"SELECT u, {leave} AS cell FROM sequences")
        if layout.lengths is not None:
            at = next(block.first_row for block in layout.blocks if block.kind == "lengths")
            longest = len(layout.lengths)
            held = f"(CASE WHEN visits > {longest} THEN {longest} ELSE visits END - 1)"
            lasted = cell(f"{at} + {whole('first_g')}", whole(held))
            sources.append(f"SELECT u, {lasted} AS cell FROM sequences")
    steps["events"] = f"SELECT u, cell FROM ({' UNION ALL '.join(sources)}) AS every WHERE cell IS NOT NULL"
    return steps


def _needs_ends(rules: SequenceRules, layout: Layout) -> bool:
    return rules.end is not None or layout.lengths is not None


def _end_steps(begins: str, collapse: bool) -> dict[str, str]:
    """Steps up to `sequences`: one row for each, with its first and last visit and how many it has."""
    repeated = "CASE WHEN NOT begins AND s = s0 THEN 0 ELSE 1 END" if collapse else "1"
    return {
        "marked": f"SELECT u, s, g, k, s0, {begins} AS begins FROM steps",
        "numbered": (
            f"SELECT u, s, g, k, {repeated} AS visit, "
            "SUM(CASE WHEN begins THEN 1 ELSE 0 END) OVER (PARTITION BY u ORDER BY k "
            "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS q FROM marked"
        ),
        "limits": "SELECT u, q, MIN(k) AS k0, MAX(k) AS k1, SUM(visit) AS visits FROM numbered GROUP BY u, q",
        "sequences": (
            "SELECT l.u AS u, l.visits AS visits, a.g AS first_g, b.s AS last_s, b.g AS last_g FROM "
            "limits AS l "
            "JOIN numbered AS a ON a.u = l.u AND a.k = l.k0 JOIN numbered AS b ON b.u = l.u AND b.k = l.k1"
        ),
    }
