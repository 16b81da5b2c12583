"""A release on disk: `release.json` and `transitions.parquet`, written whole or not at all.

With sequences there are also `starts.parquet` and `lengths.parquet`; a mechanism that reveals noisy counts
adds a file of these for each (`counts.parquet` for the transitions). `row_totals.parquet` is there
where noisy row totals were bought. What is noisy carries the law of its noise with it, as metadata of the
Parquet file: it can be used when it is sent on alone.

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
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from dpmarkov.errors import DpmarkovError, EngineError, ParameterError, ReleaseFormatError
from dpmarkov.layout import BlockKind, Layout
from dpmarkov.postprocess import NoiseLaw
from dpmarkov.privacy.guarantee import Guarantee
from dpmarkov.releases.release import Release
from dpmarkov.states import StateSpace

__all__ = ["check_output", "load", "save"]

FORMAT = "dpmarkov release"
SCHEMA_VERSION = 1
RELEASE_FILE = "release.json"
TRANSITIONS_FILE = "transitions.parquet"
COUNTS_FILE = "counts.parquet"
_TABLES: dict[BlockKind, tuple[str, str]] = {
    "transitions": (TRANSITIONS_FILE, COUNTS_FILE),
    "starts": ("starts.parquet", "start_counts.parquet"),
    "lengths": ("lengths.parquet", "length_counts.parquet"),
}
TOTALS_FILE = "row_totals.parquet"
_OWN_FILES = {RELEASE_FILE, TOTALS_FILE, *(name for names in _TABLES.values() for name in names)}


def check_output(path: str | PathLike[str], *, overwrite: bool = False) -> Path:
    """The output directory, refused if it holds something that must not be lost."""
    if not os.fspath(path):
        raise ParameterError("the output is an empty text; name a directory")
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is a file; the output must be a directory")
    if not folder.exists():
        return folder
    present = {entry.name for entry in folder.iterdir()}
    if present and not overwrite:
        raise ParameterError(
            f"{folder} exists and is not empty; choose another directory or replace what is in it "
            "(--overwrite; in Python overwrite=True)"
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
    files: dict[str, bytes] = {}
    noise, noise_of_totals = _laws(release.mechanism)
    for kind in dict.fromkeys(block.kind for block in release.layout.blocks):
        shares, counts = _TABLES[kind]
        files[shares] = _parquet(release.layout, kind, "probability", release.probabilities)
        if release.noisy_counts is not None:
            files[counts] = _parquet(release.layout, kind, "noisy_count", release.noisy_counts, noise)
    if release.row_totals is not None:
        files[TOTALS_FILE] = _totals(release.layout, release.row_totals, noise_of_totals)
    document = {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "layout": release.layout.to_dict(),
        "guarantee": release.guarantee.to_dict(),
        "mechanism": dict(release.mechanism),
        "counting": dict(release.counting),
        "made": {
            "software": "dpmarkov",
            "version": release.version,
            "time": release.created,
            "seed": release.seed,
            "private": release.is_private,
        },
        "cite": release.citation,
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


def _laws(mechanism: Mapping[str, Any]) -> tuple[NoiseLaw | None, NoiseLaw | None]:
    """The laws of the noise on counts and on row totals; None where the mechanism tells none."""
    counts = totals = None
    if mechanism.get("name") == "gaussian-posterior":
        counts = NoiseLaw(kind="gaussian", scale=float(mechanism["sigma"]))
    # A mechanism of somebody's own may mean something else by these words.
    elif mechanism.get("noise") in ("laplace", "gaussian") and isinstance(mechanism.get("scale"), float):
        counts = NoiseLaw(kind=mechanism["noise"], scale=mechanism["scale"])
    if "totals_scale" in mechanism:
        totals = NoiseLaw(kind="laplace", scale=float(mechanism["totals_scale"]))
    return counts, totals


def _parquet(
    layout: Layout,
    kind: BlockKind,
    column: str,
    values: npt.NDArray[np.generic],
    law: NoiseLaw | None = None,
) -> bytes:
    """The table of cells in the layout's order, in a form whose size does not depend on `values`.

    Columns: `group` where there are groups; `from` and `to`, or `state`, or `length`; the value; labels.
    """
    blocks = [block for block in layout.blocks if block.kind == kind]
    cells, n_groups = blocks[0].cells, len(blocks)
    rows, at = np.tile(cells.row_of_cell, n_groups), np.tile(cells.indices, n_groups)
    columns: dict[str, pa.Array] = {}
    labels: dict[str, pa.Array] = {}
    if layout.groups is not None:
        group = np.repeat(np.arange(n_groups, dtype=np.int64), cells.n_cells)
        columns["group"] = _states(layout.groups, group)
        if layout.groups.has_labels:
            labels["group_label"] = _labels(layout.groups, group)
    if kind == "transitions" and layout.source is not None:
        columns["from"] = _states(layout.source, rows)
        if layout.source.has_labels:
            labels["from_label"] = _labels(layout.source, rows)
    if kind == "lengths":
        columns["length"] = pa.array(at + 1)
    else:
        name = "to" if kind == "transitions" else "state"
        columns[name] = _states(layout.target, at)
        if layout.target.has_labels:
            labels[f"{name}_label"] = _labels(layout.target, at)
    columns[column] = pa.array(values[blocks[0].at.start : blocks[-1].at.stop])
    return _plain(columns | labels, column, law)


def _totals(layout: Layout, totals: npt.NDArray[np.int64], law: NoiseLaw | None) -> bytes:
    """One noisy total for each row in the layout's order; `from` is null in rows of starts and lengths."""
    columns: dict[str, pa.Array] = {
        "part": pa.array([block.kind for block in layout.blocks for _ in range(block.cells.n_rows)])
    }
    if layout.groups is not None:
        # Blocks come kind by kind, and in each kind group by group.
        sizes = [block.cells.n_rows for block in layout.blocks]
        columns["group"] = _states(
            layout.groups, np.repeat(np.arange(len(sizes), dtype=np.int64) % len(layout.groups), sizes)
        )
    if layout.source is not None:
        source = pa.array(layout.source.states, type=pa.int64() if layout.source.is_integer else pa.string())
        nothing = pa.nulls(1, type=source.type)
        columns["from"] = pa.concat_arrays(
            [source if block.kind == "transitions" else nothing for block in layout.blocks]
        )
    return _plain(columns | {"noisy_total": pa.array(totals)}, "noisy_total", law)


