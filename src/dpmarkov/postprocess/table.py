"""What a noisy count says about the true one, tabulated for a grid of expected counts.

For an expected count lambda the true count is negative binomial (a Poisson count whose rate varies by a
quarter of lambda, so that neighbouring grid points overlap); the noisy count adds the exact noise.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import signal, special

from dpmarkov.postprocess.noise import NoiseLaw

__all__ = ["OCTAVE", "RateTable", "rate_table"]

Flat = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

OCTAVE = 4
"""Grid points for each doubling of the expected count."""

_LOWEST = -12
_SHAPE = 16.0
_RESOLUTION = 32
_ROUNDING = 1e-15
_LEAST_VARIANCE = 1e-12
"""Noise so narrow that its variance is zero in floats has this one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RateTable:
    """Likelihoods and first moments for each expected count (row 0: exactly zero) and noisy count.

    Parameters
    ----------
    likelihood
        P(noisy count | expected count).
    moment
        E[true count; noisy count | expected count], in units of `unit` counts.
    rates
        The expected counts of the rows, in units of `unit` counts.
    lowest
        The noisy count of the first column.
    variance
        The variance of the noise, in counts.
    unit
        Counts to one step: above 1 where the noise is so wide that single counts do not matter.
    true
        P(true count | expected count), in steps.
    noise
        The law of the noise, in steps.
    """

    likelihood: Flat
    moment: Flat
    rates: Flat
    lowest: int
    variance: float
    unit: int
    true: Flat
    noise: NoiseLaw

    @property
    def limit(self) -> int:
        """Noisy counts from here on are their own best estimate: no prior moves them noticeably."""
        return int(self.lowest + self.likelihood.shape[1] - 1) * self.unit

    def added_by_clipping(self) -> Flat:
        """What making negative noisy counts zero adds on average, for each expected count."""
        below = np.arange(-self.lowest, 0, -1)
        return np.asarray(self.likelihood[:, : below.size] @ below * self.unit, dtype=float)

    def columns(self, noisy: npt.NDArray[np.int64]) -> Index:
        """The table's column of each noisy count."""
        steps = np.floor_divide(2 * noisy + self.unit, 2 * self.unit) if self.unit > 1 else noisy
        return np.asarray(np.clip(steps - self.lowest, 0, self.likelihood.shape[1] - 1).astype(np.int64))

    def rows(self, expected: Flat) -> Index:
        """The row nearest to each expected count (> 0), on the logarithmic grid."""
        places = np.rint((np.log2(expected / self.unit) - _LOWEST) * OCTAVE)
        return np.asarray(np.clip(places, 0, self.rates.size - 2).astype(np.int64) + 1)


def rate_table(law: NoiseLaw) -> RateTable:
    """The table for a noise law."""
    unit = max(1, int(law.std / _RESOLUTION))
    noise = law.coarser(unit)
    radius = noise.radius
    top = math.ceil(30 * noise.std) + 60
    octaves = math.ceil(math.log2(2 * top)) - _LOWEST
    rates = 2.0 ** (_LOWEST + np.arange(octaves * OCTAVE + 1) / OCTAVE)
    x = np.arange(top + radius + 1).astype(float)
    mean = rates[:, None]
    logs = (
        special.gammaln(x + _SHAPE)
        - special.gammaln(_SHAPE)
        - special.gammaln(x + 1)
        + x * np.log(mean / (mean + _SHAPE))
        + _SHAPE * np.log(_SHAPE / (mean + _SHAPE))
    )
    true = np.exp(logs)
    true = np.vstack([np.eye(1, x.size), true])
    pmf = noise.pmf()[None, :]
    width = top + radius + 1
    likelihood = signal.fftconvolve(true, pmf, axes=1)[:, :width]
    moment = signal.fftconvolve(true * x, pmf, axes=1)[:, :width]
    # The transform leaves rounding errors of either sign where the truth is small: there the noisy count,
    # made non-negative, stands for the true one.
    lost = likelihood < _ROUNDING
    likelihood[lost] = _ROUNDING
    moment[lost] = _ROUNDING * np.broadcast_to(np.maximum(np.arange(width) - radius, 0), lost.shape)[lost]
    moment = np.maximum(moment, 0.0)
    moment[0] = 0.0
    return RateTable(
        likelihood=likelihood,
        moment=moment,
        rates=np.concatenate(([0.0], rates)),
        lowest=-radius,
        variance=max(law.std**2, _LEAST_VARIANCE),
        unit=unit,
        true=true,
        noise=noise,
    )
