"""Which states lead where: communicating classes, recurrence, periods.

Definitions. Two states *communicate* when each can be reached from the other; the classes of this relation
are the communicating classes. A class that cannot be left is *recurrent*, any other *transient*; a recurrent
class of one state is *absorbing*. The *period* of a class is the greatest common divisor of the lengths of
its closed walks. Whether an entry is zero decides, not how small it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from dpmarkov.errors import ChainError
from dpmarkov.states import State, StateSpace

__all__ = [
    "CommunicatingClass",
    "classes_in_words",
    "communicating_classes",
    "obstacle_to_ergodicity",
    "only_recurrent_class",
]

_SHOWN_STATES = 5
_SHOWN_CLASSES = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CommunicatingClass:
    """States that can all reach each other.

    Attributes
    ----------
    states
        The states, in the order of the state space.
    positions
        Their positions in the state space.
    is_recurrent
        Whether the class is never left.
    period
        Its period; 0 for a single state that is left for good at once.
    """

    states: tuple[State, ...]
    positions: npt.NDArray[np.int64]
    is_recurrent: bool
    period: int

    @property
    def is_absorbing(self) -> bool:
        """Whether this is a single state that is never left."""
        return self.is_recurrent and len(self.states) == 1

    def __len__(self) -> int:
        return len(self.states)

    def __str__(self) -> str:
        head = ", ".join(repr(state) for state in self.states[:_SHOWN_STATES])
        more = len(self.states) - _SHOWN_STATES
        return "{" + (head if more <= 0 else f"{head} and {more} more") + "}"


def communicating_classes(matrix: sparse.csr_array, states: StateSpace) -> tuple[CommunicatingClass, ...]:
    """The communicating classes, recurrent ones first, each group in the order of its first state."""
    graph = _positive(matrix)
    n_classes, label = csgraph.connected_components(graph, directed=True, connection="strong")
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    crossing = label[row] != label[graph.indices]
    recurrent = np.ones(n_classes, dtype=bool)
    recurrent[label[row[crossing]]] = False
    members = np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label, minlength=n_classes)))
    found = [
        CommunicatingClass(
            states=tuple(states.states[i] for i in positions),
            positions=positions.astype(np.int64),
            is_recurrent=bool(recurrent[name]),
            period=_period(graph, positions, n_classes == 1),
        )
        for name, positions in enumerate(members[:n_classes])
    ]
    return tuple(sorted(found, key=lambda c: (not c.is_recurrent, int(c.positions[0]))))


def _positive(matrix: sparse.csr_array) -> sparse.csr_array:
    """The graph of the entries > 0, with unit weights."""
    graph = sparse.csr_array(matrix, copy=True)
    graph.eliminate_zeros()
    graph.data = np.ones_like(graph.data)
    return graph


def _period(graph: sparse.csr_array, positions: npt.NDArray[np.intp], is_whole: bool) -> int:
    """The greatest common divisor of depth(u) + 1 - depth(v) over the edges u -> v inside the class."""
    inside = graph if is_whole else graph[positions][:, positions]
    if positions.size == 1:
        return 1 if inside.nnz else 0
    order, parents = csgraph.breadth_first_order(inside, 0, directed=True)
    depth = [0] * positions.size
    for node, parent in zip(order[1:].tolist(), parents[order[1:]].tolist(), strict=True):
        depth[node] = depth[parent] + 1
    depths = np.array(depth)
    row = np.repeat(np.arange(positions.size), np.diff(inside.indptr))
    return int(np.gcd.reduce(np.abs(depths[row] + 1 - depths[inside.indices])))


def classes_in_words(classes: Sequence[CommunicatingClass]) -> str:
    """The classes for a message: `{'a', 'b'} (recurrent), {'c'} (transient)`."""
    parts = [f"{c} ({'recurrent' if c.is_recurrent else 'transient'})" for c in classes[:_SHOWN_CLASSES]]
    more = len(classes) - _SHOWN_CLASSES
    return "; ".join(parts) + (f"; and {more} more classes" if more > 0 else "")


def only_recurrent_class(classes: Sequence[CommunicatingClass], question: str) -> CommunicatingClass:
    """The one recurrent class, or an error that names them all."""
    recurrent = [c for c in classes if c.is_recurrent]
    if len(recurrent) > 1:
        raise ChainError(
            f"{question} needs a chain with one recurrent class; this one has {len(recurrent)}: "
            f"{classes_in_words(recurrent)}. Ask for each of them by `chain.restricted_to(states)`"
        )
    return recurrent[0]


def obstacle_to_ergodicity(recurrent: Sequence[CommunicatingClass]) -> str:
    """What keeps a chain from settling in one distribution, in words; empty when nothing does."""
    if len(recurrent) > 1:
        return (
            f"it has {len(recurrent)} classes that are never left, and where it ends depends on the start: "
            f"{classes_in_words(recurrent)}"
        )
    if recurrent[0].period > 1:
        return f"it moves through {recurrent[0]} in a fixed cycle of {recurrent[0].period} groups for ever"
    return ""
