"""Ponnoprat: tCDP, its conversion, accuracy and sample sizes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from dpmarkov.errors import ParameterError
from dpmarkov.papers import ponnoprat
from dpmarkov.papers import ponnoprat_utility as utility
from dpmarkov.privacy.pairs import BetaPair, GammaPair
from dpmarkov.privacy.profile import Profile

REPLACE = {"delta2_squared": 2.0, "delta_inf": 1.0}


@pytest.mark.parametrize(
    ("alpha", "printed", "exact", "digits"), [(1, 30.1, 11.5, 1), (5, 6.27, 2.97, 2), (50, 1.23, 0.734, 3)]
)
def test_theorem2_against_exact(alpha: float, printed: float, exact: float, digits: int) -> None:
    claim = ponnoprat.theorem2(alpha_m=alpha, delta=1e-5, **REPLACE)
    assert claim.epsilon == pytest.approx(printed, rel=2.5e-3)
    profile = Profile(((BetaPair(alpha=float(alpha), weight=1.0),),))
    assert round(profile.certified_epsilon(1e-5), digits) == exact
    assert profile.certified_delta(claim.epsilon) <= 1e-5


def renyi(alpha: float, weight: float, order: float) -> float:
    """The exact divergence of Theorem A's pair."""
    g = special.gammaln
    value = g(alpha + order * weight) + g(alpha - (order - 1) * weight) - g(alpha + weight) - g(alpha)
    return float(value / (order - 1))


@given(st.floats(0.5, 80), st.floats(0.01, 0.99), st.floats(0.05, 3), st.floats(0.001, 0.999))
def test_theorem1_bounds_the_exact_divergence(alpha: float, part: float, r: float, at: float) -> None:
    found = ponnoprat.theorem1(alpha_m=alpha, gamma=part * alpha, **REPLACE, r=r)
    order = 1 + at * (found.omega - 1)
    if order - 1 < 1e-6:
        return
    assert renyi(alpha, r, order) <= order * found.rho * (1 + 1e-7) + 1e-9


@settings(deadline=None, max_examples=40)
@given(st.floats(0.5, 60), st.floats(0.05, 2), st.sampled_from([1e-3, 1e-6, 1e-9]))
def test_theorem2_is_the_best_gamma_and_never_below_exact(alpha: float, r: float, delta: float) -> None:
    for relation, pair in ((2.0, BetaPair), (1.0, GammaPair)):
        claim = ponnoprat.theorem2(alpha_m=alpha, delta=delta, delta2_squared=relation, r=r)
        for part in np.linspace(0.02, 0.98, 25):
            some = ponnoprat.equation6(
                alpha_m=alpha, gamma=alpha * part, delta=delta, delta2_squared=relation, r=r
            )
            assert claim.epsilon <= some.epsilon * (1 + 1e-6)
        assert Profile(((pair(alpha=alpha, weight=r),),)).delta(claim.epsilon) <= delta * (1 + 1e-6)


def test_lemma1_has_two_regimes() -> None:
    tight = ponnoprat.Concentrated(theorem="t", rho=0.1, omega=math.inf)
    assert ponnoprat.lemma1(tight, 1e-5).epsilon == pytest.approx(0.1 + 2 * math.sqrt(0.1 * math.log(1e5)))
    short = ponnoprat.Concentrated(theorem="t", rho=0.1, omega=3)
    assert ponnoprat.lemma1(short, 1e-5).epsilon == pytest.approx(0.3 + math.log(1e5) / 2)
    with pytest.raises(ParameterError, match="delta"):
        ponnoprat.lemma1(short, 0.0)


def test_threshold_groups_and_composition() -> None:
    plain = ponnoprat.theorem1(alpha_m=2, gamma=1, **REPLACE)
    known = ponnoprat.theorem1_with_threshold(alpha_m=2, threshold=10, gamma=1, **REPLACE)
    assert known.rho < plain.rho
    assert known.rho == ponnoprat.theorem1(alpha_m=12, gamma=1, **REPLACE).rho
    assert known.assumptions[0].holds is None
    groups = ponnoprat.theorem1_groups([(2, 3), (5, 9)], gamma=1, **REPLACE)
    assert groups.rho == plain.rho
    both = ponnoprat.compose([plain, known, ponnoprat.gaussian_rho(sigma=2, delta2_squared=2)])
    assert both.rho == pytest.approx(plain.rho + known.rho + 0.25)
    assert both.omega == plain.omega
    with pytest.raises(ParameterError, match="gamma"):
        ponnoprat.theorem1(alpha_m=1, gamma=1, **REPLACE)


