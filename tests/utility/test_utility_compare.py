"""Comparison: silent about noise, right about changes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from known_chains import dirichlet_release, noisy_release, true_counts

import dpmarkov as dpm
from dpmarkov.errors import ParameterError, StateSpaceError
from dpmarkov.postprocess import NoiseLaw, estimate_probabilities

X = true_counts()


def test_two_releases_of_the_same_data_hardly_differ():
    """6 pairs without any change: on average at most one false change in 144 transitions a pair."""
    named = [
        len(dpm.compare(noisy_release(X, s), noisy_release(X, 100 + s), draws=60).transitions)
        for s in range(6)
    ]
    assert np.mean(named) <= 1.0


def test_noise_alone_stays_below_its_bound():
    """16 pairs without any change; a 95 % bound is passed in 5 or more of them with a chance of 1 in 1,000.

    Power: bounds of half that size are passed in most.
    """
    pairs = [dpm.compare(noisy_release(X, s), noisy_release(X, 100 + s), draws=50) for s in range(16)]
    for which in range(2):
        distances = [pair.distances[which] for pair in pairs]
        assert sum(d.value <= d.noise for d in distances) >= 12
        assert sum(d.low == 0 for d in distances) >= 12
        assert sum(d.value <= d.noise / 2 for d in distances) < 12


@pytest.mark.parametrize("method", ["posterior", "project"])
def test_thin_rows_are_no_changes(method):
    """Rows of few and of many events; draws of the posterior alone named ten false changes a pair."""
    rng, n, law = np.random.default_rng(3), 40, NoiseLaw(kind="laplace", scale=2.0)
    rates = np.outer(rng.pareto(0.8, n) * 3 + 0.02, rng.pareto(1.2, n) + 0.02) * rng.gamma(0.5, 2, (n, n))
    x = rng.poisson(rates)

    def made(seed, counts):
        release = noisy_release(counts, seed)
        rows = estimate_probabilities(release.noisy_counts, release.layout, law, method=method)
        return replace(release, probabilities=rows)

    found = [dpm.compare(made(s, x), made(100 + s, x), draws=60) for s in range(5)]
    assert sum(len(f.transitions) + len(f.shares) for f in found) <= 1
    assert all(f.left_out > 0 for f in found)
    assert "do not stand out of the noise" in found[0].describe()
    busiest = int(x.sum(axis=1).argmax())
    y = x.copy()
    y[busiest] = np.roll(y[busiest], 3)
    moved = dpm.compare(made(1, x), made(2, y), draws=60).transitions
    assert sum(c.origin == busiest for c in moved) >= 20


def test_a_change_is_found_and_its_distance_covered():
    y = X.copy()
    y[0] = np.roll(y[0], 3)
    found = dpm.compare(noisy_release(X, 1), noisy_release(y, 2), draws=150)
    moved = [(c.origin, c.state) for c in found.transitions]
    p, q = (m / m.sum(axis=1, keepdims=True) for m in (X, y))
    largest = int(np.abs(p - q)[0].argmax())
    assert moved[0][0] == 0
    assert (0, largest) in moved[:3]
    assert sum(origin != 0 for origin, _ in moved) <= 0.1 * len(moved) + 1
    true_shift = (
        0.5
        * np.abs(
            dpm.MarkovChain(p).stationary_distribution - dpm.MarkovChain(q).stationary_distribution
        ).sum()
    )
    stationary, rows = found.distances
    assert stationary.low <= true_shift <= stationary.high
    assert rows.value > rows.noise
    assert "0 -> " in found.describe()
    assert json.loads(json.dumps(found.to_dict()))["transitions"][0]["from"] == 0


def test_dirichlet_releases_compare_with_care():
    found = dpm.compare(dirichlet_release(X, 1), dirichlet_release(X, 2), draws=100)
    assert not found.transitions
    assert "noise alone" in str(found)


def test_only_like_with_like():
    a = noisy_release(X, 1)
    other = noisy_release(X, 2, states=dpm.StateSpace([*range(11), 99]))
    with pytest.raises(StateSpaceError, match=r"only in one of them: 11, 99"):
        dpm.compare(a, other)
    with pytest.raises(StateSpaceError, match="another order"):
        dpm.compare(a, noisy_release(X, 2, states=dpm.StateSpace([*range(11, -1, -1)])))
    with pytest.raises(ParameterError, match="itself"):
        dpm.compare(a, a)


@pytest.mark.parametrize("made", [noisy_release, dirichlet_release])
def test_a_declared_end_leaves_no_shares_to_compare(made):
    """The row of the end is noise: it has no weight, and a change of it is none."""
    x = X.copy()
    x[11], y = 0, x.copy()
    y[0] = np.roll(y[0], 3)
    before, after = (
        replace(made(counts, seed), counting={"kind": "sequences", "end": 11})
        for counts, seed in ((x, 1), (y, 2))
    )
    found = dpm.compare(before, after, draws=100)
    assert found.ends == (11,)
    assert [d.name for d in found.distances] == ["rows, weighted by their events"]
    assert not found.shares
    assert found.looked_at <= 11 * 12
    assert all(c.origin != 11 for c in found.transitions)
    text = found.describe()
    assert "No long run: sequences end in 11, as declared. Shares and that row are not compared." in text
    assert "long-run shares" not in text
    assert "stationary" not in text
    told = json.loads(json.dumps(found.to_dict()))
    assert told["ends"] == [11]
    assert told["shares"] == []
    if made is noisy_release:
        # The busiest row holds a third of the events and moved as a whole; the end's own row moves nothing.
        assert {c.origin for c in found.transitions} == {0}
        share = x[0].sum() / x.sum()
        moved = 0.5 * np.abs(before.transition_matrix[0] - after.transition_matrix[0]).sum()
        assert found.distances[0].value == pytest.approx(share * moved, rel=0.2)
    assert dpm.compare(before, replace(after, counting={}), draws=60).ends == (11,)
