"""True counts behind noisy ones: exact noise law, prior learnt from all noisy cells."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmarkov.postprocess.noise import NoiseLaw
from dpmarkov.postprocess.sampling import CountPosterior, count_posterior
from dpmarkov.support import Support

__all__ = ["CountRows"]

Flat = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountRows:
    """The posterior for a mechanism that reveals its noisy counts; see `posterior.RowPosterior`."""

    cells: Support
    released: Flat
    posterior: CountPosterior

    @classmethod
    def of(
        cls,
        noisy: npt.NDArray[np.int64],
        released: Flat,
        cells: Support,
        law: NoiseLaw,
        *,
        is_chain: bool,
    ) -> "CountRows":
        """Learn the prior from the noisy counts."""
        return cls(
            cells=cells,
            released=released,
            posterior=count_posterior(noisy, cells, law, is_chain=is_chain),
        )

    @property
    def method(self) -> str:
        """How the draws are made, in words."""
        return (
            "true counts drawn from their posterior: the exact law of the noise, and priors learnt from all "
            "noisy counts"
        )

    @property
    def mean(self) -> Flat:
        """The mean of each cell's true count."""
        return self.posterior.mean

    @property
    def variance(self) -> Flat:
        """The variance of each cell's true count."""
        return self.posterior.variance

    @property
    def noise_variance(self) -> Flat:
        """The variance of the noise, the same for each cell."""
        return np.full(self.released.size, self.posterior.table.variance)

    @property
    def residual(self) -> Flat:
        """Noisy count minus posterior mean, for each cell."""
        return np.asarray(self.posterior.noisy - self.posterior.mean)

    def counts(self, number: int, rng: np.random.Generator, *, for_entries: bool = False) -> Flat:
        """`number` draws of all true counts, shape (number, cells)."""
        return self.posterior.draws(number, rng, every_prior=for_entries)
