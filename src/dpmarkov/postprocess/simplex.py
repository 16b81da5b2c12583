"""Noisy counts made non-negative: by clipping, or by the nearest point with a given total."""

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import InputError
from dpmarkov.support import Support

__all__ = ["check_cells", "clip", "project", "to_rows"]

Flat = npt.NDArray[np.float64]


def check_cells(name: str, values: npt.NDArray[np.generic], size: int, *, whole: bool = False) -> None:
    """Refuse what is not one finite number (with `whole`, of an integer type) for each cell or row."""
    kind = np.integer if whole else np.number
    if values.shape != (size,) or not np.issubdtype(values.dtype, kind):
        raise InputError(
            f"{name} must be a flat array of {size:,} {'integers' if whole else 'numbers'}; got shape "
            f"{values.shape} of {values.dtype}"
        )
    if not whole and not np.all(np.isfinite(values)):
        raise InputError(f"{name} must be finite numbers; the array has others")


def clip(noisy: npt.NDArray[np.generic]) -> Flat:
    """Negative counts become zero: the baseline. It adds mass, most where most cells are empty."""
    return np.asarray(np.maximum(noisy, 0), dtype=float)


def project(noisy: npt.NDArray[np.generic], cells: Support, totals: Flat | None = None) -> Flat:
    """For each row the nearest point (Euclidean) with non-negative entries and the given total.

    Parameters
    ----------
    noisy
        One noisy count for each cell.
    cells
        The geometry.
    totals
        The rows' totals where they are public, or from another noisy source; by default the sums of the noisy
        counts, which are unbiased. A total that is not positive gives a row of zeros.

    Notes
    -----
    The projection takes the same amount off each cell that stays positive (Duchi et al. 2008), so the row
    keeps its total where clipping inflates it.
    """
    check_cells("noisy", np.asarray(noisy), cells.n_cells)
    values = np.asarray(noisy, dtype=float)
    wanted = np.asarray(cells.row_sums(values) if totals is None else totals, dtype=float)
    check_cells("totals", wanted, cells.n_rows)
    rows, starts, sizes = cells.row_of_cell, cells.indptr[:-1], cells.row_sizes
    order = np.lexsort((-values, rows))
    descending = values[order]
    running = np.cumsum(descending)
    before = np.concatenate(([0.0], running))[starts]
    running = running - np.repeat(before, sizes)
    rank = np.arange(values.size) - np.repeat(starts, sizes) + 1
    level = (running - np.repeat(wanted, sizes)) / rank
    kept = np.maximum(np.add.reduceat((descending > level).astype(np.int64), starts), 1)
    threshold = level[starts + kept - 1]
    result = np.maximum(values - np.repeat(threshold, sizes), 0.0)
    return np.where(np.repeat(wanted > 0, sizes), result, 0.0)


def to_rows(estimate: Flat, cells: Support) -> Flat:
    """Estimated counts as row distributions; a row without any mass becomes uniform over its cells."""
    sums = np.repeat(np.asarray(cells.row_sums(estimate), dtype=float), cells.row_sizes)
    uniform = 1.0 / np.repeat(cells.row_sizes, cells.row_sizes)
    return np.where(sums > 0, estimate / np.where(sums > 0, sums, 1.0), uniform)
