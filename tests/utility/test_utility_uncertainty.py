"""Intervals: coverage on known chains, with a power check, and what they say of themselves."""

import numpy as np
import pytest
from known_chains import dirichlet_release, noisy_release, true_counts

import dpmarkov as dpm
from dpmarkov.chain import MarkovChain
from dpmarkov.errors import ChainError, ParameterError
from dpmarkov.utility.dirichlet_rows import least_totals
from dpmarkov.utility.first_order import stationary_variance
from dpmarkov.utility.uncertainty import QUANTITIES, plus_minus, stationary_error_bars

X = true_counts()
TRUTH = MarkovChain(X / X.sum(axis=1, keepdims=True))


def covers(u, truth):
    """Whether each entry is covered, and whether it would be were the interval a third as wide."""
    middle, half = (u.low + u.high) / 2, (u.high - u.low) / 2
    return np.mean((truth >= u.low) & (truth <= u.high)), np.mean(np.abs(truth - middle) <= half / 3)


@pytest.mark.parametrize(("kind", "scale"), [("laplace", 2.0), ("gaussian", 6.0)])
def test_intervals_cover_on_known_chains(kind, scale):
    """Fixed seeds, 20 releases of 12 states: 91 (matrix 88) to 99.9 % covered; a third as wide, far fewer."""
    asked = ("stationary_distribution", "transition_matrix", "kemeny_constant", "entropy_rate")
    seen = {q: [] for q in (*asked, "fast path")}
    for seed in range(20):
        release = noisy_release(X, seed, kind, scale)
        for q in asked:
            seen[q].append(covers(release.uncertainty(q, draws=60), np.asarray(QUANTITIES[q](TRUTH))))
        seen["fast path"].append(covers(stationary_error_bars(release), TRUTH.stationary_distribution))
    for q in ("stationary_distribution", "transition_matrix", "fast path"):
        whole, third = np.mean(seen[q], axis=0)
        assert (0.88 if q == "transition_matrix" else 0.91) <= whole <= 0.999, q
        assert third < 0.8, q
    for q in ("kemeny_constant", "entropy_rate"):
        assert np.mean(seen[q], axis=0)[0] >= 0.9, q


@pytest.mark.parametrize("form", ["floor", "prior"])
def test_dirichlet_intervals_cover_and_are_called_wide(form):
    found = [
        covers(stationary_error_bars(dirichlet_release(X, seed, form)), TRUTH.stationary_distribution)[0]
        for seed in range(12)
    ]
    assert np.mean(found) >= 0.95
    assert "wide" in stationary_error_bars(dirichlet_release(X, 0, form)).method


@pytest.mark.parametrize("alpha", [0.5, 5.0])
def test_the_bound_on_a_secret_total_holds_whatever_the_data(alpha):
    """At most 2 % of rows may have S below the bound; 600 rows, false-alarm rate below 1e-6 at 6 %."""
    rng = np.random.default_rng(3)
    from dpmarkov.support import Support

    cells = Support.full(600, 12)
    u = np.maximum(alpha, np.where(rng.random(cells.n_cells) < 0.5, 0, rng.gamma(0.3, 200, cells.n_cells)))
    g = rng.standard_gamma(u)
    totals = np.add.reduceat(g, cells.indptr[:-1])
    bound = least_totals(g / np.repeat(totals, 12), cells, alpha)
    assert np.mean(bound > totals) <= 0.06
    assert np.median(bound) > 1.2 * 12 * alpha


def test_the_first_order_formula_is_the_derivative():
    n = 12
    mean = X + 0.5
    chain = MarkovChain(mean / mean.sum(axis=1, keepdims=True))
    from dpmarkov.support import Support

    rng = np.random.default_rng(0)
    spread = rng.random(n * n)
    variance = stationary_variance(chain, Support.full(n, n), mean=mean.ravel(), spread=spread)
    total = np.zeros(n)
    for cell in range(n * n):
        moved = mean.copy()
        moved.flat[cell] += 1e-4
        pi = MarkovChain(moved / moved.sum(axis=1, keepdims=True)).stationary_distribution
        total += spread[cell] * ((pi - chain.stationary_distribution) / 1e-4) ** 2
    np.testing.assert_allclose(variance, total, rtol=1e-2)


def test_directions_agree_with_the_closed_form():
    release = noisy_release(X, 5)
    closed = stationary_error_bars(release).half_width
    drawn = release.uncertainty(lambda chain: chain.stationary_distribution, draws=60).half_width
    assert np.median(drawn / closed) == pytest.approx(1.0, abs=0.25)


