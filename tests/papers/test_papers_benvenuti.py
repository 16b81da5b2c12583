"""Benvenuti et al.: the grade example, data-dependent borders, and the utility theorems."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dpmarkov.chain import MarkovChain
from dpmarkov.errors import ParameterError
from dpmarkov.papers import benvenuti
from dpmarkov.papers import benvenuti_utility as utility
from dpmarkov.papers.results import Claim
from dpmarkov.privacy.pairs import BetaPair
from dpmarkov.privacy.profile import Profile

GRADES = {"eta": 0.073, "n_entries": 98, "n_categories": 5, "gamma": 0.0004}
# Rows one and two are visited 998 times in 1000; the noise is in the third.
RARE = np.array([[0.3, 0.699, 0.001], [0.3, 0.699, 0.001], [0.25, 0.25, 0.5]])
RARE_K, RARE_N = [30_000.0, 30_000.0, 7.5], [100_000, 100_000, 20]


def draws(p: np.ndarray, k: list[float], times: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.dirichlet(k_i * row, times) for row, k_i in zip(p, k, strict=True)], axis=1)


def test_the_grades() -> None:
    """k = 20.6: the formula gives (2.212, .0020); printed (2.255, .0026); exact epsilon at .0026: .629."""
    claim = benvenuti.theorem1(k=20.6, **GRADES)
    assert round(claim.epsilon, 3) == 2.212
    assert round(claim.delta, 4) == 0.0020
    assert claim.violated == ()
    exact = Profile(((BetaPair(alpha=20.6 * 0.073, weight=20.6 / 98),),))
    assert round(exact.certified_epsilon(0.0026), 3) == 0.629
    assert exact.certified_epsilon(0.0026) <= 0.63
    assert exact.certified_delta(2.255) == pytest.approx(2.46e-8, rel=2e-3)
    assert round(exact.certified_epsilon(1e-5), 3) == 1.415


def test_the_certified_delta_is_close_and_above() -> None:
    exact, bound = (benvenuti.theorem1(k=20.6, **GRADES, certified=c).delta for c in (False, True))
    assert exact < bound < exact * 1.001


def test_theorem1_bounds_the_exact_curve() -> None:
    for k, eta, n_entries, n in ((20.6, 0.073, 98, 5), (150.0, 0.01, 3000, 20), (40.0, 0.04, 100, 3)):
        for gamma in (1e-3, 1e-6):
            claim = benvenuti.theorem1(k=k, eta=eta, n_entries=n_entries, n_categories=n, gamma=gamma)
            exact = Profile(((BetaPair(alpha=k * eta, weight=k / n_entries),),))
            assert exact.certified_delta(claim.epsilon) <= claim.delta


def test_smallest_epsilon_is_at_the_least_k() -> None:
    least = benvenuti.smallest_epsilon(**GRADES)
    assert least == pytest.approx(benvenuti.theorem1(k=3 / (2 * 0.073), **GRADES).epsilon)
    k = benvenuti.k_for_epsilon(3.31, **GRADES)
    assert benvenuti.theorem1(k=k, **GRADES).epsilon == pytest.approx(3.31, rel=1e-9)
    with pytest.raises(ParameterError, match="least that this formula reaches"):
        benvenuti.k_for_epsilon(2.0, **GRADES)


def delta_of_two_betas(p: tuple[float, float], q: tuple[float, float], epsilon: float) -> float:
    """H_{e^eps}(Beta(p) || Beta(q)) in 40 digits, over the one interval where the ratio is above e^eps."""
    with mpmath.workdps(40):
        a, b, c, d = (mpmath.mpf(x) for x in (*p, *q))
        offset = mpmath.log(mpmath.beta(c, d)) - mpmath.log(mpmath.beta(a, b)) - mpmath.mpf(epsilon)
        ratio = lambda t: (a - c) * t + (b - d) * mpmath.log(1 - mpmath.exp(t)) + offset  # noqa: E731
        root = mpmath.exp(mpmath.findroot(ratio, (mpmath.mpf(-60), mpmath.mpf(-1e-3)), solver="anderson"))
        tails = [mpmath.betainc(x, y, 0, root, regularized=True) for x, y in ((a, b), (c, d))]
        return float(tails[0] - mpmath.exp(epsilon) * tails[1])


def test_a_border_taken_from_the_data_has_no_guarantee() -> None:
    """Counts (2, 24, 24) claim (16.2063, 3.28e-10); the neighbour (1, 25, 24) has delta = 3.715e-8."""
    claim = benvenuti.data_dependent_eta_as_printed((2, 24, 24), gamma=1e-8)
    assert round(claim.epsilon, 4) == 16.2063
    assert claim.delta == pytest.approx(3.28e-10, rel=2e-3)
    assert any("public" in text for text in claim.violated)
    k = 37.5
    neighbour, data = (k * 1 / 50, k * 25 / 50), (k * 2 / 50, k * 24 / 50)
    truth = delta_of_two_betas(neighbour, data, claim.epsilon)
    assert truth == pytest.approx(3.715e-8, rel=1e-3)
    assert truth > 100 * claim.delta


def test_a_neighbour_with_an_empty_cell_gives_everything_away() -> None:
    """A count of 1 whose neighbour is 0: the neighbour's draw has an exact 0 there, so delta = 1."""
    claim = benvenuti.data_dependent_eta_as_printed((1, 30, 30), gamma=1e-8)
    assert claim.delta < 1e-6
    rng = np.random.default_rng(0)
    k = 3 / (2 / 61)
    assert np.all(rng.dirichlet(k * np.array([1, 30, 30]) / 61, 1000)[:, 0] > 0)
    with pytest.raises(ParameterError, match="at least 1"):
        benvenuti.data_dependent_eta_as_printed((0, 31, 30), gamma=1e-8)


