"""`dpmarkov release --unit timepoint` and `dpmarkov theta` as a user meets them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpmarkov as dpm
from dpmarkov.pufferfish import FiniteChains, GapChains, Model, load_theta
from dpmarkov.states import StateSpace

Run = Callable[..., Any]
MATRIX = [[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
STATES = StateSpace(["deep", "light", "wake"])


def table(path: Path, people: int, length: int = 300, seed: int = 0) -> Path:
    rng = np.random.default_rng(seed)
    lines = ["who,epoch,stage"]
    for who in range(people):
        x = 0
        for t in range(length):
            lines.append(f"p{who},{t},{STATES.states[x]}")
            x = int(rng.choice(3, p=MATRIX[x]))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def person(tmp_path: Path) -> Path:
    return table(tmp_path / "person.csv", 1)


@pytest.fixture
def theta(tmp_path: Path) -> Path:
    made = FiniteChains(states=STATES, models=(Model(MATRIX),))
    return made.save(tmp_path / "theta.json")


def base(person: Path, theta: Path) -> tuple[object, ...]:
    return ("release", person, "--time", "epoch", "--state", "stage", "--unit", "timepoint", "--theta", theta)


def test_a_chain_of_one_person(run: Run, person: Path, theta: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(*base(person, theta), "--epsilon", "1", "--out", out)
    assert result.code == 0, result.err
    assert "(1, 0)-Pufferfish privacy for one timepoint" in result.out
    made = dpm.load(out)
    assert made.layout.is_chain
    assert made.mechanism["length"] == 300
    shown = run("show", out)
    assert "declared without looking at these" in " ".join(shown.out.split())
    assert json.loads(run("show", out, "--json").out)["unit"]["name"] == "timepoint"


def test_a_histogram_of_several_people(run: Run, theta: Path, tmp_path: Path) -> None:
    people = table(tmp_path / "people.csv", 4)
    out = tmp_path / "out"
    arguments = (*base(people, theta), "--user", "who", "--epsilon", "1", "--out", out)
    result = run(*arguments, "--statistic", "histogram", "--states", "deep,light,wake", "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["mechanism"]["statistic"] == "histogram of states"
    assert dpm.load(out).layout.source is None


def test_a_dry_run_reads_nothing(run: Run, theta: Path, tmp_path: Path) -> None:
    result = run(*base(tmp_path / "absent.csv", theta), "--epsilon", "1", "--dry-run", "--length", "1000")
    assert result.code == 0, result.err
    assert "group privacy 1998" in result.out
    assert "does not protect" in result.out
    low = run(*base(tmp_path / "absent.csv", theta), "--epsilon", "0.001", "--dry-run", "--length", "10")
    assert "this is group privacy" in low.out
    assert run(*base(tmp_path / "absent.csv", theta), "--epsilon", "1", "--dry-run").code == 2


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (("--relation", "replace"), "--relation does not go with"),
        (("--from", "a"), "--from does not go with"),
        (("--gap", "30m"), "--gap does not go with"),
        (("--bounds", "charge.json"), "--bounds does not go with"),
        (("--discover-states", "0.5"), "--discover-states does not go with"),
        (("--delta", "1e-6"), "--delta does not go with"),
        (("--other", "other"), "--other does not go with"),
        (("--mechanism", "dirichlet"), "leave out --mechanism"),
        (("--collapse",), "--collapse and --unknown do not go"),
        (("--states", "light,deep,wake"), "same states in one order"),
        (("--length", "5"), "--length goes with --dry-run"),
        (("--secret-times", "9..3"), "is written A..B"),
        (("--user", "nobody"), "no column 'nobody'"),
    ],
)
def test_what_does_not_fit_is_refused(
    run: Run, person: Path, theta: Path, tmp_path: Path, extra: tuple[str, ...], message: str
) -> None:
    result = run(*base(person, theta), "--epsilon", "1", "--out", tmp_path / "out", *extra)
    assert result.code == 2
    assert message in result.err
    assert not (tmp_path / "out").exists()


def test_theta_goes_with_time_points(run: Run, person: Path, theta: Path, tmp_path: Path) -> None:
    arguments = ("--time", "epoch", "--state", "stage", "--user", "who", "--states", "deep,light,wake")
    result = run(
        "release",
        person,
        *arguments,
        "--unit",
        "visit",
        "--theta",
        theta,
        "--epsilon",
        "1",
        "--out",
        tmp_path / "o",
    )
    assert result.code == 2
    assert "--theta goes with --unit timepoint" in result.err
    missing = run("release", person, "--unit", "timepoint", "--epsilon", "1", "--out", tmp_path / "o")
    assert missing.code == 2
    assert "--theta is missing" in missing.err


def test_secret_times_need_less_noise(run: Run, person: Path, theta: Path, tmp_path: Path) -> None:
    scales = []
    for name, extra in (("all", ()), ("first", ("--secret-times", "1..1"))):
        run(*base(person, theta), "--epsilon", "1", "--out", tmp_path / name, *extra)
        scales.append(dpm.load(tmp_path / name).mechanism["scale"])
    assert scales[1] < scales[0]


COHORT = ("--user", "who", "--time", "epoch", "--state", "stage", "--states", "deep,light,wake")


def test_a_class_from_a_cohort(run: Run, tmp_path: Path) -> None:
    people = table(tmp_path / "cohort.csv", 5, seed=1)
    out = tmp_path / "class.json"
    refused = run("theta", "estimate", people, *COHORT, "--margin", "0.2", "--out", out)
    assert refused.code == 2
    assert "--cohort-is-public" in refused.err
    assert not out.exists()
    result = run("theta", "estimate", people, *COHORT, "--margin", "0.2", "--cohort-is-public", "--out", out)
    assert result.code == 0, result.err
    made = load_theta(out)
    assert isinstance(made, FiniteChains)
    shown = run("theta", "show", out)
    assert made.in_words in shown.out
    assert "public cohort of 5 people" in shown.out
    again = run("theta", "estimate", people, *COHORT, "--margin", "0.2", "--cohort-is-public", "--out", out)
    assert again.code == 2
    paid = run(
        "theta", "estimate", people, *COHORT, "--margin", "0.2", "--epsilon", "2", "--transitions-per-person",
        "100", "--kind", "gap", "--not-reversible", "--out", tmp_path / "paid.json",
    )  # fmt: skip
    assert paid.code == 0, paid.err
    assert isinstance(load_theta(tmp_path / "paid.json"), GapChains)
    assert "5 people" not in paid.out


def test_no_error_depends_on_one_person_of_a_private_cohort(run: Run, tmp_path: Path) -> None:
    """A time that occurs twice, or between two steps, would tell that its person is in the cohort."""
    cohort = table(tmp_path / "cohort.csv", 3)
    lines = [*cohort.read_text().splitlines(), "p1,7,deep", "p2,99999999999999,light"]
    cohort.write_text("\n".join(lines) + "\n")
    columns = ("--user", "who", "--time", "epoch", "--state", "stage", "--states", "deep,light,wake")
    made = ("theta", "estimate", cohort, *columns, "--margin", "0.1", "--out", tmp_path / "theta.json")
    refused = run(*made, "--cohort-is-public")
    assert refused.code == 2
    assert "time" in refused.err
    private = run(*made, "--epsilon", "1", "--transitions-per-person", "50")
    assert private.code == 0, private.err
    assert load_theta(tmp_path / "theta.json").kind == "finite"
    cohort.write_text(lines[0] + "\n")
    nobody = run(*made[:-1], tmp_path / "nobody.json", "--epsilon", "1", "--transitions-per-person", "50")
    assert nobody.code == 0, nobody.err
