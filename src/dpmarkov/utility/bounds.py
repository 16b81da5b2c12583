r"""How far the long-run shares of a private chain are from the true ones: bounds and predictions.

For a chain P with stationary distribution pi, let D = sum_t (P^t - 1 pi') be its deviation matrix and
tau = 1/2 max_{ij} |D_i - D_j|_1 its *sensitivity*: how much a unit of error in one row can move the long run.
Since pi~ - pi = sum_i pi_i (P~_i - P_i) D~, and each P~_i - P_i sums to zero,

    TV(pi, pi~) <= 1/2 tau(P~) sum_i pi_i |P_i - P~_i|_1.                                          (realised)

With the roles exchanged, tau(P) sum_i pi~_i |...|. Taking expectations, for Dirichlet rows with total K_i on
m_i cells and mean M_i,

    E TV(pi, pi~) <= 1/2 tau(P) ( sqrt(sum_i (m_i - 1)/(K_i + 1)) + max_i |M_i - P_i|_1 ).          (a priori)

That takes the worst row. When the noise is small, the average row counts: sum_i pi~_i e_i is at most
sum_i pi_i e_i + TV max_i e_i, so that on the event max_i e_i <= c, with t = tau(P)/2 and t c < 1,
TV <= t sum_i pi_i e_i/(1 - t c). `expected_bound` takes the smaller of the two. And to first order, which is
close to what is measured,

    Cov(pi~) ~ sum_i pi_i^2 D' C_i D,    C_i = (diag(M_i) - M_i M_i')/(K_i + 1).                 (first order)

These replace Theorem 4 of Benvenuti et al. and Theorem 3 of Fallin et al., whose proofs have gaps
(`docs/papers.md`). Everything here is computed from public quantities: a release, totals, declared biases.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmarkov.chain import MarkovChain
from dpmarkov.errors import ParameterError

__all__ = ["FirstOrder", "expected_bound", "first_order", "realised_bound", "sensitivity"]

Array = npt.NDArray[np.float64]

_MISSED = tuple(10.0**-digits for digits in range(2, 13))


def sensitivity(chain: MarkovChain) -> float:
    """tau(P): half the largest L1 distance between two rows of the deviation matrix.

    A change of the rows by at most x in L1 norm moves the stationary distribution by at most x tau/2 in total
    variation.
    """
    deviation = chain.deviation_matrix
    worst = 0.0
    for row in deviation:
        worst = max(worst, float(np.abs(deviation - row).sum(axis=1).max()))
    return worst / 2


def realised_bound(
    private: MarkovChain, row_errors: npt.ArrayLike, *, weights: npt.ArrayLike | None = None
) -> float:
    """A bound of TV(pi, pi~) for one release, from the L1 errors of its rows.

    Parameters
    ----------
    private
        The released chain.
    row_errors
        |P_i - P~_i|_1 for each row, or bounds of them; one number serves for all rows.
    weights
        The true stationary distribution, for whoever knows it. A recipient leaves it out and pays for the
        worst row.

    Returns
    -------
    float
        At most 1.
    """
    errors = np.broadcast_to(np.asarray(row_errors, dtype=float), (len(private),))
    if not np.all(np.isfinite(errors)) or np.any(errors < 0):
        raise ParameterError("row errors must be finite numbers >= 0")
    reach = float(errors.max()) if weights is None else float(np.asarray(weights, dtype=float) @ errors)
    return min(1.0, sensitivity(private) * reach / 2)


def expected_bound(chain: MarkovChain, totals: npt.ArrayLike, *, bias: float = 0.0) -> float:
    """A bound of E TV(pi, pi~) before anything is drawn.

    Parameters
    ----------
    chain
        The true chain; or a public stand-in for it, and then it is a bound for the stand-in.
    totals
        K_i, the sum of each row's Dirichlet parameters. Lower bounds of them are safe.
    bias
        max_i |M_i - P_i|_1, the distance of the rows' means from the true rows: 0 for an unbiased draw, at
        most 2 times the mixing of `privatize_matrix`. Without it, the prior and floor forms break the bound.
    """
    k = _totals(chain, totals)
    if not (math.isfinite(bias) and bias >= 0):
        raise ParameterError(f"bias must be a finite number >= 0; got {bias!r}")
    half = sensitivity(chain) / 2
    cells = (chain.dense() > 0).sum(axis=1)
    second_moments = (cells - 1) / (k + 1)
    worst_row = half * (math.sqrt(float(second_moments.sum())) + bias)
    average = half * (float(chain.stationary_distribution @ np.sqrt(second_moments)) + bias)
    best = min(1.0, worst_row)
    for missed in _MISSED:
        # |x|_1 > 2t for a Dirichlet row needs P~(S) - P(S) > t for one of 2^m sets S; each is 1/(4(K+1))-sub-
        # Gaussian (Marchal and Arbel). Leave every row that is not constant a share of `missed`.
        exponents = cells * math.log(2) + math.log(len(cells) / missed)
        reach = 2 * np.sqrt(exponents / (2 * (k + 1)))
        largest = float(np.max(np.where(cells > 1, reach, 0.0))) + bias
        if half * largest < 1:
            best = min(best, average / (1 - half * largest) + missed)
    return best


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FirstOrder:
    """The first-order prediction of a private stationary distribution's error.

    Parameters
    ----------
    covariance
        Of the private stationary distribution, about that of the rows' means.
    """

    covariance: Array

    @property
    def standard_errors(self) -> Array:
        """One standard deviation for each state."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def total_variation(self) -> float:
        """The predicted E TV, as for normal errors: 1/2 sqrt(2/pi) times the sum of the standard errors."""
        return float(self.standard_errors.sum() / math.sqrt(2 * math.pi))


def first_order(chain: MarkovChain, totals: npt.ArrayLike) -> FirstOrder:
    """The first-order prediction, which comes close to what is measured while the noise is small.

    Parameters
    ----------
    chain
        The chain of the rows' means. A recipient puts the released chain in its place: error bars that cost
        no privacy.
    totals
        K_i, the sum of each row's Dirichlet parameters: public, charged, or replaced by public lower bounds.
    """
    k = _totals(chain, totals)
    p, pi, deviation = chain.dense(), chain.stationary_distribution, chain.deviation_matrix
    scale = pi**2 / (k + 1)
    # sum_i s_i (diag(P_i) - P_i P_i') = diag(s P) - P' diag(s) P: one product for all rows.
    inner = np.diag(scale @ p) - (p.T * scale) @ p
    return FirstOrder(covariance=np.asarray(deviation.T @ inner @ deviation))


def _totals(chain: MarkovChain, totals: npt.ArrayLike) -> Array:
    k = np.broadcast_to(np.asarray(totals, dtype=float), (len(chain),))
    if np.any(~(k > 0)):
        raise ParameterError("totals must be numbers > 0, one for each row or one for all")
    return k
