"""Prediction, reversibility, entropy rate and simulation."""

import numpy as np
import pytest
from chain_cases import PATHOLOGICAL, random_chain
from scipy import sparse, stats

from dpmarkov.chain import MarkovChain
from dpmarkov.errors import ChainError, ParameterError


@pytest.mark.parametrize("steps", [0, 1, 7, 1000])
def test_n_step_predictions_are_matrix_powers(steps):
    p = random_chain(6, 1)
    chain = MarkovChain(p, list("abcdef"))
    truth = np.linalg.matrix_power(p, steps)
    np.testing.assert_allclose(chain.power(steps), truth, atol=1e-12)
    for state in "af":
        np.testing.assert_allclose(
            chain.distribution_after(steps, state), truth[chain.states.index(state)], atol=1e-12
        )
    np.testing.assert_allclose(
        chain.distribution_after(steps, np.full(6, 1 / 6)), truth.mean(axis=0), atol=1e-12
    )
    np.testing.assert_allclose(
        MarkovChain(sparse.csr_array(p)).distribution_after(steps, 0), truth[0], atol=1e-12
    )
    best = chain.predict("a", steps, top=2)
    assert [s for s, _ in best] == [list("abcdef")[i] for i in np.argsort(-truth[0], kind="stable")[:2]]


def test_the_entropy_rate_of_coins():
    fair = MarkovChain(np.full((4, 4), 0.25))
    assert fair.entropy_rate() == pytest.approx(2.0)
    assert fair.entropy_rate(np.e) == pytest.approx(np.log(4))
    assert MarkovChain([[0, 1], [1, 0]]).entropy_rate() == 0.0
    with pytest.raises(ParameterError, match="base"):
        fair.entropy_rate(1.0)


def test_reversibility_is_detailed_balance():
    rng = np.random.default_rng(2)
    w = rng.random((9, 9))
    symmetric = w + w.T
    assert MarkovChain(symmetric / symmetric.sum(axis=1, keepdims=True)).is_reversible()
    assert not MarkovChain(w / w.sum(axis=1, keepdims=True)).is_reversible()
    assert MarkovChain(PATHOLOGICAL["two states, 1e-9"]).is_reversible()
    spin = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]])
    assert not MarkovChain(spin).is_reversible()


def test_a_seed_repeats_a_walk_and_no_seed_does_not():
    chain = MarkovChain(random_chain(5, 3), list("abcde"))
    a, b = (chain.simulate(200, users=40, seed=11) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    assert a.shape == (40, 200)
    assert set(np.unique(a)) <= set("abcde")
    assert not np.array_equal(a, chain.simulate(200, users=40, seed=12))
    assert not np.array_equal(chain.simulate(200), chain.simulate(200))
    assert chain.simulate(3, start="b", seed=1)[0] == "b"


def p_value_of(walks, p):
    """Chi-square test that transitions follow `p`, given the states visited."""
    n = p.shape[0]
    found = np.zeros((n, n))
    np.add.at(found, (walks[:, :-1].ravel(), walks[:, 1:].ravel()), 1)
    expected = found.sum(axis=1, keepdims=True) * p
    possible = p > 0
    assert found[~possible].sum() == 0
    statistic = ((found - expected)[possible] ** 2 / expected[possible]).sum()
    return stats.chi2.sf(statistic, possible.sum() - n)


@pytest.mark.parametrize(("users", "length"), [(1, 60_000), (2000, 31)])
def test_walks_follow_the_chain(users, length):
    """Fixed seed; false-alarm rate 1e-3 for each case; a chain wrong by 20 % in one row is rejected."""
    p = random_chain(6, 4, 2.0)
    p[2] = [0, 0.5, 0, 0.5, 0, 0]
    walks = MarkovChain(p).simulate(length, users=users, seed=5)
    assert p_value_of(walks, p) > 1e-3
    wrong = p.copy()
    wrong[2] = [0, 0.4, 0, 0.6, 0, 0]
    assert p_value_of(walks, wrong) < 1e-6


def test_walks_start_where_they_are_told():
    """Fixed seed; false-alarm rate 1e-3; a start wrong by 5 % is rejected."""
    p = random_chain(4, 6)
    start = np.array([0.4, 0.0, 0.35, 0.25])
    first = MarkovChain(p).simulate(1, users=20_000, start=start, seed=7)[:, 0]
    counts = np.bincount(first, minlength=4)
    assert counts[1] == 0
    some = [0, 2, 3]
    assert stats.chisquare(counts[some], start[some] * 20_000).pvalue > 1e-3
    shifted = np.array([0.35, 0.35, 0.3])
    assert stats.chisquare(counts[some], shifted * 20_000).pvalue < 1e-6


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"length": 0}, ParameterError),
        ({"length": 2, "users": 0}, ParameterError),
        ({"length": 2.5}, ParameterError),
        ({"length": 2, "start": [0.5, 0.6]}, ChainError),
        ({"length": 2, "start": [1.0]}, ChainError),
        ({"length": 2, "seed": -1}, ParameterError),
    ],
)
def test_impossible_walks_are_refused(arguments, error):
    with pytest.raises(error):
        MarkovChain([[0.5, 0.5], [0.5, 0.5]]).simulate(**arguments)


def test_pydtmc_agrees_where_it_is_right():
    pydtmc = pytest.importorskip("pydtmc", reason="pydtmc needs numpy < 2; install it apart to compare")
    p = random_chain(6, 9)
    theirs, ours = pydtmc.MarkovChain(p, list("abcdef")), MarkovChain(p, list("abcdef"))
    np.testing.assert_allclose(theirs.pi[0], ours.stationary_distribution, rtol=1e-10)
    np.testing.assert_allclose(theirs.spectral_gap, ours.spectral_gap, rtol=1e-10)
    np.testing.assert_allclose(theirs.mean_first_passage_times_to(), ours.mean_first_passage, rtol=1e-10)
    np.testing.assert_allclose(theirs.entropy_rate, ours.entropy_rate(np.e), rtol=1e-10)
    assert pydtmc.MarkovChain([[0.999, 0.001], [0.001, 0.999]]).mixing_time() == 1
