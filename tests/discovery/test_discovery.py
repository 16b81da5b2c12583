"""Private looks before counting: sensitivities, the selection rule, and the price in the guarantee."""

import dataclasses
import json
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import dpmarkov as dpm
from dpmarkov.discovery import histogram, selection
from dpmarkov.discovery.selection import ONE, keep, keep_probabilities, share_of_budget
from dpmarkov.discovery.states import _query, _touched
from dpmarkov.errors import EngineError, ParameterError, UnitError
from dpmarkov.events.opening import open_table
from dpmarkov.privacy.charge import remaining
from dpmarkov.privacy.pairs import ApproximatePair
from dpmarkov.privacy.profile import Profile
from dpmarkov.releases.describe import summary


def log(seed: int = 0, users: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    size = rng.geometric(0.2, users)
    return pd.DataFrame(
        {
            "u": np.repeat(np.arange(users), size),
            "t": np.arange(size.sum()),
            "s": rng.choice(list("aaabbcdefgh"), size.sum()),
        }
    )


SEQUENCE = {"user": "u", "time": "t", "state": "s", "states": list("abcdefgh")}


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 1e-9), (0.3, 1e-6), (1.0, 1e-5), (3.0, 0.01)])
def test_the_selection_rule_is_private_and_cannot_keep_more(epsilon, delta):
    biases = keep_probabilities(epsilon, delta)
    p = np.array(biases, dtype=float) / ONE
    assert p[0] == 0
    assert p[-1] == 1
    assert np.all(np.diff(p) >= 0)
    for low, high in pairwise(p):
        assert high <= math.exp(epsilon) * low + delta + 1e-13
        assert 1 - low <= math.exp(epsilon) * (1 - high) + delta + 1e-13
    # The best rule: one inequality is tight at every step (to the rounding of 2^-50).
    for low, high in pairwise(p):
        best = min(math.exp(epsilon) * low + delta, 1 - math.exp(-epsilon) * (1 - low - delta), 1)
        assert high == pytest.approx(best, rel=1e-9)
    assert 1 / epsilon * math.log(1 / delta) < len(biases) + 1 / epsilon + 50


def test_coins_fall_as_they_should():
    """20,000 coins at each of five counts; six standard errors: a false alarm below 1e-7."""
    biases = keep_probabilities(0.5, 1e-3)
    rng = np.random.default_rng(1)
    for n in (1, 5, 10, 12, len(biases) + 5):
        p = min(biases[n], ONE) / ONE if n < len(biases) else 1.0
        share = np.mean(keep([n] * 20_000, biases, rng))
        assert abs(share - p) <= 6 * math.sqrt(p * (1 - p) / 20_000) + 1e-9
        if n == 10:
            assert abs(share - min(1, 1.2 * p)) > 6 * math.sqrt(p * (1 - p) / 20_000)


def test_the_share_of_several_values_composes():
    for values in (1, 2, 20):
        epsilon, _, profile = share_of_budget(1.0, 1e-6, values)
        assert epsilon >= 1.0 / values * 0.999
        assert profile.certified_delta(1.0) <= 1e-6


@pytest.mark.parametrize("values", [1, 2, 10])
def test_the_curve_is_that_of_the_coins_which_are_tossed(values):
    """So many coins of that very epsilon and delta: at half of it the curve would promise too much."""
    epsilon, each, profile = share_of_budget(1.0, 1e-6, values)
    coins = Profile(((ApproximatePair(epsilon=epsilon, delta=each),) * values,))
    for at in (0.1, 0.5, 0.9, 1.0):
        assert profile.certified_delta(at) == coins.certified_delta(at)
    assert profile.certified_delta(0.5) > 1e-4


@pytest.mark.parametrize("delta", [1e-20, 1e-16, 1e-14])
@pytest.mark.parametrize("values", [2, 3, 10, 200])
def test_the_share_of_several_values_is_certified_for_any_delta(delta, values):
    epsilon, each, profile = share_of_budget(1.0, delta, values)
    assert profile.certified_delta(1.0) <= delta
    assert epsilon >= 0.9 / values
    assert each > 0


def test_a_delta_that_nothing_certifies_is_refused(monkeypatch):
    monkeypatch.setattr(selection.Profile, "certified_delta", lambda self, epsilon: 1.0)
    with pytest.raises(ParameterError, match="give a larger delta"):
        share_of_budget(1.0, 1e-6, 10)


