"""Ponnoprat: Figures 1 to 3."""

import math

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from scipy import special

from benchmarks.papers.style import BLUE, GREEN, INK, ORANGE, figure, line
from dpmarkov.papers import ponnoprat
from dpmarkov.papers.ponnoprat_utility import posterior_divergence, theorem4
from dpmarkov.privacy.pairs import BetaPair, GammaPair
from dpmarkov.privacy.profile import Profile

INPUTS = 200


def figure1_left() -> go.Figure:
    """Rho at order 2: actual for the paper's two data sets, and Theorem 1's worst case."""
    x = np.array([11, 8, 65, 25, 38, 0.0])
    y = x + np.array([0, 0, 0, 0, 0, 1.0])
    alphas = np.geomspace(1.1, 60, 40)
    actual = []
    for alpha in alphas:
        u, v = x + alpha, y + alpha
        beta = [special.gammaln(w).sum() - special.gammaln(w.sum()) for w in (u, v, 2 * u - v)]
        actual.append((beta[2] + beta[1] - 2 * beta[0]) / 2)
    worst = [ponnoprat.theorem1(alpha_m=a, gamma=1.0, delta2_squared=1.0).rho for a in alphas]
    made = figure("prior alpha", "rho", log_x=True, log_y=True)
    line(made, alphas, actual, "actual, D_2(P || P')/2", BLUE)
    line(made, alphas, worst, "Theorem 1, gamma = 1", ORANGE)
    return made


def figure1_right() -> go.Figure:
    """delta(epsilon) by Theorem 2 and exactly, for three priors, replace-one and add/remove."""
    made = figure("epsilon", "delta", log_y=True)
    deltas = np.geomspace(1e-12, 1e-1, 25)
    for alpha, dash in ((1.0, "dot"), (5.0, "dash"), (50.0, "solid")):
        claims = [
            ponnoprat.theorem2(alpha_m=alpha, delta=float(d), delta2_squared=2.0).epsilon for d in deltas
        ]
        line(made, claims, deltas, f"Theorem 2, alpha = {alpha:g}", ORANGE, dash=dash)
        for pair, name, colour in ((BetaPair, "replace-one", GREEN), (GammaPair, "add/remove", BLUE)):
            profile = Profile(((pair(alpha=alpha, weight=1.0),),))
            exact = [profile.epsilon(float(d)) for d in deltas]
            line(made, exact, deltas, f"exact, {name}, alpha = {alpha:g}", colour, dash=dash)
    made.update_xaxes(range=[0, 40])
    made.update_yaxes(dtick=2)
    return made


def figure2() -> go.Figure:
    """Largest error of a histogram, posterior draw against Gaussian noise: 200 inputs."""
    rng = np.random.default_rng(2)
    made = make_subplots(rows=1, cols=3, subplot_titles=["d = 10", "d = 100", "d = 1000"])
    sizes = np.unique(np.round(np.geomspace(20, 20_000, 9)).astype(int))
    for column, d in enumerate((10, 100, 1000), start=1):
        for rho, dash in ((0.1, "solid"), (1.0, "dash")):
            alpha = ponnoprat.prior_for_rho(rho, gamma=1.0, delta2_squared=2.0)
            error: dict[str, list[tuple[float, float]]] = {"posterior draw": [], "Gaussian noise": []}
            for n in sizes:
                q = rng.dirichlet(np.full(d, 5.0), INPUTS)
                x = np.stack([rng.multinomial(n, row) for row in q]).astype(float)
                y = rng.standard_gamma(x + alpha)
                y /= y.sum(axis=1, keepdims=True)
                noisy = x / n + rng.normal(0, math.sqrt(2 / (2 * rho)) / n, x.shape)
                for name, out in (("posterior draw", y), ("Gaussian noise", noisy)):
                    worst = np.abs(out - x / n).max(axis=1)
                    error[name].append((worst.mean(), 2 * worst.std()))
            for name, colour in (("posterior draw", BLUE), ("Gaussian noise", ORANGE)):
                mean, spread = np.array(error[name]).T
                made.add_scatter(
                    x=sizes,
                    y=mean,
                    error_y={"array": spread, "arrayminus": np.minimum(spread, 0.9 * mean), "thickness": 1},
                    name=f"{name}, rho = {rho:g}",
                    line={"color": colour, "dash": dash},
                    mode="lines",
                    row=1,
                    col=column,
                    showlegend=column == 1,
                )
            bound = [theorem4(n_observations=int(n), prior=[alpha] * d, beta=0.05).value for n in sizes]
            made.add_scatter(
                x=sizes,
                y=bound,
                name=f"Theorem 4, 95 %, rho = {rho:g}",
                line={"color": INK, "dash": dash, "width": 1},
                mode="lines",
                row=1,
                col=column,
                showlegend=column == 1,
            )
    made.update_xaxes(type="log", title="N")
    made.update_yaxes(type="log", exponentformat="power")
    made.update_yaxes(title="largest error", col=1, row=1)
    made.update_layout(
        height=420, template="plotly_white", legend={"orientation": "h", "y": -0.25}, margin={"t": 40}
    )
    return made


def figure3() -> go.Figure:
    """KL between posteriors: larger prior against Gaussian noise on the counts (Appendix C), 200 inputs."""
    rng = np.random.default_rng(3)
    d = 10
    made = make_subplots(rows=1, cols=3, subplot_titles=[f"eta = {e:g}" for e in (0.1, 1, 10)])
    sizes = np.unique(np.round(np.geomspace(50, 50_000, 8)).astype(int))
    for column, eta in enumerate((0.1, 1.0, 10.0), start=1):
        for rho, dash in ((0.01, "dot"), (0.1, "dash"), (1.0, "solid")):
            alpha = ponnoprat.prior_for_rho(rho, gamma=2.0, delta2_squared=2.0)
            both: dict[str, list[tuple[float, float]]] = {"larger prior": [], "noisy counts": []}
            for n in sizes:
                q = rng.dirichlet(np.full(d, eta), INPUTS)
                x = np.stack([rng.multinomial(n, row / row.sum()) for row in q]).astype(float)
                noisy = np.maximum(x + rng.normal(0, math.sqrt(1 / rho), x.shape), 0)
                for name, private in (("larger prior", x + alpha), ("noisy counts", noisy + 1)):
                    kl = posterior_divergence(x + 1, private)
                    both[name].append((kl.mean(), 2 * kl.std()))
            for name, colour in (("larger prior", BLUE), ("noisy counts", ORANGE)):
                mean, spread = np.array(both[name]).T
                made.add_scatter(
                    x=sizes,
                    y=mean,
                    error_y={"array": spread, "arrayminus": np.minimum(spread, 0.9 * mean), "thickness": 1},
                    name=f"{name}, rho = {rho:g}",
                    line={"color": colour, "dash": dash},
                    mode="lines",
                    row=1,
                    col=column,
                    showlegend=column == 1,
                )
    made.update_xaxes(type="log", title="N")
    made.update_yaxes(type="log", exponentformat="power")
    made.update_yaxes(title="KL of the posteriors", col=1, row=1)
    made.update_layout(
        height=420, template="plotly_white", legend={"orientation": "h", "y": -0.25}, margin={"t": 40}
    )
    return made
