"""Read a sensitive matrix, vector or collection of vectors from a table of probabilities."""

from pathlib import Path
from typing import Literal

import duckdb
import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpmarkov.errors import TableError
from dpmarkov.layout import Layout
from dpmarkov.states import StateSpace

__all__ = ["Kind", "read_probabilities"]

Kind = Literal["matrix", "vector", "average"]

_ROWS = {"matrix": "from", "average": "vector"}


def read_probabilities(
    path: Path, layout: Layout, *, kind: Kind
) -> "npt.NDArray[np.float64] | sparse.csr_array":
    """Probabilities from a CSV or Parquet file with one cell a line; cells that are not listed are zero.

    Parameters
    ----------
    path
        Columns `to`, `probability`, and `from` (a matrix) or `vector` (an average: which vector it belongs
        to).
    layout
        The declared shape: states and support.
    kind
        `"matrix"`, `"vector"` or `"average"`.

    Notes
    -----
    A state that is not declared is refused without naming it: which one it is depends on the sensitive table.
    """
    if not path.is_file():
        if ":/" in str(path):
            # An address may hold a password: it is not repeated.
            raise TableError("privatize reads a CSV or Parquet file, no database")
        raise TableError(f"no such file: {path}")
    columns = [*([_ROWS[kind]] if kind in _ROWS else []), "to", "probability"]
    reader = (
        "read_parquet(?)"
        if path.name.lower().endswith(".parquet")
        else "read_csv(?, all_varchar = true, header = true)"
    )
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    try:
        present = connection.sql(f"SELECT * FROM {reader}", params=[str(path)]).columns
        absent = [name for name in columns if name not in present]
        if absent:
            raise TableError(f"the table has no column {absent[0]!r}; it needs {', '.join(columns)}")
        chosen = ", ".join(f'CAST("{name}" AS VARCHAR)' for name in columns)
        rows = connection.execute(f"SELECT {chosen} FROM {reader}", [str(path)]).fetchall()
    except duckdb.Error:
        raise TableError(f"{path} cannot be read as a table with the columns {', '.join(columns)}") from None
    finally:
        connection.close()
    if any(value is None for row in rows for value in row):
        raise TableError("the table has an empty value")
    to = _positions(layout.target, [row[-2] for row in rows])
    try:
        values = np.asarray([float(row[-1]) for row in rows])
    except ValueError:
        raise TableError("the table has a probability that is not a number") from None
    if kind == "vector":
        at, n_rows = np.zeros(len(rows), dtype=np.int64), 1
    elif kind == "average":
        names = {name: i for i, name in enumerate(dict.fromkeys(row[0] for row in rows))}
        at, n_rows = np.asarray([names[row[0]] for row in rows], dtype=np.int64), len(names)
    else:
        source = layout.source if layout.source is not None else layout.target
        at, n_rows = _positions(source, [row[0] for row in rows]), len(source)
    keys = at * len(layout.target) + to
    if np.unique(keys).size < keys.size:
        raise TableError("the table lists a cell more than once")
    matrix = sparse.csr_array((values, (at, to)), shape=(n_rows, len(layout.target)))
    if kind == "matrix":
        return matrix
    dense = matrix.toarray()
    return np.asarray(dense[0] if kind == "vector" else dense, dtype=float)


def _positions(states: StateSpace, names: list[str]) -> npt.NDArray[np.int64]:
    known = {str(state): i for i, state in enumerate(states)}
    try:
        return np.asarray([known[name] for name in names], dtype=np.int64)
    except KeyError:
        raise TableError("the table names a state that is not declared; declare every state") from None
