"""Files and globs of files, read by DuckDB where they lie."""

import glob
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.dataset import dataset

from dpmarkov.errors import StateSpaceError, TableError
from dpmarkov.events.csv_lines import count_lines, csv_header, csv_relation, delimiter_of
from dpmarkov.events.dialect import Dialect, DuckDialect, Kind
from dpmarkov.events.duck import DuckEngine, connect, duck_field, duck_kind
from dpmarkov.events.engine import Column, pick
from dpmarkov.events.public import check_readable

__all__ = ["find_files", "open_files", "refuse_sensitive"]

_CSV = (".csv", ".tsv", ".txt")
_MS = "TIMESTAMP_MS"


def find_files(data: str) -> list[Path]:
    """The files that a path or a glob names, in the order of their names."""
    path = Path(data)
    if path.is_file():
        return [path]
    if (path / "release.json").is_file():
        raise TableError(
            f"{data} is a release, not a table: it holds no events. See it with: dpmarkov show {data}; plan "
            f"the next one by it with: dpmarkov plan --like {data}"
        )
    if path.is_dir():
        raise TableError(f"{data} is a directory; give the files in it as a glob, such as '{data}/*.parquet'")
    found = sorted(Path(name) for name in glob.glob(data, recursive=True) if Path(name).is_file())
    if not found:
        if "@" in data or "password" in data.lower():
            # A mistyped address may hold a password: it is not repeated.
            raise TableError("no such file; a database is named postgresql://user@host/name, with --table")
        raise TableError(f"no file matches {data}" if glob.has_magic(data) else f"no such file: {data}")
    return found


def refuse_sensitive(role: str, public: object, data: object) -> None:
    """Refuse a public list (states, support, merge map) that is one of the files of the sensitive table.

    Whatever is no name of a file, on either side, passes.
    """
    if not isinstance(public, str | PathLike) or not isinstance(data, str | PathLike):
        return
    if not Path(public).exists():
        return
    names = [fspath(data), *glob.glob(fspath(data), recursive=True)]
    if any(Path(name).exists() and Path(name).samefile(public) for name in names):
        raise StateSpaceError(
            f"the {role} {public} is the sensitive table itself. It must be public knowledge: give a public "
            "list, made without looking at the data"
        )


def open_files(data: str, wanted: Sequence[str], delimiter: str | None) -> DuckEngine:
    """Open CSV or Parquet files as one table."""
    paths = find_files(data)
    connection, close = connect()
    try:
        forms = {_form(path) for path in paths}
        if len(forms) > 1:
            raise TableError(
                f"{data} mixes {' and '.join(sorted(forms))} files; count them apart and merge the counts"
            )
        if forms == {"parquet"}:
            if delimiter is not None:
                raise TableError(f"a delimiter goes with CSV files; {data} is Parquet")
            relation, columns = _parquet(connection, paths, wanted)
        else:
            relation, columns = _csv(paths, wanted, delimiter)
        engine = DuckEngine(connection, close, relation, columns, data)
        if forms != {"parquet"}:
            engine.lines = lambda: sum(map(count_lines, paths))
        return engine
    except BaseException:
        close()
        raise


def _form(path: Path) -> str:
    name = path.name.lower()
    if name.endswith(".gz") and name.removesuffix(".gz").endswith(_CSV):
        return "csv.gz"
    if name.endswith((".parquet", ".pq")):
        return "parquet"
    if name.endswith(_CSV):
        return "csv"
    raise TableError(f"{path} is of an unknown form; known are .csv, .tsv, .txt (also .gz) and .parquet")


def _csv(paths: Sequence[Path], wanted: Sequence[str], delimiter: str | None) -> tuple[str, list[Column]]:
    compression = {"csv": "none", "csv.gz": "gzip"}[_form(paths[0])]
    mark = delimiter_of(paths[0], delimiter)
    by_header: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        header = tuple(csv_header(path, mark))
        # Column order may differ from file to file; columns are found by name in each.
        columns = pick(dict.fromkeys(header, Kind.TEXT), wanted, str(path))
        by_header.setdefault(header, []).append(str(path))
    parts = [
        f"SELECT * FROM {csv_relation(files, list(header), wanted, mark, compression)}"
        for header, files in by_header.items()
    ]
    return f"({' UNION ALL '.join(parts)})", columns


