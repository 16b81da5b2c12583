"""Other people's mechanisms, calibrated as they are meant to be, and the papers'."""

import functools
import math
import sys
import types
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from benchmarks.accuracy.datasets import DataSet
from dpmarkov.errors import ParameterError
from dpmarkov.papers import benvenuti, ponnoprat
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.tails import log_delta_beta

Array = npt.NDArray[np.float64]
Rng = np.random.Generator
Draw = Callable[[Rng], Array]

SMALL = 5000
"""Up to so many cells the peers' own samplers are run; above, the same law from numpy."""


def clipped(noisy: npt.NDArray[np.generic]) -> Array:
    """Negative counts become zero, rows are scaled to one; an empty row becomes uniform."""
    kept = np.maximum(noisy, 0).astype(float)
    totals = kept.sum(axis=1, keepdims=True)
    return np.where(totals > 0, kept / np.where(totals > 0, totals, 1), 1 / kept.shape[1])


def opendp_scale(kind: str, sensitivity: float, budget: Budget) -> float:
    """The scale that OpenDP's own map and search give for a sensitivity and a budget."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if kind == "laplace":
        return float(
            dp.binary_search_param(
                lambda scale: dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale),
                d_in=int(sensitivity),
                d_out=budget.epsilon,
            )
        )

    def made(scale: float) -> object:
        gaussian = dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian), delta=budget.delta)

    return float(dp.binary_search_param(made, d_in=sensitivity, d_out=(budget.epsilon, budget.delta)))


@functools.cache
def _diffprivlib() -> type:
    """Geometric of diffprivlib. Its package asks for an older scikit-learn than there is, for other parts."""
    for part in ("models", "tools"):
        sys.modules.setdefault(f"diffprivlib.{part}", types.ModuleType(f"diffprivlib.{part}"))
    from diffprivlib.mechanisms import Geometric

    return Geometric  # type: ignore[no-any-return]


def diffprivlib_geometric(data: DataSet, budget: Budget, sensitivity: int) -> Draw | None:
    """Geometric of diffprivlib on each count, clipped."""
    if data.matrix.size > SMALL:
        return None
    mechanism = _diffprivlib()(epsilon=budget.epsilon, sensitivity=sensitivity)

    def draw(rng: Rng) -> Array:
        noisy = [mechanism.randomise(int(value)) for value in data.matrix.ravel()]
        return clipped(np.array(noisy).reshape(data.matrix.shape))

    return draw


def spark_style(data: DataSet, budget: Budget, sensitivity: int) -> Draw:
    """Grouped counts over a declared key set, two-sided geometric noise from uniforms, negatives to zero."""
    import pandas as pd

    n, m = data.matrix.shape
    keys = pd.MultiIndex.from_product([range(n), range(m)], names=["from", "to"])
    counts = pd.Series(data.matrix.ravel(), index=keys, name="count")
    decay = -budget.epsilon / sensitivity

    def draw(rng: Rng) -> Array:
        one = np.floor(np.log1p(-rng.random(counts.size)) / decay)
        other = np.floor(np.log1p(-rng.random(counts.size)) / decay)
        noisy = (counts + one - other).clip(lower=0)
        return clipped(noisy.unstack("to").to_numpy())

    return draw


def dirichlet_rows(parameters: Array) -> Draw:
    """One Dirichlet draw a row; parameters may be small."""

    def draw(rng: Rng) -> Array:
        logs = np.log(rng.standard_gamma(parameters + 1)) + np.log(rng.random(parameters.shape)) / parameters
        values = np.exp(logs - logs.max(axis=1, keepdims=True))
        return values / values.sum(axis=1, keepdims=True)

    return draw


def ponnoprat_draws(data: DataSet, budget: Budget, moves: bool) -> dict[float, Draw]:
    """Posterior sampling with the scale r that Theorem 2 allows, for several priors."""
    draws = {}
    for alpha in (1.0, 5.0, 20.0, 100.0):
        low, high = 1e-6, 100.0
        for _ in range(45):
            r = math.sqrt(low * high)
            claim = ponnoprat.theorem2(
                alpha_m=alpha, delta=budget.delta, delta2_squared=2.0 if moves else 1.0, r=r
            )
            low, high = (r, high) if claim.epsilon <= budget.epsilon else (low, r)
        draws[alpha] = dirichlet_rows(low * data.matrix + alpha)
    return draws


def benvenuti_paper(data: DataSet, budget: Budget) -> tuple[Draw, float] | None:
    """Algorithm 2 with the paper's accounting, and the epsilon that it claims.

    The border of each row is its least share, as in the paper (which the guarantee does not allow). gamma is
    what makes delta of the row the budget's. k is the largest for the budget's epsilon, or the least that
    Assumption 4 allows where that costs more. None where a count is zero.
    """
    if data.matrix.min() < 1:
        return None
    worst, parameters = 0.0, []
    for row in data.matrix:
        total, n = int(row.sum()), row.size
        eta = float(row.min() / total)
        if not eta < 1 / n:
            return None
        k, claim = _largest_k(eta, total, n, budget)
        worst = max(worst, claim)
        parameters.append(k * row / total)
    return dirichlet_rows(np.array(parameters)), worst


def _largest_k(eta: float, total: int, n: int, budget: Budget) -> tuple[float, float]:
    def epsilon(k: float) -> float:
        gamma = _gamma_for(k, eta, n, budget.delta)
        claim = benvenuti.theorem1(k=k, eta=eta, n_entries=total, n_categories=n, gamma=gamma, certified=True)
        return claim.epsilon

    low = benvenuti.smallest_k(eta)
    if epsilon(low) > budget.epsilon:
        return low, epsilon(low)
    high = low
    while epsilon(2 * high) <= budget.epsilon:
        high *= 2
    low, high = high, 2 * high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if epsilon(middle) <= budget.epsilon else (low, middle)
    return low, epsilon(low)


def _gamma_for(k: float, eta: float, n: int, delta: float) -> float:
    """The largest gamma with delta at most the budget's."""
    low, high = 1e-30, 0.5 / n
    for _ in range(50):
        middle = math.sqrt(low * high)
        try:
            claim = benvenuti.theorem1(
                k=k, eta=eta, n_entries=1000, n_categories=n, gamma=middle, certified=True
            )
            fits = claim.delta <= delta
        except ParameterError:
            fits = False
        low, high = (middle, high) if fits else (low, middle)
    return low


def benvenuti_exact(data: DataSet, budget: Budget) -> Draw | None:
    """The same mechanism under the same assumption, with exact accounting (Theorem A, row by row)."""
    if data.matrix.min() < 1:
        return None
    totals, least = data.matrix.sum(axis=1), data.matrix.min(axis=1).astype(float)
    low, high = np.full(totals.size, -30.0), np.full(totals.size, 10.0)
    for _ in range(50):
        weight = np.exp((low + high) / 2)
        fits = log_delta_beta(weight * least, weight, budget.epsilon) <= math.log(budget.delta)
        low, high = np.where(fits, (low + high) / 2, low), np.where(fits, high, (low + high) / 2)
    return dirichlet_rows(np.exp(low)[:, None] * data.matrix)
