"""A release on disk: `release.json` and `transitions.parquet`, written whole or not at all.

Rows, order and size of the files depend on the layout alone: probabilities are stored plain, without
compression or statistics, so that not even a file's size tells anything about the draw.
"""

import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from dpmarkov.errors import DpmarkovError, EngineError, ParameterError, ReleaseFormatError
from dpmarkov.layout import Layout
from dpmarkov.privacy.guarantee import Guarantee
from dpmarkov.releases.release import Release
from dpmarkov.states import StateSpace

__all__ = ["check_output", "load", "save"]

FORMAT = "dpmarkov release"
SCHEMA_VERSION = 1
RELEASE_FILE = "release.json"
TRANSITIONS_FILE = "transitions.parquet"
COUNTS_FILE = "counts.parquet"
_OWN_FILES = {RELEASE_FILE, TRANSITIONS_FILE, COUNTS_FILE}


def check_output(path: str | PathLike[str], *, overwrite: bool = False) -> Path:
    """The output directory, refused if it holds something that must not be lost."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is a file; the output must be a directory")
    if not folder.exists():
        return folder
    present = {entry.name for entry in folder.iterdir()}
    if present and not overwrite:
        raise ParameterError(
            f"{folder} exists and is not empty; choose another directory or allow overwriting"
        )
    foreign = sorted(present - _OWN_FILES)
    if foreign:
        raise ParameterError(
            f"{folder} holds files that are not a release's ({foreign[0]}); choose another directory"
        )
    return folder


def save(release: Release, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
    """Write `release` to the directory `path`; a failure half way leaves nothing behind."""
    folder = check_output(path, overwrite=overwrite)
    files = {TRANSITIONS_FILE: _parquet(release.layout, "probability", release.probabilities)}
    if release.noisy_counts is not None:
        files[COUNTS_FILE] = _parquet(release.layout, "noisy_count", release.noisy_counts)
    document = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "layout": release.layout.to_dict(),
        "guarantee": release.guarantee.to_dict(),
        "mechanism": dict(release.mechanism),
        "made": {
            "software": "dpmarkov",
            "version": release.version,
            "time": release.created,
            "seed": release.seed,
            "private": release.seed is None,
        },
        "files": {name: {"sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()},
    }
    files[RELEASE_FILE] = (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()
    parent = folder.absolute().parent
    staging: Path | None = None
    try:
        parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=parent))
        for name, data in files.items():
            _write(staging / name, data)
        staging.chmod(0o755)
        if folder.exists():
            retired = staging.with_name(staging.name + "-old")
            folder.rename(retired)
            try:
                staging.rename(folder)
            except OSError:
                retired.rename(folder)
                raise
            shutil.rmtree(retired)
        else:
            staging.rename(folder)
    except OSError as error:
        raise EngineError(
            f"the release could not be written to {folder}: {error.strerror or error}; nothing was left there"
        ) from None
    finally:
        if staging is not None and staging.exists():
            shutil.rmtree(staging, ignore_errors=True)
    return folder


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as handle:
        handle.write(data)
        handle.flush()
        os.fsync(handle.fileno())


def _parquet(layout: Layout, column: str, values: npt.NDArray[np.generic]) -> bytes:
    """The table of cells in the layout's order, in a form whose size does not depend on `values`."""
    columns: dict[str, pa.Array] = {}
    rows, at = layout.cells.row_of_cell, layout.cells.indices
    if layout.source is not None:
        columns["from"] = _states(layout.source, rows)
    columns["to"] = _states(layout.target, at)
    columns[column] = pa.array(values)
    if layout.source is not None and layout.source.has_labels:
        columns["from_label"] = _labels(layout.source, rows)
    if layout.target.has_labels:
        columns["to_label"] = _labels(layout.target, at)
    buffer = io.BytesIO()
    pq.write_table(
        pa.table(columns),
        buffer,
        compression="none",
        use_dictionary=[name for name in columns if name != column],
        write_statistics=False,
        store_schema=False,
    )
    return buffer.getvalue()


def _states(space: StateSpace, at: npt.NDArray[np.int64]) -> pa.Array:
    return pa.array(space.states, type=pa.int64() if space.is_integer else pa.string()).take(pa.array(at))


def _labels(space: StateSpace, at: npt.NDArray[np.int64]) -> pa.Array:
    return pa.array(space.labels, type=pa.string()).take(pa.array(at))


def load(path: str | PathLike[str]) -> Release:
    """Read a release that `save` wrote, after checking its schema, its version and its tables' hashes."""
    folder = Path(path)
    manifest = folder / RELEASE_FILE
    if not manifest.is_file():
        raise ReleaseFormatError(
            f"{folder} holds no {RELEASE_FILE}; give the directory that a release was saved to"
        )
    try:
        document = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ReleaseFormatError(f"{manifest} is not readable JSON: the file is damaged") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ReleaseFormatError(f"{manifest} was not written by dpmarkov")
    schema = document.get("schema_version")
    if not isinstance(schema, int) or not 1 <= schema <= SCHEMA_VERSION:
        raise ReleaseFormatError(
            f"{manifest} has schema version {schema!r}; this dpmarkov reads 1 to {SCHEMA_VERSION}: "
            "install a newer one"
        )
    try:
        layout = Layout.from_dict(document["layout"])
        made = document["made"]
        hashes: Mapping[str, Any] = document["files"]
        noisy = None
        if COUNTS_FILE in hashes:
            noisy = _read(folder, COUNTS_FILE, hashes, layout, "noisy_count").astype(np.int64)
        return Release(
            layout=layout,
            probabilities=_read(folder, TRANSITIONS_FILE, hashes, layout, "probability").astype(np.float64),
            guarantee=Guarantee.from_dict(document["guarantee"]),
            mechanism=document["mechanism"],
            created=made["time"],
            version=made["version"],
            seed=made["seed"],
            noisy_counts=noisy,
        )
    except DpmarkovError as error:
        raise ReleaseFormatError(f"{folder} cannot be loaded: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ReleaseFormatError(f"{manifest} is damaged: {type(error).__name__} at {error}") from None


def _read(
    folder: Path, name: str, hashes: Mapping[str, Any], layout: Layout, column: str
) -> npt.NDArray[np.generic]:
    try:
        data = (folder / name).read_bytes()
    except OSError:
        raise ReleaseFormatError(f"{name} is missing or unreadable") from None
    if hashlib.sha256(data).hexdigest() != hashes[name]["sha256"]:
        raise ReleaseFormatError(
            f"{name} does not match its hash in {RELEASE_FILE}: it is damaged or was changed"
        )
    table = pq.read_table(io.BytesIO(data))
    if column not in table.column_names or table.num_rows != layout.cells.n_cells:
        raise ReleaseFormatError(f"{name} does not fit the states in {RELEASE_FILE}")
    return np.asarray(table.column(column).to_numpy())
