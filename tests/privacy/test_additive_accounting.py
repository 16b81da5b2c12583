"""Sensitivities by brute force on tiny tables, and the accounting of integer noise."""

import itertools
import math

import numpy as np
import pytest

from dpmarkov.errors import ParameterError, UnitError
from dpmarkov.privacy.additive import calibrate_gaussian, calibrate_laplace, gaussian_profile, laplace_profile
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.pairs_additive import DiscreteGaussianPair, DiscreteLaplacePair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.sensitivity import sensitivity
from dpmarkov.privacy.unit import Destination, Entry, Event, User, Visit

CELLS = list(itertools.product(range(2), range(2)))
BUDGET = Budget(epsilon=1.0, delta=1e-6)
UNITS = [
    Destination(),
    Event(),
    Event(relation="replace"),
    Visit(),
    User(max_events=3),
    User(max_events=4, max_per_pair=2),
    User(max_events=3, relation="replace"),
    User(max_events=3, max_per_pair=1, relation="replace"),
]


def table(events):
    counts = np.zeros((2, 2), dtype=int)
    for event in events:
        if event is not None:
            counts[event] += 1
    return counts


def norms(difference):
    flat = np.abs(difference).ravel()
    return int(flat.sum()), int((flat**2).sum()), int(flat.max())


def largest(differences):
    found = [norms(difference) for difference in differences]
    return tuple(max(column) for column in zip(*found, strict=True))


def users(most_events, most_in_a_cell):
    """What one user can be counted with."""
    for size in range(most_events + 1):
        for events in itertools.combinations_with_replacement(CELLS, size):
            counts = table(events)
            if counts.max(initial=0) <= most_in_a_cell:
                yield counts


def walk(visits, cut):
    """Transitions of one user's visits (time, state); a sequence ends where more than `cut` goes by."""
    visits = sorted(visits)
    return table((a[1], b[1]) for a, b in itertools.pairwise(visits) if b[0] - a[0] <= cut)


def brute_force(unit):
    if isinstance(unit, Destination):
        # None: a destination that is not counted.
        return [
            table([(row, a)] if a is not None else []) - table([(row, b)] if b is not None else [])
            for row in range(2)
            for a in (0, 1, None)
            for b in (0, 1, None)
        ]
    if isinstance(unit, Event) and unit.relation == "replace":
        return [table([a]) - table([b]) for a in [*CELLS, None] for b in [*CELLS, None]]
    if isinstance(unit, Event):
        return [table([a]) for a in CELLS]
    if isinstance(unit, Visit):
        return [
            walk([*others, (time, state)], cut) - walk(others, cut)
            for states in itertools.product(range(2), repeat=3)
            for others in [list(zip((0, 2, 4), states, strict=True))]
            for time in (-1, 1, 3, 5)
            for state in range(2)
            for cut in (1, 2, 10)
        ]
    every = list(users(unit.max_events, unit.most_in_a_cell))
    if unit.relation == "add_remove":
        return every
    return [a - b for a in every for b in every]


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_sensitivity_by_brute_force(unit):
    found = sensitivity(unit)
    l1, squared, linf = largest(brute_force(unit))
    assert (l1, squared, linf) <= (found.l1, found.l2_squared, found.linf)
    assert l1 <= found.l1
    assert squared <= found.l2_squared
    assert linf <= found.linf
    # What the table of 2 x 2 cells has room for is reached; the visit's is on the safe side.
    cramped = isinstance(unit, Visit) or (unit.name == "user" and unit.relation == "replace")
    if not cramped or unit == User(max_events=3, relation="replace"):
        assert (l1, squared, linf) == (found.l1, found.l2_squared, found.linf)


