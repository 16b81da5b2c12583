"""The stationary distribution of one irreducible class, dense or sparse.

Dense chains, and sparse ones of a few thousand states, go through state elimination (`gth`), which is right
in every entry relative to that entry. Larger sparse chains take one of two ways:

1. Damped power iteration from two unlike starts at once, with the masses of weakly coupled blocks corrected
   every few steps by solving the small chain between the blocks (Koury, McAllister and Stewart). It is
   believed only when both starts end in the same distribution, entry by entry: a slow mode that is too slow
   to show in the change from step to step shows in the difference of the two.
2. Otherwise, state elimination on the sparse graph itself: batches of states that are not linked to each
   other and have few links are cut out, until a dense chain is left. Exact, without subtraction, and quick
   where eliminating creates few new links (lines, trees, road networks).
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from dpmarkov.chain.gth import stationary_vector
from dpmarkov.errors import EngineError

__all__ = ["DENSE_STATES", "stationary"]

Array = npt.NDArray[np.float64]

DENSE_STATES = 5000

_ELIMINATE_AT_ONCE = 1500
_DAMPING = 0.9
_SWEEPS = 400
_SWEEPS_BETWEEN_LOOKS = 10
_AGREEMENT = 1e-12
_MAX_BLOCKS = 1000
_MAX_LINKS = 40_000_000
_TINY = 1e-290


def stationary(matrix: Array | sparse.csr_array) -> Array:
    """The stationary distribution of an irreducible chain."""
    if isinstance(matrix, np.ndarray):
        return stationary_vector(matrix)
    if matrix.shape[0] <= _ELIMINATE_AT_ONCE:
        return stationary_vector(matrix.toarray())
    found = _by_power(matrix)
    return _by_elimination(matrix) if found is None else found


def _by_power(matrix: sparse.csr_array) -> Array | None:
    """Power iteration with aggregation, or None where it is not going to converge soon."""
    n = matrix.shape[0]
    step = sparse.csr_array(matrix.T)
    blocks = _weakly_coupled_blocks(matrix)
    ramp = (1.0 + np.arange(n)) * (1.5 + np.sin(np.arange(n) * 12.9898))
    x = np.column_stack([np.full(n, 1.0 / n), ramp / ramp.sum()])
    last = np.inf
    for _ in range(_SWEEPS // _SWEEPS_BETWEEN_LOOKS):
        for _ in range(_SWEEPS_BETWEEN_LOOKS):
            x = _DAMPING * (step @ x) + (1.0 - _DAMPING) * x
        if blocks is not None:
            for column in range(2):
                x[:, column] = _rebalanced(matrix, x[:, column], blocks)
        x /= x.sum(axis=0)
        if x.min() < _TINY:
            return None
        gap = float(np.abs(x[:, 0] / x[:, 1] - 1.0).max())
        if gap <= _AGREEMENT:
            return _polished(step, x.mean(axis=1))
        if gap > 0.7 * last:
            return None
        last = gap
    return None


def _polished(step: sparse.csr_array, x: Array) -> Array:
    """A few more steps, which bring the agreement of 1e-12 down to rounding."""
    for _ in range(2 * _SWEEPS_BETWEEN_LOOKS):
        x = _DAMPING * (step @ x) + (1.0 - _DAMPING) * x
    return np.asarray(x / x.sum())


def _weakly_coupled_blocks(matrix: sparse.csr_array) -> npt.NDArray[np.int32] | None:
    """A block for each state, such that blocks are joined by small entries only; None for a single block."""
    for threshold in (1e-3, 1e-5, 1e-7, 1e-9, 1e-12):
        strong = sparse.csr_array(matrix, copy=True)
        strong.data = (strong.data > threshold).astype(np.float64)
        strong.eliminate_zeros()
        n_blocks, label = csgraph.connected_components(strong, directed=True, connection="strong")
        if n_blocks <= _MAX_BLOCKS:
            return None if n_blocks == 1 else label
    return None


def _rebalanced(matrix: sparse.csr_array, x: Array, blocks: npt.NDArray[np.int32]) -> Array:
    """`x` with the mass of each block set to what the chain between the blocks asks for."""
    n_blocks = int(blocks.max()) + 1
    mass = np.bincount(blocks, weights=x, minlength=n_blocks)
    row = np.repeat(np.arange(x.size), np.diff(matrix.indptr))
    flow: Array = x[row] * matrix.data / mass[blocks[row]]
    key = blocks[row].astype(np.int64) * n_blocks + blocks[matrix.indices]
    coarse = np.bincount(key, weights=flow, minlength=n_blocks * n_blocks).astype(np.float64)
    wanted = stationary_vector(coarse.reshape(n_blocks, n_blocks))
    return np.asarray(x * np.asarray(wanted / mass)[blocks])


def _by_elimination(matrix: sparse.csr_array) -> Array:
    """Sparse state elimination down to a dense chain."""
    left = _without_diagonal(matrix)
    removed: list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], sparse.csr_array]] = []
    while left.shape[0] > _ELIMINATE_AT_ONCE:
        n = left.shape[0]
        if n <= DENSE_STATES and left.nnz > 0.05 * n * n:
            break
        out = _independent(left)
        cut, kept = np.flatnonzero(out), np.flatnonzero(~out)
        leaving, arriving = left[cut], left[kept]
        exits = leaving.sum(axis=1)
        if not exits.min() > 0.0:
            raise EngineError("a state is left with a probability below 1e-308; the chain is not irreducible")
        ahead = sparse.csr_array(arriving[:, cut] @ sparse.diags_array(1.0 / exits))
        left = _without_diagonal(sparse.csr_array(arriving[:, kept] + ahead @ leaving[:, kept]))
        removed.append((kept, cut, ahead))
        if left.nnz > _MAX_LINKS:
            raise EngineError(
                f"no method here finds the stationary distribution of this sparse chain: it mixes too slowly "
                f"for iteration, and eliminating states left {left.shape[0]:,} of {matrix.shape[0]:,} with "
                f"{left.nnz:,} links. Merge states, or analyse the slow parts on their own"
            )
    x = stationary_vector(left.toarray())
    for kept, cut, ahead in reversed(removed):
        whole = np.empty(kept.size + cut.size)
        whole[kept] = x
        whole[cut] = ahead.T @ x
        x = whole
    return np.asarray(x / x.sum())


def _without_diagonal(matrix: sparse.csr_array) -> sparse.csr_array:
    coo = matrix.tocoo()
    keep = (coo.row != coo.col) & (coo.data > 0)
    return sparse.csr_array((coo.data[keep], (coo.row[keep], coo.col[keep])), shape=matrix.shape)


def _independent(left: sparse.csr_array) -> npt.NDArray[np.bool_]:
    """States no two of which are linked, each cheaper to cut out than all of its neighbours."""
    n = left.shape[0]
    ways_out = np.diff(left.indptr)
    ways_in = np.bincount(left.indices, minlength=n)
    cost = ways_out.astype(np.float64) * ways_in
    tie = (np.arange(n, dtype=np.uint64) * np.uint64(11400714819323198485) >> np.uint64(11)) / 2.0**53
    rank = np.empty(n)
    rank[np.lexsort((tie, cost))] = np.arange(n)
    row = np.repeat(np.arange(n), ways_out)
    best = np.full(n, np.inf)
    np.minimum.at(best, row, rank[left.indices])
    np.minimum.at(best, left.indices, rank[row])
    return np.asarray((rank < best) & (cost <= 4.0 * np.median(cost)))
