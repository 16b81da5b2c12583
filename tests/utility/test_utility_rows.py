"""Intervals of what is no chain of counts: private matrices, posterior draws, distributions, policies."""

import numpy as np
import pytest
from known_chains import BUDGET, true_counts

import dpmarkov as dpm
from dpmarkov.errors import ChainError, ParameterError
from dpmarkov.mechanisms.noisy_posterior import NoisyPosterior
from dpmarkov.utility.uncertainty import QUANTITIES, stationary_error_bars

LOUD = dpm.Budget(epsilon=4, delta=1e-5)
GRID = 1e-7
"""Inputs are rounded to multiples of 2^-30 or so before the draw."""


def stochastic(n_rows, n_columns, seed=0):
    """Rows with large and small entries and a fifth of zeros."""
    rng = np.random.default_rng(seed)
    p = rng.gamma(0.5, size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) > 0.2)
    p[:, 0] += 1e-3
    return p / p.sum(axis=1, keepdims=True)


def covered(u, truth):
    return np.mean((truth >= u.low - GRID) & (truth <= u.high + GRID))


def would_be(u, truth):
    """The same for intervals a third as wide."""
    return np.mean(np.abs(truth - (u.low + u.high) / 2) <= u.half_width / 3)


def uniformly_mixed(p, release):
    """The lifted rows where every entry may differ: the public vector is uniform."""
    share = release.mechanism["mixing"]
    return (1 - share) * p + share / p.shape[-1]


P = stochastic(12, 12)


def private(p, seed):
    return dpm.privatize_matrix(p, unit=dpm.Entry(b=0.1), budget=LOUD, seed=seed)


def test_entries_of_a_private_matrix_are_covered_exactly():
    """60 releases, 8,640 entries: 95 %, above it at the border; by chance below 94 or above 97: < 1e-4.

    That includes the fifth of entries that are zero. The band fails for intervals a third as wide.
    """
    seen = {"transition_matrix": [], "input_matrix": []}
    for seed in range(60):
        release = private(P, seed)
        for name, truth in (("transition_matrix", uniformly_mixed(P, release)), ("input_matrix", P)):
            u = release.uncertainty(name)
            seen[name].append((covered(u, truth), would_be(u, truth), covered(u, P)))
    for name, shares in seen.items():
        whole, third, of_input = np.mean(shares, axis=0)
        assert 0.94 <= whole <= 0.97, name
        assert third < 0.75, name
        if name == "transition_matrix":
            assert of_input < 0.8, "it is about the lifted rows and not about the input"


def test_other_quantities_of_a_private_matrix_are_covered():
    """15 releases of 12 states: 95 to 96 % of stationary shares (180 here), scalars 93 % and more."""
    lifted = dpm.MarkovChain(uniformly_mixed(P, private(P, 0)))
    seen = {q: [] for q in ("stationary_distribution", "kemeny_constant", "entropy_rate", "tau_1")}
    for seed in range(15):
        release = private(P, seed)
        for q in seen:
            seen[q].append(covered(release.uncertainty(q, draws=60), np.asarray(QUANTITIES[q](lifted))))
    assert 0.87 <= np.mean(seen["stationary_distribution"]) < 0.999
    for q in ("kemeny_constant", "entropy_rate", "tau_1"):
        assert np.mean(seen[q]) >= 0.73, q


def test_the_noise_pushes_a_maximum_and_the_interval_reaches_back():
    """Equal rows: tau_1 is zero, and every release and draw says about a half."""
    flat = np.full((10, 10), 0.1)
    for seed in range(5):
        u = private(flat, seed).uncertainty("tau_1", draws=60)
        assert u.value > 0.15
        assert u.low < 0.1


def test_the_mixing_is_undone_where_some_entries_are_not_watched():
    """An index set of three, with its own border: the public vector is not uniform. 100 releases of 6."""
    p = stochastic(1, 6, seed=4)[0]
    unit = dpm.Entry(b=0.1, among=((0, 2, 5),))
    seen = []
    for seed in range(100):
        release = dpm.privatize_vector(p, unit=unit, budget=LOUD, eta=0.1, eta_bar=0.2, k=40, seed=seed)
        seen.append(covered(release.uncertainty("input_matrix"), p[None, :]))
    assert 0.91 <= np.mean(seen) <= 0.995


def test_an_average_and_the_papers_way():
    vectors = stochastic(20, 5, seed=6) * 0.5 + 0.1
    mean = vectors.mean(axis=0)[None, :]
    average, assumed = [], []
    for seed in range(60):
        release = dpm.privatize_average(vectors, unit=dpm.Entry(b=0.1), budget=LOUD, seed=seed)
        average.append(covered(release.uncertainty("input_matrix"), mean))
        release = dpm.privatize_vector(
            vectors[0], unit=dpm.Entry(b=0.02), budget=LOUD, way="assumed", eta=0.1, k=60, seed=seed
        )
        assumed.append(covered(release.uncertainty("transition_matrix"), vectors[:1]))
    assert 0.90 <= np.mean(average) <= 0.995
    assert 0.90 <= np.mean(assumed) <= 0.995
    assert "about the sensitive input itself" in str(release.uncertainty("transition_matrix"))


