"""De-biasing a Dirichlet draw, and doubly stochastic matrices."""

import numpy as np
import pytest

from dpmarkov.errors import InputError
from dpmarkov.postprocess import remove_prior, sinkhorn
from dpmarkov.support import Support


def test_removing_the_prior_removes_its_bias():
    rng = np.random.default_rng(11)
    counts = np.array([600.0, 300.0, 90.0, 10.0])
    weight, prior = 0.5, 10.0
    cells = Support.full(1, 4)
    draws = rng.dirichlet(weight * counts + prior, 4000)
    totals = np.array([weight * counts.sum()])
    freed = np.array([remove_prior(row, cells, prior=prior, weighted_totals=totals) for row in draws])
    truth = counts / counts.sum()
    # 4,000 draws: standard errors below 4e-4; five of them would be seen by chance once in 10^6.
    assert np.abs(freed.mean(axis=0) - truth)[:3].max() < 2e-3
    assert np.abs(draws.mean(axis=0) - truth).max() > 1e-2
    assert np.allclose(freed.sum(axis=1), 1)
    assert np.all(freed >= 0)


def test_a_row_that_is_all_prior_survives():
    cells = Support.full(1, 3)
    row = remove_prior(np.full(3, 1 / 3), cells, prior=5.0, weighted_totals=np.array([-4.0]))
    assert np.allclose(row, 1 / 3)


def test_sinkhorn_scales_to_a_doubly_stochastic_matrix():
    rng = np.random.default_rng(5)
    given = rng.dirichlet(np.full(8, 0.5), 8) + 1e-9
    found = sinkhorn(given)
    assert np.abs(found.matrix.sum(axis=0) - 1).max() < 1e-11
    assert np.abs(found.matrix.sum(axis=1) - 1).max() < 1e-11
    ratio = found.matrix / given
    assert (
        np.linalg.matrix_rank(
            np.log(ratio) - np.log(ratio)[:1] - np.log(ratio)[:, :1] + np.log(ratio)[0, 0], tol=1e-6
        )
        == 0
    )
    assert 0 < found.moved < 1
    already = sinkhorn(np.full((3, 3), 1 / 3))
    assert already.moved < 1e-12


def test_sinkhorn_refuses_what_it_cannot_scale():
    with pytest.raises(InputError, match="entries > 0"):
        sinkhorn([[1.0, 0.0], [0.5, 0.5]])
    with pytest.raises(InputError, match="square"):
        sinkhorn(np.ones((2, 3)))
