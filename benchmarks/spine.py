"""The spine: speed against bare tools, memory, accuracy on taxi data. `python -m benchmarks.spine`."""

import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np

import dpmarkov as dpm
from benchmarks.data import counts_of, taxi_65

BUDGET = dpm.Budget(epsilon=1, delta=1e-6)
UNITS = {
    "destination": dpm.Destination(),
    "event, add_remove": dpm.Event(),
    "event, replace": dpm.Event(relation="replace"),
}


def side_by_side(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """The median seconds of two jobs that take turns, so that both meet the same machine."""
    spent: list[list[float]] = [[], []]
    for _ in range(9):
        for job, times in zip((first, second), spent, strict=True):
            start = time.perf_counter()
            job()
            times.append(time.perf_counter() - start)
    return statistics.median(spent[0]), statistics.median(spent[1])


def speed(events: int = 10_000_000, n: int = 263) -> None:
    """Count and release, beside a bare GROUP BY plus a bare numpy gamma draw."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "events.parquet")
        duckdb.sql("SELECT setseed(0.5)")
        duckdb.sql(
            f"COPY (SELECT (random() ** 3 * {n})::INT % {n} + 1 AS a, "
            f"(random() ** 3 * {n})::INT % {n} + 1 AS b FROM range({events})) TO '{path}' (FORMAT parquet)"
        )
        space = dpm.StateSpace.range(1, n + 1)
        rng = np.random.default_rng(0)

        def bare() -> None:
            table = duckdb.sql(f"SELECT a, b, count(*) AS n FROM '{path}' GROUP BY ALL").fetchnumpy()
            matrix = np.zeros((n, n))
            matrix[table["a"] - 1, table["b"] - 1] = table["n"]
            draw = rng.standard_gamma(matrix + 1)
            draw /= draw.sum(axis=1, keepdims=True)

        def ours() -> None:
            counts = dpm.count(path, source="a", target="b", states=space)
            dpm.release(counts, unit=dpm.Event(), budget=BUDGET, mechanism="dirichlet")

        ours()
        theirs, spent = side_by_side(bare, ours)
        print(f"{events:,} events, {n} states: bare {theirs:.3f} s, dpmarkov {spent:.3f} s")
        print(f"  ratio {spent / theirs:.2f}")


def memory(n: int = 2000) -> None:
    """The peak of a dense release of n states, in a process of its own, above what the imports take."""
    code = (
        "import resource, numpy as np, dpmarkov as dpm, dpmarkov.releases\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        f"n = {n}; before = peak()\n"
        "layout = dpm.Layout.square(dpm.StateSpace.range(0, n))\n"
        "counts = dpm.TransitionCounts(layout, np.full(n * n, 7))\n"
        "budget = dpm.Budget(epsilon=1, delta=1e-6)\n"
        "dpm.release(counts, unit=dpm.Event(), budget=budget, mechanism='dirichlet')\n"
        "print(f'{before:.0f} {peak():.0f}')\n"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = done.stdout.split()
    spent = time.perf_counter() - start
    print(
        f"{n} states dense: peak {after} MiB, of which {before} MiB are imports; {spent:.1f} s with imports"
    )


def accuracy(repeats: int = 20) -> None:
    """Row and stationary error on taxi-65 (zones chosen from the data: *not private*), by unit."""
    states, matrix = taxi_65()
    counts = counts_of(states, matrix)
    true = (matrix + 0.0) / matrix.sum(axis=1, keepdims=True)
    stationary = dpm.MarkovChain(true).stationary_distribution
    print(f"\ntaxi-65 at {BUDGET}, mean of {repeats} releases, +- two standard errors")
    for name, unit in UNITS.items():
        for mechanism in ("dirichlet", "auto"):
            errors = []
            for _ in range(repeats):
                made = dpm.release(counts, unit=unit, budget=BUDGET, mechanism=mechanism, expected_events=3e5)
                errors.append(errors_of(made.transition_matrix, true, stationary))
            print(f"  {name:18} {spread(errors)}  ({mechanism}: {made.mechanism['name']})")
    papers(true, matrix, stationary, repeats)


def errors_of(private: np.ndarray, true: np.ndarray, stationary: np.ndarray) -> tuple[float, float]:
    """Stationary-weighted row error and stationary error, both in total variation."""
    rows = stationary @ np.abs(private - true).sum(axis=1) / 2
    long_run = np.abs(dpm.MarkovChain(private).stationary_distribution - stationary).sum() / 2
    return float(rows), float(long_run)


def spread(errors: list[tuple[float, float]]) -> str:
    """Mean and two standard errors of both."""
    table = np.array(errors)
    mean, half = table.mean(axis=0), 2 * table.std(axis=0, ddof=1) / math.sqrt(len(table))
    return f"row error {mean[0]:.4f} +- {half[0]:.4f}, stationary {mean[1]:.5f} +- {half[1]:.5f}"


def papers(true: np.ndarray, matrix: np.ndarray, stationary: np.ndarray, repeats: int) -> None:
    """Benvenuti et al.'s mechanism and formula on the same data, as they use them.

    Empty cells count as one event, so that their condition holds, and eta is read off the data as they do:
    what follows is *not private*. Each row takes the least concentration that they allow, k = 3/(2 eta).
    """
    from dpmarkov.papers import benvenuti

    lifted = np.maximum(matrix, 1)
    totals = lifted.sum(axis=1)
    eta = lifted.min(axis=1) / totals
    k = np.array([benvenuti.smallest_k(e) for e in eta])
    claims = []
    for k_i, eta_i, total in zip(k.tolist(), eta.tolist(), totals.tolist(), strict=True):
        claim = None
        for gamma in np.geomspace(eta_i, 1e-12, 60):
            claim = benvenuti.theorem1(
                k=k_i, eta=eta_i, n_entries=total, n_categories=65, gamma=float(gamma), certified=True
            )
            if claim.delta <= BUDGET.delta:
                break
        claims.append(claim)
    errors = []
    rng = np.random.default_rng(1)
    for _ in range(repeats):
        draw = rng.standard_gamma(k[:, None] * lifted / totals[:, None])
        errors.append(errors_of(draw / draw.sum(axis=1, keepdims=True), true, stationary))
    worst = max(claim.epsilon for claim in claims)
    print(f"  {'Benvenuti et al.':18} {spread(errors)}  (their formula: epsilon {worst:.3g}; not private)")


if __name__ == "__main__":
    speed()
    memory()
    accuracy()
    print(f"\npeak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
