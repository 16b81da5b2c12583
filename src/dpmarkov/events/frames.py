"""Tables in memory: pandas, polars, Arrow and whatever else speaks Arrow's stream protocol."""

import datetime as dt
import math
import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from dpmarkov.errors import TableError
from dpmarkov.events.dialect import Kind
from dpmarkov.events.duck import DuckEngine, connect, duck_kind
from dpmarkov.events.engine import Column, pick

__all__ = ["open_frame"]

_LARGEST_FLOAT, _LARGEST_DECIMAL, _WIDEST = 2**53, 92 * 10**17, 10**38


def open_frame(frame: Any, wanted: Sequence[str], counted: str | None = None) -> DuckEngine:
    """Open a table in memory; only the wanted columns are touched.

    `counted` is the column of counts, if any: there, a Python number is read however large it is.
    """
    table = _arrow(frame, wanted, counted)
    connection, close = connect()
    try:
        connection.register("frame", table)
        described = connection.execute("DESCRIBE SELECT * FROM frame").fetchall()
    except duckdb.Error:
        close()
        shown = ", ".join(f"{name!r} ({kind})" for name, kind in zip(wanted, table.schema.types, strict=True))
        raise TableError(
            f"one of the columns {shown} is of a type that cannot be read: cast it to text, integers, floats "
            "of 32 or 64 bits or decimals of at most 38 digits"
        ) from None
    columns = [
        Column(f"c{i}", duck_kind(row[1]), name)
        for i, (row, name) in enumerate(zip(described, wanted, strict=True))
    ]
    return DuckEngine(connection, close, "(SELECT * FROM frame)", columns, "the table")


def _arrow(frame: Any, wanted: Sequence[str], counted: str | None) -> pa.Table:
    """The wanted columns as an Arrow table with the names c0, c1, ..."""
    if hasattr(frame, "collect") and hasattr(frame, "collect_schema"):
        frame = frame.select(list(wanted)).collect()  # a lazy polars frame
    names = _names(frame)
    if names is None:
        raise TableError(
            f"a table must be a file name or a pandas, polars or Arrow table; got {type(frame).__name__}. "
            "For a numpy or scipy matrix of counts use TransitionCounts.from_matrix"
        )
    pick(dict.fromkeys(names, Kind.OTHER), wanted, "the table")
    for name in wanted:
        if names.count(name) > 1:
            raise TableError(f"the table has more than one column {name!r}")
    arrays = [_zoneless(_column(frame, name, name == counted)) for name in wanted]
    return pa.table(arrays, names=[f"c{i}" for i in range(len(arrays))])


def _names(frame: Any) -> list[Any] | None:
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return list(frame.schema.names)
    columns = getattr(frame, "columns", None)
    if columns is None or not hasattr(frame, "__getitem__") or not hasattr(frame, "__arrow_c_stream__"):
        return None
    return list(columns)


def _zoneless(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Times with a zone as the same moments in UTC: DuckDB changes their unit, and fails on those too far."""
    if not pa.types.is_timestamp(array.type) or array.type.tz is None:
        return array
    return array.cast(pa.int64()).cast(pa.timestamp(array.type.unit))


def _column(frame: Any, name: str, counted: bool) -> pa.Array | pa.ChunkedArray:
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return frame.column(name)
    series = frame[name]
    kind = str(getattr(series, "dtype", "")).lower()
    if kind == "category" and str(series.cat.categories.dtype).lower() == "object":
        texts = _texts(series.cat.categories, counted)
        return texts.take(pa.array(series.cat.codes, mask=series.isna().to_numpy()))
    if kind == "object":
        # Any Python value may stand here; none may decide whether the column can be read.
        return _texts(series, counted)
    try:
        if hasattr(series, "to_arrow"):
            return series.to_arrow()
        return pa.Array.from_pandas(series)
    except UnicodeEncodeError:  # text that is none, in one row
        return _texts(series, counted)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError):
        raise TableError(
            f"column {name!r} is of type {series.dtype}, which cannot be read; turn it into text or integers"
        ) from None


def _texts(values: Iterable[object], counted: bool) -> pa.Array:
    return pa.array([_as_text(value, counted) for value in values], type=pa.string())


def _as_text(value: object, counted: bool) -> str | None:
    """A Python value as text by the rules of `dialect`; fractions and whatever else are missing."""
    try:
        if isinstance(value, str):
            return value.encode("utf-8", errors="replace").decode("utf-8")
        if isinstance(value, np.datetime64):
            return _moment_text(value)
        if isinstance(value, dt.datetime):
            return _clock_text(value)
        if isinstance(value, np.bool_ | bool):
            return "true" if value else "false"
        if isinstance(value, dt.date):
            return value.isoformat()
        if isinstance(value, numbers.Integral):
            return _whole_text(int(value), _WIDEST, counted)
        if isinstance(value, Decimal):
            return _whole_text(value, _LARGEST_DECIMAL, counted)
        if isinstance(value, numbers.Real):
            return _whole_text(float(value), _LARGEST_FLOAT, counted)
    except Exception:  # a number beyond every float, a time beyond every calendar, an object's own error
        return None
    return None


def _whole_text(number: int | float | Decimal, below: int, counted: bool) -> str | None:
    """The text of a number that is whole and nearer to zero than `below`; of counts, of larger ones too."""
    if not -below < number < below:
        # As a state or a user it would be missing; which number it is makes no difference to a count.
        whole = not isinstance(number, Decimal) or number == number.to_integral_value()
        return str(_WIDEST) if counted and whole and below <= number < math.inf else None
    return str(int(number)) if number == int(number) else None


def _clock_text(moment: dt.datetime) -> str | None:
    """A time in ISO 8601, in UTC where it has a zone; pandas' NaT, which equals nothing, is missing."""
    if moment != moment:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
        return f"{moment.isoformat(timespec='microseconds')}Z"
    return moment.isoformat(timespec="microseconds")


def _moment_text(moment: np.datetime64[Any]) -> str | None:
    """A numpy time in ISO 8601, in the years 1 to 9999."""
    first, last = np.datetime64("0001-01-01"), np.datetime64("9999-12-31")
    if not first <= moment.astype("datetime64[D]") <= last:
        return None
    return str(np.datetime_as_string(moment.astype("datetime64[us]"), unit="us"))
