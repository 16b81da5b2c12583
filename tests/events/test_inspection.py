"""The operator's look: exact figures, marked as sensitive."""

import gzip

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


def test_lines_that_could_not_be_read(tmp_path):
    for name, write in (("log.csv", open), ("log.csv.gz", gzip.open)):
        with write(tmp_path / name, "wb") as file:
            file.write("u;a;b\n\nx;a;b\n1;é;b\n2;a\n3;a;b;c\n\n4;b;a".encode("latin-1"))
        options = {"source": "a", "target": "b", "states": ["a", "b"], "delimiter": ";"}
        look = check(tmp_path / name, **options)
        assert look.figures["rows read"] == 2
        assert look.figures["lines that could not be read"] == 3
    assert "lines that could not be read" not in check(LOG, column="s", states=["a", "b"]).figures


def test_events_that_the_support_rules_out():
    table = pd.DataFrame({"u": [1, 1, 2, 2], "a": list("aabb"), "b": list("abab"), "n": [1, 2, 3, 4]})
    options = {"source": "a", "target": "b", "states": ["a", "b"]}
    pairs = [("a", "a"), ("b", "b"), ("b", "a")]
    name = "events in pairs that the support does not allow"
    for more, found in (
        ({}, 1),
        ({"count": "n"}, 2),
        ({"user": "u", "max_events": 1}, 1),
        ({"user": "u", "max_events": 1, "count": "n"}, 2),
    ):
        assert check(table, **options, **more, support=pairs).figures[name] == found
    assert name not in check(table, **options).figures
    log = {"user": "u", "time": "n", "state": "b", "states": ["a", "b"], "support": [("a", "a"), ("b", "b")]}
    assert check(table, **log).figures[name] == 2


def test_command_line(tmp_path):
    from click.testing import CliRunner

    LOG.to_csv(tmp_path / "log.csv", index=False)
    arguments = ["check", str(tmp_path / "log.csv"), "--user", "u", "--time", "t", "--state", "s"]
    result = CliRunner().invoke(cli, [*arguments, "--states", "a,b", "--max-events", "2"])
    assert result.exit_code == 0, result.output
    assert "exact, sensitive" in result.output
    assert "users with more than 2 events" in result.output
    assert CliRunner().invoke(cli, [*arguments, "--states", "a,b", "--json"]).exit_code != 0
