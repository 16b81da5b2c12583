"""How often do the intervals cover? Known chains, many simulated releases.

Run ``python -m benchmarks.coverage`` (needs ../shared/data; minutes). Each line: a data set and a mechanism,
and for each quantity the share of 95 % intervals that cover the truth, with the half width beside the actual
error of the released value.
"""

import argparse
from dataclasses import replace

import duckdb
import numpy as np

import dpmarkov as dpm
from benchmarks.data import SHARED, taxi_40, taxi_65
from dpmarkov.mechanisms.dirichlet import Dirichlet
from dpmarkov.postprocess import NoiseLaw, estimate_probabilities
from dpmarkov.privacy.calibrate import calibrate
from dpmarkov.utility.uncertainty import QUANTITIES, stationary_error_bars

SCALARS = ("kemeny_constant", "entropy_rate", "spectral_gap")
REPLACE = dpm.Event(relation="replace")


def msnbc():
    """The transitions of the MSNBC data, as an exact matrix."""
    rows = duckdb.sql(
        f"""
        WITH steps AS (
            SELECT page AS a, lead(page) OVER (PARTITION BY "user" ORDER BY pos) AS b
            FROM '{SHARED}/msnbc/views.parquet'
        )
        SELECT a, b, count(*) FROM steps WHERE b IS NOT NULL GROUP BY ALL
        """
    ).fetchall()
    states = sorted({state for a, b, _ in rows for state in (a, b)})
    x = np.zeros((len(states), len(states)), dtype=np.int64)
    for a, b, number in rows:
        x[states.index(a), states.index(b)] = number
    return x


def template(n):
    """A release of `n` states to fill in."""
    layout = dpm.Layout.square(dpm.StateSpace.range(0, n))
    counts = dpm.TransitionCounts.from_matrix(np.ones((n, n), dtype=int), layout=layout)
    mechanism = Dirichlet(form="prior", weight=0.0625, alpha=1.0)
    return dpm.release(
        counts, unit=REPLACE, budget=dpm.Budget(epsilon=3, delta=1e-3), mechanism=mechanism, seed=0
    )


def releases_of(x, kind, scale, number):
    """`number` releases of the count matrix `x` with additive noise, as the mechanism makes them."""
    base, law = template(len(x)), NoiseLaw(kind=kind, scale=scale)
    rng = np.random.default_rng(77)
    z = np.arange(-law.radius, law.radius + 1)
    for _ in range(number):
        noisy = x.ravel() + rng.choice(z, p=law.pmf(), size=x.size)
        yield replace(
            base,
            probabilities=estimate_probabilities(noisy, base.layout, law),
            noisy_counts=noisy,
            mechanism={"name": f"{kind}-counts", "noise": kind, "scale": scale},
        )


def dirichlet_releases(x, form, alpha, epsilon, number):
    """`number` releases of the count matrix `x` by the Dirichlet mechanism."""
    budget = dpm.Budget(epsilon=epsilon, delta=1e-6)
    layout = dpm.Layout.square(dpm.StateSpace.range(0, len(x)))
    counts = dpm.TransitionCounts.from_matrix(x, layout=layout)
    mechanism = Dirichlet(form=form, weight=float(calibrate(REPLACE, budget, alpha)), alpha=alpha)
    for seed in range(number):
        yield dpm.release(counts, unit=REPLACE, budget=budget, mechanism=mechanism, seed=seed)


def measure(name, x, releases, quantities, draws):
    p = x / x.sum(axis=1, keepdims=True)
    true_chain = dpm.MarkovChain(p)
    truths = {}
    for q in quantities:
        truths[q] = np.asarray(QUANTITIES[q](true_chain), dtype=float)
    truths["fast path"] = true_chain.stationary_distribution
    seen = {q: [] for q in truths}
    for release in releases:
        for q, truth in truths.items():
            u = (
                stationary_error_bars(release)
                if q == "fast path"
                else release.uncertainty(q, draws=draws, seed=len(seen[q]))
            )
            covered = (truth >= u.low) & (truth <= u.high)
            seen[q].append((covered, np.mean(u.half_width), np.mean(np.abs(u.value - truth))))
    print(f"{name} ({len(seen['fast path'])} releases)")
    for q, rows in seen.items():
        cover = np.array([np.mean(r[0]) for r in rows])
        by_entry = np.mean([r[0] for r in rows], axis=0)
        spread = (
            f", entries covered in < 80 % of releases: {np.mean(by_entry < 0.8):.1%}" if by_entry.ndim else ""
        )
        print(
            f"   {q:<24} covers {cover.mean():.1%} (± {1.96 * cover.std() / np.sqrt(len(cover)):.1%}), "
            f"half width {np.mean([r[1] for r in rows]):.2g}, "
            f"error {np.mean([r[2] for r in rows]):.2g}{spread}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=40)
    parser.add_argument("--draws", type=int, default=300)
    options = parser.parse_args()
    n, draws = options.releases, options.draws
    all_of = ("stationary_distribution", "transition_matrix", *SCALARS)
    data = {"taxi-65": taxi_65()[1], "taxi-40": taxi_40()[1], "msnbc": msnbc()}
    for name, x in data.items():
        for epsilon in (0.1, 1.0):
            scale = 2 / epsilon
            measure(
                f"{name}, Laplace, replace, epsilon {epsilon:g}",
                x,
                releases_of(x, "laplace", scale, n),
                all_of,
                draws,
            )
        measure(f"{name}, Gaussian sigma 6", x, releases_of(x, "gaussian", 6.0, n), all_of, draws)
    for name, x in data.items():
        for form in ("floor", "prior"):
            made = dirichlet_releases(x, form, 10.0, 1.0, n)
            measure(f"{name}, Dirichlet {form}, epsilon 1", x, made, all_of, draws)


if __name__ == "__main__":
    main()
