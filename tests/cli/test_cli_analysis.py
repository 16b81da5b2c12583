"""simulate, compare and export, as a user runs them."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import dpmarkov as dpm
from dpmarkov.mechanisms.dirichlet import Dirichlet


@pytest.fixture
def releases(tmp_path):
    states = dpm.StateSpace(["a", "b", "c"])
    counts = dpm.TransitionCounts.from_matrix(
        np.array([[50, 200, 9], [300, 10, 40], [5, 5, 90]]), layout=dpm.Layout.square(states)
    )
    paths = []
    for seed in (1, 2):
        made = dpm.release(
            counts,
            unit=dpm.Event(),
            budget=dpm.Budget(epsilon=8, delta=1e-2),
            mechanism=Dirichlet(form="floor", weight=0.5, alpha=5.0),
            seed=seed,
        )
        paths.append(made.save(tmp_path / f"release{seed}"))
    return paths


def test_simulate_writes_a_data_set(run, releases, tmp_path):
    out = tmp_path / "synthetic.parquet"
    result = run("simulate", releases[0], "--users", 100, "--length", 20, "--out", out, "--seed", 3)
    assert result.code == 0
    assert "100 made-up sequences" in result.out
    assert pq.read_table(out).num_rows == 2000
    again = run("simulate", releases[0], "--users", 100, "--length", 20, "--out", out)
    assert again.code == 2
    assert "exists" in again.err
    assert run("simulate", releases[0], "--users", 100, "--out", tmp_path / "y.csv").code == 2
    assert run("simulate", releases[0], "--users", 5, "--length", 2, "--out", out, "--group", "x").code == 2


def test_compare_tells_noise_from_change(run, releases):
    result = run("compare", *releases, "--draws", 60)
    assert result.code == 0
    assert "noise alone" in result.out
    data = json.loads(run("compare", *releases, "--draws", 60, "--json").out)
    assert data["transitions_compared"] == 9
    assert run("compare", releases[0], releases[1], "--level", 2).code == 2


@pytest.mark.parametrize("kind", ["csv", "graphml", "prism", "storm"])
def test_export_writes_each_format(run, releases, tmp_path, kind):
    out = tmp_path / f"model.{kind}"
    result = run("export", releases[0], "--to", kind, "--out", out)
    assert result.code == 0
    written = result.out.removeprefix("Wrote ").strip().split(", ")
    assert len(written) == (3 if kind in ("prism", "storm") else 1)
    assert run("export", releases[0], "--to", kind, "--out", out).code == 2
    assert run("export", releases[0], "--to", kind, "--out", out, "--overwrite").code == 0


def test_more_than_memory_holds_is_refused_in_words(run, releases, tmp_path):
    for size in (("--users", 10**11, "--length", 5), ("--users", 5, "--length", 10**12)):
        result = run("simulate", releases[0], *size, "--out", tmp_path / "x.csv")
        assert result.code == 2
        assert "GiB of memory" in result.err
    result = run("compare", *releases, "--draws", 10**13)
    assert result.code == 1
    assert "more memory than there is" in result.err
