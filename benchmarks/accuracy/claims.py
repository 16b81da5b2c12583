"""The papers' accounting against the exact one, for the papers' own mechanism."""

import math

import numpy as np

from benchmarks.accuracy.datasets import load
from benchmarks.accuracy.measures import Truth
from benchmarks.accuracy.peers import benvenuti_exact, benvenuti_paper
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.tails import log_delta_beta

DELTA = 1e-6


def dirichlet_claims() -> list[str]:
    """The ratio of epsilon at the same delta, and of the error at the same epsilon; one line a data set."""
    lines = ["", "Benvenuti et al.'s mechanism: its own accounting against exact accounting, delta = 1e-06"]
    for name in ("taxi-40", "grades"):
        data = load(name, 1.0)
        # The least epsilon that the paper's accounting reaches at this delta.
        paper = benvenuti_paper(data, Budget(epsilon=1e-3, delta=DELTA))
        if paper is None:
            continue
        draw, claimed = paper
        exact = _exact_epsilon(data.matrix)
        same = benvenuti_exact(data, Budget(epsilon=claimed, delta=DELTA))
        truth, rng = Truth(data.matrix, data.is_chain), np.random.default_rng(3)
        measure = 0 if data.is_chain else 1
        theirs = np.mean([truth.errors(draw(rng))[measure] for _ in range(40)])
        ours = (
            np.mean([truth.errors(same(rng))[measure] for _ in range(40)]) if same is not None else math.nan
        )
        what = "stationary TV" if data.is_chain else "row TV"
        lines.append(
            f"  {name}: claimed epsilon {claimed:.3g}, exact {exact:.3g} (ratio {claimed / exact:.3g}); "
            f"{what} {theirs:.3g} by its accounting, {ours:.3g} by exact accounting at epsilon {claimed:.3g} "
            f"(ratio {theirs / ours:.3g})"
        )
    return lines


def _exact_epsilon(matrix: np.ndarray) -> float:
    """The exact epsilon of the paper's mechanism at its least k, at the same delta and assumption."""
    worst = 0.0
    for row in matrix:
        eta = row.min() / row.sum()
        k = 3 / (2 * eta)
        low, high = 1e-6, 200.0
        for _ in range(60):
            middle = (low + high) / 2
            log = log_delta_beta(np.array([k * eta]), np.array([k / row.sum()]), middle)
            low, high = (low, middle) if log[0] <= math.log(DELTA) else (middle, high)
        worst = max(worst, high)
    return worst
