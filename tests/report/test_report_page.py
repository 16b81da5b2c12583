import html
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from report_cases import BUDGET, HOSTILE

import dpmarkov as dpm
from dpmarkov.cli import cli
from dpmarkov.errors import EngineError, InputError, ParameterError
from dpmarkov.report import report_html
from dpmarkov.report.figures.matrix import strongest_flows
from dpmarkov.report.html import data, script
from dpmarkov.report.look import look_at
from dpmarkov.report.pictures import _chance
from dpmarkov.report.trust import in_percent, share_intervals


def prose(page: str) -> str:
    """The page without scripts and styles, as text."""
    text = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", text))


def test_the_page_says_everything(city: dpm.Release) -> None:
    page = report_html(city)
    text = " ".join(prose(page).split())
    for words in (
        "A private Markov chain of 60 states",
        city.guarantee.unit.protects[1:],
        city.guarantee.unit.leaves_open[1:],
        city.guarantee.unit.relation_in_words,
        "What ε and δ mean",
        "best guess right, with",
        "How accurate it is",
        "How it was made",
        str(city.mechanism["name"]),
        'release = dpm.load("release/")',
        city.guarantee.citation,
        city.guarantee.evidence.theorem,
        "dpmarkov " + city.version,
    ):
        assert words in text, words
    assert "NOT PRIVATE" not in text
    for assumption in city.guarantee.assumptions:
        assert assumption in text
    assert len(page.encode()) < 6_000_000


def test_what_reliable_means_is_said_in_full(noisy: dpm.Release) -> None:
    text = " ".join(prose(report_html(noisy)).split())
    assert "lie within half the value of it, and they are no more than 50 percentage points apart." in text


def test_bounds_are_rounded_up_and_never_to_a_certainty() -> None:
    told = [_chance(value, up=True) for value in (0.73106, 0.5, 0.99961, 0.999999, 1 - 1e-9, 1.0, 0.501)]
    shown = ["73.2", "50", "99.97", "99.9999", "<100", "100", "50.1"]
    assert told == [f"{number}\u00a0%" for number in shown]
    assert _chance(0.73106) == "73.1\u00a0%"


def test_noisy_counts_say_more(noisy: dpm.Release) -> None:
    text = " ".join(prose(report_html(noisy)).split())
    assert "laplace-counts" in text
    assert "From the claimed ε on, δ is 0" in text
    assert "data of this size" in text
    assert "±" in text


def test_nothing_is_fetched(city: dpm.Release) -> None:
    page = report_html(city)
    own = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", own)
    assert "default-src 'none'" in own
    assert "url(" not in own
    assert "@import" not in own


@pytest.mark.parametrize("title", ["", "   ", "x" * 201, 7])
def test_titles(city: dpm.Release, title: object) -> None:
    with pytest.raises(ParameterError, match="title must be a text of 1 to 200 characters"):
        report_html(city, title=title)  # type: ignore[arg-type]


def test_names_and_titles_cannot_break_out(hostile: dpm.Release) -> None:
    page = report_html(hostile, title="</title><script>window.hacked = 4</script>")
    assert page.count("<script>") == 2, "a script that is not the house's own"
    assert page.count("</script>") == 2 + 4
    for state in HOSTILE:
        if "<" in state:
            assert state not in page
    assert "onerror=" in prose(page), "the names themselves must be readable"
    blocks = re.findall(r'<script type="application/json" id="(\w+)">(.*?)</script>', page, flags=re.DOTALL)
    assert [name for name, _ in blocks] == ["figures", "themes", "config", "orders"]
    for _, block in blocks:
        json.loads(block)


@given(
    st.recursive(st.text() | st.integers() | st.none(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))
)
def test_data_blocks_hold_any_content(value: object) -> None:
    block = data("id", value)
    body = block.removeprefix('<script type="application/json" id="id">').removesuffix("</script>")
    assert not set(body) & set("<>&\u2028\u2029")
    assert json.loads(body) == value


def test_scripts_are_named_by_their_hash() -> None:
    element, source = script("console.log(1)")
    assert element == "<script>console.log(1)</script>"
    assert source == "'sha256-CihokcEcBW4atb/CW/XWsvWwbTjqwQlE9nj9ii5ww5M='"


