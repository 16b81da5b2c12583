"""What the command line says: in its own words, with the warnings and notes that are due."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpmarkov as dpm
from dpmarkov.cli.release import release

Run = Callable[..., Any]
PAIRS = ("--from", "a", "--to", "b", "--states", "x,y,z", "--epsilon")
SEQUENCES = ("--user", "u", "--time", "t", "--state", "s", "--states", "x,y,z", "--epsilon")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text("u,t,s\n" + "".join(f"{i % 40},{i},{'xyz'[i * i % 3]}\n" for i in range(900)))
    return path


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    path = tmp_path / "trips.csv"
    path.write_text("a,b\n" + "x,y\ny,z\nz,x\n" * 300)
    return path


@pytest.fixture
def grouped(tmp_path: Path) -> Path:
    layout = dpm.Layout(
        target=dpm.StateSpace("ab"[i] for i in (0, 1)),
        source=dpm.StateSpace(["a", "b"]),
        groups=dpm.StateSpace.range(0, 24),
    )
    counts = dpm.TransitionCounts(layout, np.full(96, 50))
    return dpm.release(counts, unit=dpm.Event(), budget=dpm.Budget(epsilon=1)).save(tmp_path / "grouped")


@pytest.mark.parametrize("group", [None, "28", "--5", "x"])
def test_groups_are_asked_for_by_their_option(
    run: Run, grouped: Path, tmp_path: Path, group: str | None
) -> None:
    named = () if group is None else (f"--group={group}",)
    for command in (
        ("simulate", grouped, "--users", 5, "--length", 3, "--out", tmp_path / "s.csv"),
        ("compare", grouped, grouped),
        ("export", grouped, "--to", "graphml", "--out", tmp_path / "s.graphml"),
        ("export", grouped, "--to", "csv", "--out", tmp_path / "s.csv"),
        ("report", grouped, "--out", tmp_path / "s.html"),
    ):
        result = run(*command, *named)
        assert result.code == 2
        problem = "--group is missing" if group is None else f"{group!r} is no group of this release"
        assert f"{problem}; there are 24 groups, each a chain of its own: 0, 1, 2" in result.err
    made = ("simulate", grouped, "--users", 5, "--length", 3, "--out", tmp_path / "s.csv", "--group", 23)
    assert run(*made).code == 0


@pytest.mark.parametrize("unit", ["event", "destination", "visit"])
def test_bounds_on_users_go_with_the_unit_user(run: Run, unit: str) -> None:
    for option in ("--max-events", "--max-per-pair"):
        for columns in (PAIRS, (*SEQUENCES[:2], *PAIRS)):
            result = run("release", "absent.csv", *columns, 1, "--unit", unit, option, 7, "--dry-run")
            assert result.code == 2
            assert f"{option} bounds what a user contributes and goes with --unit user" in result.err


def test_a_unit_that_does_not_fit_is_named_for_both_languages(run: Run) -> None:
    result = run("release", "absent.csv", *SEQUENCES, 1, "--unit", "event", "--dry-run")
    assert "Visit(), --unit visit" in result.err
    assert "--unit user --max-events M" in result.err
    result = run("release", "absent.csv", "--user", "u", *PAIRS, 1, "--unit", "visit", "--dry-run")
    assert "Event(), --unit event" in result.err


def test_an_output_in_use_names_the_option(run: Run, trips: Path, tmp_path: Path) -> None:
    (tmp_path / "trips.txt").write_text("mine")
    result = run("release", trips, *PAIRS, 1, "--out", tmp_path)
    assert "--overwrite" in result.err


def test_a_release_by_its_file(run: Run, trips: Path, tmp_path: Path) -> None:
    run("release", trips, *PAIRS, 1, "--out", tmp_path / "out")
    assert run("show", tmp_path / "out" / "release.json").out == run("show", tmp_path / "out").out
    assert f"{trips} is a file; give the directory" in run("show", trips).err
    assert f"there is no {tmp_path / 'absent'}; give" in run("show", tmp_path / "absent").err


def test_a_dry_run_shows_six_digits_and_its_json_all(run: Run) -> None:
    dry = ("release", "absent.csv", *PAIRS, 1000.5, "--mechanism", "gaussian", "--dry-run")
    settings = json.loads(run(*dry, "--json").out)["mechanism"]
    text = run(*dry).out
    assert f"scale {settings['scale']:.6g}," in text
    assert len(str(settings["scale"])) > 8
    assert str(settings["scale"]) not in text
    assert "Budget      epsilon = 1000.5, delta" in text
    assert "Warning: epsilon = 1000.5 is large" in text


def test_a_large_epsilon_is_warned_of_in_every_json(run: Run, trips: Path, log: Path, tmp_path: Path) -> None:
    dry = ("release", trips, *PAIRS, 8, "--json", "--dry-run")
    made = (*dry[:-1], "--out", tmp_path / "out")
    charge = tmp_path / "charge.json"
    bounds = ("bounds", log, *SEQUENCES, 8, "--out", charge, "--overwrite")
    compared = ("plan", "--states", 3, "--bounds", charge, "--epsilon", 9, "--json")
    for command in (dry, made, ("show", tmp_path / "out", "--json"), (*bounds, "--json"), compared):
        result = run(*command)
        assert result.code == 0, result.err
        assert "is large" in json.loads(result.out)["warning"]
    assert "Warning: epsilon = 8 is large" in run(*bounds).out
    assert dpm.Charge.load(charge).epsilon == 8
    assert json.loads(run("release", trips, *PAIRS, 1, "--json", "--dry-run").out)["warning"] is None


def test_a_release_of_nothing_but_noise_says_so(run: Run, trips: Path, tmp_path: Path) -> None:
    """It looks at released numbers alone: a false word comes once in 700 tables, and of 900 rows never."""
    empty = tmp_path / "empty.csv"
    empty.write_text("a,b\n")
    note = "the total of all counts does not stand out of the noise"
    fixed = ("--seed", 1, "--mechanism", "laplace")
    for i, (table, epsilon, expected) in enumerate(
        [(trips, 1, False), (empty, 1, True), (trips, 1e-4, True), (empty, 1000, True), (trips, 1000, False)]
    ):
        result = run("release", table, *PAIRS, epsilon, *fixed, "--out", tmp_path / str(i))
        assert result.code == 0, result.err
        assert (note in result.out) == expected
        result = run("release", table, *PAIRS, epsilon, *fixed, "--json", "--out", tmp_path / f"json{i}")
        assert len(json.loads(result.out)["notes"]) == expected
    misspelled = ("--from", "a", "--to", "b", "--states", "X,Y,Z", "--epsilon", 1)
    assert note in run("release", trips, *misspelled, *fixed, "--out", tmp_path / "misspelled").out


def test_asking_for_dirichlet_by_its_options_is_said_in_the_help(run: Run) -> None:
    text = " ".join(run("release", "--help").out.split())
    assert "Giving --form, --floor or --prior asks for that mechanism" in text
    assert "counts.parquet" in text


def test_privatize_speaks_of_its_options(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "matrix.csv"
    table.write_text("from,to,probability\nx,x,1\ny,y,1\nz,z,1\n")
    call = ("privatize", table, "--states", "x,y,z", "--epsilon", 1, "--b", 0.1, "--out", tmp_path / "out")
    for options, words in (
        (("--delta", 0), "ask for a delta > 0"),
        (("--among", "x,x"), "--among must name at least two different to-states"),
        (("--assumed",), "give eta (--eta)"),
        (("--assumed", "--eta", ".2", "--b", ".01"), "the way 'assumed' (--assumed)"),
    ):
        result = run(*call, *options)
        assert result.code == 2
        assert words in result.err
        assert "Laplace" not in result.err
        assert "way=" not in result.err


def test_bought_row_totals_tell_where_there_is_nothing_but_noise(
    run: Run, trips: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.csv"
    empty.write_text("a,b\n")
    note = "the total of all counts does not stand out of the noise"
    fixed = ("--seed", 1, "--mechanism", "dirichlet", "--totals-share", 0.1)
    for i, (table, epsilon, expected) in enumerate(
        [(trips, 1, False), (empty, 1, True), (trips, 1e-9, True)]
    ):
        result = run("release", table, *PAIRS, epsilon, *fixed, "--out", tmp_path / str(i))
        assert result.code == 0, result.err
        assert (note in result.out) == expected, (i, result.out)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--prior", "nan"), "--prior must be a number from 1e-6 to 1e9; got nan"),
        (("--floor", 1e-7), "--floor must be a number from 1e-6 to 1e9; got 1e-07"),
        (("--mechanism", "laplace", "--prior", 1), "go with --mechanism dirichlet; got --mechanism laplace"),
        (("--mechanism", "gaussian", "--form", "floor"), "--form, --floor and --prior go with --mechanism"),
        (("--mechanism", "laplace", "--totals-share", 0.1), "--totals-share goes with --mechanism dirichlet"),
        (("--totals-share", "nan"), "--totals-share must be a number > 0 and < 1, such as 0.1; got nan"),
        (("--mechanism", "dirichlet", "--postprocess", "clip"), "ask for --mechanism laplace or gaussian"),
        (("--prior", 1, "--postprocess", "clip"), "--postprocess says how rows follow from noisy counts"),
        (("--out", ""), "--out is missing"),
    ],
)
def test_options_are_refused_by_their_own_names(
    run: Run, tmp_path: Path, options: tuple[object, ...], words: str
) -> None:
    """Before anything is read: the table is not there."""
    result = run("release", "absent.csv", *PAIRS, 1, "--out", tmp_path / "out", *options)
    assert result.code == 2
    assert words in result.err
    assert "mechanism=" not in result.err


def test_the_help_groups_options_and_names_their_defaults(run: Run) -> None:
    text = " ".join(run("release", "--help").out.split())
    names = " ".join(option.opts[0] for option in release.params)
    assert "--delta --bounds --discover-states --other --theta" in names
    assert "--mechanism --form --floor --prior --totals-share --postprocess --expected-events" in names
    assert "rounded to one significant digit. 1,000 a row by default" in text
    assert text.count("1e-6 to 1e9") == 2


def test_outputs_are_named(run: Run, grouped: Path, tmp_path: Path) -> None:
    for command in (("export", grouped, "--to", "csv"), ("report", grouped)):
        assert "the output is an empty text; name a file" in run(*command, "--group", 1, "--out", "").err
        (tmp_path / "mine").write_text("mine")
        result = run(*command, "--group", 1, "--out", tmp_path / "mine")
        assert "choose another file or replace it (--overwrite; in Python overwrite=True)" in result.err