def counts_of_states(table, unit, columns, user=None):
    with open_table(table, list(dict.fromkeys([*columns, *([user] if user else [])]))) as engine:
        keys, counts = engine.fetch(_query(engine, columns, user, unit, False, b"k" * 32))
    return dict(zip(keys.tolist(), counts.astype(int).tolist(), strict=True))


def distance(a: dict, b: dict) -> tuple[int, int]:
    """The largest change of a state's number, and how many states change."""
    changes = [abs(a.get(s, 0) - b.get(s, 0)) for s in a.keys() | b.keys()]
    return max(changes), sum(change > 0 for change in changes)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_one_user_changes_the_number_of_m_states_by_one(m):
    table, unit = log(1, users=12), dpm.User(max_events=m)
    before = counts_of_states(table, unit, ["s"], "u")
    assert _touched(unit, ["s"], "u", "s") == m
    for user in table["u"].unique():
        after = counts_of_states(table[table["u"] != user], unit, ["s"], "u")
        largest, states = distance(before, after)
        assert largest <= 1
        assert states <= m


def test_one_event_changes_the_number_of_two_states_by_one():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"a": rng.choice(["x", "y", "z", None], 30), "b": rng.choice(["x", "y", None], 30)})
    before = counts_of_states(table, dpm.Event(), ["a", "b"])
    for row in table.index:
        largest, states = distance(before, counts_of_states(table.drop(row), dpm.Event(), ["a", "b"]))
        assert largest <= 1
        assert states <= _touched(dpm.Event(), ["a", "b"], None, None) == 2
        for b in ("x", "y"):
            moved = table.copy()
            moved.loc[row, "b"] = b
            largest, states = distance(before, counts_of_states(moved, dpm.Destination(), ["a", "b"]))
            assert largest <= 1
            assert states <= 2


@pytest.mark.parametrize("more", [{"column": "b"}, {"source": "b"}, {"source": "b", "target": "c"}])
def test_one_visit_changes_as_many_states_as_it_is_charged_for(more):
    columns = list({**more, "state": "a"}.values())
    table = pd.DataFrame({"a": ["x", "y"], "b": ["y", "y"], "c": ["z", "x"]})
    one = pd.DataFrame({"a": ["p"], "b": ["q"], "c": ["r"]})
    before, after = (counts_of_states(t, dpm.Visit(), columns) for t in (table, pd.concat([table, one])))
    touched = _touched(dpm.Visit(), columns, None, "a")
    assert distance(before, after) == (1, touched)
    assert touched == len(columns)
    same = pd.DataFrame({"a": ["p"], "b": ["p"], "c": ["p"]})
    after = counts_of_states(pd.concat([table, same]), dpm.Visit(), columns)
    assert distance(before, after) == (1, 1)


def test_common_states_are_found_and_rare_ones_are_not():
    table = pd.DataFrame({"u": range(3000), "s": ["a", "b", "c"] * 999 + ["rare", "rarer", "rarest"]})
    found = dpm.discover_states(
        table, unit=dpm.User(max_events=1), budget=dpm.Budget(epsilon=1, delta=1e-6), user="u", state="s"
    )
    assert found.states.states == ("a", "b", "c", "other")
    assert found.unknown == "state:other"
    whole = dpm.discover_states(
        table.assign(s=[1, 2, 3] * 1000),
        unit=dpm.Event(),
        budget=dpm.Budget(epsilon=1, delta=1e-6),
        column="s",
        other=-1,
    )
    assert whole.states.states == (1, 2, 3, -1)


def test_bad_discoveries():
    budget = dpm.Budget(epsilon=1, delta=1e-6)
    table = pd.DataFrame({"u": [1], "s": ["a"]})
    with pytest.raises(ParameterError, match="delta > 0"):
        dpm.discover_states(table, unit=dpm.Event(), budget=dpm.Budget(epsilon=1), column="s")
    with pytest.raises(EngineError, match=r"no state was common enough .* which is spent"):
        dpm.discover_states(table, unit=dpm.Event(), budget=budget, column="s")
    with pytest.raises(UnitError, match="does not fit"):
        dpm.discover_states(table, unit=dpm.Event(), budget=budget, state="s", user="u")


