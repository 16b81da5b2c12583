"""Groups that an SQL expression computes: what they give, and what is refused."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmarkov.errors import ParameterError, StateSpaceError, TableError
from dpmarkov.events import count

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


@pytest.mark.parametrize(
    "by",
    [
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
