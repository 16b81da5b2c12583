"""What an interval and a comparison say of themselves: what they are about, and how far to believe them."""

import json
from dataclasses import replace

import numpy as np
import pytest
from known_chains import dirichlet_release, noisy_release, true_counts

import dpmarkov as dpm
from dpmarkov.errors import ChainError
from dpmarkov.utility.interval import Uncertain, in_words
from dpmarkov.utility.uncertainty import stationary_error_bars

X = true_counts()
BOUNDED = {"kind": "sequences", "unknown": "drop", "max_events": 10}


def uncertain(value, low, high, quantity="transition_matrix"):
    parts = {"value": value, "low": low, "high": high}
    return Uncertain(
        quantity=quantity,
        level=0.95,
        method="by hand",
        includes_sampling=False,
        draws=0,
        about="about a test",
        **{name: np.asarray(part, dtype=float) for name, part in parts.items()},
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.0412, 0.0406, 0.0418, "0.0412 ± 0.0006"),
        (0.018, 0, 0.26, "0.018 (0 to 0.26)"),
        (1, 0, 1, "1 (0 to 1)"),
        (0.04, 0, 0.657, "0.04 (0 to 0.66)"),
        (0.04, -0.26, 0.34, "0.04 ± 0.3"),
        (0.42, 0, 0.89, "0.42 (0 to 0.89)"),
        (0.0412, 0.001, 0.03, "0.041 (0.001 to 0.03)"),
        (0.5, 0.4, 0.64, "0.5 ± 0.1"),
        (0.5, 0.4, 0.66, "0.5 (0.4 to 0.66)"),
        (0, 0, 0, "0 ± 0"),
        (33, 0, 100, "33 (0 to 100)"),
        (12, 10, 400, "12 (10 to 400)"),
        (12.34, 12.3, 400, "12 (12 to 400)"),
        (51234.5, 5e4, 9e4, "51000 (50000 to 90000)"),
        (12345.6, 12345.6, np.inf, "12350 (12350 to inf)"),
        (np.inf, 5, np.inf, "inf (5 to inf)"),
        (np.inf, np.inf, np.inf, "infinite"),
    ],
)
def test_lopsided_intervals_show_their_ends(value, low, high, text):
    assert in_words(value, low, high) == text


def test_a_single_number_prints_its_ends_in_full():
    assert "11000 ± 4000 (from 7000 to 15000)" in str(uncertain(11000, 7000, 15000, "kemeny_constant"))


def test_no_value_above_zero_is_told_as_zero():
    rng = np.random.default_rng(0)
    for value, down, up in 10.0 ** rng.uniform(-12, 0, (2000, 3)):
        told = in_words(value, max(0.0, value - down), value + up)
        assert float(told.split(" ")[0]) > 0, (value, down, up)


def test_what_is_reliable_is_judged_by_the_ends():
    u = uncertain(
        [1, 0.018, 0.05, 0.3, 0.9, 0.67, 0.0, 0.3],
        [0, 0, 0.04, 0, 0.2, 0.35, 0.0, 0.01],
        [1, 0.26, 0.06, 0.4, 1, 1, 0.0, 0.09],
    )
    assert u.reliable.tolist() == [False, False, True, False, False, False, True, False]
    with np.errstate(all="raise"):
        odd = uncertain([np.inf, np.inf, 3.0], [np.inf, 5.0, 2.0], [np.inf, np.inf, np.inf], "times")
        assert odd.reliable.tolist() == [True, False, False]
        assert odd.half_width.tolist() == [0, np.inf, np.inf]


@pytest.mark.parametrize("kind", ["noise", "dirichlet", "vector"])
def test_infinite_quantities_have_infinite_intervals_and_no_warnings(kind):
    """Warnings are errors in these tests."""
    states = dpm.StateSpace.range(0, 6)
    ring = dpm.Support.from_pairs(states, states, [(i, (i + 1) % 6) for i in range(6)])
    if kind == "vector":
        budget = dpm.Budget(epsilon=4, delta=1e-5)
        release = dpm.privatize_vector([0.6, 0.3, 0.1], unit=dpm.Entry(b=0.05), budget=budget)
    else:
        release = dpm.release(
            dpm.TransitionCounts(dpm.Layout.square(states, ring), np.full(6, 100)),
            unit=dpm.Event(),
            budget=dpm.Budget(epsilon=1, delta=1e-6),
            mechanism="laplace" if kind == "noise" else "dirichlet",
        )
        u = release.uncertainty("relaxation_time", draws=60)
        assert (u.value, u.low, u.high) == (np.inf, np.inf, np.inf)
        assert "infinite" in str(u)
    asked = []

    def sometimes(_):
        asked.append(1)
        return np.array([np.inf if len(asked) % 3 else 1.0, np.inf if len(asked) == 1 else 2.0])

    u = release.uncertainty(sometimes, draws=60)
    assert u.low.tolist() == [1, 2]
    assert u.high[0] == np.inf
    assert not u.reliable.any()


