"""Which declared state a value of the table is.

Integer states match by the *whole* reading of a value, string states by its *text* (see `dialect`), so that
a column of integers, floats or text finds the same states on every engine. Text matches exactly: case and
blanks count. What matches nothing is unknown, as is what is missing.
"""

from collections.abc import Mapping, Sequence

from dpmarkov.errors import ParameterError, StateSpaceError, TableError
from dpmarkov.events.engine import Column, Engine
from dpmarkov.states import State, StateSpace

__all__ = ["key_of", "parse_unknown", "share_states"]

_LARGEST = 92 * 10**17


def share_states(
    engine: Engine, name: str, space: StateSpace, merge: Mapping[State, State] | None = None
) -> None:
    """Give the engine the table `name` (key, position) of a state space.

    With a merge map (from every original state, written in the type of the merged ones) its keys are what is
    looked for.
    """
    if space.is_integer and any(abs(int(state)) >= _LARGEST for state in space):
        raise StateSpaceError(
            "integer states must lie between -9.2 * 10^18 and 9.2 * 10^18; declare larger ones as text"
        )
    keys: list[State] = list(merge) if merge else list(space.states)
    positions = [space.index(merge[key]) for key in keys] if merge else list(range(len(space)))
    engine.share(name, {"key": keys, "position": positions})


def key_of(engine: Engine, column: Column, space: StateSpace, expression: str | None = None) -> str:
    """SQL for the value of a column in the form in which `share_states` wrote its keys."""
    value = column.sql if expression is None else expression
    dialect = engine.dialect
    key = dialect.whole(value, column.kind) if space.is_integer else dialect.text(value, column.kind)
    if key is None:
        kind = "integers" if space.is_integer else "text"
        raise TableError(
            f"column {column.name!r} holds {column.kind.value}, the declared states are {kind}: "
            "they can never match. Name another column, or cast it"
        )
    return key


def parse_unknown(rule: str, spaces: Sequence[StateSpace]) -> State | None:
    """The state that unknown values become, or None where they are dropped."""
    if rule == "drop":
        return None
    kind, _, name = rule.partition(":")
    if kind != "state" or not name:
        raise ParameterError(f"unknown must be 'drop' or 'state:NAME'; got {rule!r}")
    for space in spaces:
        state: State = name
        if space.is_integer:
            try:
                state = int(name)
            except ValueError:
                raise StateSpaceError(f"unknown={rule!r}: the declared states are integers") from None
        if state not in space:
            raise StateSpaceError(
                f"unknown={rule!r} names a state that is not declared; declare {name!r} too"
            )
    return state
