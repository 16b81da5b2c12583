"""The named ways from noisy counts to row probabilities."""

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.postprocess.bayes import posterior_mean
from dpmarkov.postprocess.noise import NoiseLaw
from dpmarkov.postprocess.simplex import clip, project, to_rows

__all__ = ["METHODS", "estimate_probabilities"]

Flat = npt.NDArray[np.float64]

METHODS = ("posterior", "project", "clip")

_FULL = 1e-9


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
    cells = layout.cells
    if method == "clip":
        return to_rows(clip(noisy), cells)
    if method == "project":
        return to_rows(project(noisy, cells), cells)
    if method != "posterior":
        raise ParameterError(f"post-processing must be one of {', '.join(METHODS)}; got {method!r}")
    counts = posterior_mean(noisy, cells, law, is_chain=layout.is_chain).counts
    return to_rows(counts + _FULL, cells)
