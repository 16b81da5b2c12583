"""Classes, periods, input checks and immutability."""

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dpmarkov.chain import MarkovChain
from dpmarkov.errors import ChainError, StateSpaceError


@settings(max_examples=80, deadline=None)
@given(n=st.integers(2, 14), seed=st.integers(0, 10**6), density=st.floats(0.02, 0.5))
def test_classes_and_periods_agree_with_networkx(n, seed, density):
    rng = np.random.default_rng(seed)
    p = (rng.random((n, n)) < density) * rng.random((n, n))
    p[p.sum(axis=1) == 0, 0] = 1
    p /= p.sum(axis=1, keepdims=True)
    chain = MarkovChain(p)
    graph = nx.from_numpy_array(p, create_using=nx.DiGraph)
    theirs = {frozenset(c) for c in nx.strongly_connected_components(graph)}
    assert {frozenset(c.states) for c in chain.classes} == theirs
    closed = {frozenset(c) for c in nx.attracting_components(graph)}
    assert {frozenset(c.states) for c in chain.recurrent_classes} == closed
    for c in chain.classes:
        inside = graph.subgraph(c.states)
        lengths = [len(cycle) for cycle in nx.simple_cycles(inside)] if len(c) <= 8 else None
        if lengths is not None:
            assert c.period == (np.gcd.reduce(lengths) if lengths else 0)
    assert MarkovChain(sparse.csr_array(p)).classes[0].states == chain.classes[0].states


def test_a_ring_of_six_with_a_chord():
    ring = np.roll(np.eye(6), 1, axis=1)
    assert MarkovChain(ring).period == 6
    ring[0, 1], ring[0, 3] = 0.5, 0.5
    assert MarkovChain(ring).period == 2
    ring[0, 1], ring[0, 0] = 0.4, 0.1
    assert MarkovChain(ring).is_aperiodic


def test_ergodic_means_settling_in_one_distribution():
    with_a_way_in = MarkovChain([[0.5, 0.5, 0], [0.4, 0.6, 0], [0.1, 0.2, 0.7]])
    assert with_a_way_in.is_ergodic
    assert with_a_way_in.why_not_ergodic == ""
    split = MarkovChain(np.eye(2), ["a", "b"])
    assert not split.is_ergodic
    assert "2 classes that are never left" in split.why_not_ergodic
    assert "{'a'}" in split.why_not_ergodic
    assert "cycle of 2 groups" in MarkovChain([[0, 1], [1, 0]]).why_not_ergodic


def test_stored_zeros_are_not_transitions():
    p = sparse.csr_array(np.array([[0.5, 0.5], [0.5, 0.5]]))
    p.data = np.array([1.0, 0.0, 0.5, 0.5])
    chain = MarkovChain(p)
    assert not chain.is_irreducible
    assert chain.absorbing_states == (0,)
    assert chain.stationary_distribution.tolist() == [1.0, 0.0]
    assert chain.entropy_rate() == 0.0


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.5]], "square"),
        ([[1.0]], "at least two states"),
        ([[0.5, 0.4], [0.5, 0.5]], "row 0 sums to 0.9"),
        ([[1.5, -0.5], [0.5, 0.5]], ">= 0"),
        ([[np.nan, 1], [0.5, 0.5]], ">= 0"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        (3.0, "square"),
    ],
)
def test_what_is_not_a_chain_is_refused(matrix, message):
    with pytest.raises(ChainError, match=message):
        MarkovChain(matrix)


def test_states_must_fit():
    with pytest.raises(ChainError, match="2 rows but 3 states"):
        MarkovChain([[0.5, 0.5], [0.5, 0.5]], ["a", "b", "c"])
    with pytest.raises(StateSpaceError, match="distinct"):
        MarkovChain([[0.5, 0.5], [0.5, 0.5]], ["a", "a"])


@pytest.mark.parametrize("convert", [np.array, sparse.csr_matrix, sparse.coo_array])
def test_a_chain_never_changes(convert):
    given_matrix = convert(np.array([[0.5, 0.5], [0.25, 0.75]]))
    chain = MarkovChain(given_matrix)
    before = chain.dense().copy()
    if isinstance(given_matrix, np.ndarray):
        given_matrix[0] = [1, 0]
    else:
        given_matrix.data[:] = 0
    np.testing.assert_array_equal(chain.dense(), before)
    with pytest.raises(AttributeError, match="never changes"):
        chain.matrix = before
    with pytest.raises(ValueError, match="read-only"):
        chain.stationary_distribution[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        chain.dense()[0, 0] = 1
    again = pickle.loads(pickle.dumps(chain))
    np.testing.assert_array_equal(again.dense(), before)


def test_restriction_needs_a_closed_set():
    p = [[0.5, 0.5, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]]
    chain = MarkovChain(p, ["a", "b", "c"])
    assert chain.restricted_to(["a", "b"]).states.states == ("a", "b")
    with pytest.raises(ChainError, match="never left together"):
        chain.restricted_to(["a", "c"])


def test_large_sparse_chains_refuse_dense_questions_and_answer_the_others():
    n = 6000
    p = sparse.csr_array(
        0.5 * sparse.eye_array(n)
        + 0.5 * sparse.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)))
    )
    chain = MarkovChain(p)
    with pytest.raises(ChainError, match="limit of 5,000"):
        chain.mixing_time()
    np.testing.assert_allclose(chain.stationary_distribution, 1 / n, rtol=1e-12)
    assert chain.entropy_rate() == pytest.approx(1.0)
    assert chain.distribution_after(2, 0)[2] == 0.25
