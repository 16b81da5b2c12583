"""Ponnoprat's Appendix C as a mechanism: noise on the counts, then the posterior."""

import numpy as np
import pytest

import dpmarkov as dpm
from dpmarkov.entropy import Entropy
from dpmarkov.errors import ParameterError
from dpmarkov.mechanisms.noisy_posterior import NoisyPosterior

STATES = dpm.StateSpace(["a", "b", "c"])
COUNTS = dpm.TransitionCounts.from_matrix(
    np.array([[500, 300, 200], [100, 800, 100], [0, 0, 400]]), layout=dpm.Layout.square(STATES)
)
BUDGET = dpm.Budget(epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize("unit", [dpm.Destination(), dpm.Event()])
def test_it_keeps_the_budget(unit: dpm.Event) -> None:
    mechanism = NoisyPosterior.for_budget(unit, BUDGET)
    made = dpm.release(COUNTS, unit=unit, budget=BUDGET, mechanism=mechanism, seed=1)
    assert 0.9e-6 < made.guarantee.delta <= 1e-6
    assert made.noisy_counts is not None
    assert made.mechanism["name"] == "gaussian-posterior"
    assert np.abs(made.transition_matrix - COUNTS.matrix() / COUNTS.matrix().sum(axis=1)[:, None]).max() < 0.2


def test_a_release_without_a_seed_is_exact_noise() -> None:
    mechanism = NoisyPosterior.for_budget(dpm.Event(), BUDGET)
    made = dpm.release(COUNTS, unit=dpm.Event(), budget=BUDGET, mechanism=mechanism)
    assert made.seed is None
    assert not any("SEEDED" in text for text in made.guarantee.assumptions)


def test_the_draw_is_the_posterior_of_the_noisy_counts() -> None:
    """Mean and variance over 1,000 seeds: noise plus posterior spread; 5 standard errors."""
    mechanism = NoisyPosterior(sigma=2.0, prior=1.0)
    draws = [mechanism.draw(COUNTS, Entropy.seeded(s)) for s in range(1000)]
    first = np.stack([d.probabilities[:3] for d in draws])
    noisy = np.stack([np.maximum(d.noisy_counts[:3], 0) + 1.0 for d in draws])  # type: ignore[index]
    mean = noisy / noisy.sum(axis=1, keepdims=True)
    error = first - mean
    assert np.all(np.abs(error.mean(axis=0)) < 5 * error.std(axis=0) / np.sqrt(1000))
    expected = (mean * (1 - mean) / (noisy.sum(axis=1, keepdims=True) + 1)).mean(axis=0)
    assert np.allclose(error.var(axis=0), expected, rtol=0.25)


def test_the_counts_have_the_noise_that_is_accounted_for() -> None:
    """9,000 noisy counts, fixed seeds: false alarms beyond five standard errors; half of sigma is caught."""
    mechanism = NoisyPosterior(sigma=20.0, prior=1.0)
    drawn = np.array([mechanism.draw(COUNTS, Entropy.seeded(seed)).noisy_counts for seed in range(1000)])
    spread = ((drawn - COUNTS.values) ** 2).mean() / 20.0**2
    error = np.sqrt(2 / drawn.size)
    assert abs(spread - 1) < 5 * error
    assert abs(4 * spread - 1) > 5 * error


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="sigma"):
        NoisyPosterior(sigma=0.0)
    with pytest.raises(ParameterError, match="prior"):
        NoisyPosterior(sigma=1.0, prior=-1)
