r"""Ponnoprat: the accuracy of posterior sampling, and the samples that a wanted accuracy takes.

Two tasks: a Multinomial-Dirichlet posterior drawn under a larger prior (section 4.1), measured by the
expected Kullback-Leibler divergence of the posteriors; and a normalised histogram (section 4.2), measured by
its largest error. Orders of sample sizes, written Omega(...) in the paper, are given without their constant
and say so.
"""

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from dpmarkov.errors import ParameterError
from dpmarkov.papers.results import Assumption, Bound

__all__ = [
    "appendix_d_bias",
    "equation11_sample_size",
    "equation13_sample_size",
    "equation14_order",
    "equation16",
    "equation16_sample_size",
    "equation17",
    "posterior_divergence",
    "section41_order",
    "theorem3",
    "theorem4",
]

Regime = Literal["high", "low"]


def posterior_divergence(parameters: npt.ArrayLike, private: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """(20): KL(Dirichlet(parameters) || Dirichlet(private)), along the last axis, exactly."""
    a, b = np.asarray(parameters, dtype=float), np.asarray(private, dtype=float)
    total_a, total_b = a.sum(axis=-1), b.sum(axis=-1)
    terms = special.gammaln(b) - special.gammaln(a) - (b - a) * special.digamma(a)
    ends = (
        special.gammaln(total_a) - special.gammaln(total_b) + (total_b - total_a) * special.digamma(total_a)
    )
    return np.asarray(terms.sum(axis=-1) + ends)


def theorem3(
    p: Sequence[float], *, n_observations: int, prior: Sequence[float], private: Sequence[float]
) -> Bound:
    """Theorem 3: E KL(Dirichlet(X + prior) || Dirichlet(X + private)) for X ~ Multinomial(N, p), bounded."""
    shift = np.asarray(private, dtype=float) - np.asarray(prior, dtype=float)
    value = float(np.sum(shift**2 / np.asarray(p, dtype=float)) / (n_observations + 1))
    assumed = Assumption("private_i >= prior_i >= 1", bool(np.all(shift >= 0) and min(prior) >= 1))
    return Bound(theorem="Ponnoprat, Theorem 3", value=value, assumptions=(assumed,))


def equation11_sample_size(p: Sequence[float], *, shift: float, divergence: float) -> int:
    """The least N with which (11) promises an expected divergence below `divergence`."""
    wanted = math.fsum(1 / x for x in p) * shift**2 / divergence - 1
    return max(1, math.floor(wanted) + 1)


def section41_order(
    p: Sequence[float], *, rho: float, delta2_squared: float, divergence: float, regime: Regime
) -> float:
    """Section 4.1: the order of N for a divergence below `divergence` at the privacy rho; no constant.

    `"high"` privacy, alpha' - gamma > 1: Delta_2^4 G(p)/(rho^2 divergence); `"low"`: Delta_2^2 G(p)/(rho
    divergence), with G(p) = sum 1/p_i. The text's rho there, Delta_2^2 psi'(...), lacks Theorem 1's 1/2.
    """
    spread = math.fsum(1 / x for x in p)
    if regime == "high":
        return delta2_squared**2 * spread / (rho**2 * divergence)
    return delta2_squared * spread / (rho * divergence)


def theorem4(*, n_observations: float, prior: Sequence[float], beta: float) -> Bound:
    """Theorem 4: with probability 1 - beta, the largest error of the private histogram is at most this."""
    if not 0 < beta < 1:
        raise ParameterError(f"beta must lie in (0, 1); got {beta!r}")
    total, size = math.fsum(prior), len(prior)
    value = math.sqrt(math.log(2 * size / beta) / (2 * (n_observations + total + 1))) + total / (
        n_observations + total
    )
    return Bound(theorem="Ponnoprat, Theorem 4", value=value)


def equation13_sample_size(*, prior: Sequence[float], beta: float, error: float) -> int:
    """The least N with which Theorem 4 promises an error below `error`, by bisection."""
    return _least(lambda n: theorem4(n_observations=n, prior=prior, beta=beta).value, error)


def equation14_order(
    *,
    n_categories: int,
    beta: float,
    error: float,
    rho: float,
    gamma: float,
    delta2_squared: float,
    regime: Regime,
) -> float:
    """(14), (15): the order of N for an error below `error` at the privacy rho; no constant.

    `"high"` privacy, alpha - gamma > 1: ln(2d/beta)/error^2 + (d/error)(Delta_2^2/(2 rho) + gamma); `"low"`
    has Delta_2/sqrt(2 rho) in the place of Delta_2^2/(2 rho).
    """
    room = delta2_squared / (2 * rho)
    prior = (room if regime == "high" else math.sqrt(room)) + gamma
    return math.log(2 * n_categories / beta) / error**2 + n_categories / error * prior


def equation16(
    *, n_categories: int, n_observations: float, beta: float, rho: float, delta2_squared: float
) -> Bound:
    """(16): with probability 1 - beta, the largest error of the Gaussian mechanism at rho-zCDP."""
    value = math.sqrt(math.log(2 * n_categories / beta) * delta2_squared / (n_observations**2 * rho))
    return Bound(theorem="Ponnoprat, (16)", value=value)


def equation16_sample_size(
    *, n_categories: int, beta: float, error: float, rho: float, delta2_squared: float
) -> int:
    """The least N with which (16) promises an error below `error`."""

    def bound(n: int) -> float:
        return equation16(
            n_categories=n_categories, n_observations=n, beta=beta, rho=rho, delta2_squared=delta2_squared
        ).value

    return _least(bound, error)


def equation17(
    *, n_categories: int, beta: float, error: float, rho: float, delta2_squared: float
) -> tuple[float, float]:
    """(17): the orders of N that the posterior draw and the Gaussian mechanism take; the first is the larger.

    Claimed for error < 1; the second is twice the Gaussian's order.
    """
    log = math.log(2 * n_categories / beta)
    dirichlet = log / error**2 + n_categories * delta2_squared / (rho * error)
    return dirichlet, 2 * math.sqrt(log * delta2_squared / (rho * error**2))


def appendix_d_bias(
    share: float, *, n_observations: float, r: float, alpha: float, n_categories: int
) -> Bound:
    """Appendix D: the bias |E Y_i - p_i| of Dirichlet(r x + alpha) for an entry with the given share."""
    total = r * n_observations + n_categories * alpha
    value = abs((r * n_observations * share + alpha) / total - share)
    return Bound(theorem="Ponnoprat, section 4.2 and Appendix D", value=value)


def _least(bound: Callable[[int], float], error: float) -> int:
    if not error > 0:
        raise ParameterError(f"error must be > 0; got {error!r}")
    high = 1
    while bound(high) >= error:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if bound(middle) < error:
            high = middle
        else:
            low = middle
    return high
