"""`dpmarkov privatize` as a user meets it."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import dpmarkov as dpm
from dpmarkov.cli import main

BUDGET = ("--epsilon", "1", "--delta", "1e-6", "--b", "0.02")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["dpmarkov", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.csv"
    path.write_text("from,to,probability\n0,go,0.7\n0,stay,0.3\n1,go,0.4\n1,stay,0.6\n2,stay,1\n")
    return path


def test_a_policy_with_a_known_zero(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    support = tmp_path / "allowed.csv"
    support.write_text("from,to\n0,go\n0,stay\n1,go\n1,stay\n2,stay\n")
    out = tmp_path / "out"
    code = run(
        monkeypatch,
        "privatize",
        policy,
        "--states",
        "go,stay",
        "--from-states",
        "0,1,2",
        "--support",
        support,
        *BUDGET,
        "--out",
        out,
        "--json",
    )
    assert code == 0
    assert json.loads(capsys.readouterr().out)["out"] == str(out)
    made = dpm.load(out)
    assert made.transition_matrix[2].tolist() == [0.0, 1.0]
    assert made.guarantee.unit == dpm.Entry(b=0.02)
    assert made.seed is None


def test_vectors_and_averages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    lines = ["vector,to,probability"]
    for who, p in enumerate(rng.dirichlet([5, 5, 5], 40)):
        lines += [f"{who},{name},{share!r}" for name, share in zip("abc", p.tolist(), strict=True)]
    table = tmp_path / "opinions.csv"
    table.write_text("\n".join(lines) + "\n")
    out = tmp_path / "mean"
    arguments = ("privatize", table, "--states", "a,b,c", "--kind", "average", *BUDGET, "--among", "a,b")
    assert run(monkeypatch, *arguments, "--out", out, "--seed", 1) == 0
    assert dpm.load(out).mechanism["averaged"] == 40
    one = tmp_path / "one.csv"
    one.write_text("to,probability\na,0.2\nb,0.3\nc,0.5\n")
    arguments = (
        "privatize",
        one,
        "--states",
        "a,b,c",
        "--kind",
        "vector",
        *BUDGET,
        "--assumed",
        "--eta",
        "0.15",
    )
    assert run(monkeypatch, *arguments, "--out", tmp_path / "v") == 0
    assert dpm.load(tmp_path / "v").mechanism["name"] == "dirichlet-assumed"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("from,to,p\n0,go,1\n", (), "probability"),
        ("from,to,probability\n0,secret,1\n", (), "not declared"),
        ("from,to,probability\n0,go,x\n", (), "not a number"),
        ("from,to,probability\n0,go,0.5\n0,go,0.5\n", (), "more than once"),
        ("from,to,probability\n0,go,0.5\n1,go,1\n2,go,1\n", (), "sum to one"),
        ("from,to,probability\n0,go,1\n1,go,1\n2,go,1\n", ("--among", "go,left"), "left"),
        ("from,to,probability\n0,go,1\n1,go,1\n2,go,1\n", ("--kind", "vector"), "--kind matrix"),
    ],
)
def test_bad_input_is_refused_without_quoting_the_table(
    text: str,
    options: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "out"
    table.write_text(text)
    arguments = (
        "privatize",
        table,
        "--states",
        "go,stay",
        "--from-states",
        "0,1,2",
        *BUDGET,
        "--out",
        out,
        *options,
    )
    assert run(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "secret" not in error
    assert not out.exists()
