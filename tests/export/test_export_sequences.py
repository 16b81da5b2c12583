"""Made-up sequences with declared starts and ends, and what is no chain."""

import csv
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import dpmarkov as dpm
from dpmarkov import export
from dpmarkov.errors import ChainError, ParameterError
from dpmarkov.mechanisms.dirichlet import Dirichlet

STATES = dpm.StateSpace(["home page", "shop", "out", "9 to 5"], {"shop": "The shop"})


def made(states=STATES, support=None, **more):
    layout = dpm.Layout(target=states, source=states, support=support, **more)
    counts = dpm.TransitionCounts(layout, np.arange(layout.cells.n_cells, dtype=np.int64) * 10)
    return dpm.release(
        counts,
        unit=dpm.Event(),
        budget=dpm.Budget(epsilon=8, delta=1e-2),
        mechanism=Dirichlet(form="floor", weight=0.5, alpha=5.0),
        seed=4,
    )


RELEASE = made()


@pytest.fixture(scope="module")
def ended():
    """Sequences of a known chain, counted with a declared start and end, and the way they were counted."""
    rng, rows = np.random.default_rng(0), []
    matrix = {"a": [0.5, 0.3, 0.2], "b": [0.1, 0.4, 0.5]}
    for user in range(4000):
        state, position = ("a", "b")[rng.random() < 0.25], 0
        while state is not None:
            rows.append((user, position, state))
            position += 1
            state = ("a", "b", None)[rng.choice(3, p=matrix[state])]
    table = pa.table(dict(zip(("user", "position", "state"), zip(*rows, strict=True), strict=True)))
    rules = {"states": dpm.StateSpace(["in", "a", "b", "out"]), "user": "user", "time": "position"}
    rules |= {"state": "state", "start": "in", "end": "out", "lengths": 8, "max_events": 50}
    return release_of(table, rules), rules


def release_of(table, rules):
    counts = dpm.count(table, **rules)
    unit = dpm.User(max_events=rules["max_events"])
    return dpm.release(counts, unit=unit, budget=dpm.Budget(epsilon=8, delta=1e-6), mechanism="laplace")


def test_synthetic_sequences_hold_no_markers_and_are_counted_like_the_log(ended):
    """20,000 sequences: shares within 6 standard errors and the noise of both releases."""
    release, rules = ended
    table = export.synthetic(release, users=20_000, seed=5)
    frame = table.to_pandas()
    assert set(frame["state"]) == {"a", "b"}
    assert frame["user"].nunique() == 20_000
    again = release_of(table, rules)
    np.testing.assert_allclose(again.transition_matrix[:3], release.transition_matrix[:3], atol=0.03)
    assert again.transition_matrix[0, 1] == pytest.approx(0.75, abs=0.03)
    mean = float(again.length_distribution @ np.arange(1, 9))
    assert mean == pytest.approx(float(release.length_distribution @ np.arange(1, 9)), rel=0.05)


def test_a_length_is_the_most_that_a_sequence_with_an_end_may_have(ended):
    frame = export.synthetic(ended[0], users=2000, length=3, seed=5).to_pandas()
    sizes = frame.groupby("user").size()
    assert (sizes.min(), sizes.max()) == (1, 3)
    assert (sizes == 1).mean() == pytest.approx(0.75 * 0.2 + 0.25 * 0.5, abs=0.05)


def test_many_short_sequences_are_refused_for_the_rows_they_fill(monkeypatch):
    """20,000 sequences of one state are 20,000 rows of three columns: more than their walks take."""
    assert export.synthetic(RELEASE, users=20_000, length=1, seed=1).num_rows == 20_000
    monkeypatch.setattr(sys.modules[export.synthetic.__module__], "_MOST_BYTES", 2**20)
    with pytest.raises(ParameterError, match=r"20,000 sequences of up to 1 states"):
        export.synthetic(RELEASE, users=20_000, length=1)


def test_a_declared_start_alone_is_followed():
    start = replace(made(lengths=dpm.StateSpace.range(1, 4)), counting={"start": "out"})
    frame = export.synthetic(start, users=5000, seed=1).to_pandas()
    assert "out" not in set(frame["state"])
    first = (frame[frame["position"] == 0]["state"] == "shop").mean()
    row = start.transition_matrix[2]
    assert first == pytest.approx(row[1] / (1 - row[2]), abs=0.04)


def test_an_end_that_is_never_reached_needs_a_length():
    states = dpm.StateSpace(["a", "b", "end"])
    support = dpm.Support.from_pairs(states, states, [("a", "b"), ("b", "a"), ("end", "a")])
    release = replace(made(states, support=support), counting={"end": "end"})
    with pytest.raises(ParameterError, match="hardly ever reached"):
        export.synthetic(release, users=2)
    assert export.synthetic(release, users=2, length=4, seed=1).num_rows == 8
    blind = dpm.Support.from_pairs(states, states, [("a", "b"), ("b", "end"), ("end", "a")])
    release = replace(made(states, support=blind), counting={"start": "b", "end": "end"})
    with pytest.raises(ChainError, match="knows no way"):
        export.synthetic(release, users=2)


def test_model_files_begin_in_the_declared_start(tmp_path):
    for k, (counting, at) in enumerate((({"start": "shop", "end": "out"}, 1), ({}, None))):
        release = replace(RELEASE, counting=counting)
        _, _, lab = export.write_prism(release, tmp_path / str(k), storm=True)
        (line,) = [line for line in lab.read_text().splitlines()[3:] if " init " in line]
        wanted = int(RELEASE.stationary_distribution.argmax()) if at is None else at
        assert line.split()[0] == str(wanted)


def test_a_single_distribution_is_no_chain(tmp_path):
    layout = dpm.Layout(target=STATES)
    counts = dpm.TransitionCounts.from_matrix([[50, 60, 70, 80]], layout=layout)
    one = dpm.release(counts, unit=dpm.Event(), budget=dpm.Budget(epsilon=1, delta=1e-6))
    for ask in (
        lambda: export.synthetic(one, users=2, length=2),
        lambda: export.write_graphml(one, tmp_path / "x"),
        lambda: export.write_prism(one, tmp_path / "x"),
    ):
        with pytest.raises(ChainError, match="one distribution over 4 states, not a chain"):
            ask()
    assert export.to_arrow(one).num_rows == 4


def test_tables_hold_states_as_they_are(tmp_path):
    """Text that a spreadsheet takes for a formula is written as it stands; docs/analysis.md tells of it."""
    states = dpm.StateSpace(["=HYPERLINK(1)", "+1", "@x", "-y"])
    path = export.write_csv(made(states), tmp_path / "c.csv")
    with path.open(newline="") as file:
        assert {row["to"] for row in csv.DictReader(file)} == set(states)
