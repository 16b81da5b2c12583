"""True counts behind a release that is itself a draw: Gaussian noise, then a posterior draw (Ponnoprat).

The noisy counts are in the release, so true counts are drawn from their posterior as for any additive noise;
the released rows are not needed for that. They are one more draw away from the truth than the noisy counts:
an interval that is laid about a released value has to allow for that draw too, and for the prior that it
leans on.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmarkov.postprocess.noise import NoiseLaw
from dpmarkov.support import Support
from dpmarkov.utility.count_rows import CountRows

__all__ = ["DrawnRows"]

Flat = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnRows:
    """The posterior for a Dirichlet draw from noisy counts; see `posterior.RowPosterior`.

    Parameters
    ----------
    behind
        The posterior of the true counts, from the noisy ones.
    shapes
        The public parameters of the draw: noisy counts, cut at zero, plus the prior.
    noisy
        The noisy counts.
    """

    behind: CountRows
    shapes: Flat
    noisy: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls,
        noisy: npt.NDArray[np.int64],
        released: Flat,
        cells: Support,
        *,
        sigma: float,
        prior: float,
        is_chain: bool,
    ) -> "DrawnRows":
        """Learn the prior of the true counts from the noisy ones."""
        law = NoiseLaw(kind="gaussian", scale=sigma)
        behind = CountRows.of(noisy, released, cells, law, is_chain=is_chain)
        return cls(behind=behind, shapes=np.maximum(noisy, 0) + prior, noisy=noisy)

    @property
    def cells(self) -> Support:
        """The geometry of the rows."""
        return self.behind.cells

    @property
    def released(self) -> Flat:
        """The released probability of each cell."""
        return self.behind.released

    @property
    def method(self) -> str:
        """How the draws are made, in words."""
        return (
            f"{self.behind.method}. The released rows are one more random draw from the noisy counts, so a "
            "released value may lie outside of its interval"
        )

    @property
    def mean(self) -> Flat:
        """The mean of each cell's true count."""
        return self.behind.mean

    @property
    def variance(self) -> Flat:
        """The variance of each cell's true count."""
        return self.behind.variance

    @property
    def noise_variance(self) -> Flat:
        """The variance of the Gaussian noise and of the draw that followed."""
        return np.asarray(self.behind.noise_variance + self.shapes)

    @property
    def residual(self) -> Flat:
        """What the noisy counts have less than the draw's parameters."""
        return np.asarray(self.noisy - self.shapes)

    def counts(self, number: int, rng: np.random.Generator, *, for_entries: bool = False) -> Flat:
        """`number` draws of all true counts, shape (number, cells)."""
        return self.behind.counts(number, rng, for_entries=for_entries)
