"""One row more neither fails a count nor changes how the other rows are read."""

import datetime as dt
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pytest

from dpmarkov.events import count
from dpmarkov.events.bounding import LARGEST_BOUND, bounded_counts
from dpmarkov.events.dialect import DuckDialect, Kind

NOON = dt.datetime(2024, 3, 1, 12, 30, 0, 250)
DAYS = [pd.Timestamp(NOON) + pd.Timedelta(days=i) for i in range(4)]


ODD = [None, "odd", 2.5, 10**5000, Decimal("sNaN"), object(), pd.NaT, b"x"]


@pytest.mark.parametrize("odd", ODD, ids=[type(value).__name__ for value in ODD])
@pytest.mark.parametrize(
    ("values", "states"),
    [
        ([True, False, True], [0, 1]),
        ([True, False, True], ["true", "false"]),
        (list(np.array([True, False, True])), [0, 1]),
        ([1, 2, 2], [1, 2]),
        ([1.0, 2.0, 2.0], ["1", "2"]),
        ([Decimal("1.00"), Decimal(2), Decimal("-0")], [0, 1, 2]),
    ],
)
def test_an_odd_value_leaves_states_as_they_were(values, states, odd):
    alone = pd.DataFrame({"s": values})
    beside = pd.DataFrame({"s": pd.Series([*values, odd], dtype=object)})
    expected = count(alone, column="s", states=states).values
    assert expected.sum() == len(values)
    np.testing.assert_array_equal(count(beside, column="s", states=states).values, expected)
    packed = beside.astype("category") if odd is None or isinstance(odd, str) else beside
    np.testing.assert_array_equal(count(packed, column="s", states=states).values, expected)


@pytest.mark.parametrize("odd", [None, "n/a", 5.5, pd.NaT, dt.datetime(1, 1, 1, tzinfo=dt.UTC), object()])
@pytest.mark.parametrize(
    "values",
    [
        DAYS,
        [day.to_pydatetime() for day in DAYS],
        [day.tz_localize("Europe/Berlin") for day in DAYS],
        [day.to_datetime64() for day in DAYS],
    ],
    ids=["pandas", "python", "zoned", "numpy"],
)
def test_an_odd_value_leaves_times_as_they_were(values, odd):
    def table(more):
        rows = {"u": [1, 1, 1, 1] + [9] * len(more), "s": ["a", "b", "a", "b"] + ["a"] * len(more)}
        return pd.DataFrame({**rows, "t": pd.Series([*values, *more], dtype=object if more else None)})

    options = {"user": "u", "time": "t", "state": "s", "states": ["a", "b"], "gap": "25h", "by": "hour"}
    difference = count(table([odd]), **options).values - count(table([]), **options).values
    assert difference.min() == 0
    assert difference.sum() <= 1
    assert count(table([]), **options).values.sum() == 4
    whole = pd.DataFrame({"a": ["a"] * 5, "t": pd.Series([*values, odd], dtype=object)})
    assert count(whole, column="a", states=["a", "b"], by="hour(t)").values.sum() >= 4


def test_dates_of_python_are_dates():
    table = pd.DataFrame({"s": ["a", "a", "b"], "d": [dt.date(2024, 1, 1), dt.date(2024, 2, 1), None]})
    counts = count(table, column="s", states=["a", "b"], by="month(d)")
    assert counts.values.sum() == 2
    assert count(table, column="d", states=["2024-01-01", "x"]).values.tolist() == [1, 0]


def test_floats_and_objects_stop_at_the_same_number():
    for value, found in ((2.0**53 - 1, 1), (2.0**53, 0), (-(2.0**53), 0)):
        for table in (pd.DataFrame({"s": [value]}), pd.DataFrame({"s": [value]}, dtype=object)):
            assert count(table, column="s", states=[int(value), 3]).values.tolist() == [found, 0]


@pytest.mark.parametrize("more", [2**63, 2**64 - 1, 2**70, "x"])
def test_a_larger_number_leaves_long_numbers_as_they_were(more):
    values = [2**62, 2**62, 5]
    table = pd.DataFrame({"s": [*values, more]})
    assert count(table, column="s", states=[str(2**62), "5"]).values.tolist() == [2, 1]
    one = count(table.assign(a="a"), column="a", user="s", max_events=1, states=["a", "b"])
    assert one.values.tolist() == [3, 0]


def test_text_that_says_true_or_false_is_one_or_zero(tmp_path):
    (tmp_path / "t.csv").write_text("s\ntrue\nfalse\ntrue\nTrue\n1\n")
    assert count(tmp_path / "t.csv", column="s", states=[0, 1]).values.tolist() == [1, 3]


WIDE = {
    "DECIMAL(38,0)": ["1", "2", "-3", "9" * 38, "-" + "9" * 38],
    "DECIMAL(38,20)": ["1", "2", "-3", "1.00000000000000000001", "-" + "9" * 18],
    "DECIMAL(38,30)": ["1", "2", "-3", "-99999999.5", "99999999.9"],
    "DECIMAL(38,38)": ["0", "0.5", "-0.5", "0." + "9" * 38],
    "UHUGEINT": ["1", "2", str(2**128 - 1), str(2**64)],
    "HUGEINT": ["1", "2", "-3", str(2**127 - 1), str(-(2**127))],
    "UBIGINT": ["1", "2", str(2**64 - 1)],
}