def test_chains_that_do_not_settle_are_reported_too() -> None:
    space = dpm.StateSpace(["a", "b", "c", "d"])
    pairs = [("a", "a"), ("b", "b"), ("c", "a"), ("c", "b"), ("d", "c"), ("d", "d")]
    layout = dpm.Layout.square(space, dpm.Support.from_pairs(space, space, pairs))
    counts = dpm.TransitionCounts(layout, np.full(6, 1000))
    two_ends = dpm.release(counts, unit=dpm.Event(), budget=BUDGET)
    text = " ".join(prose(report_html(two_ends)).split())
    assert "does not settle in one long run" in text
    assert "There is no single long run" in text
    assert "No mixing time" in text
    pairs = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("a", "d"), ("c", "b"), ("b", "c"), ("d", "a")]
    layout = dpm.Layout.square(space, dpm.Support.from_pairs(space, space, pairs))
    periodic = dpm.release(dpm.TransitionCounts(layout, np.full(8, 1000)), unit=dpm.Event(), budget=BUDGET)
    text = " ".join(prose(report_html(periodic)).split())
    assert "period 2" in text
    assert "Distance to the long run against steps: not shown" in text


def test_other_shapes() -> None:
    space = dpm.StateSpace(["A", "B", "C", "D", "F"])
    grades = dpm.release(
        dpm.TransitionCounts(dpm.Layout(target=space), np.array([50, 90, 40, 12, 3])),
        unit=dpm.Destination(),
        budget=BUDGET,
    )
    text = prose(report_html(grades))
    assert "A private distribution over 5 states" in text
    assert "Heat map" not in text
    assert "mixing time" not in text
    layout = dpm.Layout(target=space, source=dpm.StateSpace([1, 2, 3]))
    matrix = dpm.release(dpm.TransitionCounts(layout, np.full(15, 400)), unit=dpm.Event(), budget=BUDGET)
    assert "A private matrix from 3 to 5 states" in prose(report_html(matrix))
    layout = dpm.Layout(
        target=space,
        source=space,
        groups=dpm.StateSpace(["am", "pm"]),
        starts=True,
        lengths=dpm.StateSpace.range(1, 5),
    )
    counts = dpm.TransitionCounts(layout, np.full(layout.cells.n_cells, 400))
    grouped = dpm.release(counts, unit=dpm.Event(), budget=BUDGET)
    with pytest.raises(InputError, match=r"release\.of\('am'\)"):
        report_html(grouped)
    text = prose(report_html(grouped.of("pm")))
    assert "Table of where sequences start" in text
    assert "4 or more" in text


def test_a_seeded_release_is_stamped() -> None:
    counts = dpm.TransitionCounts(dpm.Layout.square(dpm.StateSpace([1, 2])), np.array([9, 9, 9, 9]))
    seeded = dpm.release(counts, unit=dpm.Event(), budget=BUDGET, seed=5)
    text = prose(report_html(seeded))
    assert text.count("NOT PRIVATE") >= 2
    assert "no odds hold for it" in text
    assert "guesses right" not in text


