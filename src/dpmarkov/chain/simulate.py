"""Sequences drawn from a chain: for trying things out, and as a synthetic data set.

A chain that was released privately is public, so drawing from it costs no privacy, whatever the seed.
"""

from bisect import bisect_right

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpmarkov.entropy import Entropy

__all__ = ["simulate"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_FEW = 24


def simulate(
    matrix: Array | sparse.csr_array, start: Array, users: int, length: int, entropy: Entropy
) -> Index:
    """Positions of shape (users, length): independent walks whose first state is drawn from `start`.

    Each step inverts the row's cumulative distribution at one uniform number, by bisection.
    """
    chain = sparse.csr_array(matrix, copy=True)
    chain.eliminate_zeros()
    indptr, columns = chain.indptr.astype(np.int64), chain.indices.astype(np.int64)
    cumulative = _row_cumulative(chain.data, indptr)
    first = np.flatnonzero(start > 0)
    uniforms = entropy.generator("chain start").random(users)
    heads = np.searchsorted(np.cumsum(start[first])[:-1] / start.sum(), uniforms, "right")
    steps = entropy.generator("chain steps")
    walks = np.empty((users, length), dtype=np.int64)
    walks[:, 0] = first[heads]
    if users <= _FEW:
        for walk in walks:
            _one_walk(walk, steps.random(length - 1), indptr, columns, cumulative)
        return walks
    for t in range(1, length):
        walks[:, t] = columns[_locate(cumulative, indptr, walks[:, t - 1], steps.random(users))]
    return walks


def _row_cumulative(data: Array, indptr: Index) -> Array:
    """Cumulative sums within each row; a row's last entry is infinite, so that every number finds a cell."""
    result = np.empty_like(data)
    for start, stop in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True):
        np.cumsum(data[start:stop], out=result[start:stop])
    result[indptr[1:] - 1] = np.inf
    return result


def _locate(cumulative: Array, indptr: Index, rows: Index, uniforms: Array) -> Index:
    """The first cell of each row whose cumulative probability exceeds the uniform number."""
    low, high = indptr[rows], indptr[rows + 1] - 1
    while np.any(low < high):
        middle = (low + high) // 2
        above = cumulative[middle] > uniforms
        high = np.where(above, middle, high)
        low = np.where(above, low, np.minimum(middle + 1, high))
    return np.asarray(low)


def _one_walk(walk: Index, uniforms: Array, indptr: Index, columns: Index, cumulative: Array) -> None:
    """One walk in plain Python, which for a single long walk is ten times faster than vectors of length 1."""
    starts, cells, sums = indptr.tolist(), columns.tolist(), cumulative.tolist()
    state = int(walk[0])
    path = [state]
    for u in uniforms.tolist():
        state = cells[bisect_right(sums, u, starts[state], starts[state + 1])]
        path.append(state)
    walk[:] = path
