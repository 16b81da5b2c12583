"""Fallin et al.: Figures 1 and 2 on a road network of our own: 32 crossings, known zeros."""

import numpy as np
import plotly.graph_objects as go

from benchmarks.papers.comparison import entry
from benchmarks.papers.style import BLUE, GREEN, GREY, ORANGE, RED, figure, line
from dpmarkov.chain import MarkovChain
from dpmarkov.chain.gth import stationary_vectors
from dpmarkov.papers import fallin
from dpmarkov.utility.bounds import expected_bound, first_order

N = 32


def network() -> np.ndarray:
    """A ring road with cross streets: three ways out of each crossing, each at least .1 (the last .051)."""
    rng = np.random.default_rng(32)
    p = np.zeros((N, N))
    for i in range(N):
        ways = [(i + 1) % N, (i - 1) % N, (i + 5 + 3 * (i % 4)) % N]
        shares = rng.dirichlet([3, 2, 1.5])
        shares = np.array([0.1, 0.1, 0.06]) + (1 - 0.26) * shares
        p[i, ways] = shares
    return p


def private(p: np.ndarray, k: float, times: int, rng: np.random.Generator) -> np.ndarray:
    """`times` draws of the Matrix Dirichlet Mechanism, zeros kept."""
    x = rng.standard_gamma(np.broadcast_to(k * p, (times, *p.shape)))
    return x / x.sum(axis=2, keepdims=True)


def figure1() -> go.Figure:
    """A walk of 10 steps under P and under private matrices with k = 9.87 and 98.7, from the same luck."""
    rng = np.random.default_rng(1)
    p = network()
    luck = rng.random(10)
    made = figure("step", "crossing")
    matrices = (
        ("no privacy", p, BLUE),
        ("k = 98.7", private(p, 98.7, 1, rng)[0], GREEN),
        ("k = 9.87", private(p, 9.87, 1, rng)[0], ORANGE),
    )
    for name, matrix, colour in matrices:
        path = [0]
        for u in luck:
            path.append(int(min(np.searchsorted(np.cumsum(matrix[path[-1]]), u), N - 1)))
        line(made, range(11), path, name, colour, error=[0] * 11)
    return made


def figure2(times: int = 2000) -> tuple[go.Figure, go.Figure, list[list[str]]]:
    """The stationary distribution's L1 error over epsilon, with bounds; and what the budget really is."""
    rng = np.random.default_rng(2)
    p = network()
    chain = MarkovChain(p)
    pi = chain.stationary_distribution
    z = np.linalg.inv(np.eye(N) - p - np.outer(np.ones(N), pi))
    grid = np.geomspace(10, 200, 10)
    epsilon, mean, spread, of_mean, first, bound, paper, valid, one, every = ([] for _ in range(10))
    for k in grid:
        claim = fallin.theorem1_one_row(
            k=k, eta=0.1, eta_bar=0.051, b=0.025, n_watched=[2] * N, gamma=[0.001] * N
        )
        epsilon.append(claim.epsilon)
        x = stationary_vectors(private(p, k, times, rng))
        error = np.abs(x - pi).sum(axis=1)
        mean.append(error.mean())
        spread.append(1.96 * error.std() / np.sqrt(times))
        of_mean.append(np.abs(x.mean(axis=0) - pi).sum())
        first.append(2 * first_order(chain, k).total_variation)
        bound.append(2 * expected_bound(chain, k))
        paper.append(fallin.theorem3_as_printed(z, k=k, eta=0.1, eta_bar=0.051, n_watched=[2] * N).value)
        valid.append(fallin.theorem3(z, k).value)
        one.append(entry(k, 0.1, 0.0125).epsilon(0.011))
        every.append(entry(k, 0.1, 0.0125, N).epsilon(0.011))
    made = figure("epsilon of Theorem 1", "E |pi - pi~|_1", log_y=True)
    line(made, epsilon, mean, f"measured, {times:,} draws (95 % interval)", BLUE, error=spread)
    line(made, epsilon, of_mean, "|pi - mean of pi~|_1", GREY, dash="dot")
    line(made, epsilon, first, "first-order prediction", GREEN)
    line(made, epsilon, bound, "a-priori bound (dpmarkov.utility)", ORANGE)
    line(made, epsilon, valid, "Theorem 3, repaired", RED, dash="dash")
    line(made, epsilon, paper, "Theorem 3 as printed", RED, dash="dot")
    budget = figure("epsilon of Theorem 1", "exact epsilon at delta = .011", log_y=True)
    line(budget, epsilon, epsilon, "as claimed", GREY, dash="dot")
    line(budget, epsilon, one, "one row differs: exact", GREEN)
    line(budget, epsilon, every, "all 32 rows differ (Definition 4): exact", ORANGE)
    ratios = [
        ["first order / measured", f"{min(np.divide(first, mean)):.2f} to {max(np.divide(first, mean)):.2f}"],
        [
            "a-priori bound / measured",
            f"{min(np.divide(bound, mean)):.1f} to {max(np.divide(bound, mean)):.1f}",
        ],
        [
            "Theorem 3 as printed / measured",
            f"{min(np.divide(paper, mean)):.0f} to {max(np.divide(paper, mean)):.0f}",
        ],
    ]
    return made, budget, ratios
