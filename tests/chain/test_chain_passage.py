"""Hitting times, probabilities and first passage against closed forms and 50-digit truth."""

import math

import numpy as np
import pytest
from chain_cases import PATHOLOGICAL, exact_hitting_times, random_chain, worst_relative
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dpmarkov.chain import MarkovChain
from dpmarkov.chain import passage as passage_module
from dpmarkov.errors import ChainError, ParameterError, StateSpaceError


def gambler(n, up):
    p = np.zeros((n + 1, n + 1))
    p[0, 0] = p[n, n] = 1
    for i in range(1, n):
        p[i, i + 1], p[i, i - 1] = up, 1 - up
    return p


@pytest.mark.parametrize("up", [0.3, 0.45, 0.6])
def test_the_gamblers_ruin(up):
    n = 60
    chain = MarkovChain(gambler(n, up))
    i = np.arange(n + 1)
    r = (1 - up) / up
    win = (1 - r**i) / (1 - r**n)
    np.testing.assert_allclose(chain.hitting_probabilities(n), win, rtol=1e-10)
    duration = i / (1 - 2 * up) - n / (1 - 2 * up) * win
    np.testing.assert_allclose(chain.hitting_times([0, n]), duration, rtol=1e-10, atol=1e-10)
    assert np.all(np.isinf(chain.hitting_times(n)[:n]))
    assert chain.absorbing_states == (0, n)


def test_certain_and_impossible_are_exact():
    chain = MarkovChain(
        [[0.1, 0.9, 0, 0], [0.3, 0.3, 0.4, 0], [0, 0, 1, 0], [0.5, 0, 0, 0.5]], ["a", "b", "end", "in"]
    )
    assert chain.hitting_probabilities("end").tolist() == [1, 1, 1, 1]
    assert chain.hitting_probabilities("in").tolist() == [0, 0, 0, 1]
    assert chain.hitting_times("in").tolist() == [math.inf, math.inf, math.inf, 0]
    assert chain.transient_states == ("a", "b", "in")


@pytest.mark.parametrize("name", [n for n in PATHOLOGICAL if n != "past the block size"])
def test_every_first_passage_time_is_right_relative_to_itself(name):
    p = PATHOLOGICAL[name]
    m = MarkovChain(p).mean_first_passage
    for target in range(p.shape[0]):
        truth = exact_hitting_times(p, target)
        assert worst_relative(m[:, target], truth) < 1e-11
        assert worst_relative(MarkovChain(p).hitting_times(target), truth) < 1e-11


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 90), seed=st.integers(0, 10**6))
def test_passage_times_and_kemeny_agree_with_other_formulas(n, seed):
    p = random_chain(n, seed)
    chain = MarkovChain(p)
    m, pi = chain.mean_first_passage, chain.stationary_distribution
    one_step = 1 + p @ m
    off = ~np.eye(n, dtype=bool)
    np.testing.assert_allclose(m[off], one_step[off], rtol=1e-11)
    np.testing.assert_allclose(np.diag(one_step), 1 / pi, rtol=1e-11)
    np.testing.assert_allclose(m @ pi, chain.kemeny_constant, rtol=1e-11)
    others = np.delete(chain.eigenvalues, 0)
    assert chain.kemeny_constant == pytest.approx(np.sum(1 / (1 - others)).real, rel=1e-9)
    z = np.linalg.inv(np.eye(n) - p + pi)
    np.testing.assert_allclose(chain.fundamental_matrix, z, atol=1e-9)
    np.testing.assert_allclose(chain.recurrence_times, 1 / pi)


def test_reducible_chains_are_refused_by_name_and_answered_per_target():
    chain = MarkovChain([[1, 0, 0], [0.5, 0, 0.5], [0, 1, 0]], ["home", "bar", "street"])
    with pytest.raises(ChainError, match=r"\{'home'\} \(recurrent\); \{'bar', 'street'\} \(transient\)"):
        _ = chain.mean_first_passage
    np.testing.assert_allclose(chain.hitting_times("home"), [0, 3, 4], rtol=1e-13)
    assert chain.kemeny_constant == 0.0


def test_large_sparse_chains_take_the_sparse_solver(monkeypatch):
    n = 400
    p = sparse.csr_array(
        sparse.diags_array(
            [np.full(n - 1, 0.3), np.r_[0.6, np.full(n - 2, 0.3), 0.7], np.full(n - 1, 0.4)],
            offsets=[-1, 0, 1],
        )
    )
    chain = MarkovChain(p)
    exact = chain.hitting_times(n - 1)
    monkeypatch.setattr(passage_module, "DENSE_STATES", 100)
    np.testing.assert_allclose(MarkovChain(p).hitting_times(n - 1), exact, rtol=1e-10)
    np.testing.assert_allclose(MarkovChain(p).hitting_probabilities(0), 1.0)


def test_targets_must_be_named_and_declared():
    chain = MarkovChain([[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ParameterError, match="at least one state"):
        chain.hitting_times([])
    with pytest.raises(StateSpaceError, match="not a declared state"):
        chain.hitting_times(7)
