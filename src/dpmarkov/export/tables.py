"""Tables: one row for each allowed pair of states, in the layout's order."""

import csv
import io
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from dpmarkov.export.files import package
from dpmarkov.states import StateSpace
from dpmarkov.whole import check_free, write_whole

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from dpmarkov.releases import Release

__all__ = ["to_arrow", "to_pandas", "to_polars", "write_csv"]


def to_arrow(release: "Release") -> pa.Table:
    """An Arrow table with the columns `from`, `to` and `probability`, and labels where there are any.

    A private distribution has no `from`. Of a release with groups, give `release.of(group)`.
    """
    block = release.layout.block("transitions")
    source, target = release.layout.source, release.layout.target
    columns: dict[str, pa.Array] = {}
    if source is not None:
        columns["from"] = _states(source).take(pa.array(block.cells.row_of_cell))
    columns["to"] = _states(target).take(pa.array(block.cells.indices))
    columns["probability"] = pa.array(np.asarray(release.probabilities[block.at]))
    if source is not None and source.has_labels:
        columns["from_label"] = pa.array(source.labels).take(pa.array(block.cells.row_of_cell))
    if target.has_labels:
        columns["to_label"] = pa.array(target.labels).take(pa.array(block.cells.indices))
    return pa.table(columns)


def to_pandas(release: "Release") -> "pd.DataFrame":
    """A pandas frame of `to_arrow`."""
    package("pandas")
    return to_arrow(release).to_pandas()  # type: ignore[no-any-return]


def to_polars(release: "Release") -> "pl.DataFrame":
    """A polars frame of `to_arrow`."""
    polars = package("polars")
    return polars.from_arrow(to_arrow(release))  # type: ignore[no-any-return]


def write_csv(release: "Release", path: str | PathLike[str], *, overwrite: bool = False) -> Path:
    """Write `to_arrow` as CSV; probabilities with all their digits, states as they were declared.

    A spreadsheet may run a state that begins with `=`, `+`, `-` or `@` as a formula: import such a file as
    text.
    """
    target, table = check_free(path, overwrite=overwrite), to_arrow(release)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    write_whole(target, text.getvalue().encode())
    return target


def _states(space: StateSpace) -> pa.Array:
    return pa.array(space.states, type=pa.int64() if space.is_integer else pa.string())