def test_known_sensitivities():
    assert (sensitivity(Destination()).l1, sensitivity(Destination()).l2) == (2, math.sqrt(2))
    assert (sensitivity(Event()).l1, sensitivity(Event()).l2) == (1, 1)
    assert sensitivity(User(max_events=10, max_per_pair=1)).l2_squared == 10
    assert sensitivity(User(max_events=10, relation="replace")).l2_squared == 200
    with pytest.raises(UnitError, match="entry"):
        sensitivity(Entry(b=0.1))


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_laplace_covers_every_change(unit):
    """The product of shifted pairs for each vector that brute force finds stays below the curve."""
    scale = 2.3
    limit = laplace_profile(unit, scale)
    seen = {tuple(sorted(abs(int(x)) for x in d.ravel() if x)) for d in brute_force(unit)}
    for steps in seen - {()}:
        pairs = tuple(DiscreteLaplacePair(scale=scale, shift=step) for step in steps)
        for epsilon in (0.0, 0.3, 0.8, 1.5):
            assert Profile((pairs,)).delta(epsilon) <= limit.delta(epsilon) * (1 + 1e-8) + 1e-14, steps


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_gaussian_covers_every_change(unit):
    sigma = 4.0
    limit = gaussian_profile(unit, sigma)
    seen = {tuple(sorted(abs(int(x)) for x in d.ravel() if x)) for d in brute_force(unit)}
    for steps in seen - {()}:
        pairs = tuple(DiscreteGaussianPair(sigma=sigma, shift=step) for step in steps)
        for epsilon in (0.0, 0.3, 1.0, 2.0):
            # Both sides may round up, by less than 1 %.
            assert Profile((pairs,)).delta(epsilon) <= limit.delta(epsilon) * 1.01, steps


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 1), (3, 2), (5, 1)])
@pytest.mark.parametrize("scale", [0.4, 1.0, 6.0])
def test_one_cell_is_laplace_s_worst(a, b, scale):
    """The lemma of docs/mathematics.md: a + b in one cell dominates, and so does a + 1 beside b - 1."""
    epsilons = np.linspace(0, (a + b) / scale, 40)

    def curve(*steps):
        return Profile((tuple(DiscreteLaplacePair(scale=scale, shift=s) for s in steps if s),)).delta(
            epsilons
        )

    assert np.all(curve(a, b) <= curve(a + b) * (1 + 1e-8) + 1e-14)
    assert np.all(curve(a, b) <= curve(a + 1, b - 1) * (1 + 1e-8) + 1e-14)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_calibration_is_proven_and_tight(unit):
    sigma = calibrate_gaussian(unit, BUDGET)
    assert gaussian_profile(unit, sigma).certified_delta(1.0) <= 1e-6
    assert gaussian_profile(unit, 0.995 * sigma).certified_delta(1.0) > 1e-6
    pure = calibrate_laplace(unit, Budget(epsilon=1.0))
    assert pure == sensitivity(unit).l1
    assert laplace_profile(unit, pure).certified_delta(1.0) == 0.0
    assert laplace_profile(unit, 0.999 * pure).certified_delta(1.0) > 0.0
    assert calibrate_laplace(unit, BUDGET) <= pure


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1 / 3, 0.7, 1.1, 3.73])
def test_pure_laplace_is_pure_to_the_last_bit(epsilon):
    for unit in UNITS:
        scale = calibrate_laplace(unit, Budget(epsilon=epsilon))
        assert laplace_profile(unit, scale).certified_delta(epsilon) == 0.0


def test_a_gaussian_calibrated_for_add_remove_but_used_for_replace_is_caught():
    sigma = calibrate_gaussian(Event(), BUDGET)
    assert gaussian_profile(Event(), sigma).certified_delta(1.0) <= 1e-6
    assert gaussian_profile(Event(relation="replace"), sigma).certified_delta(1.0) > 100 * 1e-6


def test_the_gaussian_beats_the_classical_formula():
    classical = math.sqrt(2 * math.log(1.25 / 1e-6))
    assert calibrate_gaussian(Event(), BUDGET) < 0.85 * classical


def test_no_pure_gaussian():
    with pytest.raises(ParameterError, match="delta = 0"):
        calibrate_gaussian(Event(), Budget(epsilon=1.0))
