"""Fallin et al.: the matrix mechanism, its Definition 4 with 32 rows, and the bounds of its section IV."""

import numpy as np
import pytest

from dpmarkov.chain import MarkovChain
from dpmarkov.errors import ParameterError
from dpmarkov.papers import fallin, gohari
from dpmarkov.privacy.pairs import BetaPair
from dpmarkov.privacy.profile import Profile

CITY = {"eta": 0.1, "eta_bar": 0.051, "b": 0.025}


def rows(n: int = 32, size: int = 2) -> dict[str, list[float]]:
    return {"n_watched": [size] * n, "gamma": [0.001] * n}


def pair(k: float) -> BetaPair:
    return BetaPair(alpha=k * 0.1, weight=k * 0.0125)


@pytest.mark.parametrize(("k", "printed", "formula"), [(9.87, 1.16, 1.167), (98.7, 11.12, 11.129)])
def test_the_papers_two_epsilons(k: float, printed: float, formula: float) -> None:
    claim = fallin.theorem1_one_row(k=k, **CITY, **rows())
    assert claim.epsilon == pytest.approx(formula, abs=1e-3)
    assert claim.epsilon == pytest.approx(printed, abs=0.01)


def test_assumption2_fails_at_the_papers_k() -> None:
    assert any(text.startswith("2:") for text in fallin.theorem1_one_row(k=9.87, **CITY, **rows()).violated)
    assert not fallin.theorem1_one_row(k=98.7, **CITY, **rows()).violated


def test_one_row_is_safe_and_far_from_exact() -> None:
    """One row differs: the exact epsilon at the paper's delta = .011 is at most .30; printed 1.16."""
    profile = Profile(((pair(9.87),),))
    assert profile.certified_epsilon(0.011) <= 0.30
    assert profile.certified_delta(1.16) < 1.2e-5


def test_definition4_is_not_protected_by_parallel_composition() -> None:
    """32 rows that all differ: the exact delta(1.16) is .1788, the claim .011 (as printed: 1.16, .011)."""
    claim = fallin.theorem1_as_printed(k=9.87, **CITY, **rows())
    together = Profile(((pair(9.87),) * 32,))
    delta = float(together.delta(1.16))
    assert delta == pytest.approx(0.17879, abs=2e-4)
    assert delta > 10 * 0.011
    assert delta > 5 * claim.delta
    # The pair of 32 rows is attained: two admissible matrices that are told apart this well.
    rng = np.random.default_rng(11)
    x = rng.beta(0.987 + 0.123375, 0.987, (400_000, 32))
    loss = 0.123375 * (np.log(x) - np.log1p(-x)).sum(axis=1)
    gain = np.maximum(0, 1 - np.exp(1.16 - loss))
    assert abs(gain.mean() - delta) < 4.4 * gain.std() / np.sqrt(len(gain)) + 2e-4


def test_all_rows_composed_is_a_valid_claim() -> None:
    claim = fallin.theorem1_all_rows(k=9.87, **CITY, **rows(4))
    one = fallin.theorem1_one_row(k=9.87, **CITY, **rows(4))
    assert claim.epsilon == pytest.approx(4 * one.epsilon)
    assert claim.delta == pytest.approx(1 - (1 - one.delta) ** 4)
    assert float(Profile(((pair(9.87),) * 4,)).delta(claim.epsilon)) <= claim.delta


def test_the_printed_delta_is_the_best_rows() -> None:
    sizes = {"n_watched": [2, 5], "gamma": [0.001, 0.001]}
    printed = fallin.theorem1_as_printed(k=20, **CITY, **sizes)
    valid = fallin.theorem1_one_row(k=20, **CITY, **sizes)
    assert printed.delta < valid.delta


def test_definition4_relation() -> None:
    p = np.array([[0.2, 0.3, 0.5], [0.3, 0.3, 0.4]])
    q = np.array([[0.21, 0.29, 0.5], [0.3, 0.31, 0.39]])
    w = [(0, 1, 2)] * 2
    assert fallin.definition4_adjacent(p, q, w, 0.02)
    assert not fallin.definition4_adjacent(p, q, w, 0.02, rows="one")
    assert not fallin.definition4_adjacent(p, q, w, 0.01)


@pytest.mark.parametrize("k", [3.0, 20.0, 150.0])
def test_theorem2_bounds_every_entry(k: float) -> None:
    from dpmarkov.papers.benvenuti_utility import lemma7

    first, second = fallin.theorem2(k)
    for share in np.linspace(0.01, 0.99, 99):
        mean, _, square, _ = lemma7(float(share), k)
        assert mean.value <= first.value * (1 + 1e-12)
        assert square.value <= second.value * (1 + 1e-12)
    assert lemma7(0.5, k)[0].value == pytest.approx(first.value, rel=1e-10)


def test_lemma3_holds_with_row_sums_and_fails_with_column_sums() -> None:
    """Row vectors multiply from the left: their norm is the largest row sum, not the matrix 1-norm."""
    rng = np.random.default_rng(5)
    fails = 0
    for _ in range(2000):
        n = int(rng.integers(3, 7))
        p, q = (rng.dirichlet(np.full(n, 0.4), n) + 1e-3 for _ in range(2))
        p, q = p / p.sum(axis=1, keepdims=True), q / q.sum(axis=1, keepdims=True)
        mix = q if rng.random() < 0.5 else p.copy()
        if mix is not q:
            mix[0] = q[0]
        pi, other = MarkovChain(p).stationary_distribution, MarkovChain(mix).stationary_distribution
        z = np.linalg.inv(np.eye(n) - p - np.outer(np.ones(n), pi))
        assert np.abs(pi - other).sum() <= fallin.lemma3(z, p, mix).value * (1 + 1e-9)
        columns = np.abs(z).sum(axis=0).max() * np.abs(p - mix).sum(axis=0).max()
        fails += np.abs(pi - other).sum() > columns
    assert fails > 0


def test_theorem3_and_its_valid_replacement() -> None:
    """E|pi - pi~|_1 over 400 draws stays below both; the paper's is no guarantee, the other is."""
    rng = np.random.default_rng(2)
    n, k = 6, 80.0
    p = rng.dirichlet(np.full(n, 4.0), n)
    chain = MarkovChain(p)
    z = np.linalg.inv(np.eye(n) - p - np.outer(np.ones(n), chain.stationary_distribution))
    error = []
    for _ in range(400):
        private = np.stack([rng.dirichlet(k * row) for row in p])
        error.append(
            np.abs(MarkovChain(private).stationary_distribution - chain.stationary_distribution).sum()
        )
    assert np.mean(error) < fallin.theorem3(z, k).value
    assert (
        np.mean(error) < fallin.theorem3_as_printed(z, k=k, eta=0.02, eta_bar=0.02, n_watched=[5] * n).value
    )


def test_k_for_epsilon_and_the_least_epsilon() -> None:
    least = fallin.smallest_epsilon(**CITY, n_watched=2, gamma=0.001)
    k = fallin.k_for_epsilon(3.0, **CITY, n_watched=2, gamma=0.001)
    assert gohari.lemma4(k=k, **CITY, n_watched=2, gamma=0.001) == pytest.approx(3.0, rel=1e-9)
    with pytest.raises(ParameterError, match="least"):
        fallin.k_for_epsilon(least * 0.99, **CITY, n_watched=2, gamma=0.001)


def test_lemma2_is_gohari_lemma1() -> None:
    assert (
        fallin.lemma2((0.2, 0.3, 0.5), 20, (0, 1), 0.05).value
        == gohari.lemma1((0.2, 0.3, 0.5), 20, (0, 1), 0.05).value
    )
