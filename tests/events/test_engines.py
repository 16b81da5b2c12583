"""The same counts, and the same kept events for the same key, on DuckDB, PostgreSQL and Spark."""

import datetime as dt
import warnings
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpmarkov.errors import EngineError, ParameterError, TableError
from dpmarkov.events import check, count

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

USER, TIME, STATE = 'the "user"', "time at", "st`ate'"


def log(rows: int = 300) -> pd.DataFrame:
    """A log with every kind of value that could be read differently by two engines."""
    rng = np.random.default_rng(8)
    start = dt.datetime(2024, 2, 28, 22)
    stamps = [start + dt.timedelta(minutes=int(m), microseconds=int(m)) for m in rng.integers(0, 4000, rows)]
    texts = [s.isoformat(sep=rng.choice([" ", "T"])) for s in stamps]
    odd = [
        "2024-02-30 10:00:00",
        "2024-02-29",
        "2024-02-29T23:59",
        "24:00",
        "2024-02-28T22:00+02:00",
        "12",
        "",
    ]
    odd += ["2023-02-29", "0000-01-01", "2024-02-28 22:00:00.5Z", "2024-02-29 25:00:00", "NaN", "x\n", "5\n"]
    for i, text in enumerate(odd * 3):
        texts[7 * i] = text
    states = rng.choice(["a", "b", "c", "3", "03", "3.0", " 3", "3\n", "A", "ä", "?", ""], rows)
    numbers = rng.choice([1.0, 2.0, 2.5, 3.0, -1.0, np.nan, np.inf, 1e300], rows)
    return pd.DataFrame(
        {
            USER: [None if i % 31 == 0 else f"Üser {i}" for i in rng.integers(0, 12, rows)],
            "id": rng.integers(-5, 5, rows),
            TIME: stamps,
            "text time": texts,
            STATE: [None if i % 29 == 0 else s for i, s in enumerate(states)],
            "number": numbers,
            "decimal": [Decimal(str(v)) if np.isfinite(v) and abs(v) < 1e6 else None for v in numbers],
            "flag": [None if i % 17 == 0 else bool(i % 2) for i in range(rows)],
            "day": [s.date() for s in stamps],
        }
    )


TYPES = {"id": "INTEGER", TIME: "TIMESTAMP", "number": "DOUBLE PRECISION", "decimal": "NUMERIC(20,3)"}
TYPES |= {"flag": "BOOLEAN", "day": "DATE"}


@pytest.fixture(scope="module")
def tables(postgres, spark, tmp_path_factory):
    import psycopg

    frame = log()
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    quoted = ['"' + name.replace('"', '""') + '"' for name in frame.columns]
    with psycopg.connect(postgres) as connection:
        fields = ", ".join(f"{q} {TYPES.get(n, 'TEXT')}" for q, n in zip(quoted, frame.columns, strict=True))
        connection.execute('CREATE SCHEMA "my data"')
        connection.execute(f'CREATE TABLE "my data"."the log" ({fields})')
        marks = ", ".join(["%s"] * len(quoted))
        rows = [tuple(row.values()) for row in arrow.to_pylist()]
        connection.cursor().executemany(f'INSERT INTO "my data"."the log" VALUES ({marks})', rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = (
            ", ".join(
                f"`{n.replace('`', '``')}` {TYPES.get(n, 'STRING').replace('DOUBLE PRECISION', 'DOUBLE')}"
                for n in frame.columns
            )
            .replace("NUMERIC", "DECIMAL")
            .replace("TIMESTAMP", "TIMESTAMP_NTZ")
        )
        data = spark.createDataFrame([tuple(row.values()) for row in arrow.to_pylist()], schema)
    path = tmp_path_factory.mktemp("duck") / "log.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrow", arrow)
        connection.execute('CREATE TABLE "the log" AS SELECT * FROM arrow')
    return {
        "duckdb": (arrow, {}),
        "duckdb file": (f"duckdb:///{path}", {"table": "the log"}),
        "postgres": (postgres, {"table": "my data.the log"}),
        "postgres query": (postgres, {"query": 'SELECT * FROM "my data"."the log" -- all of it'}),
        "spark": (data, {}),
    }


