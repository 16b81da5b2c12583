"""The operator's look: exact figures, marked as sensitive."""

import pandas as pd

from dpmarkov.cli import cli
from dpmarkov.events import check

LOG = pd.DataFrame(
    {
        "u": ["x", "x", "x", "y", None, "y", "y", "x"],
        "t": ["1", "3", "2", "1", "1", "soon", "1", "9"],
        "s": ["a", "b", "?", "a", "a", "b", None, "a"],
    }
)


def test_figures_of_sequences():
    look = check(LOG, user="u", time="t", state="s", states=["a", "b"], max_events=2)
    assert look.figures == {
        "rows read": 8,
        "state missing": 1,
        "state not declared": 1,
        "user missing": 1,
        "time missing or unreadable": 1,
        "rows out of time order": 1,
        "rows at a time of the same user's": 1,
        "users with events": 2,
        "events in declared cells": 4,
        "users with more than 2 events": 1,
        "events that the bound of 2 leaves out": 1,
    }
    assert look.describe().count("exact, sensitive") == 2


def test_figures_of_pairs():
    table = pd.DataFrame({"a": ["a", None, "?"], "b": ["b", "b", "b"], "n": [1, -1, 2]})
    look = check(table, source="a", target="b", count="n", states=["a", "b"])
    assert list(look.figures.values()) == [3, 1, 1, 0, 0, 1]


def test_command_line(tmp_path):
    from click.testing import CliRunner

    LOG.to_csv(tmp_path / "log.csv", index=False)
    arguments = ["check", str(tmp_path / "log.csv"), "--user", "u", "--time", "t", "--state", "s"]
    result = CliRunner().invoke(cli, [*arguments, "--states", "a,b", "--max-events", "2"])
    assert result.exit_code == 0, result.output
    assert "exact, sensitive" in result.output
    assert "users with more than 2 events" in result.output
    assert CliRunner().invoke(cli, [*arguments, "--states", "a,b", "--json"]).exit_code != 0
