"""Benvenuti et al.: Figures 1 to 4 and Table 1."""

import math

import numpy as np
import plotly.graph_objects as go

from benchmarks.papers import taxi
from benchmarks.papers.comparison import entry
from benchmarks.papers.style import BLUE, GREEN, GREY, ORANGE, RED, figure, line
from dpmarkov.chain import MarkovChain
from dpmarkov.chain.gth import stationary_vectors
from dpmarkov.papers import benvenuti
from dpmarkov.papers import benvenuti_utility as utility
from dpmarkov.papers.omega import outside, vertex
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.calibrate import calibrate
from dpmarkov.privacy.unit import Destination
from dpmarkov.utility.bounds import expected_bound, first_order, realised_bound

GRADES = {"eta": 0.073, "n_entries": 98, "n_categories": 5, "gamma": 0.0004}
GRADE_COUNTS = (35, 27, 18, 10, 8)
"""Ours: the paper's counts are not printed. N = 98, least share .0816 >= eta = .073."""


def figure1() -> go.Figure:
    """KL of private grades over epsilon: 2,000 draws for each k, Theorem 2, Corollary 1 both ways."""
    rng = np.random.default_rng(1)
    shares = np.array(GRADE_COUNTS) / 98
    grid = np.arange(20.6, 111, 5.0)
    epsilon = [benvenuti.theorem1(k=float(k), **GRADES, certified=True).epsilon for k in grid]
    mean, spread = [], []
    for k in grid:
        kl = (shares * np.log(shares / rng.dirichlet(k * shares, 2000))).sum(axis=1)
        mean.append(kl.mean())
        spread.append(1.96 * kl.std() / math.sqrt(2000))
    made = figure("epsilon of Theorem 1", "E KL(C || C~)")
    line(made, epsilon, mean, "measured (95 % interval)", BLUE, error=spread)
    line(made, epsilon, [utility.theorem2(shares.tolist(), float(k)).value for k in grid], "Theorem 2", GREEN)
    line(
        made,
        epsilon,
        [utility.corollary1(k=float(k), n_entries=98, n_categories=5).value for k in grid],
        "Corollary 1",
        ORANGE,
    )
    floor = [utility.corollary1_floor(k=float(k), eta=0.073, n_categories=5).value for k in grid]
    line(made, epsilon, floor, "Corollary 1 with the public eta", ORANGE, dash="dot")
    return made


def table1() -> list[list[str]]:
    """The smallest epsilon for a number of zones: the paper's, and ours on the sample. Not private."""
    printed = {
        63: "45.39",
        60: "45.39",
        55: "19.82",
        50: "4.690",
        45: "4.690",
        40: "3.730",
        35: "3.078",
        30: "3.078",
    }
    rows = []
    for n in (63, 60, 55, 50, 45, 40, 35, 30, 25, 20, 15):
        counts = taxi.combined_by_the_data(n)
        if counts.min() == 0:
            found = "none: a cell is empty, so eta = 0 and no epsilon exists"
        else:
            eta, total = counts.min(axis=1) / counts.sum(axis=1), counts.sum(axis=1)
            pairs = [
                benvenuti.smallest_epsilon(eta=float(e), n_entries=int(t), n_categories=n, gamma=1e-8)
                for e, t in zip(eta, total, strict=True)
            ]
            found = f"{max(pairs):.3g}"
        rows.append([str(n), printed.get(n, "-"), found])
    return rows


def _draws(p: np.ndarray, k: np.ndarray, times: int, rng: np.random.Generator) -> np.ndarray:
    x = rng.standard_gamma(np.broadcast_to(p * k[:, None], (times, *p.shape)))
    return x / x.sum(axis=2, keepdims=True)


