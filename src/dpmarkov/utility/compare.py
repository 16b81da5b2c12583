"""Two releases side by side: this year against last, one city against another.

Both carry noise of their own, so most differences between two released matrices are noise. Plausible true
chains are drawn for each (`posterior`), and a difference counts as a change only if it stands out of what the
draws leave open. Thousands of entries are looked at together; to keep false alarms at a known *share of what
is called a change*, the Benjamini-Hochberg rule decides at 1 - level.

Distances between two noisy chains are too large by themselves. By the triangle inequality the true distance
differs from the released one by no more than the noise's own distance, whose upper quantile the draws give.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import special

from dpmarkov.entropy import Entropy
from dpmarkov.errors import ChainError, ParameterError, StateSpaceError
from dpmarkov.releases.describe import declared_end, why_no_chain
from dpmarkov.utility.comparison import Change, Comparison, Distance
from dpmarkov.utility.known_rows import KnownTotalRows
from dpmarkov.utility.posterior import RowPosterior, posterior_of, rows_from_counts
from dpmarkov.utility.uncertainty import (
    QUANTITIES,
    chain_from,
    check_level,
    evaluate,
    stationary_stretch,
)

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["Change", "Comparison", "Distance", "compare"]

Array = npt.NDArray[np.float64]

_LARGEST = 500
_AT_ONCE = 50
_NOTHING = 1e-9
_STANDS_OUT = 4.0
"""A row's events, in standard errors of its total, from which on its probabilities are compared."""


