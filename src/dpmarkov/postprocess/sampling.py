"""Plausible true counts, given the noisy ones: draws from the posterior whose mean `bayes` takes.

For a cell with noisy count y the posterior is proportional to P(noise = y - x) times the learnt prior of the
true count x. The noise's law is exact and public; the prior was learnt from all noisy cells. A prior that was
learnt is not known: where single cells matter, half of the draws are made under the next likely one, since
where the two disagree either may be right; and as what a small table teaches is mostly the guess that the
learning starts from, 20 of 20 + n draws (n cells: 20 of 45 in a table of 25 cells, hardly any in one of
thousands) lean on no prior at all. Nothing sensitive is read, so the draws cost no privacy.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmarkov.postprocess.bayes import posterior_mean
from dpmarkov.postprocess.mixture import GUESS_CELLS, Fit
from dpmarkov.postprocess.noise import NoiseLaw
from dpmarkov.postprocess.table import RateTable, rate_table
from dpmarkov.support import Support

__all__ = ["CountPosterior", "count_posterior"]

Flat = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_REACH_IN_STDS = 14.0
_BLOCK = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountPosterior:
    """What is believed of each true count.

    Parameters
    ----------
    noisy
        One noisy count for each cell.
    fits
        The learnt priors, likeliest first, and what they make of each pair of expectation and noisy count.
    table
        Likelihoods for the noise law.
    mean, variance
        Of each cell's true count under the likeliest prior.
    """

    noisy: Index
    fits: tuple[Fit, ...]
    table: RateTable
    mean: Flat
    variance: Flat

    def draws(self, number: int, rng: np.random.Generator, *, every_prior: bool = False) -> Flat:
        """Draws of all true counts, shape (number, cells), under the likeliest prior or under each."""
        result = np.empty((number, self.noisy.size))
        fits = self.fits if every_prior else self.fits[:1]
        alone = number * GUESS_CELLS / (GUESS_CELLS + self.noisy.size) if every_prior else 0.0
        # Rounded at random, so that small batches hold on average what a large one would.
        learnt = result[: number - int(alone + rng.random())]
        for fit, part in zip(fits, np.array_split(learnt, len(fits)), strict=True):
            for members, steps, weights in _blocks(self.noisy, fit, self.table):
                cumulative = np.cumsum(weights, axis=1)
                cumulative /= cumulative[:, -1:]
                uniforms = rng.random((members.size, len(part)))
                for row, cell in enumerate(members.tolist()):
                    part[:, cell] = steps[row, np.searchsorted(cumulative[row], uniforms[row], "right")]
        unit = self.table.unit
        if unit > 1:
            spread = unit * (rng.random(learnt.shape) - 0.5)
            learnt[:] = np.where(learnt > 0, np.maximum(np.rint(learnt * unit + spread), 0.0), 0.0)
        unguided = result[len(learnt) :]
        points = np.arange(-self.table.noise.radius, self.table.noise.radius + 1)
        noise = unit * rng.choice(points, p=self.table.noise.pmf(), size=unguided.shape)
        unguided[:] = np.maximum(self.noisy - noise, 0)
        # In no order: whoever sets two releases' draws side by side must not pair like priors with like.
        return result[rng.permutation(number)] if every_prior else result


def count_posterior(
    noisy: npt.NDArray[np.int64], cells: Support, law: NoiseLaw, *, is_chain: bool = False
) -> CountPosterior:
    """Learn the priors as `posterior_mean` does and keep all that they say of each cell."""
    values = np.asarray(noisy, dtype=np.int64)
    estimate = posterior_mean(values, cells, law, is_chain=is_chain)
    fits = (estimate.fit,) if estimate.runner_up is None else (estimate.fit, estimate.runner_up)
    table = rate_table(law)
    mean, variance = np.empty(values.size), np.empty(values.size)
    for members, steps, weights in _blocks(values, estimate.fit, table):
        total = weights.sum(axis=1)
        first = np.einsum("px,px->p", weights, steps) / total
        mean[members] = first
        variance[members] = np.einsum("px,px->p", weights, (steps - first[:, None]) ** 2) / total
    return CountPosterior(
        noisy=values, fits=fits, table=table, mean=mean * table.unit, variance=variance * table.unit**2
    )


def _blocks(noisy: Index, fit: Fit, table: RateTable) -> Iterator[tuple[Index, Flat, Flat]]:
    """Cells, the true counts (in steps) within reach of each, and their unnormalised posterior weights."""
    reach = min(table.noise.radius, int(np.ceil(_REACH_IN_STDS * table.noise.std)) + 1)
    centre = table.noise.radius
    noise = table.noise.pmf()[centre - reach : centre + reach + 1]
    offsets = np.arange(-reach, reach + 1)
    large = noisy >= table.limit
    columns = table.columns(noisy)
    n_rates = table.rates.size
    per_block = max(1, _BLOCK // offsets.size)
    order = np.concatenate([np.flatnonzero(~large), np.flatnonzero(large)])
    for start in range(0, order.size, per_block):
        members = order[start : start + per_block]
        middle = np.where(
            large[members],
            np.rint(noisy[members] / table.unit).astype(np.int64),
            columns[members] + table.lowest,
        )
        steps = middle[:, None] + offsets[None, :]
        weights = np.broadcast_to(noise, steps.shape).copy()
        small = np.flatnonzero(~large[members])
        if small.size:
            inside = members[small]
            at, belief = fit.at[fit.place[inside]], fit.belief[fit.place[inside]]
            share = np.zeros((inside.size, n_rates))
            rows = np.arange(inside.size)[:, None]
            np.add.at(share, (rows, at), belief / table.likelihood[at, columns[inside][:, None]])
            prior = share @ table.true
            reached = np.clip(steps[small], 0, prior.shape[1] - 1)
            weights[small] *= np.take_along_axis(prior, reached, axis=1)
        weights[steps < 0] = 0.0
        weights += np.where(steps == np.maximum(middle, 0)[:, None], 1e-300, 0.0)
        yield members, np.maximum(steps, 0).astype(np.float64), weights
