"""Exports read back by the tools that they are for."""

import csv
import re

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

import dpmarkov as dpm
from dpmarkov import export
from dpmarkov.errors import ParameterError
from dpmarkov.export.checkers import label_names
from dpmarkov.mechanisms.dirichlet import Dirichlet

STATES = dpm.StateSpace(["home page", "shop", "out", "9 to 5"], {"shop": "The shop"})


def made(states=STATES, support=None, seed=4, **more):
    layout = dpm.Layout(target=states, source=states, support=support, **more)
    counts = dpm.TransitionCounts(layout, np.arange(layout.cells.n_cells, dtype=np.int64) * 10)
    return dpm.release(
        counts,
        unit=dpm.Event(),
        budget=dpm.Budget(epsilon=8, delta=1e-2),
        mechanism=Dirichlet(form="floor", weight=0.5, alpha=5.0),
        seed=seed,
    )


RELEASE = made()


def test_frames_hold_every_transition():
    frame = export.to_pandas(RELEASE)
    assert list(frame.columns) == ["from", "to", "probability", "from_label", "to_label"]
    wide = frame.pivot(index="from", columns="to", values="probability")
    np.testing.assert_array_equal(wide.loc[list(STATES), list(STATES)].to_numpy(), RELEASE.transition_matrix)
    assert export.to_polars(RELEASE).rows() == [tuple(row) for row in frame.itertuples(index=False)]


