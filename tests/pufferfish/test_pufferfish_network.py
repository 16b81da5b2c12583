"""Bayesian networks and the Wasserstein Mechanism, against the whole joint distribution."""

import itertools
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pufferfish_truth import law_given, output_law

from dpmarkov.errors import InputError, ParameterError
from dpmarkov.pufferfish import (
    BayesianNetwork,
    FiniteChains,
    FiniteFramework,
    Model,
    basic,
    chain_sums,
    influence_of,
    max_influence,
    network_sums,
    plan_network_noise,
    quilts_of,
    release_by_wasserstein,
    release_over_network,
    wasserstein_distance,
)
from dpmarkov.states import StateSpace

COIN = [Fraction(1, 2), Fraction(1, 2)]
CLOSE = 1e-9


def hidden(values: np.ndarray, p: np.ndarray, node: np.ndarray, grid: np.ndarray, scale: float) -> float:
    """The realised epsilon for one binary node."""
    laws = [np.log(output_law(law_given(values, p, node == x), grid, scale)) for x in (0, 1)]
    return float(np.abs(laws[0] - laws[1]).max())


def joint_of(network: BayesianNetwork) -> tuple[np.ndarray, np.ndarray, list]:
    """All assignments and their probabilities, straight from the definition."""
    nodes = list(network.sizes)
    rows = np.array(list(itertools.product(*(range(network.sizes[v]) for v in nodes))))
    p = np.ones(len(rows))
    for node, (parents, table) in network.tables.items():
        numbers = np.array(
            np.vectorize(lambda x: float(Fraction(str(x))), otypes=[float])(np.array(table, object))
        )
        at = tuple(rows[:, nodes.index(v)] for v in (*parents, node))
        p *= numbers[at]
    return rows, p, nodes


def random_network(
    rng: np.random.Generator, edges: list[tuple[int, int]], n: int, k: int = 2
) -> BayesianNetwork:
    tables = {}
    for v in range(n):
        parents = tuple(a for a, b in edges if b == v)
        weights = rng.integers(1, 8, size=(k,) * (len(parents) + 1))
        total = weights.sum(axis=-1, keepdims=True)
        tables[v] = (
            parents,
            np.vectorize(Fraction, otypes=[object])(weights, np.broadcast_to(total, weights.shape)),
        )
    return BayesianNetwork(tables)


GRAPHS = {
    "chain": [(i, i + 1) for i in range(5)],
    "tree": [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)],
    "general": [(0, 2), (1, 2), (2, 3), (1, 4), (3, 5), (4, 5)],
    "apart": [(0, 1), (1, 2), (3, 4)],
}


@pytest.mark.parametrize("name", GRAPHS)
def test_elimination_gives_the_joint_distribution(name: str) -> None:
    network = random_network(np.random.default_rng(1), GRAPHS[name], 6)
    rows, p, nodes = joint_of(network)
    for chosen in ([0], [5, 1], [3, 0, 4]):
        joint = network.joint(chosen)
        for values in np.ndindex(joint.shape):
            at = np.all(rows[:, [nodes.index(v) for v in chosen]] == values, axis=1)
            assert float(Fraction(str(joint[values]))) == pytest.approx(p[at].sum(), rel=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(GRAPHS)))
def test_the_noise_hides_every_node_of_a_network(seed: int, name: str) -> None:
    """The realised ratio over the whole joint distribution, for the count of ones and for two counts."""
    network = random_network(np.random.default_rng(seed), GRAPHS[name], 6)
    rows, p, _ = joint_of(network)
    for epsilon in (0.5, 1.0, 3.0):
        scale = plan_network_noise([network], epsilon=epsilon).scale
        assert scale <= 6 / epsilon * (1 + CLOSE)
        for values in (rows.sum(axis=1)[:, None], np.stack([rows[:, :3].sum(1), rows[:, 3:].sum(1)], axis=1)):
            grid = np.array(list(itertools.product(*(range(m + 1) for m in values.max(0)))), dtype=float)
            for node in range(6):
                laws = [
                    np.log(output_law(law_given(values, p, rows[:, node] == x), grid, scale)) for x in (0, 1)
                ]
                assert np.abs(laws[0] - laws[1]).max() <= epsilon * (1 + CLOSE)


