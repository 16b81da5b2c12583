r"""The Dirichlet mechanism for a stochastic matrix that is itself sensitive.

Row i of a matrix P is released as one draw of Dirichlet(u), with

=======  =====================================  ========================================================
way      parameter u of a cell                  what it does
=======  =====================================  ========================================================
lifted   k ((1 - lambda) P_ij + lambda q_ij)    any P: mixed with a public q, the row lies in the bordered
                                                simplex; the draw's mean is the mixture, not P
assumed  k P_ij                                 the papers': P is *assumed* to lie there already
=======  =====================================  ========================================================

Neighbours differ by a mass of at most b/2 that moves between two entries of a row. That changes two
parameters by at most w = k (1 - lambda) b/2, and both are at least alpha = k eta: Theorem A of
`docs/mathematics.md`. Mixing shrinks the distance by 1 - lambda, which the guarantee counts.

Exactness. Shares are rounded down to whole multiples of 2^-bits before anything else. Rounding keeps the
order, so the entry that gains mass still gains and the one that loses still loses, by at most `moves`
multiples. The concentration has at most 20 significant bits and the prior is a multiple of the product's last
bit, so every parameter is an exact double: cells that agree in two neighbours have the very same parameter,
and what is certified is what is sampled.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpmarkov.counts import TransitionCounts
from dpmarkov.entropy import Entropy
from dpmarkov.errors import UnitError
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.base import Draw
from dpmarkov.mechanisms.dirichlet import draw_rows
from dpmarkov.privacy.guarantee import IDEAL_DRAW
from dpmarkov.privacy.pairs import BetaPair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Entry, Unit

__all__ = ["EntryDirichlet", "Way"]

Flat = npt.NDArray[np.float64]
Way = Literal["lifted", "assumed"]

_LEAST_SHAPE = 2.0**-20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EntryDirichlet:
    """Public parameters of the mechanism, one of each for every row unless said otherwise.

    Parameters
    ----------
    way
        `"lifted"` or `"assumed"`.
    watched
        For each cell, whether it is in its row's index set W.
    bits
        Shares are whole multiples of 2^-bits.
    moves
        By how many multiples a neighbour's entry may move.
    weight
        What a share of one adds to a cell's parameter, k (1 - lambda): at most 20 significant bits.
    prior
        For each cell, what the public vector adds, k lambda q.
    floor
        alpha: the least parameter of a watched cell.
    eta, eta_bar, k
        The papers' parameters that these amount to.
    n_averaged
        How many vectors were averaged; 1 for a matrix or a vector.
    """

    way: Way
    watched: npt.NDArray[np.bool_]
    bits: int
    moves: int
    weight: Flat
    prior: Flat
    floor: Flat
    eta: Flat
    eta_bar: Flat
    k: Flat
    n_averaged: int = 1

    @property
    def name(self) -> str:
        """The mechanism's name in files and messages."""
        return f"dirichlet-{self.way}"

    @property
    def evidence(self) -> tuple[str, Literal["exact", "theorem"]]:
        """The theorem behind the profile."""
        return "dominating pair of two entries of a row (docs/mathematics.md, Theorem A)", "exact"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The papers' assumption on the data, for the way `assumed`; none about the data otherwise."""
        averaged = (
            (f"the number of averaged vectors, {self.n_averaged}, is public",) if self.n_averaged > 1 else ()
        )
        if self.way == "lifted":
            return (*averaged, IDEAL_DRAW)
        return (
            "every input that matters, this one and its neighbours, has entries of at least "
            f"{self.eta.min():g} in its index sets, which hold at most {1 - self.eta_bar.min():g} of "
            "their row in total (the papers' bordered simplex); for another input nothing is promised",
            *averaged,
            IDEAL_DRAW,
        )

    def profile(self, unit: Unit, layout: Layout) -> Profile:
        """The privacy profile under an `Entry` unit: the worst row's, or all rows' composed."""
        if not isinstance(unit, Entry):
            raise UnitError(f"{self.name} protects the unit Entry; got {unit.name!r}")
        rows = np.flatnonzero(np.add.reduceat(self.watched, layout.cells.indptr[:-1]) >= 2)
        change = self.weight * self.moves / 2.0**self.bits
        pairs = tuple(BetaPair(alpha=float(self.floor[i]), weight=float(change[i])) for i in rows)
        return Profile((pairs,) if unit.rows == "all" else tuple((pair,) for pair in pairs))

    def parameters(self, counts: TransitionCounts) -> Flat:
        """The Dirichlet parameter of each cell, from shares as whole multiples of 2^-bits."""
        sizes = counts.layout.cells.row_sizes
        shapes = counts.values * np.repeat(self.weight / 2.0**self.bits, sizes) + self.prior
        # A cell outside the index set is the same in every neighbour, so it may be raised freely.
        return np.asarray(np.where(self.watched, shapes, np.maximum(shapes, _LEAST_SHAPE)))

    def draw(self, counts: TransitionCounts, entropy: Entropy) -> Draw:
        """One Dirichlet draw for each row, all independent; `counts` holds the shares' multiples."""
        rng = entropy.generator("dirichlet")
        return Draw(probabilities=draw_rows(self.parameters(counts), counts.layout.cells, rng))

    def to_dict(self) -> dict[str, Any]:
        """The public parameters as they stand in `release.json`; a list where rows differ."""
        mixing = 1 - self.weight / self.k
        return {
            "name": self.name,
            "k": _plain(self.k),
            "eta": _plain(self.eta),
            "eta_bar": _plain(self.eta_bar),
            "mixing": _plain(mixing),
            "averaged": self.n_averaged,
        }


def _plain(values: Flat) -> float | list[float]:
    first = float(values[0])
    return first if np.all(values == first) else values.tolist()
