"""Read public lists (states, supports, merge maps) from CSV and Parquet files."""

from pathlib import Path
from typing import Any

import duckdb

from dpmarkov.errors import TableError

__all__ = ["read_public_columns"]


def read_public_columns(path: Path, columns: list[str]) -> list[list[Any]]:
    """The named columns of a public file, each as a list in the file's order."""
    if not path.is_file():
        raise TableError(f"no such file: {path}")
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
    except duckdb.Error as error:
        raise TableError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    finally:
        connection.close()
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in columns]
