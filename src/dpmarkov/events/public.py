"""Read public lists (states, supports, merge maps) from CSV and Parquet files."""

from pathlib import Path
from typing import Any

import duckdb

from dpmarkov.errors import TableError

__all__ = ["check_readable", "read_public_columns"]


def check_readable(path: Path) -> None:
    """Refuse a file that is not there or may not be read; engines take the latter for damaged."""
    if not path.is_file():
        raise TableError(f"no such file: {path}")
    try:
        path.open("rb").close()
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}") from None


def read_public_columns(path: Path, columns: list[str]) -> list[list[Any]]:
    """The named columns of a public file, each as a list in the file's order."""
    check_readable(path)
    name = path.name.lower()
    reader = (
        "read_parquet(?)" if name.endswith(".parquet") else "read_csv(?, all_varchar = true, header = true)"
    )
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    try:
        relation = connection.sql(f"SELECT * FROM {reader}", params=[str(path)])
        absent = [column for column in columns if column not in relation.columns]
        if absent:
            raise TableError(f"{path} has no column {absent[0]!r}; it has {', '.join(relation.columns)}")
        quoted = ", ".join('"' + column.replace('"', '""') + '"' for column in columns)
        rows = connection.execute(f"SELECT {quoted} FROM {reader}", [str(path)]).fetchall()
    except duckdb.Error:
        form = "Parquet" if name.endswith(".parquet") else "CSV"
        raise TableError(f"{path} cannot be read as {form}: it is damaged or something else") from None
    finally:
        connection.close()
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in columns]
