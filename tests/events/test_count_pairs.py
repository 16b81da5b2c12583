"""Counting tables of pairs: forms of input, matching rules, and records that try to break it."""

import gzip
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmarkov.counts import COUNT_LIMIT
from dpmarkov.errors import DpmarkovError, ParameterError, StateSpaceError, TableError
from dpmarkov.events import count, refuse_sensitive
from dpmarkov.layout import Layout
from dpmarkov.states import StateSpace

STATES = StateSpace(["A", "B", "C"])
PAIRS = [("A", "B"), ("A", "B"), ("B", "C"), ("C", "C"), ("A", None), ("X", "B"), ("a", "B"), (None, None)]
EXPECTED = np.array([[0, 2, 0], [0, 0, 1], [0, 0, 1]])


def frame() -> pd.DataFrame:
    return pd.DataFrame(PAIRS, columns=["from here", 'to "there"'])


def matrix(data, states=STATES, **options) -> np.ndarray:
    options = {"source": "from here", "target": 'to "there"'} | options
    return count(data, states=states, **options).matrix()


@pytest.mark.parametrize(
    "make",
    [
        lambda f: f,
        lambda f: f.astype(object),
        lambda f: f.astype("category"),
        lambda f: pl.from_pandas(f),
        lambda f: pl.from_pandas(f).lazy(),
        lambda f: pl.from_pandas(f).with_columns(pl.all().cast(pl.Categorical)),
        lambda f: pa.Table.from_pandas(f),
    ],
    ids=["pandas", "object", "category", "polars", "lazy", "categorical", "arrow"],
)
def test_tables_in_memory(make):
    np.testing.assert_array_equal(matrix(make(frame())), EXPECTED)


def test_files_and_globs(tmp_path: Path):
    table = frame()
    table.to_parquet(tmp_path / "one.parquet")
    table.to_csv(tmp_path / "one.csv", index=False)
    table.to_csv(tmp_path / "quoted.csv", index=False, quoting=1)
    table.to_csv(tmp_path / "one.tsv", index=False, sep="\t")
    table.to_csv(tmp_path / "one.csv.gz", index=False)
    table.to_csv(tmp_path / "semi.txt", index=False, sep=";")
    for name in ["one.parquet", "one.csv", "quoted.csv", "one.tsv", "one.csv.gz"]:
        np.testing.assert_array_equal(matrix(tmp_path / name), EXPECTED, err_msg=name)
    np.testing.assert_array_equal(matrix(tmp_path / "semi.txt", delimiter=";"), EXPECTED)
    many = tmp_path / "many"
    many.mkdir()
    table.to_csv(many / "a.csv", index=False)
    table.iloc[:, ::-1].to_csv(many / "b.csv", index=False)
    np.testing.assert_array_equal(matrix(str(many / "*.csv")), 2 * EXPECTED)


def test_parquet_files_with_other_types(tmp_path: Path):
    for i, dtype in enumerate(["int16", "int64", "float64"]):
        pd.DataFrame({"a": [1, 2], "b": [2, 2]}).astype(dtype).to_parquet(tmp_path / f"{i}.parquet")
    counts = count(str(tmp_path / "*.parquet"), source="a", target="b", states=range(1, 3))
    np.testing.assert_array_equal(counts.matrix(), [[0, 3], [0, 3]])


BAD_LINES = [
    b'2,"A,B',
    b"3,A",
    b"4,A,B,C",
    b"5,\xff\xfe,B",
    b'6,"A"x,B',
    b"",
    b",,",
    b'7,A,"B',
    b"8,A," + b"x" * 100_000,
    b"9,A," + b"x" * 17_000_000,
    b"10,A\x00,B",
    b'"""',
    b"11,A,B\\",
    b'12,A,B"',
    b"13; DROP TABLE data,A,B'",
    b"14,'A','B'",
    b"#15,A",
]


