"""The support: which cells of a matrix may be other than zero, as public knowledge.

Cells outside it are known zeros: never counted, never drawn. Values on the support are kept as one flat
array, row after row, so that a dense matrix of 60 states and a road network of 100,000 take the same path.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpmarkov.errors import StateSpaceError
from dpmarkov.states import State, StateSpace

__all__ = ["Support", "check_cells"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_DENSE_LIMIT = 4 * 2**30
_MOST_CELLS = 2**29
_BYTES_OF_A_RELEASED_CELL = 100


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """Cells of a matrix in row-major order: row `i` holds the columns `indices[indptr[i]:indptr[i + 1]]`.

    Build one with `Support.full` or `Support.from_pairs`.
    """

    indptr: Index
    indices: Index
    n_columns: int

    def __post_init__(self) -> None:
        self.indptr.flags.writeable = False
        self.indices.flags.writeable = False

    @classmethod
    def full(cls, n_rows: int, n_columns: int) -> "Support":
        """Every cell of an `n_rows` by `n_columns` matrix."""
        check_cells(n_rows * n_columns, f"{n_rows:,} x {n_columns:,} states")
        indptr = np.arange(n_rows + 1, dtype=np.int64) * n_columns
        return cls(indptr, np.tile(np.arange(n_columns, dtype=np.int64), n_rows), n_columns)

    @classmethod
    def from_pairs(
        cls, source: StateSpace, target: StateSpace, pairs: Iterable[tuple[State, State]]
    ) -> "Support":
        """The cells that a public list of allowed (from, to) pairs names; doubles count once."""
        cells = {(source.index(a), target.index(b)) for a, b in pairs}
        rows = np.fromiter((row for row, _ in cells), dtype=np.int64, count=len(cells))
        columns = np.fromiter((column for _, column in cells), dtype=np.int64, count=len(cells))
        sizes = np.bincount(rows, minlength=len(source))
        empty = np.flatnonzero(sizes == 0)
        if empty.size:
            names = ", ".join(repr(source.states[i]) for i in empty[:8])
            more = f" and {empty.size - 8} more" if empty.size > 8 else ""
            raise StateSpaceError(
                f"the support leaves {empty.size} from-state(s) with nowhere to go: {names}{more}. "
                "Every from-state needs at least one allowed pair"
            )
        order = np.lexsort((columns, rows))
        indptr = np.concatenate(([0], np.cumsum(sizes)))
        return cls(indptr.astype(np.int64), columns[order], len(target))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.indptr.size - 1

    @property
    def n_cells(self) -> int:
        """Number of cells, zeros of the data included."""
        return self.indices.size

    @property
    def is_full(self) -> bool:
        """Whether every cell is allowed."""
        return self.n_cells == self.n_rows * self.n_columns

    @property
    def row_sizes(self) -> Index:
        """Number of cells in each row."""
        return np.diff(self.indptr)

    @property
    def row_of_cell(self) -> Index:
        """The row of each cell."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int64), self.row_sizes)

    def row_sums(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """The sum of `values` over each row."""
        return np.add.reduceat(values, self.indptr[:-1])

    def locate(self, rows: Index, columns: Index) -> Index:
        """The cell at each (row, column), or -1 where the support has none."""
        if self.is_full:
            return rows * self.n_columns + columns
        keys = self.row_of_cell * self.n_columns + self.indices
        wanted = rows * self.n_columns + columns
        at = np.searchsorted(keys, wanted)
        found = keys[np.minimum(at, keys.size - 1)] == wanted
        return np.where(found, at, -1)

    def dense(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """`values` as a dense matrix with zeros outside the support."""
        size = self.n_rows * self.n_columns * values.dtype.itemsize
        if size > _DENSE_LIMIT:
            raise StateSpaceError(
                f"a dense matrix of {self.n_rows:,} x {self.n_columns:,} cells would take "
                f"{size / 2**30:,.1f} GiB; use the sparse form"
            )
        if self.is_full:
            return values.reshape(self.n_rows, self.n_columns).copy()
        matrix = np.zeros((self.n_rows, self.n_columns), dtype=values.dtype)
        matrix[self.row_of_cell, self.indices] = values
        return matrix

    def sparse(self, values: npt.NDArray[np.generic]) -> sparse.csr_array:
        """`values` as a scipy CSR array; cells of the support stay stored even where they are zero."""
        shape = (self.n_rows, self.n_columns)
        return sparse.csr_array((values, self.indices, self.indptr), shape=shape)

    def stack(self, times: int) -> "Support":
        """The same rows `times` over, one block below the other."""
        if times == 1:
            return self
        shifts = np.arange(times, dtype=np.int64) * self.n_cells
        indptr = np.concatenate([[0], (self.indptr[1:] + shifts[:, None]).ravel()])
        return Support(indptr.astype(np.int64), np.tile(self.indices, times), self.n_columns)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Support)
            and self.n_columns == other.n_columns
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
        )

    def __hash__(self) -> int:
        return hash((self.n_rows, self.n_columns, self.n_cells))


def check_cells(number: int, shape: str) -> None:
    """Refuse a shape with more cells than a release can hold in memory."""
    if number > _MOST_CELLS:
        size = number * _BYTES_OF_A_RELEASED_CELL / 2**30
        raise StateSpaceError(
            f"{shape} are {number:,} cells, and a release of them would take some {size:,.0f} GiB of memory; "
            f"at most {_MOST_CELLS:,} cells can be. Declare which pairs are possible (--support FILE; in "
            "Python support=...), or fewer states or groups"
        )
