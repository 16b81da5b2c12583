"""How far to trust the posterior mean where the noise is narrow.

The posterior mean has the least squared error and adds up without bias, which the stationary distribution
lives by. Where the noise is about one count wide, most noisy counts are the truth, and the mean spreads a
little of each cell's doubt over its neighbours: the sum of absolute errors, a row's total variation, grows.
So the mean is mixed with the clipped noisy count: with the share that has the least absolute error expected
under the learnt posterior, or more of the mean (up to three quarters) as long as that error stays within 3 %
of clipping's. Where the noise is several counts wide the mean is taken whole.
"""

import numpy as np
import numpy.typing as npt

from dpmarkov.postprocess.mixture import Fit
from dpmarkov.postprocess.noise import NoiseLaw
from dpmarkov.postprocess.table import RateTable

__all__ = ["share_of_mean"]

Flat = npt.NDArray[np.float64]

_NARROW = 4.0
_TOLERANCE = 1.03
_MOST = 0.75
_REACH = 10.0
_SHARES = (1.0, 0.75, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)


def share_of_mean(table: RateTable, fit: Fit, noisy: npt.NDArray[np.int64], law: NoiseLaw) -> float:
    """How much of the posterior mean to take, 0 to 1; the rest is the clipped noisy count."""
    if law.std >= _NARROW:
        return 1.0
    pairs, first, copies = np.unique(fit.place, return_index=True, return_counts=True)
    at, seen, mean = fit.at[pairs], noisy[first], fit.mean[first]
    known = seen < table.limit
    at, seen, mean, copies = at[known], seen[known], mean[known], copies[known]
    weight = fit.belief[pairs][known] / table.likelihood[at, table.columns(seen)[:, None]]
    clipped = np.maximum(seen, 0).astype(float)
    losses = np.zeros(len(_SHARES) + 1)
    reach = min(law.radius, max(8, round(_REACH * law.std)))
    pmf = law.pmf()[law.radius - reach : law.radius + reach + 1]
    for z, chance in zip(range(-reach, reach + 1), pmf, strict=True):
        x = seen - z
        there = (x >= 0) & (x < table.true.shape[1])
        mass = np.zeros(seen.size)
        mass[there] = np.einsum("pk,pk->p", weight[there], table.true[at[there], x[there, None]]) * chance
        for k, share in enumerate((0.0, *_SHARES)):
            guess = share * mean + (1 - share) * clipped
            losses[k] += copies @ (mass * np.abs(x - guess))
    shares = np.array((0.0, *_SHARES))
    best = float(shares[losses.argmin()])
    fits = shares[(losses <= _TOLERANCE * losses[0]) & (shares <= _MOST)]
    return max(best, float(fits.max()))
