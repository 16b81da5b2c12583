"""Bounds of the long run: they hold on thousands of chains, and the prediction is close."""

import math

import numpy as np
import pytest

from dpmarkov.chain import MarkovChain
from dpmarkov.chain.gth import stationary_vectors
from dpmarkov.errors import InputError, ParameterError
from dpmarkov.utility.bounds import expected_bound, first_order, realised_bound, sensitivity
from dpmarkov.utility.policy import DecisionProcess


def random_chain(rng: np.random.Generator, *, zeros: bool = True) -> np.ndarray:
    n = int(rng.integers(2, 7))
    p = rng.dirichlet(np.full(n, rng.choice([0.2, 1.0, 5.0])), n) + 1e-9
    if zeros:
        ring = np.roll(np.eye(n), 1, axis=1).astype(bool)
        p = np.where((rng.random((n, n)) < 0.6) | ring, p + 1e-3, 0.0)
    return p / p.sum(axis=1, keepdims=True)


def draws(p: np.ndarray, k: np.ndarray, times: int, rng: np.random.Generator) -> np.ndarray:
    shapes = np.broadcast_to(p * k[:, None], (times, *p.shape))
    x = rng.standard_gamma(shapes) + np.where(p > 0, 1e-300, 0)
    return x / x.sum(axis=2, keepdims=True)


def test_the_realised_bound_holds_for_every_release() -> None:
    """2,000 chains, noise from almost none to almost all: no exception, in either form."""
    rng = np.random.default_rng(0)
    slack = []
    for _ in range(2000):
        p = random_chain(rng)
        k = 10 ** rng.uniform(0.5, 5, len(p))
        private = draws(p, k, 1, rng)[0]
        if private[p > 0].min() < 1e-12:
            continue
        chain, released = MarkovChain(p), MarkovChain(private)
        tv = np.abs(chain.stationary_distribution - released.stationary_distribution).sum() / 2
        errors = np.abs(p - private).sum(axis=1)
        known = realised_bound(released, errors, weights=chain.stationary_distribution)
        assert tv <= known * (1 + 1e-9) + 1e-13
        assert known <= realised_bound(released, errors) * (1 + 1e-9)
        if tv > 1e-9:
            slack.append(known / tv)
    assert len(slack) > 1300
    assert np.median(slack) < 4


def test_the_realised_bound_is_reached() -> None:
    """Two states: one number moves, and the bound says exactly how far."""
    p, q = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.85, 0.15], [0.2, 0.8]])
    chain, other = MarkovChain(p), MarkovChain(q)
    tv = np.abs(chain.stationary_distribution - other.stationary_distribution).sum() / 2
    bound = realised_bound(other, np.abs(p - q).sum(axis=1), weights=chain.stationary_distribution)
    assert tv == pytest.approx(bound, rel=1e-12)


def test_the_expected_bound_holds_on_random_chains() -> None:
    """500 chains, 100 draws each, unbiased rows: the mean stays below (its own slack is over 20 %)."""
    rng = np.random.default_rng(1)
    tightest = math.inf
    for _ in range(500):
        p = random_chain(rng)
        k = 10 ** rng.uniform(1, 4, len(p))
        chain = MarkovChain(p)
        x = draws(p, k, 100, rng)
        tv = np.abs(stationary_vectors(x) - chain.stationary_distribution).sum(axis=1) / 2
        bound = expected_bound(chain, k)
        assert tv.mean() <= bound
        if tv.mean() > 1e-9:
            tightest = min(tightest, bound / tv.mean())
    assert tightest > 1


def test_without_the_bias_a_biased_form_breaks_the_bound() -> None:
    """A thin row, drawn with a prior: the bound needs the distance of the means, and then holds."""
    counts = np.array([[400, 10, 10], [8000, 10_000, 2000], [9000, 1000, 10_000]], dtype=float)
    p = counts / counts.sum(axis=1, keepdims=True)
    alpha = 500.0
    totals = counts.sum(axis=1) + 3 * alpha
    means = (counts + alpha) / totals[:, None]
    chain = MarkovChain(p)
    rng = np.random.default_rng(2)
    x = draws(means, totals, 2000, rng)
    tv = (np.abs(stationary_vectors(x) - chain.stationary_distribution).sum(axis=1) / 2).mean()
    bias = float(np.abs(means - p).sum(axis=1).max())
    assert tv > expected_bound(chain, totals)
    assert tv <= expected_bound(chain, totals, bias=bias)