def test_algorithms_hand_over_parameters_and_claims() -> None:
    plan = benvenuti.algorithm1((30, 20, 30, 10, 8), k=20.6, eta=0.073, gamma=0.0004)
    assert np.allclose(plan.parameters[0], 20.6 * np.array([30, 20, 30, 10, 8]) / 98)
    assert plan.claim.epsilon == benvenuti.theorem1(k=20.6, **GRADES).epsilon
    both = benvenuti.algorithm2(
        [(30, 20, 30, 10, 8), (300, 200, 300, 100, 80)], k=[20.6, 25], eta=[0.073, 0.073], gamma=[4e-4, 4e-4]
    )
    assert both.claim.epsilon == plan.claim.epsilon
    assert len(both.parameters) == 2
    with pytest.raises(ParameterError, match="below eta"):
        benvenuti.algorithm1((30, 20, 30, 10, 2), k=20.6, eta=0.073, gamma=0.0004)


def test_lemma1_holds_and_its_printed_proof_does_not() -> None:
    parts = [Claim(theorem="t", epsilon=e, delta=d, assumptions=()) for e, d in ((1.0, 0.01), (2.0, 0.001))]
    worst = benvenuti.lemma1(parts)
    assert (worst.epsilon, worst.delta) == (2.0, 0.01)
    # The proof needs P(Omega_2) <= max delta for the complement of the product of the rows' Omega_1.
    assert worst.delta < 1 - (1 - 0.01) * (1 - 0.001)


def test_lemma2_and_3() -> None:
    shares = (0.3, 0.25, 0.2, 0.15, 0.1)
    inside = benvenuti.lemma2(shares, 20.6, 0.0004).value
    assert inside > benvenuti.lemma3_minimum(20.6, 0.073, 5, 0.0004).value
    assert 1 - benvenuti.lemma3_minimum(20.6, 0.073, 5, 0.0004).value == pytest.approx(0.00199534929640666)


@pytest.mark.parametrize("k", [4.0, 20.6, 110.6])
def test_theorem2_is_the_expected_divergence(k: float) -> None:
    """Against 200,000 draws; a false alarm has probability 1e-5."""
    shares = np.array([0.35, 0.25, 0.2, 0.127, 0.073])
    x = np.random.default_rng(1).dirichlet(k * shares, 200_000)
    kl = (shares * np.log(shares / x)).sum(axis=1)
    exact = utility.theorem2(shares.tolist(), k).value
    assert abs(kl.mean() - exact) < 4.4 * kl.std() / np.sqrt(len(kl))


@settings(deadline=None)
@given(st.integers(3, 8), st.integers(1, 40), st.floats(2, 200), st.data())
def test_corollary1_is_the_maximum(n: int, extra: int, k: float, data: st.DataObject) -> None:
    counts = np.ones(n, dtype=int)
    for at in data.draw(st.lists(st.integers(0, n - 1), min_size=extra, max_size=extra)):
        counts[at] += 1
    total = int(counts.sum())
    value = utility.theorem2((counts / total).tolist(), k).value
    assert value <= utility.corollary1(k=k, n_entries=total, n_categories=n).value * (1 + 1e-9) + 1e-12


