"""Theorem C: how the events of one user may lie in the cells, and which products of pairs cover them all.

An allocation puts m_1, m_2, ... events (at most m together, at most c in any cell) into cells whose
parameters are at least alpha. It is the product of the pairs (G_{alpha + m_i w}, G_alpha).

**Splitting.** By Gauss's multiplication formula G_a to the power n is distributed as n^n times the product of
independent G_{(a + j) / n}, j < n. Take n = m_i and a = alpha + m_i w or alpha: the likelihood ratio of

    the product over j < m_i of (G_{(alpha + j) / m_i + w}, G_{(alpha + j) / m_i})

depends on the product of the coordinates alone, so this product is *equivalent* to
(G_{alpha + m_i w}, G_alpha). Every allocation is therefore a product of pairs of the one weight w, with
shapes (alpha + j) / m_i; let N(x) be the number of its shapes that are <= x.

**Covering.** A smaller shape dominates (an independent gamma added to both sides is post-processing). So a
product with shapes s_1 <= s_2 <= ... dominates an allocation if s_k is not above its k-th smallest shape,
that is, if N(x) never exceeds the number of s_k <= x. With F(x) the largest N(x) of any allocation, the
shapes s_k = min{x : F(x) >= k} cover all of them at once. Where they hold all of (alpha + j) / c, j < c,
these are joined to one pair (G_{alpha + c w}, G_alpha) again.

**When one allocation is the worst.** If the fullest one (c, c, ..., rest) attains F everywhere, it dominates
all others, and its pairs are the exact answer. For alpha >= 1 and no bound c this is always so: merging two
cells raises N, since floor(m_1 x - alpha) + floor(m_2 x - alpha) + 2 <= floor((m_1 + m_2) x - alpha) + 1 for
alpha >= 1. For alpha < 1 it is false (alpha = .1, w = 1, m = 2, eps = 1, a user replaced: .9420 together,
at least .9639 spread).
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError

__all__ = ["cover"]

_SAFETY = 1e-9
# Beyond so many candidate shapes the covering is replaced by a coarser one that needs no search.
_LARGEST_SEARCH = 1300
_RATIO = 1.15
# No product is longer than this: it is listed in the release, and must be composed.
_MOST_PAIRS = 2000
_GROUPS = 12


def _counts(floor: float, x: float, most: int) -> npt.NDArray[np.int64]:
    """N(x) of one cell that holds 1 .. most events; rounded up at ties, which is on the safe side."""
    sizes = np.arange(1, most + 1)
    reached = np.floor(sizes * x - floor + _SAFETY * (1 + floor)) + 1
    return np.asarray(np.clip(reached, 0, sizes), dtype=np.int64)


def _largest_count(floor: float, x: float, events: int, most: int) -> int:
    """F(x): the largest number of shapes <= x over all allocations (a knapsack without repetition limits)."""
    value = _counts(floor, x, most)
    best = np.zeros(events + 1, dtype=np.int64)
    for n in range(1, events + 1):
        size = min(n, most)
        best[n] = max(int(best[n - 1]), int(np.max(value[:size] + best[n - size : n][::-1])))
    return int(best[events])


@lru_cache(maxsize=4096)
def cover(floor: float, events: int, most: int) -> tuple[tuple[float, int, int], ...]:
    """Pairs that together dominate every allocation, each as (shape, events, copies).

    (shape, k, n) stands for n copies of (G_{shape + k w}, G_shape).

    Parameters
    ----------
    floor
        alpha, the least parameter of a cell.
    events, most
        m and c: at most so many events of one user in all, and in one cell.
    """
    if floor < 1 and events > _MOST_PAIRS:
        raise ParameterError(
            f"with a floor below 1 a user may have at most {_MOST_PAIRS:,} events; got {events:,}: take a "
            "floor of at least 1"
        )
    # Cells may be merged up to any size when alpha >= 1: fewer and larger ones keep the product short.
    if most > 1 or events > _MOST_PAIRS:
        most = max(most, math.ceil(2 * events / _MOST_PAIRS))
    if most == 1:
        return ((floor, 1, events),)
    if most >= events and floor >= 1:
        return ((floor, events, 1),)
    if most * (most + 1) // 2 > _LARGEST_SEARCH or events > 500:
        return _coarse(floor, events, most)
    candidates = np.unique(
        np.concatenate([(floor + np.arange(size)) / size for size in range(1, most + 1)])
    ).tolist()
    whole, rest = divmod(events, most)
    if all(
        _fullest(floor, x, most, whole, rest) >= _largest_count(floor, x, events, most) for x in candidates
    ):
        return ((floor, most, whole), (floor, rest, 1)) if rest else ((floor, most, whole),)
    return _searched(candidates, floor, events, most)


def _fullest(floor: float, x: float, most: int, whole: int, rest: int) -> int:
    value = _counts(floor, x, most)
    return int(whole * value[most - 1] + (value[rest - 1] if rest else 0))


def _searched(
    candidates: list[float], floor: float, events: int, most: int
) -> tuple[tuple[float, int, int], ...]:
    """The covering shapes by search; whole cells joined, the others rounded down to a few distinct shapes."""
    reached = [_largest_count(floor, x, events, most) for x in candidates]
    counts = dict(zip(candidates, np.diff([0, *reached]).tolist(), strict=True))
    cell = [(floor + j) / most for j in range(most)]
    whole = min(counts[x] for x in cell)
    for x in cell:
        counts[x] -= whole
    rest = [x for x in candidates for _ in range(counts[x])]
    result = [(floor, most, whole)] if whole else []
    return (*result, *_grouped(rest))


def _grouped(shapes: list[float]) -> tuple[tuple[float, int, int], ...]:
    """Increasing shapes with few distinct values: each group takes its smallest, which dominates."""
    result: list[tuple[float, int, int]] = []
    for shape in shapes:
        if result and (shape <= result[-1][0] * _RATIO or len(result) == _GROUPS):
            first, one, copies = result[-1]
            result[-1] = (first, one, copies + 1)
        else:
            result.append((shape * (1 - _SAFETY), 1, 1))
    return tuple(result)


def _coarse(floor: float, events: int, most: int) -> tuple[tuple[float, int, int], ...]:
    """Covers that need no search.

    For alpha >= 1: merge cells that hold at most c / 2 until at most one is left; the rest hold more than
    c / 2, so at most ceil(2m / c) cells remain, none with more than c. For alpha < 1: N(x) <= m x / alpha,
    since floor(u - alpha) + 1 <= u / alpha for u >= alpha, so the shapes k alpha / m cover.
    """
    if floor >= 1:
        return ((floor, most, math.ceil(2 * events / most)),)
    return _grouped([k * floor / events for k in range(1, events + 1)])
