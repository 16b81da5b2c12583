"""Composition: an upper bound, close to the truth, against what is known in closed form or by quadrature."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import privacy_truth as truth
import pytest
from scipy import stats

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.compose import composition
from dpmarkov.privacy.pairs import ApproximatePair, BetaPair, GammaPair, PurePair
from dpmarkov.privacy.pairs_additive import DiscreteGaussianPair, DiscreteLaplacePair, GaussianNormPair
from dpmarkov.privacy.profile import Profile

LOOSE = 0.01


@pytest.mark.parametrize("times", [1, 2, 4, 30])
def test_gaussians_add_up(times):
    # At sigma = 200 the continuous curve is the discrete one to within its lattice.
    total = composition((GaussianNormPair(sigma=200.0, squared=400, cells=1),) * times)
    norm = 20 * math.sqrt(times) / math.sqrt(200.0**2 - 1.5)
    for epsilon in (-0.2, 0.0, 0.1, 0.5, 1.0):
        exact = truth.gaussian(norm, epsilon)
        if exact > 1e-35:
            assert exact * (1 - 1e-9) <= total.delta(epsilon) <= exact * (1 + LOOSE)


@pytest.mark.parametrize("times", [2, 7, 20])
def test_randomised_responses_are_exact(times):
    total = composition((PurePair(epsilon=0.3),) * times)
    for epsilon in (0.0, 0.2, 0.45, 1.0, 0.3 * times - 0.1):
        exact = truth.randomised_responses(0.3, times, epsilon)
        assert total.delta(epsilon) == pytest.approx(exact, rel=1e-8)
        assert total.delta(epsilon) >= exact
    assert total.delta(0.3 * times + 1e-9) == 0.0


@pytest.mark.parametrize(("alpha", "weight"), [(10.0, 0.4), (0.3, 0.05), (1.0, 0.0878)])
@pytest.mark.parametrize("certified", [False, True])
def test_a_gamma_pair_and_its_reverse_are_the_beta_pair(alpha, weight, certified):
    pair = GammaPair(alpha=alpha, weight=weight)
    total = composition((pair, pair.reverse()), certified)
    beta = BetaPair(alpha=alpha, weight=weight)
    for epsilon in (-0.7, 0.0, 0.31, 1.0, 3.0):
        exact = math.exp(float(beta.log_delta(epsilon)))
        assert exact * (1 - 1e-9) <= total.delta(epsilon) <= exact * (1 + LOOSE)


@pytest.mark.parametrize("vanishes", [False, True])
def test_three_gamma_pairs_by_quadrature(vanishes):
    """The sum of three logarithms of gammas, by brute-force convolution on a fine grid."""
    alpha, weight = 2.0, 0.3
    shape = alpha if vanishes else alpha + weight
    step = 5e-3
    y = np.arange(-20, 4.5, step)
    density = np.exp(stats.loggamma(shape).logpdf(y)) * step
    single = np.convolve(np.convolve(density, density), density)
    places = 3 * y[0] + step * np.arange(single.size)
    kappa = math.lgamma(alpha + weight) - math.lgamma(alpha)
    losses = 3 * kappa - weight * places if vanishes else weight * places - 3 * kappa
    total = composition((GammaPair(alpha=alpha, weight=weight, vanishes=vanishes),) * 3)
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        exact = float(np.sum(single * np.maximum(0, -np.expm1(epsilon - losses))))
        if exact > 1e-13:
            assert exact * (1 - 1e-6) <= total.delta(epsilon) <= exact * (1 + LOOSE)


def test_relative_accuracy_far_below_the_noise_of_a_transform():
    total = composition((DiscreteGaussianPair(sigma=50.0, shift=5),) * 4)
    exact = truth.gaussian(0.2, 2.0)
    assert 1e-26 < exact < 1e-22
    assert exact * 0.99 < total.delta(2.0) < exact * 1.05


def test_both_directions_are_taken():
    pairs = (GammaPair(alpha=1.5, weight=0.21),) * 3
    forward = composition(pairs).delta(0.5)
    backward = composition(tuple(pair.reverse() for pair in pairs)).delta(0.5)
    assert backward > 2 * forward
    assert Profile((pairs,)).delta(0.5) == pytest.approx(backward, rel=1e-6)
    assert Profile((tuple(pair.reverse() for pair in pairs),)).delta(0.5) == pytest.approx(backward, rel=1e-6)


def test_a_product_is_never_below_its_parts():
    parts = (BetaPair(alpha=3.0, weight=0.2), DiscreteLaplacePair(scale=5.0, shift=1))
    total = composition(parts)
    for epsilon in (0.0, 0.2, 0.6, 1.5):
        for part in parts:
            assert total.delta(epsilon) >= math.exp(float(part.log_delta(epsilon)))


def test_approximate_pairs_keep_their_failure():
    total = composition((ApproximatePair(epsilon=0.4, delta=1e-5), ApproximatePair(epsilon=0.3, delta=1e-6)))
    for epsilon in (0.71, 1.0, 5.0):
        assert 1e-5 + 1e-6 - 1e-11 <= total.delta(epsilon) <= 1.02e-5 + 1e-6
    assert total.delta(0.5) > 1.2e-5


def test_order_and_names_do_not_matter():
    a, b = BetaPair(alpha=3.0, weight=0.2), GammaPair(alpha=2.0, weight=0.1)
    assert composition((a, b)) is composition((b, a))
    with pytest.raises(ParameterError, match="at least one pair"):
        composition(())


def test_dp_accounting_agrees():
    """Google's accountant on the same Laplace mechanisms (its discretisation rounds up too)."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    other = pld.from_laplace_mechanism(2.0, value_discretization_interval=1e-4).self_compose(5)
    # Continuous Laplace and discrete Laplace with fine steps agree to the lattice.
    ours = composition((DiscreteLaplacePair(scale=200.0, shift=100),) * 5)
    for epsilon in (0.5, 1.0, 2.0):
        assert ours.delta(epsilon) == pytest.approx(other.get_delta_for_epsilon(epsilon), rel=5e-3)


