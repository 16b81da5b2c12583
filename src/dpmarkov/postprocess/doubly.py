"""The doubly stochastic matrix nearest (in relative entropy) to a released one: Sinkhorn's scaling."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import InputError

__all__ = ["SinkhornResult", "sinkhorn"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SinkhornResult:
    """A doubly stochastic matrix and how far the scaling moved the given one.

    Parameters
    ----------
    matrix
        Rows and columns sum to one.
    moved
        Mean total variation between a given row and its scaled one: what the scaling changed, measured on
        the public matrix. It is the bias added where the true matrix is not doubly stochastic.
    rounds
        Scaling rounds taken.
    """

    matrix: Matrix
    moved: float
    rounds: int


def sinkhorn(matrix: npt.ArrayLike, *, tolerance: float = 1e-12, limit: int = 100_000) -> SinkhornResult:
    """Scale rows and columns in turn until both sum to one.

    Parameters
    ----------
    matrix
        A square matrix with entries > 0 (a release without known zeros). With zeros a scaling need not exist.
    tolerance
        The largest error of a row's or column's sum.
    limit
        Rounds after which it gives up with an error.

    Notes
    -----
    The result is D P E with positive diagonal D, E: the minimiser of the relative entropy to P among doubly
    stochastic matrices. It is unbiased only to first order in the noise: scaling by noisy sums couples the
    errors of a row and a column, a bias of the order of the variance of those sums.
    """
    try:
        given = np.array(matrix, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            "sinkhorn takes a matrix of numbers, such as release.transition_matrix; got "
            f"{type(matrix).__name__}"
        ) from None
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise InputError(f"a doubly stochastic matrix is square; got shape {given.shape}")
    if not np.all(np.isfinite(given)) or np.any(given <= 0):
        raise InputError(
            "Sinkhorn's scaling needs entries > 0; this matrix has others. "
            "Use a release without known zeros, which has none"
        )
    rows = given / given.sum(axis=1, keepdims=True)
    scaled = rows.copy()
    for count in range(1, limit + 1):
        scaled /= scaled.sum(axis=0)
        sums = scaled.sum(axis=1, keepdims=True)
        scaled /= sums
        if np.abs(scaled.sum(axis=0) - 1).max() <= tolerance:
            moved = float(0.5 * np.abs(scaled - rows).sum(axis=1).mean())
            return SinkhornResult(matrix=scaled, moved=moved, rounds=count)
    raise InputError(f"Sinkhorn's scaling did not settle within {limit} rounds; the matrix is too uneven")
