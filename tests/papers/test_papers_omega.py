"""The probability of leaving Omega_1: exact by a contour, certified by the union bound."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from dpmarkov.errors import EngineError, ParameterError
from dpmarkov.papers.omega import largest_gamma, outside, outside_bound, vertex


def test_reference_value_for_five_categories() -> None:
    assert outside(vertex(20.6, 0.073, 4), 0.0004) == pytest.approx(0.00199534929640666, rel=1e-13)


def test_two_cells_are_a_beta_tail_on_each_side() -> None:
    for a, b, gamma in ((1.5, 18.0, 1e-8), (0.3, 0.7, 0.2), (120.0, 80.0, 0.45)):
        truth = special.betainc(a, b, gamma) + special.betainc(b, a, gamma)
        assert outside((a, b), gamma) == pytest.approx(truth, rel=1e-12)


def test_one_watched_cell_is_a_beta_tail() -> None:
    with mpmath.workdps(30):
        truth = float(mpmath.betainc(1.2, 22.8, 0, 0.01, regularized=True))
    assert outside((1.2, 2.8, 20.0), 0.01, n_watched=1) == pytest.approx(truth, rel=1e-13)


def test_three_cells_against_a_nested_integral() -> None:
    a, b, c, gamma = 1.5, 2.5, 4.0, 0.05
    with mpmath.workdps(20):

        def inner(x):
            return x ** (a - 1) * mpmath.quad(
                lambda y: y ** (b - 1) * (1 - x - y) ** (c - 1), [gamma, 1 - x - gamma]
            )

        norm = mpmath.gamma(a + b + c) / mpmath.gamma(a) / mpmath.gamma(b) / mpmath.gamma(c)
        truth = float(1 - norm * mpmath.quad(inner, [gamma, 1 - 2 * gamma]))
    assert outside((a, b, c), gamma) == pytest.approx(truth, rel=1e-9)


def test_monte_carlo_agrees_at_63_categories() -> None:
    """Fixed seed; a false alarm has probability 1e-5 (4.4 standard errors)."""
    shapes = np.full(63, 2.0)
    gamma = 2e-4
    exact = outside(shapes.tolist(), gamma)
    rng = np.random.default_rng(7)
    hits = sum(int((rng.dirichlet(shapes, 20_000) < gamma).any(axis=1).sum()) for _ in range(5))
    error = math.sqrt(exact * (1 - exact) / 1e5)
    assert abs(hits / 1e5 - exact) < 4.4 * error
    assert abs(hits / 1e5 - 1.3 * exact) > 4.4 * error, "a probability wrong by 30 % would be seen"


def test_tiny_probabilities_keep_their_digits() -> None:
    """At 5e-9 a million samples see nothing; the union bound and the contour agree to first order."""
    shapes = vertex(3 / (2 * 0.004), 0.004, 62)
    exact, bound = outside(shapes, 1e-10), outside_bound(shapes, 1e-10)
    assert 0 < exact < 1e-9
    assert exact <= bound <= exact * (1 + exact)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0.05, 60), min_size=2, max_size=9),
    st.floats(1e-9, 0.3),
    st.integers(1, 9),
)
def test_the_certified_bound_is_never_below_the_exact_value(
    shapes: list[float], gamma: float, watched: int
) -> None:
    n = min(watched, len(shapes))
    exact, bound = outside(shapes, gamma, n_watched=n), outside_bound(shapes, gamma, n_watched=n)
    assert 0 <= exact <= 1
    assert bound >= min(1.0, exact) * (1 - 1e-12)
    assert exact >= max(special.betainc(u, sum(shapes) - u, gamma) for u in shapes[:n]) * (1 - 1e-9)


@settings(max_examples=25, deadline=None)
@given(st.floats(4, 40), st.floats(0.02, 0.1), st.integers(2, 5), st.data())
def test_no_input_in_the_bordered_simplex_is_worse_than_the_vertex(
    k: float, eta: float, n: int, data: st.DataObject
) -> None:
    """Gohari's Lemma 2, Benvenuti's Lemma 3: the minimum is at the border, also where k eta < 1."""
    gamma = data.draw(st.floats(1e-4, eta / 2))
    room = 1 - n * eta
    shares = data.draw(st.lists(st.floats(0.01, 1), min_size=n + 1, max_size=n + 1))
    extra = np.array(shares) / sum(shares) * room
    watched = outside([*(k * (eta + extra[:n])), k * extra[n]], gamma, n_watched=n)
    assert watched <= outside(vertex(k, eta, n), gamma, n_watched=n) * (1 + 1e-9)
    shares_all = np.array(shares[:n]) / sum(shares[:n]) * room
    everywhere = outside((k * (eta + shares_all)).tolist(), gamma)
    assert everywhere <= outside(vertex(k, eta, n - 1), gamma) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("k", "eta", "n", "delta"), [(24, 0.05, 2, 0.05), (60, 0.05, 8, 1e-9), (9, 0.1, 4, 0.3)]
)
def test_largest_gamma_spends_the_delta(k: float, eta: float, n: int, delta: float) -> None:
    gamma = largest_gamma(vertex(k, eta, n), delta, n_watched=n)
    assert outside(vertex(k, eta, n), gamma, n_watched=n) <= delta
    assert outside(vertex(k, eta, n), gamma * 1.0001, n_watched=n) > delta
    certified = largest_gamma(vertex(k, eta, n), delta, n_watched=n, exact=False)
    assert certified <= gamma


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ParameterError, match="Dirichlet parameters"):
        outside((1.0, 0.0), 0.1)
    with pytest.raises(ParameterError, match="gamma"):
        outside_bound((1.0, 2.0), 1.5)
    with pytest.raises(ParameterError, match="n_watched"):
        outside((1.0, 2.0), 0.1, n_watched=3)
    with pytest.raises(EngineError, match="outside_bound"):
        outside((5e4, 4e4, 3e5), 0.1)
    assert outside((1.0, 2.0), 0.0) == 0.0
    assert outside((1.0, 2.0), 0.5) == 1.0
