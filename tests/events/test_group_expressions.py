"""Groups that an SQL expression computes: what they give, and what is refused."""

import contextlib

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmarkov.errors import EngineError, ParameterError, StateSpaceError, TableError
from dpmarkov.events import count
from dpmarkov.events.engine import Query
from dpmarkov.events.frames import open_frame

PAIRS = {"source": "a", "target": "b", "states": ["x", "y"]}
TABLE = pd.DataFrame(
    {
        "a": ["x", "x", "y", "y"],
        "b": ["y", "y", "x", "x"],
        "the n": ["1", "7", "soon", None],
        "when": pd.to_datetime(["2024-01-01 05:00", "2024-01-01 06:00", "2024-01-01 15:00", None]),
    }
)
HALF = 'hour("when") // 12'


@pytest.mark.parametrize("form", ["frame", "parquet", "csv", "duckdb"])
def test_an_expression_on_every_source_that_duckdb_reads(form, tmp_path):
    data, more, half = TABLE, {}, HALF
    if form == "parquet":
        data = tmp_path / "t.parquet"
        TABLE.to_parquet(data)
    elif form == "csv":
        data, half = tmp_path / "t.csv", 'hour(CAST("when" AS TIMESTAMP)) // 12'
        TABLE.to_csv(data, index=False)
        with pytest.raises(ParameterError, match="cast them"):
            count(data, **PAIRS, by=HALF, groups=[0, 1])
    elif form == "duckdb":
        with duckdb.connect(str(tmp_path / "t.db")) as made:
            made.register("given", TABLE)
            made.execute("CREATE TABLE t AS SELECT * FROM given")
        data, more = f"duckdb:///{tmp_path}/t.db", {"table": "t"}
    counts = count(data, **more, **PAIRS, by=half, groups=[0, 1])
    assert counts.matrix(0).tolist() == [[0, 2], [0, 0]]
    assert counts.matrix(1).tolist() == [[0, 0], [1, 0]]
    words = """(CASE WHEN "the n" LIKE '7%' THEN 'seven' WHEN "the n" IS NOT NULL THEN lower('REST') END)"""
    for part in ("date_part('hour', {}) // 12", "(EXTRACT(HOUR FROM {}) // 12)"):
        when = 'CAST("when" AS TIMESTAMP)' if form == "csv" else '"when"'
        parts = count(data, **more, **PAIRS, by=f"({part.format(when)})", groups=[0, 1])
        assert parts.values.tolist() == counts.values.tolist()
    named = count(data, **more, **PAIRS, by=words, groups=["seven", "rest"])
    assert named.matrix("seven").tolist() == [[0, 1], [0, 0]]
    assert named.values.sum() == 3


def test_sequences_by_an_expression_keep_the_bound():
    log = pd.DataFrame({"u": [1] * 9 + [2], "t": [*range(9), 0], "s": list("xyxyxyxyxx")})
    options = {"user": "u", "time": "t", "state": "s", "states": ["x", "y"], "groups": [0, 1, 2]}
    computed = count(log, by="(t // 3)", max_events=4, seed=1, **options)
    column = count(log.assign(third=log["t"] // 3), by="third", max_events=4, seed=1, **options)
    assert computed.values.tolist() == column.values.tolist()
    assert computed.values.sum() == 5


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=12) | st.sampled_from(["1", "0", "99999999999", "2024-02-30", "NaN"])))
def test_no_content_makes_an_expression_fail_or_moves_another_row(values):
    table = pd.DataFrame({"a": ["x", "x", *["y"] * len(values)], "b": ["y"] * (len(values) + 2)})
    table["v"] = pd.Series(["1", "2", *values], dtype="str")
    for by in (
        "(7 / CAST(v AS INTEGER) > 5)",
        "(CAST(v AS INTEGER) * 1000000000 > 1)",
        "(year(CAST(v AS TIMESTAMP)) % 2)",
        "regexp_matches(a || 'z', v)",
        "(CAST(v AS DECIMAL(4, 2)) > 1)",
    ):
        alone = count(table[:2], **PAIRS, by=by, groups=[0, 1])
        assert (
            count(table, **PAIRS, by=by, groups=[0, 1]).values[[1, 5]].tolist()
            == alone.values[[1, 5]].tolist()
        )


# What an optimizer takes out of a TRY: the left side of an IN, and what stands there twice.
TAKEN_OUT = [
    "(x IN (1, 2, 7))",
    "(x NOT IN (1, 2, 300))",
    "(CAST(x AS INTEGER) IN (1, 2, 7))",
    "(CASE WHEN CAST(x AS INTEGER) > 5 THEN CAST(x AS INTEGER) ELSE 0 END > 6)",
    "(CAST(x AS INTEGER) + CAST(x AS INTEGER) > 13)",
    "(CASE WHEN hour(CAST(x AS TIMESTAMP)) IN (7, 8, 9, 16, 17, 18) THEN 1 ELSE 0 END)",
    "(CASE WHEN hour(CAST(x AS TIMESTAMP)) BETWEEN 7 AND 9 THEN 1 ELSE 0 END)",
    "(CAST(x AS DATE) IN ('2020-01-01', '2020-12-25', '2021-01-01'))",
]


@pytest.mark.parametrize("by", TAKEN_OUT)
@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_a_row_that_does_not_fit_is_in_no_group(by, form, tmp_path):
    good = "2020-01-01 08:00:00" if "hour" in by or "DATE" in by else "7"
    found = []
    for value in (good, "zz"):
        data = pd.DataFrame({"a": ["x", "x"], "b": ["y", "y"], "x": [good, value]})
        if form != "frame":
            path = tmp_path / f"t.{form}"
            data.to_csv(path, index=False) if form == "csv" else data.to_parquet(path)
            data = path
        found.append(count(data, **PAIRS, by=by, groups=[0, 1]).matrix(1)[0, 1])
    assert found == [2, 1]