@pytest.mark.parametrize("bad", BAD_LINES, ids=range(len(BAD_LINES)))
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("packed", [False, True])
def test_one_bad_record_changes_no_other(tmp_path: Path, bad: bytes, place: int, packed: bool):
    lines = [b"1,A,B", b'20,"A","B"']
    lines.insert(place, bad)
    text = b"\n".join([b"id,a,b", *lines]) + b"\n"
    path = tmp_path / ("bad.csv.gz" if packed else "bad.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    counts = count(path, source="a", target="b", states=STATES)
    np.testing.assert_array_equal(counts.matrix(), [[0, 2, 0], [0, 0, 0], [0, 0, 0]])


@given(
    st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line and b"\r" not in line), max_size=4)
)
@settings(max_examples=25, deadline=None)
def test_any_bytes_in_a_line_leave_the_others_alone(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("fuzz") / "fuzz.csv"
    good = [b"u,v", b'"u","v"'] * 2
    mixed = [line for pair in zip(good, [*lines, *[b""] * 4], strict=False) for line in pair]
    path.write_bytes(b"\r\n".join([b"a,b", *mixed]))
    assert count(path, source="a", target="b", states=["u", "v", "w"]).matrix()[0, 1] >= 4


def test_whole_numbers_match_and_fractions_never_round():
    space = StateSpace([3, 4, -1])
    floats = pd.DataFrame({"a": [3.0, 3.5, 3.9999999, 4.0, float("nan"), 1e300, float("inf"), -1.0]})
    assert count(floats, column="a", states=space).values.tolist() == [1, 1, 1]
    texts = pd.DataFrame(
        {"a": ["3", "3.0", "+3", "003", " 3 ", "3.", "3.5", "3e0", "", "-1", "4x", "9" * 40, "３"]}
    )
    assert count(texts, column="a", states=space).values.tolist() == [6, 0, 1]
    mixed = pd.DataFrame({"a": [3, "3", 3.0, 3.5, None, True, b"3", [3], {"x": 3}]}, dtype=object)
    assert count(mixed, column="a", states=space).values.tolist() == [3, 0, 0]
    huge = pa.table({"a": pa.array([3, 2**64 - 1], pa.uint64())})
    assert count(huge, column="a", states=space).values.tolist() == [1, 0, 0]


def test_text_states_match_numbers_by_their_decimal_text():
    space = StateSpace(["3", "4", "true"])
    assert count(pa.table({"a": [3, 4, 4]}), column="a", states=space).values.tolist() == [1, 2, 0]
    assert count(pa.table({"a": [3.0, 3.5]}), column="a", states=space).values.tolist() == [1, 0, 0]
    assert count(pa.table({"a": [True, None]}), column="a", states=space).values.tolist() == [0, 0, 1]


def test_unknown_values_become_a_declared_state():
    states = StateSpace(["A", "B", "other"])
    table = pd.DataFrame({"a": ["A", "?", None], "b": ["B", "B", "A"]})
    options = {"source": "a", "target": "b", "states": states}
    np.testing.assert_array_equal(
        count(table, unknown="state:other", **options).matrix(), [[0, 1, 0], [0, 0, 0], [1, 1, 0]]
    )
    with pytest.raises(StateSpaceError, match="not declared"):
        count(table, unknown="state:none", **options)
    with pytest.raises(ParameterError, match="'drop' or 'state:NAME'"):
        count(table, unknown="keep", **options)


def test_aggregated_counts_are_dropped_or_held_by_rule():
    table = pa.table(
        {"a": ["A"] * 8 + ["B", "B"], "n": [1.0, 2.0, -5.0, 0.5, None, np.nan, np.inf, 0, 1e12, 1e15]}
    )
    assert count(table, column="a", states=STATES, count="n").values.tolist() == [3, COUNT_LIMIT, 0]
    big = pa.table({"a": ["A"] * 5000, "n": pa.array([2**63 - 1] * 5000)})
    assert count(big, column="a", states=STATES, count="n").values.tolist() == [COUNT_LIMIT, 0, 0]
    text = pa.table({"a": ["A", "B", "C"], "n": ["7", "many", "2.0"]})
    assert count(text, column="a", states=STATES, count="n").values.tolist() == [7, 0, 2]


def test_support_and_rectangular():
    table = frame()
    sparse = count(
        table,
        source="from here",
        target='to "there"',
        states=STATES,
        support=[("A", "B"), ("B", "A"), ("C", "C")],
    )
    assert sparse.values.tolist() == [2, 0, 1]
    wide = count(
        table, source="from here", target='to "there"', states=["B", "C"], source_states=["A", "B", "C"]
    )
    np.testing.assert_array_equal(wide.matrix(), [[2, 0], [0, 1], [0, 1]])


def test_support_file(tmp_path: Path):
    (tmp_path / "support.csv").write_text("from,to\nA,B\nB,A\nC,C\n")
    counts = count(
        frame(), source="from here", target='to "there"', states=STATES, support=tmp_path / "support.csv"
    )
    assert counts.values.tolist() == [2, 0, 1]
    (tmp_path / "support.csv").write_text("from,to\nA,B\nB,Z\nC,C\n")
    with pytest.raises(StateSpaceError, match="'Z' is not a declared state"):
        count(
            frame(), source="from here", target='to "there"', states=STATES, support=tmp_path / "support.csv"
        )


def test_an_empty_table_is_a_legal_data_set(tmp_path: Path):
    (tmp_path / "empty.csv").write_text("a,b\n")
    assert count(tmp_path / "empty.csv", source="a", target="b", states=STATES).values.sum() == 0
    assert count(pd.DataFrame({"a": [], "b": []}), source="a", target="b", states=STATES).values.sum() == 0


def test_clear_errors_for_what_a_user_did(tmp_path: Path):
    with pytest.raises(TableError, match="no such file"):
        count(tmp_path / "none.csv", column="a", states=STATES)
    with pytest.raises(TableError, match=r"no column 'x'; it has from here, to"):
        count(frame(), column="x", states=STATES)
    (tmp_path / "fake.parquet").write_text("not parquet: secret")
    with pytest.raises(TableError, match="cannot be read as Parquet") as caught:
        count(tmp_path / "fake.parquet", column="a", states=STATES)
    assert "secret" not in str(caught.value)
    (tmp_path / "broken.csv.gz").write_bytes(gzip.compress(b"a\n" + b"A\n" * 100_000)[:150])
    with pytest.raises(DpmarkovError):
        count(tmp_path / "broken.csv.gz", column="a", states=STATES)
    with pytest.raises(TableError, match="can never match"):
        count(pa.table({"a": [[1], [2]]}), column="a", states=STATES)
    with pytest.raises(StateSpaceError, match="must be declared"):
        count(frame(), column="from here")
    with pytest.raises(ParameterError, match="either column"):
        count(frame(), column="a", source="b", states=STATES)
    with pytest.raises(TableError, match="from_matrix"):
        count(np.eye(3), column="a", states=STATES)
    with pytest.raises(ParameterError, match="not both"):
        count(frame(), column="a", states=STATES, layout=Layout(target=STATES))


def test_missing_columns_are_named_with_their_options():
    for options, words in (
        ({"source": "a"}, "both columns: source (source=, --from) and target (target=, --to)"),
        ({"column": "a", "max_events": 3}, "name the column of the user (user=, --user)"),
        ({"column": "a", "time": "t"}, "time (time=, --time) goes with user and state"),
        ({"state": "a", "user": "u"}, "time (time=, --time) and state (state=, --state)"),
    ):
        with pytest.raises(ParameterError) as caught:
            count(frame(), states=STATES, **options)
        assert words in str(caught.value)


def test_a_release_is_no_table(tmp_path: Path):
    (tmp_path / "r").mkdir()
    with pytest.raises(TableError, match=r"give the files in it as a glob"):
        count(tmp_path / "r", column="a", states=STATES)
    (tmp_path / "r" / "release.json").write_text("{}")
    with pytest.raises(TableError, match=r"is a release, not a table.*dpmarkov show .*plan --like"):
        count(tmp_path / "r", column="a", states=STATES)


def test_a_file_that_may_not_be_read_is_not_called_damaged(tmp_path: Path, monkeypatch):
    made = pd.DataFrame({"a": ["A"], "from": ["A"], "to": ["B"]})
    made.to_parquet(tmp_path / "t.parquet")
    made.to_csv(tmp_path / "t.csv", index=False)
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'A' AS a")
    (tmp_path / "bad.parquet").write_text("secret")
    pairs = {"source": "from", "target": "to", "states": STATES}
    with pytest.raises(TableError, match=r"bad.parquet cannot be read as Parquet: it is damaged") as caught:
        count(frame(), support=tmp_path / "bad.parquet", **pairs)
    assert "secret" not in str(caught.value)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)  # root may read everything
    for data, where in (
        (tmp_path / "t.parquet", {}),
        (f"duckdb:///{tmp_path}/t.db", {"table": "t"}),
    ):
        with pytest.raises(TableError, match=r"t\.(parquet|db) cannot be read: Permission denied"):
            count(data, column="a", states=STATES, **where)
    for form in ("csv", "parquet"):
        with pytest.raises(TableError, match=rf"t\.{form} cannot be read: Permission denied"):
            count(frame(), support=tmp_path / f"t.{form}", **pairs)
        with pytest.raises(TableError, match=rf"t\.{form} cannot be read: Permission denied"):
            StateSpace.read(tmp_path / f"t.{form}", column="a")