@pytest.mark.parametrize("name", GRAPHS)
def test_quilts_separate_and_their_influence_is_exact(name: str) -> None:
    network = random_network(np.random.default_rng(3), GRAPHS[name], 6)
    rows, p, _ = joint_of(network)
    for node in range(6):
        for quilt in quilts_of(network.graph, node):
            remote = [v for v in range(6) if v not in quilt.quilt and v not in quilt.nearby]
            skeleton = network.graph.to_undirected()
            assert not any(skeleton.has_edge(r, n) for r in remote for n in quilt.nearby)
            assert node in quilt.nearby
            for given_q in itertools.product((0, 1), repeat=len(quilt.quilt)):
                at = (
                    np.all(rows[:, list(quilt.quilt)] == given_q, axis=1)
                    if quilt.quilt
                    else np.full(len(p), True)
                )
                laws = [law_given(rows[:, remote], p, at & (rows[:, node] == x)) for x in (0, 1)]
                for value, weight in laws[0].items():
                    assert weight == pytest.approx(laws[1][value], rel=1e-9)
            truth = 0.0
            if quilt.quilt:
                laws = [law_given(rows[:, list(quilt.quilt)], p, rows[:, node] == x) for x in (0, 1)]
                truth = max(abs(math.log(w / laws[1][v])) for v, w in laws[0].items())
                one_sided = max(math.log(w / laws[1 - x][v]) for x in (0, 1) for v, w in laws[x].items())
                assert truth == pytest.approx(one_sided)
            assert max_influence([network], node, quilt.quilt) == pytest.approx(truth, abs=1e-11)


def test_a_collider_is_no_quilt() -> None:
    """In 0 -> 1 <- 2 node 1 cuts the graph, but makes its parents dependent."""
    network = random_network(np.random.default_rng(0), [(0, 1), (2, 1)], 3)
    assert all(quilt.quilt != (1,) for quilt in quilts_of(network.graph, 0))
    fork = random_network(np.random.default_rng(0), [(1, 0), (1, 2)], 3)
    assert any(quilt.quilt == (1,) for quilt in quilts_of(fork.graph, 0))


def test_on_a_chain_the_network_mechanism_is_the_chain_mechanism() -> None:
    step = [[0.7, 0.3], [0.2, 0.8]]
    network = BayesianNetwork({0: ((), [0.4, 0.6]), **{t: ((t - 1,), step) for t in range(1, 7)}})
    theta = FiniteChains(states=StateSpace([0, 1]), models=(Model(step, [0.4, 0.6]),))
    for epsilon in (0.5, 1.0, 4.0):
        chain = float(basic(influence_of(theta), 7, epsilon).score(epsilon))
        assert plan_network_noise([network], epsilon=epsilon).scale == pytest.approx(chain, rel=1e-9)


def test_the_search_can_be_restricted_and_the_class_has_many_networks() -> None:
    networks = [random_network(np.random.default_rng(s), GRAPHS["tree"], 6) for s in (1, 2)]
    both = plan_network_noise(networks, epsilon=2.0)
    alone = [plan_network_noise([network], epsilon=2.0).scale for network in networks]
    assert both.scale >= max(alone) * (1 - CLOSE)
    none = plan_network_noise(networks, epsilon=2.0, size=0)
    assert none.scale == pytest.approx(3.0)
    some = plan_network_noise(
        networks, epsilon=2.0, candidates={v: [(0,), (1,)] if v > 2 else [] for v in range(6)}
    )
    assert both.scale <= some.scale <= none.scale
    secret = plan_network_noise(networks, epsilon=2.0, secrets=[5], lipschitz=0.5)
    assert secret.scale <= both.scale / 2 * (1 + CLOSE)
    with pytest.raises(ParameterError, match="one graph"):
        plan_network_noise(
            [networks[0], random_network(np.random.default_rng(1), GRAPHS["chain"], 6)], epsilon=1.0
        )


