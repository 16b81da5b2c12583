"""Structure that cells share: what a cell is expected to hold, learnt from the other cells.

Rank one is row effect times column effect. Higher ranks (a non-negative factorisation) find groups of rows
that go to the same columns. Each cell's expectation is learnt with that cell left out, so that its own noise
never vouches for itself and the likelihoods of two structures compare.
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpmarkov.support import Support

__all__ = ["RANKS", "factor_ensemble", "rank_one", "scattered"]

Flat = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

RANKS = (4, 6, 9)
"""Ranks whose expectations are averaged: together they are more accurate than the best of them."""

_FOLDS = 8
_STEPS = 30
_REWEIGH = 10
_LEAST = 1e-3
_SPREAD = 0.6
_SMALL = 20_000


def rank_one(estimate: Flat, cells: Support) -> Flat:
    """Row total times column total over the grand total, for each cell, with half an event to spare."""
    rows, columns = cells.row_of_cell, cells.indices
    row_totals = np.bincount(rows, estimate, cells.n_rows) + 0.5
    column_totals = np.bincount(columns, estimate, cells.n_columns) + 0.5
    expected = row_totals[rows] * column_totals[columns] / column_totals.sum()
    # On a support with known zeros, rows spread over fewer columns: scale each row to its total.
    scale = row_totals / np.bincount(rows, expected, cells.n_rows)
    return np.asarray(np.maximum(expected * scale[rows], _LEAST))


def factor_ensemble(noisy: npt.NDArray[np.int64], start: Flat, variance: float, cells: Support) -> Flat:
    """What factorisations of several ranks expect in each cell, learnt without that cell, averaged.

    They are fitted to the signed noisy counts by weighted least squares: counts that were made non-negative
    first would pull every factor towards the average row, and with it the chain's slow directions.

    Parameters
    ----------
    noisy
        One noisy count for each cell.
    start
        Rough non-negative estimates, for the scale to start from.
    variance
        The variance of the noise.
    cells
        The geometry.
    """
    repeats = 3 if cells.n_cells <= _SMALL else 1
    ranks = [rank for rank in RANKS if 2 * rank <= min(cells.n_rows, cells.n_columns)] or [2]
    target = noisy.astype(float)
    total = np.zeros(cells.n_cells)
    for rank in ranks:
        for repeat in range(repeats):
            salt = 1000 * rank + 10 * repeat
            fold = (scattered(cells.n_cells, salt) * _FOLDS).astype(np.int64)
            for k in range(_FOLDS):
                left_out = fold == k
                fitted = _factorise(target, ~left_out, start, variance, cells, rank, salt + k)
                total[left_out] += fitted[left_out]
    # Half an event a row, spread as the columns are: a row without data leans on where the others go.
    columns = np.bincount(cells.indices, start, cells.n_columns) + 0.5
    spare = 0.5 * columns[cells.indices] / columns.sum()
    return np.asarray(np.maximum(total / (len(ranks) * repeats) + spare, _LEAST))


def _factorise(
    target: Flat,
    seen: npt.NDArray[np.bool_],
    start: Flat,
    variance: float,
    cells: Support,
    rank: int,
    salt: int,
) -> Flat:
    """A non-negative factorisation of the cells that are seen, by Lee and Seung's steps for weighted squares.

    A cell's weight is one over the variance of its noise and of its departure from the structure.
    """
    rows, columns = cells.row_of_cell, cells.indices
    shown = np.where(seen, start, 0.0)
    row_totals = np.bincount(rows, shown, cells.n_rows) + 0.5
    column_totals = np.bincount(columns, shown, cells.n_columns) + 0.5
    uneven = scattered((cells.n_rows + cells.n_columns) * rank, salt).reshape(-1, rank) + 0.2
    left = uneven[: cells.n_rows] * row_totals[:, None]
    right = uneven[cells.n_rows :] * column_totals[:, None]
    fitted = _product(left, right, cells)
    left *= (shown.sum() + 1.0) / (fitted @ seen)
    fitted = row_totals[rows] * column_totals[columns] / column_totals.sum()
    weight = weighted = target
    for step in range(_STEPS):
        if step % _REWEIGH == 0:
            weight = seen / (variance + fitted + (_SPREAD * fitted) ** 2)
            weighted = weight * target
        fitted = _product(left, right, cells)
        left *= np.maximum(_matrix(weighted, cells) @ right, 1e-12) / (
            _matrix(weight * fitted, cells) @ right + 1e-12
        )
        fitted = _product(left, right, cells)
        right *= np.maximum(_matrix(weighted, cells).T @ left, 1e-12) / (
            _matrix(weight * fitted, cells).T @ left + 1e-12
        )
    return _product(left, right, cells)


def scattered(size: int, salt: int) -> Flat:
    """Fixed numbers in [0, 1) without pattern (SplitMix64), so that the same input gives the same output."""
    z = (np.arange(1, size + 1, dtype=np.uint64) + np.uint64(salt << 40)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) / 2.0**64, dtype=float)


def _product(left: Matrix, right: Matrix, cells: Support) -> Flat:
    """The factors' product in each cell."""
    if cells.is_full:
        return np.asarray((left @ right.T).ravel())
    return np.asarray(np.einsum("ck,ck->c", left[cells.row_of_cell], right[cells.indices]))


def _matrix(values: Flat, cells: Support) -> "Matrix | sparse.csr_array":
    """`values` as a matrix that multiplies."""
    return values.reshape(cells.n_rows, cells.n_columns) if cells.is_full else cells.sparse(values)