def test_the_sensitive_table_is_no_public_list(tmp_path: Path):
    deep = tmp_path / "x" / "y"
    deep.mkdir(parents=True)
    for name in ("a.csv", "b.csv", "x/y/c.csv"):
        (tmp_path / name).write_text("from,to\nA,B\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    for public, data in (
        (tmp_path / "link.csv", tmp_path / "a.csv"),
        (tmp_path / "a.csv", str(tmp_path / "*.csv")),
        (deep / "c.csv", str(tmp_path / "**" / "*.csv")),
    ):
        with pytest.raises(StateSpaceError, match=r"the list of states .* is the sensitive table itself"):
            refuse_sensitive("list of states", public, data)
    for public, data in (
        (tmp_path / "b.csv", tmp_path / "a.csv"),
        (None, "a"),
        (STATES, "a"),
        ("a", frame()),
    ):
        refuse_sensitive("list of states", public, data)
    options = {"source": "from", "target": "to", "states": STATES}
    with pytest.raises(StateSpaceError, match=r"the support .* is the sensitive table itself"):
        count(tmp_path / "a.csv", support=tmp_path / "a.csv", **options)
    with pytest.raises(StateSpaceError, match=r"the merge map .* is the sensitive table itself"):
        count(str(tmp_path / "a.csv"), merge=str(tmp_path / "a.csv"), **options)


def test_counts_are_the_same_for_every_column_order_and_file_order(tmp_path: Path):
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"a": rng.choice(list("ABCD"), 500), "b": rng.choice(list("ABCD"), 500)})
    expected = count(table, source="a", target="b", states=STATES).matrix()
    for seed in range(3):
        shuffled = table.sample(frac=1, random_state=seed)
        pq.write_table(pa.Table.from_pandas(shuffled), tmp_path / "t.parquet", row_group_size=50)
        got = count(tmp_path / "t.parquet", source="a", target="b", states=STATES).matrix()
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("address", ["postgresql:me:hush@host/db", "host=db password=hush dbname=x"])
def test_a_mistyped_address_is_not_repeated(address: str) -> None:
    """It may hold a password."""
    with pytest.raises(TableError, match="no such file") as refused:
        count(address, source="a", target="b", states=["x", "y"])
    assert "hush" not in str(refused.value)
