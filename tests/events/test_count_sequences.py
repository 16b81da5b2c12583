"""Sequences against a slow reference in plain Python, and the change that one user or one visit can make."""

import itertools
from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest

from dpmarkov.errors import ParameterError, StateSpaceError, TableError, UnitError
from dpmarkov.events import count
from dpmarkov.events.sequences import parse_gap
from dpmarkov.privacy.unit import Destination, Event
from dpmarkov.states import StateSpace
from dpmarkov.support import Support

STATES = ["a", "b", "c", "IN", "OUT"]
GROUPS = [0, 1]


def random_log(seed: int, users: int = 6, rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "u": rng.choice([*[f"user {i}" for i in range(users)], None], rows),
            "t": rng.integers(0, 25, rows),
            "s": rng.choice(["a", "b", "c", "a", "b", "?", None], rows),
            "g": rng.integers(0, 3, rows),
        }
    )


def reference(log: pd.DataFrame, *, gap=None, start=None, end=None, collapse=False, lengths=None, by=None):
    """Events as (user, kind, group, from, to), straight from the definition."""
    visits = defaultdict(list)
    for u, t, s, g in log[["u", "t", "s", "g"]].itertuples(index=False):
        if isinstance(u, str) and s in STATES:
            group = None if by is None else (g if g in GROUPS else None)
            visits[u].append((t, STATES.index(s), float("inf") if group is None else group))
    events = []
    for u, rows in visits.items():
        rows.sort()
        runs = [[rows[0]]]
        for row in rows[1:]:
            if gap is not None and row[0] - runs[-1][-1][0] > gap:
                runs.append([])
            runs[-1].append(row)
        for run in runs:
            first, last = run[0], run[-1]
            if start is not None:
                events.append((u, "transitions", first[2], STATES.index(start), first[1]))
            else:
                events.append((u, "starts", first[2], 0, first[1]))
            moves = [(x, y) for x, y in itertools.pairwise(run) if not (collapse and x[1] == y[1])]
            events += [(u, "transitions", x[2], x[1], y[1]) for x, y in moves]
            if end is not None:
                events.append((u, "transitions", last[2], last[1], STATES.index(end)))
            if lengths is not None:
                events.append((u, "lengths", first[2], 0, min(len(moves) + 1, lengths) - 1))
    return [e for e in events if by is None or e[2] != float("inf")]


OPTIONS = [
    {},
    {"gap": 4},
    {"start": "IN", "end": "OUT"},
    {"collapse": True},
    {"lengths": 4},
    {"gap": 3, "end": "OUT", "collapse": True, "lengths": 3},
    {"by": "g", "gap": 5},
    {"by": "g", "start": "IN", "lengths": 5, "collapse": True},
]


def counted(log: pd.DataFrame, options: dict, **more):
    groups = GROUPS if "by" in options else None
    return count(log, user="u", time="t", state="s", states=STATES, groups=groups, **options, **more)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_sequences_match_the_definition(options, seed):
    log = random_log(seed)
    counts = counted(log, options)
    layout = counts.layout
    expected = np.zeros(layout.cells.n_cells, dtype=int)
    for _, kind, group, source, target in reference(log, **options):
        block = layout.block(kind, group if "by" in options else None)
        expected[block.at][source * block.cells.n_columns + target] += 1
    np.testing.assert_array_equal(counts.values, expected)
    shuffled = log.sample(frac=1, random_state=seed)
    np.testing.assert_array_equal(counted(shuffled, options).values, expected)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("m", "c"), [(1, None), (4, 1), (5, 2)])
def test_no_user_changes_what_is_kept_of_another(options, m, c):
    """Brute force: whoever is removed, exactly this user's bounded events go, whatever the key."""
    log = random_log(11, users=4, rows=40)
    bounds = {"max_events": m, "max_per_pair": c}
    for seed in (7,):
        everybody = counted(log, options, seed=seed, **bounds).values
        alone = {}
        for user in log["u"].dropna().unique():
            without = counted(log[log["u"] != user], options, seed=seed, **bounds).values
            alone[user] = counted(log[log["u"] == user], options, seed=seed, **bounds).values
            np.testing.assert_array_equal(everybody - without, alone[user])
            assert alone[user].sum() <= m
            assert c is None or alone[user].max(initial=0) <= c
        np.testing.assert_array_equal(sum(alone.values()), everybody)
        events = Counter(event[0] for event in reference(log, **options))
        if c is None:
            for user, vector in alone.items():
                assert vector.sum() == min(m, events[user])
        # Replacing a user changes what the accountant assumes: at most m go and at most m come.
        users = list(alone)
        change = alone[users[0]] - alone[users[1]]
        assert np.maximum(change, 0).sum() <= m
        assert np.maximum(-change, 0).sum() <= m


