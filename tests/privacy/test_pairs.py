"""The curves of Theorems A and B against 60 digits, and what every pair must obey."""

import math

import numpy as np
import privacy_truth as truth
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmarkov.errors import ParameterError, ReleaseFormatError
from dpmarkov.privacy.pairs import ApproximatePair, BetaPair, GammaPair, PurePair, pair_from_dict
from dpmarkov.privacy.pairs_additive import DiscreteGaussianPair, DiscreteLaplacePair, GaussianNormPair
from dpmarkov.privacy.renyi import renyi_beta
from dpmarkov.privacy.tails import log_delta_beta, log_delta_gamma_add, log_delta_gamma_remove

BETA_REFERENCE = [
    (1.5, 0.21, 0.5, 6.27160373378e-3),
    (1.5, 0.21, 3.0, 1.22697147791e-10),
    (0.3, 0.05, 0.1, 4.72709197875e-2),
    (7.25, 0.6, 1.0, 2.10719623432e-4),
    (120.0, 2.5, 0.5, 1.0615644602e-2),
    (0.030, 0.0035, 2.72, 4.13727997e-12),
]
GAMMA_REFERENCE = [
    (1.5, 0.21, 0.5, 5.1166429455e-7, 3.02993793685e-3),
    (7.25, 0.6, 1.0, 2.14258336993e-11, 2.62661585309e-5),
    (120.0, 2.5, 1.0, 8.45306136653e-8, 1.63736235289e-6),
]
PAIRS = [
    BetaPair(alpha=1.5, weight=0.21),
    BetaPair(alpha=0.03, weight=0.0035),
    GammaPair(alpha=7.25, weight=0.6),
    GammaPair(alpha=0.4, weight=1.3, vanishes=True),
    PurePair(epsilon=0.7),
    ApproximatePair(epsilon=0.7, delta=1e-5),
    DiscreteLaplacePair(scale=2.5, shift=1),
    DiscreteLaplacePair(scale=2.5, shift=4),
    DiscreteGaussianPair(sigma=3.3, shift=2),
    DiscreteGaussianPair(sigma=0.4, shift=1),
    GaussianNormPair(sigma=9.0, squared=13, cells=5),
]


@pytest.mark.parametrize(("alpha", "weight", "epsilon", "expected"), BETA_REFERENCE)
def test_theorem_a_reference(alpha, weight, epsilon, expected):
    pair = BetaPair(alpha=alpha, weight=weight)
    assert math.exp(pair.log_delta(epsilon)) == pytest.approx(expected, rel=5e-10)
    assert pair.certified_delta(epsilon) == pytest.approx(expected, rel=5e-10)


def test_the_naive_closed_form_underflows_where_ours_does_not():
    with np.errstate(over="ignore"):
        assert 1 / (1 + np.exp(np.float64(2.72 / 0.0035))) == 0.0
    assert BetaPair(alpha=0.030, weight=0.0035).certified_delta(2.72) == pytest.approx(4.13728e-12, rel=1e-5)


@pytest.mark.parametrize(("alpha", "weight", "epsilon", "add", "remove"), GAMMA_REFERENCE)
def test_theorem_b_reference(alpha, weight, epsilon, add, remove):
    pair = GammaPair(alpha=alpha, weight=weight)
    assert math.exp(pair.log_delta(epsilon)) == pytest.approx(add, rel=5e-10)
    assert math.exp(pair.reverse().log_delta(epsilon)) == pytest.approx(remove, rel=5e-10)
    assert pair.certified_delta(epsilon) == pytest.approx(add, rel=5e-10)
    assert pair.reverse().certified_delta(epsilon) == pytest.approx(remove, rel=5e-10)


def _parameters(count, seed, largest):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        alpha = 10 ** rng.uniform(-3, largest)
        weight = alpha ** rng.uniform(0, 0.9) * 10 ** rng.uniform(-2, 0.7)
        yield alpha, weight, 10 ** rng.uniform(-2, 1)


@pytest.mark.parametrize("kind", ["beta", "add", "remove"])
def test_random_parameters_against_sixty_digits(kind):
    rules = {"beta": log_delta_beta, "add": log_delta_gamma_add, "remove": log_delta_gamma_remove}
    compared = deep = 0
    for alpha, weight, epsilon in _parameters(220, 7, 2.7):
        ours = float(rules[kind](alpha, weight, epsilon))
        if ours < -3000:
            continue
        exact = (
            truth.beta(alpha, weight, epsilon)
            if kind == "beta"
            else truth.gamma(alpha, weight, epsilon, vanishes=kind == "remove")
        )
        expected = truth.log(exact)
        # Ten digits of delta: an absolute error of its logarithm.
        assert ours == pytest.approx(expected, abs=1e-10), (alpha, weight, epsilon)
        pair = (
            BetaPair(alpha=alpha, weight=weight)
            if kind == "beta"
            else GammaPair(alpha=alpha, weight=weight, vanishes=kind == "remove")
        )
        certified = pair.certified_delta(epsilon)
        assert certified >= exact
        if expected > -650:
            assert certified <= exact * (1 + 1e-9)
        compared += 1
        deep += expected < -200
    assert compared >= 120
    assert deep >= 5


