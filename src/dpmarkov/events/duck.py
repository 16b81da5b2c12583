"""DuckDB in process: the engine for files, frames and DuckDB databases."""

import atexit
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import numpy.typing as npt
import pyarrow as pa

from dpmarkov.errors import EngineError, ParameterError
from dpmarkov.events.dialect import DuckDialect, Kind
from dpmarkov.events.engine import Column, Engine, Integers, Query
from dpmarkov.events.expression import Expression
from dpmarkov.events.progress import progress_bar

__all__ = ["DuckEngine", "connect", "duck_field", "duck_kind"]

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
_INTEGERS |= {"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}


def duck_kind(type_name: str) -> Kind:
    """The kind of a DuckDB type."""
    name = str(type_name).upper()
    if name in _INTEGERS:
        return Kind.INTEGER
    if name.startswith(("VARCHAR", "ENUM(", "UUID")):
        return Kind.TEXT if not name.endswith("]") else Kind.OTHER
    if name == "UHUGEINT" or name.startswith("DECIMAL"):  # neither is compared with whole numbers safely
        return Kind.DECIMAL if not name.endswith("]") else Kind.OTHER
    if name in {"FLOAT", "DOUBLE"}:
        return Kind.FLOAT
    if name == "BOOLEAN":
        return Kind.BOOLEAN
    if name == "DATE":
        return Kind.DATE
    if name.startswith("TIMESTAMP") and not name.endswith("]"):
        return Kind.TIMESTAMP
    return Kind.OTHER


def duck_field(name: str, type_name: str) -> str:
    """A column as it is read: times of nanoseconds with a zone are known to no function of time."""
    quoted = DuckDialect.quote(name)
    return f"TRY_CAST({quoted} AS TIMESTAMPTZ)" if type_name == "TIMESTAMPTZ_NS" else quoted


def connect(database: str = ":memory:", *, read_only: bool = False) -> tuple[Any, Callable[[], None]]:
    """A connection that installs nothing and spills to a private directory, and how to let go of it.

    In memory it is a cursor on one database of this process, with views of its own: a fresh database would
    cost as much as grouping two million rows.
    """
    if database == ":memory:":
        connection = _memory().cursor()
        close = connection.close
    else:
        connection, spill = _open(database, read_only)

        def close() -> None:
            connection.close()
            spill.cleanup()

    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    return connection, close


def _open(database: str, read_only: bool) -> tuple[Any, tempfile.TemporaryDirectory[str]]:
    spill = tempfile.TemporaryDirectory(prefix="dpmarkov-")
    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,
        "temp_directory": spill.name,
        "preserve_insertion_order": False,
    }
    return duckdb.connect(database, read_only=read_only, config=config), spill


@cache
def _memory() -> Any:
    connection, spill = _open(":memory:", False)
    atexit.register(spill.cleanup)
    return connection


class DuckEngine(Engine):
    """A table that DuckDB reads.

    DuckDB's own error texts may quote the value that it stumbled over, so none is ever passed on.
    """

    def __init__(
        self, connection: Any, close: Callable[[], None], relation: str, columns: list[Column], where: str
    ) -> None:
        self.dialect = DuckDialect()
        self.relation = relation
        self.columns = columns
        self._connection = connection
        self._close = close
        self._where = where

    def share(self, name: str, columns: Mapping[str, Sequence[object] | Integers]) -> None:
        """Give the SQL text a small public table under `name`."""
        self._connection.register(name, pa.table({key: pa.array(values) for key, values in columns.items()}))

    def derive(self, expression: Expression) -> None:
        """Add the column that an expression computes from its row; its name is the expression's words."""
        names = {column.name: column.sql for column in self.columns}
        fields = ["*"]
        for column in self.columns:
            if column.name in expression.columns and column.kind is Kind.TIMESTAMP:
                # The text of a time too far is an internal error, which no TRY catches.
                names[column.name] = f"near_{column.sql}"
                near = self.dialect.is_near(column.sql, column.kind)
                fields.append(f"CASE WHEN {near} THEN {column.sql} END AS near_{column.sql}")
        name = f"c{len(self.columns)}"
        inner = f"(SELECT {', '.join(fields)} FROM {self.relation} AS base)"
        relation = f"(SELECT *, {expression.sql(names)} AS {name} FROM {inner} AS base)"
        own = "SELECT function_name FROM duckdb_functions() WHERE NOT internal"
        if {str(row[0]).lower() for row in self._connection.execute(own).fetchall()} & set(
            expression.functions
        ):
            raise ParameterError(
                f"by={expression.words!r} calls a function that this database defines anew; name a column "
                "instead"
            )
        try:
            described = self._connection.execute(f"DESCRIBE SELECT {name} FROM {relation}").fetchall()
        except duckdb.Error as error:
            # Nothing was read yet: what DuckDB says about types holds nothing of a row.
            named = isinstance(error, duckdb.BinderException | duckdb.CatalogException)
            reason = str(error).splitlines()[0] if named else type(error).__name__
            raise ParameterError(
                f"by={expression.words!r} does not fit the columns of {self._where} ({reason}). Columns of a "
                "CSV file are text: cast them, as in hour(CAST(pickup AS TIMESTAMP))"
            ) from None
        # Optimizers take parts of an expression out of its TRY (a cast that stands there twice, the left side
        # of an IN): one row that does not fit would make the whole query fail.
        self._connection.execute("PRAGMA disable_optimizer")
        self.columns = [*self.columns, Column(name, duck_kind(described[0][1]), expression.words)]
        self.relation = relation

    def fetch(self, query: Query, *, progress: bool = False) -> list[npt.NDArray[Any]]:
        """Run a query; the columns of its answer."""
        steps = ", ".join(f"{name} AS ({text})" for name, text in query.steps.items())
        sql = f"WITH {steps} {query.select}" if steps else query.select
        answer: list[dict[str, Any]] = []
        failure: list[BaseException] = []

        def work() -> None:
            try:
                answer.append(self._connection.execute(sql).fetchnumpy())
            except BaseException as error:
                failure.append(error)

        # The query runs beside us, so that it can be watched and stopped while it does.
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            with progress_bar(progress, self._connection.query_progress) as tick:
                while thread.is_alive():
                    thread.join(0.1)
                    tick()
        except BaseException:
            self._connection.interrupt()
            thread.join()
            raise
        if failure:
            if isinstance(failure[0], duckdb.FatalException | duckdb.InternalException):
                _memory.cache_clear()  # it is of no more use to later counts
            raise _translated(failure[0], self._where) from None
        return list(answer[0].values())

    def close(self) -> None:
        """Let go of the connection and of temporary files."""
        self._close()


def _translated(error: BaseException, where: str) -> BaseException:
    """An error of ours that tells nothing of what the rows hold."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return EngineError(
            f"counting {where} needs more memory or disk space than there is; nothing was released. "
            "Free some, or count in parts and merge the counts"
        )
    if isinstance(error, duckdb.Error | pa.ArrowException):
        return EngineError(
            f"counting {where} failed ({type(error).__name__}); nothing was released. Check that the data "
            "can still be read in full (a file cut short, a disk or a connection that went away)"
        )
    return error
