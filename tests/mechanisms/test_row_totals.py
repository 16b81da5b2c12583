"""Noisy row totals beside a Dirichlet draw: sensitivities, the composed guarantee, the files."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import dpmarkov as dpm
from dpmarkov.entropy import Entropy
from dpmarkov.errors import ParameterError
from dpmarkov.mechanisms.dirichlet import Dirichlet
from dpmarkov.mechanisms.row_totals import DirichletWithTotals
from dpmarkov.privacy.additive import row_totals_profile, row_totals_scale
from dpmarkov.privacy.compose import composition
from dpmarkov.privacy.pairs import GammaPair
from dpmarkov.privacy.pairs_additive import DiscreteLaplacePair
from dpmarkov.privacy.sensitivity import row_total_changes

BUDGET = dpm.Budget(epsilon=1.0, delta=1e-6)
ADD, REPLACE = dpm.Event(), dpm.Event(relation="replace")
EVENTS = [(i, j) for i in range(2) for j in range(3)]  # to-state 2 is not declared


def counts_of(matrix, **options):
    matrix = np.asarray(matrix)
    layout = dpm.Layout.square(dpm.StateSpace.range(0, matrix.shape[0]), **options)
    return dpm.TransitionCounts.from_matrix(matrix, layout=layout)


def totals_of(events):
    """Row totals of the events that are counted: the definition."""
    return np.array([sum(1 for i, j in events if i == row and j < 2) for row in range(2)])


def moves(unit):
    """Every move of the row totals between neighbours, by listing all small data sets of one unit."""
    if unit == ADD:
        return [totals_of([e]) for e in EVENTS]
    if unit == REPLACE:
        return [totals_of([a]) - totals_of([b]) for a in EVENTS for b in EVENTS]
    if unit.name == "destination":
        # The worst are groups that are read off the destination: then each (group, origin) is a row.
        def total(event):
            i, j = event
            return np.array([(i, j) == row for row in product(range(2), range(2))], dtype=int)

        return [total(a) - total(b) for a in EVENTS for b in EVENTS if a[0] == b[0]]
    users = [totals_of(events) for m in range(unit.max_events + 1) for events in product(EVENTS, repeat=m)]
    if unit.max_per_pair is not None:
        users = [
            totals_of(events)
            for m in range(unit.max_events + 1)
            for events in product(EVENTS, repeat=m)
            if max((events.count(e) for e in events), default=0) <= unit.max_per_pair
        ]
    if unit.relation == "add_remove":
        return users
    return [a - b for a in users for b in users]


@pytest.mark.parametrize(
    "unit",
    [
        ADD,
        REPLACE,
        dpm.Destination(),
        dpm.User(max_events=3),
        dpm.User(max_events=2, max_per_pair=1),
        dpm.User(max_events=2, relation="replace"),
    ],
)
def test_sensitivity_of_row_totals_by_brute_force(unit):
    listed = max(sum(change.steps) for change in row_total_changes(unit))
    assert max(int(np.abs(move).sum()) for move in moves(unit)) == listed
    # And each change by the definition of H, not by its norm alone: no neighbour beats the listed profile.
    scale, z = 2.0, np.arange(-90, 91)
    law = np.exp(-np.abs(z) / scale)
    law /= law.sum()
    claimed = row_totals_profile(unit, scale).certified_delta(0.7)
    found = {tuple(sorted(np.abs(move).tolist(), reverse=True)) for move in moves(unit)}
    assert all(not any(move[2:]) for move in found)
    for a, b in {move[:2] for move in found}:
        before = np.outer(law, law)
        after = np.outer(np.roll(law, a), np.roll(law, b))
        assert np.maximum(before - np.exp(0.7) * after, 0).sum() <= claimed + 1e-12


@pytest.mark.parametrize("by", ["b", "(lower(b))"])
def test_a_destination_moves_two_totals_where_groups_are_read_off_it(by):
    """Counted for real: one event's destination changes, its origin does not."""
    pa = pytest.importorskip("pyarrow")

    def totals(to):
        table = pa.table({"a": ["x"] * 5, "b": to})
        counts = dpm.count(
            table,
            source="a",
            target="b",
            source_states=["x", "y"],
            states=["p", "q"],
            by=by,
            groups=["p", "q"],
        )
        return np.asarray(counts.layout.cells.row_sums(counts.values))

    move = np.abs(totals(["p", "p", "p", "q", "q"]) - totals(["q", "p", "p", "q", "q"]))
    assert move.sum() == sum(row_total_changes(dpm.Destination())[0].steps) == 2


def test_a_visit_moves_the_totals_by_three():
    """a, a with a gap between (two starts at a); one more a in the gap: two transitions, and a start less."""
    assert [change.steps for change in row_total_changes(dpm.Visit())] == [(2, 1)]


@pytest.mark.parametrize("unit", [ADD, REPLACE, dpm.Destination(), dpm.User(max_events=4), dpm.Visit()])
def test_the_guarantee_covers_both_and_stays_in_the_budget(unit):
    from dpmarkov.planning import choose

    layout = dpm.Layout.square(dpm.StateSpace.range(0, 3))
    made = choose(layout, unit=unit, budget=BUDGET, form="prior", floor=5.0, totals_share=0.2).mechanism
    assert isinstance(made, DirichletWithTotals)
    delta = made.profile(unit, layout).certified_delta(1.0)
    assert 0.99e-6 <= delta <= 1e-6
    # The totals are in it: the rows alone would cost less, and the share is what was asked for.
    assert made.rows.profile(unit, layout).certified_delta(1.0) < 0.99 * delta
    worst = sum(row_total_changes(unit)[0].steps)
    assert Fraction(made.totals_scale) >= worst / (Fraction(0.2) * 1)
    assert made.totals_scale == row_totals_scale(unit, Fraction(0.2))


