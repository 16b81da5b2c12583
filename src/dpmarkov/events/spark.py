"""Spark, for what outgrows one machine: the SQL text runs there and only the counts leave it."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import EngineError, ParameterError, TableError
from dpmarkov.events.dialect import Dialect, Kind
from dpmarkov.events.engine import Column, Engine, Integers, Query, pick
from dpmarkov.events.progress import progress_bar

__all__ = ["SparkDialect", "is_spark", "open_spark"]

_KINDS = {
    "tinyint": Kind.INTEGER,
    "smallint": Kind.INTEGER,
    "int": Kind.INTEGER,
    "bigint": Kind.INTEGER,
    "float": Kind.FLOAT,
    "double": Kind.FLOAT,
    "boolean": Kind.BOOLEAN,
    "string": Kind.TEXT,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_ntz": Kind.TIMESTAMP,
}


class SparkDialect(Dialect):
    """Spark SQL, whatever the session's time zone and its ANSI mode."""

    name = "spark"
    text_type = "STRING"
    row_place = "monotonically_increasing_id()"

    @staticmethod
    def quote(name: str) -> str:
        """`name` as a quoted identifier."""
        return "`" + name.replace("`", "``") + "`"

    @staticmethod
    def literal(text: str) -> str:
        """`text` as a string literal."""
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def matches(self, text: str, pattern: str) -> str:
        """Whether `text` matches a pattern; in Java's, `$` would allow a line break before the end."""
        java = f"{pattern[:-1]}\\z" if pattern.endswith("$") else pattern
        return f"{text} RLIKE {self.literal(java)}"

    def text_to_whole(self, expression: str) -> str:
        """Text that matches `whole_pattern` as a 64-bit integer."""
        digits = f"regexp_replace({expression}, {self.literal(self.whole_pattern)}, '$1$2')"
        return f"CAST({digits} AS BIGINT)"

    def decimal_to_whole(self, expression: str) -> str:
        """A decimal number as a 64-bit integer, by its text: compared with others, it would be rounded."""
        return f"(CASE {self._digits(self.decimal_text(expression))} END)"

    def decimal_text(self, expression: str) -> str:
        """A decimal number as text, one text for equal numbers; Spark may write zero as 0E-18."""
        text = self.cast_text(expression)
        plain = f"{text} LIKE '%.%' AND {text} NOT LIKE '%E%'"
        trimmed = f"TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM {text}))"
        zero = f"CAST({expression} AS DOUBLE) = 0"
        return f"(CASE WHEN {zero} THEN '0' WHEN {plain} THEN {trimmed} ELSE {text} END)"

    def hash_number(self, text: str) -> str:
        """The first 60 bits of the SHA-256 of a text's UTF-8 bytes, as a 64-bit integer."""
        return f"CAST(conv(substr(sha2({text}, 256), 1, 15), 16, 10) AS BIGINT)"

    def quotient(self, whole: str, part: str) -> str:
        """Whole-number division of integers >= 0, rounded down."""
        return f"(({whole}) DIV {part})"

    def moment(self, expression: str, kind: Kind) -> str:
        """A timestamp or a date as microseconds since 1970."""
        if kind is Kind.DATE:
            return f"({self.wide(f'unix_date({expression})')} * 86400000000)"
        return f"unix_micros({expression})"

    def text_moment(self, expression: str, zoned: bool) -> str:
        """Valid ISO 8601 text as microseconds since 1970."""
        text = f"({expression})" if zoned else f"({expression} || 'Z')"
        return f"unix_micros(CAST({text} AS TIMESTAMP))"

    def day(self, days: str) -> str:
        """Days since 1970 as a date."""
        return f"date_add(DATE'1970-01-01', CAST({days} AS INT))"


class SparkEngine(Engine):
    """A DataFrame in Spark."""

    def __init__(self, session: Any, frame: Any, columns: list[Column], stop: bool) -> None:
        self.dialect = SparkDialect()
        self.columns = columns
        self._session = session
        self._stop = stop
        self._prefix = f"dpmarkov_{uuid.uuid4().hex}_"
        self._views: list[str] = []
        self._kept: Any = None
        self._view("data", frame)
        self.relation = f"{self._prefix}data"

    def share(self, name: str, columns: Mapping[str, Sequence[object] | Integers]) -> None:
        """A small public table as a temporary view of the session."""
        lists = [
            values.tolist() if isinstance(values, np.ndarray) else list(values) for values in columns.values()
        ]
        kinds = [
            "BIGINT" if all(isinstance(value, int) for value in column) else "STRING" for column in lists
        ]
        schema = ", ".join(f"{column} {kind}" for column, kind in zip(columns, kinds, strict=True))
        self._view(name, self._session.createDataFrame(list(zip(*lists, strict=True)), schema))

    def fetch(self, query: Query, *, progress: bool = False) -> list[npt.NDArray[Any]]:
        """Run a query; the columns of its answer.

        The events are kept once they were read, so that a table that changes meanwhile is read but once.
        """
        steps = {name: f"SELECT * FROM {self._prefix}{name}" for name in self._views if name != "data"}
        try:
            with progress_bar(progress, lambda: -1.0) as tick:
                tick()
                for name, text in query.steps.items():
                    steps[name] = text
                    if name == "events":
                        self._keep(self._session.sql(_with(steps, "SELECT * FROM events")))
                        steps = {"events": f"SELECT * FROM {self._prefix}events"}
                frame = self._session.sql(_with(steps, query.select))
                rows = frame.collect()
        except Exception as error:
            # Spark's text may quote the value that it stumbled over: its class is all that is said.
            raise EngineError(
                f"counting in Spark failed ({type(error).__name__}); nothing was released. Check that the "
                "cluster is still up and that the data can be read, then try again"
            ) from None
        if not rows:
            return [np.zeros(0, dtype=np.int64) for _ in frame.columns]
        return [np.array(column) for column in zip(*rows, strict=True)]

    def _keep(self, frame: Any) -> None:
        if self._kept is not None:
            self._kept.unpersist()
        self._kept = frame.persist()
        self._view("events", self._kept)

    def _view(self, name: str, frame: Any) -> None:
        frame.createOrReplaceTempView(f"{self._prefix}{name}")
        if name not in self._views:
            self._views.append(name)

    def close(self) -> None:
        """Drop what was made in the session; stop it only if it was started here."""
        if self._stop:
            self._session.stop()
            return
        if self._kept is not None:
            self._kept.unpersist()
        for name in self._views:
            self._session.catalog.dropTempView(f"{self._prefix}{name}")


