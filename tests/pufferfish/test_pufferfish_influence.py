"""Influence: exact against the joint distribution; the theorems' bounds never below it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pufferfish_truth import true_influence

from dpmarkov.errors import ChainError, ParameterError
from dpmarkov.pufferfish import FiniteChains, GapChains, IntervalChains, Model, influence_of
from dpmarkov.pufferfish.exact import ExactInfluence
from dpmarkov.states import StateSpace

TIGHT = 1e-9


def states(k: int) -> StateSpace:
    return StateSpace(range(k))


def finite(*models: Model) -> FiniteChains:
    return FiniteChains(states=states(models[0].n_states), models=models)


def random_model(rng: np.random.Generator, k: int, length: int, kind: int) -> Model:
    def matrix() -> np.ndarray:
        return 0.3 * np.eye(k) + 0.7 * rng.dirichlet(np.full(k, 0.7), k)

    if kind == 0:
        return Model(matrix())
    start = rng.dirichlet(np.ones(k))
    if kind == 1:
        return Model(matrix(), start)
    if kind == 2:
        return Model(matrix(), np.eye(k)[0])
    steps = np.array([matrix() for _ in range(length - 1)])
    steps[0, :, 0] = 0
    steps[0] /= steps[0].sum(axis=1, keepdims=True)
    return Model(steps, start)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), kind=st.integers(0, 3), k=st.integers(2, 3), length=st.integers(2, 6))
def test_exact_influence_is_that_of_the_joint_distribution(seed: int, kind: int, k: int, length: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(rng, k, length, kind)
    influence = influence_of(finite(model))
    for node in range(1, length + 1):
        at = influence.at(node)
        for a in range(1, node):
            truth = true_influence(model, length, node, [node - a])
            assert at.backward(a) == pytest.approx(truth, abs=TIGHT)
            for b in range(1, length - node + 1):
                truth = true_influence(model, length, node, [node - a, node + b])
                assert at.both(a, b) == pytest.approx(truth, abs=TIGHT)
                assert at.both(a, b) >= truth - 1e-13
        for b in range(1, length - node + 1):
            truth = true_influence(model, length, node, [node + b])
            assert at.forward(b) == pytest.approx(truth, abs=TIGHT)


def test_the_influence_of_two_points_is_the_maximum_of_a_sum() -> None:
    """Not the sum of the maxima, which would ask for more noise."""
    model = Model([[0.5, 0.4, 0.1], [0.1, 0.6, 0.3], [0.4, 0.1, 0.5]])
    at = influence_of(finite(model)).at(1)
    assert at.both(1, 1) < at.backward(1) + at.forward(1) - 0.05
    assert at.both(1, 1) == pytest.approx(true_influence(model, 3, 2, [1, 3]), abs=TIGHT)


def test_with_a_declared_start_the_backward_influence_depends_on_the_node() -> None:
    model = Model([[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.0, 0.1, 0.9]], [1.0, 0.0, 0.0])
    influence = ExactInfluence(finite(model))
    early, late = influence.at(12).backward(8), influence.at(200).backward(8)
    assert early > late * 1.05
    limit = ExactInfluence(finite(Model(model.matrix))).at(1).backward(8)
    assert influence.anywhere.backward(8) == pytest.approx(limit, rel=1e-6)
    for node in (influence.horizon + 1, influence.horizon + 500):
        assert influence.at(node) is influence.anywhere


def test_the_bound_beyond_the_horizon_covers_every_later_node() -> None:
    """A chain too slow to settle within the horizon: the bound must hold, not only the limit."""
    model = Model([[0.999, 0.001], [0.002, 0.998]], [1.0, 0.0])
    influence = ExactInfluence(finite(model))
    slow = ExactInfluence(finite(model))
    slow.horizon = 10**6
    for node in (influence.horizon + 1, influence.horizon + 60, influence.horizon + 900):
        for a in (1, 50, 200):
            assert influence.anywhere.backward(a) >= slow.at(node).backward(a) - 1e-12


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4))
def test_the_gap_bound_covers_reversible_chains(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    flow = rng.random((k, k)) + 0.3
    flow = flow + flow.T
    pi = flow.sum(axis=1) / flow.sum()
    p = flow / flow.sum(axis=1, keepdims=True)
    root = np.sqrt(pi)
    g = 1 - np.sort(np.abs(np.linalg.eigvalsh(root[:, None] * p / root[None, :])))[-2]
    bound = influence_of(
        GapChains(states=states(k), least_probability=pi.min(), eigengap=min(g, 1.0), reversible=True)
    ).at(1)
    for start in (None, np.eye(k)[0], rng.dirichlet(np.ones(k))):
        exact = ExactInfluence(finite(Model(p, start)))
        for a, b in ((1, 1), (2, 3), (5, 2), (8, 8)):
            for node in (a + 1, a + 2, a + 30):
                at = exact.at(node)
                assert at.forward(b) <= bound.forward(b) + TIGHT
                assert at.backward(a) <= bound.backward(a) + TIGHT
                assert at.both(a, b) <= bound.both(a, b) + TIGHT


def bruijn(bits: int) -> np.ndarray:
    n = 2**bits
    p = np.zeros((n, n))
    for x in range(n):
        p[x, (2 * x) % n] = p[x, (2 * x + 1) % n] = 0.5
    return p


def test_the_papers_bound_is_false_for_a_chain_that_is_not_reversible() -> None:
    """De Bruijn's chain on 16 states: all other eigenvalues are 0, so g = 1; three steps tell everything."""
    model = Model(bruijn(4))
    paper = influence_of(
        GapChains(states=states(16), least_probability=1 / 16, eigengap=1.0, reversible=True)
    )
    assert paper.at(1).forward(3) == pytest.approx(2.18, abs=0.01)
    assert ExactInfluence(finite(model)).at(1).forward(3) == math.inf
    assert ExactInfluence(finite(model)).at(1).forward(4) == pytest.approx(0, abs=TIGHT)
    singular = np.linalg.svd(model.matrix, compute_uv=False)
    assert singular[1] == pytest.approx(1)
    with pytest.raises(ParameterError, match="eigengap must be > 0"):
        GapChains(states=states(16), least_probability=1 / 16, eigengap=0.0, reversible=False)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 4))
