"""`dpmarkov release`, `show` and `demo` as a user meets them."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpmarkov as dpm
from dpmarkov.cli import main

Run = Callable[..., Any]
BASE = ("--from", "a", "--to", "b", "--states", "x,y,z", "--epsilon", "1")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "trips.csv"
    rows = ["x,y"] * 500 + ["y,z"] * 300 + ["z,x"] * 200 + [",x", "x,q", "bad"]
    path.write_text("a,b\n" + "\n".join(rows) + "\n")
    return path


def test_release_and_show(run: Run, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    result = run("release", table, *BASE, "--unit", "event", "--delta", "1e-6", "--out", out)
    assert result.code == 0, result.err
    assert "relation: add_remove" in result.out
    assert f"Saved to {out}" in result.out
    assert "(1, 0)-differential privacy for one event" in result.out
    shown = run("show", out)
    assert shown.code == 0
    assert "Stationary distribution" in shown.out
    assert "Ergodic" in shown.out
    data = json.loads(run("show", out, "--json").out)
    assert data["epsilon"] == 1
    assert data["delta"] <= 1e-6
    assert set(data["stationary_distribution"]) == {"x", "y", "z"}


def test_json_of_a_release_is_json_alone(run: Run, table: Path, tmp_path: Path) -> None:
    result = run("release", table, *BASE, "--out", tmp_path / "r", "--json")
    assert json.loads(result.out)["out"].endswith("r")


def test_every_unit_writes_its_relation(run: Run, table: Path, tmp_path: Path) -> None:
    words = {
        ("event",): "one event is added or removed (relation: add_remove)",
        ("event", "--relation", "replace"): "one event is replaced by any other (relation: replace)",
        ("destination",): "any other destination",
    }
    for i, (unit, text) in enumerate(words.items()):
        out = tmp_path / str(i)
        assert text in run("release", table, *BASE, "--unit", *unit, "--out", out).out
        assert text in json.loads((out / "release.json").read_text())["guarantee"]["relation"]
        assert text in run("show", out).out


def test_a_column_of_grades(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "grades.csv.gz"
    with gzip.open(path, "wt") as handle:
        handle.write("grade\n" + "A\n" * 40 + "B\n" * 30 + "F\n" * 5)
    out = tmp_path / "grades"
    result = run(
        "release", path, "--column", "grade", "--states", "A,B,C,D,F", "--epsilon", "1", "--out", out
    )
    assert result.code == 0, result.err
    assert "Private distribution" in result.out
    assert dpm.load(out).transition_matrix.shape == (1, 5)


def test_rectangle_support_and_counts(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "d.csv"
    data.write_text("s,t,n\nu,1,50\nv,2,70\nv,1,9\nv,2,-5\nv,2,1.5\nv,2,many\n")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("from,to\nu,1\nu,2\nv,2\nv,3\n")
    out = tmp_path / "out"
    result = run(
        *("release", data, "--from", "s", "--to", "t", "--count", "n"),
        *("--from-states", "u,v", "--states", "1..3", "--support", pairs, "--epsilon", "2", "--out", out),
    )
    assert result.code == 0, result.err
    matrix = dpm.load(out).transition_matrix
    assert matrix.shape == (2, 3)
    assert matrix[0, 2] == 0
    assert matrix[1, 0] == 0
    assert np.count_nonzero(matrix) == 4


def test_states_of_another_release(run: Run, table: Path, tmp_path: Path) -> None:
    run("release", table, *BASE, "--out", tmp_path / "one")
    result = run(
        *("release", table, "--from", "a", "--to", "b", "--states", tmp_path / "one"),
        *("--epsilon", "1", "--out", tmp_path / "two"),
    )
    assert result.code == 0, result.err
    assert dpm.load(tmp_path / "two").layout == dpm.load(tmp_path / "one").layout


def test_dry_run_reads_nothing(run: Run, tmp_path: Path) -> None:
    result = run("release", tmp_path / "absent.csv", *BASE, "--dry-run", "--expected-events", "123456")
    assert result.code == 0, result.err
    assert "Nothing was read" in result.out
    assert "100,000 declared events" in result.out
    data = json.loads(run("release", "absent.csv", *BASE, "--dry-run", "--json").out)
    assert data["mechanism"]["name"] in data["reason"]
    assert data["mechanism"]["scale"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--epsilon", "0"), "epsilon must be a finite number > 0; got 0"),
        (("--epsilon", "-1"), "epsilon must be a finite number > 0; got -1"),
        (("--epsilon", "nan"), "epsilon must be a finite number > 0"),
        (("--epsilon", "inf"), "epsilon must be a finite number > 0"),
        (("--epsilon", "one"), "not a valid float"),
        (("--delta", "-0.1"), "0 <= delta < 1"),
        (("--delta", "1"), "0 <= delta < 1"),
        (("--delta", "0", "--form", "floor"), "pure"),
        (("--states", "x"), "no file, release or list"),
        (("--states", "x,x,y"), "more than once: 'x'"),
        (("--states", "nope.csv:a"), "no such file"),
        (("--states", "5..5"), "at least two states"),
        (("--other", "rest"), "--other goes with --discover-states"),
        (("--from", "nope"), "no column 'nope'; it has a, b"),
        (("--relation", "sideways"), "--relation must be add_remove or replace"),
        (("--unit", "galaxy"), "--unit must be one of"),
        (("--unit", "destination", "--relation", "replace"), "--relation goes with --unit event"),
        (("--unknown", "maybe"), "drop"),
        (("--unknown", "state:w"), "names a state that is not declared"),
        (("--floor", "1", "--prior", "1"), "give one of them"),
        (("--floor", "1", "--form", "prior"), "--floor goes with --form floor"),
        (("--column", "a"), "--from and --to for a chain, or --column"),
    ],
)
def test_bad_input_is_refused_and_nothing_written(
    run: Run, table: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    out = tmp_path / "out"
    result = run("release", table, *BASE, "--out", out, *arguments)
    assert result.code == 2
    assert message in result.err
    assert result.out == ""
    assert not out.exists()


def test_the_sensitive_table_is_no_state_list(run: Run, table: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(table)
    for path in (table, link):
        result = run(
            *("release", table, "--from", "a", "--to", "b", "--states", f"{path}:a"),
            *("--epsilon", "1", "--out", tmp_path / "out"),
        )
        assert result.code == 2
        assert "is the sensitive table itself" in result.err


def test_missing_pieces_are_named(run: Run, table: Path, tmp_path: Path) -> None:
    assert "--states is missing" in run("release", table, "--from", "a", "--to", "b", "--epsilon", "1").err
    assert "--epsilon is missing" in run("release", table, "--from", "a", "--to", "b", "--states", "x,y").err
    assert "--out is missing" in run("release", table, *BASE).err
    result = run("release", tmp_path / "absent.csv", *BASE, "--out", tmp_path / "out")
    assert (result.code, "absent.csv" in result.err) == (2, True)
    result = run("show", tmp_path)
    assert (result.code, "holds no release.json" in result.err) == (2, True)


def test_an_output_in_use_is_refused_before_the_data_are_read(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "x").write_text("1")
    result = run("release", tmp_path / "absent.csv", *BASE, "--out", out)
    assert result.code == 2
    assert "not empty" in result.err


def test_an_unreadable_table(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"this is no parquet; SECRET")
    result = run("release", path, *BASE, "--out", tmp_path / "out")
    assert result.code == 2
    assert "SECRET" not in result.err


def test_one_bad_record_does_not_decide_whether_a_release_happens(
    run: Run, table: Path, tmp_path: Path
) -> None:
    nasty = ['"', '"x', "x,y,z,w", "\x00,\x00", "é" * 1000, "x", ",", "nan,inf", "x\ty", "1e999,y"]
    for i, record in enumerate(nasty):
        path = tmp_path / f"n{i}.csv"
        path.write_text(table.read_text() + record + "\nx,y\n")
        result = run("release", path, *BASE, "--out", tmp_path / f"out{i}")
        assert result.code == 0, (record, result.err)


def test_a_large_epsilon_or_delta_is_warned_of_wherever_a_guarantee_is_printed(
    run: Run, table: Path, tmp_path: Path
) -> None:
    large = ("release", table, *BASE[:-1], "8")
    assert "Warning: epsilon = 8 is large" in run(*large, "--out", tmp_path / "out").out
    assert "Warning: epsilon = 8 is large" in run(*large, "--dry-run").out
    assert "epsilon = 8 is large" in run("show", tmp_path / "out").out
    json.loads(run(*large, "--out", tmp_path / "json", "--json").out)
    assert "Warning" not in run("release", table, *BASE, "--out", tmp_path / "one").out
    options = ("--mechanism", "gaussian", "--delta", ".99999", "--out", tmp_path / "delta")
    useless = run("release", table, *BASE, *options).out
    assert "(1, 0.99999)-differential privacy" in useless
    assert "Warning: delta = 0.99999 is large" in useless
    assert "delta = 0.99999 is large" in " ".join(run("show", tmp_path / "delta").out.split())


def test_an_enormous_epsilon_is_called_no_protection(run: Run, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("release", table, *BASE[:-1], "1000", "--mechanism", "dirichlet", "--delta", "0.5", "--out", out)
    shown = " ".join(run("show", out).out.split())
    assert "more than 10^435 times as likely" in shown
    assert "in practice no protection" in shown


def test_seeded_releases_say_so(run: Run, table: Path, tmp_path: Path) -> None:
    result = run("release", table, *BASE, "--out", tmp_path / "out", "--seed", "4")
    assert "SEEDED: NOT PRIVATE" in result.out
    assert "SEEDED: NOT PRIVATE" in run("show", tmp_path / "out").out


def test_demo_runs_the_commands_that_it_prints(run: Run, tmp_path: Path) -> None:
    result = run("demo", "--folder", tmp_path / "city")
    assert result.code == 0, result.err
    assert "$ dpmarkov release trips.parquet" in result.out
    assert "$ dpmarkov show release/" in result.out
    release = dpm.load(tmp_path / "city" / "release")
    assert release.transition_matrix.shape == (60, 60)
    assert release.guarantee.epsilon == 1
    again = run("demo", "--folder", tmp_path / "city")
    assert (again.code, "not an empty directory" in again.err) == (2, True)


def test_help_and_version_answer_without_the_heavy_imports() -> None:
    code = (
        "import sys\nfrom dpmarkov.cli import cli\n"
        "cli.main(sys.argv[1:], standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'duckdb', 'pyarrow', 'flint', 'opendp', 'plotly'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)\n"
    )
    for flag in ("--help", "--version"):
        done = subprocess.run([sys.executable, "-c", code, flag], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert "release" in run_help()


def run_help() -> str:
    command = [sys.executable, "-m", "dpmarkov", "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_row_totals_are_bought_with_a_share(run: Run, table: Path, tmp_path: Path) -> None:
    options = ("release", table, *BASE, "--mechanism", "dirichlet", "--totals-share", "0.1")
    dry = run(*options, "--dry-run")
    assert dry.code == 0, dry.err
    assert "totals_scale 10" in dry.out
    assert run(*options, "--out", tmp_path / "out").code == 0
    totals = json.loads(run("show", tmp_path / "out", "--json").out)["row_totals"]
    # |noise| > 250 has probability e^-25.
    assert max(abs(a - b) for a, b in zip(totals, (500, 300, 200), strict=True)) <= 250
    refused = run(*options[:-4], "--mechanism", "laplace", "--totals-share", "0.1", "--dry-run")
    assert refused.code == 2
    assert "reveals every count" in refused.err


def test_rows_by_another_post_processing(run: Run, table: Path, tmp_path: Path) -> None:
    made = run("release", table, *BASE, "--postprocess", "clip", "--out", tmp_path / "out")
    assert made.code == 0, made.err
    assert "clip" in json.loads(run("show", tmp_path / "out", "--json").out)["mechanism"]["postprocessing"]
    assert run("release", table, *BASE, "--postprocess", "project", "--dry-run").code == 0
    refused = run("release", table, *BASE, "--floor", "5", "--postprocess", "project", "--dry-run")
    assert refused.code == 2
    assert "has none" in refused.err


def test_a_bug_prints_neither_data_nor_a_traceback(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("the secret of one person")

    monkeypatch.setattr(dpm, "release", broken)
    monkeypatch.setattr(sys, "argv", ["dpmarkov", "release", str(table), *BASE, "--out", str(tmp_path / "r")])
    with pytest.raises(SystemExit) as stop:
        main()
    printed = capsys.readouterr()
    assert stop.value.code == 1
    assert "an unexpected KeyError in test_cli_release.py" in printed.err
    assert "a bug of dpmarkov" in printed.err
    assert "secret" not in printed.err + printed.out
    assert not (tmp_path / "r").exists()
