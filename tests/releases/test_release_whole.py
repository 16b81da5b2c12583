"""Whatever is written is written whole or not at all, and over nothing by accident."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dpmarkov as dpm
from dpmarkov import export
from dpmarkov.errors import EngineError, ParameterError
from dpmarkov.pufferfish import GapChains, NoisyStatistic

STATES = dpm.StateSpace(["a", "b"])
RELEASE = dpm.release(
    dpm.TransitionCounts.from_matrix([[50, 30], [20, 40]], layout=dpm.Layout.square(STATES)),
    unit=dpm.Event(),
    budget=dpm.Budget(epsilon=1),
)
THETA = GapChains(states=STATES, least_probability=0.3, eigengap=0.5, reversible=True)
STATISTIC = NoisyStatistic.made(np.array([1.5]), RELEASE.guarantee, {"noise": "laplace", "scale": 1.0}, None)
WRITERS: dict[str, Callable[[Path, bool], object]] = {
    "report.html": lambda path, over: dpm.write_report(RELEASE, path, overwrite=over),
    "chain.csv": lambda path, over: export.write_csv(RELEASE, path, overwrite=over),
    "chain.graphml": lambda path, over: export.write_graphml(RELEASE, path, overwrite=over),
    "log.csv": lambda path, over: export.write_synthetic(RELEASE, path, users=3, length=2, overwrite=over),
    "model.sta": lambda path, over: export.write_prism(RELEASE, path.with_suffix(""), overwrite=over),
}
OTHERS: dict[str, Callable[[Path, bool], object]] = {
    "theta.json": lambda path, _: THETA.save(path),
    "statistic.json": lambda path, _: STATISTIC.save(path),
}


def full_disk(_: int) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("name", [*WRITERS, *OTHERS])
def test_a_disk_that_fills_up_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The bytes are brought to the disk before the name is given to them."""
    path, write = tmp_path / name, (WRITERS | OTHERS)[name]
    if name != "statistic.json":
        path.write_text("what was there")
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(EngineError, match="could not be written: No space left on device"):
        write(path, True)
    assert sorted(tmp_path.iterdir()) == before
    assert all(file.read_text() == "what was there" for file in before)
    monkeypatch.undo()
    write(path, True)
    assert len(path.read_bytes()) > len("what was there")


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_there_is_replaced_on_request_alone(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("mine")
    with pytest.raises(
        ParameterError, match=r"exists; choose another file or replace it \(--overwrite; in P"
    ):
        WRITERS[name](path, False)
    assert path.read_text() == "mine"
    WRITERS[name](path, True)
    assert path.read_text() != "mine"


@pytest.mark.parametrize("name", ["report.html", "chain.csv"])
def test_an_output_without_a_name_is_refused_in_words(name: str) -> None:
    writers = {"report.html": dpm.write_report, "chain.csv": export.write_csv}
    with pytest.raises(ParameterError, match="an empty text; name a file"):
        writers[name](RELEASE, "")