def test_corollary1_floor_uses_the_public_border() -> None:
    assert (
        utility.corollary1_floor(k=20.6, eta=0.073, n_categories=5).value
        < utility.corollary1(k=20.6, n_entries=98, n_categories=5).value
    )
    with pytest.raises(ParameterError, match="1/n"):
        utility.corollary1_floor(k=20.6, eta=0.3, n_categories=5)


def test_definition7_against_a_linear_program() -> None:
    rng = np.random.default_rng(4)
    for n in (2, 3, 5, 6):
        p = rng.dirichlet(np.ones(n), n)
        best = 0.0
        for column in p.T:
            for signed in (column, -column):
                found = optimize.linprog(-signed, A_eq=np.ones((1, n)), b_eq=[0], bounds=[(-1, 1)] * n)
                best = max(best, -found.fun)
        assert utility.definition7(p) == pytest.approx(best, abs=1e-9)


def test_theorem5_is_false() -> None:
    """n = 3, every assumption met: the mean change of tau_inf is .125, the bound .028. Fixed seed."""
    bound = utility.theorem5_as_printed(RARE, RARE_K, RARE_N)
    assert bound.violated == ()
    for row, k, n_entries, eta in zip(RARE, RARE_K, RARE_N, (0.001, 0.001, 0.2), strict=True):
        assert np.allclose(row * n_entries, np.round(row * n_entries)), "shares are those of counts"
        claim = benvenuti.theorem1(k=k, eta=eta, n_entries=n_entries, n_categories=3, gamma=1e-6)
        assert claim.violated == ()
        assert row.min() >= eta
    x = draws(RARE, RARE_K, 20_000, seed=0)
    ordered = np.sort(x, axis=1)
    change = np.abs((ordered[:, -1] - ordered[:, 0]).max(axis=1) - utility.definition7(RARE))
    error = change.std() / np.sqrt(len(change))
    assert bound.value == pytest.approx(0.0283, abs=1e-4)
    assert abs(change.mean() - 0.125) < 0.004
    assert change.mean() - 4.4 * error > 4 * bound.value
    assert change.mean() + 4.4 * error < utility.theorem5(RARE, RARE_K).value


def test_lemma6_is_false_and_its_weighted_form_is_true() -> None:
    """E|P - P~|_1 = .19 (largest column sum), .38 (largest row sum), against .028; weighted: .005."""
    x = np.abs(draws(RARE, RARE_K, 20_000, seed=1) - RARE)
    claimed = utility.lemma6_as_printed(RARE, RARE_K, RARE_N).value
    for axis in (1, 2):
        norm = x.sum(axis=axis).max(axis=1)
        assert norm.mean() - 4.4 * norm.std() / np.sqrt(len(norm)) > 6 * claimed
    weighted = x.sum(axis=2) @ MarkovChain(RARE).stationary_distribution
    assert weighted.mean() < utility.lemma6(RARE, RARE_K, RARE_N).value


def random_chain(rng: np.random.Generator) -> tuple[np.ndarray, list[float], list[int]]:
    n = int(rng.integers(3, 6))
    n_entries = [int(rng.integers(40, 3000)) for _ in range(n)]
    p = np.stack([(1 + rng.multinomial(size - n, rng.dirichlet(np.ones(n)))) / size for size in n_entries])
    k = [float(rng.uniform(1, 4)) * 1.5 / min(row.min(), 0.249) for row in p]
    return p, k, n_entries


def test_valid_replacements_hold_on_random_chains() -> None:
    """Theorem 5's and Lemma 6's replacements on 300 random chains, 200 draws each."""
    rng = np.random.default_rng(8)
    for _ in range(300):
        p, k, n_entries = random_chain(rng)
        x = draws(p, k, 200, seed=int(rng.integers(2**31)))
        pi = MarkovChain(p).stationary_distribution
        half = len(p) // 2
        ordered = np.sort(x, axis=1)
        tau = (ordered[:, -half:].sum(axis=1) - ordered[:, :half].sum(axis=1)).max(axis=1)
        change = np.abs(tau - utility.definition7(p)).mean()
        assert change <= utility.theorem5(p, k).value
        weighted = (np.abs(x - p).sum(axis=2) @ pi).mean()
        assert weighted <= utility.lemma6(p, k, n_entries).value