@pytest.mark.parametrize("kind", ["beta", "remove"])
def test_large_parameters_against_ball_arithmetic(kind):
    """Alpha up to 1e6, where mpmath is slow; formulas written out here, at 400 bits."""
    compared = 0
    before = ctx.prec
    ctx.prec = 400
    try:
        for alpha, weight, epsilon in _parameters(24, 11, 6):
            epsilon = min(epsilon, 8 * weight / math.sqrt(alpha + 1))
            a, w, e = arb(alpha), arb(weight), arb(epsilon)
            if kind == "beta":
                s = 1 / (1 + (e / w).exp())
                value = s.beta_lower(a, a + w, 1) - e.exp() * s.beta_lower(a + w, a, 1)
                ours = float(log_delta_beta(alpha, weight, epsilon))
            else:
                t = (((a + w).lgamma() - a.lgamma() - e) / w).exp()
                value = 1 - t.gamma_upper(a, 1) - e.exp() * (1 - t.gamma_upper(a + w, 1))
                ours = float(log_delta_gamma_remove(alpha, weight, epsilon))
            if value.is_finite() and value.rel_accuracy_bits() > 50:
                assert ours == pytest.approx(float(value.log()), abs=1e-10), (alpha, weight, epsilon)
                compared += alpha > 1e4
    finally:
        ctx.prec = before
    assert compared >= 4


def test_rows_and_epsilons_broadcast():
    alpha = np.array([[0.5], [3.0], [40.0]])
    weight = np.array([[0.1], [0.3], [2.0]])
    epsilon = np.array([-0.5, 0.0, 0.3, 2.0])
    table = log_delta_beta(alpha, weight, epsilon)
    assert table.shape == (3, 4)
    for row in range(3):
        for column in range(4):
            single = log_delta_beta(alpha[row, 0], weight[row, 0], epsilon[column])
            assert table[row, column] == pytest.approx(float(single), rel=1e-14)


def test_one_and_one_is_the_logistic_function():
    epsilon = np.linspace(0, 20, 41)
    assert np.allclose(
        np.exp(log_delta_beta(1.0, 1.0, epsilon)), 1 / (1 + np.exp(epsilon)), rtol=1e-12, atol=0
    )


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_a_curve_is_a_curve(pair):
    epsilon = np.linspace(-12, 12, 481)
    delta = np.exp(pair.log_delta(epsilon))
    assert np.all((delta >= 0) & (delta <= 1))
    assert np.all(np.diff(delta) <= 1e-12)
    # Convex in e^eps, and never below total variation of disjointness: 1 - e^eps.
    slope = np.diff(delta) / np.diff(np.exp(epsilon))
    assert np.all(np.diff(slope) >= -1e-6 * np.abs(slope[1:]) - 1e-9)
    assert np.all(delta >= -np.expm1(epsilon) - 1e-12)


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_negative_epsilon_is_the_reverse_pair(pair):
    for epsilon in (0.05, 0.4, 2.0):
        mirrored = -math.expm1(-epsilon) + math.exp(-epsilon + float(pair.reverse().log_delta(epsilon)))
        if not isinstance(pair, GaussianNormPair):
            assert math.exp(float(pair.log_delta(-epsilon))) == pytest.approx(mirrored, rel=1e-10)
        assert math.exp(float(pair.log_delta(-epsilon))) >= mirrored * (1 - 1e-10)


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
@pytest.mark.parametrize("epsilon", [-1.3, 0.0, 0.05, 0.4, 0.7, 1.6, 2.9])
def test_certified_is_not_below_and_close(pair, epsilon):
    certified = pair.certified_delta(epsilon)
    floating = math.exp(float(pair.log_delta(epsilon)))
    assert certified >= floating * (1 - 1e-9) - 1e-16
    assert certified <= floating * (1 + 1e-8) + 1e-15


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_pairs_are_written_and_read(pair):
    assert pair_from_dict(pair.to_dict()) == pair
    assert pair.reverse().reverse() == pair


