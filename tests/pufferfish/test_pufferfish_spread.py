"""What every release under Pufferfish draws, and what it promises, are those of the planned noise."""

import math

import numpy as np
import pytest

from dpmarkov.privacy.guarantee import Guarantee
from dpmarkov.pufferfish import (
    BayesianNetwork,
    FiniteChains,
    FiniteFramework,
    Model,
    StateSequence,
    Statistic,
    plan_network_noise,
    plan_noise,
    release_by_wasserstein,
    release_histogram,
    release_over_network,
    release_statistic,
)
from dpmarkov.states import StateSpace

BITS = StateSpace([0, 1])
THETA = FiniteChains(states=BITS, models=(Model([[0.7, 0.3], [0.4, 0.6]]),), origin="a textbook")
RAIN = BayesianNetwork({"rain": ((), [0.8, 0.2]), "wet": (("rain",), [[0.9, 0.1], [0.2, 0.8]])})
PERSON = StateSequence(BITS, np.arange(200) % 2)


def check_spread(noise: np.ndarray, scale: float) -> None:
    """The spread of Laplace noise, within five standard errors; that of half the scale is not."""
    spread = float((noise**2).mean()) / (2 * scale**2)
    error = math.sqrt(5 / noise.size)  # the fourth moment is six times the variance squared
    assert abs(spread - 1) < 5 * error
    assert abs(4 * spread - 1) > 5 * error


def check_curve(guarantee: Guarantee, epsilon: float) -> None:
    """That of a pure guarantee: a coin that falls on one side e^epsilon times as often."""
    head = 1 / (1 + math.exp(-epsilon))
    assert guarantee.epsilon == epsilon
    for at in (0.0, 0.4 * epsilon, 0.9 * epsilon):
        true = head - math.exp(at) * (1 - head)
        assert guarantee.delta_at(at) == pytest.approx(true, rel=1e-12)
    assert guarantee.delta_at(epsilon) == 0


def test_a_histogram() -> None:
    scale = plan_noise(THETA, 200, epsilon=1.0).scale
    made = [release_histogram(PERSON, theta=THETA, epsilon=1.0, seed=seed) for seed in range(150)]
    check_spread(np.array([one.noisy_counts for one in made]) - 100, scale)
    check_curve(made[0].guarantee, 1.0)


def test_a_statistic() -> None:
    scale = plan_noise(THETA, 200, epsilon=2.0, statistic=Statistic(name="x", lipschitz=0.5)).scale
    made = release_statistic(
        PERSON, lambda people: [7.0] * 2000, lipschitz=0.5, name="x", theta=THETA, epsilon=2.0, seed=1
    )
    check_spread(np.array(made.values) - 7, scale)
    check_curve(made.guarantee, 2.0)


def test_figures_over_a_network() -> None:
    noise = plan_network_noise([RAIN], epsilon=1.5)
    made = release_over_network([3.0] * 2000, noise, name="figures", seed=1)
    check_spread(np.array(made.values) - 3, noise.scale)
    check_curve(made.guarantee, 1.5)


def test_a_number_under_a_framework() -> None:
    framework = FiniteFramework(pairs=((0, 1),), laws=({0: {0: 1}, 1: {30: 1}},))
    made = [release_by_wasserstein(30, framework, epsilon=1.0, name="x", seed=seed) for seed in range(500)]
    check_spread(np.array([one.value for one in made]) - 30, framework.scale(1.0))
    check_curve(made[0].guarantee, 1.0)
