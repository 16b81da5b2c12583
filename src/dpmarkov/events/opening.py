"""Open a table, wherever it lies."""

from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any

from dpmarkov.errors import ParameterError
from dpmarkov.events.engine import Engine
from dpmarkov.events.files import open_files
from dpmarkov.events.frames import open_frame

__all__ = ["open_table"]


def open_table(
    data: Any,
    wanted: Sequence[str],
    *,
    table: str | None = None,
    query: str | None = None,
    delimiter: str | None = None,
) -> Engine:
    """Open `data` for the columns `wanted`.

    Parameters
    ----------
    data
        A file name or a glob (CSV, Parquet), or a pandas, polars or Arrow table.
    wanted
        The names of the columns that the question needs; no other is read.
    delimiter
        The field delimiter of a CSV file; by default a tab for `.tsv` and a comma otherwise.
    """
    if isinstance(data, str | PathLike):
        return open_files(fspath(data), wanted, delimiter)
    if delimiter is not None:
        raise ParameterError("a delimiter goes with CSV files")
    return open_frame(data, wanted)