def test_csv_keeps_all_digits(tmp_path):
    path = export.write_csv(RELEASE, tmp_path / "chain.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_array_equal([float(row["probability"]) for row in rows], RELEASE.probabilities)
    assert rows[1]["to_label"] == "The shop"
    with pytest.raises(ParameterError, match="exists"):
        export.write_csv(RELEASE, path)
    export.write_csv(RELEASE, path, overwrite=True)


def test_networkx_and_graphml(tmp_path):
    graph = export.to_networkx(RELEASE)
    np.testing.assert_allclose(
        nx.to_numpy_array(graph, nodelist=list(STATES), weight="probability"), RELEASE.transition_matrix
    )
    assert graph.nodes["shop"]["label"] == "The shop"
    few = export.to_networkx(RELEASE, least=0.3)
    assert few.number_of_edges() == np.count_nonzero(RELEASE.probabilities >= 0.3)
    back = nx.read_graphml(export.write_graphml(RELEASE, tmp_path / "chain.graphml"))
    assert back.edges["shop", "out"]["probability"] == RELEASE.transition_matrix[1, 2]
    with pytest.raises(ParameterError, match="least"):
        export.to_networkx(RELEASE, least=2)


def read_explicit(tra, n):
    matrix = np.zeros((n, n))
    for line in tra.read_text().splitlines()[1:]:
        i, j, p = line.split()
        matrix[int(i), int(j)] = float(p)
    return matrix


def test_prism_files_follow_its_explicit_format(tmp_path):
    sta, tra, lab = export.write_prism(RELEASE, tmp_path / "model", start="out")
    assert sta.read_text().splitlines()[:2] == ["(s)", "0:(0)"]
    assert tra.read_text().splitlines()[0] == "4 16"
    np.testing.assert_array_equal(read_explicit(tra, 4), RELEASE.transition_matrix)
    np.testing.assert_allclose(read_explicit(tra, 4).sum(axis=1), 1, atol=1e-15)
    declared, *marks = lab.read_text().splitlines()
    names = dict(re.findall(r'(\d+)="(\w+)"', declared))
    assert names["0"] == "init"
    assert [names[m.split()[-1]] for m in marks] == ["home_page", "shop", "out", "s_9_to_5"]
    assert [m.split(":")[0] for m in marks if " 0 " in m] == ["2"]


def test_storm_files_follow_its_explicit_format(tmp_path):
    _, tra, lab = export.write_prism(RELEASE, tmp_path / "model", storm=True)
    assert tra.read_text().splitlines()[0] == "dtmc"
    np.testing.assert_array_equal(read_explicit(tra, 4), RELEASE.transition_matrix)
    lines = lab.read_text().splitlines()
    assert (lines[0], lines[2]) == ("#DECLARATION", "#END")
    likeliest = int(RELEASE.stationary_distribution.argmax())
    assert [line.split()[0] for line in lines[3:] if " init " in line] == [str(likeliest)]


def test_labels_are_distinct_words():
    names = label_names(dpm.StateSpace(["a b", "a_b", "init", "7", "", "a-b"]))
    assert len(set(names)) == 6
    assert all(re.fullmatch(r"[A-Za-z]\w*", name) for name in names)
    assert "init" not in names


def test_known_zeros_stay_out(tmp_path):
    support = dpm.Support.from_pairs(STATES, STATES, [(a, b) for a in STATES for b in STATES if a != b])
    release = made(support=support)
    _, tra, _ = export.write_prism(release, tmp_path / "m")
    assert tra.read_text().splitlines()[0] == "4 12"
    assert export.to_networkx(release).number_of_edges() == 12


def test_other_libraries_get_the_same_chain():
    quantecon = pytest.importorskip("quantecon")
    theirs = export.to_quantecon(RELEASE)
    assert isinstance(theirs, quantecon.MarkovChain)
    np.testing.assert_allclose(
        theirs.stationary_distributions[0], RELEASE.stationary_distribution, rtol=1e-12
    )


def test_a_missing_library_is_named():
    try:
        import pydtmc  # noqa: F401
    except ImportError:
        with pytest.raises(ParameterError, match="pip install pydtmc"):
            export.to_pydtmc(RELEASE)
    else:
        np.testing.assert_allclose(export.to_pydtmc(RELEASE).p, RELEASE.transition_matrix)


def test_synthetic_sequences_follow_starts_lengths_and_chain(tmp_path):
    """Fixed seed; false-alarm rate 1e-3 for each of three tests."""
    lengths = dpm.StateSpace.range(1, 6)
    release = made(starts=True, lengths=lengths)
    path = export.write_synthetic(release, tmp_path / "s.parquet", users=20_000, seed=3)
    table = pq.read_table(path).to_pandas()
    assert list(table.columns) == ["user", "position", "state"]
    assert table["user"].nunique() == 20_000
    sizes = table.groupby("user").size()
    observed = [np.count_nonzero(sizes == k) for k in lengths]
    assert stats.chisquare(observed, 20_000 * release.length_distribution).pvalue > 1e-3
    first = table[table["position"] == 0]["state"]
    observed = [np.count_nonzero(first == state) for state in STATES]
    assert stats.chisquare(observed, 20_000 * release.start_distribution).pvalue > 1e-3
    after = table["state"].shift(-1)[(table["state"] == "shop") & (table["user"] == table["user"].shift(-1))]
    observed = np.array([np.count_nonzero(after == state) for state in STATES])
    assert stats.chisquare(observed, observed.sum() * release.transition_matrix[1]).pvalue > 1e-3
    wrong = np.roll(release.transition_matrix[1], 1)
    assert stats.chisquare(observed, observed.sum() * wrong).pvalue < 1e-9


def test_synthetic_data_without_lengths_asks_for_one(tmp_path):
    with pytest.raises(ParameterError, match="give the length"):
        export.synthetic(RELEASE, users=3)
    table = export.synthetic(RELEASE, users=3, length=4, seed=1)
    assert table.num_rows == 12
    assert table.equals(export.synthetic(RELEASE, users=3, length=4, seed=1))
    assert not table.equals(export.synthetic(RELEASE, users=3, length=4, seed=2))
    with pytest.raises(ParameterError, match=r"\.parquet or \.csv"):
        export.write_synthetic(RELEASE, tmp_path / "x.txt", users=3, length=4)
    with pytest.raises(ParameterError, match="users"):
        export.synthetic(RELEASE, users=0, length=4)


def test_integer_states_stay_integers():
    release = made(dpm.StateSpace.range(5, 8))
    assert export.to_pandas(release)["to"].dtype == np.int64
    assert set(export.synthetic(release, users=2, length=9, seed=1)["state"].to_pylist()) <= {5, 6, 7}


def test_every_release_can_be_cited(tmp_path):
    import json

    folder = RELEASE.save(tmp_path / "release")
    text = json.loads((folder / "release.json").read_text())["cite"]
    assert text == RELEASE.citation == dpm.load(folder).citation
    assert "fingerprint" in text
    assert "NOT PRIVATE" in text
    assert made(seed=5).citation != text
