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
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpmarkov.entropy import Entropy
from dpmarkov.support import Support

__all__ = ["DirichletRows", "least_totals"]

Flat = npt.NDArray[np.float64]
Form = Literal["floor", "prior"]

_CONFIDENCE = 0.98
_TRIALS = 4000
_MOMENT_DRAWS = 400


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
    """

    cells: Support
    released: Flat
    form: Form
    weight: float
    floor: float
    least: Flat

    @classmethod
    def of(
        cls, released: Flat, cells: Support, *, form: Form, weight: float, floor: float
    ) -> "DirichletRows":
        """Bound the rows' totals."""
        least = least_totals(released, cells, floor)
        return cls(cells=cells, released=released, form=form, weight=weight, floor=floor, least=least)

    @property
    def method(self) -> str:
        """How the draws are made, in words."""
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
    def noise_variance(self) -> None:
        """None: the noise is not on the counts."""
        return None

    @property
    def residual(self) -> None:
        """None: there are no noisy counts."""
        return None

    def _few_draws(self) -> Flat:
        return self.counts(_MOMENT_DRAWS, Entropy.seeded(0).generator("moments"))

    def counts(self, number: int, rng: np.random.Generator) -> Flat:
        """`number` draws of all true counts, shape (number, cells)."""
        rows, columns = self.cells.row_of_cell, self.cells.indices
        u = rng.standard_gamma(self.released * self.least[rows], (number, self.released.size))
        emptied = rng.random((number, self.cells.n_columns)) < rng.random((number, 1))
        # A cell that sits on the floor shows up to two standard deviations above it.
        near_floor = u <= self.floor + 2 * np.sqrt(self.floor)
        rest = np.where(near_floor, 0.0, u - self.floor if self.form == "prior" else u)
        return np.asarray(np.where(emptied[:, columns], rest, u) / self.weight)


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
