"""delta for n = 63 categories: exact, certified, and by a million samples; ratios within one run."""

import math
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from dpmarkov.papers.omega import outside, outside_bound, vertex

K, ETA, N = 3 / (2 * 0.004), 0.004, 63
SAMPLES = 1_000_000


def seconds(run: Callable[[], object], times: int) -> float:
    """The median of a few runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return sorted(taken)[times // 2]


def table() -> list[list[str]]:
    """Rows: gamma, exact, certified, Monte Carlo with a 95 % Clopper-Pearson interval, and what each took."""
    shapes = vertex(K, ETA, N - 1)
    general = (K * np.random.default_rng(0).dirichlet(np.full(N, 30.0))).tolist()
    rows = []
    sampled = None
    rng = np.random.default_rng(5)
    for gamma in (1e-8, 1e-5, 1e-4):
        exact_time = seconds(lambda g=gamma: outside(shapes, g), 5)
        bound_time = seconds(lambda g=gamma: outside_bound(shapes, g), 21)
        start = time.perf_counter()
        hits = 0
        for _ in range(SAMPLES // 50_000):
            hits += int((rng.dirichlet(shapes, 50_000) < gamma).any(axis=1).sum())
        sampled = time.perf_counter() - start
        low = 0.0 if hits == 0 else float(stats.beta.ppf(0.025, hits, SAMPLES - hits + 1))
        high = float(stats.beta.ppf(0.975, hits + 1, SAMPLES - hits))
        rows.append(
            [
                f"{gamma:g}",
                f"{outside(shapes, gamma):.14g} in {exact_time * 1e3:.2f} ms",
                f"{outside_bound(shapes, gamma):.6g} in {bound_time * 1e3:.3f} ms",
                f"{hits / SAMPLES:.3g} [{low:.3g}, {high:.3g}] in {sampled:.1f} s",
                f"{sampled / exact_time:,.0f} and {sampled / bound_time:,.0f} times faster",
            ]
        )
    distinct = seconds(lambda: outside(general, 1e-4), 3)
    rows.append(
        ["1e-4, 63 distinct shares", f"{outside(general, 1e-4):.14g} in {distinct * 1e3:.0f} ms", "", "", ""]
    )
    if not math.isfinite(sampled or 0.0):
        raise RuntimeError("no time was measured")
    return rows
