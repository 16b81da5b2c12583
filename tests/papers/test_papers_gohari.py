"""Gohari et al.: every number of the paper's examples, its misprints, and what is exactly true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from dpmarkov.errors import ParameterError
from dpmarkov.papers import gohari
from dpmarkov.privacy.pairs import BetaPair
from dpmarkov.privacy.profile import Profile

AVERAGE = {"k": 24.0, "eta": 0.05, "eta_bar": 0.05, "b": 1.0, "n_watched": 2}


def exact(k: float, eta: float, shift: float) -> Profile:
    return Profile(((BetaPair(alpha=k * eta, weight=k * shift),),))


def test_theorem2_has_b_over_2N() -> None:
    """The example of section VI: 1.122 with b/(2N), 32.6 as printed, 1.18 in the text, .051 exactly."""
    gamma = gohari.equation16(k=24, eta=0.05, n_watched=2, delta=0.05)
    right = gohari.theorem2(**AVERAGE, n_vectors=100, gamma=gamma)
    printed = gohari.theorem2_as_printed(**AVERAGE, n=3, gamma=gamma)
    assert round(right.epsilon, 3) == 1.122
    assert round(printed.epsilon, 1) == 32.6
    assert right.delta == pytest.approx(0.05, rel=1e-9)
    assert right.violated == ()
    epsilon = exact(24, 0.05, 1 / 200).certified_epsilon(0.05)
    assert round(epsilon, 3) == 0.051
    assert epsilon <= 0.0515


def test_the_average_moves_by_b_over_2N() -> None:
    """The misprint is one: N = 100 vectors of length n = 3, one of which moves b = 1."""
    p = np.tile([0.3, 0.3, 0.4], (100, 1))
    q = p.copy()
    q[7] = [0.8 - 0.25, 0.05, 0.4]
    assert np.abs(p[7] - q[7]).sum() == pytest.approx(0.5)
    assert np.abs(p.mean(axis=0) - q.mean(axis=0)).max() == pytest.approx(0.5 / 2 / 100)


def test_lemma3_needs_the_order_of_its_proof() -> None:
    left, right = gohari.lemma3(20, 0.05, 0.2, 0.1, 0.4)
    assert left <= right
    left, right = gohari.lemma3_as_printed(20, 0.05, 0.1, 0.2, 0.4)
    assert left == pytest.approx(0.3)
    assert right == pytest.approx(0.025)
    assert left > right, "as printed, without an order, Lemma 3 is false"
    with pytest.raises(ParameterError, match="q_i < p_i"):
        gohari.lemma3(20, 0.05, 0.1, 0.2, 0.4)


@given(
    st.floats(5, 80),
    st.floats(0.02, 0.15),
    st.floats(0.02, 0.2),
    st.floats(0.001, 0.2),
    st.floats(1e-6, 0.05),
    *[st.floats(0, 1) for _ in range(4)],
)
def test_lemma4_bounds_the_log_ratio_on_omega1(
    k: float, eta: float, eta_bar: float, b: float, gamma: float, t: float, u: float, v: float, z: float
) -> None:
    """The exact log ratio at random admissible p, q, x never exceeds Lemma 4's bound."""
    room = 1 - eta_bar - 2 * eta
    if room <= b / 2 or gamma >= 0.5:
        return
    total = (2 * eta + b / 2) * (1 - t) + (1 - eta_bar) * t
    p = (eta + b / 2) * (1 - u) + (total - eta) * u
    q = p - b / 2
    bound = gohari.lemma4(k=k, eta=eta, eta_bar=eta_bar, b=b, n_watched=2, gamma=gamma)
    x = gamma + (1 - 2 * gamma) * v
    y = gamma + max(1 - x - gamma, 0) * z
    for first, second in ((p, q), (q, p)):
        ratio = special.betaln(k * second, k * (total - second)) - special.betaln(
            k * first, k * (total - first)
        )
        ratio += k * (first - second) * np.log(x / y)
        assert ratio <= bound + 1e-9


