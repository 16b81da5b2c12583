"""Releases: sequences and gaps, exact noise, the guarantee in words, real data."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpmarkov as dpm
from dpmarkov.entropy import Entropy
from dpmarkov.errors import InputError, ParameterError, TableError, UnitError
from dpmarkov.pufferfish import (
    FiniteChains,
    GapChains,
    Model,
    Secrets,
    StateSequence,
    Statistic,
    joint_epsilon,
    plan_noise,
    read_sequences,
    release_chain,
    release_histogram,
    release_statistic,
)
from dpmarkov.pufferfish.sampling import noisy_integers, noisy_reals
from dpmarkov.states import StateSpace

STAGES = StateSpace([0, 1, 2])
THETA = FiniteChains(
    states=STAGES, models=(Model([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]),), origin="a textbook"
)
SLEEP = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "sleep-edf" / "epochs.parquet"


def person(length: int = 3000, seed: int = 0) -> StateSequence:
    rng = np.random.default_rng(seed)
    cumulative = np.cumsum(THETA.models[0].matrix, axis=1)
    x = [0]
    for u in rng.random(length - 1):
        x.append(int(np.searchsorted(cumulative[x[-1]], u)))
    return StateSequence(STAGES, np.array(x))


def test_a_chain_is_a_release_like_every_other(tmp_path: Path) -> None:
    made = release_chain(person(), theta=THETA, epsilon=1.0)
    assert made.layout.is_chain
    assert made.seed is None
    made.save(tmp_path / "out")
    read = dpm.load(tmp_path / "out")
    assert read.guarantee.unit == made.guarantee.unit == dpm.TimePoint(THETA)
    assert np.array_equal(read.transition_matrix, made.transition_matrix)
    assert np.array_equal(read.noisy_counts, made.noisy_counts)
    assert read.guarantee.epsilon == 1.0
    assert read.guarantee.delta == 0.0
    assert read.guarantee.delta_at(1.0) == 0.0
    assert read.chain.is_ergodic
    text = " ".join(made.describe().split())
    for phrase in (
        "Pufferfish",
        "the state at any single time point",
        "declared without looking at these data",
        "which of them carry no declared state are public",
        "do not add up by themselves",
        THETA.in_words,
    ):
        assert phrase in text, phrase


def test_a_chain_is_close_to_the_truth_and_the_noise_is_what_was_planned() -> None:
    """The noisy counts less the exact ones over seeded runs: their mean (4 standard errors) and spread."""
    data = person(20000)
    noise = plan_noise(THETA, 20000, epsilon=1.0, statistic=dpm.pufferfish.TRANSITIONS)
    exact = data.transitions().values
    draws = np.array(
        [release_chain(data, theta=THETA, epsilon=1.0, seed=s).noisy_counts - exact for s in range(40)]
    )
    q = math.exp(-1 / noise.scale)
    std = math.sqrt(2 * q) / (1 - q)
    assert abs(draws.mean()) < 4 * std / math.sqrt(draws.size)
    assert 0.8 < draws.std() / std < 1.25
    made = release_chain(data, theta=THETA, epsilon=1.0, seed=1)
    assert np.abs(made.transition_matrix - THETA.models[0].matrix).max() < 0.06


def test_a_chain_of_many_states() -> None:
    k = 15
    states = StateSpace(range(k))
    matrix = 0.4 * np.eye(k) + 0.5 * np.roll(np.eye(k), 1, axis=1) + 0.1 / k
    theta = FiniteChains(states=states, models=(Model(matrix),))
    ring = StateSequence(states, np.arange(30_000) % k)
    made = release_chain(ring, theta=theta, epsilon=2.0, seed=1)
    assert made.transition_matrix.sum(axis=1) == pytest.approx(np.ones(k))
    assert np.diag(np.roll(made.transition_matrix, -1, axis=1)).min() > 0.6


def test_a_histogram_of_one_and_of_several_people() -> None:
    made = release_histogram(person(20000), theta=THETA, epsilon=1.0, seed=2)
    assert made.layout.source is None
    assert made.probabilities.sum() == pytest.approx(1)
    truth = person(20000).histogram() / 20000
    assert np.abs(made.probabilities - truth).sum() < 0.02
    people = [person(4000, s) for s in range(6)]
    together = release_histogram(people, theta=THETA, epsilon=1.0, seed=2)
    assert together.mechanism["scale"] == plan_noise(THETA, 4000, epsilon=1.0).scale
    assert any("6 people are independent" in text for text in together.guarantee.assumptions)
    assert int(together.noisy_counts.sum()) == pytest.approx(24000, abs=20 * together.mechanism["scale"])


def test_any_lipschitz_statistic(tmp_path: Path) -> None:
    data = person(5000)
    made = release_statistic(
        data,
        lambda people: float((people[0].positions == 2).mean()),
        lipschitz=1 / 5000,
        name="share of state 2",
        theta=THETA,
        epsilon=2.0,
    )
    assert abs(made.value - (data.positions == 2).mean()) < 40 * made.mechanism["scale"]
    vector = release_statistic(
        data, lambda people: [1.0, math.nan], lipschitz=1.0, name="x", theta=THETA, epsilon=2.0, seed=1
    )
    assert all(map(math.isfinite, vector.values))
    with pytest.raises(ParameterError, match="has 2 numbers"):
        _ = vector.value
    written = json.loads(made.save(tmp_path / "share.json").read_text())
    assert written["guarantee"]["unit"]["name"] == "timepoint"
    assert written["made"]["private"] is True
    with pytest.raises(ParameterError, match="exists"):
        made.save(tmp_path / "share.json")


def test_saved_releases_are_composed(tmp_path: Path) -> None:
    """A chain, a histogram and a share of one person: what all three give away together."""
    data = person(5000)
    chain = release_chain(data, theta=THETA, epsilon=1.0)
    chain.save(tmp_path / "chain")
    share = release_statistic(
        data, lambda people: 0.5, lipschitz=1 / 5000, name="x", theta=THETA, epsilon=0.5, seed=1
    )
    histogram = release_histogram(data, theta=THETA, epsilon=1.0)
    together = joint_epsilon([dpm.load(tmp_path / "chain"), histogram, share])
    assert 1.5 < together < 2.5
    planned = [
        plan_noise(THETA, 5000, epsilon=1.0, statistic=dpm.pufferfish.TRANSITIONS),
        plan_noise(THETA, 5000, epsilon=1.0),
        plan_noise(THETA, 5000, epsilon=0.5, statistic=Statistic(name="x", lipschitz=1 / 5000)),
    ]
    assert joint_epsilon(planned) == together
    early = release_histogram(data, theta=THETA, epsilon=1.0, secrets=Secrets(times=(1,)))
    with pytest.raises(ParameterError, match="do not compose"):
        joint_epsilon([histogram, early])
    event = dpm.release(data.transitions(), unit=dpm.Event(), budget=dpm.Budget(epsilon=1.0, delta=1e-6))
    with pytest.raises(UnitError, match="only releases under the unit timepoint"):
        joint_epsilon([histogram, event])


def test_a_seeded_release_is_stamped() -> None:
    made = release_histogram(person(100), theta=THETA, epsilon=1.0, seed=5)
    assert "NOT PRIVATE" in made.guarantee.assumptions[0]
    again = release_histogram(person(100), theta=THETA, epsilon=1.0, seed=5)
    assert np.array_equal(made.noisy_counts, again.noisy_counts)
    fresh = [release_histogram(person(100), theta=THETA, epsilon=1.0).noisy_counts for _ in range(5)]
    assert len({tuple(counts) for counts in fresh}) > 1


def test_secrets_stand_in_the_guarantee() -> None:
    made = release_histogram(
        person(200), theta=THETA, epsilon=1.0, secrets=Secrets(times=tuple(range(1, 11)))
    )
    assert "time points 1 to 10" in made.guarantee.unit.protects


def test_states_and_people_must_fit_the_class() -> None:
    other = StateSequence(StateSpace([0, 1, 3]), np.array([0, 1]))
    with pytest.raises(ParameterError, match="declared on other states"):
        release_histogram(other, theta=THETA, epsilon=1.0)
    with pytest.raises(InputError, match="must be StateSequence"):
        release_histogram([[0, 1]], theta=THETA, epsilon=1.0)  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="at least one chain"):
        release_histogram([], theta=THETA, epsilon=1.0)
    with pytest.raises(ParameterError, match="no transition"):
        release_chain(StateSequence(STAGES, np.array([1])), theta=THETA, epsilon=1.0)
    single = release_histogram(StateSequence(STAGES, np.array([1])), theta=THETA, epsilon=1.0)
    assert single.mechanism["amounts_to"] == "group privacy"


def test_gaps_are_refused_or_split_and_the_chain_runs_on() -> None:
    values = [0, 1, None, 2, 7, 1, 1]
    with pytest.raises(InputError, match="2 of 7 time points carry no declared state"):
        StateSequence.of(values, states=STAGES)
    split = StateSequence.of(values, states=STAGES, gaps="split")
    assert len(split) == 7
    assert split.n_observed == 5
    assert split.n_transitions == 2
    assert split.transitions().matrix().tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    timed = StateSequence.of([1, 0, 2], states=STAGES, times=[5, 3, 9], gaps="split")
    assert timed.positions.tolist() == [0, -1, 1, -1, -1, -1, 2]
    made = release_chain(timed, theta=THETA, epsilon=1.0)
    assert made.mechanism["length"] == 7
    for times, message in (([1, 1, 2], "more than once"), ([1, 2], "one whole-numbered time")):
        with pytest.raises(InputError, match=message):
            StateSequence.of([1, 0, 2], states=STAGES, times=times)
    with pytest.raises(InputError, match="span"):
        StateSequence.of([1, 0], states=STAGES, times=[0, 10**12], gaps="split")
    with pytest.raises(ParameterError, match="gaps must be"):
        StateSequence.of([1, 0], states=STAGES, gaps="guess")  # type: ignore[arg-type]


def test_nothing_depends_on_which_state_is_held() -> None:
    """Empty, undeclared and absent are one thing; errors and noise are the same for any states."""
    variants = [[0, None, 1], [0, 99, 1], [2, "x", 2]]
    messages = set()
    for values in variants:
        with pytest.raises(InputError) as caught:
            StateSequence.of(values, states=STAGES)
        messages.add(str(caught.value))
        made = release_histogram(
            StateSequence.of(values, states=STAGES, gaps="split"), theta=THETA, epsilon=1.0
        )
        assert made.mechanism["scale"] == 6.0
    assert len(messages) == 1


def test_tables_are_read_in_time_order(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"who": ["b", "a", "a", "b", "a", None], "t": [4, 2, 1, 3, 3, 1], "s": [2, 1, 0, 0, 2, 1]}
    )
    a, b = read_sequences(frame, time="t", state="s", user="who", states=STAGES)
    assert a.positions.tolist() == [0, 1, 2]
    assert b.positions.tolist() == [0, 2]
    frame.to_csv(tmp_path / "people.csv", index=False)
    again = read_sequences(str(tmp_path / "people.csv"), time="t", state="s", user="who", states=STAGES)
    assert [p.positions.tolist() for p in again] == [[0, 1, 2], [0, 2]]
    stamps = pd.DataFrame(
        {
            "t": pd.to_datetime(["2024-01-01 00:01:00", "2024-01-01 00:00:00", "2024-01-01 00:02:00"]),
            "s": [1, 0, 2],
        }
    )
    (one,) = read_sequences(stamps, time="t", state="s", states=STAGES, step="30s", gaps="split")
    assert one.positions.tolist() == [0, -1, 1, -1, 2]
    with pytest.raises(InputError, match="whole steps of 7s"):
        read_sequences(stamps, time="t", state="s", states=STAGES, step="7s", gaps="split")
    with pytest.raises(TableError, match="no row"):
        read_sequences(frame[:0].astype({"t": "int64", "s": "int64"}), time="t", state="s", states=STAGES)
    with pytest.raises(InputError, match="more than once"):
        read_sequences(frame, time="t", state="s", states=STAGES)


SCALE = 2.3


def laplace_pmf(z: np.ndarray, scale: float) -> np.ndarray:
    q = math.exp(-1 / scale)
    return (1 - q) / (1 + q) * q ** np.abs(z)


@pytest.mark.parametrize("seed", [None, 7])
def test_the_integer_noise_has_the_discrete_laplace_law(seed: int | None) -> None:
    """Chi-square over 21 cells; false alarm 1e-4 for the draw from the operating system; and the power: a
    scale wrong by 10 % is rejected."""
    n = 40_000
    draws = noisy_integers(np.zeros(n, dtype=np.int64), SCALE, Entropy.choose(seed))
    z = np.arange(-10, 11)
    seen = np.array([(np.clip(draws, -10, 10) == v).sum() for v in z])

    def p_value(scale: float) -> float:
        p = laplace_pmf(z, scale)
        tail = (1 - p[1:-1].sum()) / 2
        p[0] = p[-1] = tail
        return float(stats.chisquare(seen, n * p).pvalue)

    assert p_value(SCALE) > 1e-4
    assert p_value(1.1 * SCALE) < 1e-6


def test_the_real_noise_has_the_laplace_law() -> None:
    """Kolmogorov-Smirnov, false alarm 1e-4, with its power."""
    draws = noisy_reals(np.zeros(20_000), SCALE, Entropy.from_os())
    assert stats.kstest(draws, stats.laplace(scale=SCALE).cdf).pvalue > 1e-4
    assert stats.kstest(draws, stats.laplace(scale=1.25 * SCALE).cdf).pvalue < 1e-6


def test_the_samplers_own_accountant_agrees() -> None:
    """OpenDP's map of the very measurement: its loss for the change that our quilt allows is at most ours."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    noise = plan_noise(THETA, 1000, epsilon=1.0)
    measurement = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=noise.scale
    )
    change = int(noise.quilt.touched * noise.statistic.lipschitz)
    assert measurement.map(change) <= (1.0 - noise.quilt.influence) * (1 + 1e-12)


@pytest.mark.skipif(not SLEEP.exists(), reason="the shared folder with real data is absent")
def test_a_night_of_sleep_is_read_whole() -> None:
    stages = StateSpace(range(5))
    nights = read_sequences(
        str(SLEEP), time="epoch", state="stage", user="night", states=stages, gaps="split"
    )
    assert len(nights) == 197
    assert sum(map(len, nights)) == 238_543
    assert sum(night.n_observed for night in nights) == 238_543 - 754
    theta = GapChains(states=stages, least_probability=0.05, eigengap=0.05, reversible=False)
    made = release_histogram(nights, theta=theta, epsilon=1.0)
    truth = np.sum([night.histogram() for night in nights], axis=0) / (238_543 - 754)
    assert np.abs(made.probabilities - truth).sum() < 0.2