def test_one_user_changes_one_bin_by_one(monkeypatch):
    """The exact histogram, with the noise taken out: its L1 distance is what the noise is scaled to."""
    monkeypatch.setattr(histogram, "add_noise", lambda values, law, entropy: values)
    table = log(3, users=10)
    before = np.array(dpm.bounds(table, epsilon=1, **SEQUENCE).users)
    assert before.sum() == table["u"].nunique()
    for user in table["u"].unique():
        after = np.array(dpm.bounds(table[table["u"] != user], epsilon=1, **SEQUENCE).users)
        assert np.abs(before - after).sum() == 1
        replaced = table.copy()
        replaced.loc[replaced["u"] == user, "s"] = "?"
        assert np.abs(before - np.array(dpm.bounds(replaced, epsilon=1, **SEQUENCE).users)).sum() <= 2


def test_a_count_too_large_to_be_read_is_large_here_as_well():
    """As in the counts that the bound is for: there it counts as many, not as none."""
    table = pd.DataFrame({"u": ["a", "b", "c"], "f": "x", "t": "y", "n": pd.Series([1, 2, 2**130])})
    names = {"user": "u", "source": "f", "target": "t", "count": "n", "states": ["x", "y"]}
    assert dpm.bounds(table, **names, epsilon=1e6, quantile=0.99, seed=1).max_events == 1_000_000


def test_the_noise_has_the_scale_that_the_price_asks_for():
    """32 bins over 60 looks: the variance within 25 % of 2/eps^2 (5 standard errors); twice the scale not."""
    table = log(4, users=5)
    for relation, sensitivity in (("add_remove", 1), ("replace", 2)):
        looks = [
            dpm.bounds(table, epsilon=0.1, relation=relation, seed=s, **SEQUENCE).users for s in range(60)
        ]
        spread = np.var(np.array(looks), axis=0).mean()
        expected = 2 * (sensitivity / 0.1) ** 2
        assert abs(spread / expected - 1) < 0.25
        assert abs(spread / (4 * expected) - 1) > 0.25


def test_the_whole_curve_of_a_look_is_that_of_its_noise():
    """Laplace noise of scale 1/epsilon: its price is pure, and below it nothing smaller is promised."""
    charge = dpm.bounds(log(5), epsilon=0.2, **SEQUENCE).charge
    assert (charge.epsilon, charge.delta) == (0.2, 0.0)
    assert charge.profile.certified_delta(0.2) == 0
    # What the noise itself gives away: one user more moves one bin by one.
    scale = charge.result["scale"]
    steps = np.arange(-400, 401)
    masses = np.exp(-np.abs(steps) / scale) * np.tanh(0.5 / scale)
    moved = np.exp(-np.abs(steps - 1) / scale) * np.tanh(0.5 / scale)
    for at in (0.02, 0.1, 0.19):
        true = np.maximum(moved - math.exp(at) * masses, 0).sum()
        assert charge.profile.certified_delta(at) >= true > 0


def test_the_release_pays_for_what_was_found(tmp_path):
    table = log(5, users=4000)
    report = dpm.bounds(table, epsilon=0.2, quantile=0.9, **SEQUENCE)
    assert "Spent: private histogram" in report.describe()
    exact = table.groupby("u").size().quantile(0.9)
    assert exact / 2 <= report.max_events <= exact * 2.5
    charge = dpm.Charge.load(report.charge.save(tmp_path / "bounds.json"))
    assert charge.to_dict() == report.charge.to_dict()
    unit = dpm.User(max_events=report.max_events)
    counts = dpm.count(table, max_events=report.max_events, **SEQUENCE)
    budget = dpm.Budget(epsilon=1, delta=1e-6)
    made = dpm.release(counts, unit=unit, budget=budget, charges=[charge], mechanism="laplace")
    paid = " What was learnt before, at a price that the guarantee covers, counts as public."
    assert made.mechanism["reason"] == "laplace-counts was taken because it was asked for." + paid
    assert made.guarantee.epsilon == 1
    assert made.guarantee.delta <= 1e-6
    assert made.is_private
    assert "private histogram of events per user" in made.guarantee.describe()
    alone = dpm.release(counts, unit=unit, budget=budget, mechanism="laplace")
    assert made.mechanism["scale"] > alone.mechanism["scale"] / 0.81
    with pytest.raises(ParameterError, match="does not cover"):
        dpm.release(counts, unit=unit, budget=dpm.Budget(epsilon=0.1, delta=1e-6), charges=[charge])
    other = dpm.User(max_events=report.max_events, relation="replace")
    with pytest.raises(UnitError, match="same unit and relation"):
        dpm.release(counts, unit=other, budget=budget, charges=[charge])