def _with(steps: Mapping[str, str], select: str) -> str:
    return f"WITH {', '.join(f'{name} AS ({text})' for name, text in steps.items())} {select}"


def is_spark(data: Any) -> bool:
    """Whether `data` is a Spark session or DataFrame, without importing Spark."""
    return any(kind.__module__.startswith("pyspark.sql") for kind in type(data).__mro__)


def open_spark(data: Any, wanted: Sequence[str], *, table: str | None, query: str | None) -> SparkEngine:
    """Open a Spark DataFrame, or a table or a query of a session.

    A text `spark://host:port` (or `spark://local[2]`) starts a session and stops it afterwards.
    """
    session, stop = data, False
    if isinstance(data, str):
        session, stop = _start(data), True
    elif hasattr(data, "sparkSession") and hasattr(data, "createOrReplaceTempView"):
        session = data.sparkSession
    try:
        if session is not data or stop:
            frame = data if not stop else _frame(session, table, query)
        else:
            frame = _frame(session, table, query)
        if str(session.conf.get("spark.sql.parser.escapedStringLiterals", "false")).lower() == "true":
            raise ParameterError(
                "this Spark session sets spark.sql.parser.escapedStringLiterals, under which patterns match "
                "nothing; set it to false for the count"
            )
        available = {field.name: _kind(field.dataType) for field in frame.schema.fields}
        columns = pick(available, wanted, f"table {table}" if table is not None else "the Spark table")
        chosen = [frame[SparkDialect.quote(column.name)].alias(column.sql) for column in columns]
        return SparkEngine(session, _plain(frame.select(*chosen), columns), columns, stop)
    except BaseException:
        if stop:
            session.stop()
        raise


def _kind(data_type: Any) -> Kind:
    name = str(data_type.simpleString())
    if name.startswith("decimal"):
        return Kind.DECIMAL
    return Kind.TEXT if name.startswith(("varchar", "char(")) else _KINDS.get(name, Kind.OTHER)


def _plain(frame: Any, columns: Sequence[Column]) -> Any:
    """Times without a zone are read as UTC, whatever the session's zone is, and CHAR without its padding."""
    from pyspark.sql import functions

    for column in columns:
        field, text = frame.schema[column.sql], f"CAST({column.sql} AS STRING)"
        kind = str(field.metadata.get("__CHAR_VARCHAR_TYPE_STRING", field.dataType.simpleString()))
        if kind == "timestamp_ntz":
            utc = functions.expr(f"TRY_CAST({text} || 'Z' AS TIMESTAMP)")
            frame = frame.withColumn(column.sql, utc)
        elif kind.startswith("char("):
            frame = frame.withColumn(column.sql, functions.expr(f"rtrim({text})"))
    return frame


def _frame(session: Any, table: str | None, query: str | None) -> Any:
    try:
        if query is not None:
            frame = session.sql(f"SELECT * FROM ({query}\n)")
        else:
            frame = session.table(".".join(SparkDialect.quote(part) for part in str(table).split(".")))
        _ = frame.schema  # a remote session looks the table up only when asked
        return frame
    except Exception as error:
        where = "the query" if query is not None else f"table {table}"
        raise TableError(
            f"{where} cannot be read in Spark ({type(error).__name__}); check its name and your rights. "
            "A query must be a single SELECT"
        ) from None


def _start(address: str) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise TableError("Spark needs the extra 'spark': pip install 'dpmarkov[spark]'") from None
    local = address.removeprefix("spark://")
    master = local if local.startswith("local") else address
    try:
        return SparkSession.builder.master(master).appName("dpmarkov").getOrCreate()
    except Exception as error:
        raise TableError(
            f"Spark cannot be started ({type(error).__name__}): it needs a full Java 17 or later on the "
            "machine, and a cluster that answers"
        ) from None
