"""A synthetic data set: sequences of made-up users, drawn from the released chain.

They follow the released distributions of starts and lengths where the release has them. What the chain does
not hold is not in them: no memory beyond one step, no habits of a person. They cost no privacy, since they
are drawn from what is public already.

A declared start and a declared end are markers that counting put around every sequence; the log did not hold
them, and neither does the made-up one, so that it can be counted in the same way again. The first visit
is drawn from the row of the start. With a declared end the chain itself says when a sequence ends: by its
transitions to the end, which are as likely as released. The released lengths are not used then, since one
sequence cannot follow both; on average the chain's sequences are as long as those it was counted from, but a
chain has no memory, so very short and very long ones are rarer than in most logs.
"""

import io
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from scipy import sparse

from dpmarkov.chain import MarkovChain
from dpmarkov.entropy import Entropy
from dpmarkov.errors import ChainError, ParameterError
from dpmarkov.export.chains import chain_of
from dpmarkov.releases.describe import declared_end, start_shares
from dpmarkov.states import shown_size
from dpmarkov.whole import check_free, write_whole

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["synthetic", "write_synthetic"]

Flat = npt.NDArray[np.float64]

_BYTES_OF_A_STEP = 16
_BYTES_OF_A_VISIT = 44
_MOST_BYTES = 2**34
_LONGEST = 100_000
_HARDLY = 1e-6
"""The expected number of sequences that the longest one drawn cuts short."""


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
        States in each sequence; with a declared end, the most that a sequence may have. Without it, sequences
        run to the declared end, or have lengths drawn from the released distribution, where there is one (its
        last length stands for itself).
    seed
        A whole number for a data set that can be repeated; the operating system's entropy unless given.
    """
    chain, start, end = _without_markers(release)
    _check("users", users)
    if length is not None:
        _check("length", length)
    if end is not None and start is not None:
        longest, visits = _until_end(chain, start, end, users, length)
        _check_size(users, int(visits), longest)
        lengths = np.full(users, longest, dtype=np.int64)
    elif length is not None:
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
    if end is not None:
        over = walks == chain.states.states[end]
        lengths = np.where(over.any(axis=1), over.argmax(axis=1), lengths)
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
    write_whole(target, buffer.getvalue())
    return target


def _without_markers(release: "Release") -> tuple[MarkovChain, Flat | None, int | None]:
    """The chain as sequences walk it, where they start, and the position of the end at which they stay.

    Noise gives some probability to what cannot be: a return to the declared start, a sequence without visits.
    It is left out, and what remains of the row scaled up.
    """
    chain, start, end = chain_of(release), start_shares(release), declared_end(release)
    n, begin = len(chain), release.counting.get("start")
    if begin is None and end is None:
        return chain, start, None
    markers = [p for p in (None if begin is None else chain.states.index(begin), end) if p is not None]
    all_cells = sparse.coo_array(chain.matrix)
    kept = (all_cells.row != (n if end is None else end)) & (
        all_cells.col != (n if begin is None else markers[0])
    )
    rows = np.concatenate([all_cells.row[kept], markers])
    columns = np.concatenate([all_cells.col[kept], markers])
    values = np.concatenate([all_cells.data[kept], np.ones(len(markers))])
    left = np.bincount(rows, weights=values, minlength=n)
    start = np.ones(n) if start is None else start.copy()
    start[markers] = 0.0
    if left.min() <= 0 or start.sum() <= 0:
        raise ChainError("from some state this release knows no way but to a declared start or end")
    whole = sparse.csr_array((values / left[rows], (rows, columns)), shape=(n, n))
    return MarkovChain(whole, release.layout.target), start / start.sum(), end


def _until_end(chain: MarkovChain, start: Flat, end: int, users: int, most: int | None) -> tuple[int, float]:
    """The most visits that a sequence is drawn with, and how many all sequences have together on average."""
    matrix, going, visits = sparse.csr_array(chain.matrix), start, float(users)
    for length in range(1, (most or _LONGEST) + 1):
        going = going @ matrix
        going[end] = 0.0
        if users * going.sum() < _HARDLY:
            return length, visits
        visits += users * float(going.sum())
    if most is not None:
        return most, visits
    raise ParameterError(
        "the declared end is hardly ever reached in this release; give the most states that a sequence may "
        "have, its length"
    )


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