def test_the_curve_of_a_release_covers_the_look_before_it():
    """Of two pure looks at .2 and .8 the worst are two coins; both fall against a person at once."""
    table = log(5)
    charge = dpm.bounds(table, epsilon=0.2, **SEQUENCE).charge
    counts = dpm.count(table, max_events=3, **SEQUENCE)
    whole = dpm.Budget(epsilon=1, delta=0)
    made = dpm.release(counts, unit=dpm.User(max_events=3), budget=whole, charges=[charge])
    first, second = (1 / (1 + math.exp(-strength)) for strength in (0.2, 0.8))
    for at in (0.61, 0.8, 0.95):
        true = first * second - math.exp(at) * (1 - first) * (1 - second)
        assert true * (1 - 1e-12) <= made.guarantee.delta_at(at) <= true * (1 + 1e-6)
    assert made.guarantee.delta_at(1.0001) < 1e-12


@pytest.mark.parametrize(("price", "budget"), [(3e-7, 1e-6), (1e-7, 3e-7), (1e-6, 1e-6)])
def test_the_deltas_of_a_charge_and_a_release_stay_within_the_budget(price, budget):
    found = dpm.bounds(log(5), epsilon=0.1, **SEQUENCE).charge
    charge = dataclasses.replace(found, epsilon=0.3, delta=price)
    counts = dpm.count(log(5), max_events=3, **SEQUENCE)
    whole = dpm.Budget(epsilon=1, delta=budget)
    made = dpm.release(counts, unit=dpm.User(max_events=3), budget=whole, charges=[charge])
    assert price <= made.guarantee.delta <= budget
    assert Fraction(remaining(whole, [charge]).delta) + Fraction(price) <= Fraction(budget)
    with pytest.raises(ParameterError, match="does not cover"):
        remaining(whole, [dataclasses.replace(charge, delta=1.1 * budget)])


