"""Transition counts: the integer matrix of events, on the support, after contributions were bounded."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmarkov.contributions import Contributions
from dpmarkov.errors import InputError, ParameterError, StateSpaceError
from dpmarkov.layout import Layout
from dpmarkov.states import State

__all__ = ["COUNT_LIMIT", "TransitionCounts"]

COUNT_LIMIT = 2**31 - 1
"""Counts of one cell saturate here: public, 1-Lipschitz, and low enough for exact parameters in doubles."""


@dataclass(frozen=True, slots=True, eq=False)
class TransitionCounts:
    """How often each cell of a public layout was seen. Immutable and sensitive.

    Build one with `dpmarkov.count` from a table, or with `TransitionCounts.from_matrix`.

    Parameters
    ----------
    layout
        The public shape: state spaces and support.
    values
        One integer >= 0 for each cell of `layout.cells`.
    contributions
        The public bounds under which they were counted; a release refuses a unit that does not fit them.
    """

    layout: Layout
    values: npt.NDArray[np.int64]
    contributions: Contributions = field(default_factory=Contributions)

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        if values.shape != (self.layout.cells.n_cells,):
            raise InputError(
                f"counts must have one value for each of the {self.layout.cells.n_cells} cells; "
                f"got shape {values.shape}"
            )
        if not np.issubdtype(values.dtype, np.integer):
            raise InputError(f"counts must be integers; got {values.dtype}")
        if np.any(values < 0):
            raise InputError("counts must be >= 0; some are negative")
        held = _held(values)
        held.flags.writeable = False
        object.__setattr__(self, "values", held)

    @classmethod
    def from_matrix(cls, matrix: Any, *, layout: Layout) -> "TransitionCounts":
        """Counts from a numpy array or a scipy sparse matrix of the layout's shape.

        Entries outside the support are not counted, and entries of a sparse matrix that name one cell add up.
        Entries must be whole numbers >= 0: an array is made by its owner, not by one record, so a wrong one
        is refused.
        """
        from scipy import sparse

        cells = layout.cells
        shape = (cells.n_rows, cells.n_columns)
        if sparse.issparse(matrix):
            given = sparse.coo_array(matrix)
            if given.ndim == 1:
                given = given.reshape(1, -1)
            rows, columns, entries = given.row.astype(np.int64), given.col.astype(np.int64), given.data
            given_shape = given.shape
        else:
            array = np.asarray(matrix)
            if array.ndim == 1:
                array = array[None, :]
            given_shape = array.shape
            if array.ndim == 2:
                rows, columns = (axis.astype(np.int64) for axis in np.nonzero(array))
                entries = array[rows, columns]
        if tuple(given_shape) != shape:
            raise InputError(
                f"the matrix must be {shape[0]} x {shape[1]} for this layout; got shape {given_shape}"
            )
        whole = np.asarray(entries)
        if not np.issubdtype(whole.dtype, np.number) or np.issubdtype(whole.dtype, np.complexfloating):
            raise InputError(f"counts must be numbers; got an array of {whole.dtype}")
        if not np.all(np.isfinite(whole)) or np.any(whole < 0) or np.any(whole != np.floor(whole)):
            raise ParameterError("counts must be whole numbers >= 0; the matrix has others")
        values = np.zeros(cells.n_cells, dtype=np.int64)
        at = cells.locate(rows, columns)
        inside = at >= 0
        # Entries of one cell are added here and not by scipy, which adds in their own type and wraps.
        np.add.at(values, at[inside], _held(whole[inside]))
        return cls(layout, values)

    def merge(self, other: "TransitionCounts") -> "TransitionCounts":
        """The counts of both data sets together; they must share one layout."""
        if self.layout != other.layout:
            raise StateSpaceError("only counts of the same states and support can be merged")
        together = self.contributions.merge(other.contributions)
        return TransitionCounts(self.layout, self.values + other.values, together)

    def __add__(self, other: "TransitionCounts") -> "TransitionCounts":
        return self.merge(other)

    def matrix(self, group: State | None = None) -> npt.NDArray[np.int64]:
        """The transitions (of one group) as a dense matrix. Exact and sensitive: never publish it."""
        block = self.layout.block("transitions", group)
        return np.asarray(block.cells.dense(self.values[block.at]), dtype=np.int64)

    def __repr__(self) -> str:
        return f"TransitionCounts({self.layout}; values are sensitive and not shown)"


def _held(numbers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Whole numbers >= 0 of any type, held at the limit."""
    wide = {"u": np.uint64, "i": np.int64}.get(numbers.dtype.kind, np.float64)
    held = np.minimum(numbers.astype(np.result_type(numbers.dtype, wide)), COUNT_LIMIT)
    return np.asarray(held, dtype=np.int64)
