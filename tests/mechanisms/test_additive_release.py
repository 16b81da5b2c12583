"""Additive releases: what is kept, what is claimed, and that nothing else of the data gets out."""

import numpy as np
import pytest

import dpmarkov as dpm
from dpmarkov.errors import ParameterError
from dpmarkov.mechanisms.additive import Additive
from dpmarkov.postprocess import NoiseLaw, estimate_probabilities
from dpmarkov.privacy.additive import calibrate_gaussian, calibrate_laplace, gaussian_profile

BUDGET = dpm.Budget(epsilon=1.0, delta=1e-6)
ADD, REPLACE = dpm.Event(), dpm.Event(relation="replace")


def counts_of(matrix, **options):
    matrix = np.asarray(matrix)
    layout = dpm.Layout.square(dpm.StateSpace.range(0, matrix.shape[0]), **options)
    return dpm.TransitionCounts.from_matrix(matrix, layout=layout)


def true_delta(kind, scale, moves, epsilon):
    """H_eps by summing over all outcomes of the cells that change: the definition, and nothing else."""
    law = NoiseLaw(kind=kind, scale=scale)
    pmf = np.concatenate([[0.0] * moves[0], law.pmf(), [0.0] * moves[0]])
    before, after = pmf, np.roll(pmf, moves[0])
    for move in moves[1:]:
        more = np.concatenate([[0.0] * abs(move), law.pmf(), [0.0] * abs(move)])
        before = np.outer(before, more).ravel()
        after = np.outer(after, np.roll(more, move)).ravel()
    # Both directions are alike: the noise is symmetric.
    return float(np.maximum(before - np.exp(epsilon) * after, 0).sum())


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(("unit", "moves"), [(ADD, (1,)), (REPLACE, (1, -1)), (dpm.Destination(), (1, -1))])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_calibrated_noise_keeps_its_budget_by_brute_force(kind, unit, moves, epsilon):
    budget = dpm.Budget(epsilon=epsilon, delta=1e-4)
    scale = calibrate_laplace(unit, budget) if kind == "laplace" else calibrate_gaussian(unit, budget)
    # 2e-15 of each cell's mass lies beyond the summed range.
    assert true_delta(kind, scale, moves, epsilon) <= budget.delta * (1 + 1e-6) + 1e-12
    # And 2 % less noise would not: the calibration wastes nothing.
    assert true_delta(kind, scale * 0.98, moves, epsilon) > budget.delta


def test_a_gaussian_calibrated_for_add_remove_is_caught_when_used_for_replace():
    sigma = calibrate_gaussian(ADD, BUDGET)
    wrong = Additive(noise=NoiseLaw(kind="gaussian", scale=sigma))
    counts = counts_of(np.full((3, 3), 50))
    assert dpm.release(counts, unit=ADD, budget=BUDGET, mechanism=wrong).guarantee.delta <= 1e-6
    with pytest.raises(ParameterError, match="needs delta"):
        dpm.release(counts, unit=REPLACE, budget=BUDGET, mechanism=wrong)
    # It is not the bookkeeping alone that says so: the definition does.
    truth = true_delta("gaussian", sigma, (1, -1), 1.0)
    assert truth > 50 * BUDGET.delta
    assert truth <= gaussian_profile(REPLACE, sigma).certified_delta(1.0) * (1 + 1e-6)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_rows_are_a_function_of_the_saved_noisy_counts(tmp_path, kind):
    rng = np.random.default_rng(3)
    counts = counts_of(rng.poisson(20, (9, 9)))
    dpm.release(counts, unit=REPLACE, budget=BUDGET, mechanism=kind).save(tmp_path / "out")
    again = dpm.load(tmp_path / "out")
    law = NoiseLaw(kind=again.mechanism["noise"], scale=again.mechanism["scale"])
    rows = estimate_probabilities(
        again.noisy_counts, again.layout, law, method=again.mechanism["postprocessing"]
    )
    assert np.allclose(rows, again.probabilities, rtol=0, atol=1e-15)
    assert np.abs(again.noisy_counts - counts.values).max() > 0


def test_zeros_of_the_data_get_noise_and_known_zeros_do_not_exist():
    states = dpm.StateSpace.range(0, 30)
    pairs = [(i, j) for i in range(30) for j in range(30) if (i + j) % 2]
    support = dpm.Support.from_pairs(states, states, pairs)
    release = dpm.release(
        counts_of(np.zeros((30, 30), dtype=int), support=support),
        unit=ADD,
        budget=BUDGET,
        mechanism="laplace",
    )
    assert release.noisy_counts.size == 450
    # At scale 1 a cell keeps its zero with probability .462: of 450, more than 300 once in 10^17.
    assert np.count_nonzero(release.noisy_counts == 0) < 300
    assert release.noisy_counts.min() < 0
    assert np.count_nonzero(release.transition_matrix) == 450


def test_noise_of_a_release_is_not_repeated():
    counts = counts_of(np.full((4, 4), 100))
    one, two = (dpm.release(counts, unit=ADD, budget=BUDGET) for _ in range(2))
    assert not np.array_equal(one.noisy_counts, two.noisy_counts)


def test_a_pure_budget_gets_a_pure_guarantee():
    counts = counts_of(np.full((4, 4), 100))
    release = dpm.release(counts, unit=REPLACE, budget=dpm.Budget(epsilon=0.7))
    assert release.mechanism["name"] == "laplace-counts"
    assert release.guarantee.delta == 0
    assert release.mechanism["scale"] >= 2 / 0.7
    with pytest.raises(ParameterError, match="delta"):
        dpm.release(counts, unit=REPLACE, budget=dpm.Budget(epsilon=0.7), mechanism="gaussian")


def test_wrong_postprocessing_is_refused():
    with pytest.raises(ParameterError, match="post-processing must be one of"):
        Additive(noise=NoiseLaw(kind="laplace", scale=1.0), method="magic")