def test_theorem1_is_a_valid_bound_but_far_from_exact() -> None:
    for k, eta, b in ((24.0, 0.05, 0.1), (40.0, 0.05, 0.02), (15.0, 0.1, 0.05)):
        for delta in (0.05, 1e-3, 1e-6):
            gamma = gohari.equation16(k=k, eta=eta, n_watched=3, delta=delta)
            claim = gohari.theorem1(k=k, eta=eta, eta_bar=0.05, b=b, n_watched=3, gamma=gamma)
            assert exact(k, eta, b / 2).certified_delta(claim.epsilon) <= claim.delta
            assert exact(k, eta, b / 2).epsilon(delta) < claim.epsilon / 1.5


def test_equation16_maximises_gamma() -> None:
    """As printed, the least gamma, it is 0 and epsilon infinite; the text wants epsilon small."""
    assert gohari.equation16_as_printed(k=24, eta=0.05, n_watched=2, delta=0.05) == 0.0
    assert gohari.lemma4(**AVERAGE, gamma=0.0) == np.inf
    smaller = [gohari.lemma4(**{**AVERAGE, "b": 0.1}, gamma=g) for g in (1e-6, 1e-4, 1e-2)]
    assert smaller == sorted(smaller, reverse=True)


@given(st.floats(1.001, 60), st.floats(1.001, 60))
def test_lemma5_holds(a: float, b: float) -> None:
    lower, upper = gohari.lemma5(a, b)
    truth = float(special.beta(a, b))
    assert lower.value <= truth * (1 + 1e-9)
    assert truth <= upper.value * (1 + 1e-9)
    assert not lower.violated


def test_theorem1_simplified_is_offset_upwards() -> None:
    parameters = {"k": 30.0, "eta": 0.1, "eta_bar": 0.1, "b": 0.1, "n_watched": 3, "gamma": 0.01}
    claim, simple = gohari.theorem1(**parameters), gohari.theorem1_simplified(**parameters)
    assert simple.epsilon > claim.epsilon
    assert simple.delta == claim.delta
    assert gohari.theorem1_simplified(**{**parameters, "k": 8.0}).violated


def test_proposition1_is_the_beta_moments() -> None:
    mean, variance = gohari.proposition1(0.3, 24)
    assert mean.value == 0.3
    assert variance.value == pytest.approx(special.beta(7.2 + 2, 16.8) / special.beta(7.2, 16.8) - 0.09)
    assert variance.value <= 1 / (4 * 25)


def test_lemma1_merges_what_is_not_watched() -> None:
    p = (0.2, 0.3, 0.1, 0.4)
    bound = gohari.lemma1(p, 20, (0, 1), 0.05)
    rng = np.random.default_rng(3)
    share = (rng.dirichlet(20 * np.array(p), 200_000)[:, :2] >= 0.05).all(axis=1).mean()
    assert abs(share - bound.value) < 4.5 * np.sqrt(bound.value * (1 - bound.value) / 2e5)
    assert float(bound) == bound.value


def test_k_for_epsilon_inverts_theorem1() -> None:
    choice = {"eta": 0.05, "eta_bar": 0.05, "b": 0.05, "n_watched": 3}
    k = gohari.k_for_epsilon(9.0, **choice, delta=1e-3)
    gamma = gohari.equation16(k=k, eta=0.05, n_watched=3, delta=1e-3)
    assert gohari.theorem1(k=k, **choice, gamma=gamma).epsilon == pytest.approx(9.0, rel=1e-9)
    with pytest.raises(ParameterError, match="least that this formula reaches"):
        gohari.k_for_epsilon(0.01, **choice, delta=1e-3)


def test_assumptions_are_reported() -> None:
    claim = gohari.theorem1(k=10, eta=0.05, eta_bar=0.05, b=0.1, n_watched=2, gamma=0.001)
    assert any("k eta >= 1" in text for text in claim.violated)
    assert gohari.bordered((0.2, 0.3, 0.5), (0, 1), 0.1, 0.2)
    assert not gohari.bordered((0.05, 0.3, 0.65), (0, 1), 0.1, 0.2)
    assert gohari.definition1_adjacent((0.2, 0.3, 0.5), (0.25, 0.25, 0.5), (0, 1), 0.1)
    assert not gohari.definition1_adjacent((0.2, 0.3, 0.5), (0.25, 0.3, 0.45), (0, 1), 0.1)
