"""The prior's pull on a chain's slowest direction, most of it taken back.

A prior that leans on structure moves many cells a little, each by less than its noise; along the direction
that decides how fast the chain forgets (its second eigenvalue) these moves add up, and the spectral gap comes
out too wide. The noisy counts tell how much. To first order, what another estimate of the counts has beyond
the posterior means would move that eigenvalue by

    pull = sum over cells of G_c (other_c - mean_c),  G_c = the derivative of |lambda_2| in the count of c.

The other estimate is the clipped noisy count less what clipping adds on average by the learnt prior: it leans
on the prior only where counts are small enough to be clipped, and has less noise than the unclipped counts.
Taking all of the pull back would put all of that noise back too; three quarters leave a sixteenth of the
squared bias.

Each cell moves in proportion to G and to how much is left to know of it: not more than the noise's variance,
nor more than a Poisson count's own. Where the noise is narrower than a count most cells are known exactly and
a move is a loss to its row: all moves together are at most a fiftieth of the noise's variance, which is its
size there, and no limit where it is wide.

Where the eigenvalue would go more than a third of the way to the next one, nothing is moved: the first order
does not hold, and which of the two is second was decided by the noise. A row with few events that drew badly
is then the slowest by chance; the prior knows that, the other estimate does not.
"""

import numpy as np
import numpy.typing as npt
from scipy import linalg

from dpmarkov.support import Support

__all__ = ["restore_slowest"]

Flat = npt.NDArray[np.float64]

_SHARE = 0.75
_MOST = 0.02
_FACTOR = 1.15
"""No cell moves by more than this factor: a factor of 3 doubled the worst error of a gap on taxi-65."""
_OF_THE_WAY = 1 / 3
_LARGEST = 1000
"""Above this many states the eigenvectors would take seconds."""
_LEAST = 1e-9


def restore_slowest(mean: Flat, other: Flat, cells: Support, variance: float) -> Flat:
    """The posterior means with most of the pull on the second eigenvalue taken back.

    Parameters
    ----------
    mean
        The posterior mean of each cell's count, of a chain.
    other
        Another estimate of each count, less biased and more noisy.
    cells
        The geometry, square.
    variance
        The variance of the noise on each count.
    """
    totals = np.asarray(cells.row_sums(mean), dtype=float)
    if not 2 <= cells.n_rows <= _LARGEST or not np.all(totals > 0):
        return mean
    slope, apart = _slowest(mean, cells)
    step = slope * mean * (variance / (mean + variance))
    reach = float(slope @ step)
    if not reach > 0:
        return mean
    length = _SHARE * float(slope @ (other - mean)) / reach
    longest = _MOST * variance * mean.size / float(np.abs(step).sum())
    length = min(max(length, -longest), longest)
    if reach * abs(length) > _OF_THE_WAY * apart:
        return mean
    return np.clip(mean + length * step, mean / _FACTOR, mean * _FACTOR)


def _rows(counts: Flat, cells: Support) -> Flat:
    totals = np.asarray(cells.row_sums(counts), dtype=float)
    return np.asarray(cells.dense(counts / totals[cells.row_of_cell]), dtype=float)


def _slowest(mean: Flat, cells: Support) -> tuple[Flat, float]:
    """The derivative of the second eigenvalue's modulus in each count; how far apart the next one is."""
    values, left, right = linalg.eig(_rows(mean, cells), left=True)
    moduli = np.abs(values)
    order = np.argsort(-moduli, kind="stable")
    second = order[1]
    value, r, toward = values[second], right[:, second], left[:, second].conj()
    scale = toward @ r
    if moduli[second] < _LEAST or abs(scale) < _LEAST:
        return np.zeros_like(mean), 0.0
    # The conjugate of a complex eigenvalue has its modulus and moves with it.
    others = moduli[order[3 if value.imag else 2 :]]
    turned = value.conj() / moduli[second] / scale
    at, to = cells.row_of_cell, cells.indices
    totals = np.maximum(np.asarray(cells.row_sums(mean), dtype=float), 1.0)
    slope = (turned * toward[at] * (r[to] - value * r[at])).real / totals[at]
    return slope, float(moduli[second] - max(others, default=-np.inf))
