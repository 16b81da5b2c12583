"""Taking a public prior out of a Dirichlet draw again."""

import numpy as np
import numpy.typing as npt

from dpmarkov.postprocess.simplex import check_cells, project
from dpmarkov.support import Support

__all__ = ["remove_prior"]

Flat = npt.NDArray[np.float64]


def remove_prior(probabilities: Flat, cells: Support, *, prior: float, weighted_totals: Flat) -> Flat:
    """The draw without the pull of its prior.

    A row drawn from Dirichlet(w x + a) has the mean (w x + a) / (w N + n a). With S = w N + n a this is
    undone by (S q - a) / (w N). Where that has negative entries, the nearest row without them is taken: all
    other entries lose the same amount, so that large ones stay (nearly) unbiased.

    Parameters
    ----------
    probabilities
        The draw, one value for each cell.
    cells
        The geometry.
    prior
        The prior a of each cell.
    weighted_totals
        w N for each row, from a public total, or a noisy one that was charged. Values below the prior's own
        weight are lifted to it, since such a row holds more prior than data.
    """
    check_cells("probabilities", np.asarray(probabilities), cells.n_cells)
    check_cells("weighted_totals", np.asarray(weighted_totals), cells.n_rows)
    sizes = cells.row_sizes
    pull = prior * sizes
    strength = np.maximum(np.asarray(weighted_totals, dtype=float), pull)
    counts = probabilities * np.repeat(strength + pull, sizes) - prior
    kept = project(counts, cells)
    sums = np.repeat(np.asarray(cells.row_sums(kept), dtype=float), sizes)
    return np.where(sums > 0, kept / np.where(sums > 0, sums, 1.0), probabilities)
