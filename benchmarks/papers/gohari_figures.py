"""Gohari et al.: Table I, Figures 1 and 2."""

import numpy as np
import plotly.graph_objects as go

from benchmarks.papers.comparison import entry
from benchmarks.papers.style import BLUE, GREEN, ORANGE, figure, line
from dpmarkov.papers import gohari


def figure1() -> go.Figure:
    """Epsilon by Theorem 1, simplified by Lemma 5, and exact, over delta: |W| = 3, b = .1."""
    made = figure("delta", "epsilon", log_x=True, log_y=True)
    deltas = np.geomspace(1e-4, 0.05, 14)
    for (k, eta, bar), dash in zip(
        ((20, 0.1, 0.1), (30, 0.1, 0.1), (40, 0.05, 0.1)), ("solid", "dash", "dot"), strict=True
    ):
        common = {"k": float(k), "eta": eta, "eta_bar": bar, "b": 0.1, "n_watched": 3}
        gammas = [gohari.equation16(k=k, eta=eta, n_watched=3, delta=float(d)) for d in deltas]
        name = f"k = {k}, eta = {eta}"
        line(
            made,
            deltas,
            [gohari.theorem1_simplified(**common, gamma=g).epsilon for g in gammas],
            f"Lemma 5, {name}",
            ORANGE,
            dash=dash,
        )
        line(
            made,
            deltas,
            [gohari.theorem1(**common, gamma=g).epsilon for g in gammas],
            f"Theorem 1, {name}",
            BLUE,
            dash=dash,
        )
        exact = entry(float(k), eta, 0.05)
        line(made, deltas, [exact.epsilon(float(d)) for d in deltas], f"exact, {name}", GREEN, dash=dash)
    return made


def collections(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """100 vectors P and a neighbour Q: one vector moves its whole mass b/2 = 1/2 between two entries."""
    p = 0.05 + 0.85 * rng.dirichlet([1.2, 1.2, 1.2], 100)
    p[0] = [0.2, 0.2, 0.6]
    q = p.copy()
    q[0] = [0.2, 0.7, 0.1]
    return p, q


def figure2() -> tuple[go.Figure, list[list[str]]]:
    """The collections and the private averages for k = 24 and 10, and Table I."""
    rng = np.random.default_rng(2)
    p, q = collections(rng)
    made = go.Figure()
    for name, data, colour in (("P", p, BLUE), ("Q", q, ORANGE)):
        made.add_scatterternary(
            a=data[:, 0],
            b=data[:, 1],
            c=data[:, 2],
            mode="markers",
            name=f"collection {name}",
            marker={"color": colour, "size": [9] + [4] * 99, "opacity": 0.6},
            subplot="ternary",
        )
        for k, subplot in ((24, "ternary2"), (10, "ternary3")):
            x = rng.dirichlet(k * data.mean(axis=0), 300)
            made.add_scatterternary(
                a=x[:, 0],
                b=x[:, 1],
                c=x[:, 2],
                mode="markers",
                name=f"M(A({name})), k = {k}",
                marker={"color": colour, "size": 4, "opacity": 0.5},
                subplot=subplot,
            )
    third = {
        f"{axis}axis": {"showticklabels": False, "title": number}
        for axis, number in zip("abc", "123", strict=True)
    }
    made.update_layout(
        height=400,
        template="plotly_white",
        margin={"l": 20, "r": 20, "t": 40, "b": 20},
        legend={"orientation": "h", "y": -0.1},
        ternary={"domain": {"x": [0.02, 0.3]}} | third,
        ternary2={"domain": {"x": [0.36, 0.64]}} | third,
        ternary3={"domain": {"x": [0.7, 0.98]}} | third,
        annotations=[
            {"text": text, "x": x, "y": 1.12, "showarrow": False, "xref": "paper", "yref": "paper"}
            for text, x in (
                ("the two collections", 0.16),
                ("private averages, k = 24", 0.5),
                ("k = 10", 0.84),
            )
        ],
    )
    return made, table1(rng)


def table1(rng: np.random.Generator) -> list[list[str]]:
    """Table I with the paper's own averages: moments of 100,000 draws beside (22)."""
    rows = []
    for name, average in (("P", (0.314923, 0.315923, 0.320923)), ("Q", (0.314923, 0.320923, 0.315923))):
        mean = np.array(average) / sum(average)
        x = rng.dirichlet(24 * mean, 100_000)
        rows += [
            [f"A({name}) as printed (sums to {sum(average):.6f})", _vector(average)],
            [f"mean of M(A({name})), 100,000 draws", _vector(x.mean(axis=0))],
            [f"variance of M(A({name})), 100,000 draws", _vector(x.var(axis=0))],
            [f"variance by (22), exactly, for A({name}) normalised", _vector(mean * (1 - mean) / 25)],
        ]
    rows.append(["variance as printed, P", "(0.00934632, 0.00983122, 0.0102117)"])
    return rows


def _vector(values: object) -> str:
    return "(" + ", ".join(f"{v:.6f}" for v in values) + ")"  # type: ignore[attr-defined]
