"""True counts behind a Dirichlet draw, as far as they can be told.

A row q ~ Dirichlet(u) is q = g / S with independent g_j ~ Gamma(u_j) and S = sum of the g_j. The row's total
K = sum of the u_j is secret, so S is not known. But every u_j is at least the public floor alpha, so the g_j
lie above independent Gamma(alpha) variables h_j whatever the data are, and for every m

    S * (sum of the m smallest q_j)  >=  sum of the m smallest h_j,

whose low quantile is public. That bounds S from below from the release alone, for every data set, and
better than by n * alpha where some cells are small. It cannot be bounded from above: a release does not tell
a row of a thousand events from one of a million. Draws take S at its bound, which makes the noise as large as
it can be, and so the intervals are wide.

The draw is about u, not about the counts: u = w x + alpha (form *prior*) or u = max(w x, alpha) (form
*floor*). How much of a small cell is floor depends on S too. In each draw some to-states, chosen at random,
are taken at their released value and the others with all of the floor removed that the bound on S allows:
cells near the floor become 0, and larger ones lose their prior.

Where noisy row totals were bought, a total N is redrawn with its noise in each draw, and K is known: w N + n
alpha (form *prior*), or at least w N (form *floor*). The prior is then known too and leaves every draw. Its
release has lost it already; the Dirichlet draw is put together again from the release and the total.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpmarkov.entropy import Entropy
from dpmarkov.postprocess.noise import NoiseLaw
from dpmarkov.postprocess.prior import remove_prior
from dpmarkov.support import Support

__all__ = ["DirichletRows", "NoisyTotals", "least_totals"]

Flat = npt.NDArray[np.float64]
Form = Literal["floor", "prior"]

_CONFIDENCE = 0.98
_TRIALS = 4000
_MOMENT_DRAWS = 400
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyTotals:
    """The rows' totals with discrete Laplace noise.

    Parameters
    ----------
    values
        One noisy total for each row.
    law
        The noise.
    """

    values: npt.NDArray[np.int64]
    law: NoiseLaw


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DirichletRows:
    """The posterior for the Dirichlet mechanism; see `posterior.RowPosterior`.

    Parameters
    ----------
    cells, released
        The geometry and the released probabilities.
    form, weight, floor
        The mechanism's public parameters.
    least
        A lower bound of each row's S.
    totals
        The rows' noisy totals, if they were bought.
    """

    cells: Support
    released: Flat
    form: Form
    weight: float
    floor: float
    least: Flat
    totals: NoisyTotals | None = None

    @classmethod
    def of(
        cls,
        released: Flat,
        cells: Support,
        *,
        form: Form,
        weight: float,
        floor: float,
        totals: NoisyTotals | None = None,
    ) -> "DirichletRows":
        """Bound the rows' totals, where they were not bought."""
        freed = totals is not None and form == "prior"
        public = np.asarray(cells.row_sizes * floor, dtype=np.float64)
        least = public if freed else least_totals(released, cells, floor)
        return cls(
            cells=cells,
            released=released,
            form=form,
            weight=weight,
            floor=floor,
            least=least,
            totals=totals,
        )

    @property
    def method(self) -> str:
        """How the draws are made, in words."""
        if self.totals is not None:
            return "the Dirichlet draw repeated at the row totals that were bought, with their own noise"
        return (
            "the Dirichlet draw repeated at the least size that each row can have; the rows' true sizes are "
            "secret and were not bought, and so is how much of a small entry is the mechanism's floor: these "
            "intervals are wide"
        )

    @property
    def mean(self) -> Flat:
        """The mean of each cell's drawn count."""
        return np.asarray(self._few_draws().mean(axis=0))

    @property
    def variance(self) -> Flat:
        """The variance of each cell's drawn count."""
        return np.asarray(self._few_draws().var(axis=0))

    @property
    def noise_variance(self) -> Flat | None:
        """The variance of a gamma variable over w squared, where the prior left the release; else None."""
        if self.totals is None or self.form == "floor":
            return None
        data = self.weight * np.maximum(self.totals.values, 0)[self.cells.row_of_cell]
        return np.asarray((self.released * data + self.floor) / self.weight**2)

    @property
    def residual(self) -> Flat | None:
        """Nothing is learnt from other cells, so there is no pull; None where there are no counts."""
        return None if self.noise_variance is None else np.zeros(self.released.size)

    def _few_draws(self) -> Flat:
        return self.counts(_MOMENT_DRAWS, Entropy.seeded(0).generator("moments"))

    def repeated(self, number: int, rng: np.random.Generator) -> tuple[Flat, list[Flat]] | None:
        """Rows without what noise may have put into empty cells, and releases that these would lead to.

        What the releases have on average more than the rows is the bias of cutting at zero, at its largest.
        None where the prior is still in the release: its draws cover that already.
        """
        if self.totals is None or self.form == "floor":
            return None
        rows, cells = self.cells.row_of_cell, self.cells
        data = self.weight * np.maximum(self.totals.values, 0).astype(float)
        inside = self.released * data[rows]
        inside = np.where(inside <= 2 * np.sqrt(self.floor), _NOTHING * self.released, inside)
        truth = np.asarray(inside / np.asarray(cells.row_sums(inside))[rows])
        drawn = []
        for _ in range(number):
            g = rng.standard_gamma(truth * data[rows] + self.floor)
            share = g / np.asarray(cells.row_sums(g))[rows]
            made = remove_prior(share, cells, prior=self.floor, weighted_totals=data)
            made = np.maximum(made, _NOTHING * self.released)
            drawn.append(np.asarray(made / np.asarray(cells.row_sums(made))[rows]))
        return truth, drawn

    def counts(self, number: int, rng: np.random.Generator, *, for_entries: bool = False) -> Flat:
        """`number` draws of all true counts, shape (number, cells)."""
        rows, columns = self.cells.row_of_cell, self.cells.indices
        if self.totals is None:
            u = rng.standard_gamma(self.released * self.least[rows], (number, self.released.size))
        else:
            drawn = self.totals.values + rng.choice(
                np.arange(-self.totals.law.radius, self.totals.law.radius + 1),
                p=self.totals.law.pmf(),
                size=(number, self.cells.n_rows),
            )
            data = self.weight * np.maximum(drawn, 0)
            if self.form == "prior":
                # The prior comes back: cells that were cut to zero are taken to have been at it.
                u = rng.standard_gamma(self.released * data[:, rows] + self.floor)
            else:
                u = rng.standard_gamma(self.released * np.maximum(data, self.least)[:, rows])
        emptied = rng.random((number, self.cells.n_columns)) < rng.random((number, 1))
        # A cell that sits on the floor shows up to two standard deviations above it.
        near_floor = u <= self.floor + 2 * np.sqrt(self.floor)
        less = np.maximum(u - self.floor, 0.0) if self.form == "prior" else u
        rest = np.where(near_floor, 0.0, less)
        whole = less if self.totals is not None else u
        return np.asarray(np.where(emptied[:, columns], rest, whole) / self.weight)


def least_totals(released: Flat, cells: Support, floor: float) -> Flat:
    """A lower bound of each row's sum of gammas that holds with probability 0.98, whatever the data are."""
    least = np.empty(cells.n_rows)
    rng = Entropy.seeded(0).generator("least totals")
    for size in np.unique(cells.row_sizes).tolist():
        rows = np.flatnonzero(cells.row_sizes == size)
        numbers = np.unique([*(2**k for k in range(size.bit_length())), size])
        trials = np.sort(rng.standard_gamma(floor, (_TRIALS, size)), axis=1)
        sums = np.cumsum(trials, axis=1)[:, numbers - 1]
        low = np.quantile(sums, (1 - _CONFIDENCE) / numbers.size, axis=0)
        values = np.sort(released[cells.indptr[rows][:, None] + np.arange(size)], axis=1)
        least[rows] = (low / np.cumsum(values, axis=1)[:, numbers - 1]).max(axis=1)
    return least