def _parquet(connection: Any, paths: Sequence[Path], wanted: Sequence[str]) -> tuple[str, list[Column]]:
    # Files of one data set may declare a column as another type (the city's own trip files do): files are
    # grouped by the types of the wanted columns, and where these differ they meet in one that holds both.
    groups: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        types = _parquet_types(connection, path)
        picked = pick({name: duck_kind(kind) for name, kind in types.items()}, wanted, str(path))
        times = {column.name for column in picked if column.kind is Kind.TIMESTAMP}
        if times:
            types |= dict.fromkeys(times & _in_milliseconds(connection, path), _MS)
        groups.setdefault(tuple(types[column.name] for column in picked), []).append(str(path))
    types_of = [list(dict.fromkeys(group[i] for group in groups)) for i in range(len(wanted))]
    columns = [
        Column(f"c{i}", _common(types_of[i], name, str(paths[0])), name) for i, name in enumerate(wanted)
    ]
    parts = []
    for number, (group, files) in enumerate(groups.items()):
        fields = ", ".join(
            f"{_meet(column, group[i], len(types_of[i]))} AS {column.sql}" for i, column in enumerate(columns)
        )
        if _MS in group:
            # DuckDB would turn them into microseconds, and fail on those too far; Arrow leaves them.
            source = f"parquet_{number}"
            connection.register(source, _arrow_dataset(files, wanted))
        else:
            listed = ", ".join(Dialect.literal(name) for name in files)
            source = f"read_parquet([{listed}], hive_partitioning = false)"
        parts.append(f"SELECT {fields or '1 AS c'} FROM {source}")
    return f"({' UNION ALL '.join(parts)})", columns


def _parquet_types(connection: Any, path: Path) -> dict[str, str]:
    """The columns of a Parquet file and their types."""
    check_readable(path)
    try:
        rows = connection.execute(
            "DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)", [str(path)]
        ).fetchall()
    except duckdb.Error:
        raise TableError(f"{path} cannot be read as Parquet: it is damaged or something else") from None
    return {str(row[0]): str(row[1]) for row in rows}


def _in_milliseconds(connection: Any, path: Path) -> set[str]:
    """The columns of a Parquet file whose times are stored in milliseconds (some may be parts of others)."""
    asked = "SELECT name FROM parquet_schema(?) WHERE converted_type = 'TIMESTAMP_MILLIS' OR "
    rows = connection.execute(f"{asked} logical_type LIKE '%MILLIS=Milli%'", [str(path)]).fetchall()
    return {str(row[0]) for row in rows}


def _arrow_dataset(files: Sequence[str], wanted: Sequence[str]) -> Any:
    """The wanted columns of Parquet files as Arrow reads them, in types that DuckDB takes."""
    schema = pq.read_schema(files[0])
    fields = []
    for name in wanted:
        if schema.get_field_index(name) < 0:
            raise TableError(f"{files[0]} names column {name!r} more than once")
        kind = schema.field(name).type
        if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
            kind = pa.timestamp("ms")
        elif pa.types.is_dictionary(kind):
            kind = kind.value_type
        elif pa.types.is_float16(kind):
            kind = pa.float32()
        fields.append(pa.field(name, kind))
    return dataset(list(files), format="parquet", schema=pa.schema(fields))


def _common(types: Sequence[str], name: str, where: str) -> Kind:
    """What a column holds that is declared with these types: all of its files' values can become it."""
    kinds = {duck_kind(declared) for declared in types}
    if len(types) == 1 or kinds in ({Kind.FLOAT}, {Kind.TIMESTAMP}):
        return next(iter(kinds))
    if kinds <= {Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.BOOLEAN}:
        return Kind.INTEGER
    if not kinds & {Kind.TIMESTAMP, Kind.DATE, Kind.OTHER}:
        return Kind.TEXT
    shown = " and ".join(sorted({kind.value for kind in kinds}))
    raise TableError(
        f"column {name!r} holds {shown} in different files of {where}; count them apart and merge"
    )


def _meet(column: Column, declared: str, types: int) -> str:
    """A column of a declared type in the form in which all files agree; as it is where they declare one."""
    expression, dialect = duck_field(column.name, declared), DuckDialect()
    if types == 1:
        return expression
    match column.kind:
        case Kind.INTEGER:
            return str(dialect.whole(expression, duck_kind(declared)))
        case Kind.TEXT:
            return str(dialect.text(expression, duck_kind(declared)))
        case Kind.TIMESTAMP:  # what is finer or reaches farther than microseconds do would fail to meet
            return f"TRY_CAST({expression} AS TIMESTAMP)"
        case _:
            return expression
