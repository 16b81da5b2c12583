"""Two releases side by side: this year against last, one city against another.

Both carry noise of their own, so most differences between two released matrices are noise. Plausible true
chains are drawn for each (`posterior`), and a difference counts as a change only if it stands out of what the
draws leave open. Thousands of entries are looked at together; to keep false alarms at a known *share of what
is called a change*, the Benjamini-Hochberg rule decides at 1 - level.

Distances between two noisy chains are too large by themselves. By the triangle inequality the true distance
differs from the released one by no more than the noise's own distance, whose upper quantile the draws give.
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import special

from dpmarkov.entropy import Entropy
from dpmarkov.errors import ChainError, ParameterError, StateSpaceError
from dpmarkov.releases.describe import why_no_chain
from dpmarkov.states import State
from dpmarkov.utility.known_rows import KnownTotalRows
from dpmarkov.utility.posterior import RowPosterior, posterior_of, rows_from_counts
from dpmarkov.utility.uncertainty import (
    QUANTITIES,
    chain_from,
    check_level,
    evaluate,
    plus_minus,
    stationary_stretch,
)

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["Change", "Comparison", "Distance", "compare"]

Array = npt.NDArray[np.float64]

_SHOWN = 10
_LARGEST = 500
_AT_ONCE = 50
_STANDS_OUT = 4.0
"""A row's events, in standard errors of its total, from which on its probabilities are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """A total variation distance between the two chains.

    Attributes
    ----------
    name
        Between what.
    value
        Between the released chains.
    low, high
        Where the true distance plausibly lies.
    noise
        What noise alone may produce: a released distance below it says nothing.
    """

    name: str
    value: float
    low: float
    high: float
    noise: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change that stands out of the noise.

    Attributes
    ----------
    origin
        The from-state; None for a share of the stationary distribution.
    state
        The to-state, or the state whose share changed.
    before, after
        The released values.
    half_width
        Of the interval of the difference.
    """

    origin: State | None
    state: State
    before: float
    after: float
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs between two releases, and what is only noise.

    Attributes
    ----------
    distances
        Between the stationary distributions, and between rows (weighted by the stationary distribution).
    shares
        Significant changes of the long-run shares, largest first.
    transitions
        Significant changes of transition probabilities, largest first.
    looked_at
        How many transitions were compared.
    left_out
        How many from-states were not, as their events do not stand out of the noise.
    level
        The level of intervals; at most 1 - level of the changes that are named are false on average.
    counted_differently
        The rules of counting that differ, before and after: what they change is no noise.
    """

    distances: tuple[Distance, ...]
    shares: tuple[Change, ...]
    transitions: tuple[Change, ...]
    looked_at: int
    left_out: int
    level: float
    labels: tuple[str, ...]
    states: tuple[State, ...]
    counted_differently: Mapping[str, tuple[Any, Any]]

    def _name(self, state: State) -> str:
        return self.labels[self.states.index(state)]

    def describe(self) -> str:
        """The comparison in words."""
        lines = [
            *self._warning(),
            "Distances (total variation; the true one lies within the interval at "
            f"{100 * self.level:g} %, privacy's noise alone)",
        ]
        for d in self.distances:
            verdict = "more than noise" if d.value > d.noise else "no more than noise alone may give"
            lines.append(
                f"  {d.name}: {d.value:.4f}, true one from {d.low:.4f} to {d.high:.4f}; "
                f"noise alone up to {d.noise:.4f}: {verdict}"
            )
        for title, changes, total in (
            ("long-run shares", self.shares, len(self.states)),
            ("transitions", self.transitions, self.looked_at),
        ):
            lines.append("")
            lines.append(
                f"{len(changes):,} of {total:,} {title} changed by more than noise"
                + (
                    f", the largest {min(_SHOWN, len(changes))}:"
                    if changes
                    else "; every other difference is noise, or too small to tell from it"
                )
            )
            for c in changes[:_SHOWN]:
                what = (
                    self._name(c.state)
                    if c.origin is None
                    else f"{self._name(c.origin)} -> {self._name(c.state)}"
                )
                by = plus_minus(c.after - c.before, c.half_width)
                lines.append(f"  {what}: {c.before:.4f} to {c.after:.4f}, by {by}")
        if self.left_out:
            lines += [
                "",
                f"Not compared: {self.left_out:,} from-states whose events do not stand out of the noise.",
            ]
        return "\n".join(lines)

    def _warning(self) -> list[str]:
        rules = ", ".join(
            f"{name} {' and '.join('none' if value is None else str(value) for value in pair)}"
            for name, pair in self.counted_differently.items()
        )
        text = f"Counted differently: {rules}. A difference may come from that alone, and is no noise then."
        return [textwrap.fill(text, 100), ""] if rules else []

    def to_dict(self) -> dict[str, Any]:
        """Plain values that serialise to JSON."""

        def plain(c: Change) -> dict[str, Any]:
            item: dict[str, Any] = {} if c.origin is None else {"from": c.origin}
            key = "state" if c.origin is None else "to"
            return item | {key: c.state, "before": c.before, "after": c.after, "half_width": c.half_width}

        return {
            "level": self.level,
            "counted_differently": {name: list(pair) for name, pair in self.counted_differently.items()},
            "distances": [
                {"name": d.name, "value": d.value, "low": d.low, "high": d.high, "noise": d.noise}
                for d in self.distances
            ],
            "shares": [plain(c) for c in self.shares],
            "transitions": [plain(c) for c in self.transitions],
            "transitions_compared": self.looked_at,
            "from_states_left_out": self.left_out,
        }

    def __str__(self) -> str:
        return self.describe()


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
    sides = [
        _side(release, draws, Entropy.seeded(seed).generator(f"plausible counts {name}"))
        for release, name in ((before, "before"), (after, "after"))
    ]
    first, second = sides
    pi = (first.stationary, second.stationary)
    matrix = (first.matrix, second.matrix)
    weight = (pi[0] + pi[1]) / 2
    noise_pi = 0.5 * np.abs(second.stationary_noise - first.stationary_noise).sum(axis=1)
    noise_rows = 0.5 * np.abs(second.matrix_noise - first.matrix_noise).sum(axis=2) @ weight
    distances = (
        _distance("stationary distributions", 0.5 * float(np.abs(pi[1] - pi[0]).sum()), noise_pi, level),
        _distance(
            "rows, weighted by the stationary distribution",
            float(weight @ (0.5 * np.abs(matrix[1] - matrix[0]).sum(axis=1))),
            noise_rows,
            level,
        ),
    )
    width = float(special.ndtri(0.5 + level / 2))
    spread_pi = np.hypot(*(_root_mean_square(side.stationary_noise) for side in sides))
    spread = np.hypot(first.spread, second.spread)
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
        distances=distances,
        shares=tuple(shares),
        transitions=tuple(changed),
        looked_at=int(np.count_nonzero(((matrix[0] > 0) | (matrix[1] > 0)) & np.isfinite(spread))),
        left_out=int(np.count_nonzero(np.isinf(spread).any(axis=1))),
        level=level,
        labels=states.labels,
        states=states.states,
        counted_differently={
            name: pair
            for name in {**before.counting, **after.counting}
            if (pair := (before.counting.get(name), after.counting.get(name)))[0] != pair[1]
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Side:
    """One release: what was released, and draws of how far it may be off; infinite where nobody can tell."""

    matrix: Array
    stationary: Array
    matrix_noise: npt.NDArray[np.float32]
    stationary_noise: Array
    spread: Array


def _side(release: "Release", draws: int, rng: np.random.Generator) -> _Side:
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
    factor, middle = stationary_stretch(chain, posterior), long_run.mean(axis=0)
    released, stationary = chain.dense(), chain.stationary_distribution
    noise = matrices - released.astype(np.float32)
    return _Side(
        matrix=released,
        stationary=stationary,
        matrix_noise=noise,
        stationary_noise=(long_run - middle) * factor + (middle - stationary),
        spread=np.maximum(_root_mean_square(noise), _noise_spread(posterior, n)),
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
    spread = np.sqrt(np.maximum(moved, 0.0)) / np.maximum(totals, 1e-9)[rows]
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
