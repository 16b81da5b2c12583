"""Projection: the nearest row with the noisy total."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from dpmarkov.postprocess import clip, project
from dpmarkov.postprocess.simplex import to_rows
from dpmarkov.support import Support

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