SEQUENCE = {"user": USER, "time": TIME, "state": STATE}
QUESTIONS = {
    "pairs": {"source": STATE, "target": STATE, "states": ["a", "b", "3", "ä"]},
    "whole numbers": {"source": STATE, "target": "number", "states": [1, 2, 3, -1]},
    "numbers as text": {"source": "number", "target": "decimal", "states": ["1", "2", "3", "true"]},
    "decimals": {"source": "decimal", "target": "flag", "states": [0, 1, 2, 3]},
    "flags": {"source": "flag", "target": "flag", "states": ["true", "false"]},
    "weights": {"column": STATE, "count": "number", "states": ["a", "b", "c"]},
    "unknown": {"source": STATE, "target": "number", "states": ["a", "b", "3"], "unknown": "state:b"},
    "sequences": {**SEQUENCE, "states": ["a", "b", "c", "3"]},
    "gap and hour": {**SEQUENCE, "states": ["a", "b", "c"], "gap": "90m", "by": "hour"},
    "weekday": {**SEQUENCE, "states": ["a", "b", "c"], "by": "weekday", "end": "c"},
    "month": {**SEQUENCE, "states": ["a", "b", "c"], "by": "month", "lengths": 5},
    "date": {
        **SEQUENCE,
        "states": ["a", "b"],
        "by": "date(text time)",
        "groups": ["2024-02-29", "2024-02-28"],
    },
    "text times": {**SEQUENCE, "time": "text time", "states": ["a", "b", "c", "3"]},
    "text times and gap": {**SEQUENCE, "time": "text time", "states": ["a", "b", "c"], "gap": "2h"},
    "text numbers": {**SEQUENCE, "time": "text time", "states": ["a", "b"], "gap": 3},
    "days": {**SEQUENCE, "time": "day", "states": ["a", "b", "c"], "gap": "1d"},
    "bounded": {**SEQUENCE, "states": ["a", "b", "c", "3"], "max_events": 5},
    "bounded in pairs": {**SEQUENCE, "states": ["a", "b"], "max_events": 4, "max_per_pair": 1, "lengths": 4},
    "bounded by id": {**SEQUENCE, "user": "id", "states": ["a", "b", "c"], "max_events": 7, "collapse": True},
    "bounded by decimal": {**SEQUENCE, "user": "decimal", "states": ["a", "b", "c"], "max_events": 7},
    "bounded weights": {
        "source": STATE,
        "target": STATE,
        "user": "number",
        "count": "id",
        "states": ["a", "b", "c"],
        "max_events": 3,
    },
    "sparse": {**SEQUENCE, "states": ["a", "b"], "support": [("a", "b"), ("b", "a")], "max_events": 2},
}


CHECKED = {"whole numbers", "text times and gap", "bounded weights", "sparse"}
# Spark plans for seconds what the others do in milliseconds: it gets a selection that fills every slot.
ON_SPARK = {"pairs", "decimals", "unknown", "text times", "gap and hour", "month", "bounded in pairs"}
ON_SPARK |= {"bounded by decimal"}
CHECKED_ON_SPARK = {"text times and gap", "sparse"}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_same_counts_on_every_engine(tables, name):
    options = QUESTIONS[name]
    chosen = {engine: table for engine, table in tables.items() if engine != "spark" or name in ON_SPARK}
    results = {engine: count(data, **options, **where, seed=4) for engine, (data, where) in chosen.items()}
    expected = results["duckdb"].values
    assert expected.sum() > 0
    for engine, counts in results.items():
        np.testing.assert_array_equal(counts.values, expected, err_msg=engine)


@pytest.mark.parametrize("name", sorted(CHECKED))
def test_the_same_figures_on_every_engine(tables, name):
    chosen = {
        engine: table for engine, table in tables.items() if engine != "spark" or name in CHECKED_ON_SPARK
    }
    figures = [check(data, **QUESTIONS[name], **where).figures for data, where in chosen.values()]
    assert all(found.keys() == figures[0].keys() for found in figures)
    # The order of the rows is the engine's own; all other figures agree.
    for found in figures:
        assert {**found, "rows out of time order": 0} == {**figures[0], "rows out of time order": 0}


def test_another_key_keeps_other_events(tables):
    data, where = tables["postgres"]
    options = QUESTIONS["bounded"]
    first, second = (count(data, **options, **where, seed=seed).values for seed in (4, 5))
    assert first.sum() == second.sum()
    assert not np.array_equal(first, second)


