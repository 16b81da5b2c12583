"""The realised Pufferfish ratio, by summing over all sequences, never exceeds e^epsilon."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from pufferfish_truth import histograms, realised_epsilon, transition_counts

from dpmarkov.pufferfish import (
    HISTOGRAM,
    TRANSITIONS,
    ChainClass,
    FiniteChains,
    GapChains,
    IntervalChains,
    Model,
    Secrets,
    Statistic,
    chain_sums,
    influence_of,
    plan_noise,
)
from dpmarkov.states import StateSpace

EXACT = 1e-9
EPSILONS = (0.3, 1.0, 2.5, 6.0)
SCALAR = Statistic(name="a sum", lipschitz=1.0)


def states(k: int) -> StateSpace:
    return StateSpace(range(k))


def sticky(rng: np.random.Generator, k: int, stay: float) -> np.ndarray:
    return stay * np.eye(k) + (1 - stay) * rng.dirichlet(np.ones(k), k)


def check(theta: ChainClass, members: list[Model], length: int, k: int, epsilon: float) -> None:
    """Every statistic of this house, at the scale that was planned, on every member of the class given."""
    weights = np.random.default_rng(5).integers(0, 2, size=(length, k))

    def weighted(sequences: np.ndarray) -> np.ndarray:
        return weights[np.arange(length), sequences].sum(axis=1)

    cases: list[tuple[Statistic, Callable[[np.ndarray], np.ndarray]]] = [
        (SCALAR, lambda s: (s == 0).sum(axis=1)),
        (SCALAR, weighted),
        (HISTOGRAM, lambda s: histograms(s, k)),
    ]
    if k == 2 and length > 1:
        cases.append((TRANSITIONS, lambda s: transition_counts(s, k)))
    for statistic, function in cases:
        scale = plan_noise(theta, length, epsilon=epsilon, statistic=statistic).scale
        for model in members:
            assert realised_epsilon(model, length, function, scale) <= epsilon * (1 + EXACT), statistic.name


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("k", "length"), [(2, 1), (2, 2), (2, 5), (2, 7), (3, 4)])
def test_finite_class_stationary_and_declared_starts(k: int, length: int, epsilon: float) -> None:
    rng = np.random.default_rng(100 * k + length)
    models = [
        Model(sticky(rng, k, 0.6)),
        Model(sticky(rng, k, 0.2), rng.dirichlet(np.ones(k))),
        Model(sticky(rng, k, 0.9), np.eye(k)[0]),
    ]
    check(FiniteChains(states=states(k), models=tuple(models)), models, length, k, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("k", "length"), [(2, 6), (3, 4)])
def test_finite_class_that_varies_with_time(k: int, length: int, epsilon: float) -> None:
    rng = np.random.default_rng(7)
    models = [
        Model([sticky(rng, k, stay) for stay in rng.random(length - 1)], rng.dirichlet(np.ones(k)))
        for _ in range(2)
    ]
    check(FiniteChains(states=states(k), models=tuple(models)), models, length, k, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gap_class_with_its_extreme_members(epsilon: float) -> None:
    """Two-state chains are reversible; with eigenvalue +-(1 - g) and shares (pi, 1 - pi) they are extreme."""
    pi, g = 0.3, 0.75
    members = []
    for eigenvalue in (1 - g, -(1 - g) * pi / (1 - pi)):
        matrix = eigenvalue * np.eye(2) + (1 - eigenvalue) * np.array([[pi, 1 - pi]] * 2)
        members += [Model(matrix, start) for start in (None, [1.0, 0.0], [0.0, 1.0])]
    theta = GapChains(states=states(2), least_probability=pi, eigengap=g, reversible=True)
    check(theta, members, 7, 2, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_interval_class_with_random_members(epsilon: float) -> None:
    rng = np.random.default_rng(3)
    lower, upper = np.array([[0.5, 0.3], [0.2, 0.6]]), np.array([[0.7, 0.5], [0.4, 0.8]])
    members = []
    for _ in range(6):
        steps = []
        for _ in range(5):
            first = rng.choice([lower[:, 0], upper[:, 0], rng.uniform(lower[:, 0], upper[:, 0])])
            steps.append(np.stack([first, 1 - first], axis=1))
        members.append(Model(steps, rng.dirichlet([0.3, 0.3])))
    check(IntervalChains(states=states(2), lower=lower, upper=upper), members, 6, 2, epsilon)


def test_a_subset_of_time_points_is_protected_and_no_other() -> None:
    model = Model([[0.95, 0.05], [0.1, 0.9]], [1.0, 0.0])
    theta = FiniteChains(states=states(2), models=(model,))
    for times in ((2,), (6, 7), (1, 2)):
        noise = plan_noise(theta, 7, epsilon=1.0, statistic=SCALAR, secrets=Secrets(times=times))
        assert realised_epsilon(model, 7, lambda s: s.sum(axis=1), noise.scale, times) <= 1 + EXACT
    alone = plan_noise(theta, 7, epsilon=1.0, statistic=SCALAR, secrets=Secrets(times=(1,)))
    assert alone.scale < plan_noise(theta, 7, epsilon=1.0, statistic=SCALAR).scale


def test_age_carrying_states_protect_the_state_that_is_seen() -> None:
    """A semi-Markov person: stays of 1 to 3 points; the secret is the state, not its age."""
    from dpmarkov.pufferfish import semi_markov

    matrix, of = semi_markov([[0, 1], [1, 0]], [[0.2, 0.3, 0.5], [0.6, 0.4]])
    inner = Model(matrix)
    theta = FiniteChains(states=states(2), models=(inner,), emits=of)
    seen = np.array(of)
    for epsilon in (1.0, 3.0):
        scale = plan_noise(theta, 6, epsilon=epsilon, statistic=SCALAR).scale
        from pufferfish_truth import all_sequences, law_given, output_law

        sequences, p = all_sequences(inner, 6)
        shown = seen[sequences]
        values = shown.sum(axis=1)[:, None]
        grid = np.arange(7)[:, None].astype(float)
        for t in range(6):
            laws = [np.log(output_law(law_given(values, p, shown[:, t] == x), grid, scale)) for x in (0, 1)]
            assert np.abs(laws[0] - laws[1]).max() <= epsilon * (1 + EXACT)


def test_wasserstein_mechanism() -> None:
    for start in (None, [1.0, 0.0], [0.5, 0.5]):
        model = Model([[0.8, 0.2], [0.3, 0.7]], start)
        theta = FiniteChains(states=states(2), models=(model,))
        for length in (2, 4, 7):
            for epsilon in EPSILONS:
                scale = chain_sums(theta, length, [0, 1]).scale(epsilon)
                assert realised_epsilon(model, length, lambda s: s.sum(axis=1), scale) <= epsilon * (
                    1 + EXACT
                )


def test_two_people_are_hidden_in_one_histogram() -> None:
    """The noise for the longer one hides every time point of both: the other only adds independent counts."""
    models = [Model([[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5])]
    theta = FiniteChains(states=states(2), models=tuple(models))
    scale = plan_noise(theta, [3, 4], epsilon=1.0, statistic=SCALAR).scale
    from pufferfish_truth import all_sequences, law_given, output_law

    one, p1 = all_sequences(models[0], 3)
    two, p2 = all_sequences(models[0], 4)
    grid = np.arange(8)[:, None].astype(float)
    values = (one.sum(axis=1)[:, None] + two.sum(axis=1)[None, :]).reshape(-1, 1)
    p = np.outer(p1, p2).ravel()
    for t in range(7):
        state = np.repeat(one[:, t], len(two)) if t < 3 else np.tile(two[:, t - 3], len(one))
        laws = [np.log(output_law(law_given(values, p, state == x), grid, scale)) for x in (0, 1)]
        assert np.abs(laws[0] - laws[1]).max() <= 1 + EXACT


def test_power_entry_privacy_is_caught() -> None:
    """Noise that ignores the correlation breaks the promise, and this test would see it."""
    model = Model([[0.97, 0.03], [0.03, 0.97]])
    theta = FiniteChains(states=states(2), models=(model,))
    noise = plan_noise(theta, 7, epsilon=1.0, statistic=SCALAR)
    assert realised_epsilon(model, 7, lambda s: s.sum(axis=1), noise.entry_scale) > 3.0
    assert realised_epsilon(model, 7, lambda s: s.sum(axis=1), noise.scale) <= 1 + EXACT
    assert realised_epsilon(model, 7, lambda s: s.sum(axis=1), 0.8 * noise.scale) > 1 + EXACT


def printed_algorithm_2(i: int, n: int, epsilon: float, theta: ChainClass) -> float:
    """FindBestMarkovQuilt as the paper prints it (with `i + a = n + 1`), on exact influences."""
    node, best = influence_of(theta).at(i), math.inf
    for a in range(1, i + 1):
        for b in range(1, n + 2 - i):
            if i - a == 0 and i + b == n + 1:
                e = 0.0
            elif i - a == 0:
                e = node.forward(b)
            elif i + a == n + 1:
                e = node.backward(a)
            else:
                e = node.both(a, b) if i + b <= n else math.inf
            if not e > epsilon:
                best = min(best, (a + b - 1) / (epsilon - e))
    return best


def test_the_papers_uncorrected_algorithm_2_is_caught() -> None:
    """At node 5 of 7 it takes the quilt {X_2, X_6} and drops the influence on X_6."""
    model = Model([[0.999, 0.001], [0.001, 0.999]])
    theta = FiniteChains(states=states(2), models=(model,))
    epsilon = 12.0
    printed = printed_algorithm_2(5, 7, epsilon, theta)
    ours = plan_noise(theta, 7, epsilon=epsilon, statistic=SCALAR, secrets=Secrets(times=(5,))).scale
    assert printed < 0.85 * ours
    assert realised_epsilon(model, 7, lambda s: s.sum(axis=1), printed, [5]) > epsilon + 0.5
    assert realised_epsilon(model, 7, lambda s: s.sum(axis=1), ours, [5]) <= epsilon * (1 + EXACT)


def test_the_uncorrected_algorithm_2_is_caught_with_every_point_a_secret() -> None:
    """A chain that forgets at each of four steps and hardly moves at the last two: 5, 6, 7 are alike."""
    forgetful, still = [[0.5, 0.5], [0.5, 0.5]], [[0.999, 0.001], [0.001, 0.999]]
    model = Model([forgetful] * 4 + [still] * 2, [0.5, 0.5])
    theta = FiniteChains(states=states(2), models=(model,))
    epsilon = 12.0
    printed = max(printed_algorithm_2(i, 7, epsilon, theta) for i in range(1, 8))
    ours = plan_noise(theta, 7, epsilon=epsilon, statistic=SCALAR).scale
    assert printed < 0.8 * ours
    assert realised_epsilon(model, 7, lambda s: s.sum(axis=1), printed) > 1.2 * epsilon
    assert realised_epsilon(model, 7, lambda s: s.sum(axis=1), ours) <= epsilon * (1 + EXACT)


def test_a_block_of_points_moves_transition_counts_by_two_for_each_link() -> None:
    """Brute force over all pairs of sequences that differ in a block only: 2 (c + 1), 2 c or 2 (c - 1)."""
    import itertools

    k, length = 3, 5
    sequences = np.array(list(itertools.product(range(k), repeat=length)))
    counts = transition_counts(sequences, k)
    for first in range(length):
        for last in range(first, length):
            outside = [t for t in range(length) if not first <= t <= last]
            keys = (
                sequences[:, outside] @ (k ** np.arange(len(outside)))
                if outside
                else np.zeros(len(sequences))
            )
            worst = 0
            for key in np.unique(keys):
                group = counts[keys == key]
                worst = max(worst, int(np.abs(group[:, None, :] - group[None, :, :]).sum(axis=2).max()))
            card, ends = last - first + 1, (first == 0) + (last == length - 1)
            links = card + 1 - ends
            assert worst <= 2 * links
            if card == 1 or ends == 0:
                assert worst == 2 * links