@pytest.mark.parametrize("declared", WIDE)
@pytest.mark.parametrize("form", ["database", "file"])
def test_no_number_is_too_wide_to_be_read(tmp_path, declared, form):
    if form == "file" and "HUGEINT" in declared:
        pytest.skip("Parquet has no such type")
    rows = ", ".join(f"('{value}'::{declared})" for value in [*WIDE[declared], *WIDE[declared]])
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {rows}, (NULL)) AS v(s)")
        connection.execute(f"COPY t TO '{tmp_path}/t.parquet'")
    data, where = (
        (f"duckdb:///{tmp_path}/x.db", {"table": "t"})
        if form == "database"
        else (f"{tmp_path}/t.parquet", {})
    )
    expected = [2 * (str(value) in WIDE[declared]) for value in (0, 1, 2, -3)]
    assert count(data, column="s", states=[0, 1, 2, -3], **where).values.tolist() == expected
    texts = count(data, column="s", states=["0", "1", "2", "-3"], **where).values.tolist()
    assert texts == expected
    users = count(data, column="s", user="s", max_events=1, states=[0, 1, 2, -3], **where)
    assert users.values.tolist() == [one // 2 for one in expected]
    weighted = count(data, source="s", target="s", count="s", states=[1, 2], **where)
    assert weighted.values.tolist() == [expected[1], 0, 0, 2 * expected[2]]


def test_files_may_declare_decimals_and_times_apart(tmp_path):
    types = ["DECIMAL(38,0)", "DECIMAL(38,38)", "DECIMAL(10,2)"]
    with duckdb.connect() as connection:
        for i, (value, declared) in enumerate(zip(["7", "0.5", "7"], types, strict=True)):
            connection.execute(f"COPY (SELECT '{value}'::{declared} s) TO '{tmp_path}/d{i}.parquet'")
        for i, moment in enumerate(["make_timestamp_ns(0)", "'290000-01-01'::TIMESTAMP_MS"]):
            visit = f"SELECT 1 u, {moment} t, 'a' s"
            connection.execute(f"COPY ({visit}) TO '{tmp_path}/t{i}.parquet'")
    counts = count(f"{tmp_path}/d*.parquet", column="s", user="s", max_events=1, states=[0, 1, 7])
    assert counts.values.tolist() == [0, 0, 1]
    visits = count(f"{tmp_path}/t*.parquet", user="u", time="t", state="s", states=["a", "b"])
    assert visits.values.sum() == 1


def test_moments_beyond_the_limit_are_missing(tmp_path):
    limit = dt.timedelta(days=46_000_000).days
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 1 AS u, DATE '1970-01-01' + CAST(d AS INTEGER) AS t, 'a' AS s FROM "
            f"(VALUES (0), ({limit}), ({limit + 1}), (-{limit}), (-{limit} - 1), (2000000000)) AS v(d)"
        )
    counts = count(f"duckdb:///{tmp_path}/x.db", table="t", user="u", time="t", state="s", states=["a", "b"])
    # of the six only those of at most 46,000,000 days, three of them, are visits; DuckDB's dates reach
    # farther than its timestamps
    assert counts.values.sum() == 3


def test_a_collation_counts_no_row_twice(tmp_path):
    with duckdb.connect(str(tmp_path / "x.db")) as connection:
        connection.execute("CREATE TABLE t (s VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('A'), ('a'), ('a'), ('a')")
    data = f"duckdb:///{tmp_path}/x.db"
    assert count(data, table="t", column="s", states=["a", "A"]).values.tolist() == [3, 1]
    bounded = count(data, table="t", column="s", user="s", max_events=1, states=["a", "A"])
    assert bounded.values.tolist() == [1, 1]


@pytest.mark.parametrize("most", [1, 1000, LARGEST_BOUND])
@pytest.mark.parametrize("cells", [4, 10**7, 10**12, 10**15])
def test_a_user_with_the_largest_weight_in_every_cell_does_not_overflow(cells, most):
    steps, _ = bounded_counts(
        DuckDialect(), max_events=most, max_per_pair=None, weighted=True, cells=cells, key=b"k"
    )
    with duckdb.connect() as connection:
        events = "SELECT 1 AS u, 0 AS cell, 2147483647 AS n FROM range(1000)"
        held = connection.execute(
            f"WITH events AS ({events}), pairs AS ({steps['pairs']}) SELECT n FROM pairs"
        ).fetchone()[0]
    assert held == 1 or cells * held * most <= 2**62
    assert held == LARGEST_BOUND or cells * (held + 1) * most > 2**62


def test_equal_decimals_have_one_text():
    with duckdb.connect() as connection:
        for value, declared, text in (
            ("7", "DECIMAL(10,2)", "7"),
            ("700", "DECIMAL(10,0)", "700"),
            ("-0.50", "DECIMAL(2,2)", "-0.5"),
            ("0", "DECIMAL(3,3)", "0"),
        ):
            sql = DuckDialect().decimal_text("x")
            assert connection.execute(
                f"SELECT {sql} FROM (SELECT '{value}'::{declared} AS x)"
            ).fetchone() == (text,)
    assert DuckDialect().whole("x", Kind.OTHER) is None


def test_lines_end_with_any_line_break_and_broken_ones_are_dropped(tmp_path):
    (tmp_path / "t.csv").write_bytes(b'a,b\nx,p\rx,p\r\nx,p\n\n\n\rx\nx,p,q\n"x,p\nx,"p"')
    options = {"source": "a", "target": "b", "source_states": ["x", "y"], "states": ["p", "q"]}
    assert count(tmp_path / "t.csv", **options).values.tolist() == [4, 0, 0, 0]
    assert (
        count(tmp_path / "t.csv", unknown="state:q", **options | {"source_states": ["x", "q"]}).values.sum()
        == 4
    )
    (tmp_path / "mac.csv").write_bytes(b"a,b\rx,p\rx,q\r")
    assert count(tmp_path / "mac.csv", **options).values.tolist() == [1, 1, 0, 0]