def test_nothing_is_written_to_the_database(postgres, tables):
    with pytest.raises(TableError, match="single SELECT"):
        count(postgres, query="DELETE FROM t RETURNING *", column="x", states=["a", "b"])
    with pytest.raises(TableError, match="single SELECT"):
        count(postgres, query="SELECT 1) AS x; DROP TABLE t; --", column="x", states=["a", "b"])
    query = "SELECT nextval('counter')::text AS x"
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE SEQUENCE counter")
    with pytest.raises(EngineError, match="nothing was released"):
        count(postgres, query=query, column="x", states=["a", "b"])


def test_credentials_reach_no_message(postgres):
    for address in (
        "postgresql://me:hunter2@127.0.0.1:1/db",
        "postgresql://me:hunter2@[bad/db",
        "postgres:/me:hunter2@host/db",
        "mysql://me:hunter2@host/db",
    ):
        with pytest.raises((TableError, ParameterError)) as caught:
            count(address, table="t", column="x", states=["a", "b"])
        assert "hunter2" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_a_failing_row_is_not_quoted(postgres):
    failing = "CASE WHEN g = 7 THEN CAST('secret' || g AS int)::text ELSE 'a' END"
    query = f"SELECT {failing} AS x FROM generate_series(1, 9) g"
    with pytest.raises(EngineError) as caught:
        count(postgres, query=query, column="x", states=["a", "b"])
    assert "secret" not in str(caught.value)


def test_a_connection_that_drops(postgres):
    import psycopg

    query = "SELECT CASE WHEN pg_terminate_backend(pg_backend_pid()) THEN 'a' ELSE 'b' END AS x"
    with pytest.raises(EngineError, match="nothing was released"):
        count(postgres, query=query, column="x", states=["a", "b"])
    with psycopg.connect(postgres) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_databases_need_a_table(postgres, tmp_path):
    with pytest.raises(ParameterError, match="name one with table"):
        count(postgres, column="x", states=["a", "b"])
    with pytest.raises(TableError, match="no such file"):
        count(f"duckdb:///{tmp_path}/none.db", table="t", column="x", states=["a", "b"])
    with pytest.raises(TableError, match="cannot be read in PostgreSQL"):
        count(postgres, table="no.such", column="x", states=["a", "b"])
    with pytest.raises(ParameterError, match="go with a database"):
        count(pa.table({"x": ["a"]}), table="t", column="x", states=["a", "b"])


def test_postgres_types(postgres):
    import psycopg

    with psycopg.connect(postgres) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('a', 'b')")
        connection.execute("CREATE DOMAIN short AS varchar(3)")
        connection.execute(
            "CREATE TABLE odd AS SELECT 'a'::mood AS m, 'b'::short AS d, 'b'::char(4) AS c, "
            "'infinity'::timestamp AS t, 'NaN'::numeric AS n, '{1}'::int[] AS list"
        )
    options = {"table": "odd", "states": ["a", "b"]}
    assert count(postgres, source="m", target="c", **options).matrix().tolist() == [[0, 1], [0, 0]]
    assert count(postgres, source="d", target="m", **options).matrix().tolist() == [[0, 0], [1, 0]]
    assert count(postgres, column="n", table="odd", states=[1, 2]).values.sum() == 0
    assert count(postgres, user="m", time="t", state="c", **options).values.sum() == 0
    with pytest.raises(TableError, match="can never match"):
        count(postgres, column="list", **options)


LOG = {"user": "u", "time": "t", "state": "s", "states": ["a", "b"]}
ODD = {
    (38, 0): ["1", "2", "9" * 38, "-" + "9" * 38],
    (38, 20): ["1", "2", "1.00000000000000000001", "-" + "9" * 18],
    (38, 30): ["1", "2", "-99999999.5"],
    (38, 38): ["0", "0.5", "-0.5", "0." + "9" * 38, "0." + "0" * 37 + "1"],
}


def test_postgres_takes_equal_numbers_for_one_user(postgres):
    query = (
        "SELECT u::numeric, 'a' AS s FROM unnest(ARRAY['7', '7.0', '7.00', '70', '7e1', 'NaN', '-0']) AS u"
    )
    bounded = count(postgres, query=query, column="s", user="u", max_events=1, states=["a", "b"])
    assert bounded.values.tolist() == [4, 0]
    visits = f"{query.replace(' AS s', ' AS s, 1 AS t')}"
    look = check(postgres, query=visits, **LOG, max_events=1)
    assert look.figures["users with events"] == 4


