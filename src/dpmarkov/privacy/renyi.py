"""Rényi divergence of Theorem A's pair, exactly.

For P = Beta(alpha + w, alpha) against Q = Beta(alpha, alpha + w)

    (lambda - 1) D_lambda = ln G(alpha + lambda w) + ln G(alpha - (lambda - 1) w)
                            - ln G(alpha + w) - ln G(alpha)

with G the gamma function: the integral of p^lambda q^(1 - lambda) is again a beta integral. It is finite for
lambda < 1 + alpha / w and infinite from there on; at lambda = 1 it is the Kullback-Leibler divergence
w (psi(alpha + w) - psi(alpha)).
"""

import numpy as np
import numpy.typing as npt
from scipy.special import digamma

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.tails import Floats, log_gamma_growth

__all__ = ["renyi_beta"]


def renyi_beta(alpha: npt.ArrayLike, weight: npt.ArrayLike, order: npt.ArrayLike) -> Floats:
    """Rényi divergence of order lambda between Theorem A's two laws; the same in both directions.

    Parameters
    ----------
    alpha, weight
        As for `BetaPair`.
    order
        lambda >= 1; arrays broadcast.

    Examples
    --------
    >>> renyi_beta(1.0, 1.0, [1.0, 1.5, 2.0])
    array([1.        , 1.71409563,        inf])
    """
    a, w, o = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (alpha, weight, order)))
    if np.any(a <= 0) or np.any(w <= 0) or np.any(o < 1):
        raise ParameterError("a Rényi divergence needs alpha > 0, weight > 0 and an order >= 1")
    finite = (o - 1) * w < a
    step = np.where(finite & (o > 1), (o - 1) * w, 0.5 * a)
    rest = a - step
    # Both growths are relative to the logarithm of their upper end: alpha + lambda w, and alpha.
    value = w * (log_gamma_growth(a + w, step) - log_gamma_growth(rest, step) + np.log1p((w + step) / a))
    return np.where(o == 1, w * (digamma(a + w) - digamma(a)), np.where(finite, value, np.inf))
