"""Releases of chains that are known, made as the mechanisms make them but from a given seed."""

from dataclasses import replace

import numpy as np

import dpmarkov as dpm
from dpmarkov.mechanisms.dirichlet import Dirichlet
from dpmarkov.postprocess import NoiseLaw, estimate_probabilities

UNIT = dpm.Event(relation="replace")
BUDGET = dpm.Budget(epsilon=3, delta=1e-3)


def true_counts(n=12, events=20_000, seed=1):
    """Counts of a chain with busy and quiet states, none empty."""
    rng = np.random.default_rng(seed)
    shares = np.outer(1 / np.arange(1, n + 1), 1 / np.arange(1, n + 1)) * rng.gamma(1.0, size=(n, n))
    return rng.poisson(events * shares / shares.sum()) + (rng.random((n, n)) < 0.3)


def dirichlet_release(x, seed, form="floor", weight=0.5, alpha=5.0):
    counts = dpm.TransitionCounts.from_matrix(x, layout=dpm.Layout.square(dpm.StateSpace.range(0, len(x))))
    mechanism = Dirichlet(form=form, weight=weight, alpha=alpha)
    return dpm.release(
        counts, unit=UNIT, budget=dpm.Budget(epsilon=8, delta=1e-2), mechanism=mechanism, seed=seed
    )


def noisy_release(x, seed, kind="laplace", scale=2.0, states=None):
    """A release with additive noise, filled into a Dirichlet release's frame."""
    base = dirichlet_release(np.ones_like(x), 0)
    if states is not None:
        base = replace(base, layout=dpm.Layout.square(states))
    law = NoiseLaw(kind=kind, scale=scale)
    rng = np.random.default_rng(seed)
    noisy = x.ravel() + rng.choice(np.arange(-law.radius, law.radius + 1), p=law.pmf(), size=x.size)
    return replace(
        base,
        probabilities=estimate_probabilities(noisy, base.layout, law),
        noisy_counts=noisy,
        mechanism={"name": f"{kind}-counts", "noise": kind, "scale": scale},
    )