def _plain(columns: dict[str, pa.Array], column: str, law: NoiseLaw | None) -> bytes:
    """A table as a Parquet file whose size does not depend on the values of `column`."""
    about = None if law is None else {"dpmarkov": json.dumps({"noise": asdict(law), "noise_std": law.std})}
    buffer = io.BytesIO()
    pq.write_table(
        pa.table(columns, metadata=about),
        buffer,
        compression="none",
        use_dictionary=[name for name in columns if name != column],
        write_statistics=False,
        # Metadata is written with the schema alone.
        store_schema=law is not None,
    )
    return buffer.getvalue()


def _states(space: StateSpace, at: npt.NDArray[np.int64]) -> pa.Array:
    return pa.array(space.states, type=pa.int64() if space.is_integer else pa.string()).take(pa.array(at))


def _labels(space: StateSpace, at: npt.NDArray[np.int64]) -> pa.Array:
    return pa.array(space.labels, type=pa.string()).take(pa.array(at))


def load(path: str | PathLike[str]) -> Release:
    """Read a release that `save` wrote, after checking its schema, its version and its tables' hashes.

    Parameters
    ----------
    path
        The directory, or the `release.json` in it.
    """
    folder = Path(path)
    if folder.name == RELEASE_FILE and folder.is_file():
        folder = folder.parent
    manifest = folder / RELEASE_FILE
    if not manifest.is_file():
        if folder.is_dir():
            problem = f"{folder} holds no {RELEASE_FILE}"
        else:
            problem = f"{folder} is a file" if folder.exists() else f"there is no {folder}"
        raise ReleaseFormatError(f"{problem}; give the directory that a release was saved to")
    try:
        document = json.loads(manifest.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReleaseFormatError(f"{manifest} cannot be read: {error.strerror or error}") from None
    except ValueError:
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
            noisy = _read(folder, 1, hashes, layout, "noisy_count").astype(np.int64)
        totals = None
        if TOTALS_FILE in hashes:
            read = _read_table(folder, TOTALS_FILE, hashes, layout.cells.n_rows, "noisy_total")
            totals = read.astype(np.int64)
        return Release(
            layout=layout,
            probabilities=_read(folder, 0, hashes, layout, "probability").astype(np.float64),
            guarantee=Guarantee.from_dict(document["guarantee"]),
            mechanism=document["mechanism"],
            created=made["time"],
            version=made["version"],
            seed=made["seed"],
            noisy_counts=noisy,
            row_totals=totals,
            counting=document.get("counting", {}),
        )
    except DpmarkovError as error:
        raise ReleaseFormatError(f"{folder} cannot be loaded: {error}") from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ReleaseFormatError(f"{manifest} is damaged: {type(error).__name__} at {error}") from None


def _read(
    folder: Path, which: int, hashes: Mapping[str, Any], layout: Layout, column: str
) -> npt.NDArray[np.generic]:
    """One value for each cell of the layout, from the tables of all its parts."""
    parts = []
    for kind in dict.fromkeys(block.kind for block in layout.blocks):
        size = sum(block.cells.n_cells for block in layout.blocks if block.kind == kind)
        parts.append(_read_table(folder, _TABLES[kind][which], hashes, size, column))
    return np.concatenate(parts)


def _read_table(
    folder: Path, name: str, hashes: Mapping[str, Any], size: int, column: str
) -> npt.NDArray[np.generic]:
    if name not in hashes:
        raise ReleaseFormatError(f"{RELEASE_FILE} does not list {name}")
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        raise ReleaseFormatError(f"{name} cannot be read: {error.strerror or error}") from None
    if hashlib.sha256(data).hexdigest() != hashes[name]["sha256"]:
        raise ReleaseFormatError(
            f"{name} does not match its hash in {RELEASE_FILE}: it is damaged or was changed"
        )
    # Without threads: one that still runs when the interpreter ends aborts the process.
    table = pq.ParquetFile(io.BytesIO(data), pre_buffer=False).read(use_threads=False)
    if column not in table.column_names or table.num_rows != size:
        raise ReleaseFormatError(f"{name} does not fit the states in {RELEASE_FILE}")
    return np.asarray(table.column(column).to_numpy())
