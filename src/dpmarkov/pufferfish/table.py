"""From a table (person, time, state) to one sequence for each person."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import InputError, TableError
from dpmarkov.events.engine import Query
from dpmarkov.events.matching import key_of, share_states
from dpmarkov.events.opening import open_table
from dpmarkov.events.sequences import parse_gap, time_key, user_key
from dpmarkov.pufferfish.sequence import Gaps, StateSequence
from dpmarkov.states import StateSpace

__all__ = ["read_sequences"]

_Whole = npt.NDArray[np.int64]


def read_sequences(
    data: Any,
    *,
    time: str,
    state: str,
    states: StateSpace,
    user: str | None = None,
    step: int | str = 1,
    gaps: Gaps = "error",
    table: str | None = None,
    query: str | None = None,
    delimiter: str | None = None,
    private_times: bool = False,
) -> tuple[StateSequence, ...]:
    """The sequence of each person in a table, in the order of their identifiers.

    Parameters
    ----------
    data
        A file name or a glob (CSV, Parquet), a pandas, polars or Arrow table, or a database.
    time, state, user
        The columns of the time, of the state and of the person; without `user` all rows are one person's.
    states
        The declared states. A row whose state is empty or not among them is a time point without a state.
    step
        The time from one point to the next: a whole number for integer times, or text such as `"30s"` for
        timestamps.
    gaps
        What a time point without a state means: see `StateSequence.of`.
    table, query
        For a database: the table, or a read-only query.
    delimiter
        Of a CSV file.
    private_times
        Times are sensitive, too, as in a cohort under differential privacy, where no error may depend on one
        person: a time that occurs twice is then a point without a state, a row between two steps is left
        out, and so is a person whose times span too many steps.

    Notes
    -----
    Unless `private_times`, which rows there are, and when, is public, and errors speak of that alone.
    Rows without a time (or, with `user`, without a person) are as if they were not there.
    """
    wanted = [time, state] + ([] if user is None else [user])
    pace = parse_gap(step)
    with open_table(data, wanted, table=table, query=query, delimiter=delimiter) as engine:
        columns = dict(zip(wanted, engine.columns, strict=True))
        share_states(engine, "states", states)
        person = "'one'" if user is None else user_key(engine.dialect, columns[user])
        at = time_key(engine.dialect, columns[time], pace if isinstance(step, str) else None)
        question = Query(
            {
                "read": (
                    f"SELECT {person} AS u, {at} AS t, COALESCE(s.position, -1) AS s "
                    f"FROM {engine.relation} AS data LEFT JOIN states AS s "
                    f"ON s.key = {key_of(engine, columns[state], states)}"
                ),
                "ranked": (
                    "SELECT DENSE_RANK() OVER (ORDER BY u) AS person, t, s FROM read "
                    "WHERE u IS NOT NULL AND t IS NOT NULL"
                ),
            },
            "SELECT person, t, s FROM ranked ORDER BY person, t, s",
        )
        people, times, positions = engine.integers(question)
    if people.size == 0:
        if private_times:
            return ()
        raise TableError("the table holds no row with a readable time; name another column")
    starts = np.flatnonzero(np.diff(people, prepend=people[0] - 1))
    found = []
    for of, at_times in zip(np.split(positions, starts[1:]), np.split(times, starts[1:]), strict=True):
        since = at_times - at_times[0]
        if private_times:
            of, since = _without_faults(of, since, pace[0])
            if since[-1] // pace[0] >= _LONGEST_PRIVATE:
                continue
        if np.any(since % pace[0]):
            raise InputError(
                f"times must be whole steps of {step} apart; some are not (when rows were recorded is public "
                "here). Say how long one step is, or round the times to it"
            )
        found.append(StateSequence.placed(of, since // pace[0], states, gaps))
    return tuple(found)


_LONGEST_PRIVATE = 10**7


def _without_faults(of: _Whole, since: _Whole, step: int) -> tuple[_Whole, _Whole]:
    """States and times on whole steps, each time once: without a state where it occurred more than once."""
    whole = since % step == 0
    at, first, times = np.unique(since[whole], return_index=True, return_counts=True)
    return np.where(times == 1, of[whole][first], -1), at