def test_a_value_that_rules_out_another_has_infinite_influence() -> None:
    network = BayesianNetwork({0: ((), COIN), 1: ((0,), [[1, 0], [0, 1]])})
    assert max_influence([network], 0, [1]) == math.inf
    assert plan_network_noise([network], epsilon=1.0).scale == 2.0


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "at least one node"),
        ({0: ((1,), [COIN, COIN])}, "has no table"),
        ({0: ((1,), [COIN, COIN]), 1: ((0,), [COIN, COIN])}, "cycle"),
        ({0: ((), [0.5, 0.6])}, "sum to 1"),
        ({0: ((), [1.5, -0.5])}, "negative"),
        ({0: ((), COIN), 1: ((0,), COIN)}, "must have 2 axes"),
        ({0: ((), COIN), 1: ((0,), [COIN, COIN, COIN])}, "which has"),
        ({0: ((), ["half", "half"])}, "finite number"),
    ],
)
def test_tables_that_are_no_network_are_refused(tables: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        BayesianNetwork(tables)


def test_a_network_survives_its_dictionary() -> None:
    network = random_network(np.random.default_rng(1), GRAPHS["general"], 6)
    read = BayesianNetwork.from_dict(network.to_dict())
    assert read.to_dict() == network.to_dict()
    assert nx.utils.graphs_equal(read.graph, network.graph)


# The Wasserstein Mechanism


def quantile_gap(one: dict, other: dict) -> Fraction:
    """The distance from its definition: quantile functions at the midpoints of all their steps."""

    def quantile(law: dict, level: Fraction) -> int:
        mass = Fraction(0)
        for value in sorted(law):
            mass += law[value]
            if mass >= level:
                return value
        raise AssertionError

    levels = {Fraction(0), Fraction(1)}
    for law in (one, other):
        mass = Fraction(0)
        for value in sorted(law):
            mass += law[value]
            levels.add(mass)
    steps = sorted(levels)
    middles = [(a + b) / 2 for a, b in itertools.pairwise(steps)]
    return Fraction(max(abs(quantile(one, m) - quantile(other, m)) for m in middles))


@settings(max_examples=60, deadline=None)
@given(
    one=st.dictionaries(st.integers(-9, 9), st.integers(1, 20), min_size=1, max_size=6),
    other=st.dictionaries(st.integers(-9, 9), st.integers(1, 20), min_size=1, max_size=6),
)
def test_the_distance_on_the_line(one: dict[int, int], other: dict[int, int]) -> None:
    laws = [{v: Fraction(w, sum(law.values())) for v, w in law.items()} for law in (one, other)]
    assert wasserstein_distance(*laws) == quantile_gap(*laws)
    assert wasserstein_distance(*laws) == wasserstein_distance(*reversed(laws))
    assert wasserstein_distance(laws[0], laws[0]) == 0


def test_the_papers_flu_example() -> None:
    """Four people; 0..4 of them ill with probability .1, .15, .5, .15, .1: W = 2, group privacy needs 4."""
    ill = dict(enumerate(["0.1", "0.15", "0.5", "0.15", "0.1"]))
    healthy = {n: Fraction(p) * (4 - n) for n, p in ill.items()}
    sick = {n: Fraction(p) * n for n, p in ill.items()}
    framework = FiniteFramework(
        pairs=(("alice is ill", "alice is well"),), laws=({"alice is ill": sick, "alice is well": healthy},)
    )
    assert framework.distance() == 2
    assert framework.scale(0.5) == 4.0


@pytest.mark.parametrize("length", [1, 5, 30])
def test_in_the_independent_case_it_is_the_laplace_mechanism(length: int) -> None:
    model = Model([[0.9, 0.1], [0.9, 0.1]])
    theta = FiniteChains(states=StateSpace([0, 1]), models=(model,))
    assert chain_sums(theta, length, [0, 1]).scale(0.5) == 2.0
    network = BayesianNetwork({v: ((), ["0.9", "0.1"]) for v in range(min(length, 8))})
    assert network_sums([network], {v: [0, 1] for v in network.sizes}).distance() == 1


def test_sums_over_a_chain_by_dynamic_programming() -> None:
    """Against enumeration, for a chain that varies with time, weighted states, and the same network."""
    steps = [[[0.9, 0.1], [0.4, 0.6]], [[0.2, 0.8], [0.7, 0.3]], [[0.5, 0.5], [0.1, 0.9]]]
    theta = FiniteChains(states=StateSpace([0, 1]), models=(Model(steps, [0.25, 0.75]),))
    network = BayesianNetwork({0: ((), [0.25, 0.75]), **{t: ((t - 1,), steps[t - 1]) for t in range(1, 4)}})
    rows, p, _ = joint_of(network)
    chain = chain_sums(theta, 4, [2, 5])
    net = network_sums([network], {v: [2, 5] for v in range(4)})
    worst = Fraction(0)
    for t in range(4):
        laws = []
        for state in (0, 1):
            truth = law_given((2 + 3 * rows).sum(axis=1)[:, None], p, rows[:, t] == state)
            found = chain.laws[0][t + 1, state]
            total = sum(found.values())
            for (value,), weight in truth.items():
                assert float(found[value] / total) == pytest.approx(weight, rel=1e-12)
            laws.append(found)
        worst = max(worst, wasserstein_distance(*laws))
    assert chain.distance() == net.distance() == worst


def test_a_networks_count_is_hidden_by_wasserstein_noise() -> None:
    network = random_network(np.random.default_rng(9), GRAPHS["general"], 6)
    rows, p, _ = joint_of(network)
    framework = network_sums([network], {v: [0, 1] for v in range(6)})
    for epsilon in (0.5, 2.0):
        scale = framework.scale(epsilon)
        values, grid = rows.sum(axis=1)[:, None], np.arange(7)[:, None].astype(float)
        for node in range(6):
            assert hidden(values, p, rows[:, node], grid, scale) <= epsilon * (1 + CLOSE)


def test_releases_carry_their_framework() -> None:
    network = random_network(np.random.default_rng(9), GRAPHS["tree"], 6)
    framework = network_sums([network], {v: [0, 1] for v in range(6)})
    made = release_by_wasserstein(4, framework, epsilon=1.0, name="people who are ill")
    assert made.value == int(made.value)
    assert made.guarantee.unit.name == "secret"
    assert "one of 1 declared Bayesian networks" in " ".join(made.guarantee.describe().split())
    assert "Pufferfish privacy" in made.guarantee.citation
    noise = plan_network_noise([network], epsilon=1.0)
    other = release_over_network([4.0, math.nan], noise, name="two figures", seed=3)
    assert len(other.values) == 2
    assert all(map(math.isfinite, other.values))
    assert "NOT PRIVATE" in other.guarantee.assumptions[0]
    with pytest.raises(InputError, match="whole number"):
        release_by_wasserstein(4.5, framework, epsilon=1.0, name="x")  # type: ignore[arg-type]
    halves = FiniteFramework(pairs=((0, 1),), laws=({0: {0.5: 1}, 1: {1.5: 1}},))
    with pytest.raises(ParameterError, match="whole numbers"):
        release_by_wasserstein(4, halves, epsilon=1.0, name="x")


def test_frameworks_without_content_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        FiniteFramework(pairs=(), laws=({0: {0: 1}},))
    with pytest.raises(ParameterError, match="no law is given"):
        FiniteFramework(pairs=((0, 1),), laws=({0: {0: 1}},))
    with pytest.raises(ParameterError, match="all of it is 0"):
        wasserstein_distance({0: 0}, {1: 1})
    with pytest.raises(ParameterError, match="whole number >= 0"):
        chain_sums(FiniteChains(states=StateSpace([0, 1]), models=(Model([[0.5, 0.5]] * 2),)), 3, [0, -1])
