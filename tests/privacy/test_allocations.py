"""Theorem C: no way of laying a user's events into cells exceeds the bound."""

import math

import numpy as np
import pytest

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.allocations import cover
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.calibrate import calibrate, dirichlet_profile
from dpmarkov.privacy.pairs import BetaPair, GammaPair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import User, Visit

# The compositions on both sides round up, by less than this.
LOOSE = 0.012


def partitions(total, most):
    """All ways to write `total` as a sum of whole numbers up to `most`, largest first."""
    if total == 0:
        yield ()
        return
    for first in range(min(total, most), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


@pytest.mark.parametrize(
    ("alpha", "weight", "events", "most"),
    [
        (0.1, 1.0, 2, 2),
        (0.1, 0.05, 3, 3),
        (0.6, 0.1, 3, 2),
        (1.0, 0.2, 4, 4),
        (1.0, 0.2, 4, 3),
        (3.0, 0.4, 4, 2),
    ],
)
def test_no_allocation_exceeds_the_bound(alpha, weight, events, most):
    bound = dirichlet_profile(User(max_events=events, max_per_pair=most), weight, alpha)
    epsilons = np.array([0.1, 0.5, 1.0, 2.0])
    limit = bound.delta(epsilons)
    largest = np.zeros(4)
    for some in range(1, events + 1):
        for parts in partitions(some, most):
            pairs = tuple(GammaPair(alpha=alpha, weight=part * weight) for part in parts)
            largest = np.maximum(largest, Profile((pairs,)).delta(epsilons))
    assert np.all(largest <= limit * (1 + LOOSE))
    # The bound is no wild one either.
    assert np.all(limit <= 1.0)


def test_one_cell_is_not_the_worst_below_one():
    """The counterexample of privacy.md: alpha = .1, w = 1, m = 2, eps = 1."""
    together = Profile(((BetaPair(alpha=0.1, weight=2.0),),)).delta(1.0)
    spread = Profile(((BetaPair(alpha=0.1, weight=1.0),) * 2,)).delta(1.0)
    bound = dirichlet_profile(User(max_events=2, relation="replace"), 1.0, 0.1).delta(1.0)
    assert together == pytest.approx(0.9420, abs=1e-4)
    assert 0.9639 <= spread <= 0.9639 * 1.003
    assert bound >= spread


def test_one_cell_is_the_worst_from_one_on():
    for alpha in (1.0, 2.5, 20.0):
        assert cover(alpha, 7, 7) == ((alpha, 7, 1),)
    assert cover(0.3, 7, 1) == ((0.3, 1, 7),)


@pytest.mark.parametrize("alpha", [0.05, 0.4, 0.99, 1.0, 1.7, 3.0, 12.0])
@pytest.mark.parametrize(("events", "most"), [(3, 2), (5, 3), (6, 6), (7, 2)])
def test_the_cover_has_at_least_as_many_small_shapes(alpha, events, most):
    """The covering argument itself, by brute force over all allocations."""
    covering = sorted(
        (shape + j) / size
        for shape, size, copies in cover(alpha, events, most)
        for j in range(size)
        for _ in range(copies)
    )
    for some in range(1, events + 1):
        for parts in partitions(some, most):
            shapes = sorted((alpha + j) / part for part in parts for j in range(part))
            assert len(covering) >= len(shapes)
            assert all(ours <= theirs * (1 + 1e-12) for ours, theirs in zip(covering, shapes, strict=False))


def test_large_bounds_take_the_coarse_cover():
    assert cover(5.0, 1000, 60) == ((5.0, 60, math.ceil(2000 / 60)),)
    shapes = cover(0.5, 1000, 1000)
    assert sum(copies for _, _, copies in shapes) == 1000
    assert shapes[0][0] <= 0.5 / 1000


@pytest.mark.parametrize("alpha", [0.4, 2.0])
def test_replacing_a_user_by_brute_force(alpha):
    """Two events leave, two enter, in the same or in other cells."""
    weight, epsilons = 0.15, np.array([0.2, 1.0])
    bound = dirichlet_profile(User(max_events=2, relation="replace"), weight, alpha).delta(epsilons)
    for gained in ((2,), (1, 1), (1,), ()):
        for lost in ((2,), (1, 1), (1,), ()):
            pairs = tuple(GammaPair(alpha=alpha, weight=weight * n) for n in gained)
            pairs += tuple(GammaPair(alpha=alpha, weight=weight * n, vanishes=True) for n in lost)
            if pairs:
                assert np.all(Profile((pairs,)).delta(epsilons) <= bound * (1 + LOOSE))


def test_replacing_within_one_cell_is_the_beta_pair():
    pairs = dirichlet_profile(User(max_events=3, relation="replace"), 0.1, 4.0).alternatives
    assert pairs == ((BetaPair(alpha=4.0, weight=3 * 0.1),),)


@pytest.mark.parametrize("alpha", [0.4, 2.0])
def test_a_visit_by_brute_force(alpha):
    weight, epsilons = 0.15, np.array([0.2, 1.0])
    bound = dirichlet_profile(Visit(), weight, alpha).delta(epsilons)
    for gained in ((2,), (1, 1), (1,), ()):
        for lost in ((1,), ()):
            pairs = tuple(GammaPair(alpha=alpha, weight=weight * n) for n in gained)
            pairs += tuple(GammaPair(alpha=alpha, weight=weight * n, vanishes=True) for n in lost)
            if pairs:
                assert np.all(Profile((pairs,)).delta(epsilons) <= bound * (1 + LOOSE))


def test_a_bound_in_each_cell_pays():
    budget = Budget(epsilon=1.0, delta=1e-6)
    together = calibrate(User(max_events=8), budget, 20.0)
    spread = calibrate(User(max_events=8, max_per_pair=1), budget, 20.0)
    assert spread > 2 * together
    for unit, weight in ((User(max_events=8), together), (User(max_events=8, max_per_pair=1), spread)):
        assert dirichlet_profile(unit, weight, 20.0).certified_delta(1.0) <= 1e-6


def test_huge_bounds_keep_the_product_short():
    for most in (1, 7, 10**6):
        assert sum(copies for _, _, copies in cover(3.0, 10**6, most)) <= 2000
    with pytest.raises(ParameterError, match="floor of at least 1"):
        cover(0.5, 10**6, 10**6)
