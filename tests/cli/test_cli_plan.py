"""`dpmarkov plan`: nothing that is given is ignored, and whatever can be refused is, before loading."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpmarkov as dpm
from dpmarkov.pufferfish import FiniteChains, Model, StateSequence, release_chain

Run = Callable[..., Any]
STATES = dpm.StateSpace(["a", "b", "c"])


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    counts = dpm.TransitionCounts.from_matrix(np.full((3, 3), 90), layout=dpm.Layout.square(STATES))
    made = dpm.release(counts, unit=dpm.Event(relation="replace"), budget=dpm.Budget(epsilon=1))
    return made.save(tmp_path / "earlier")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--max-events", 10), "--max-events bounds what a user contributes and goes with --unit user"),
        (("--unit", "visit", "--max-per-pair", 10), "--max-per-pair bounds what a user contributes"),
        (("--unit", "timepoint"), "--unit timepoint --theta FILE --dry-run --length T"),
        (("--unit", "galaxy", "--max-events", 3), "--unit must be one of"),
        (("--bounds", "none.json", "--unit", "event"), "--bounds goes with users"),
    ],
)
def test_what_would_be_ignored_is_refused(run: Run, arguments: tuple[object, ...], message: str) -> None:
    result = run("plan", "--states", 20, "--epsilon", 1, *arguments)
    assert result.code == 2
    assert message in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--support", "none.csv"), "--support goes with --states"),
        (("--from-states", "4"), "--from-states goes with --states"),
        (("--single",), "--single goes with --states"),
        (("--max-events", 0), "--max-events goes with --unit"),
        (("--max-per-pair", 0), "--max-per-pair goes with --unit"),
        (("--relation", "replace"), "--relation goes with --unit"),
        (("--unit", "user"), "--unit user needs --max-events"),
        (("--unit", "user", "--max-events", 0), "max_events must be a whole number >= 1"),
        (("--delta", 2), "0 <= delta < 1"),
    ],
)
def test_what_does_not_go_with_an_earlier_release_is_refused_before_it_is_loaded(
    run: Run, tmp_path: Path, arguments: tuple[object, ...], message: str
) -> None:
    result = run("plan", "--like", tmp_path / "absent", "--epsilon", 1, *arguments)
    assert result.code == 2
    assert message in result.err


def test_the_unit_is_that_of_the_earlier_release_or_the_one_that_is_given(run: Run, earlier: Path) -> None:
    like = ("plan", "--like", earlier, "--epsilon", 9, "--json")
    data = json.loads(run(*like).out)
    assert data["unit"] == {"name": "event", "relation": "replace"}
    data = json.loads(run(*like, "--unit", "user", "--max-events", 2).out)
    assert data["unit"]["max_events"] == 2


def test_a_release_of_time_points_has_nothing_to_compare(run: Run, tmp_path: Path) -> None:
    theta = FiniteChains(states=STATES, models=(Model([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]),))
    made = release_chain(StateSequence(STATES, np.arange(120) % 3), theta=theta, epsilon=1.0, seed=1)
    folder = made.save(tmp_path / "points")
    result = run("plan", "--like", folder, "--epsilon", 1)
    assert result.code == 2
    assert "--unit timepoint --theta FILE --dry-run --length T" in result.err
    assert run("plan", "--like", folder, "--epsilon", 1, "--unit", "event").code == 0


def test_a_single_state_or_none(run: Run) -> None:
    assert "got 1. With a single state" in run("plan", "--states", 1, "--epsilon", 1).err
    assert "got 0\n" in run("plan", "--states", 0, "--epsilon", 1).err
    assert "the range 9..4 runs backwards; write 4..9" in run("plan", "--states", "9..4", "--epsilon", 1).err
