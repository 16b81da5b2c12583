"""The largest counts, the farthest dates and padded text: read alike on DuckDB, PostgreSQL and Spark."""

import itertools

import duckdb
import pytest

from dpmarkov.counts import COUNT_LIMIT
from dpmarkov.errors import ParameterError
from dpmarkov.events import count

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

WEIGHTS = {
    "text": {
        "3": 3,
        " +03.0": 3,
        "9" * 18: COUNT_LIMIT,
        "1" + "0" * 18: COUNT_LIMIT,
        "9199999999999999999": COUNT_LIMIT,
        " +0092" + "0" * 17 + ".00": COUNT_LIMIT,
        "1" + "0" * 3000: COUNT_LIMIT,
        "-92" + "0" * 17: 0,
        "9" * 30 + ".5": 0,
        "NaN": 0,
        "infinity": 0,
    },
    "DECIMAL(38, 2)": {
        "7.00": 7,
        "7.50": 0,
        "9199999999999999999.00": COUNT_LIMIT,
        "9199999999999999999.99": 0,
        "9200000000000000000.00": COUNT_LIMIT,
        "9200000000000000000.50": 0,
        "9" * 36: COUNT_LIMIT,
        "-" + "9" * 36: 0,
    },
    "DOUBLE": {
        "9007199254740991": COUNT_LIMIT,
        "9007199254740992": COUNT_LIMIT,
        "1.7e308": COUNT_LIMIT,
        "-1e300": 0,
    }
    | {"Infinity": 0, "NaN": 0, "7.5": 0, "7": 7},
    "BIGINT": {str(2**63 - 1): COUNT_LIMIT, str(-(2**63)): 0, "7": 7},
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_no_count_is_too_large_on_any_engine(postgres, spark, kind):
    def query(declared):
        rows = [f"SELECT {i} AS s, CAST('{n}' AS {declared}) AS n" for i, n in enumerate(WEIGHTS[kind])]
        return " UNION ALL ".join(rows)

    names = {"text": ("VARCHAR", "TEXT", "STRING"), "DOUBLE": ("DOUBLE", "DOUBLE PRECISION", "DOUBLE")}
    table, server, cluster = (query(name) for name in names.get(kind, (kind, kind, kind)))
    options = {"column": "s", "states": range(len(WEIGHTS[kind])), "count": "n"}
    table = duckdb.connect().sql(table).to_arrow_table()
    for data, where in ((table, {}), (postgres, {"query": server}), (spark, {"query": cluster})):
        assert count(data, **options, **where).values.tolist() == list(WEIGHTS[kind].values()), type(data)


def test_postgres_reads_a_count_of_any_number_of_digits(postgres):
    values = {
        "1e100": COUNT_LIMIT,
        "1" + "0" * 90_000: COUNT_LIMIT,
        "1e-5": 0,
        "NaN": 0,
        "Infinity": 0,
        "-Infinity": 0,
    }
    values |= {f"{'1' * 30}.5": 0, "9.2e18": COUNT_LIMIT}
    query = " UNION ALL ".join(f"SELECT {i} AS s, '{n}'::numeric AS n" for i, n in enumerate(values))
    counts = count(postgres, query=query, column="s", count="n", states=range(len(values)))
    assert counts.values.tolist() == list(values.values())


def test_dates_as_text_end_with_the_year_9999_on_every_engine(postgres, spark):
    far = {"duckdb": ["10000-01-01", "0044-03-15 (BC)", "infinity"], "spark": ["+10000-01-01", "-0043-03-15"]}
    far["postgres"] = ["10000-01-01", "0044-03-15 BC", "infinity", "-infinity"]
    states = [*itertools.chain(*far.values()), "0001-01-01", "9999-12-31"]
    for engine, days in far.items():
        query = " UNION ALL ".join(
            f"SELECT CAST('{day}' AS DATE) AS d" for day in [*days, "0001-01-01", "9999-12-31"]
        )
        table = duckdb.connect().sql(query).to_arrow_table() if engine == "duckdb" else None
        data, where = {"postgres": (postgres, {"query": query}), "spark": (spark, {"query": query})}.get(
            engine, (table, {})
        )
        counts = count(data, column="d", states=list(dict.fromkeys(states)), **where)
        assert counts.values.sum() == counts.values[-2:].sum() == 2, engine


def test_spark_reads_char_without_the_blanks_that_pad_it(spark):
    spark.sql("CREATE TABLE padded (c CHAR(3), v STRING) USING parquet")
    try:
        spark.sql("INSERT INTO padded VALUES ('a', 'a  '), ('abc', 'abc')")
        options = {"table": "padded", "states": ["a", "abc"]}
        assert count(spark, column="c", **options).values.tolist() == [1, 1]
        assert count(spark, column="v", **options).values.tolist() == [0, 1]
    finally:
        spark.sql("DROP TABLE padded")


def test_a_spark_session_that_reads_patterns_otherwise_is_refused(spark):
    spark.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    try:
        with pytest.raises(ParameterError, match=r"escapedStringLiterals.* set it to false"):
            count(spark, query="SELECT '7' AS s", column="s", states=[7, 8])
    finally:
        spark.conf.unset("spark.sql.parser.escapedStringLiterals")
