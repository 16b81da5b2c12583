"""What the guarantee means in odds, wherever the command line speaks of a guarantee."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpmarkov.pufferfish import GapChains
from dpmarkov.states import StateSpace

Run = Callable[..., Any]
PAIRS = ("--from", "a", "--to", "b", "--states", "x,y,z", "--epsilon")


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    path = tmp_path / "trips.csv"
    path.write_text("a,b\n" + "x,y\ny,z\nz,x\n" * 300)
    return path


def test_a_release_says_its_odds_and_show_prints_their_table(run: Run, trips: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sentence = (
        "Somebody who is 50% sure whether one event is in the data guesses right at most 73.11% of the time"
    )
    lines = run("release", trips, *PAIRS, 1, "--mechanism", "laplace", "--out", out).out.splitlines()
    assert lines[1].startswith("Guarantee: ")
    assert lines[2].startswith(f"In odds: {sentence}")
    shown = run("show", out).out
    assert sentence in " ".join(shown.split())
    table = shown.split("In odds")[1].split("\n\n")[0]
    assert "belief before" in table
    assert [line.split()[0] for line in table.splitlines() if "%" in line][2:] == [
        "1%",
        "10%",
        "50%",
        "90%",
        "99%",
    ]
    assert all(len(line) <= 100 for line in shown.split("\n\nMechanism")[0].splitlines())
    assert shown.index("How strongly") < shown.index("In odds") < shown.index("Mechanism")


def test_a_dry_run_has_the_odds_of_the_release(run: Run, trips: Path, tmp_path: Path) -> None:
    call = ("release", trips, *PAIRS, 1, "--mechanism", "gaussian")
    dry = json.loads(run(*call, "--dry-run", "--json").out)["odds"]
    made = json.loads(run(*call, "--out", tmp_path / "out", "--json").out)["odds"]
    shown = json.loads(run("show", tmp_path / "out", "--json").out)["odds"]
    assert dry == made == shown
    assert [row["prior"] for row in dry["rows"]] == [0.01, 0.1, 0.5, 0.9, 0.99]
    assert dry["question"] == "whether one event is in the data"
    text = run(*call, "--dry-run").out
    assert "\nIn odds     Somebody who is 50% sure whether one event is in the data guesses" in text
    assert "\nUnit        event: one event is added or removed (relation: add_remove)\n" in text


def test_the_odds_of_a_dry_run_cover_what_was_spent_before(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("u,t,s\n" + "".join(f"{i % 40},{i},{'xyz'[i * i % 3]}\n" for i in range(900)))
    call = ("--user", "u", "--time", "t", "--state", "s", "--states", "x,y,z", "--epsilon")
    charge = tmp_path / "charge.json"
    assert run("bounds", log, *call, 0.3, "--out", charge).code == 0
    spend = ("release", log, *call, 1, "--unit", "user", "--bounds", charge, "--max-events", 5)
    dry = json.loads(run(*spend, "--dry-run", "--json").out)["odds"]
    made = json.loads(run(*spend, "--out", tmp_path / "out", "--json").out)["odds"]
    assert dry == made
    assert 0.6 < dry["rows"][2]["guess_after"] <= np.e / (1 + np.e) + 1e-3


def test_a_seed_leaves_no_odds(run: Run, trips: Path, tmp_path: Path) -> None:
    call = ("release", trips, *PAIRS, 1, "--seed", 3)
    text = run(*call, "--out", tmp_path / "out").out + run("show", tmp_path / "out").out
    text += run(*call, "--dry-run").out
    assert "In odds" not in text
    assert "Somebody" not in text
    for command in (
        ("show", tmp_path / "out", "--json"),
        (*call, "--dry-run", "--json"),
        (*call, "--json", "--out", tmp_path / "json"),
    ):
        assert json.loads(run(*command).out)["odds"] is None


def test_time_points_and_private_matrices_have_odds_too(run: Run, tmp_path: Path) -> None:
    person, matrix = tmp_path / "person.csv", tmp_path / "matrix.csv"
    person.write_text("t,s\n" + "".join(f"{t},{'xy'[t * t % 3 % 2]}\n" for t in range(200)))
    matrix.write_text("from,to,probability\nx,x,.5\nx,y,.5\ny,y,1\n")
    states = StateSpace(["x", "y"])
    theta = GapChains(states=states, least_probability=0.3, eigengap=0.5, reversible=True)
    declared = theta.save(tmp_path / "theta.json")
    point = ("--time", "t", "--state", "s", "--unit", "timepoint", "--theta", declared)
    for name, call in (
        ("timepoint", ("release", person, *point)),
        ("entry", ("privatize", matrix, "--states", "x,y", "--b", 0.05)),
    ):
        out = tmp_path / name
        result = run(*call, "--epsilon", 2, "--out", out)
        assert result.code == 0, result.err
        assert "In odds: Somebody who is 50% sure which of two possible values" in result.out
        assert f"one {name}" in result.out
        assert "belief before" in run("show", out).out
        rows = json.loads(run("show", out, "--json").out)["odds"]["rows"]
        assert 0.5 < rows[2]["guess_after"] < 0.9
    dry = ("release", person, *point, "--epsilon", 2, "--dry-run", "--length", 200)
    released = json.loads(run("show", tmp_path / "timepoint", "--json").out)["odds"]
    assert json.loads(run(*dry, "--json").out)["odds"] == released
    assert "which of two possible values one timepoint has" in run(*dry).out


def test_a_large_epsilon_is_warned_of_once(run: Run, trips: Path, tmp_path: Path) -> None:
    for epsilon, factor in ((8, "2,981-fold"), (50, "10^22-fold: in practice no protection")):
        out = tmp_path / str(epsilon)
        run("release", trips, *PAIRS, epsilon, "--out", out)
        shown = " ".join(run("show", out).out.split())
        assert shown.count("is large") == 1
        assert factor in shown
        assert "up to 5 common. In odds" in shown
        assert "5,184,705" not in shown
