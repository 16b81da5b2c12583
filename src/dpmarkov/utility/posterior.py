"""What a release lets one believe of the true chain: plausible matrices, drawn from the release alone.

Each mechanism has its own answer (`count_rows`, `dirichlet_rows`, `known_rows`, `drawn_rows`); all give draws
of the true count of every cell, up to one factor for each row, and from them draws of the true rows.

In a drawn row of fewer than 20 events the released row counts as one more event (in longer rows as a
millionth), so that a row that may hold two events or none does not turn into a trap that swallows the whole
long run of the chain.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ChainError
from dpmarkov.postprocess.noise import NoiseLaw
from dpmarkov.support import Support
from dpmarkov.utility.count_rows import CountRows
from dpmarkov.utility.dirichlet_rows import DirichletRows, NoisyTotals
from dpmarkov.utility.drawn_rows import DrawnRows
from dpmarkov.utility.known_rows import KnownTotalRows

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["RowPosterior", "posterior_of", "rows_from_counts"]

Flat = npt.NDArray[np.float64]

_SHORT_ROW = 20
_LEAST_SUPPORT = 1e-6


class RowPosterior(Protocol):
    """What is believed of the true counts, given a release."""

    @property
    def cells(self) -> Support:
        """The geometry of the rows."""

    @property
    def released(self) -> Flat:
        """The released probability of each cell."""

    @property
    def method(self) -> str:
        """How the draws are made, in words."""

    @property
    def mean(self) -> Flat:
        """The mean of each cell's true count."""

    @property
    def variance(self) -> Flat:
        """The variance of each cell's true count."""

    @property
    def noise_variance(self) -> Flat | None:
        """The variance of the noise on each cell's count; None where there is no such thing."""

    @property
    def residual(self) -> Flat | None:
        """Noisy count minus posterior mean, for each cell; None where there are no noisy counts."""

    def counts(self, number: int, rng: np.random.Generator, *, for_entries: bool = False) -> Flat:
        """`number` draws of all true counts, shape (number, cells).

        With `for_entries`, single entries may be read off: a learnt prior's own doubt is in them. What sums
        over many cells gets the noise's full first-order effect instead (see `uncertainty`).
        """


@lru_cache(maxsize=4)
def posterior_of(release: "Release") -> RowPosterior:
    """The posterior for the transitions (of a release with groups, ask `release.of(group)`).

    Kept for the last few releases: learning the prior takes longer than most questions.
    """
    block = release.layout.block("transitions")
    released = release.probabilities[block.at]
    if release.noisy_counts is not None and "noise" in release.mechanism:
        return CountRows.of(
            release.noisy_counts[block.at],
            released,
            block.cells,
            NoiseLaw(kind=release.mechanism["noise"], scale=float(release.mechanism["scale"])),
            is_chain=release.layout.is_chain,
        )
    if release.noisy_counts is not None and release.mechanism.get("name") == "gaussian-posterior":
        return DrawnRows.of(
            release.noisy_counts[block.at],
            released,
            block.cells,
            sigma=float(release.mechanism["sigma"]),
            prior=float(release.mechanism["prior"]),
            is_chain=release.layout.is_chain,
        )
    if release.mechanism.get("name") in ("dirichlet-lifted", "dirichlet-assumed"):
        return KnownTotalRows.of(release)
    if release.mechanism.get("form") in ("floor", "prior"):
        return DirichletRows.of(
            released,
            block.cells,
            form=release.mechanism["form"],
            weight=float(release.mechanism["weight"]),
            floor=float(release.mechanism["floor"]),
            totals=None
            if release.row_totals is None
            else NoisyTotals(
                values=release.row_totals[block.rows],
                law=NoiseLaw(kind="laplace", scale=float(release.mechanism["totals_scale"])),
            ),
        )
    raise ChainError(
        f"no error bars are known for the mechanism {release.mechanism.get('name')!r}; they exist for the "
        "Dirichlet mechanisms and for additive noise whose noisy counts are in the release"
    )


def rows_from_counts(
    counts: Flat,
    released: Flat,
    cells: Support,
    sampling: np.random.Generator | None = None,
    *,
    short_row_support: float = 1.0,
) -> Flat:
    """Rows from drawn counts, shape (draws, cells).

    Parameters
    ----------
    counts
        Draws of the true counts.
    released
        The released rows, which count as one event each in short rows.
    cells
        The geometry.
    sampling
        When given, the data's own sampling error is added: each row is one draw of the Dirichlet posterior of
        the probabilities behind such counts, if transitions from a state are independent of each other.
    short_row_support
        How many events the released row counts as in a short row. Single probabilities do not need it, and
        with it they would never be zero.
    """
    starts, sizes = cells.indptr[:-1], cells.row_sizes
    events = np.add.reduceat(counts, starts, axis=1)
    support = np.repeat(
        np.where(events < _SHORT_ROW, max(short_row_support, _LEAST_SUPPORT), _LEAST_SUPPORT), sizes, axis=1
    )
    weights = counts + support * released
    if sampling is not None:
        weights = sampling.standard_gamma(weights) + _LEAST_SUPPORT * released
    totals = np.add.reduceat(weights, starts, axis=1)
    return np.asarray(weights / np.repeat(totals, sizes, axis=1))