def test_files_are_written_whole_or_not_at_all(
    city: dpm.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = dpm.write_report(city, tmp_path / "deep" / "report.html")
    first = out.read_text(encoding="utf-8")
    with pytest.raises(ParameterError, match="exists; choose another file"):
        dpm.write_report(city, out)
    dpm.write_report(city, out, title="Another", overwrite=True)
    assert "<h1>Another</h1>" in out.read_text(encoding="utf-8")
    assert "<h1>Another</h1>" not in first
    with pytest.raises(ParameterError, match="is a directory"):
        dpm.write_report(city, tmp_path)
    monkeypatch.setattr(Path, "replace", lambda self, target: (_ for _ in ()).throw(OSError(28, "No space")))
    with pytest.raises(EngineError, match="could not be written"):
        dpm.write_report(city, tmp_path / "deep" / "new.html")
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["report.html"]


def test_command_line(city: dpm.Release, tmp_path: Path, places: dict[str, object]) -> None:
    city.save(tmp_path / "release")
    geojson = tmp_path / "zones.geojson"
    geojson.write_text(json.dumps(places), encoding="utf-8")
    out = tmp_path / "report.html"
    arguments = ["report", str(tmp_path / "release"), "--out", str(out), "--title", "Our city"]
    result = CliRunner().invoke(cli, [*arguments, "--map", f"{geojson}:zone"], standalone_mode=False)
    assert result.exception is None
    assert "report.html is written" in result.output
    page = out.read_text(encoding="utf-8")
    assert "<h1>Our city</h1>" in page
    assert 'id="plot-map"' in page
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert isinstance(result.exception, ParameterError)
    result = CliRunner().invoke(cli, [*arguments, "--group", "am", "--overwrite"], standalone_mode=False)
    assert isinstance(result.exception, ParameterError)
    assert "has no groups" in str(result.exception)


def test_a_group_on_the_command_line(tmp_path: Path) -> None:
    space = dpm.StateSpace(["a", "b"])
    layout = dpm.Layout(target=space, source=space, groups=dpm.StateSpace([7, 8]))
    counts = dpm.TransitionCounts(layout, np.full(8, 400))
    dpm.release(counts, unit=dpm.Event(), budget=BUDGET).save(tmp_path / "release")
    arguments = ["report", str(tmp_path / "release"), "--out", str(tmp_path / "report.html"), "--group", "8"]
    result = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert result.exception is None


def test_a_declared_end_leaves_no_long_run(noisy: dpm.Release) -> None:
    """The row out of the end is noise: no shares, no speed, no flows are read off it."""
    end = noisy.layout.target.states[3]
    bounded = {"kind": "sequences", "start": noisy.layout.target.states[0], "end": end, "max_events": 10}
    release = replace(noisy, counting=bounded)
    page = report_html(release)
    text = " ".join(prose(page).split())
    label = noisy.layout.target.labels[3]
    assert f"There is no long run: sequences end in {label}, the declared end" in text
    assert f"Leave out the row of {label}:" in text
    assert "Table of where sequences start" in text
    assert "most frequent state" not in text
    assert "How fast it forgets" not in text
    assert "At most 10 events of a user were kept" in text
    assert "about the chain of the events that were kept (at most 10 of a user)" in text
    assert "that the data have" not in text
    flows = strongest_flows(release, 900)
    assert all(share == 0 for i, _, _, share in flows if i == 3)
    assert sum(share for *_, share in flows) == pytest.approx(1)


def test_what_the_bars_are_about_stands_under_them(noisy: dpm.Release) -> None:
    text = " ".join(prose(report_html(replace(noisy, counting={"max_events": 10}))).split())
    assert "intervals for privacy's noise alone: about the chain of the events that were kept" in text
    assert "most frequent state" in text


def test_lopsided_shares_show_their_ends() -> None:
    counts = dpm.TransitionCounts.from_matrix(
        [[4, 30, 0]], layout=dpm.Layout(target=dpm.StateSpace(["a", "b", "c"]))
    )
    for seed in range(5):
        release = dpm.release(
            counts,
            unit=dpm.Event(),
            budget=dpm.Budget(epsilon=0.01, delta=1e-6),
            mechanism="laplace",
            seed=seed,
        )
        shown = [in_percent(share_intervals(release), i) for i in range(3)]
        assert any(" to " in text for text in shown), shown
        for text in shown:
            if "±" in text:
                value, half = text.removesuffix("\u00a0%").split(" ± ")
                assert float(half) <= float(value), shown
        assert "not reliable" in prose(report_html(release))


def test_a_distribution_with_a_support_names_the_right_states() -> None:
    layout = dpm.Layout(
        target=dpm.StateSpace(["never", "often", "seldom"]),
        support=dpm.Support(np.array([0, 2]), np.array([1, 2]), 3),
    )
    release = dpm.privatize_vector(
        [0, 0.9, 0.1], unit=dpm.Entry(b=0.1), budget=dpm.Budget(epsilon=9, delta=1e-2), layout=layout
    )
    look = look_at(release)
    assert look.shares is not None
    assert look.labels[int(look.largest(1)[0])] == "often"
    assert "The most frequent state is often" in prose(report_html(release))
