"""The named ways from noisy counts to row probabilities."""

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.postprocess.bayes import posterior_mean
from dpmarkov.postprocess.noise import NoiseLaw
from dpmarkov.postprocess.simplex import check_cells, clip, project, to_rows

__all__ = ["METHODS", "check_method", "estimate_probabilities"]

Flat = npt.NDArray[np.float64]

METHODS = ("posterior", "project", "clip")

_FULL = 1e-9
"""What a cell of the support holds at the least, in counts: a chain without accidental zeros."""


def check_method(method: str) -> None:
    """Refuse what is none of `METHODS`."""
    if method not in METHODS:
        raise ParameterError(f"post-processing must be one of {', '.join(METHODS)}; got {method!r}")


def estimate_probabilities(
    noisy: npt.NDArray[np.int64], layout: Layout, law: NoiseLaw, *, method: str = "posterior"
) -> Flat:
    """Row probabilities from noisy counts and public quantities alone.

    Parameters
    ----------
    noisy
        One noisy count for each cell, signed.
    layout
        The public shape; cells outside its support stay zero.
    law
        The law of the noise.
    method
        `"posterior"`: the posterior mean, positive in every cell of the support (a chain without accidental
        zeros). `"project"`: the nearest row with the noisy total. `"clip"`: negative counts become zero.
    """
    check_method(method)
    check_cells("noisy", np.asarray(noisy), layout.cells.n_cells, whole=True)
    result = np.empty(layout.cells.n_cells)
    for block in layout.blocks:
        values, cells = noisy[block.at], block.cells
        if method == "clip":
            counts = clip(values)
        elif method == "project":
            counts = project(values, cells)
        else:
            is_chain = layout.is_chain and block.kind == "transitions"
            counts = posterior_mean(values, cells, law, is_chain=is_chain).counts + _FULL
        result[block.at] = to_rows(counts, cells)
    return result
