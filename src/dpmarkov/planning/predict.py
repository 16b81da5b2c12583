"""Predicted errors: the mechanism itself, run on public counts."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmarkov.chain.gth import stationary_vector
from dpmarkov.entropy import Entropy
from dpmarkov.mechanisms.additive import Additive
from dpmarkov.mechanisms.base import Mechanism
from dpmarkov.mechanisms.dirichlet import Dirichlet
from dpmarkov.planning.reference import Reference
from dpmarkov.support import Support

__all__ = ["Errors", "enough_draws", "predicted_errors", "smallest_reliable"]

Flat = npt.NDArray[np.float64]

_RELIABLE = 4.0
"""A probability is called reliable when it is at least so many standard errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """What a mechanism is expected to do to a chain.

    Parameters
    ----------
    row
        Total variation between a private row and the true one, averaged over events.
    stationary
        Total variation between the private and the true stationary distribution; None without a chain.
    """

    row: float
    stationary: float | None


def predicted_errors(mechanism: Mechanism, reference: Reference, *, draws: int | None = None) -> Errors:
    """Mean errors over a few simulated draws on the reference counts.

    Parameters
    ----------
    mechanism
        The mechanism with its calibrated parameters.
    reference
        Public counts.
    draws
        Simulated draws, from fixed seeds; by default more of a small table, whose errors vary more.
    """
    counts = reference.counts
    cells = counts.layout.cells
    draws = enough_draws(reference) if draws is None else draws
    totals = np.asarray(cells.row_sums(counts.values), dtype=float)
    shares = totals / max(totals.sum(), 1.0)
    spread = np.repeat(np.maximum(totals, 1.0), cells.row_sizes)
    empty = np.repeat(totals == 0, cells.row_sizes)
    true = np.where(empty, 1.0 / np.repeat(cells.row_sizes, cells.row_sizes), counts.values / spread)
    limit = _stationary(true, cells) if counts.layout.is_chain else None
    rows, ends = [], []
    for seed in range(draws):
        found = mechanism.draw(counts, Entropy.seeded(seed)).probabilities
        rows.append(float(shares @ (np.asarray(cells.row_sums(np.abs(found - true)), dtype=float) / 2)))
        if limit is not None:
            ends.append(float(np.abs(_stationary(found, cells) - limit).sum() / 2))
    stationary = float(np.mean(ends)) * reference.shrink if ends else None
    return Errors(row=float(np.mean(rows)), stationary=stationary)


def enough_draws(reference: Reference) -> int:
    """How many simulated draws make a steady mean: 3 of a large table, up to 30 of a small one."""
    return min(30, max(3, 2000 // reference.counts.layout.cells.n_cells))


def _stationary(values: Flat, cells: Support) -> Flat:
    """The stationary distribution, with a touch of every state so that there is exactly one."""
    matrix = np.asarray(cells.dense(values), dtype=float) + 1e-9
    return stationary_vector(matrix / matrix.sum(axis=1, keepdims=True))


def smallest_reliable(mechanism: Mechanism, reference: Reference) -> float:
    """The smallest probability in a typical row that is at least four standard errors; 1 if there is none."""
    total = max(reference.typical_row, 1.0)
    cells = reference.counts.layout.cells
    if isinstance(mechanism, Additive):
        return min(1.0, _RELIABLE * mechanism.noise.std / total)
    if isinstance(mechanism, Dirichlet):
        size = cells.n_cells / cells.n_rows
        strength = mechanism.weight * total + mechanism.alpha * size
        noise = _RELIABLE**2 / strength
        bias = mechanism.alpha / (mechanism.weight * total)
        return min(1.0, max(noise, bias))
    return math.nan