@pytest.mark.parametrize("r", [0.2, 1.0, 4.0])
def test_appendix_d(r: float) -> None:
    alpha = ponnoprat.prior_for_rho(0.1, gamma=2, delta2_squared=2.0, r=r)
    assert ponnoprat.theorem1(alpha_m=alpha, gamma=2, **REPLACE, r=r).rho == pytest.approx(0.1, rel=1e-9)
    # The paper's example: from r = 1 to 4 the prior grows about 16-fold, and so does the bias's weight.
    one, four = (ponnoprat.prior_for_rho(0.1, gamma=2, delta2_squared=2.0, r=x) - 2 for x in (1.0, 4.0))
    assert four / one == pytest.approx(16, rel=0.06)
    few = utility.appendix_d_bias(0.1, n_observations=100, r=1, alpha=1, n_categories=5)
    more = utility.appendix_d_bias(0.1, n_observations=100, r=4, alpha=16, n_categories=5)
    assert more.value > few.value


def test_posterior_divergence_against_quadrature() -> None:
    a, b = np.array([2.0, 3.5]), np.array([4.0, 1.5])
    x = (np.arange(200_000) + 0.5) / 200_000
    p = x ** (a[0] - 1) * (1 - x) ** (a[1] - 1) / special.beta(*a)
    q = x ** (b[0] - 1) * (1 - x) ** (b[1] - 1) / special.beta(*b)
    assert float(utility.posterior_divergence(a, b)) == pytest.approx(
        float(np.mean(p * np.log(p / q))), rel=1e-6
    )


@pytest.mark.parametrize("shift", [0.0, 0.5, 4.0])
def test_theorem3_bounds_the_expected_divergence(shift: float) -> None:
    p, n = np.array([0.5, 0.3, 0.15, 0.05]), 60
    x = np.random.default_rng(0).multinomial(n, p, 20_000)
    divergence = utility.posterior_divergence(x + 1.0, x + 1.0 + shift).mean()
    bound = utility.theorem3(p.tolist(), n_observations=n, prior=[1.0] * 4, private=[1.0 + shift] * 4)
    assert divergence <= bound.value
    assert not bound.violated
    assert utility.theorem3(p.tolist(), n_observations=n, prior=[0.5] * 4, private=[1.0] * 4).violated


def test_theorem4_holds_with_its_probability() -> None:
    p, n, alpha, beta = np.array([0.6, 0.3, 0.1]), 200, 3.0, 0.05
    y = np.random.default_rng(0).dirichlet(n * p + alpha, 50_000)
    bound = utility.theorem4(n_observations=n, prior=[alpha] * 3, beta=beta).value
    assert (np.abs(y - p).max(axis=1) <= bound).mean() >= 1 - beta
    size = utility.equation13_sample_size(prior=[alpha] * 3, beta=beta, error=0.05)
    assert utility.theorem4(n_observations=size, prior=[alpha] * 3, beta=beta).value < 0.05
    assert utility.theorem4(n_observations=size - 1, prior=[alpha] * 3, beta=beta).value >= 0.05


def test_equation16_holds_and_17_says_which_needs_less() -> None:
    n, d, rho, beta = 300, 10, 0.1, 0.05
    sigma = math.sqrt(2 / (2 * n**2 * rho))
    z = np.abs(np.random.default_rng(0).normal(0, sigma, (50_000, d))).max(axis=1)
    bound = utility.equation16(n_categories=d, n_observations=n, beta=beta, rho=rho, delta2_squared=2).value
    assert (z <= bound).mean() >= 1 - beta
    for error in (0.3, 0.05, 0.01):
        first, second = utility.equation17(n_categories=d, beta=beta, error=error, rho=rho, delta2_squared=2)
        assert first > second
    size = utility.equation16_sample_size(n_categories=d, beta=beta, error=0.01, rho=rho, delta2_squared=2)
    assert size < utility.equation13_sample_size(prior=[12.0] * d, beta=beta, error=0.01)


def test_orders_of_sample_sizes_scale_as_the_paper_says() -> None:
    p = [0.5, 0.3, 0.2]
    high = [
        utility.section41_order(p, rho=r, delta2_squared=2, divergence=0.1, regime="high") for r in (0.1, 0.2)
    ]
    low = [
        utility.section41_order(p, rho=r, delta2_squared=2, divergence=0.1, regime="low") for r in (10, 20)
    ]
    assert high[0] / high[1] == pytest.approx(4)
    assert low[0] / low[1] == pytest.approx(2)
    found = utility.equation11_sample_size(p, shift=3.0, divergence=0.1)
    prior, private = [1.0] * 3, [4.0] * 3
    assert utility.theorem3(p, n_observations=found, prior=prior, private=private).value < 0.1
    assert utility.theorem3(p, n_observations=found - 1, prior=prior, private=private).value >= 0.1
    orders = [
        utility.equation14_order(
            n_categories=10, beta=0.05, error=0.05, rho=0.1, gamma=1, delta2_squared=2, regime=regime
        )
        for regime in ("high", "low")
    ]
    assert orders[0] > orders[1]
