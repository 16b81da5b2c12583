"""Standard errors of the stationary distribution, to first order, without draws.

A change dP of the rows moves the stationary distribution by pi' dP Z, with Z = (I - P + 1 pi')^-1. Row i is
counts over their total, so a change dx of its counts moves pi_j by the sum over k of

    (pi_i / N_i) (Z_kj - (P Z)_ij) dx_ik

and independent errors of variance v_ik give the variance of pi_j by three matrix products.

Two variances matter. The posterior's own (`variance`) is right if cells with like expectations are alike, as
the learnt prior supposes. The noise's (`noise_variance`) needs no such belief: unbiased, but for thin rows
wide. Released rows lean on the prior, and the long run of a chain leans on a few thin rows, where the prior
errs the same way in many cells at once. So error bars take the sum of both, which measured coverage bears
out: the posterior's variance, and what the noisy counts may still disagree with it by.
"""

import numpy as np
import numpy.typing as npt

from dpmarkov.chain import MarkovChain
from dpmarkov.support import Support

__all__ = ["stationary_variance"]

Flat = npt.NDArray[np.float64]


def stationary_variance(chain: MarkovChain, cells: Support, *, mean: Flat, spread: Flat) -> Flat:
    """The variance of each pi_j when the count of each cell has the variance `spread`.

    Parameters
    ----------
    chain
        The chain, irreducible.
    cells
        The geometry of the arrays that follow.
    mean, spread
        The mean of each cell's count, which gives the rows' totals, and its variance.
    """
    pi, fundamental = chain.stationary_distribution, chain.fundamental_matrix
    events = np.maximum(np.asarray(cells.row_sums(mean), dtype=np.float64), 1.0)
    moved = chain.dense() @ fundamental
    w = np.asarray(cells.dense(spread), dtype=np.float64)
    each = w @ fundamental**2 - 2.0 * (w @ fundamental) * moved + w.sum(axis=1)[:, None] * moved**2
    return np.asarray(np.maximum((pi / events) ** 2 @ each, 0.0))