def test_a_bound_on_users_events_is_in_what_an_interval_is_about():
    release = replace(noisy_release(X, 1), counting=BOUNDED)
    for u in (
        stationary_error_bars(release),
        release.uncertainty("transition_matrix", draws=60),
        release.uncertainty("entropy_rate", draws=60, sampling=True),
    ):
        assert "that were kept (at most 10 of a user), which leans towards users with few" in u.covers_what
        assert "what the bound left out is not in the interval" in str(u)
        assert "the data have" not in u.covers_what
    assert "process behind the chain of the events" in u.covers_what
    alike = replace(release, counting={**BOUNDED, "max_per_pair": 2})
    assert "(at most 10 of a user, at most 2 of these alike)" in stationary_error_bars(alike).covers_what
    shown = " ".join(release.describe().split())
    assert "about the chain of the events that were kept (at most 10 of a user)" in shown
    assert "that the data have" not in shown
    assert "that the data have" in " ".join(noisy_release(X, 1).describe().split())


def test_releases_that_were_counted_differently_are_compared_with_a_warning():
    before, after = (noisy_release(X, seed) for seed in (1, 2))
    before = replace(before, counting=BOUNDED)
    after = replace(after, counting={**BOUNDED, "max_events": 20, "gap": "30m"})
    found = dpm.compare(before, after, draws=60)
    first = " ".join(found.describe().split("\n\n")[0].split())
    assert first.startswith("Counted differently: max_events 10 and 20, gap none and 30m.")
    assert "A difference may come from that alone" in first
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["counted_differently"] == {"max_events": [10, 20], "gap": [None, "30m"]}
    same = dpm.compare(before, replace(after, counting=BOUNDED), draws=60)
    assert same.counted_differently == {}
    assert "Counted" not in same.describe()


def test_a_single_distribution_is_called_one():
    layout = dpm.Layout(target=dpm.StateSpace(["a", "b", "c"]))
    counts = dpm.TransitionCounts.from_matrix([[50, 60, 70]], layout=layout)
    one, other = (
        dpm.release(counts, unit=dpm.Event(), budget=dpm.Budget(epsilon=1, delta=1e-6)) for _ in range(2)
    )
    with pytest.raises(ChainError, match="one distribution over 3 states, not a chain; compare looks at two"):
        dpm.compare(one, other)
    with pytest.raises(ChainError, match=r"over 3 states, not a chain\. Ask for 'transition"):
        one.uncertainty("entropy_rate")


def test_a_private_matrix_shows_its_largest_probabilities():
    release = dpm.privatize_matrix(
        [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], unit=dpm.Entry(b=0.05), budget=dpm.Budget(epsilon=4, delta=1e-5)
    )
    lines = release.describe().split("Largest probabilities\n")[1].splitlines()
    values = [float(line.split("  ")[2].split(" ")[0]) for line in lines[:6]]
    assert values[0] == pytest.approx(release.transition_matrix.max(), abs=0.1)
    assert values == sorted(values, reverse=True)
    assert all("±" in line or " to " in line for line in lines[:6])
    assert "lifted input" in lines[6]


def test_a_chain_with_a_declared_end_has_no_long_run():
    release = replace(dirichlet_release(X, 1), counting={"kind": "sequences", "start": 0, "end": 11})
    text = release.describe()
    assert "No long run: sequences end in 11, the declared end." in text
    assert "Stationary" not in text
    assert "Ergodic" not in text
    assert "Where sequences start" in text
    listed = text.split("Largest probabilities\n")[1].splitlines()[:10]
    assert not any(line.strip().startswith("11 ->") for line in listed)
    from dpmarkov.releases.describe import summary

    told = summary(release)
    assert told["end"] == 11
    assert "stationary_distribution" not in told
    assert "ergodic" not in told


def test_the_row_of_a_declared_end_is_listed_in_no_chain_however_small():
    """Three states have nine probabilities, fewer than are listed."""
    x = np.array([[5, 900, 40], [300, 20, 700], [0, 0, 0]])
    release = replace(noisy_release(x, 1), counting={"kind": "sequences", "end": 2})
    listed = release.describe().split("Largest probabilities\n")[1].splitlines()
    assert [line.split("  ")[1].split(" ->")[0] for line in listed[:6]] == ["0", "1", "1", "0", "1", "0"]
    assert not any(line.strip().startswith("2 ->") for line in listed)


def test_the_citation_of_a_time_point_names_which_are_protected():
    from dpmarkov.privacy.unit import TimePoint

    unit = TimePoint(
        {"kind": "x"}, in_words="a class", secrets="the state at any single one of the points 5 to 10"
    )
    assert unit.relation_in_words.startswith(
        "the state at any single one of the points 5 to 10 is one declared"
    )
    assert TimePoint({}, in_words="c").relation_in_words.startswith("the state at any single time point is")
