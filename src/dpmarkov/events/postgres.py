"""PostgreSQL, in place: the SQL text runs there and only the small table of counts leaves it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import EngineError, StateSpaceError, TableError
from dpmarkov.events.dialect import Dialect, Kind
from dpmarkov.events.engine import Column, Engine, Integers, Query, pick
from dpmarkov.events.progress import progress_bar

__all__ = ["PostgresDialect", "open_postgres"]

_KINDS = {
    "int2": Kind.INTEGER,
    "int4": Kind.INTEGER,
    "int8": Kind.INTEGER,
    "numeric": Kind.DECIMAL,
    "float4": Kind.FLOAT,
    "float8": Kind.FLOAT,
    "bool": Kind.BOOLEAN,
    "text": Kind.TEXT,
    "varchar": Kind.TEXT,
    "bpchar": Kind.TEXT,
    "name": Kind.TEXT,
    "uuid": Kind.TEXT,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamptz": Kind.TIMESTAMP,
}


class PostgresDialect(Dialect):
    """PostgreSQL: no casts that forgive, so that values are looked at before they are cast."""

    name = "postgresql"
    text_type = "TEXT"
    wide_type = "NUMERIC"

    def matches(self, text: str, pattern: str) -> str:
        """Whether `text` matches a regular expression."""
        return f"{text} ~ {self.literal(pattern)}"

    def text_to_whole(self, expression: str) -> str:
        """Text that matches `whole_pattern` as a 64-bit integer."""
        digits = f"regexp_replace({expression}, {self.literal(self.whole_pattern)}, '\\1\\2')"
        return f"CAST({digits} AS BIGINT)"

    def hash_number(self, text: str) -> str:
        """The first 60 bits of the SHA-256 of a text's UTF-8 bytes, as a 64-bit integer."""
        digest = f"encode(sha256(convert_to({text}, 'UTF8')), 'hex')"
        return f"CAST(CAST('x0' || substr({digest}, 1, 15) AS BIT(64)) AS BIGINT)"

    def quotient(self, whole: str, part: str) -> str:
        """Whole-number division of integers >= 0, rounded down."""
        return f"(({whole}) / {part})"

    def moment(self, expression: str, kind: Kind) -> str:
        """A timestamp or a date as microseconds since 1970."""
        return f"(EXTRACT(EPOCH FROM {expression}) * 1000000)"

    def text_moment(self, expression: str, zoned: bool) -> str:
        """Valid ISO 8601 text as microseconds since 1970."""
        kind = "TIMESTAMPTZ" if zoned else "TIMESTAMP"
        return f"CAST(EXTRACT(EPOCH FROM CAST({expression} AS {kind})) * 1000000 AS BIGINT)"

    def day(self, days: str) -> str:
        """Days since 1970 as a date."""
        return f"(DATE '1970-01-01' + CAST({days} AS INTEGER))"