def test_an_unkeyed_choice_would_fail_the_removal_test():
    """The power of the test above: keeping a share by position in the whole table changes other users."""
    log = random_log(11).dropna()

    def kept(table):
        rng = np.random.default_rng(0)
        order = table.assign(r=rng.random(len(table))).sort_values("r")
        return set(order.groupby("u").head(2).index)

    victim = log["u"].iloc[0]
    others = set(log.index[log["u"] != victim])
    assert kept(log) & others != kept(log[log["u"] != victim]) & others


def test_every_event_is_kept_with_the_same_probability():
    """2,000 users with the same 21 events, m = 5: each cell is kept as often as its share says.

    What a user keeps of a cell is within one of 5 n / 21; the mean over users has a standard error below
    0.0112, and six of these are allowed in each of a dozen cells: a false alarm has probability below 1e-7. A
    choice that begins at the same place for every user fails.
    """
    users = 2000
    one = pd.DataFrame({"t": range(21), "s": list("aaaaaaaaaaaabbbbbbbca")})
    full = counted(one.assign(u="x"), {}).values
    log = one.merge(pd.DataFrame({"u": [f"user {i}" for i in range(users)]}), how="cross")
    expected, allowed = 5 * full / full.sum(), 6 * 0.5 / np.sqrt(users)
    mean = counted(log, {}, max_events=5, seed=0).values / users
    assert np.all(np.abs(mean - expected) < allowed)
    single = counted(one.assign(u="user 0"), {}, max_events=5, seed=0).values
    assert np.all(np.abs(single - expected) < 1)
    assert np.any(np.abs(single - expected) > allowed)


@pytest.mark.parametrize("options", [o for o in OPTIONS if "lengths" not in o], ids=str)
def test_one_visit_changes_what_the_unit_says(options):
    """Two events vanish and one appears, or the reverse, wherever the unit visit is offered."""
    log = random_log(5, users=3, rows=24).reset_index(drop=True)
    before = counted(log, options)
    if before.contributions.visit_obstacle is not None:
        assert "gap" in options
        assert "end" in options
        return
    for row in log.index:
        change = before.values - counted(log.drop(row), options).values
        lost, gained = np.maximum(change, 0).sum(), np.maximum(-change, 0).sum()
        assert lost <= 2
        assert gained <= 1


def test_units_that_do_not_fit_are_refused():
    log = random_log(1)
    sequences = counted(log, {})
    for unit in (Event(), Destination()):
        with pytest.raises(UnitError, match="deletes two transitions and adds one"):
            sequences.contributions.check(unit)
    bounded = counted(log, {}, max_events=3)
    with pytest.raises(UnitError, match="at most 3 events"):
        bounded.contributions.check(Event())
    both = bounded + bounded
    assert both.contributions.max_events == 6


def test_pairs_with_a_user_are_bounded_too():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "u": rng.integers(0, 8, 200).astype(float),
            "a": rng.choice(["a", "b"], 200),
            "b": rng.choice(["a", "b", "?"], 200),
        }
    )
    options = {"source": "a", "target": "b", "user": "u", "states": ["a", "b"], "max_events": 6, "seed": 1}
    counts = count(table, **options)
    assert counts.values.sum() == 8 * 6
    aggregated = table.groupby(["u", "a", "b"]).size().reset_index(name="n")
    np.testing.assert_array_equal(count(aggregated, count="n", **options).values, counts.values)
    capped = count(table, **(options | {"max_per_pair": 1})).values
    assert capped.tolist() == [8, 8, 8, 8]


def test_support_does_not_use_up_an_allowance():
    log = pd.DataFrame({"u": 1, "t": range(40), "s": ["a", "b", "c", "c"] * 10})
    pairs = [("a", "b"), ("b", "a"), ("c", "a")]
    counts = count(
        log, user="u", time="t", state="s", states=["a", "b", "c"], support=pairs, max_events=5, seed=2
    )
    assert counts.values.sum() == 5


@pytest.mark.parametrize(
    "times",
    [
        pd.to_datetime(["2024-01-01 10:00", "2024-01-01 10:20", "2024-01-01 12:00", None]),
        ["2024-01-01T10:00", "2024-01-01 10:20:00.5", "2024-01-01T13:00+01:00", "soon"],
        ["2024-01-01T10:00Z", "2024-01-01 10:20", "2024-01-01 12:00:00", "2024-13-45 10:00"],
    ],
    ids=["timestamps", "text", "text with zones"],
)
def test_times_and_gaps(times):
    log = pd.DataFrame({"u": 1, "t": times, "s": ["a", "b", "a", "b"]})
    options = {"user": "u", "time": "t", "state": "s", "states": ["a", "b"]}
    counts = count(log, gap="30m", **options)
    assert counts.values.tolist() == [0, 1, 0, 0, 2, 0]
    hours = count(log, gap="30m", by="hour", **options)
    assert hours.layout.n_groups == 24
    assert hours.matrix(10).tolist() == [[0, 1], [0, 0]]
    assert hours.values[hours.layout.block("starts", 12).at].tolist() == [1, 0]
    if not isinstance(times, list):
        with pytest.raises(ParameterError, match="duration such as 30m"):
            count(log, gap=5, **options)