def figures23(times: int = 400) -> tuple[go.Figure, go.Figure, list[list[str]]]:
    """The stationary distribution and its error over epsilon, neighbourhoods by the public rule.

    The mechanism is the paper's, with eta read off the data as in the paper: its epsilon is *not* a
    guarantee. Beside it, the floor form of dpmarkov at its exact, unconditional guarantee.
    """
    rng = np.random.default_rng(3)
    names, counts = taxi.public_chain()
    counts = np.maximum(counts, 1)
    n_entries = counts.sum(axis=1)
    p = counts / n_entries[:, None]
    chain = MarkovChain(p)
    pi = chain.stationary_distribution
    eta = p.min(axis=1)
    n = len(p)
    factors = np.arange(1.0, 3.01, 0.2)
    epsilon, mean, spread, first, bound, paper, at_delta = ([] for _ in range(7))
    realised = []
    shown = {}
    for factor in factors:
        k = factor * 1.5 / eta
        rows = [
            benvenuti.theorem1(
                k=float(k[i]),
                eta=float(eta[i]),
                n_entries=int(n_entries[i]),
                n_categories=n,
                gamma=1e-8,
                certified=True,
            )
            for i in range(n)
        ]
        claim = benvenuti.theorem3(rows)
        epsilon.append(claim.epsilon)
        at_delta.append(
            max(
                entry(float(k[i]), float(eta[i]), 1 / int(n_entries[i])).epsilon(claim.delta)
                for i in range(n)
            )
        )
        x = _draws(p, k, times, rng)
        private = stationary_vectors(x)
        tv = np.abs(private - pi).sum(axis=1) / 2
        mean.append(tv.mean())
        spread.append(1.96 * tv.std() / math.sqrt(times))
        first.append(first_order(chain, k).total_variation)
        bound.append(expected_bound(chain, k))
        paper.append(utility.theorem4_as_printed(p, k.tolist(), n_entries.tolist()).value)
        for at in range(5):
            errors = np.abs(x[at] - p).sum(axis=1)
            realised.append(realised_bound(MarkovChain(x[at]), errors, weights=pi) / tv[at])
        if factor in (1.0, factors[5], factors[-1]):
            shown[claim.epsilon] = private.mean(axis=0), private.std(axis=0)
    bars = figure("", "long-run share", height=520)
    bars.update_layout(legend={"orientation": "h", "y": 1.1, "x": 0}, margin={"b": 170})
    bars.update_xaxes(tickangle=-45)
    bars.add_bar(x=names, y=pi, name="not private", marker_color=GREY)
    for (value, (average, deviation)), colour in zip(shown.items(), (RED, ORANGE, BLUE), strict=True):
        bars.add_bar(
            x=names,
            y=average,
            error_y={"array": deviation},
            name=f"claimed epsilon = {value:.3g}",
            marker_color=colour,
        )
    errors = figure("claimed epsilon (eta from the data: not a guarantee)", "E TV(pi, pi~)", log_y=True)
    line(errors, epsilon, mean, f"measured, {times} draws (95 % interval)", BLUE, error=spread)
    line(errors, epsilon, first, "first-order prediction", GREEN)
    line(errors, epsilon, bound, "a-priori bound (dpmarkov.utility)", ORANGE)
    line(errors, epsilon, paper, "Theorem 4 as printed", RED, dash="dot")
    ratio = lambda values: f"{min(np.divide(values, mean)):.2f} to {max(np.divide(values, mean)):.2f}"  # noqa: E731
    rows = [
        ["first-order prediction / measured", ratio(first)],
        ["a-priori bound / measured", ratio(bound)],
        ["realised bound / measured, one release at a time", f"{min(realised):.2f} to {max(realised):.2f}"],
        ["Theorem 4 as printed / measured", ratio(paper)],
        ["claimed epsilon, smallest k", f"{epsilon[0]:.3g}"],
        ["same mechanism, exact epsilon at the claimed delta, were eta public", f"{at_delta[0]:.3g}"],
        *_floor_form(counts, chain, rng, times),
    ]
    return bars, errors, rows


def _floor_form(
    counts: np.ndarray, chain: MarkovChain, rng: np.random.Generator, times: int
) -> list[list[str]]:
    """The floor form at (1, 1e-6): unconditional, whatever the data."""
    rows = []
    for floor in (1.0, 10.0, 50.0):
        weight = float(calibrate(Destination(), Budget(epsilon=1.0, delta=1e-6), floor))
        shapes = np.maximum(weight * counts, floor)
        totals = shapes.sum(axis=1)
        means = shapes / totals[:, None]
        x = stationary_vectors(_draws(means, totals, times, rng))
        tv = np.abs(x - chain.stationary_distribution).sum(axis=1).mean() / 2
        bias = float(np.abs(means - chain.dense()).sum(axis=1).max())
        bound = expected_bound(chain, totals, bias=bias)
        rows.append(
            [
                f"floor form, floor {floor:g}, (1, 1e-6) for one destination, no assumption: E TV",
                f"{tv:.4f} (a-priori bound with bias {bound:.3f})",
            ]
        )
    return rows


def figure4() -> go.Figure:
    """Relative error of delta by Monte Carlo over the number of samples, 200 runs each."""
    rng = np.random.default_rng(4)
    made = figure("samples", "mean relative error of delta", log_x=True, log_y=True)
    for gamma, colour in ((4e-4, BLUE), (1e-6, ORANGE)):
        shapes = vertex(20.6, 0.073, 4)
        exact = outside(shapes, gamma)
        sizes, error = (1_000, 10_000, 100_000, 1_000_000), []
        for size in sizes:
            # Whether a draw falls outside is a coin of probability delta: its count is binomial.
            hits = rng.binomial(size, exact, 200) / size
            error.append(np.abs(hits / exact - 1).mean())
        line(made, sizes, error, f"gamma = {gamma:g}, delta = {exact:.3g}", colour, error=[0.0] * 4)
    return made
