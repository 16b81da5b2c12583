"""Projection: the nearest row with the noisy total."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dpmarkov.errors import InputError
from dpmarkov.layout import Layout
from dpmarkov.postprocess import (
    NoiseLaw,
    clip,
    estimate_probabilities,
    posterior_mean,
    project,
    remove_prior,
    sinkhorn,
)
from dpmarkov.postprocess.simplex import to_rows
from dpmarkov.states import StateSpace
from dpmarkov.support import Support

CELLS, LAW = Support.full(2, 3), NoiseLaw(kind="laplace", scale=2.0)
LAYOUT = Layout(target=StateSpace.range(0, 3), source=StateSpace.range(0, 2))

rows = st.lists(st.lists(st.integers(-50, 200), min_size=4, max_size=4), min_size=1, max_size=5)


@given(rows)
@settings(max_examples=100, deadline=None)
def test_projection_keeps_the_total_and_the_order(values):
    noisy = np.array(values)
    cells = Support.full(*noisy.shape)
    found = project(noisy.ravel(), cells).reshape(noisy.shape)
    totals = noisy.sum(axis=1)
    assert np.all(found >= 0)
    assert np.allclose(found.sum(axis=1), np.maximum(totals, 0))
    for row, given_row in zip(found, noisy, strict=True):
        assert np.all(np.diff(row[np.argsort(given_row, kind="stable")]) >= -1e-9)


def test_projection_is_the_nearest_point():
    noisy = np.array([12.0, -3.0, 4.0, 0.0, -1.0])
    found = project(noisy, Support.full(1, 5))
    best = optimize.minimize(
        lambda x: ((x - noisy) ** 2).sum(),
        np.full(5, 2.4),
        bounds=[(0, None)] * 5,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 12.0},
    )
    assert np.allclose(found, best.x, atol=1e-5)


def test_a_given_total_is_met_and_rows_without_mass_become_uniform():
    cells = Support.full(2, 3)
    noisy = np.array([5, 2, -9, -1, -2, -3])
    found = project(noisy, cells, np.array([6.0, 0.0]))
    assert np.allclose(found.reshape(2, 3).sum(axis=1), [6.0, 0.0])
    assert np.allclose(to_rows(found, cells)[3:], 1 / 3)
    assert np.array_equal(clip(noisy), [5, 2, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: project(np.ones(5), CELLS), "noisy must be a flat array of 6 numbers; got shape"),
        (lambda: project(np.ones((2, 3)), CELLS), "flat array of 6 numbers"),
        (lambda: project(np.ones(6), CELLS, np.array([1.0, np.nan])), "totals must be finite numbers"),
        (lambda: project(np.ones(6), CELLS, np.ones(3)), "totals must be a flat array of 2 numbers"),
        (lambda: posterior_mean(np.full(6, np.nan), CELLS, LAW), "flat array of 6 integers; got .* float64"),
        (lambda: posterior_mean(np.ones(7, dtype=int), CELLS, LAW), "flat array of 6 integers"),
        (lambda: estimate_probabilities(np.ones(6), LAYOUT, LAW), "flat array of 6 integers"),
        (
            lambda: remove_prior(np.ones(6), CELLS, prior=1.0, weighted_totals=np.full(2, np.inf)),
            "weighted_totals must be finite",
        ),
        (lambda: sinkhorn("abc"), r"takes a matrix of numbers, such as release\.transition_matrix; got str"),
    ],
)
def test_what_is_no_array_of_counts_is_refused_in_words(call, message):
    with pytest.raises(InputError, match=message):
        call()