def test_theorem4_was_not_seen_to_fail_under_full_support() -> None:
    """It is the paper's all the same: its proof does not hold, and nothing here relies on it."""
    from dpmarkov.chain.gth import stationary_vectors

    rng = np.random.default_rng(9)
    ratios = []
    for _ in range(150):
        p, k, n_entries = random_chain(rng)
        x = stationary_vectors(draws(p, k, 200, seed=int(rng.integers(2**31))))
        tv = np.abs(x - MarkovChain(p).stationary_distribution).sum(axis=1).mean() / 2
        ratios.append(tv / utility.theorem4_as_printed(p, k, n_entries).value)
    assert max(ratios) < 1


def test_theorem4_was_not_seen_to_fail_with_known_zeros() -> None:
    """Sparse chains, with L from the rows' own supports, the smallest value that could be meant."""
    from dpmarkov.chain.gth import stationary_vectors

    rng = np.random.default_rng(10)
    ratios = []
    while len(ratios) < 150:
        n = int(rng.integers(3, 6))
        keep = (rng.random((n, n)) < 0.5) | np.roll(np.eye(n), 1, axis=1).astype(bool)
        p = np.where(keep, rng.dirichlet(np.ones(n), n) + 0.02, 0)
        p /= p.sum(axis=1, keepdims=True)
        chain = MarkovChain(p)
        pi = chain.stationary_distribution
        k, loss = np.ones(n), 0.0
        for i, row in enumerate(p):
            own = row[row > 0]
            if own.size > 1:
                k[i] = 1.5 / min(own.min(), 0.249) * math.exp(max(0.0, rng.normal(0, 3)))
                eta = min(own.min(), 1 / own.size)
                loss += pi[i] * utility.corollary1_floor(k=k[i], eta=eta, n_categories=own.size).value
        if loss == 0:
            continue
        x = rng.standard_gamma(np.broadcast_to(p * k[:, None], (200, n, n))) + np.where(p > 0, 1e-300, 0)
        private = stationary_vectors(x / x.sum(axis=2, keepdims=True))
        z = np.linalg.inv(np.eye(n) - p - np.outer(np.ones(n), pi))
        bound = np.abs(z).sum(axis=0).max() * math.sqrt(2 * loss) / 2
        ratios.append(np.abs(private - pi).sum(axis=1).mean() / 2 / bound)
    assert max(ratios) < 0.7


def test_lemma4_is_the_weighted_theorem2() -> None:
    p = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.1, 0.2, 0.7]])
    pi = MarkovChain(p).stationary_distribution
    rows = [utility.theorem2(row[row > 0].tolist(), 30).value for row in p]
    assert utility.lemma4(p, [30, 30, 30]).value == pytest.approx(float(pi @ rows))
    assert utility.chain_loss(p + 0.0, [30, 30, 30], [50, 50, 50]) > utility.lemma4(p, [30, 30, 30]).value


def test_lemma5_bounds_the_stationary_error() -> None:
    q = draws(RARE, RARE_K, 1, seed=3)[0]
    pi, other = MarkovChain(RARE).stationary_distribution, MarkovChain(q).stationary_distribution
    z = np.linalg.inv(np.eye(3) - RARE - np.outer(np.ones(3), pi))
    assert np.abs(pi - other).sum() <= utility.lemma5(z, RARE, q).value


@given(st.floats(0.01, 0.99), st.floats(2, 300))
def test_lemma7_and_lemma8(share: float, k: float) -> None:
    mean, mean_bound, square, square_bound = utility.lemma7(share, k)
    assert mean.value <= mean_bound.value * (1 + 1e-9)
    assert square.value <= square_bound.value
    assert mean.value**2 <= square.value * (1 + 1e-9)
    if 1 / 100 <= share <= 1 - 4 / 100:
        assert utility.lemma8(k=k, n_entries=100, n_categories=5).value <= mean.value * (1 + 1e-9)


def test_lemma7_against_quadrature() -> None:
    with mpmath.workdps(20):
        a, b = mpmath.mpf(6), mpmath.mpf(14)
        density = lambda x: abs(x - mpmath.mpf("0.3")) * x ** (a - 1) * (1 - x) ** (b - 1)  # noqa: E731
        truth = float(mpmath.quad(density, [0, 0.3, 1]) / mpmath.beta(a, b))
    assert utility.lemma7(0.3, 20)[0].value == pytest.approx(truth, rel=1e-10)