def test_merge_map(tmp_path):
    log = pd.DataFrame({"u": 1, "t": range(5), "s": [1, 2, 3, 4, 1]})
    options = {"user": "u", "time": "t", "state": "s", "states": [1, 2, 3, 4]}
    (tmp_path / "map.csv").write_text("state,merged\n2,odd\n1,odd\n3,odd\n4,even\n")
    counts = count(log, merge=tmp_path / "map.csv", **options)
    assert counts.layout.target.states == ("odd", "even")
    assert counts.matrix().tolist() == [[2, 1], [1, 0]]
    shifted = count(log, merge={1: 2, 2: 3}, **options)
    assert shifted.layout.target.states == (2, 3, 4)
    assert shifted.matrix().tolist() == [[0, 1, 0], [0, 1, 1], [1, 0, 0]]
    with pytest.raises(StateSpaceError, match="not a declared state"):
        count(log, merge={9: 1}, **options)
    (tmp_path / "map.csv").write_text("state,merged\n1,odd\n2,even\n2,even\n1,even\n")
    with pytest.raises(StateSpaceError, match="merges '1' into both 'odd' and 'even'"):
        count(log, merge=tmp_path / "map.csv", **options)


def test_pairs_by_hour_of_a_column():
    table = pd.DataFrame(
        {
            "a": ["x", "x", "y"],
            "b": ["y", "y", "x"],
            "when": pd.to_datetime(["2024-01-01 05:00"] * 2 + [None]),
        }
    )
    options = {"source": "a", "target": "b", "states": ["x", "y"]}
    for by in ({"by": "hour(when)"}, {"by": "hour", "time": "when"}):
        counts = count(table, **options, **by)
        assert counts.matrix(5).tolist() == [[0, 2], [0, 0]]
        assert counts.values.sum() == 2


def test_bad_questions():
    log = random_log(0)
    with pytest.raises(ParameterError, match="max_events must be a whole number"):
        counted(log, {}, max_events=0)
    with pytest.raises(ParameterError, match="name the column of the user"):
        count(log, source="s", target="s", states=STATES, max_events=3)
    with pytest.raises(ParameterError, match="must not exceed"):
        counted(log, {}, max_events=2, max_per_pair=3)
    with pytest.raises(ParameterError, match="gap must be"):
        counted(log, {"gap": "soon"})
    with pytest.raises(StateSpaceError, match="end state"):
        counted(log, {"end": "EXIT"})
    with pytest.raises(ParameterError, match="three columns"):
        count(log, user="u", state="s", states=STATES)
    with pytest.raises(StateSpaceError, match=r"must be declared.*\(groups=, --groups\)"):
        count(log, user="u", time="t", state="s", states=STATES, by="g")
    with pytest.raises(StateSpaceError, match=r"name its column \(time=, --time\) or write hour\(column\)"):
        count(log, source="s", target="s", states=STATES, by="hour")
    with pytest.raises(ParameterError, match="step must be a whole number >= 1"):
        parse_gap(0, "step")
    with pytest.raises(TableError, match="times are timestamps"):
        count(log.assign(t=[True] * len(log)), user="u", time="t", state="s", states=STATES)
    with pytest.raises(TableError, match="no column 'x y'"):
        count(log, user="x y", time="t", state="s", states=STATES)


@pytest.mark.parametrize("start", [None, 49_999])
def test_places_beyond_32_bits_are_counted(start):
    """50,000 x 50,000 cells, of which the diagonal is declared."""
    n = 50_000
    support = Support(np.arange(n + 1), np.arange(n), n)
    log = pd.DataFrame({"u": [1, 1, 2, 2], "t": [1, 2, 1, 2], "s": [n - 1, n - 1, n - 2, n - 2]})
    counts = count(
        log, user="u", time="t", state="s", states=StateSpace.range(0, n), support=support, start=start
    )
    found = {int(at): int(counts.values[at]) for at in np.flatnonzero(counts.values)}
    moves = {n - 2: 1, n - 1: 1}
    # A user who begins in the state `start` stays in it; the other one's move from there is not declared.
    assert found == (moves | {2 * n - 2: 1, 2 * n - 1: 1} if start is None else {n - 2: 1, n - 1: 2})
