"""The posterior mean: right likelihoods, a learnt prior that pays, and no look at the data."""

import ast
import inspect
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpmarkov.postprocess
from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.postprocess import METHODS, NoiseLaw, clip, estimate_probabilities, posterior_mean, sampling
from dpmarkov.postprocess.mixture import fit_mixture
from dpmarkov.postprocess.sampling import count_posterior
from dpmarkov.postprocess.simplex import to_rows
from dpmarkov.postprocess.structure import factor_ensemble
from dpmarkov.postprocess.table import rate_table
from dpmarkov.states import StateSpace
from dpmarkov.support import Support

LAPLACE = NoiseLaw(kind="laplace", scale=2.0)


def noise(law, shape, rng):
    return rng.choice(np.arange(-law.radius, law.radius + 1), size=shape, p=law.pmf())


def test_the_room_imports_nothing_that_holds_data():
    folder = Path(dpmarkov.postprocess.__file__).parent
    allowed = ("dpmarkov.postprocess", "dpmarkov.errors", "dpmarkov.support", "dpmarkov.layout")
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, path.name
                names = [node.module or ""]
            ours = [name for name in names if name.startswith("dpmarkov")]
            assert all(name.startswith(allowed) for name in ours), (path.name, ours)


def test_post_processing_takes_noisy_counts_and_public_quantities_alone():
    assert list(inspect.signature(estimate_probabilities).parameters) == ["noisy", "layout", "law", "method"]
    layout = Layout.square(StateSpace(range(6)))
    rng = np.random.default_rng(1)
    noisy = rng.integers(-5, 60, layout.cells.n_cells)
    noisy.flags.writeable = False
    for method in METHODS:
        first = estimate_probabilities(noisy, layout, LAPLACE, method=method)
        again = estimate_probabilities(noisy.copy(), layout, LAPLACE, method=method)
        assert np.array_equal(first, again)
    with pytest.raises(ParameterError, match="post-processing must be one of"):
        estimate_probabilities(noisy, layout, LAPLACE, method="magic")


@pytest.mark.parametrize("law", [LAPLACE, NoiseLaw(kind="gaussian", scale=5.0)])
def test_likelihoods_against_direct_sums(law):
    table = rate_table(law)
    x = np.arange(0, 400)
    pmf = law.pmf()
    for row in (0, 20, 45, 60):
        rate = table.rates[row]
        if row:
            p = 16.0 / (16.0 + rate)
            true = np.cumprod(np.concatenate(([p**16], (x[:-1] + 16.0) / (x[:-1] + 1) * (1 - p))))
        else:
            true = (x == 0).astype(float)
        for y in (-3, 0, 2, 17, 60):
            shift = y - x + law.radius
            inside = (shift >= 0) & (shift < pmf.size)
            weight = true[inside] * pmf[shift[inside]]
            if weight.sum() < 1e-12:
                continue
            column = table.columns(np.array([y]))[0]
            assert table.likelihood[row, column] == pytest.approx(weight.sum(), rel=1e-3, abs=1e-15)
            assert table.moment[row, column] == pytest.approx(weight @ x[inside], rel=1e-3, abs=1e-12)


def test_em_never_lowers_the_likelihood():
    rng = np.random.default_rng(2)
    noisy = rng.negative_binomial(0.3, 0.01, 3000) + noise(LAPLACE, 3000, rng)
    table = rate_table(LAPLACE)
    none = np.zeros(noisy.size, dtype=bool)
    values = [fit_mixture(table, noisy, None, none, rounds=k).log_likelihood for k in (3, 9, 30, 90)]
    assert all(b >= a - 1e-6 for a, b in itertools.pairwise(values))


