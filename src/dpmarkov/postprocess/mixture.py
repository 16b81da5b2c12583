"""The prior over true counts, learnt from the noisy ones: expected count times a random multiplier.

Cell c has an expected count mu_c (from a structure, or the same for all); its true count has the mean
mu_c * m, where the multiplier m is zero or lies on a logarithmic grid and its distribution is learnt by EM
(Kiefer and Wolfowitz's non-parametric maximum likelihood), separately for small and large mu. Only the pairs
(mu, noisy count) that occur matter, so a million cells cost what a few thousand do.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmarkov.postprocess.table import OCTAVE, RateTable

__all__ = ["GUESS_CELLS", "Fit", "fit_mixture"]

Flat = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

_BAND = 4 * OCTAVE
_STEP = OCTAVE // 2
_REACH = 10 * OCTAVE
GUESS_CELLS = 20.0
"""How many cells the guess counts as, where a structure says what to expect."""

_ALONE_CELLS = 3.0
"""The same where all cells are exchangeable; 20 smear few common categories over all: 1.5 times the error."""

_GUESS_SPREAD = 0.8
_GUESS_NONE = 0.02


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A learnt prior and what it says of each cell.

    Parameters
    ----------
    mean
        The posterior mean of each cell's true count.
    slope
        The derivative of the log likelihood with respect to log mu of each cell.
    log_likelihood
        The log likelihood of all noisy counts under the learnt prior.
    weights
        The learnt weights, one row for each group; pass them on to start from.
    belief, at
        For each pair (mu, noisy count) that occurs: the posterior probability of each expected count, and its
        row in the table.
    group
        The group of each pair.
    place
        The pair of each cell.
    """

    mean: Flat
    slope: Flat
    log_likelihood: float
    weights: Flat
    belief: Flat
    at: Index
    group: Index
    place: Index


def fit_mixture(
    table: RateTable,
    noisy: npt.NDArray[np.int64],
    expected: Flat | None,
    special: npt.NDArray[np.bool_],
    *,
    rounds: int,
    start: Flat | None = None,
) -> Fit:
    """Learn the multipliers by `rounds` of EM and take posterior means.

    Parameters
    ----------
    table
        Likelihoods for the noise law.
    noisy
        One noisy count for each cell.
    expected
        The expected counts by a structure; `None` takes all cells as exchangeable.
    special
        Cells with a prior of their own (the diagonal of a chain: staying differs from going).
    rounds
        EM steps.
    start
        Weights to start from.
    """
    n_rates = table.rates.size - 1
    columns = table.columns(noisy)
    if expected is None:
        middle = np.array([max(float(noisy.mean()), math.sqrt(table.variance / noisy.size))])
        rows = np.repeat(table.rows(middle), noisy.size)
        reach = max(int(rows[0]), n_rates - int(rows[0]))
    else:
        rows = table.rows(expected)
        reach = _REACH
    width = table.likelihood.shape[1]
    keys = (special * np.int64(n_rates + 1) + rows) * width + columns
    pairs, place, copies = np.unique(keys, return_inverse=True, return_counts=True)
    pair_rows, pair_columns = (pairs // width) % (n_rates + 1), pairs % width
    group = np.where(pairs >= (n_rates + 1) * width, 0, 1 + pair_rows // _BAND)
    offsets = np.arange(-reach, reach + 1, _STEP)
    at = np.clip(pair_rows[:, None] + offsets[None, :], 1, n_rates)
    at = np.concatenate([np.zeros((pairs.size, 1), dtype=np.int64), at], axis=1)
    likelihood = table.likelihood[at, pair_columns[:, None]]
    n_groups = 2 + n_rates // _BAND
    guess = _guess(offsets)
    # The mean of all cells tells little of any one of them.
    strength = GUESS_CELLS if expected is not None else _ALONE_CELLS
    # Start from everything being possible: EM is slow to raise what starts near zero.
    even = np.full(guess.size, 1.0 / guess.size)
    weights = np.tile((guess + even) / 2, (n_groups, 1)) if start is None else start.copy()
    members = [np.flatnonzero(group == g) for g in range(n_groups)]
    for g, inside in enumerate(members):
        if inside.size:
            weights[g] = _learn(likelihood[inside], copies[inside], weights[g], guess, strength, rounds)
    joint = likelihood * weights[group]
    evidence = joint.sum(axis=1)
    mean = np.einsum("pk,pk->p", table.moment[at, pair_columns[:, None]], weights[group]) / evidence
    rate = np.einsum("pk,pk->p", joint, table.rates[at]) / evidence
    large = noisy >= table.limit
    return Fit(
        mean=np.where(large, noisy, mean[place] * table.unit),
        slope=np.where(large, 0.0, (mean - rate)[place]),
        log_likelihood=float(copies @ np.log(evidence)),
        weights=weights,
        belief=joint / evidence[:, None],
        at=at,
        group=group,
        place=place.reshape(-1),
    )


def _guess(offsets: Index) -> Flat:
    """What multipliers look like before anything was learnt: mostly within a factor of two; seldom none."""
    octaves = offsets / OCTAVE
    shape = np.exp(-((octaves / _GUESS_SPREAD) ** 2) / 2)
    return np.concatenate(([_GUESS_NONE], (1 - _GUESS_NONE) * shape / shape.sum()))


def _learn(likelihood: Flat, copies: Index, weights: Flat, guess: Flat, strength: float, rounds: int) -> Flat:
    """EM for the weights of a mixture, two steps and an extrapolation at a time (SQUAREM, guarded).

    The guess counts as `strength` cells, so that a matrix of five cells is not taken for a law of nature.
    """
    total = copies.sum() + strength
    share, prior = copies / total, strength * guess / total

    def step(current: Flat) -> Flat:
        mixed = likelihood @ current
        return np.asarray(current * ((share / mixed) @ likelihood) + prior)

    def objective(current: Flat) -> float:
        return float(share @ np.log(likelihood @ current) + prior @ np.log(current))

    for _ in range(rounds // 3):
        first = step(weights)
        second = step(first)
        r, v = first - weights, second - 2 * first + weights
        size = float(np.linalg.norm(v))
        if float(np.abs(r).sum()) < 1e-9 or size < 1e-14:
            return second
        alpha = max(1.0, float(np.linalg.norm(r)) / size)
        leap = np.maximum(weights + 2 * alpha * r + alpha**2 * v, 1e-12 * second)
        leap /= leap.sum()
        weights = step(leap) if objective(leap) >= objective(second) else second
    return weights
