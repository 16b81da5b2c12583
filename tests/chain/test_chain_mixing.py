"""Mixing, gaps and ergodicity coefficients against closed forms, 50-digit truth and linear programs."""

import itertools
import math

import numpy as np
import pytest
from chain_cases import PATHOLOGICAL, exact_distance, one_slow_block, random_chain
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpmarkov.chain import MarkovChain
from dpmarkov.errors import ChainError, ParameterError


def test_the_mixing_time_that_a_uniform_start_gets_wrong():
    chain = MarkovChain([[0.999, 0.001], [0.001, 0.999]])
    assert chain.mixing_time() == math.ceil(math.log(2) / -math.log(0.998)) == 347


@pytest.mark.parametrize("a", [0.3, 1e-3, 1e-7, 1e-13, 1e-18])
def test_two_states_follow_their_closed_form(a):
    b = 2 * a
    chain = MarkovChain([[1 - a, a], [b, 1 - b]])
    worst = 2 / 3
    expected = max(0, math.ceil(math.log(0.25 / worst) / math.log1p(-(a + b))))
    assert chain.mixing_time() == pytest.approx(expected, rel=1e-12, abs=0)
    assert chain.spectral_gap == pytest.approx(a + b, rel=1e-12)
    assert chain.relaxation_time == pytest.approx(1 / (a + b), rel=1e-12)
    times, distances = chain.mixing_curve([0, 1, 5, 1000])
    assert times == [0, 1, 5, 1000]
    np.testing.assert_allclose(
        distances, [worst * math.exp(t * math.log1p(-(a + b))) for t in times], rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize("name", ["coupling 1e-12", "one slow block", "two states, 1e-9"])
def test_the_mixing_time_of_a_slow_chain_is_exact(name):
    p = PATHOLOGICAL[name]
    t = MarkovChain(p).mixing_time()
    assert t > 10**6
    slack = max(1, t // 10**10)
    assert exact_distance(p, t + slack) <= 0.25 < exact_distance(p, t - 1 - slack)


def test_the_curve_is_the_exact_distance():
    p = one_slow_block()
    times, distances = MarkovChain(p).mixing_curve()
    assert times[:8] == [0, 1, 2, 3, 4, 6, 8, 12]
    assert distances[-1] <= 1e-4
    assert np.all(np.diff(distances) <= 1e-15)
    for t, d in list(zip(times, distances, strict=True))[::9]:
        assert d == pytest.approx(float(exact_distance(p, t)), rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 30), seed=st.integers(0, 10**6), distance=st.sampled_from([0.4, 0.25, 0.05, 1e-3]))
def test_the_mixing_time_is_the_first_crossing(n, seed, distance):
    p = random_chain(n, seed, 0.05)
    chain = MarkovChain(p)
    t = chain.mixing_time(distance)
    _, curve = chain.mixing_curve(range(t + 1))
    assert curve[-1] <= distance
    assert t == 0 or curve[-2] > distance


def test_a_lazy_cycle_has_its_known_spectrum():
    n = 25
    p = 0.5 * np.eye(n) + 0.25 * (np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1))
    chain = MarkovChain(p)
    assert chain.spectral_gap == pytest.approx(0.5 - 0.5 * math.cos(2 * math.pi / n), rel=1e-12)
    expected = np.sort(0.5 + 0.5 * np.cos(2 * math.pi * np.arange(n) / n))[::-1]
    np.testing.assert_allclose(chain.eigenvalues.real, expected, atol=1e-12)
    assert chain.is_reversible()


@pytest.mark.parametrize("coupling", [1e-6, 1e-10, 1e-13])
def test_the_gap_keeps_its_digits_when_it_is_tiny(coupling):
    """Two complete graphs of 5 joined by a perfect matching: gap 2 * coupling in closed form."""
    block = np.full((5, 5), (1 - coupling) / 5)
    p = np.block([[block, coupling * np.eye(5)], [coupling * np.eye(5), block]])
    assert MarkovChain(p).spectral_gap == pytest.approx(2 * coupling, rel=1e-9)


def test_a_transient_part_brings_its_own_eigenvalues():
    p = np.array([[0.5, 0.5, 0, 0], [0.2, 0.8, 0, 0], [0, 0.1, 0.9 - 1e-9, 1e-9], [0, 0, 1e-3, 0.999]])
    chain = MarkovChain(p)
    expected = np.sort(np.abs(np.linalg.eigvals(p)))[::-1]
    np.testing.assert_allclose(np.abs(chain.eigenvalues), expected, atol=1e-12)
    assert chain.mixing_time() > 1


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 7), seed=st.integers(0, 10**6))
def test_tau_inf_solves_the_linear_program_of_definition_7(n, seed):
    p = random_chain(n, seed)
    best = 0.0
    for column, sign in itertools.product(range(n), (1, -1)):
        answer = linprog(sign * p[:, column], A_eq=np.ones((1, n)), b_eq=[0.0], bounds=[(-1, 1)] * n)
        best = max(best, abs(answer.fun))
    assert MarkovChain(p).tau_inf == pytest.approx(best, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 9), seed=st.integers(0, 10**6))
def test_tau_1_is_the_largest_shrinkage_of_a_difference(n, seed):
    p = random_chain(n, seed)
    tau = MarkovChain(p).tau_1
    pairs = [0.5 * np.abs(p[i] - p[j]).sum() for i, j in itertools.combinations(range(n), 2)]
    assert tau == pytest.approx(max(pairs), abs=1e-15)
    z = np.random.default_rng(seed).normal(size=(200, n))
    z -= z.mean(axis=1, keepdims=True)
    assert np.all(np.abs(z @ p).sum(axis=1) <= (tau + 1e-12) * np.abs(z).sum(axis=1))
    second = np.sort(np.abs(np.linalg.eigvals(p)))[-2]
    assert second <= tau + 1e-12


def test_a_periodic_chain_is_refused_with_its_period():
    chain = MarkovChain([[0, 1], [1, 0]])
    with pytest.raises(ChainError, match="period 2"):
        chain.mixing_time()
    assert chain.spectral_gap == 0.0
    assert chain.relaxation_time == math.inf
    np.testing.assert_allclose(chain.stationary_distribution, [0.5, 0.5])


def test_two_recurrent_classes_are_named():
    chain = MarkovChain(np.eye(3) * 0.5 + 0.5 * np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]]), ["a", "b", "c"])
    for ask in (
        lambda: chain.mixing_time(),
        lambda: chain.spectral_gap,
        lambda: chain.stationary_distribution,
    ):
        with pytest.raises(ChainError, match=r"\{'a', 'b'\} \(recurrent\); \{'c'\} \(recurrent\)"):
            ask()


@pytest.mark.parametrize("distance", [0, 1, -0.1, math.nan])
def test_a_distance_outside_0_and_1_is_refused(distance):
    with pytest.raises(ParameterError, match="distance"):
        MarkovChain([[0.5, 0.5], [0.5, 0.5]]).mixing_time(distance)