def test_a_pair_that_nobody_knows_is_refused():
    with pytest.raises(ReleaseFormatError, match="unknown pair"):
        pair_from_dict({"kind": "cauchy"})
    with pytest.raises(ReleaseFormatError, match="cannot be read"):
        pair_from_dict({"kind": "beta", "alpha": 1.0})


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_parameters_are_refused(bad):
    with pytest.raises(ParameterError, match="alpha"):
        BetaPair(alpha=bad, weight=1.0)
    with pytest.raises(ParameterError, match="weight"):
        GammaPair(alpha=1.0, weight=bad)


@pytest.mark.parametrize(("sigma", "shift"), [(0.7, 1), (3.3, 1), (3.3, 5), (40.0, 3)])
def test_discrete_gaussian_by_brute_force(sigma, shift):
    k = np.arange(-int(60 * sigma) - 60, int(60 * sigma) + 61)
    p = np.exp(-0.5 * (k / sigma) ** 2)
    p /= p.sum()
    q = np.exp(-0.5 * ((k - shift) / sigma) ** 2)
    q /= q.sum()
    pair = DiscreteGaussianPair(sigma=sigma, shift=shift)
    for epsilon in (0.0, 0.01, 0.3, 1.0, 2.5):
        expected = np.maximum(p - math.exp(epsilon) * q, 0).sum()
        assert math.exp(float(pair.log_delta(epsilon))) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("scale", "shift"), [(0.5, 1), (2.5, 1), (2.5, 3), (10.0, 20)])
def test_discrete_laplace_by_brute_force(scale, shift):
    k = np.arange(-int(60 * scale) - 60, int(60 * scale) + 61 + shift)
    p = np.exp(-np.abs(k) / scale)
    p /= p.sum()
    q = np.exp(-np.abs(k - shift) / scale)
    q /= q.sum()
    pair = DiscreteLaplacePair(scale=scale, shift=shift)
    for epsilon in np.linspace(0, 1.1 * shift / scale, 12):
        expected = np.maximum(p - math.exp(epsilon) * q, 0).sum()
        assert math.exp(float(pair.log_delta(epsilon))) == pytest.approx(expected, rel=1e-9, abs=1e-14)
    assert pair.certified_delta(float(pair.largest_loss)) <= 1e-15
    step, levels, masses = pair.atoms()
    assert float(step) == pytest.approx(1 / scale)
    assert masses.sum() == pytest.approx(1)
    assert levels.max() == shift


@pytest.mark.parametrize("shifts", [(1, 1, 1), (2, 1), (3,), (2, 2)])
@pytest.mark.parametrize("sigma", [1.0, 2.5, 6.0])
def test_the_norm_bound_is_above_the_exact_composition(shifts, sigma):
    from dpmarkov.privacy.compose import composition

    exact = composition(tuple(DiscreteGaussianPair(sigma=sigma, shift=n) for n in shifts))
    bound = GaussianNormPair(sigma=sigma, squared=sum(n * n for n in shifts), cells=len(shifts))
    for epsilon in (0.0, 0.2, 1.0, 3.0):
        # The composition itself rounds up by less than 1 %.
        assert float(np.exp(bound.log_delta(epsilon))) >= exact.delta(epsilon) / 1.01
        assert bound.certified_delta(epsilon) >= exact.delta(epsilon) / 1.01


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 1e4), st.floats(0.01, 3.0), st.floats(0.0, 5.0), st.floats(1.01, 3.0))
def test_monotone_in_weight_and_floor(alpha, weight, epsilon, factor):
    for rule in (log_delta_beta, log_delta_gamma_add, log_delta_gamma_remove):
        here = float(rule(alpha, weight, epsilon))
        assert float(rule(alpha, weight * factor, epsilon)) >= here - 1e-9
        assert float(rule(alpha * factor, weight, epsilon)) <= here + 1e-9


def test_renyi_by_quadrature():
    import mpmath as mp

    for alpha, weight, order in ((1.0, 0.3, 2.0), (4.0, 1.0, 3.5), (0.5, 0.1, 4.0)):
        a, w = mp.mpf(alpha), mp.mpf(weight)

        def integrand(x, a=a, w=w, order=order):
            p = x ** (a + w - 1) * (1 - x) ** (a - 1)
            q = x ** (a - 1) * (1 - x) ** (a + w - 1)
            return p**order * q ** (1 - order) / mp.beta(a + w, a)

        expected = mp.log(mp.quad(integrand, [0, 0.01, 0.5, 0.99, 1])) / (order - 1)
        assert float(renyi_beta(alpha, weight, order)) == pytest.approx(float(expected), rel=1e-4)
    assert renyi_beta(1.0, 0.5, 3.0) == np.inf
    near = renyi_beta(3.0, 0.5, [1.0, 1.0 + 1e-7])
    assert near[0] == pytest.approx(near[1], rel=1e-6)
    with pytest.raises(ParameterError, match="order"):
        renyi_beta(1.0, 1.0, 0.5)