TEXTS = ["(CAST(x AS VARCHAR) || 'a')", "concat(x, x)", "(x || x)", "(CAST(CAST(x AS VARCHAR) AS DATE))"]


@pytest.mark.parametrize("by", TEXTS)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_too_far_are_in_no_group(by, unit, tmp_path):
    far = 2**62 // 1000 if unit == "s" else 2**63 - 1
    times = [0, far, -far, -9223372022400000001 if unit == "us" else far]
    stamps = pa.array(times, pa.timestamp(unit))
    table = pa.table({"a": ["x"] * 4, "b": ["y"] * 4, "x": stamps})
    pq.write_table(table, tmp_path / "t.parquet")
    with duckdb.connect(str(tmp_path / "t.db")) as made:
        made.register("given", table)
        made.execute("CREATE TABLE t AS SELECT * FROM given")
    epoch = "1970-01-01" if "DATE" in by else "1970-01-01 00:00:00"
    groups = [epoch + epoch * ("AS" not in by) + "a" * ("'a'" in by), "z"]
    for data, more in (
        (table, {}),
        (tmp_path / "t.parquet", {}),
        (f"duckdb:///{tmp_path}/t.db", {"table": "t"}),
    ):
        counts = count(data, **more, **PAIRS, by=by, groups=groups)
        assert counts.values.sum() == counts.matrix(groups[0])[0, 1] == 1, type(data)


def test_an_internal_error_of_the_engine_spoils_no_later_count():
    broken = "SELECT CAST(make_timestamp(-9223372036854775806 + c0) AS VARCHAR) || 'a' FROM frame"
    with open_frame(pa.table({"x": [0]}), ["x"]) as engine, contextlib.suppress(EngineError):
        engine.fetch(Query({}, broken))
    assert count(TABLE, **PAIRS).values.sum() == 4


@pytest.mark.parametrize(
    "by",
    [
        'date_part(a, "when")',
        '(date_trunc(lower(a), "when") IS NULL)',
        "(date_trunc('timezone', \"when\") IS NULL)",
        '(EXTRACT(timezone FROM CAST("when" AS DATE)))',
        "random()",
        "(random() > a)",
        "(SELECT 1)",
        "(EXISTS (SELECT a))",
        "max(a)",
        "(a = max(a))",
        "count(*)",
        "sum(v) OVER ()",
        "(row_number() OVER ())",
        "now()",
        "nextval('s')",
        "getenv(a)",
        "repeat(a, 1000000000)",
        "(a), (b)",
        "(a) FROM other WHERE (TRUE)",
        "(a); SELECT (b)",
        "(a -- )",
        "(?)",
        "(other.a)",
        "list_transform([1], x -> x)",
        "(CAST(a AS INTEGER[]))",
        "main.lower(a)",
        "lower(a) FILTER (WHERE a = b)",
        "lower(DISTINCT a)",
        "(1 + 1)",
        "(a COLLATE nocase)",
        "(*)",
        "(COLUMNS(*))",
    ],
)
def test_what_could_look_beyond_its_row_is_refused(by):
    with pytest.raises((ParameterError, TableError)):
        count(TABLE, **PAIRS, by=by, groups=[0, 1])


def test_a_database_that_redefines_a_function_is_refused(tmp_path):
    with duckdb.connect(str(tmp_path / "t.db")) as made:
        made.execute("CREATE TABLE t AS SELECT 'x' AS a, 'y' AS b")
        made.execute("CREATE MACRO lower(v) AS (SELECT max(a) FROM t)")
    with pytest.raises(ParameterError, match="defines anew"):
        count(f"duckdb:///{tmp_path}/t.db", table="t", **PAIRS, by="lower(a)", groups=["x", "y"])


def test_other_engines_say_where_to_put_the_expression(postgres):
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS expressions")
        connection.execute("CREATE TABLE expressions AS SELECT 'x' AS a, 'y' AS b, 13 AS h")
    with pytest.raises(ParameterError, match="view or the query"):
        count(postgres, table="expressions", **PAIRS, by="(h / 12)", groups=[0, 1])
    asked = "SELECT a, b, h / 12 AS half FROM expressions"
    assert count(postgres, query=asked, **PAIRS, by="half", groups=[0, 1]).matrix(1).tolist() == [
        [0, 1],
        [0, 0],
    ]


def test_a_column_that_looks_like_an_expression_is_quoted():
    table = pd.DataFrame({"a": ["x"], "b": ["y"], "sum(v)": [1], "fare (usd)": [1]})
    for by in ('("sum(v)")', "fare (usd)"):
        assert count(table, **PAIRS, by=by, groups=[0, 1]).matrix(1).tolist() == [[0, 1], [0, 0]]


def test_a_group_column_with_a_million_values():
    n = 1_000_000
    table = pd.DataFrame({"a": ["x"] * n, "b": ["y"] * n, "g": np.arange(n)})
    with pytest.raises(StateSpaceError, match="must be declared"):
        count(table, **PAIRS, by="g")
    counts = count(table, **PAIRS, by="g", groups=[3, 5])
    assert counts.values.sum() == 2
    with pytest.raises(StateSpaceError, match="groups"):
        count(table, **PAIRS, by="g", groups=range(n))