def test_the_certified_composition_is_close_to_the_floating_one():
    pairs = (BetaPair(alpha=8.0, weight=0.3),) * 3
    for epsilon in (0.0, 1.0, 2.0):
        assert composition(pairs, True).delta(epsilon) == pytest.approx(
            composition(pairs).delta(epsilon), rel=1e-6
        )


@pytest.mark.parametrize(
    "epsilon",
    [
        140.89162485176936,
        1e4 / 3,
        787104.0999561762,
        1708.2279769357874,
        26742.80358111634,
        87877.95790082318,
    ],
)
def test_just_below_the_largest_loss_nothing_is_rounded_away(epsilon):
    """Losses in the thousands are floats with errors of their own; the truth is 1 - e^-(what is missing)."""
    scale = math.nextafter(3 / epsilon, 0)
    missing = float(3 / Fraction(scale) - Fraction(epsilon))
    assert missing > 0
    claimed = Profile(((DiscreteLaplacePair(scale=scale, shift=1),) * 3,)).certified_delta(epsilon)
    assert -math.expm1(-missing) <= claimed <= 1e-7


@pytest.mark.parametrize(
    ("shift", "scale", "epsilon"),
    [
        (2500, 7.0, 714.2857142),
        (1500, 299.9999999997, 10.0),
        (1500, 2999.9999999999995, 1.0),
        (1100, 733.3333333333333, 3.0),
    ],
)
def test_a_long_lattice_is_not_read_a_hair_too_far_right(shift, scale, epsilon):
    """More losses than are listed one by one; the truth in 50 digits."""
    with mpmath.workdps(50):
        step = 1 / mpmath.mpf(scale)
        q = mpmath.exp(-step)
        masses = [1 / (1 + q)] + [(1 - q) / (1 + q) * q**j for j in range(1, shift)]
        exact = mpmath.mpf(0)
        for j in range(shift):
            missing = (2 * shift - 2 * j) * step - mpmath.mpf(epsilon)
            if missing <= 0:
                break
            exact -= mpmath.fsum(masses[i] * masses[j - i] for i in range(j + 1)) * mpmath.expm1(-missing)
    claimed = Profile(((DiscreteLaplacePair(scale=scale, shift=shift),) * 2,)).certified_delta(epsilon)
    assert 0 < exact <= claimed <= float(exact) * 1.01 + 1e-13


def test_few_losses_are_composed_exactly():
    """At the very sum of the epsilons nothing but the failures is left, and the sum is found back."""
    pairs = (ApproximatePair(epsilon=0.95, delta=1e-6), PurePair(epsilon=0.05))
    total = composition(pairs)
    assert total.delta(1.0) == 1e-6
    assert total.delta(0.999) > 1e-6
    profile = Profile((pairs,))
    assert profile.certified_delta(1.0) == 1e-6
    assert profile.certified_epsilon(1e-6) == pytest.approx(1.0, rel=1e-9)
    laplace = (DiscreteLaplacePair(scale=3.0, shift=2), PurePair(epsilon=0.1))
    assert composition(laplace).delta(0.5) == pytest.approx(
        sum(
            max(0.0, p * q * -math.expm1(0.5 - (a / 3 + 0.1 * b)))
            for a, p in zip((2, 0, -2), DiscreteLaplacePair(scale=3.0, shift=2).atoms()[2], strict=True)
            for b, q in zip((1, -1), PurePair(epsilon=0.1).atoms()[2], strict=True)
        ),
        rel=1e-8,
    )
    assert Profile((laplace,)).certified_delta(2 / 3 + 0.1 + 1e-12) == 0.0