def test_the_bound_for_chains_that_are_not_reversible(seed: int, k: int) -> None:
    """With the eigengap of P P*, half the rate: t must exceed 2 ln(1/pi) / g."""
    rng = np.random.default_rng(seed)
    p = 0.1 * np.eye(k) + 0.9 * rng.dirichlet(np.full(k, 0.8), k)
    pi = Model(p).start
    root = np.sqrt(pi)
    g = 1 - np.linalg.svd(root[:, None] * p / root[None, :], compute_uv=False)[1] ** 2
    if pi.min() < 1e-3 or g < 1e-3:
        return
    theta = GapChains(states=states(k), least_probability=pi.min(), eigengap=g, reversible=False)
    bound = influence_of(theta).at(1)
    exact = ExactInfluence(finite(Model(p, np.eye(k)[k - 1])))
    reach = math.ceil(2 * math.log(1 / pi.min()) / g)
    for t in (reach + 1, reach + 5, 2 * reach + 3):
        assert exact.at(t + 1).forward(t) <= bound.forward(t) + TIGHT
        assert exact.at(t + 1).backward(t) <= bound.backward(t) + TIGHT
        assert exact.at(t + 9).backward(t) <= bound.backward(t) + TIGHT


def test_distances_must_lie_strictly_above_the_threshold() -> None:
    pi, g = math.exp(-2.0), 0.5
    at = influence_of(GapChains(states=states(3), least_probability=pi, eigengap=g, reversible=True)).at(1)
    assert at.forward(4) == math.inf
    assert at.forward(3) == math.inf
    assert at.forward(5) == pytest.approx(math.log((pi + math.exp(-2.5)) / (pi - math.exp(-2.5))), rel=1e-9)
    assert at.backward(5) == pytest.approx(2 * at.forward(5), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 3), spread=st.floats(0.0, 0.5))