def test_exchangeable_posterior_is_close_to_the_bayes_optimum():
    # 85 % empty cells, the others geometric: the optimum knows that prior, the estimate must learn it.
    rng = np.random.default_rng(3)
    n = 20_000
    true = np.where(rng.random(n) < 0.85, 0, rng.geometric(0.04, n))
    noisy = true + noise(LAPLACE, n, rng)
    found = posterior_mean(noisy, Support.full(1, n), LAPLACE).counts
    x = np.arange(0, 600)
    prior = np.where(x == 0, 0.85, 0.15 * 0.04 * 0.96 ** np.maximum(x - 1, 0.0))
    y = np.unique(noisy)
    weights = prior[None, :] * np.exp(-np.abs(y[:, None] - x[None, :]) / 2.0)
    optimum = (weights @ x / weights.sum(axis=1))[np.searchsorted(y, noisy)]

    def rms(guess):
        return float(np.sqrt(np.mean((guess - true) ** 2)))

    assert rms(found) < 1.01 * rms(optimum)
    assert rms(found) < 0.75 * rms(clip(noisy))
    assert abs(found.sum() - true.sum()) < 4 * LAPLACE.std * np.sqrt(n)


def rank_two(rng, n=30, total=30_000):
    left = np.where(np.arange(n)[:, None] < n // 2, [[0.9, 0.1]], [[0.1, 0.9]]) * rng.gamma(0.7, 1, (n, 1))
    right = rng.gamma(0.5, 1, (2, n))
    mean = left @ right
    return rng.poisson(total * mean / mean.sum())


def test_structure_pays_and_the_likelihood_picks_it():
    wins = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        true = rank_two(rng)
        law = NoiseLaw(kind="laplace", scale=20.0)
        noisy = (true + noise(law, true.shape, rng)).ravel()
        cells = Support.full(*true.shape)
        estimate = posterior_mean(noisy, cells, law, is_chain=True)
        plain = fit_mixture(rate_table(law), noisy, None, np.zeros(noisy.size, dtype=bool), rounds=300).mean
        error = np.mean((estimate.counts - true.ravel()) ** 2)
        wins += error < 0.7 * np.mean((plain - true.ravel()) ** 2)
        assert estimate.prior == "factors"
    assert wins == 5


def test_a_cell_never_vouches_for_itself():
    rng = np.random.default_rng(8)
    true = rank_two(rng)
    cells = Support.full(*true.shape)
    noisy = true.ravel().astype(np.int64)
    start = np.maximum(noisy, 0).astype(float) + 1
    before = factor_ensemble(noisy, start, 8.0, cells)
    noisy[77] += 100_000
    after = factor_ensemble(noisy, start, 8.0, cells)
    assert after[77] == pytest.approx(before[77], rel=1e-9)
    assert not np.allclose(after, before)


def test_a_row_without_data_leans_on_the_columns():
    n, errors = 40, []
    layout = Layout.square(StateSpace(range(n)))
    for seed in range(7):
        rng = np.random.default_rng(seed)
        popularity = rng.pareto(1.0, n) + 0.02
        activity = np.where(np.arange(n) == 7, 0.0, rng.pareto(1.0, n) + 0.1)
        mean = np.outer(activity, popularity)
        true = rng.poisson(200_000 * mean / mean.sum())
        noisy = (true + noise(LAPLACE, true.shape, rng)).ravel()
        shares = popularity / popularity.sum()
        found = [
            0.5
            * np.abs(
                estimate_probabilities(noisy, layout, LAPLACE, method=method).reshape(n, n)[7] - shares
            ).sum()
            for method in ("posterior", "clip")
        ]
        errors.append([*found, 0.5 * np.abs(1 / n - shares).sum()])
    posterior, clipped, uniform = np.median(errors, axis=0)
    assert posterior < 0.7 * uniform
    assert posterior < 0.7 * clipped


def test_known_zeros_stay_zero_and_the_support_is_full():
    states = StateSpace(range(12))
    pairs = [(i, j) for i in range(12) for j in range(12) if (i + j) % 3 != 1 or i == j]
    layout = Layout.square(states, Support.from_pairs(states, states, pairs))
    rng = np.random.default_rng(4)
    noisy = rng.integers(-4, 50, layout.cells.n_cells)
    for method in METHODS:
        values = estimate_probabilities(noisy, layout, LAPLACE, method=method)
        matrix = layout.cells.dense(values)
        assert np.allclose(matrix.sum(axis=1), 1)
        assert np.all(values > 0) or method != "posterior"
        assert matrix[0, 1] == 0


@given(
    st.integers(1, 7),
    st.integers(2, 7),
    st.sampled_from([0.3, 3.0, 400.0, 30_000.0]),
    st.sampled_from(["laplace", "gaussian"]),
    st.integers(0, 2**31 - 1),
    st.sampled_from([0, 3, 10**6, 2**31 - 1]),
)
@settings(max_examples=30, deadline=None)
def test_any_noisy_counts_give_a_stochastic_matrix(n, m, scale, kind, seed, size):
    rng = np.random.default_rng(seed)
    law = NoiseLaw(kind=kind, scale=scale)
    noisy = rng.integers(-40 * int(scale + 1), 40 * int(scale + 1) + size, n * m)
    layout = Layout(target=StateSpace(range(m)), source=StateSpace(range(n + 1)) if n > 1 else None)
    noisy = np.resize(noisy, layout.cells.n_cells)
    values = estimate_probabilities(noisy, layout, law)
    assert np.all(np.isfinite(values))
    assert np.all(values > 0)
    assert np.allclose(layout.cells.row_sums(values), 1)


def test_groups_and_starts_are_estimated_block_by_block():
    states, hours = StateSpace(range(8)), StateSpace(["am", "pm"])
    layout = Layout(target=states, source=states, groups=hours, starts=True)
    rng = np.random.default_rng(6)
    noisy = rng.integers(-5, 80, layout.cells.n_cells)
    together = estimate_probabilities(noisy, layout, LAPLACE)
    assert np.allclose(layout.cells.row_sums(together), 1)
    block = layout.block("transitions", "pm")
    alone = estimate_probabilities(noisy[block.at], Layout.square(states), LAPLACE)
    assert np.array_equal(together[block.at], alone)


def test_a_learnt_prior_is_doubted_where_single_cells_are_read_off():
    """Three tables of 240 cells, wide noise, 6 draws each: 88 % of 95 % intervals cover, or 93 %."""
    cells, law = Support.full(6, 40), NoiseLaw(kind="gaussian", scale=40.0)
    covered: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rates = 30 * np.outer(rng.gamma(2, 1, 6), rng.gamma(1, 1, 40)) * rng.gamma(1.0, 1.0, (6, 40))
        true = rng.poisson(rates).ravel()
        for _ in range(6):
            noisy = true + rng.choice(np.arange(-law.radius, law.radius + 1), p=law.pmf(), size=true.size)
            posterior = count_posterior(noisy, cells, law)
            for every in covered:
                draws = posterior.draws(200, rng, every_prior=every)
                low, high = np.quantile(draws, [0.025, 0.975], axis=0)
                covered[every].append(float(np.mean((low <= true) & (true <= high))))
    assert 0.92 <= np.mean(covered[True]) <= 0.98
    assert np.mean(covered[True]) > np.mean(covered[False]) + 0.02


def test_half_of_the_draws_are_made_under_the_next_likely_prior():
    """Where the two priors differ, the draws' mean lies half way: 2,000 draws of 240 cells, in any order."""
    cells, law, rng = Support.full(6, 40), NoiseLaw(kind="gaussian", scale=40.0), np.random.default_rng(1)
    rates = 30 * np.outer(rng.gamma(2, 1, 6), rng.gamma(1, 1, 40)) * rng.gamma(1.0, 1.0, (6, 40))
    noisy = rng.poisson(rates).ravel() + np.rint(rng.normal(0, 40, 240)).astype(np.int64)
    posterior = count_posterior(noisy, cells, law)
    assert len(posterior.fits) == 2
    likely, next_one = (
        replace(posterior, fits=(fit,)).draws(2000, rng, every_prior=True).mean(axis=0)
        for fit in posterior.fits
    )
    both = posterior.draws(2000, rng, every_prior=True)
    apart = next_one - likely
    share = (both.mean(axis=0) - likely) @ apart / (apart @ apart)
    assert 0.35 < share < 0.65
    halves = [part.mean(axis=0) for part in np.split(both, 2)]
    assert abs((halves[1] - halves[0]) @ apart / (apart @ apart)) < 0.3


def test_a_table_of_a_few_cells_is_no_law_of_nature():
    """5 x 5 cells under noise larger than most of them, 12 tables: 95 % intervals cover in 88 to 92 %.

    300 cells share 60 rows: a standard error of 3 %. A prior of 25 cells that was half the guess of a typical
    count covered in 61 %.
    """
    rng, cells, law = np.random.default_rng(4), Support.full(5, 5), NoiseLaw(kind="laplace", scale=30.0)
    covered = {True: [], False: []}
    for _ in range(12):
        true = rng.poisson(rng.gamma(0.3, 3.0, 25) + 150 * np.eye(5).ravel())
        p = true / np.repeat(cells.row_sums(true), 5)
        noisy = true + noise(law, 25, rng)
        posterior = count_posterior(noisy, cells, law)
        for every in covered:
            draws = posterior.draws(200, rng, every_prior=every).reshape(200, 5, 5)
            shares = draws / np.maximum(draws.sum(axis=2, keepdims=True), 1e-9)
            low, high = np.quantile(shares.reshape(200, 25), [0.025, 0.975], axis=0)
            covered[every].append(np.mean((low <= p) & (p <= high)))
    assert np.mean(covered[True]) >= 0.82
    assert np.mean(covered[False]) >= 0.82


def test_draws_that_lean_on_no_prior_keep_intervals_of_tiny_tables_honest(monkeypatch):
    """3 x 3 cells, 24 tables: 95 % intervals cover in 90 %, in 60 % without those draws.

    216 cells share 72 rows: standard errors of 2.5 and 5.4 %.
    """
    cells, law = Support.full(3, 3), NoiseLaw(kind="laplace", scale=40.0)
    covered = {}
    for guess in (sampling.GUESS_CELLS, 1e-9):
        monkeypatch.setattr(sampling, "GUESS_CELLS", guess)
        rng, found = np.random.default_rng(4), []
        for _ in range(24):
            true = rng.poisson(rng.gamma(0.3, 3.0, 9) + 150 * np.eye(3).ravel())
            p = true / np.repeat(cells.row_sums(true), 3)
            posterior = count_posterior(true + noise(law, 9, rng), cells, law, is_chain=True)
            draws = posterior.draws(200, np.random.default_rng(9), every_prior=True).reshape(200, 3, 3)
            shares = draws / np.maximum(draws.sum(axis=2, keepdims=True), 1e-9)
            low, high = np.quantile(shares.reshape(200, 9), [0.025, 0.975], axis=0)
            found.append(np.mean((low <= p) & (p <= high)))
        covered[guess] = np.mean(found)
    with_them, without = covered.values()
    assert with_them >= 0.82
    assert without <= 0.75


@pytest.mark.parametrize(("n", "events", "scale", "worst"), [(20, 50, 2.0, 1.2), (100, 1000, 10.0, 1.1)])
def test_a_sparse_distribution_is_not_smeared_over_its_cells(n, events, scale, worst):
    """40 draws of a few common categories among many: 1.10 and .94 times the error of clipping.

    A guess that every cell holds about the mean count, worth 20 cells, made it 1.7 and 1.45 times.
    """
    cells, law = Support.full(1, n), NoiseLaw(kind="laplace", scale=scale)
    mine, clipped = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        true = rng.multinomial(events, rng.dirichlet(np.full(n, 0.15)))
        noisy = true + noise(law, n, rng)
        for errors, estimate in ((mine, posterior_mean(noisy, cells, law).counts), (clipped, clip(noisy))):
            errors.append(np.abs(to_rows(estimate, cells) - true / events).sum() / 2)
    assert np.mean(mine) <= worst * np.mean(clipped)
