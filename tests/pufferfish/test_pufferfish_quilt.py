"""The search for quilts: against enumeration; Basic, Fast and the closed form agree where they must."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmarkov.errors import ParameterError
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
    basic,
    closed_form,
    fast,
    influence_of,
    joint_epsilon,
    plan_noise,
)
from dpmarkov.pufferfish.quilt import Influence
from dpmarkov.states import StateSpace

CLOSE = 1e-9
SCALAR = Statistic(name="a sum")


def states(k: int) -> StateSpace:
    return StateSpace(range(k))


def enumerated(influence: Influence, length: int, epsilon: float, joints: int, node: int) -> float:
    """Algorithm 2, corrected, by trying every quilt."""
    best, at = math.inf, influence.at(node)
    for a in [None, *range(1, node)]:
        for b in [None, *range(1, length - node + 1)]:
            if a is None:
                e = 0.0 if b is None else at.forward(b)
            else:
                e = at.backward(a) if b is None else at.both(a, b)
            card = (node if a is None else a) + (length - node + 1 if b is None else b) - 1
            touched = card + joints * (1 - (a is None) - (b is None))
            if e < epsilon:
                best = min(best, touched / (epsilon - e))
    return best


def random_class(rng: np.random.Generator, kind: int, k: int) -> ChainClass:
    if kind == 0:
        return GapChains(
            states=states(k),
            least_probability=rng.uniform(0.1, 1 / k),
            eigengap=rng.uniform(0.2, 1),
            reversible=bool(rng.integers(2)),
        )
    p = rng.dirichlet(np.full(k, 3.0), k) * 0.9 + 0.1 / k
    if kind == 1:
        return IntervalChains(states=states(k), lower=p * 0.8, upper=np.minimum(1, p * 1.2))
    slow = 0.4 * np.eye(k) + 0.6 * p
    start = rng.dirichlet(np.ones(k)) if kind == 3 else None
    return FiniteChains(states=states(k), models=(Model(slow, start), Model(p, start)))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kind=st.integers(0, 3),
    length=st.integers(2, 28),
    joints=st.integers(0, 1),
    epsilon=st.sampled_from([0.1, 0.5, 1.0, 3.0]),
)
def test_every_search_finds_what_enumeration_finds(
    seed: int, kind: int, length: int, joints: int, epsilon: float
) -> None:
    theta = random_class(np.random.default_rng(seed), kind, 2 + seed % 2)
    influence = influence_of(theta)
    wanted = max(enumerated(influence, length, epsilon, joints, i) for i in range(1, length + 1))
    assert float(basic(influence, length, epsilon, joints).score(epsilon)) == pytest.approx(wanted, rel=CLOSE)
    statistic = TRANSITIONS if joints else HISTOGRAM
    planned = plan_noise(theta, length, epsilon=epsilon, statistic=statistic)
    assert planned.scale == pytest.approx(2 * wanted, rel=CLOSE)
    if kind < 3:
        assert float(fast(influence, length, epsilon, joints).score(epsilon)) == pytest.approx(
            wanted, rel=CLOSE
        )
        endless = closed_form(influence, epsilon, joints)
        whole = (length - joints) / epsilon
        bound = whole if endless is None else min(whole, float(endless.score(epsilon)))
        assert bound >= wanted * (1 - CLOSE)


@pytest.mark.parametrize("joints", [0, 1])
@pytest.mark.parametrize("g", [0.4, 0.1, 0.02])
def test_the_closed_form_is_what_long_chains_need(g: float, joints: int) -> None:
    theta = GapChains(states=states(5), least_probability=0.05, eigengap=g, reversible=True)
    influence = influence_of(theta)
    endless = closed_form(influence, 1.0, joints)
    assert endless is not None
    score = endless.score(1.0)
    for length in (10**4, 10**6, 10**9, 10**12):
        assert fast(influence, length, 1.0, joints).score(1.0) == score
    assert basic(influence, 10**4, 1.0, joints, nodes=range(1, 10**4, 97)).score(1.0) == score


def test_slow_chains_fall_back_to_one_group() -> None:
    theta = GapChains(states=states(5), least_probability=0.05, eigengap=0.001, reversible=True)
    noise = plan_noise(theta, 500, epsilon=1.0)
    assert noise.is_group_privacy
    assert noise.scale == noise.group_scale == 1000
    assert "this is group privacy" in noise.describe()


def test_a_single_time_point_needs_the_noise_of_one() -> None:
    theta = GapChains(states=states(5), least_probability=0.05, eigengap=0.1, reversible=True)
    assert plan_noise(theta, 1, epsilon=0.5).scale == 4
    with pytest.raises(ParameterError, match="single time point has no transition"):
        plan_noise(theta, 1, epsilon=0.5, statistic=TRANSITIONS)


def test_imaginary_end_nodes_know_no_threshold() -> None:
    """Node 2 of a long chain uses {X_(2+b)}, although its end lies nearer than ln(1/pi)/g."""
    theta = GapChains(states=states(2), least_probability=0.3, eigengap=0.3, reversible=True)
    quilt = basic(influence_of(theta), 1000, 1.0, nodes=[2])
    assert quilt.before is None
    assert quilt.after is not None
    assert quilt.card == quilt.after + 1


def test_transition_counts_need_about_half_of_four_times_the_card() -> None:
    theta = GapChains(states=states(5), least_probability=0.05, eigengap=0.1, reversible=True)
    chain = plan_noise(theta, 10**6, epsilon=1.0, statistic=TRANSITIONS)
    crude = plan_noise(theta, 10**6, epsilon=1.0, statistic=Statistic(name="counts", lipschitz=4.0))
    assert 0.5 < chain.scale / crude.scale < 0.51


def test_the_noise_is_rounded_up_and_its_epsilon_comes_back() -> None:
    rng = np.random.default_rng(0)
    for kind in range(4):
        theta = random_class(rng, kind, 3)
        for epsilon in (0.3, 1.0, 2.0):
            for statistic in (SCALAR, HISTOGRAM, TRANSITIONS):
                noise = plan_noise(theta, 50, epsilon=epsilon, statistic=statistic)
                back = joint_epsilon([noise])
                assert back <= epsilon * (1 + 1e-15)
                assert back == pytest.approx(epsilon, rel=1e-9)


def test_several_releases_cost_less_than_their_sum_and_never_less_than_the_largest() -> None:
    theta = GapChains(states=states(5), least_probability=0.05, eigengap=0.1, reversible=True)
    noises = [
        plan_noise(theta, 10**5, epsilon=e, statistic=s) for e in (0.5, 1.0) for s in (HISTOGRAM, TRANSITIONS)
    ]
    joint = joint_epsilon(noises)
    assert 1.0 < joint < 3.0
    same = [plan_noise(theta, 10**5, epsilon=1.0)] * 4
    assert joint_epsilon(same) < 4.0


def test_joint_epsilon_by_brute_force() -> None:
    """Two statistics of one tiny chain released together: the ratio over both outputs."""
    from pufferfish_truth import realised_epsilon

    model = Model([[0.7, 0.3], [0.4, 0.6]], [0.5, 0.5])
    theta = FiniteChains(states=states(2), models=(model,))
    one = plan_noise(theta, 6, epsilon=1.0, statistic=SCALAR)
    both = joint_epsilon([one, one])

    def twice(sequences: np.ndarray) -> np.ndarray:
        ones = sequences.sum(axis=1)
        alternating = (sequences * [1, 0, 1, 0, 1, 1]).sum(axis=1)
        return np.stack([ones, alternating], axis=1)

    assert realised_epsilon(model, 6, twice, one.scale) <= both * (1 + CLOSE)
    assert both < 2.0


def test_releases_that_no_theorem_covers_together_are_refused() -> None:
    rng = np.random.default_rng(1)
    one, other = random_class(rng, 0, 3), random_class(rng, 0, 3)
    noise = plan_noise(one, 50, epsilon=1.0)
    for second in (
        plan_noise(other, 50, epsilon=1.0),
        plan_noise(one, 51, epsilon=1.0),
        plan_noise(one, 50, epsilon=1.0, secrets=Secrets(times=(3,))),
    ):
        with pytest.raises(ParameterError, match="do not compose"):
            joint_epsilon([noise, second])


def test_people_and_secrets() -> None:
    theta = GapChains(states=states(3), least_probability=0.2, eigengap=0.5, reversible=True)
    longest = plan_noise(theta, [5, 40, 7], epsilon=1.0)
    assert longest.scale == plan_noise(theta, 40, epsilon=1.0).scale
    some = plan_noise(theta, [5, 40, 7], epsilon=1.0, secrets=Secrets(people=(0, 2)))
    assert some.scale == plan_noise(theta, 7, epsilon=1.0).scale
    with pytest.raises(ParameterError, match="there are 3 people"):
        plan_noise(theta, [5, 40, 7], epsilon=1.0, secrets=Secrets(people=(3,)))
    with pytest.raises(ParameterError, match="time points start at 60"):
        plan_noise(theta, 40, epsilon=1.0, secrets=Secrets(times=(60,)))
    with pytest.raises(ParameterError, match="times must be whole numbers >= 1"):
        Secrets(times=(0,))


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan])
def test_epsilon_must_be_finite_and_positive(epsilon: float) -> None:
    theta = GapChains(states=states(3), least_probability=0.2, eigengap=0.5, reversible=True)
    with pytest.raises(ParameterError, match="epsilon must be a finite number > 0"):
        plan_noise(theta, 10, epsilon=epsilon)


def test_the_class_must_be_a_class() -> None:
    for wrong in ({"kind": "gap"}, "theta.json", None):
        with pytest.raises(ParameterError, match="theta must be a class"):
            plan_noise(wrong, 10, epsilon=1.0)  # type: ignore[arg-type]


def test_a_class_that_varies_with_time_has_one_length() -> None:
    steps = [[[0.7, 0.3], [0.4, 0.6]]] * 4
    theta = FiniteChains(states=states(2), models=(Model(steps, [0.5, 0.5]),))
    assert theta.length == 5
    assert plan_noise(theta, 5, epsilon=1.0).scale > 0
    with pytest.raises(ParameterError, match="they must match"):
        plan_noise(theta, 6, epsilon=1.0)


def test_many_steps_of_many_states_agree_with_the_matrix_power() -> None:
    rng = np.random.default_rng(2)
    p = 0.9 * np.eye(20) + 0.1 * rng.dirichlet(np.ones(20), 20)
    influence = influence_of(FiniteChains(states=states(20), models=(Model(p),)))
    power = np.linalg.matrix_power(p, 137)
    logs = np.log(power)
    assert influence.at(1).forward(137) == pytest.approx(
        float((logs[:, None, :] - logs[None, :, :]).max()), abs=1e-9
    )