def test_postgres_compares_text_byte_by_byte(postgres):
    import psycopg

    with psycopg.connect(postgres) as connection:
        try:
            connection.execute(
                "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
            )
        except psycopg.Error:
            pytest.skip("this PostgreSQL has no ICU")
        connection.execute("CREATE TABLE loose (s TEXT COLLATE loose)")
        connection.execute("INSERT INTO loose VALUES ('A'), ('a'), ('a'), ('a'), ('1')")
    options = {"table": "loose", "column": "s"}
    assert count(postgres, states=["a", "A"], **options).values.tolist() == [3, 1]
    assert count(postgres, states=[1, 2], **options).values.tolist() == [1, 0]
    assert count(postgres, user="s", max_events=1, states=["a", "A"], **options).values.tolist() == [1, 1]


def test_postgres_has_no_date_too_far(postgres):
    days = "(VALUES (1, DATE '2024-01-01', 'a'), (1, '2024-01-02', 'b'){}) AS v(u, t, s)"
    far = ["300000-01-01", "5874897-12-31", "4713-01-01 BC", "infinity"]
    more = "".join(f", (9, '{day}', 'a')" for day in far)
    for by in (None, "month"):
        near, far = (
            count(postgres, query=f"SELECT * FROM {days.format(rows)}", **LOG, by=by).values
            for rows in ("", more)
        )
        assert near.sum() == 2
        assert (far - near).sum() == (1 if by is None else 0)
    stamps = days.replace("DATE '2024", "TIMESTAMP '2024").format(
        ", (9, '294276-12-31 23:59:59', 'a'), (9, '4713-01-01 BC', 'a')"
    )
    assert count(postgres, query=f"SELECT * FROM {stamps}", **LOG).values.sum() == 3


def test_spark_has_no_date_too_far(spark):
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    near = "SELECT 1 AS u, DATE '2024-01-01' AS t, 'a' AS s UNION ALL SELECT 1, DATE '2024-01-02', 'b'"
    far = (
        f"{near} UNION ALL SELECT 9, DATE '+300000-01-01', 'a' UNION ALL SELECT 9, DATE '+5881580-07-11', 'a'"
    )
    counts = [count(spark, query=query, **LOG).values.tolist() for query in (near, far)]
    assert counts[0] == counts[1]
    for kind in ("TIMESTAMP", "TIMESTAMP_NTZ"):
        later = f"SELECT 9, {kind} '2024-01-01' + INTERVAL '290000' YEAR, 'a'"
        stamps = f"{near.replace('DATE', kind)} UNION ALL {later}"
        assert count(spark, query=stamps, **LOG).values.sum() == 2


@pytest.mark.parametrize("scale", [scale for _, scale in ODD])
def test_no_decimal_is_too_wide_on_any_engine(postgres, spark, scale):
    values = ODD[38, scale]
    declared = f"DECIMAL(38, {scale})"
    query = " UNION ALL ".join(f"SELECT CAST('{value}' AS {declared}) AS s" for value in [*values, values[0]])
    query += f" UNION ALL SELECT CAST(NULL AS {declared})"
    table = duckdb.connect().sql(query).to_arrow_table()
    for data, where in ((table, {}), (postgres, {"query": query}), (spark, {"query": query})):
        found = count(data, column="s", states=[0, 1, 2], **where).values.tolist()
        assert found == [2 * ("0" in values), 2 * ("1" in values), int("2" in values)], type(data)
    texts = "SELECT 'true' AS s UNION ALL SELECT 'false' UNION ALL SELECT 'TRUE' UNION ALL SELECT '1'"
    if scale == 0:
        for data in (postgres, spark):
            assert count(data, query=texts, column="s", states=[0, 1]).values.tolist() == [1, 2]


def test_a_spark_session_is_left_as_it_was(spark, tables):
    data, _ = tables["spark"]
    data.createOrReplaceTempView("mine")
    before = {table.name for table in spark.catalog.listTables()}
    counts = count(spark, table="mine", **QUESTIONS["whole numbers"])
    asked = count(spark, query="SELECT * FROM mine", **QUESTIONS["whole numbers"])
    np.testing.assert_array_equal(counts.values, asked.values)
    assert {table.name for table in spark.catalog.listTables()} == before
    with pytest.raises(TableError, match="cannot be read in Spark"):
        count(spark, table="no_such", column="x", states=["a", "b"])
