"""Read a public support, and build a layout with it."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from dpmarkov.errors import StateSpaceError, TableError
from dpmarkov.events.public import read_public_columns
from dpmarkov.layout import Layout
from dpmarkov.states import State, StateSpace
from dpmarkov.support import Support

__all__ = ["SupportLike", "build_layout", "read_support"]

SupportLike = Support | str | PathLike[str] | Iterable[tuple[State, State]]


def read_support(
    path: str | PathLike[str],
    source: StateSpace,
    target: StateSpace,
    *,
    columns: tuple[str, str] = ("from", "to"),
) -> Support:
    """The support that a public CSV or Parquet file of allowed pairs declares.

    Parameters
    ----------
    path
        A public file. Never derive it from the sensitive table: which pairs occur is itself sensitive.
    source, target
        The from-states and the to-states; a pair that names any other is an error.
    columns
        The names of its two columns.
    """
    rows, to = read_public_columns(Path(path), list(columns))
    pairs = []
    for a, b in zip(rows, to, strict=True):
        if a is None or b is None:
            raise TableError(f"{path} has an empty value; each allowed pair needs a from- and a to-state")
        pairs.append((_state(a, source), _state(b, target)))
    return Support.from_pairs(source, target, pairs)


def _state(value: object, space: StateSpace) -> State:
    text = str(value)
    if not space.is_integer:
        return text
    try:
        return int(text)
    except ValueError:
        raise StateSpaceError(f"the support names {text!r}, but the declared states are integers") from None


def build_layout(
    *,
    states: StateSpace,
    source_states: StateSpace | Iterable[State] | None,
    support: SupportLike | None,
    single: bool,
    groups: StateSpace | None,
    starts: bool,
    lengths: StateSpace | None,
) -> Layout:
    """A layout with the support read, where it is a file."""
    if single:
        if source_states is not None or support is not None:
            raise StateSpaceError("a single column has neither from-states nor a support")
        return Layout(target=states, groups=groups)
    if source_states is None:
        source = states
    else:
        source = source_states if isinstance(source_states, StateSpace) else StateSpace(source_states)
    if support is None or isinstance(support, Support):
        cells = support
    elif isinstance(support, str | PathLike):
        cells = read_support(support, source, states)
    else:
        cells = Support.from_pairs(source, states, support)
    return Layout(target=states, source=source, support=cells, groups=groups, starts=starts, lengths=lengths)
