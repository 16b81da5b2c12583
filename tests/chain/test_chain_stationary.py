"""The stationary distribution: properties on any chain, 50-digit truth on chains that break solvers."""

import numpy as np
import pytest
from chain_cases import PATHOLOGICAL, exact_stationary, nearly_decomposable, random_chain, worst_relative
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dpmarkov.chain import MarkovChain
from dpmarkov.chain.gth import stationary_vectors
from dpmarkov.chain.stationary import _by_elimination, _by_power, stationary
from dpmarkov.errors import EngineError


@settings(max_examples=60, deadline=None)
@given(n=st.integers(2, 120), seed=st.integers(0, 10**6))
def test_properties_of_the_stationary_distribution(n, seed):
    p = random_chain(n, seed)
    pi = MarkovChain(p).stationary_distribution
    assert abs(pi.sum() - 1) < 1e-14
    assert pi.min() > 0
    assert np.abs(pi @ p / pi - 1).max() < 1e-12
    order = np.random.default_rng(seed).permutation(n)
    turned = MarkovChain(p[np.ix_(order, order)]).stationary_distribution
    assert np.abs(turned / pi[order] - 1).max() < 1e-12


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_every_entry_is_right_to_1e_12_on_nearly_decomposable_chains(name):
    p = PATHOLOGICAL[name]
    pi = MarkovChain(p).stationary_distribution
    assert worst_relative(pi, exact_stationary(p)) < 1e-12


def test_a_linear_solve_fails_where_elimination_does_not():
    p = PATHOLOGICAL["coupling 1e-15"]
    n = p.shape[0]
    a = (np.eye(n) - p).T
    a[-1] = 1.0
    by_solve = np.linalg.solve(a, np.eye(n)[-1])
    truth = exact_stationary(p)
    assert worst_relative(by_solve, truth) > 1e-3
    assert worst_relative(MarkovChain(p).stationary_distribution, truth) < 1e-12


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_agrees_with_quantecon(name):
    quantecon = pytest.importorskip("quantecon")
    p = PATHOLOGICAL[name]
    theirs = quantecon.markov.gth_solve(p)
    assert np.abs(MarkovChain(p).stationary_distribution / theirs - 1).max() < 1e-10


def test_batch_agrees_with_one_by_one():
    batch = np.stack([random_chain(17, seed) for seed in range(5)])
    single = [MarkovChain(p).stationary_distribution for p in batch]
    np.testing.assert_allclose(stationary_vectors(batch), single, rtol=1e-13)


def test_a_chain_that_is_irreducible_in_name_only_is_refused():
    p = np.array([[0, 1, 0], [0, 1, 1e-200], [1e-200, 1, 0]])
    with pytest.raises(EngineError, match="irreducible in name only"):
        _ = MarkovChain(p).stationary_distribution


# --- sparse ---------------------------------------------------------------------------------------


def random_sparse(n, links, seed):
    rng = np.random.default_rng(seed)
    rows = np.concatenate([np.arange(n), np.repeat(np.arange(n), links)])
    columns = np.concatenate([(np.arange(n) + 1) % n, rng.integers(0, n, n * links)])
    a = sparse.csr_array((rng.random(rows.size) + 0.01, (rows, columns)), shape=(n, n))
    return sparse.csr_array(sparse.diags_array(1 / a.sum(axis=1)) @ a)


def walk_on_a_line(up, down):
    stay = 1.0 - np.append(up, 0.0) - np.append(0.0, down)
    return sparse.csr_array(sparse.diags_array([down, stay, up], offsets=[-1, 0, 1]))


def test_sparse_power_iteration_agrees_with_elimination():
    p = random_sparse(1600, 8, seed=5)
    truth = MarkovChain(p.toarray()).stationary_distribution
    found = _by_power(p)
    assert found is not None
    assert np.abs(found / truth - 1).max() < 1e-12
    assert np.abs(MarkovChain(p).stationary_distribution / truth - 1).max() < 1e-12


def test_sparse_blocks_joined_by_1e_12_take_power_with_aggregation():
    half, coupling = 800, 1e-12
    p = sparse.block_diag([random_sparse(half, 8, 1), random_sparse(half, 8, 2)]).tolil()
    p[3, half + 7] = coupling
    p[half + 50, 40] = 3 * coupling
    p = sparse.csr_array(p)
    found = _by_power(p)
    assert found is not None
    truth = MarkovChain(p.toarray()).stationary_distribution
    assert np.abs(found / truth - 1).max() < 1e-11
    masses = truth[:half].sum(), truth[half:].sum()
    assert abs(masses[0] - masses[1]) > 0.1


def test_a_long_line_takes_elimination_and_matches_its_closed_form():
    n = 8_000
    rng = np.random.default_rng(8)
    up, down = 0.1 + 0.3 * rng.random(n - 1), 0.1 + 0.3 * rng.random(n - 1)
    middle = n // 2
    down[:middle] = up[:middle] * np.exp(rng.normal(0, 0.01, middle))
    down[middle:] = up[middle:] * np.exp(rng.normal(0, 0.01, n - 1 - middle))
    p = walk_on_a_line(up, down)
    log_pi = np.concatenate([[0.0], np.cumsum(np.log(up) - np.log(down))])
    truth = np.exp(log_pi - log_pi.max())
    truth /= truth.sum()
    assert _by_power(p) is None
    assert np.abs(_by_elimination(p) / truth - 1).max() < 1e-10
    assert np.abs(MarkovChain(p).stationary_distribution / truth - 1).max() < 1e-10


def test_two_wells_behind_a_wall_are_not_believed_too_early():
    """No entry is small, yet the gap is below rounding: the change from step to step shows nothing."""
    n = 2001
    x = np.linspace(-1, 1, n)
    force = 45.0 * np.diff((x**2 - 1) ** 2 + 0.1 * x)
    up = 0.4 / (1 + np.exp(force))
    p = walk_on_a_line(up, 0.4 - up)
    log_pi = np.concatenate([[0.0], np.cumsum(np.log(up) - np.log(0.4 - up))])
    truth = np.exp(log_pi - log_pi.max())
    truth /= truth.sum()
    assert np.abs(stationary(p) / truth - 1).max() < 1e-11


def test_a_periodic_sparse_chain_has_its_stationary_distribution():
    n = 4000
    rng = np.random.default_rng(3)
    rows = np.repeat(np.arange(n), 6)
    columns = 2 * rng.integers(0, n // 2, rows.size) + (rows + 1) % 2
    a = sparse.csr_array((rng.random(rows.size), (rows, columns)), shape=(n, n))
    p = sparse.csr_array(sparse.diags_array(1 / a.sum(axis=1)) @ a)
    chain = MarkovChain(p)
    assert chain.period == 2
    pi = chain.stationary_distribution
    assert np.abs(p.T @ pi - pi).max() < 1e-15
    assert abs(pi[::2].sum() - 0.5) < 1e-12


def test_sparse_and_dense_answers_are_the_same():
    p = nearly_decomposable(20, 3, 1e-6)
    dense, thin = MarkovChain(p), MarkovChain(sparse.coo_matrix(p))
    np.testing.assert_allclose(thin.stationary_distribution, dense.stationary_distribution, rtol=1e-13)
    assert thin.entropy_rate() == pytest.approx(dense.entropy_rate(), rel=1e-13)
    assert thin.mixing_time() == dense.mixing_time()
    np.testing.assert_allclose(thin.hitting_times(3), dense.hitting_times(3), rtol=1e-13)
