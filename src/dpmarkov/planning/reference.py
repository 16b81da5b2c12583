"""Counts that stand in for the data: of a public shape, or of an earlier release.

The public shape: from-states and to-states by Zipf's law (the k-th busiest has a share proportional to 1/k,
which traffic and page views follow closely), and pairs that differ from what their rows and columns say by a
log-normal factor, e^(standard normal). On 65 taxi zones it predicts the error of a row within 35 % (a test
holds it); a sparse network needs its support declared, or an earlier release.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import special

from dpmarkov.counts import TransitionCounts
from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.postprocess.structure import scattered
from dpmarkov.states import StateSpace
from dpmarkov.support import Support

if TYPE_CHECKING:
    from dpmarkov.releases.release import Release

__all__ = ["Reference", "reference", "reference_like"]

Flat = npt.NDArray[np.float64]

_LIMIT = 300
_FEWEST = 300
"""Events in the counts of a shrunk state space, at least (or all that there are)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reference:
    """Public counts that a plan runs the mechanisms on.

    Parameters
    ----------
    counts
        The counts; nothing sensitive.
    shrink
        By how much the error of the stationary distribution is smaller at full size (1 unless the state space
        was too large to simulate whole).
    words
        Where the counts come from.
    """

    counts: TransitionCounts
    shrink: float
    words: str

    @property
    def typical_row(self) -> float:
        """The number of events in the row of the median event."""
        totals = np.sort(np.asarray(self.counts.layout.cells.row_sums(self.counts.values), dtype=float))
        running = np.cumsum(totals)
        return float(totals[np.searchsorted(running, running[-1] / 2)])


def reference(layout: Layout, events: float, *, limit: int = _LIMIT) -> Reference:
    """Counts of the public shape for a layout and a number of events.

    Parameters
    ----------
    layout
        The public shape; several groups share the events evenly.
    events
        The expected number of events, a public guess.
    limit
        State spaces beyond this are shrunk, at the same events for each cell.
    """
    per_group = events / layout.n_groups
    cells, is_chain, factor = _shrunk(layout, limit)
    # At the same events for each cell, but never so few that no error can be told from them.
    simulated = max(per_group * cells.n_cells / layout.allowed.n_cells, min(per_group, _FEWEST))
    rows, columns = cells.row_of_cell, cells.indices
    row_share = _zipf(cells.n_rows)
    factors = np.exp(special.ndtri(np.clip(scattered(cells.n_cells, 1), 1e-6, 1 - 1e-6)))
    weights = _zipf(cells.n_columns)[columns] * factors
    sums = np.asarray(cells.row_sums(weights), dtype=float)
    expected = simulated * row_share[rows] * weights / sums[rows]
    values = np.floor(expected + scattered(cells.n_cells, 2)).astype(np.int64)
    if not values.any():
        values[expected.argmax()] = 1
    return Reference(
        counts=_counts(cells, values, is_chain),
        shrink=factor,
        words=f"the public shape (Zipf's law) of {layout} and {_events(events)}",
    )


def reference_like(release: "Release", *, events: float | None = None) -> Reference:
    """Counts like those of an earlier release (of its first group).

    Parameters
    ----------
    release
        Any release with the same states, public as it is.
    events
        The expected number of events; by default that of the release's noisy counts. A release without noisy
        counts needs it.
    """
    block = release.layout.blocks[0]
    cells = block.cells
    probabilities = release.probabilities[block.at]
    if release.noisy_counts is not None:
        totals = np.maximum(np.asarray(cells.row_sums(release.noisy_counts[block.at]), dtype=float), 0.0)
    elif release.row_totals is not None:
        totals = np.maximum(np.asarray(release.row_totals[block.rows], dtype=float), 0.0)
    elif events is None:
        raise ParameterError(
            "this release holds no noisy counts, so its size is unknown: give the expected number of events "
            "(expected_events=, --events)"
        )
    elif release.layout.is_chain:
        totals = np.asarray(release.stationary_distribution, dtype=float)
    else:
        totals = np.ones(cells.n_rows)
    if events is not None:
        if not totals.any():
            totals = np.ones(cells.n_rows)
        totals = totals * (events / release.layout.n_groups / totals.sum())
    expected = probabilities * np.repeat(totals, cells.row_sizes)
    values = np.floor(expected + scattered(cells.n_cells, 2)).astype(np.int64)
    if not values.any():
        raise ParameterError(
            "the earlier release shows no event beyond its noise: plan from the states instead, or give the "
            "expected number of events (expected_events=, --events)"
        )
    counts = _counts(cells, values, release.layout.is_chain)
    of_groups = "the first group of " if release.layout.n_groups > 1 else ""
    words = f"{of_groups}an earlier release of {release.layout}, {_events(values.sum())}"
    return Reference(counts=counts, shrink=1.0, words=words)


def _events(number: float) -> str:
    return f"{number:,.0f} event{'' if number == 1 else 's'}"


def _counts(cells: Support, values: npt.NDArray[np.int64], is_chain: bool) -> TransitionCounts:
    target = StateSpace.range(0, cells.n_columns)
    if is_chain:
        source: StateSpace | None = target
    else:
        source = StateSpace.range(0, cells.n_rows) if cells.n_rows > 1 else None
    return TransitionCounts(Layout(target=target, source=source, support=cells), values)


def _shrunk(layout: Layout, limit: int) -> tuple[Support, bool, float]:
    """The support at a size that can be simulated; the stationary error grows as one over its square root."""
    allowed = layout.allowed
    n, m = allowed.n_rows, allowed.n_columns
    is_chain = layout.is_chain
    if max(n, m) <= limit:
        return allowed, is_chain, 1.0
    rows, columns = min(n, limit), min(m, limit)
    if is_chain:
        rows = columns = min(n, limit)
    if allowed.is_full:
        return Support.full(rows, columns), is_chain, math.sqrt(rows / n)
    per_row = min(columns, max(1, round(allowed.n_cells / n)))
    # Any spread of so many cells will do: a stride that no column is favoured by.
    taken = (np.arange(rows)[:, None] * 7 + np.arange(per_row)[None, :] * (columns // per_row)) % columns
    indices = np.sort(taken, axis=1)
    indptr = np.arange(rows + 1, dtype=np.int64) * per_row
    return Support(indptr, indices.ravel().astype(np.int64), columns), is_chain, math.sqrt(rows / n)


def _zipf(size: int) -> Flat:
    shares = 1.0 / np.arange(1, size + 1)
    return np.asarray(shares / shares.sum(), dtype=float)
