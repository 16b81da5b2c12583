"""The posterior mean of the true counts: the exact law of the noise, a prior learnt from the noisy counts.

Three kinds of prior are learnt, and the one under which the noisy counts are most likely is taken:

- *exchangeable*: any cell may hold what any other does; right for sparse networks without pattern;
- *margins*: row effect times column effect times a multiplier of any size, so that a thin row leans on where
  all the others go;
- *factors*: expected counts by factorisations of ranks 4, 6 and 9 (groups of origins that share
  destinations), each cell's expectation learnt from the other cells.

What it assumes: that cells with a like expectation are alike. Where that is wrong the estimate is less
accurate, never less private.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmarkov.postprocess.blend import share_of_mean
from dpmarkov.postprocess.mixture import Fit, fit_mixture
from dpmarkov.postprocess.noise import NoiseLaw
from dpmarkov.postprocess.simplex import check_cells, clip
from dpmarkov.postprocess.slowest import restore_slowest
from dpmarkov.postprocess.structure import factor_ensemble, rank_one
from dpmarkov.postprocess.table import RateTable, rate_table
from dpmarkov.support import Support

__all__ = ["Estimate", "posterior_mean"]

Flat = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_LARGE = 1_000_000
"""Above this many cells the factorisations are left out: they would take minutes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """Estimated counts and the prior that gave them.

    Parameters
    ----------
    counts
        The posterior mean of each cell's true count, >= 0 (where the noise is about one count wide, mixed
        with the clipped noisy count: see `dpmarkov.postprocess.blend`; of a chain, moved a little along its
        slowest direction: see `dpmarkov.postprocess.slowest`).
    prior
        The name of the prior that was taken.
    log_likelihoods
        The penalised log likelihood of the noisy counts under each prior that was tried.
    fit
        The fit under the prior that was taken: what is believed of each cell.
    runner_up
        The fit under the next likely one; `None` if no other was tried.
    """

    counts: Flat
    prior: str
    log_likelihoods: dict[str, float]
    fit: Fit
    runner_up: Fit | None


def posterior_mean(
    noisy: npt.NDArray[np.int64], cells: Support, law: NoiseLaw, *, is_chain: bool = False
) -> Estimate:
    """The posterior mean of each cell's true count.

    Parameters
    ----------
    noisy
        One noisy count for each cell, signed.
    cells
        The geometry.
    law
        The law of the noise.
    is_chain
        Whether rows and columns are the same states, so that the diagonal gets a prior of its own.
    """
    check_cells("noisy", np.asarray(noisy), cells.n_cells, whole=True)
    values = np.asarray(noisy, dtype=np.int64)
    table = rate_table(law)
    nothing = np.zeros(values.size, dtype=bool)
    diagonal = cells.row_of_cell == cells.indices if is_chain else nothing
    tried: dict[str, Fit] = {"exchangeable": fit_mixture(table, values, None, nothing, rounds=900)}
    scores = {"exchangeable": tried["exchangeable"].log_likelihood}
    first = tried["exchangeable"].mean
    if cells.n_rows > 1:
        tried["margins"] = _margins(table, values, cells, diagonal, first)
        scores["margins"] = tried["margins"].log_likelihood - (cells.n_rows + cells.n_columns)
    if min(cells.n_rows, cells.n_columns) >= 4 and cells.n_cells <= _LARGE:
        expected = factor_ensemble(values, tried["margins"].mean, table.variance, cells)
        tried["factors"] = fit_mixture(table, values, expected, diagonal, rounds=90)
        scores["factors"] = tried["factors"].log_likelihood
    best, *rest = sorted(scores, key=lambda name: -scores[name])
    share = share_of_mean(table, tried[best], values, law)
    counts = share * np.maximum(tried[best].mean, 0.0) + (1 - share) * clip(values)
    if is_chain:
        other = clip(values) - _added_by_clipping(tried[best], table)
        counts = restore_slowest(counts, other, cells, table.variance)
    return Estimate(
        counts=counts,
        prior=best,
        log_likelihoods=scores,
        fit=tried[best],
        runner_up=tried[rest[0]] if rest else None,
    )


def _added_by_clipping(fit: Fit, table: RateTable) -> Flat:
    """How much clipping adds on average to each cell's noisy count, before it is seen.

    (What it adds to the very count that was seen is known better for each cell, but follows the noise: the
    gap from such counts has a larger error.)
    """
    added = table.added_by_clipping()[fit.at]
    return np.asarray(np.einsum("pk,pk->p", fit.weights[fit.group], added)[fit.place])


def _margins(
    table: RateTable, noisy: npt.NDArray[np.int64], cells: Support, diagonal: Mask, first: Flat
) -> Fit:
    """Row and column effects by maximum likelihood, scoring steps taken in turn with EM for the multipliers.

    A Gaussian prior of variance 2 on each log effect keeps a row without data near its starting value.
    """
    rows, columns = cells.row_of_cell, cells.indices
    base = np.log(rank_one(first, cells))
    row_effect, column_effect = np.zeros(cells.n_rows), np.zeros(cells.n_columns)
    fit = fit_mixture(table, noisy, np.exp(base), diagonal, rounds=12)
    for _ in range(15):
        for effect, at in ((row_effect, rows), (column_effect, columns)):
            gradient = np.bincount(at, fit.slope, effect.size) - 0.5 * effect
            information = np.bincount(at, fit.slope**2, effect.size) + 0.5
            effect += np.clip(0.5 * gradient / information, -1, 1)
        expected = np.exp(np.clip(base + row_effect[rows] + column_effect[columns], -12, 40))
        fit = fit_mixture(table, noisy, expected, diagonal, rounds=9, start=fit.weights)
    return fit_mixture(table, noisy, expected, diagonal, rounds=60, start=fit.weights)