def test_the_interval_bound_covers_its_members(seed: int, k: int, spread: float) -> None:
    """Members at random within the bounds, another at every step, from extreme starts."""
    rng = np.random.default_rng(seed)
    centre = 0.1 + 0.9 * rng.dirichlet(np.ones(k), k)
    centre /= centre.sum(axis=1, keepdims=True)
    lower, upper = centre * (1 - spread), np.minimum(centre * (1 + spread), 1)
    bound = influence_of(IntervalChains(states=states(k), lower=lower, upper=upper)).at(1)
    steps = []
    for _ in range(6):
        other = lower + (upper - lower) * rng.integers(0, 2, (k, k))
        need = 1 - lower.sum(axis=1, keepdims=True)
        free = other - lower
        share = np.minimum(1.0, need / np.maximum(free.sum(axis=1, keepdims=True), 1e-300))
        step = lower + share * free
        lack = 1 - step.sum(axis=1, keepdims=True)
        room = upper - step
        step = step + room * np.minimum(1.0, lack / np.maximum(room.sum(axis=1, keepdims=True), 1e-300))
        steps.append(step / step.sum(axis=1, keepdims=True))
    exact = ExactInfluence(finite(Model(steps, rng.dirichlet(np.full(k, 0.2)))))
    for node in range(1, 8):
        at = exact.at(node)
        for b in range(1, 8 - node):
            assert at.forward(b) <= bound.forward(b) + TIGHT
        for a in range(1, node):
            assert at.backward(a) <= bound.backward(a) + TIGHT
            for b in range(1, 8 - node):
                assert at.both(a, b) <= bound.both(a, b) + TIGHT


def test_probabilities_too_small_to_be_known_give_no_influence_bound() -> None:
    """Entries that underflow must never pass for impossible ones."""
    small = 1e-90
    p = np.diag([0.5, 0.5, 0.5, 1 - small]) + np.diag([0.5, 0.5 - small, 0.5 - small], 1)
    p += np.diag([small] * 3, -1)
    influence = ExactInfluence(finite(Model(p)))
    assert influence.at(5).forward(3) == math.inf
    assert influence.at(5).backward(3) == math.inf
    with pytest.raises(ParameterError, match="below 1e-100"):
        Model([[1.0, 1e-200], [0.5, 0.5]])


def test_a_slow_chains_stationary_distribution_is_right() -> None:
    """A public implementation takes the 100th power of the matrix instead: here that is far off."""
    p = np.array([[1 - 1e-5, 1e-5], [2e-5, 1 - 2e-5]])
    hundredth = np.linalg.matrix_power(p, 100)[0]
    assert abs(hundredth[0] - 2 / 3) > 0.3
    assert Model(p).start == pytest.approx([2 / 3, 1 / 3], rel=1e-12)
    at = influence_of(finite(Model(p))).at(1)
    faded = (1 - 3e-5) ** 100
    forward = math.log((2 / 3 + faded / 3) / (2 / 3 - 2 * faded / 3))
    other = math.log((1 / 3 + 2 * faded / 3) / (1 / 3 - faded / 3))
    assert at.forward(100) == pytest.approx(max(forward, other), rel=1e-9)
    assert at.backward(100) == pytest.approx(at.forward(100), rel=1e-9)


@pytest.mark.parametrize(
    "matrix",
    [[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]],
)
def test_chains_that_do_not_forget_are_refused(matrix: list[list[float]]) -> None:
    with pytest.raises(ChainError, match="irreducible and aperiodic"):
        Model(matrix)