class PostgresEngine(Engine):
    """A table or a query in PostgreSQL, read in one read-only snapshot."""

    def __init__(self, connection: Any, relation: str, columns: list[Column], where: str) -> None:
        self.dialect = PostgresDialect()
        self.relation = relation
        self.columns = columns
        self._connection = connection
        self._where = where
        self._shared: dict[str, str] = {}
        self._values: dict[str, list[Any]] = {}

    def share(self, name: str, columns: Mapping[str, Sequence[object] | Integers]) -> None:
        """A small public table as an array of parameters: nothing is written to the database."""
        arrays = []
        for column, values in columns.items():
            plain = values.tolist() if isinstance(values, np.ndarray) else list(values)
            whole = all(isinstance(value, int) for value in plain)
            if any("\0" in str(value) for value in plain):
                raise StateSpaceError(
                    "PostgreSQL has no text with a zero byte; declare the states without it"
                )
            parameter = f"{name}_{column}"
            self._values[parameter] = plain
            arrays.append(f"%({parameter})s::{'BIGINT' if whole else 'TEXT'}[]")
        fields = ", ".join(columns)
        self._shared[f"{name}({fields})"] = f"SELECT * FROM unnest({', '.join(arrays)})"

    def fetch(self, query: Query, *, progress: bool = False) -> list[npt.NDArray[Any]]:
        """Run a query; the columns of its answer."""
        import psycopg

        steps = [f"{name} AS ({text})" for name, text in self._shared.items()]
        steps += [f"{name} AS ({text.replace('%', '%%')})" for name, text in query.steps.items()]
        sql = f"WITH {', '.join(steps)} {query.select.replace('%', '%%')}"
        try:
            with progress_bar(progress, lambda: -1.0) as tick:
                tick()
                cursor = self._connection.execute(sql, self._values)
                names = [column.name for column in cursor.description]
                rows = cursor.fetchall()
        except psycopg.Error as error:
            # The server's text may quote the value that it stumbled over: its class is all that is said.
            raise EngineError(
                f"counting {self._where} in PostgreSQL failed ({type(error).__name__}); nothing was "
                "released. Check that the connection and the server are still up, then try again"
            ) from None
        if not rows:
            return [np.zeros(0, dtype=np.int64) for _ in names]
        return [np.array(column) for column in zip(*rows, strict=True)]

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()


def open_postgres(
    address: str, wanted: Sequence[str], *, table: str | None, query: str | None
) -> PostgresEngine:
    """Open a table or a read-only query of a PostgreSQL database."""
    try:
        import psycopg
    except ImportError:
        raise TableError("PostgreSQL needs the extra 'postgres': pip install 'dpmarkov[postgres]'") from None
    where = f"table {table}" if table is not None else "the query"
    try:
        connection = psycopg.connect(address, autocommit=False, connect_timeout=30)
    except psycopg.Error as error:
        # The driver's text may repeat the address with its password.
        raise TableError(
            f"the PostgreSQL database cannot be opened ({type(error).__name__}); check host, port, database, "
            "user and password, and that the server is up"
        ) from None
    try:
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("SET TIME ZONE 'UTC'")
        connection.execute("SET DateStyle = 'ISO, YMD'")
        if table is not None:
            relation = ".".join(Dialect.quote(part) for part in table.split("."))
        else:
            relation = f"({query}\n) AS asked"
        available = _describe(connection, relation, where)
        columns = pick(available, wanted, where)
    except BaseException:
        connection.close()
        raise
    fields = ", ".join(f"{_field(column)} AS {column.sql}" for column in columns)
    return PostgresEngine(connection, f"(SELECT {fields} FROM {relation})", columns, where)


def _field(column: Column) -> str:
    """A column as it is read: text byte by byte, since a collation may take two texts for equal."""
    name = Dialect.quote(column.name)
    return f'CAST({name} AS TEXT) COLLATE "C"' if column.kind is Kind.TEXT else name


def _describe(connection: Any, relation: str, where: str) -> dict[str, Kind]:
    """The columns of a table or a query, without reading a row."""
    import psycopg

    try:
        cursor = connection.execute(f"SELECT * FROM {relation} LIMIT 0".replace("%", "%%"), {})
        enums = {row[0] for row in connection.execute("SELECT oid FROM pg_type WHERE typtype = 'e'")}
    except psycopg.Error as error:
        # Class 42 is about names, rights and grammar, and holds nothing of a row.
        named = (error.sqlstate or "").startswith("42")
        reason = str(error.diag.message_primary) if named else type(error).__name__
        raise TableError(
            f"{where} cannot be read in PostgreSQL ({reason}); check its name and your rights. "
            "A query must be a single SELECT"
        ) from None
    names = [column.name for column in cursor.description]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TableError(f"{where} has more than one column {twice[0]!r}")
    return {
        column.name: (
            Kind.TEXT
            if column.type_code in enums
            else _KINDS.get(column.type_display.partition("(")[0], Kind.OTHER)
        )
        for column in cursor.description
    }
