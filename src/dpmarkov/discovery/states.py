"""States that are not known in advance: private partition selection, at a price."""

from dataclasses import dataclass
from typing import Any

from dpmarkov.discovery.selection import keep, keep_probabilities, share_of_budget
from dpmarkov.entropy import Entropy
from dpmarkov.errors import EngineError, ParameterError, TableError, UnitError
from dpmarkov.events.bounding import check_bounds
from dpmarkov.events.engine import Engine, Query
from dpmarkov.events.opening import open_table
from dpmarkov.events.sequences import user_key
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.charge import Charge
from dpmarkov.privacy.unit import Unit
from dpmarkov.states import State, StateSpace

__all__ = ["Discovery", "discover_states"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """The states that were found, and what finding them has cost. Both may be shared.

    Parameters
    ----------
    states
        What was found, in the order of the values, and last the state for all others.
    other
        The state that stands for what was not found: count with `unknown="state:..."`.
    charge
        The price; `release` takes it.
    """

    states: StateSpace
    other: State
    charge: Charge

    @property
    def unknown(self) -> str:
        """What `dpmarkov.count` takes as `unknown`."""
        return f"state:{self.other}"


def discover_states(
    data: Any,
    *,
    unit: Unit,
    budget: Budget,
    other: State = "other",
    source: str | None = None,
    target: str | None = None,
    column: str | None = None,
    state: str | None = None,
    user: str | None = None,
    table: str | None = None,
    query: str | None = None,
    delimiter: str | None = None,
    seed: int | None = None,
    progress: bool = False,
) -> Discovery:
    """Find the states that enough users (or events) have been in.

    Parameters
    ----------
    data, table, query, delimiter, progress
        As for `dpmarkov.count`.
    unit
        What is protected: `User(max_events=m)` counts users and lets each name at most m states; `Event()`
        and `Destination()` count events of a table of pairs or of a single column; `Visit()` rows of a log.
    budget
        The price, with a delta > 0.
    other
        The state that all others become. Text states by default; a whole number asks for integer states.
    source, target, column, state, user
        The columns, as for `dpmarkov.count`.
    seed
        For simulations only: the result is *not private*.

    Guarantee
    ---------
    (epsilon, delta)-differential privacy for the unit. An event touches two states (its from- and its
    to-state), or one in a single column; a visit one for each column named; a user at most m, chosen by
    SHA-256 of a fresh key, the user and the state; twice as many where the relation is replace. Each state's
    coin has its own share.
    """
    columns = [name for name in (source, target, column, state) if name is not None]
    if not columns:
        raise ParameterError("name the columns that hold states: source and target, column, or state")
    if budget.delta == 0:
        raise ParameterError("discovering states needs a delta > 0: a pure guarantee can name nothing")
    touched = _touched(unit, columns, user, state)
    epsilon, delta, profile = share_of_budget(budget.epsilon, budget.delta, touched)
    biases = keep_probabilities(epsilon, delta)
    entropy = Entropy.choose(seed)
    wanted = [*columns, *([user] if unit.name == "user" and user is not None else [])]
    with open_table(
        data, list(dict.fromkeys(wanted)), table=table, query=query, delimiter=delimiter
    ) as engine:
        asked = _query(engine, columns, user, unit, isinstance(other, int), entropy.key("states"))
        keys, counts = engine.fetch(asked, progress=progress)
    drawn = keep(counts.astype(int).tolist(), biases, entropy.generator("selection"))
    typed = [int(key) if isinstance(other, int) else str(key) for key in keys.tolist()]
    found = sorted({value for value, kept in zip(typed, drawn, strict=True) if kept and value != other})
    if not found:
        raise EngineError(
            f"no state was common enough to be named with {budget}, which is spent; nothing was released. "
            "Declare the states from a public list, or spend more"
        )
    charge = Charge(
        purpose="private discovery of states",
        unit=unit.name,
        relation=getattr(unit, "relation", "replace" if unit.name == "destination" else "add_remove"),
        epsilon=budget.epsilon,
        delta=budget.delta,
        profile=profile,
        result={"states": [*found, other], "states_of_a_unit": touched, "private": seed is None},
    )
    return Discovery(states=StateSpace([*found, other]), other=other, charge=charge)


def _touched(unit: Unit, columns: list[str], user: str | None, state: str | None) -> int:
    """How many states one unit can name."""
    both = 2 if getattr(unit, "relation", "add_remove") == "replace" or unit.name == "destination" else 1
    if unit.name == "user":
        if user is None:
            raise UnitError("the unit user needs the column of the user")
        most = int(getattr(unit, "max_events", 1))
        check_bounds(most, None)
        return most * both
    if unit.name == "visit" and state is not None:
        return len(dict.fromkeys(columns))
    if unit.name in ("event", "destination") and state is None:
        # A destination that changes leaves one state and enters another; its origin stays.
        return 2 if unit.name == "destination" else len(dict.fromkeys(columns)) * both
    raise UnitError(
        f"the unit {unit.name} does not fit these columns; use User(max_events=...) for sequences"
    )


def _query(
    engine: Engine, columns: list[str], user: str | None, unit: Unit, whole: bool, key: bytes
) -> Query:
    """Values and how many users (or events) have them."""
    dialect = engine.dialect
    opened = {column.name: column for column in engine.columns}
    values = []
    for name in columns:
        column = opened[name]
        value = dialect.whole(column.sql, column.kind) if whole else dialect.text(column.sql, column.kind)
        if value is None:
            raise TableError(f"column {name!r} holds {column.kind.value}, which cannot be states; cast it")
        values.append(value)
    named = "u, " if unit.name == "user" else ""
    who = f"{user_key(dialect, opened[str(user)])} AS u, " if named else ""
    fields = ", ".join(f"{value} AS s{i}" for i, value in enumerate(values))
    steps = {"read": f"SELECT {who}{fields} FROM {engine.relation} AS data"}
    parts = [f"SELECT {named}s0 AS s FROM read"]
    for i in range(1, len(values)):
        others = " AND ".join(f"(s{i} <> s{j} OR s{j} IS NULL)" for j in range(i))
        parts.append(f"SELECT {named}s{i} AS s FROM read WHERE {others}")
    steps["named"] = " UNION ALL ".join(parts)
    if not named:
        return Query(steps, "SELECT s, COUNT(*) AS n FROM named WHERE s IS NOT NULL GROUP BY s")
    steps["once"] = "SELECT DISTINCT u, s FROM named WHERE u IS NOT NULL AND s IS NOT NULL"
    message = f"'{key.hex()} ' || {dialect.cast_text('s')} || ' ' || {dialect.cast_text('u')}"
    steps["hashed"] = f"SELECT u, s, {dialect.hash_number(message)} AS h FROM once"
    steps["ranked"] = "SELECT s, ROW_NUMBER() OVER (PARTITION BY u ORDER BY h, s) AS place FROM hashed"
    most = int(getattr(unit, "max_events", 1))
    return Query(steps, f"SELECT s, COUNT(*) AS n FROM ranked WHERE place <= {most} GROUP BY s")
