"""Calibration and profiles: what comes back is proven, and no more cautious than it must be."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmarkov.errors import ParameterError, UnitError
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.calibrate import calibrate, dirichlet_profile, round_down
from dpmarkov.privacy.pairs import BetaPair, GammaPair, PurePair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Destination, Entry, Event, User

UNITS = [Destination(), Event(), Event(relation="replace"), User(max_events=4)]
BUDGET = Budget(epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize(("alpha", "expected"), [(1.0, 0.0878), (10.0, 0.4883), (100.0, 1.6649)])
def test_examples_of_privacy_md(alpha, expected):
    assert calibrate(Destination(), BUDGET, alpha) == pytest.approx(expected, abs=6e-5)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(UNITS),
    st.floats(1e-2, 20.0),
    st.floats(-9.0, -2.0),
    st.floats(-1.0, 5.0).map(lambda x: 10.0**x).filter(lambda x: x >= 1),
)
def test_what_is_returned_is_proven_and_tight(unit, epsilon, exponent, alpha):
    budget = Budget(epsilon=epsilon, delta=10.0**exponent)
    weight = calibrate(unit, budget, alpha)
    assert dirichlet_profile(unit, weight, alpha).certified_delta(epsilon) <= budget.delta
    assert weight == round_down(weight)
    assert dirichlet_profile(unit, weight * 1.0001, alpha).certified_delta(epsilon) > budget.delta


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_weight_ten_per_cent_too_large_is_caught(unit):
    weight = calibrate(unit, BUDGET, 10.0)
    assert dirichlet_profile(unit, 1.1 * weight, 10.0).certified_delta(1.0) > 1.5 * BUDGET.delta


def test_accounting_in_one_direction_only_is_caught():
    """A weight that is right for adding an event alone gives a far larger delta for removing one."""
    alpha, low, high = 10.0, 0.1, 10.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        if GammaPair(alpha=alpha, weight=middle).certified_delta(1.0) <= 1e-6:
            low = middle
        else:
            high = middle
    assert GammaPair(alpha=alpha, weight=low).certified_delta(1.0) <= 1e-6
    assert dirichlet_profile(Event(), low, alpha).certified_delta(1.0) > 10 * 1e-6


def test_replace_costs_more_than_add_remove():
    assert calibrate(Event(relation="replace"), BUDGET, 10.0) < calibrate(Event(), BUDGET, 10.0)


def test_rows_are_solved_at_once():
    rng = np.random.default_rng(5)
    floors = np.exp(rng.uniform(math.log(0.2), math.log(500), (20, 15)))
    weights = calibrate(Event(), BUDGET, floors)
    assert weights.shape == floors.shape
    for place in ((0, 0), (3, 7), (19, 14)):
        assert weights[place] == pytest.approx(calibrate(Event(), BUDGET, float(floors[place])), rel=5e-6)
    for alpha, weight in zip(floors.ravel(), weights.ravel(), strict=True):
        assert dirichlet_profile(Event(), weight, alpha).certified_delta(1.0) <= 1e-6


def test_no_pure_guarantee_says_which_have_one():
    with pytest.raises(ParameterError, match="discrete Laplace"):
        calibrate(Event(), Budget(epsilon=1.0), 10.0)


@pytest.mark.parametrize("floor", [0.0, -1.0, math.nan, math.inf])
def test_bad_floors(floor):
    with pytest.raises(ParameterError, match="floor"):
        calibrate(Event(), BUDGET, floor)


def test_a_unit_that_moves_no_counts_is_refused():
    with pytest.raises(UnitError, match="entry"):
        dirichlet_profile(Entry(b=0.1), 1.0, 1.0)


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9, 1e-40])
def test_epsilon_and_delta_are_inverse(delta):
    profile = Profile(((BetaPair(alpha=4.0, weight=0.3),),))
    epsilon = profile.epsilon(delta)
    assert profile.delta(epsilon) <= delta
    if epsilon > 0:
        assert profile.delta(epsilon * (1 - 1e-6)) > delta
    proven = profile.certified_epsilon(delta)
    assert profile.certified_delta(proven) <= delta
    assert proven == pytest.approx(epsilon, rel=1e-6)


def test_pure_profiles_reach_zero_and_others_do_not():
    assert Profile(((PurePair(epsilon=0.7),),)).certified_epsilon(0.0) == pytest.approx(0.7)
    assert Profile(((PurePair(epsilon=0.7),),)).certified_delta(0.7) == 0.0
    assert math.isinf(Profile(((BetaPair(alpha=4.0, weight=0.3),),)).certified_epsilon(0.0))


def test_worst_and_compose():
    a = Profile(((BetaPair(alpha=4.0, weight=0.3),),))
    b = Profile(((BetaPair(alpha=9.0, weight=0.5),),))
    for epsilon in (0.1, 1.0):
        either = a.worst(b).delta(epsilon)
        both = a.compose(b).delta(epsilon)
        assert either == max(a.delta(epsilon), b.delta(epsilon))
        assert both > either
        assert a.compose(b).certified_delta(epsilon) == pytest.approx(both, rel=1e-6)


def test_composing_makes_no_assumption_about_directions():
    appears = Profile(((GammaPair(alpha=2.0, weight=0.2),),))
    vanishes = Profile(((GammaPair(alpha=2.0, weight=0.2, vanishes=True),),))
    assert appears.compose(appears).delta(0.5) == pytest.approx(
        appears.compose(vanishes).delta(0.5), rel=1e-9
    )


def test_profiles_are_written_and_read():
    profile = dirichlet_profile(User(max_events=4, max_per_pair=1), 0.2, 3.0)
    assert Profile.from_dict(profile.to_dict()) == profile


def test_an_empty_profile_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        Profile(())
    with pytest.raises(ParameterError, match="at least one"):
        Profile(((),))
