"""State spaces: the declared, public list of states.

States are knowledge that everybody may have: a published list of zones, the pages of a site map, a scale of
grades. They are never read off the sensitive data for free, because the mere presence of a rare state tells
something about whoever visited it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dpmarkov.errors import StateSpaceError, TableError

__all__ = ["State", "StateSpace", "shown_size"]

State = str | int

_SHOWN = 8
_LARGEST_RANGE = 10**7
_BYTES_OF_A_STATE = 250


@dataclass(frozen=True, slots=True)
class StateSpace:
    """An ordered list of at least two distinct states, all strings or all integers.

    Parameters
    ----------
    states
        The states in the order in which rows and columns will stand.
    labels
        A readable name for each state, as a sequence of the same length or a mapping from state to label.
        A state without a label shows as itself.

    Examples
    --------
    >>> grades = StateSpace(["A", "B", "C", "D", "F"])
    >>> len(grades), grades.index("C")
    (5, 2)
    """

    states: tuple[State, ...]
    labels: tuple[str, ...]
    _position: dict[State, int] = field(repr=False, compare=False)

    def __init__(
        self,
        states: Iterable[State],
        labels: Sequence[str] | Mapping[State, str] | None = None,
    ) -> None:
        if isinstance(states, str | bytes):
            raise StateSpaceError(f"states must be a list of states, not one string; got {states!r}")
        listed = tuple(_plain(state) for state in states)
        if len(listed) < 2:
            alone = ". With a single state there is nothing to protect and nothing to model"
            raise StateSpaceError(
                f"a state space needs at least two states; got {len(listed)}{alone if listed else ''}"
            )
        if len({type(state) for state in listed}) > 1:
            raise StateSpaceError("states must be all strings or all integers; got a mixture")
        position = {state: i for i, state in enumerate(listed)}
        if len(position) < len(listed):
            seen: set[State] = set()
            twice = [state for state in listed if state in seen or seen.add(state)]  # type: ignore[func-returns-value]
            raise StateSpaceError(f"states must be distinct; given more than once: {shown_states(twice)}")
        if labels is None:
            named = tuple(str(state) for state in listed)
        elif isinstance(labels, Mapping):
            named = tuple(str(labels.get(state, state)) for state in listed)
        else:
            if len(labels) != len(listed):
                raise StateSpaceError(
                    f"there must be one label per state; got {len(labels)} for {len(listed)}"
                )
            named = tuple(str(label) for label in labels)
        object.__setattr__(self, "states", listed)
        object.__setattr__(self, "labels", named)
        object.__setattr__(self, "_position", position)

    @classmethod
    def range(cls, start: int, stop: int) -> "StateSpace":
        """The integers from `start` up to, but not including, `stop`."""
        size = stop - start
        if size > _LARGEST_RANGE:
            raise StateSpaceError(
                f"a range of {shown_size(size)} states is too long: their list alone would take "
                f"{shown_size(size * _BYTES_OF_A_STATE // 2**30)} GiB. At most {_LARGEST_RANGE:,} can be "
                "declared; group them into fewer states"
            )
        return cls(range(start, stop))

    @classmethod
    def read(cls, path: str | PathLike[str], *, column: str, label: str | None = None) -> "StateSpace":
        """The states in a column of a public CSV or Parquet file, in the file's order.

        Values that all read as whole numbers become integers. Never point this at the sensitive table.

        Parameters
        ----------
        path
            A public file: `.csv`, `.csv.gz`, `.tsv` or `.parquet`.
        column
            The column that holds the states.
        label
            A column with a readable name for each.
        """
        from dpmarkov.events.public import read_public_columns

        rows = read_public_columns(Path(path), [column] if label is None else [column, label])
        raw = rows[0]
        missing = sum(value is None for value in raw)
        if missing:
            raise TableError(
                f"column {column!r} of {path} has {missing} empty values; a state list must name every state"
            )
        texts = [str(value) for value in raw]
        states: list[State] = [int(t) for t in texts] if all(_is_whole(t) for t in texts) else list(texts)
        if label is None:
            return cls(states)
        return cls(states, ["" if name is None else str(name) for name in rows[1]])

    def index(self, state: State) -> int:
        """The position of `state`."""
        try:
            return self._position[_plain(state)]
        except KeyError:
            raise StateSpaceError(
                f"{state!r} is not a declared state; declared are {shown_states(self.states)}"
            ) from None

    def label(self, state: State) -> str:
        """The readable name of `state`."""
        return self.labels[self.index(state)]

    @property
    def is_integer(self) -> bool:
        """Whether the states are integers."""
        return isinstance(self.states[0], int)

    @property
    def has_labels(self) -> bool:
        """Whether any state has a label other than itself."""
        return any(label != str(state) for state, label in zip(self.states, self.labels, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The state space as it stands in `release.json`."""
        data: dict[str, Any] = {"states": list(self.states)}
        if self.has_labels:
            data["labels"] = list(self.labels)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "StateSpace":
        """The state space that `to_dict` wrote."""
        return cls(data["states"], data.get("labels"))

    def __len__(self) -> int:
        return len(self.states)

    def __iter__(self) -> Iterator[State]:
        return iter(self.states)

    def __contains__(self, state: object) -> bool:
        return state in self._position

    def __str__(self) -> str:
        return f"{len(self)} states: {shown_states(self.states)}"

    def __reduce__(self) -> tuple[type, tuple[tuple[State, ...], tuple[str, ...]]]:
        return StateSpace, (self.states, self.labels)


def _plain(state: object) -> State:
    """A state as a plain Python string or integer."""
    if isinstance(state, str):
        return str(state)
    if isinstance(state, int | np.integer) and not isinstance(state, bool | np.bool_):
        return int(state)
    raise StateSpaceError(
        f"a state must be a string or an integer; got {state!r} of type {type(state).__name__}"
    )


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii() and str(int(text)) == text


def shown_size(size: int) -> str:
    """A number in words of any length: 100,000 or about 10^26.

    >>> shown_size(100_000), shown_size(3 * 10**26)
    ('100,000', 'about 10^26')
    """
    return f"{size:,}" if size < 10**15 else f"about 10^{math.floor(math.log10(size))}"


def shown_states(states: Sequence[State]) -> str:
    head = ", ".join(repr(state) for state in states[:_SHOWN])
    return head if len(states) <= _SHOWN else f"{head} and {len(states) - _SHOWN} more"
