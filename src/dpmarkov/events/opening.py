"""Open a table, wherever it lies."""

import re
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import duckdb

from dpmarkov.errors import ParameterError, TableError
from dpmarkov.events.dialect import Dialect, Kind
from dpmarkov.events.duck import DuckEngine, connect, duck_field, duck_kind
from dpmarkov.events.engine import Column, Engine, pick
from dpmarkov.events.expression import Expression
from dpmarkov.events.files import open_files
from dpmarkov.events.frames import open_frame
from dpmarkov.events.postgres import open_postgres
from dpmarkov.events.public import check_readable
from dpmarkov.events.spark import is_spark, open_spark

__all__ = ["open_table"]

_SCHEME = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*):/")


def open_table(
    data: Any,
    wanted: Sequence[str],
    *,
    table: str | None = None,
    query: str | None = None,
    delimiter: str | None = None,
    derived: Expression | None = None,
    counted: str | None = None,
) -> Engine:
    """Open `data` for the columns `wanted`.

    Parameters
    ----------
    data
        A file name or a glob (CSV, Parquet); a pandas, polars or Arrow table; the address of a database; a
        Spark DataFrame, session or address.
    wanted
        The names of the columns that the question needs; no other is read.
    table, query
        The table of a database or of a Spark session, or a read-only query.
    delimiter
        The field delimiter of a CSV file; by default a tab for `.tsv` and a comma otherwise.
    derived
        One more column, that an expression computes from the wanted ones.
    counted
        The column of counts of a table in memory.
    """
    engine = _open(data, wanted, table=table, query=query, delimiter=delimiter, counted=counted)
    if derived is not None:
        try:
            engine.derive(derived)
        except BaseException:
            engine.close()
            raise
    return engine


def _open(
    data: Any,
    wanted: Sequence[str],
    *,
    table: str | None,
    query: str | None,
    delimiter: str | None,
    counted: str | None,
) -> Engine:
    if delimiter is not None and (not isinstance(data, str | PathLike) or _scheme(data) is not None):
        raise ParameterError("a delimiter goes with CSV files")
    scheme = _scheme(data)
    spark = is_spark(data)
    whole = spark and hasattr(data, "createOrReplaceTempView")
    if (scheme is not None or spark) and not whole:
        if (table is None) == (query is None):
            raise ParameterError(
                "a database holds many tables: name one with table, or write a query (not both)"
            )
        if table == "" or (query is not None and not query.strip()):
            raise ParameterError("table and query must not be empty")
    elif table is not None or query is not None:
        raise ParameterError("table and query go with a database or a Spark session")
    if spark or scheme == "spark":
        return open_spark(data, wanted, table=table, query=query)
    if scheme in ("postgresql", "postgres"):
        return open_postgres(str(data), wanted, table=table, query=query)
    if scheme == "duckdb":
        return _open_duckdb(str(data), wanted, table=table, query=query)
    if scheme is not None:
        raise TableError(
            f"unknown kind of address {scheme}://; known are postgresql://, duckdb:/// and spark://"
        )
    if isinstance(data, str | PathLike):
        return open_files(fspath(data), wanted, delimiter)
    return open_frame(data, wanted, counted)


def _scheme(data: Any) -> str | None:
    """The scheme of an address; None for anything else. Addresses may hold passwords: never show them."""
    found = _SCHEME.match(data) if isinstance(data, str) else None
    return found.group(1).lower() if found is not None and len(found.group(1)) > 1 else None


def _open_duckdb(address: str, wanted: Sequence[str], *, table: str | None, query: str | None) -> DuckEngine:
    path = Path(re.sub(r"^duckdb:(///|/)", "", address, flags=re.IGNORECASE))
    if address.lower().startswith("duckdb:////"):
        path = Path("/" + str(path).lstrip("/"))
    check_readable(path)
    where = f"table {table}" if table is not None else "the query"
    try:
        connection, close = connect(str(path), read_only=True)
    except duckdb.Error:
        raise TableError(
            f"{path} cannot be opened as a DuckDB database: it is damaged, of a newer version, or another "
            "program is writing to it"
        ) from None
    try:
        relation = (
            f"({query}\n)" if table is None else ".".join(Dialect.quote(part) for part in table.split("."))
        )
        try:
            rows = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        except duckdb.Error as error:
            # Nothing was read yet: what DuckDB says about names and grammar holds nothing of a row.
            named = isinstance(
                error, duckdb.ParserException | duckdb.BinderException | duckdb.CatalogException
            )
            reason = f" ({str(error).splitlines()[0]})" if named else ""
            raise TableError(
                f"{where} cannot be read in {path}{reason}; a query must be a single SELECT"
            ) from None
        types = {str(row[0]): str(row[1]) for row in rows}
        columns = pick({name: duck_kind(declared) for name, declared in types.items()}, wanted, where)
        fields = ", ".join(f"{_field(column, types[column.name])} AS {column.sql}" for column in columns)
        return DuckEngine(connection, close, f"(SELECT {fields} FROM {relation})", columns, where)
    except BaseException:
        close()
        raise


def _field(column: Column, declared: str) -> str:
    """A column as it is read: text byte by byte, since a collation may take two texts for equal."""
    name = duck_field(column.name, declared)
    return f'CAST({name} AS VARCHAR) COLLATE "binary"' if column.kind is Kind.TEXT else name
