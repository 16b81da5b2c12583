"""A synthetic data set: sequences of made-up users, drawn from the released chain.

They follow the released distributions of starts and lengths where the release has them. What the chain does
not hold is not in them: no memory beyond one step, no habits of a person. They cost no privacy, since they
are drawn from what is public already.
"""

import io
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from dpmarkov.entropy import Entropy
from dpmarkov.errors import ParameterError
from dpmarkov.export.files import check_free, write_whole
from dpmarkov.states import shown_size

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["synthetic", "write_synthetic"]

_BYTES_OF_A_STEP = 16
_BYTES_OF_A_VISIT = 44
_MOST_BYTES = 2**34


def synthetic(
    release: "Release", *, users: int, length: int | None = None, seed: int | None = None
) -> pa.Table:
    """Sequences with the columns `user`, `position` (from 0) and `state`.

    Parameters
    ----------
    release
        A release of a Markov chain; of one with groups, give `release.of(group)`.
    users
        How many sequences.
    length
        States in each sequence. Without it, lengths are drawn from the released distribution of lengths,
        where there is one (its last length stands for itself).
    seed
        A whole number for a data set that can be repeated; the operating system's entropy unless given.
    """
    chain = release.chain
    _check("users", users)
    start = release.start_distribution if release.layout.starts else None
    if length is not None:
        _check("length", length)
        _check_size(users, users * length, length)
        lengths = np.full(users, length, dtype=np.int64)
    elif release.layout.lengths is not None:
        _check_size(users, users, 1)
        shares = np.cumsum(release.length_distribution)
        uniforms = Entropy.choose(seed).generator("synthetic lengths").random(users)
        lengths = 1 + np.searchsorted(shares[:-1] / shares[-1], uniforms, "right").astype(np.int64)
        _check_size(users, int(lengths.sum()), int(lengths.max()))
    else:
        raise ParameterError("this release has no distribution of lengths; give the length of the sequences")
    walks = chain.simulate(int(lengths.max()), users=users, start=start, seed=seed)
    position = np.arange(walks.shape[1])
    inside = position[None, :] < lengths[:, None]
    rows, columns = np.nonzero(inside)
    states = walks[inside]
    kind = pa.int64() if release.layout.target.is_integer else pa.string()
    return pa.table(
        {
            "user": pa.array(rows.astype(np.int64)),
            "position": pa.array(columns.astype(np.int64)),
            "state": pa.array(states.tolist() if kind == pa.string() else states.astype(np.int64), type=kind),
        }
    )


def write_synthetic(
    release: "Release",
    path: str | PathLike[str],
    *,
    users: int,
    length: int | None = None,
    seed: int | None = None,
    overwrite: bool = False,
) -> Path:
    """Write `synthetic` to a file that ends in `.parquet` or `.csv`."""
    target = check_free(path, overwrite=overwrite)
    if target.suffix not in (".parquet", ".csv"):
        raise ParameterError(f"the output must end in .parquet or .csv; got {target.name}")
    table = synthetic(release, users=users, length=length, seed=seed)
    buffer = io.BytesIO()
    if target.suffix == ".parquet":
        pq.write_table(table, buffer)
    else:
        pyarrow.csv.write_csv(table, buffer)
    return write_whole(target, buffer.getvalue(), overwrite=overwrite)


def _check_size(users: int, visits: int, longest: int) -> None:
    """Refuse sequences that are too many to be drawn at once."""
    size = _BYTES_OF_A_STEP * users * longest + _BYTES_OF_A_VISIT * visits
    if size > _MOST_BYTES:
        raise ParameterError(
            f"{users:,} sequences of up to {longest:,} states would take some {shown_size(size >> 30)} GiB "
            f"of memory; at most {_MOST_BYTES >> 30} GiB are used at once. Ask for fewer users, or for "
            "several files with fewer users each"
        )


def _check(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{name} must be a whole number >= 1; got {value!r}")
