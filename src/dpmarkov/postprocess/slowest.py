"""The prior's pull on a chain's slowest direction, half of it taken back.

A prior that leans on structure moves many cells a little, each by less than its noise; along the direction
that decides how fast the chain forgets (its second eigenvalue) these moves add up, and the spectral gap comes
out too wide. The noisy counts tell, without bias, how much: to first order, what they have left over beyond
the posterior mean would move that eigenvalue by

    pull = sum over cells of G_c (noisy_c - mean_c),  G_c = the derivative of |lambda_2| in the count of c.

Taking all of it back puts the full noise back too. Half of it halves the bias for a quarter of the noise's
variance, and is what is taken: each cell's mean moves in proportion to itself and to G.
"""

import numpy as np
import numpy.typing as npt

from dpmarkov.support import Support

__all__ = ["restore_slowest"]

Flat = npt.NDArray[np.float64]

_SHARE = 0.5
_LARGEST = 1000
"""Above this many states the eigenvectors would take seconds."""
_LEAST = 1e-9
_FACTOR = 3.0
"""No cell moves by more than this factor."""


def restore_slowest(mean: Flat, noisy: npt.NDArray[np.int64], cells: Support) -> Flat:
    """The posterior means with half of the pull on the second eigenvalue taken back.

    Parameters
    ----------
    mean
        The posterior mean of each cell's count, of a chain.
    noisy
        One noisy count for each cell.
    cells
        The geometry, square.
    """
    n = cells.n_rows
    if not 2 <= n <= _LARGEST:
        return mean
    totals = np.asarray(cells.row_sums(mean), dtype=float)
    if not np.all(totals > 0):
        return mean
    rows = np.asarray(cells.dense(mean / totals[cells.row_of_cell]), dtype=float)
    values, right = np.linalg.eig(rows)
    others, left = np.linalg.eig(rows.T)
    second = np.argsort(-np.abs(values), kind="stable")[1]
    value, r = values[second], right[:, second]
    toward = left[:, np.argmin(np.abs(others - value))]
    scale = toward @ r
    if abs(value) < _LEAST or abs(scale) < _LEAST:
        return mean
    turned = np.conj(value) / abs(value) / scale
    at, to = cells.row_of_cell, cells.indices
    slope = (turned * toward[at] * (r[to] - value * r[at])).real / np.maximum(totals, 1.0)[at]
    reach = float(slope @ (mean * slope))
    if not reach > 0:
        return mean
    pull = float(slope @ (noisy - mean))
    return np.asarray(mean * np.clip(1 + _SHARE * pull * slope / reach, 1 / _FACTOR, _FACTOR))