def test_sampling_error_is_added_and_said():
    release = noisy_release(X, 1)
    alone, both = (
        release.uncertainty("stationary_distribution", draws=300, sampling=s) for s in (False, True)
    )
    assert np.mean(both.half_width) > 1.3 * np.mean(alone.half_width)
    assert "privacy's noise alone" in str(alone)
    assert "sampling error" in str(both)
    assert "sampling error" not in alone.covers_what


def test_the_same_release_and_seed_give_the_same_interval():
    release = noisy_release(X, 2)
    a, b = (release.uncertainty("kemeny_constant", draws=60) for _ in range(2))
    assert (a.low, a.high) == (b.low, b.high)
    c = release.uncertainty("kemeny_constant", draws=60, seed=1)
    assert (a.low, a.high) != (c.low, c.high)


def test_more_level_is_wider_and_less_noise_is_narrower():
    wide, narrow = (
        noisy_release(X, 3).uncertainty("transition_matrix", level=q, draws=200) for q in (0.99, 0.8)
    )
    assert np.all(wide.low <= narrow.low)
    assert np.all(wide.high >= narrow.high)
    loud, quiet = (stationary_error_bars(noisy_release(X, 3, scale=s)).half_width.mean() for s in (20.0, 1.0))
    assert loud > 5 * quiet


def test_entries_that_noise_dominates_are_not_reliable():
    u = noisy_release(X, 4, scale=10.0).uncertainty("transition_matrix", draws=200)
    assert 0 < np.count_nonzero(u.reliable) < u.value.size
    big = X / X.sum(axis=1, keepdims=True) > 0.3
    assert u.reliable[0][big[0]].all()
    assert "dominated by noise" in str(u)


def test_any_function_of_the_chain_can_be_asked():
    u = noisy_release(X, 6).uncertainty(lambda chain: chain.hitting_times(3), draws=60)
    assert u.value.shape == (12,)
    assert np.all((u.low <= u.value) & (u.value <= u.high))


def test_known_zeros_stay_zero_in_every_plausible_chain():
    from dataclasses import replace

    from dpmarkov.postprocess import NoiseLaw, estimate_probabilities

    states = dpm.StateSpace.range(0, 12)
    ring = [(i, (i + k) % 12) for i in range(12) for k in range(4)]
    layout = dpm.Layout.square(states, dpm.Support.from_pairs(states, states, ring))
    rng = np.random.default_rng(2)
    noisy = rng.poisson(60, layout.cells.n_cells) + rng.integers(-3, 4, layout.cells.n_cells)
    release = replace(
        noisy_release(X, 0),
        layout=layout,
        noisy_counts=noisy,
        probabilities=estimate_probabilities(noisy, layout, NoiseLaw(kind="laplace", scale=2.0)),
    )
    u = release.uncertainty("transition_matrix", draws=60)
    allowed = layout.cells.dense(np.ones(layout.cells.n_cells)) > 0
    assert np.all(u.high[~allowed] == 0)
    assert np.all(u.high[allowed] > u.low[allowed])
    pi = release.uncertainty("stationary_distribution", draws=60)
    assert np.all((pi.low < pi.value) & (pi.value < pi.high))
    assert np.all(stationary_error_bars(release).half_width > 0)


def test_show_prints_error_bars():
    text = noisy_release(X, 7).describe()
    assert " ± " in text
    assert "privacy's noise alone" in text


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (0.04123, 0.00061, "0.0412 ± 0.0006"),
        (1234.5, 20.0, "1234 ± 20"),
        (0.5, 0.0, "0.5 ± 0"),
        (2.0, 0.3, "2.0 ± 0.3"),
        (1e9, 3e7, "1e+09 ± 3e+07"),
    ],
)
def test_plus_minus(value, half, text):
    assert plus_minus(value, half) == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quantity": "happiness"}, "quantity must be one of stationary_distribution"),
        ({"quantity": "entropy_rate", "level": 1.0}, "level"),
        ({"quantity": "entropy_rate", "draws": 3}, "draws"),
    ],
)
def test_questions_that_make_no_sense(arguments, message):
    with pytest.raises(ParameterError, match=message):
        noisy_release(X, 0).uncertainty(**arguments)


def test_a_quantity_that_the_released_chain_lacks_is_refused():
    with pytest.raises(ChainError):
        noisy_release(X, 0).uncertainty(lambda chain: chain.restricted_to([0, 1]).kemeny_constant)


