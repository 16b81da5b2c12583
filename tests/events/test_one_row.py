"""One row more neither fails a count nor changes how the other rows are read."""

import datetime as dt
import math
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpmarkov.counts import COUNT_LIMIT
from dpmarkov.errors import TableError
from dpmarkov.events import check, count
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


VISITS = {"user": "u", "time": "t", "state": "s", "states": ["a", "b"]}


@pytest.mark.parametrize("odd", ["n/a", 2**63 - 1, Decimal("9.3e18"), 9.3e18])
def test_an_odd_value_leaves_nanoseconds_as_they_were(odd, tmp_path):
    times = [1_700_000_000_000_000_000 + i * 10**9 for i in range(4)]
    table = pd.DataFrame({"u": [1] * 4, "t": times, "s": list("abab")})
    expected = count(table, **VISITS, gap=10**9).values
    assert expected.sum() == 4
    row = pd.DataFrame({"u": [9], "t": pd.Series([odd], dtype=object), "s": ["a"]})
    more = pd.concat([table.astype({"t": object}), row])
    more.astype({"t": str}).to_csv(tmp_path / "t.csv", index=False)
    for data in (more, tmp_path / "t.csv"):
        np.testing.assert_array_equal(count(data, **VISITS, gap=10**9).values, expected)