def test_a_seeded_charge_makes_a_release_that_is_not_private(tmp_path):
    charge = dpm.bounds(log(5), epsilon=0.1, seed=1, **SEQUENCE).charge
    counts = dpm.count(log(5), max_events=3, **SEQUENCE)
    made = dpm.release(counts, unit=dpm.User(max_events=3), budget=dpm.Budget(epsilon=1), charges=[charge])
    again = dpm.load(made.save(tmp_path / "r"))
    for release in (made, again):
        assert not release.is_private
        assert summary(release)["private"] is False
        for text in (release.headline(), release.citation, release.describe()):
            assert "SEEDED: NOT PRIVATE" in text
    page = dpm.write_report(made, tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'class="warning" role="alert">SEEDED' in page


def test_nothing_is_spent_on_states_for_a_command_that_would_fail_later(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from dpmarkov.cli import cli
    from dpmarkov.errors import DpmarkovError

    log(6, users=100).to_csv(tmp_path / "log.csv", index=False)
    monkeypatch.setattr(dpm.discovery.states, "keep", lambda *_: pytest.fail("states were drawn"))
    data = [str(tmp_path / "log.csv"), "--user", "u", "--time", "t", "--state", "s", "--epsilon", "2"]
    data += ["--discover-states", ".2", "--unit", "user", "--max-events", "3", "--out", str(tmp_path / "out")]
    for wrong in (
        ["--gap", "soon"],
        ["--by", "hour("],
        ["--groups", "a,b"],
        ["--floor", "-1"],
        ["--lengths", "1"],
        ["--max-per-pair", "9"],
        ["--totals-share", "7"],
        ["--mechanism", "laplace", "--floor", "3"],
    ):
        failed = CliRunner().invoke(cli, ["release", *data, *wrong])
        assert isinstance(failed.exception, DpmarkovError), wrong


def test_a_dry_run_knows_what_was_spent_before(tmp_path):
    from click.testing import CliRunner

    from dpmarkov.cli import cli

    charge = dpm.bounds(log(5), epsilon=0.8, **SEQUENCE).charge
    charge.save(tmp_path / "bounds.json")
    options = ["--user", "u", "--time", "t", "--state", "s", "--states", "a,b,c", "--unit", "user"]
    options += ["--bounds", str(tmp_path / "bounds.json"), "--max-events", "4", "--mechanism", "laplace"]
    shown = CliRunner().invoke(
        cli, ["release", "none.csv", *options, "--epsilon", "1", "--dry-run", "--json"]
    )
    assert shown.exit_code == 0, f"{shown.output} {shown.exception}"
    data = json.loads(shown.output)
    assert data["mechanism"]["scale"] == pytest.approx(4 / 0.2)
    assert "private histogram" in data["spent_before"][0]
    assert 0 < data["predicted"]["row"] < 1


def test_command_line(tmp_path):
    from click.testing import CliRunner

    from dpmarkov.cli import cli

    run = CliRunner().invoke
    log(6, users=2000).to_csv(tmp_path / "log.csv", index=False)
    data = [str(tmp_path / "log.csv"), "--user", "u", "--time", "t", "--state", "s"]
    charge, out = str(tmp_path / "bounds.json"), str(tmp_path / "release")
    found = run(cli, ["bounds", *data, "--states", "a,b,c", "--epsilon", ".1", "--out", charge])
    assert found.exit_code == 0, found.output
    options = ["--epsilon", "2", "--delta", "1e-5", "--mechanism", "laplace", "--out", out]
    options += ["--unit", "user", "--bounds", charge, "--discover-states", ".2"]
    made = run(cli, ["release", *data, *options])
    assert made.exit_code == 0, f"{made.output} {made.exception}"
    release = dpm.load(out)
    assert set(release.layout.target.states) >= {"a", "other"}
    assert release.guarantee.unit.max_events == dpm.Charge.load(charge).result["max_events"]
    text = release.describe()
    assert "private discovery of states" in text
    assert "private histogram" in text
    again = run(cli, ["bounds", *data, "--states", "a,b,c", "--epsilon", ".1", "--out", charge])
    assert isinstance(again.exception, ParameterError)


def test_a_plan_of_bounds_trades_noise_for_lost_events(tmp_path):
    from click.testing import CliRunner

    from dpmarkov.cli import cli
    from dpmarkov.errors import ReleaseFormatError

    table = log(7, users=4000)
    report = dpm.bounds(table, epsilon=0.2, seed=1, **SEQUENCE)
    layout = dpm.Layout.square(dpm.StateSpace(["a", "b", "c"]))
    budget = dpm.Budget(epsilon=1, delta=1e-6)
    made = dpm.plan_bounds(report, layout, budget=budget, bounds=[1, 4, 50])
    assert [cost.max_events for cost in made.costs] == sorted({1, 4, 50, report.max_events})
    first, last = made.costs[0], made.costs[-1]
    assert first.lost_events > 0.3 > last.lost_events
    assert last.row_error > first.row_error > 0
    sizes = table.groupby("u").size()
    assert abs(first.lost_events - (1 - len(sizes) / len(table))) < 0.1
    assert abs(report.events() / len(table) - 1) < 0.2
    # The noise is that of a release which pays for the look too.
    cheaper = dpm.plan_bounds(report, layout, budget=dpm.Budget(epsilon=4, delta=1e-6), bounds=[50])
    assert cheaper.costs[-1].row_error < last.row_error / 2
    with pytest.raises(ParameterError, match="does not cover"):
        dpm.plan_bounds(report, layout, budget=dpm.Budget(epsilon=0.1, delta=1e-6))
    path = report.charge.save(tmp_path / "bounds.json")
    arguments = ["plan", "--states", "a,b,c", "--bounds", str(path), "--epsilon", "1"]
    shown = CliRunner().invoke(cli, arguments)
    assert shown.exit_code == 0, f"{shown.output} {shown.exception}"
    assert "row error by noise" in shown.output
    assert isinstance(CliRunner().invoke(cli, [*arguments, "--accuracy", ".1"]).exception, ParameterError)
    with pytest.raises(ReleaseFormatError, match="holds no bound"):
        dpm.BoundsReport.from_charge(dataclasses.replace(report.charge, result={}))


def test_the_printed_share_of_users_never_falls_as_the_bound_grows():
    report = dpm.bounds(log(), **SEQUENCE, epsilon=1, seed=0)
    noisy = dataclasses.replace(report, tops=(1, 2, 5, 10), users=(4, -6, 3, 2), max_events=10)
    assert [noisy.share_of_users(m) for m in (1, 2, 5, 10, 20)] == [1.0] * 5
    few = dataclasses.replace(noisy, users=(-3, 2, -2, 7))
    assert [few.share_of_users(m) for m in (1, 2, 5, 10)] == [0.0, 0.0, 0.0, 1.0]
    plain = dataclasses.replace(noisy, users=(5, 3, 1, 1))
    assert [plain.share_of_users(m) for m in (1, 2, 4, 5, 10)] == [0.5, 0.8, 0.8, 0.9, 1.0]