def test_a_release_of_another_kind_says_so():
    counts = dpm.TransitionCounts.from_matrix(
        np.array([[5, 6, 7]]), layout=dpm.Layout(target=dpm.StateSpace(["a", "b", "c"]))
    )
    from dpmarkov.mechanisms.dirichlet import Dirichlet

    release = dpm.release(
        counts,
        unit=dpm.Event(),
        budget=dpm.Budget(epsilon=8, delta=1e-2),
        mechanism=Dirichlet(form="floor", weight=0.5, alpha=5.0),
        seed=1,
    )
    with pytest.raises(ChainError, match="not a chain"):
        release.uncertainty("stationary_distribution")


@pytest.mark.parametrize("form", ["floor", "prior"])
def test_bought_totals_keep_the_intervals_honest(form):
    """12 releases of 12 states: at least 92 % covered; the prior form's are far narrower than without."""
    from dpmarkov.mechanisms.dirichlet import Dirichlet
    from dpmarkov.mechanisms.row_totals import DirichletWithTotals

    counts = dpm.TransitionCounts.from_matrix(X, layout=dpm.Layout.square(dpm.StateSpace.range(0, 12)))
    rows = Dirichlet(form=form, weight=0.5, alpha=5.0)
    made = [
        dpm.release(
            counts,
            unit=dpm.Event(relation="replace"),
            budget=dpm.Budget(epsilon=9, delta=1e-2),
            mechanism=DirichletWithTotals(rows=rows, totals_scale=4.0),
            seed=seed,
        )
        for seed in range(12)
    ]
    bars = [stationary_error_bars(release) for release in made]
    whole = [covers(u, TRUTH.stationary_distribution) for u in bars]
    assert np.mean(whole, axis=0)[0] >= 0.92
    matrix = [covers(r.uncertainty("transition_matrix", draws=60), TRUTH.dense())[0] for r in made[:6]]
    assert np.mean(matrix) >= 0.9
    wide = stationary_error_bars(dirichlet_release(X, 0, form)).half_width.mean()
    if form == "prior":
        assert np.mean([u.half_width.mean() for u in bars]) < 0.6 * wide
        assert np.mean(whole, axis=0)[1] < 0.95
    assert "bought" in bars[0].method


@pytest.mark.parametrize("kind", ["dirichlet", "laplace"])
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_no_interval_reaches_what_cannot_be(kind, quantity):
    """Five states, hardly any events: every interval is as wide as can be, and no wider."""
    x = np.random.default_rng(2).poisson(1.5, (5, 5))
    release = dirichlet_release(x, 3) if kind == "dirichlet" else noisy_release(x, 3, scale=4.0)
    least, most = {
        "recurrence_times": (1, np.inf),
        "mean_first_passage": (1 - np.eye(5), np.inf),
        "kemeny_constant": (0, np.inf),
        "entropy_rate": (0, np.log2(5)),
        "mixing_time": (1, np.inf),
        "relaxation_time": (1, np.inf),
        "tau_inf": (0, 2),
    }.get(quantity, (0, 1))
    u = release.uncertainty(quantity, draws=60)
    assert np.all(least <= u.low)
    assert np.all(u.low <= u.high)
    assert np.all(u.high <= most)


def test_an_entropy_rate_is_bounded_by_the_moves_that_are_allowed():
    states = dpm.StateSpace.range(0, 6)
    ring = dpm.Support.from_pairs(states, states, [(i, (i + k) % 6) for i in range(6) for k in (1, 2)])
    counts = dpm.TransitionCounts(dpm.Layout.square(states, ring), np.full(12, 4))
    release = dpm.release(
        counts, unit=dpm.Event(), budget=dpm.Budget(epsilon=0.2, delta=1e-6), mechanism="laplace"
    )
    assert release.uncertainty("entropy_rate", draws=60).high <= 1


def test_a_difference_may_be_negative_and_a_time_may_not():
    """What is above zero in the release and below it in some draws is not cut at zero."""
    x = np.full((4, 4), 12)
    x[0, 0] += 3
    release = next(
        r
        for r in (noisy_release(x, s, scale=4.0) for s in range(50))
        if np.diff(r.transition_matrix[0])[0] < 0
    )
    apart = release.uncertainty(lambda chain: chain.dense()[0, 0] - chain.dense()[0, 1], draws=60)
    assert apart.value > 0 > apart.low
    times = release.uncertainty(lambda chain: chain.hitting_times([3]), draws=60)
    assert times.low.min() >= 0