def test_first_order_is_close_when_the_noise_is_small() -> None:
    """40 chains with K = 10^5: predicted standard errors within 8 % (5 sigma) of 2,000 draws'."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        p = random_chain(rng, zeros=False) * 0.9 + 0.1 / 6
        p /= p.sum(axis=1, keepdims=True)
        chain = MarkovChain(p)
        k = np.full(len(p), 1e5)
        predicted = first_order(chain, k)
        x = stationary_vectors(draws(p, k, 2000, rng)) - chain.stationary_distribution
        assert np.allclose(predicted.standard_errors, x.std(axis=0), rtol=0.08)
        assert predicted.total_variation == pytest.approx(np.abs(x).sum(axis=1).mean() / 2, rel=0.08)
        assert np.allclose(predicted.covariance.sum(axis=0), 0, atol=1e-12)


def test_sensitivity_is_the_largest_response() -> None:
    """A tiny change of one row moves pi by no more, and for some row by exactly that much."""
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.ones(4), 4)
    chain = MarkovChain(p)
    tau, step, best = sensitivity(chain), 1e-6, 0.0
    for up in range(4):
        for down in range(4):
            if up == down:
                continue
            q = p.copy()
            q[:, up] += step
            q[:, down] -= step
            if q.min() < 0:
                continue
            moved = np.abs(MarkovChain(q).stationary_distribution - chain.stationary_distribution).sum()
            best = max(best, moved / (2 * step))
    assert best == pytest.approx(tau, rel=1e-4)


def test_bounds_are_probabilities_and_refuse_nonsense() -> None:
    chain = MarkovChain(np.array([[0.999, 0.001], [0.001, 0.999]]))
    assert realised_bound(chain, 1.9) == 1.0
    assert expected_bound(chain, 2.0) == 1.0
    with pytest.raises(ParameterError, match="row errors"):
        realised_bound(chain, -1)
    with pytest.raises(ParameterError, match="totals"):
        first_order(chain, [10, 0])
    with pytest.raises(ParameterError, match="bias"):
        expected_bound(chain, 10, bias=math.nan)


def random_process(rng: np.random.Generator) -> DecisionProcess:
    states, actions = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    return DecisionProcess(
        transitions=rng.dirichlet(np.ones(states), (states, actions)),
        rewards=rng.normal(size=(states, actions)),
        discount=float(rng.uniform(0.1, 0.98)),
        start=rng.dirichlet(np.ones(states)),
    )


def test_total_reward_is_that_of_a_long_walk() -> None:
    rng = np.random.default_rng(5)
    process = random_process(rng)
    policy = rng.dirichlet(np.ones(process.rewards.shape[1]), process.rewards.shape[0])
    spot, total, factor = np.asarray(process.start), 0.0, 1.0
    for _ in range(4000):
        total += factor * float(spot @ (policy * process.rewards).sum(axis=1))
        spot = np.einsum("s,sa,sat->t", spot, policy, process.transitions)
        factor *= process.discount
    assert process.total_reward(policy) == pytest.approx(total, rel=1e-10)


def test_the_loss_bound_holds_for_every_private_policy() -> None:
    """2,000 random processes and policies: never exceeded."""
    rng = np.random.default_rng(6)
    for _ in range(2000):
        process = random_process(rng)
        shape = process.rewards.shape
        policy, private = (rng.dirichlet(np.ones(shape[1]), shape[0]) for _ in range(2))
        errors = np.abs(policy - private).sum(axis=1)
        assert abs(process.loss(policy, private)) <= process.loss_bound(private, errors) * (1 + 1e-9)


def test_a_process_says_what_is_wrong() -> None:
    moves, rewards = np.full((2, 2, 2), 0.5), np.zeros((2, 2))
    with pytest.raises(InputError, match="shape"):
        DecisionProcess(transitions=moves[0], rewards=rewards, discount=0.9)
    with pytest.raises(InputError, match="sum to one"):
        DecisionProcess(transitions=moves * 2, rewards=rewards, discount=0.9)
    with pytest.raises(ParameterError, match="discount"):
        DecisionProcess(transitions=moves, rewards=rewards, discount=1.0)
    with pytest.raises(InputError, match="2 states x 2 actions"):
        DecisionProcess(transitions=moves, rewards=rewards, discount=0.5).total_reward([0.5, 0.5])