def test_the_totals_have_the_noise_that_is_accounted_for():
    """2,000 totals, fixed seeds: false alarms beyond five standard errors; half of the scale is caught."""
    made = DirichletWithTotals(rows=Dirichlet(form="floor", weight=0.125, alpha=3.0), totals_scale=20.0)
    counts = counts_of(np.full((20, 20), 50))
    drawn = np.array([made.draw(counts, Entropy.seeded(seed)).row_totals for seed in range(100)])
    spread = ((drawn - 1000) ** 2).mean() / (2 * 20.0**2)
    error = np.sqrt(5 / drawn.size)  # the fourth moment of a Laplace law is six times its variance squared
    assert abs(spread - 1) < 5 * error
    assert abs(4 * spread - 1) > 5 * error


def test_accounting_in_one_direction_only_is_refused():
    """A weight that fits when a neighbour gains an event, but not when it loses one, is not released."""
    gamma, laplace = GammaPair(alpha=2.0, weight=0.5), DiscreteLaplacePair(scale=5.0, shift=1)
    one = composition((gamma, laplace), certified=True).delta(1.0)
    other = composition((gamma.reverse(), laplace.reverse()), certified=True).delta(1.0)
    assert abs(one / other - 1) > 0.01
    budget = dpm.Budget(epsilon=1.0, delta=(one + other) / 2)
    wrong = DirichletWithTotals(rows=Dirichlet(form="prior", weight=0.5, alpha=2.0), totals_scale=5.0)
    counts = counts_of(np.full((3, 3), 50))
    with pytest.raises(ParameterError, match="needs delta"):
        dpm.release(counts, unit=ADD, budget=budget, mechanism=wrong)
    enough = dpm.Budget(epsilon=1.0, delta=max(one, other) * (1 + 1e-9))
    assert dpm.release(counts, unit=ADD, budget=enough, mechanism=wrong).guarantee.delta <= enough.delta


@pytest.mark.parametrize("form", ["floor", "prior"])
def test_saved_loaded_and_shown_with_files_of_fixed_size(tmp_path, form):
    sizes = []
    for k, matrix in enumerate((np.zeros((4, 4), int), np.full((4, 4), 10**8))):
        release = dpm.release(
            counts_of(matrix), unit=ADD, budget=BUDGET, form=form, floor=5.0, totals_share=0.1
        )
        folder = release.save(tmp_path / f"{form}{k}")
        again = dpm.load(folder)
        assert np.array_equal(again.row_totals, release.row_totals)
        assert again.mechanism == release.mechanism
        # |noise| > 20 scales has probability below 1e-8 a row.
        assert np.abs(again.row_totals - matrix.sum(axis=1)).max() <= 20 * again.mechanism["totals_scale"]
        assert "Row totals  bought" in again.describe()
        assert (again.mechanism.get("postprocessing") == "remove_prior") == (form == "prior")
        sizes.append((folder / "row_totals.parquet").stat().st_size)
    assert sizes[0] == sizes[1]


def test_totals_of_groups_go_with_their_group():
    states, groups = dpm.StateSpace.range(0, 3), dpm.StateSpace(["am", "pm"])
    layout = dpm.Layout(target=states, source=states, groups=groups, starts=True)
    counts = dpm.TransitionCounts(layout, np.arange(layout.cells.n_cells) * 1000)
    release = dpm.release(counts, unit=ADD, budget=BUDGET, form="prior", floor=5.0, totals_share=0.5, seed=1)
    exact = layout.cells.row_sums(counts.values)
    part = release.of("pm")
    assert np.abs(part.row_totals - exact[[3, 4, 5, 7]]).max() < 100


def test_removing_the_prior_brings_the_rows_closer():
    rng = np.random.default_rng(4)
    counts = counts_of(rng.poisson(3000 * np.outer(np.ones(12), 1 / np.arange(1, 13) ** 2)))
    truth = counts.matrix() / counts.matrix().sum(axis=1, keepdims=True)
    errors = {}
    for share in (None, 0.1):
        made = [
            dpm.release(counts, unit=ADD, budget=BUDGET, form="prior", floor=10.0, seed=s, totals_share=share)
            for s in range(5)
        ]
        errors[share] = np.mean([np.abs(r.transition_matrix - truth).sum() for r in made])
    assert errors[0.1] < 0.8 * errors[None]


def test_refused_where_counts_are_revealed_and_for_no_share():
    counts = counts_of(np.full((3, 3), 50))
    for mechanism in ("laplace", "gaussian", "auto"):
        with pytest.raises(ParameterError, match="reveals every count"):
            dpm.release(counts, unit=ADD, budget=BUDGET, mechanism=mechanism, totals_share=0.1)
    for share in (0, 1, -0.1, float("nan"), True):
        with pytest.raises(ParameterError, match="0 < share < 1"):
            dpm.release(counts, unit=ADD, budget=BUDGET, mechanism="dirichlet", totals_share=share)
