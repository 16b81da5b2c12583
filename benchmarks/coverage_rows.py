"""How often the intervals cover: private matrices, posterior draws, distributions and policies.

Run ``python -m benchmarks.coverage_rows`` (needs ../shared/data; minutes). The inputs are the real chains'
rows; for private matrices the truth is the lifted matrix, and for `input_matrix` the matrix itself.
"""

import argparse

import numpy as np

import dpmarkov as dpm
from benchmarks.coverage import SCALARS, measure, msnbc
from benchmarks.data import taxi_40, taxi_65
from benchmarks.pufferfish import first_night, subjects
from dpmarkov.mechanisms.noisy_posterior import NoisyPosterior
from dpmarkov.pufferfish import FiniteChains, estimate_theta, release_chain, release_histogram

ALL_OF = ("stationary_distribution", "transition_matrix", "tau_1", *SCALARS)


def private_matrices(p, epsilon, number):
    """Releases of a sensitive matrix, of which one row may differ by 0.05."""
    for seed in range(number):
        budget = dpm.Budget(epsilon=epsilon, delta=1e-6)
        yield dpm.privatize_matrix(p, unit=dpm.Entry(b=0.05), budget=budget, seed=seed)


def posterior_draws(x, epsilon, number):
    """Releases by Gaussian noise on the counts and a posterior draw (Ponnoprat, Appendix C)."""
    layout = dpm.Layout.square(dpm.StateSpace.range(0, len(x)))
    counts = dpm.TransitionCounts.from_matrix(x, layout=layout)
    budget = dpm.Budget(epsilon=epsilon, delta=1e-6)
    mechanism = NoisyPosterior.for_budget(dpm.Event(), budget)
    for seed in range(number):
        yield dpm.release(counts, unit=dpm.Event(), budget=budget, mechanism=mechanism, seed=seed)


def no_chain(name, x, number, draws):
    """Counts that are no chain: each entry, and the mean position of each row."""
    x = np.atleast_2d(x)
    source = None if len(x) == 1 else dpm.StateSpace.range(0, len(x))
    layout = dpm.Layout(target=dpm.StateSpace.range(0, x.shape[1]), source=source)
    counts, p = dpm.TransitionCounts.from_matrix(x, layout=layout), x / x.sum(axis=1, keepdims=True)
    positions = np.arange(x.shape[1], dtype=float)
    for mechanism in ("laplace", "gaussian", "dirichlet"):
        entries, means = [], []
        for seed in range(number):
            budget = dpm.Budget(epsilon=0.1, delta=1e-6)
            made = dpm.release(counts, unit=dpm.Event(), budget=budget, mechanism=mechanism, seed=seed)
            u = made.uncertainty("transition_matrix", draws=draws)
            entries.append(np.mean((u.low <= p) & (p <= u.high)))
            u = made.uncertainty(lambda rows: rows @ positions, draws=draws)
            means.append(np.mean((u.low <= p @ positions) & (p @ positions <= u.high)))
        print(
            f"{name}, {mechanism}: entries {np.mean(entries):.1%}, mean position {np.mean(means):.1%}",
            flush=True,
        )


def nights(number, draws):
    """One person's night as correlated data: tables of 25 and of 5 cells under one noise."""
    people = subjects()
    cohort = estimate_theta(people[20:], margin=0.0, cohort_is_public=True)
    theta = FiniteChains(states=cohort.states, models=cohort.models[:1])
    for epsilon in (1.0, 5.0):
        for make in (release_chain, release_histogram):
            covered = []
            for seed in range(number):
                night = first_night(people[seed % 20])
                made = make(night, theta=theta, epsilon=epsilon, seed=seed)
                u = made.uncertainty("transition_matrix", draws=draws, seed=seed)
                exact = night.transitions().matrix() if make is release_chain else night.histogram()[None, :]
                visited = exact.sum(axis=1) > 0
                p = exact[visited] / exact[visited].sum(axis=1, keepdims=True)
                low, high = (np.atleast_2d(end)[visited] for end in (u.low, u.high))
                covered.append(np.mean((low <= p) & (p <= high)))
            print(
                f"one night, {make.__name__}, epsilon {epsilon:g}: covers {np.mean(covered):.1%}", flush=True
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=20)
    parser.add_argument("--draws", type=int, default=200)
    options = parser.parse_args()
    n, draws = options.releases, options.draws
    nights(5 * n, draws)
    data = {"msnbc": msnbc(), "taxi-40": taxi_40()[1], "taxi-65": taxi_65()[1]}
    for name, x in data.items():
        p = x / x.sum(axis=1, keepdims=True)
        made = list(private_matrices(p, 4.0, n))
        share = made[0].mechanism["mixing"]
        lifted = (1 - share) * p + share / len(p)
        bars = [release.uncertainty("input_matrix") for release in made]
        inside = np.mean([(u.low - 1e-7 <= p) & (p <= u.high + 1e-7) for u in bars])
        print(f"{name}, private matrix, mixing {share:.2f}: input_matrix covers {inside:.1%}")
        measure(f"{name}, private matrix, epsilon 4, lifted", lifted, made, ALL_OF, draws)
        measure(f"{name}, posterior draw, epsilon 1", x, posterior_draws(x, 1.0, n), ALL_OF, draws)
    no_chain("msnbc, one distribution", data["msnbc"].sum(axis=0), n, draws)
    no_chain(
        "taxi-65, five busiest rows", data["taxi-65"][np.argsort(-data["taxi-65"].sum(axis=1))[:5]], n, draws
    )


if __name__ == "__main__":
    main()