FAR = {"s": (1, 2**62 // 1000), "ms": (10**3, 2**62), "us": (10**6, 2**63 - 1), "ns": (10**9, 2**63 - 1)}


def times(unit, zone, more=()):
    """Noon, and a time that no microseconds (or no nanoseconds) hold."""
    per_second, far = FAR[unit]
    stamps = pa.array([1_704_110_400 * per_second, far]).cast(pa.timestamp(unit, tz=zone))
    return pa.table({"u": [1, 1], "s": ["a", "a"], "t": stamps})


@pytest.mark.parametrize("unit", FAR)
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_a_time_too_far_leaves_the_others_as_they_were(unit, zone, tmp_path):
    table = times(unit, zone)
    pq.write_table(table, tmp_path / "t.parquet")
    forms = [table, pa.concat_tables([table.slice(0, 1), table.slice(1)]), tmp_path / "t.parquet"]
    forms += [table.to_pandas()] + [pl.from_arrow(table)] * (unit != "s")
    if unit == "ns":
        with duckdb.connect(str(tmp_path / "t.db")) as made:
            made.register("given", table)
            made.execute("CREATE TABLE t AS SELECT * FROM given")
        forms.append(f"duckdb:///{tmp_path}/t.db")
    for data in forms:
        where = {"table": "t"} if isinstance(data, str) else {}
        assert count(data, **VISITS, **where).values.sum() == 1
        by = count(data, source="s", target="s", states=["a", "b"], by="hour(t)", **where)
        assert by.values.sum() == by.matrix(12)[0, 0] == 1
        by = count(data, source="s", target="s", states=["a", "b"], by="(hour(t))", groups=[12, 13], **where)
        assert by.values.sum() == by.matrix(12)[0, 0] == 1


def test_files_in_milliseconds_stand_beside_others(tmp_path):
    for i, (unit, zone) in enumerate(
        [("s", None), ("ms", None), ("ms", "UTC"), ("us", "UTC"), ("ns", "UTC")]
    ):
        pq.write_table(times(unit, zone), tmp_path / f"t{i}.parquet")
    packed = times("ms", None).set_column(1, "s", pa.array(["a", "a"]).dictionary_encode())
    pq.write_table(packed, tmp_path / "t5.parquet")
    nested = pa.table({"u": [1], "s": ["a"], "t": pa.array([[0]], pa.list_(pa.timestamp("ms")))})
    pq.write_table(nested, tmp_path / "nested.parquet")
    assert count(f"{tmp_path}/t*.parquet", **VISITS, by="hour").values.sum() == 6
    with pytest.raises(TableError, match="times are timestamps"):
        count(tmp_path / "nested.parquet", **VISITS)
    halves = pa.table({"f": pa.array([1, 2], pa.float16()), "t": times("ms", None)["t"]})
    pq.write_table(halves, tmp_path / "half.parquet")
    counts = count(tmp_path / "half.parquet", column="f", states=[1, 2], by="hour(t)")
    assert counts.values.sum() == counts.matrix(12)[0, 0] == 1


@pytest.mark.parametrize("dtype", ["string[python]", "category"])
def test_text_that_is_none_is_read_row_by_row(dtype):
    texts = pd.Series(["a", "b", "\ud800", None], dtype="string[python]").astype(dtype)
    assert count(pd.DataFrame({"s": texts}), column="s", states=["a", "b"]).values.tolist() == [1, 1]


def test_an_object_that_raises_is_missing():
    class Odd(int):
        def __int__(self):
            raise RuntimeError("secret")

    table = pd.DataFrame({"s": pd.Series(["a", Odd(1)], dtype=object)})
    assert count(table, column="s", states=["a", "b"]).values.tolist() == [1, 0]


def test_types_that_cannot_be_read_say_what_to_do():
    for array in (pa.array([Decimal(1)], pa.decimal256(50, 0)), pa.array([1.0], pa.float16())):
        with pytest.raises(TableError, match=r"'s' \(.* cannot be read: cast it to text, integers"):
            count(pa.table({"s": array}), column="s", states=["a", "b"])


LIMITS = {
    "double": (pa.float64(), 2.0**53 - 1, 2.0**53),
    "float": (pa.float32(), 2.0**40, 2.0**60),
    "decimal": (pa.decimal128(38, 0), Decimal(92 * 10**17 - 1), Decimal(92 * 10**17)),
    "unsigned": (pa.uint64(), 2**63 - 1, 2**63),
    "text": (pa.string(), "9199999999999999999", " +09200000000000000000.0"),
    "objects": (None, 2.0**53 - 1, 2.0**53),
    "decimals": (None, Decimal(92 * 10**17 - 1), Decimal("1E+1000000")),
    "integers": (None, 10**38 - 1, 10**5000),
}


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("more", [{}, {"user": "a", "max_events": 3}])
def test_one_event_more_moves_no_count_from_the_limit_to_none(kind, more):
    declared, below, above = LIMITS[kind]
    for value in (below, above):
        if declared is None:
            table = pd.DataFrame({"a": ["x"], "n": pd.Series([value], dtype=object)})
        else:
            table = pa.table({"a": ["x"], "n": pa.array([value], declared)})
        options = {"column": "a", "count": "n", "states": ["x", "y"]} | more
        assert count(table, **options).values.tolist() == [3 if more else COUNT_LIMIT, 0]
        assert check(table, **options).figures["count missing, negative or no whole number"] == 0
    for odd in (
        math.inf,
        -(2.0**60),
        math.nan,
        Decimal("Infinity"),
        Decimal("1" + "0" * 30 + ".5"),
        -(10**50),
    ):
        table = pd.DataFrame({"a": ["x"], "n": pd.Series([odd], dtype=object)})
        assert count(table, **options).values.tolist() == [0, 0]


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


@pytest.mark.parametrize("header", [b"a,b\n", b"a,b\r\n", b"a,b\r"])
@pytest.mark.parametrize("odd", [b"", b"z,z\r\r\n", b"z,z\r", b"z\r\rz\n\n\r", b'"x,p\r\r\n', b"\n\r\n"])
def test_no_line_break_eats_what_follows_it(tmp_path, header, odd):
    options = {"source": "a", "target": "b", "source_states": ["x", "y"], "states": ["p", "q"]}
    for end in (b"\n", b"\r\n", b"\r"):
        rows = [b"x,p" + end, b"y,q" + end] * 2
        (tmp_path / "t.csv").write_bytes(header + odd + odd.join(rows))
        assert count(tmp_path / "t.csv", **options).values.tolist() == [2, 0, 0, 2], end
