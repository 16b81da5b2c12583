"""Sensitive rows behind a Dirichlet draw whose total is public: releases of `privatize_*`.

A row q is one draw of Dirichlet(k m). The concentration k is public, and m is the sensitive row s after the
public mixing, m = (1 - mixing) s + e with a public e ("lifted"); without mixing m = s. So every entry has a
law with one unknown, q_j ~ Beta(k m_j, k (1 - m_j)), which shrinks as m_j grows. The interval of m_j is the
set of values under which the released q_j is in neither tail: it covers with the stated probability for every
row, without approximation and without a prior. What is public of m_j (it is at least e_j) cuts the interval.

The mixing is linear and public, so an interval for s_j is that for m_j, less e_j, over 1 - mixing.

For other quantities than single entries, Dirichlet(k q) is drawn, which lies about the release as the release
lies about m. Where noise pushes a quantity one way (it makes rows look more different, and entropy lower), it
has pushed the release already and pushes the draws again. So the interval holds the draws' quantiles and
also their mirror image, moved back by the push. The second push is the weaker one: where there is nothing but
noise, spreads add as squares, and the first was 1 / (sqrt 2 - 1) = 2.41 times the second. That factor is
always taken.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import special

from dpmarkov.privacy.unit import Entry
from dpmarkov.support import Support

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["KnownTotalRows"]

Flat = npt.NDArray[np.float64]

_HALVINGS = 50
_LEAST = 1e-300
_FIRST_PUSH = 1 / (2**0.5 - 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KnownTotalRows:
    """What is believed of the lifted rows of a private matrix; see `posterior.RowPosterior`.

    The "counts" are the Dirichlet parameters k m.

    Parameters
    ----------
    cells, released
        The geometry and the released probabilities.
    total
        k, for each cell that of its row.
    mixing
        The public share of the row, for each cell.
    public
        e: what the public vector adds to each cell of the lifted row.
    """

    cells: Support
    released: Flat
    total: Flat
    mixing: Flat
    public: Flat

    @classmethod
    def of(cls, release: "Release") -> "KnownTotalRows":
        """Read the public parameters of a release of `privatize_*`."""
        cells = release.layout.block("transitions").cells
        k, eta, eta_bar, mixing = (
            np.broadcast_to(np.asarray(release.mechanism[name], dtype=float), (cells.n_rows,))
            for name in ("k", "eta", "eta_bar", "mixing")
        )
        watched = _watched(release.guarantee.unit, cells)
        others = cells.row_sums(~watched + 0.0).astype(float)
        spread = eta_bar / np.maximum(others, 1.0)
        rows = cells.row_of_cell
        lifted = release.mechanism["name"] == "dirichlet-lifted"
        public = np.where(watched, eta[rows], spread[rows]) if lifted else np.zeros(cells.n_cells)
        return cls(
            cells=cells,
            released=release.probabilities,
            total=k[rows],
            mixing=mixing[rows] if lifted else np.zeros(cells.n_cells),
            public=public,
        )

    @property
    def method(self) -> str:
        """How the intervals are made, in words."""
        return "the Dirichlet draw repeated at the rows' public total, and its mirror image about the release"

    @property
    def exact_method(self) -> str:
        """How the intervals of single entries are made, in words."""
        return "every value under which the released entry is no outlier, by the exact law of the draw"

    @property
    def about(self) -> str:
        """What the intervals are about, in words."""
        share = float(self.mixing.max())
        if share == 0.0:
            return "about the sensitive input itself"
        return (
            f"about the lifted input (at most {share:.3g} of a row is the public vector that was mixed in), "
            "not about the input itself; 'input_matrix' undoes the mixing"
        )

    @property
    def mean(self) -> Flat:
        """The release times the public total."""
        return self.released * self.total

    @property
    def variance(self) -> Flat:
        """That of the gamma variables that are drawn."""
        return self.mean

    @property
    def noise_variance(self) -> None:
        """None: the noise is not on counts."""
        return None

    @property
    def residual(self) -> None:
        """None: there are no noisy counts."""
        return None

    def counts(self, number: int, rng: np.random.Generator, *, for_entries: bool = False) -> Flat:
        """`number` draws of all Dirichlet parameters, shape (number, cells)."""
        return np.asarray(rng.standard_gamma(self.mean, (number, self.released.size)))

    def entries(self, level: float) -> tuple[Flat, Flat]:
        """The interval of each entry of the lifted rows."""
        tail = (1 - level) / 2
        least = self.public
        most = least + np.where(self.mixing > 0, 1 - self.mixing, 1.0)
        alone = (self.cells.row_sizes == 1)[self.cells.row_of_cell]
        low, high = self._where(1 - tail, least, most)[0], self._where(tail, least, most)[1]
        return np.where(alone, 1.0, low), np.where(alone, 1.0, high)

    def mirrored(self, value: Flat, found: Flat, low: Flat, high: Flat) -> tuple[Flat, Flat]:
        """The interval from `low` to `high`, with the mirror image of the draws `found` about the release."""
        middle = found.mean(axis=0)
        push = _FIRST_PUSH * (middle - value)
        return (
            np.fmin(low, value - np.maximum(push, 0.0) - (high - middle)),
            np.fmax(high, value - np.minimum(push, 0.0) + (middle - low)),
        )

    def unmixed(self, lifted: Flat) -> Flat:
        """The input that belongs to lifted rows: the public mixing undone, and cut to [0, 1]."""
        return np.clip((lifted - self.public) / (1 - self.mixing), 0.0, 1.0)

    def _where(self, probability: float, least: Flat, most: Flat) -> tuple[Flat, Flat]:
        """About the m_j between `least` and `most` for which P(draw <= released) is `probability`."""
        low, high = np.array(least), np.array(most)
        seen = np.clip(self.released, _LEAST, 1 - 2.0**-53)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            inside = np.clip(middle, _LEAST, 1 - 2.0**-53)
            # The share below the released value falls as m_j grows.
            below = special.betainc(self.total * inside, self.total * (1 - inside), seen)
            more = below > probability
            low, high = np.where(more, middle, low), np.where(more, high, middle)
        return low, high


def _watched(unit: object, cells: Support) -> npt.NDArray[np.bool_]:
    """For each cell, whether it is in its row's index set."""
    among = unit.among if isinstance(unit, Entry) else None
    if among is None:
        return np.ones(cells.n_cells, dtype=bool)
    sets = among if len(among) == cells.n_rows else among * cells.n_rows
    rows = np.split(cells.indices, cells.indptr[1:-1])
    return np.concatenate([np.isin(row, inside) for row, inside in zip(rows, sets, strict=True)])
