"""What a chain accepts as a transition matrix and as a distribution."""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpmarkov.errors import ChainError

__all__ = ["checked_distribution", "checked_matrix"]

Array = npt.NDArray[np.float64]

_SUM_TOLERANCE = 1e-8
_EXACT = 1e-13


def checked_matrix(matrix: object) -> Array | sparse.csr_array:
    """A read-only copy of a stochastic matrix, dense or CSR."""
    try:
        if sparse.issparse(matrix):
            given = sparse.csr_array(matrix, dtype=np.float64, copy=True)
            given.sum_duplicates()
            entries = given.data
        else:
            given = np.array(matrix, dtype=np.float64)
            entries = given
    except (TypeError, ValueError):
        raise ChainError("a transition matrix must be a square array of numbers") from None
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] < 2:
        raise ChainError(
            f"a transition matrix must be square with at least two states; got shape {given.shape}"
        )
    if not np.all(np.isfinite(entries)) or np.any(entries < 0):
        raise ChainError("transition probabilities must be numbers >= 0; the matrix has others")
    sums = np.asarray(given.sum(axis=1))
    worst = int(np.argmax(np.abs(sums - 1.0)))
    if abs(sums[worst] - 1.0) > _SUM_TOLERANCE:
        raise ChainError(
            f"the rows of a transition matrix must sum to 1; row {worst} sums to {sums[worst]:.10g}. "
            "From counts, divide each row by its sum first"
        )
    scale = np.where(np.abs(sums - 1.0) > _EXACT, sums, 1.0)
    if sparse.issparse(given):
        given.data /= np.repeat(scale, np.diff(given.indptr))
        for part in (given.data, given.indices, given.indptr):
            part.flags.writeable = False
    else:
        given /= scale[:, None]
        given.flags.writeable = False
    return given


def checked_distribution(start: object, n: int) -> Array:
    """A distribution over `n` states."""
    try:
        x = np.array(start, dtype=np.float64)
    except (TypeError, ValueError):
        raise ChainError("a start must be a state or a list of probabilities, one for each state") from None
    if x.shape != (n,) or not np.all(np.isfinite(x)) or np.any(x < 0) or abs(x.sum() - 1) > _SUM_TOLERANCE:
        raise ChainError(
            f"a start distribution must be {n} probabilities >= 0 that sum to 1; got shape {x.shape}, "
            f"sum {float(x.sum()):.10g}"
        )
    return np.asarray(x / x.sum())