def test_a_private_matrix_says_what_its_intervals_are_about(tmp_path):
    release = private(P, 0)
    for quantity in ("transition_matrix", "stationary_distribution"):
        assert "about the lifted input" in release.uncertainty(quantity, draws=50).covers_what
    assert "about the lifted input" in release.describe()
    assert "mixing undone" in str(release.uncertainty("input_matrix"))
    again = dpm.load(release.save(tmp_path / "release")).uncertainty("input_matrix")
    np.testing.assert_array_equal(again.low, release.uncertainty("input_matrix").low)
    with pytest.raises(ParameterError, match="matrix of probabilities"):
        release.uncertainty("entropy_rate", sampling=True)
    with pytest.raises(ChainError, match="two mixtures differ"):
        dpm.compare(release, private(P, 1))


def counts_of(x):
    x = np.atleast_2d(x)
    source = None if len(x) == 1 else dpm.StateSpace.range(0, len(x))
    layout = dpm.Layout(target=dpm.StateSpace.range(0, x.shape[1]), source=source)
    return dpm.TransitionCounts.from_matrix(x, layout=layout), x / x.sum(axis=1, keepdims=True)


def released(counts, mechanism, seed):
    budget = dpm.Budget(epsilon=0.5, delta=1e-4)
    return dpm.release(counts, unit=dpm.Event(), budget=budget, mechanism=mechanism, seed=seed)


SHARES = 1 / np.arange(1, 21)
ONE = np.random.default_rng(5).multinomial(2000, SHARES / SHARES.sum())
POLICY = np.stack([np.random.default_rng(7).multinomial(n, np.full(7, 1 / 7)) for n in (3000, 400, 80)])


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "dirichlet"])
@pytest.mark.parametrize("x", [ONE, POLICY], ids=["distribution", "policy"])
def test_shares_of_what_is_no_chain_are_covered(mechanism, x):
    """30 releases, 600 entries: between 90 and 99.9 % (Dirichlet: at least 95); a third as wide, fewer."""
    counts, truth = counts_of(x)
    bars = [released(counts, mechanism, s).uncertainty("transition_matrix", draws=100) for s in range(30)]
    whole = np.mean([covered(u, truth) for u in bars])
    assert whole >= (0.95 if mechanism == "dirichlet" else 0.90)
    if mechanism != "dirichlet":
        assert whole <= 0.999
        assert np.mean([would_be(u, truth) for u in bars]) < 0.8


def test_a_function_of_a_policy_is_a_function_of_its_matrix():
    counts, truth = counts_of(POLICY)
    u = released(counts, "gaussian", 1).uncertainty(lambda p: p @ np.arange(7.0), draws=60)
    assert u.value.shape == (3,)
    assert np.all((u.low <= truth @ np.arange(7.0)) & (truth @ np.arange(7.0) <= u.high))
    with pytest.raises(ChainError, match="Ask for 'transition_matrix'"):
        released(counts, "gaussian", 1).uncertainty("kemeny_constant")
    with pytest.raises(ParameterError, match="has counts behind it"):
        released(counts, "gaussian", 1).uncertainty("input_matrix")


@pytest.mark.parametrize("mechanism", ["laplace", "dirichlet"])
def test_show_prints_error_bars_of_a_distribution(mechanism):
    text = released(counts_of(ONE)[0], mechanism, 2).describe()
    assert " ± " in text
    assert "about the probabilities that the data have" in text


def test_show_names_the_right_states_of_a_distribution_with_a_support():
    states = dpm.StateSpace(["never", "often", "seldom"])
    layout = dpm.Layout(target=states, support=dpm.Support(np.array([0, 2]), np.array([1, 2]), 3))
    release = dpm.privatize_vector([0, 0.9, 0.1], unit=dpm.Entry(b=0.1), budget=LOUD, layout=layout, seed=1)
    lines = release.describe().splitlines()
    assert next(line for line in lines if line.startswith("  never")).split()[1] == "0"


X = true_counts()
TRUTH = dpm.MarkovChain(X / X.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("sigma", [2.0, 6.0])
def test_posterior_draws_from_noisy_counts_are_covered(sigma):
    """15 releases of 12 states (2,160 entries, 180 shares), nominal 95 %."""
    layout = dpm.Layout.square(dpm.StateSpace.range(0, 12))
    counts = dpm.TransitionCounts.from_matrix(X, layout=layout)
    seen = {"transition_matrix": [], "stationary_distribution": [], "fast": [], "third": []}
    for seed in range(15):
        release = dpm.release(
            counts, unit=dpm.Event(), budget=BUDGET, mechanism=NoisyPosterior(sigma=sigma), seed=seed
        )
        matrix = release.uncertainty("transition_matrix", draws=80)
        seen["transition_matrix"].append(covered(matrix, TRUTH.dense()))
        seen["third"].append(would_be(matrix, TRUTH.dense()))
        shares = release.uncertainty("stationary_distribution", draws=80)
        seen["stationary_distribution"].append(covered(shares, TRUTH.stationary_distribution))
        seen["fast"].append(covered(stationary_error_bars(release), TRUTH.stationary_distribution))
    mean = {name: np.mean(values) for name, values in seen.items()}
    assert 0.89 <= mean["transition_matrix"] <= 0.98
    assert mean["third"] < 0.75
    assert mean["stationary_distribution"] >= 0.93
    assert mean["fast"] >= 0.88
    assert "one more random draw" in matrix.method