def compare(
    before: "Release", after: "Release", *, level: float = 0.95, draws: int = 400, seed: int = 0
) -> Comparison:
    """What differs between two releases of chains on the same states.

    The two must come from runs of their own (of any data): the noise of one says nothing of the other's.

    Parameters
    ----------
    before, after
        Releases of Markov chains on the same states, in the same order.
    level
        The level of the intervals.
    draws
        Plausible chains to draw of each; at least 50.
    seed
        The same releases and seed give the same comparison.
    """
    check_level(level, draws)
    for release in (before, after):
        if not release.layout.is_chain:
            raise ChainError(f"{why_no_chain(release)}; compare looks at two chains")
    states = before.layout.target
    if before.layout.target.states != after.layout.target.states:
        odd = sorted(set(map(str, states)) ^ set(map(str, after.layout.target)))[:5]
        raise StateSpaceError(
            "two releases can be compared if they have the same states in the same order"
            + (f"; only in one of them: {', '.join(odd)}" if odd else "; these have another order")
        )
    if before is after:
        raise ParameterError("a release was compared with itself; give two")
    n = len(states)
    if n > _LARGEST:
        raise ParameterError(f"a comparison looks at every pair of states, up to {_LARGEST:,}; got {n:,}")
    ends = sorted({end for release in (before, after) if (end := declared_end(release)) is not None})
    first, second = (
        _side(release, draws, Entropy.seeded(seed).generator(f"plausible counts {name}"), ends)
        for release, name in ((before, "before"), (after, "after"))
    )
    matrix = (first.matrix, second.matrix)
    width = float(special.ndtri(0.5 + level / 2))
    distances: list[Distance] = []
    shares: list[Change] = []
    if first.stationary_noise is not None and second.stationary_noise is not None:
        pi = (first.weight, second.weight)
        noise = 0.5 * np.abs(second.stationary_noise - first.stationary_noise).sum(axis=1)
        moved = 0.5 * float(np.abs(pi[1] - pi[0]).sum())
        distances = [_distance("stationary distributions", moved, noise, level)]
        spread_pi = np.hypot(*map(_root_mean_square, (first.stationary_noise, second.stationary_noise)))
        shares = [
            Change(
                origin=None,
                state=states.states[j],
                before=float(pi[0][j]),
                after=float(pi[1][j]),
                half_width=width * float(spread_pi[j]),
            )
            for (j,) in _significant(pi[1] - pi[0], spread_pi, level)
        ]
    weight = (first.weight + second.weight) / 2
    distances.append(
        _distance(
            f"rows, weighted by {'their events' if ends else 'the stationary distribution'}",
            float(weight @ (0.5 * np.abs(matrix[1] - matrix[0]).sum(axis=1))),
            0.5 * np.abs(second.matrix_noise - first.matrix_noise).sum(axis=2) @ weight,
            level,
        )
    )
    spread = np.hypot(first.spread, second.spread)
    changed = [
        Change(
            origin=states.states[i],
            state=states.states[j],
            before=float(matrix[0][i, j]),
            after=float(matrix[1][i, j]),
            half_width=width * float(spread[i, j]),
        )
        for i, j in _significant(matrix[1] - matrix[0], spread, level)
    ]
    return Comparison(
        distances=tuple(distances),
        shares=tuple(shares),
        transitions=tuple(changed),
        looked_at=int(np.count_nonzero(((matrix[0] > 0) | (matrix[1] > 0)) & np.isfinite(spread))),
        left_out=int(np.count_nonzero(np.isinf(spread).any(axis=1))) - len(ends),
        level=level,
        labels=states.labels,
        states=states.states,
        counted_differently={
            name: pair
            for name in {**before.counting, **after.counting}
            if (pair := (before.counting.get(name), after.counting.get(name)))[0] != pair[1]
        },
        ends=tuple(states.states[end] for end in ends),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Side:
    """One release: what was released, and draws of how far it may be off; infinite where nobody can tell.

    Rows weigh what they have of the long run, and where a declared end leaves none, of the events.
    """

    matrix: Array
    weight: Array
    matrix_noise: npt.NDArray[np.float32]
    stationary_noise: Array | None
    spread: Array


def _side(release: "Release", draws: int, rng: np.random.Generator, ends: list[int]) -> _Side:
    posterior = posterior_of(release)
    if isinstance(posterior, KnownTotalRows):
        raise ChainError(
            "compare is for releases of counts; this one is of a matrix that was mixed with a public vector, "
            "and two mixtures differ where their inputs do not: compare the intervals of 'input_matrix'"
        )
    cells, n = posterior.cells, posterior.cells.n_rows
    chain = chain_from(release, posterior, posterior.released)
    matrices = np.zeros((draws, n, n), dtype=np.float32)
    long_run = np.empty((draws, n))
    for start in range(0, draws, _AT_ONCE):
        counts = posterior.counts(min(_AT_ONCE, draws - start), rng, for_entries=True)
        rows = rows_from_counts(counts, posterior.released, cells)
        stop = start + len(rows)
        matrices[start:stop, cells.row_of_cell, cells.indices] = rows
        if ends:
            continue
        found, failed = evaluate(
            "stationary_distribution",
            QUANTITIES["stationary_distribution"],
            release,
            posterior,
            np.asarray(rows),
            (n,),
        )
        if failed:
            raise ChainError(
                "some plausible chains have no single stationary distribution: "
                "the noise is too strong to compare"
            )
        long_run[start:stop] = found
    noise = matrices - chain.dense().astype(np.float32)
    spread = np.maximum(_root_mean_square(noise), _noise_spread(posterior, n))
    spread[ends] = np.inf
    if ends:
        weight, stationary_noise = np.asarray(cells.row_sums(posterior.mean), dtype=np.float64), None
        weight[ends] = 0.0
        weight /= max(float(weight.sum()), _NOTHING)
    else:
        factor, middle = stationary_stretch(chain, posterior), long_run.mean(axis=0)
        weight = chain.stationary_distribution
        stationary_noise = (long_run - middle) * factor + (middle - weight)
    return _Side(
        matrix=chain.dense(),
        weight=weight,
        matrix_noise=noise,
        stationary_noise=stationary_noise,
        spread=spread,
    )


def _root_mean_square(noise: npt.NDArray[np.floating[Any]]) -> Array:
    return np.asarray(np.sqrt(np.mean(np.square(noise, dtype=np.float64), axis=0)))


def _noise_spread(posterior: RowPosterior, n: int) -> Array:
    """The noise's full first-order effect on each transition probability, zeros where it is not known.

    It does not lean on the learnt prior, which in thin rows moves many cells at once from one release to the
    next. Rows whose events do not stand out of the noise at all are beyond a first order: infinite.
    """
    result = np.zeros((n, n))
    if posterior.noise_variance is None:
        return result
    cells, variance = posterior.cells, posterior.noise_variance
    rows = cells.row_of_cell
    totals = np.asarray(cells.row_sums(posterior.mean), dtype=float)
    of_totals = np.asarray(cells.row_sums(variance), dtype=float)
    share = posterior.released
    moved = variance * (1 - 2 * share) + share**2 * of_totals[rows]
    spread = np.sqrt(np.maximum(moved, 0.0)) / np.maximum(totals, _NOTHING)[rows]
    spread[(totals < _STANDS_OUT * np.sqrt(of_totals))[rows]] = np.inf
    result[rows, cells.indices] = spread
    return result


def _distance(name: str, value: float, noise: Array, level: float) -> Distance:
    reach = min(1.0, float(np.quantile(noise, level)))
    return Distance(
        name=name, value=value, low=max(0.0, value - reach), high=min(1.0, value + reach), noise=reach
    )


def _significant(difference: Array, spread: Array, level: float) -> list[tuple[int, ...]]:
    """Where a difference stands out, largest first, by Benjamini and Hochberg's rule.

    P-values are those of a difference of two Laplace noises, whose tails are the heaviest that occur here: a
    normal law would call one in a thousand noises of Laplace's an event of one in a million.
    """
    usable = (spread > 0) & np.isfinite(spread)
    z = np.abs(difference[usable]) / spread[usable]
    p = (1.0 + z) * np.exp(-2.0 * z)
    order = np.argsort(p)
    passed = np.flatnonzero(p[order] <= (1 - level) * (1 + np.arange(p.size)) / max(p.size, 1))
    keep = order[: passed[-1] + 1] if passed.size else order[:0]
    at = np.argwhere(usable)[keep]
    sizes = np.abs(difference[usable])[keep]
    return [tuple(int(k) for k in at[i]) for i in np.argsort(-sizes, kind="stable")]
