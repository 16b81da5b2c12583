"""Composition: the product of several dominating pairs, as an upper bound that errs by rounding up alone.

Each pair's curve is replaced by a larger one with losses on a grid: the piecewise linear interpolation of
delta as a function of e^eps through its values on the grid ("connect the dots", Doroshenko et al. 2022). A
convex curve lies below its chords, so the new pair dominates the old one; products of dominating pairs
dominate products (Zhu, Dong, Wang 2022). The losses of the product are then the sums, and its masses the
convolution.

Every sum here is one of non-negative terms, by direct convolution and never by a Fourier transform: results
keep their *relative* accuracy however small they are, where a transform leaves noise of 1e-12 and more. What
falls off the grid goes up: below the grid to its lowest point, above it to an infinite loss. After the masses
are made the curve that they give is compared with the pair's own at every grid point, and scaled up where
rounding left it below. The last digits are covered by `SLACK`.

Losses that are few or lie on one lattice (discrete Laplace noise, randomised response) are composed exactly.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

from dpmarkov.errors import EngineError, ParameterError
from dpmarkov.privacy.few_losses import ROUNDING, FewLosses, add_up, few_losses
from dpmarkov.privacy.pairs import Pair

__all__ = ["Composition", "composition"]

Floats = npt.NDArray[np.float64]

SLACK = 1e-9
_POINTS = 1000
_LARGEST = 4000
# The grid ends where delta has come down to e^-100; what lies beyond counts as an infinite loss.
_LOG_TAIL = -100.0
_LOWEST_LOSS = 60.0
_FARTHEST = 2.0**40
_TRIM_ABOVE = 1e-60
_TRIM_BELOW = 1e-20


@dataclass(frozen=True, slots=True, eq=False)
class _Losses:
    """Masses of P on the losses (first + i) * step, and on an infinite loss."""

    step: float
    first: int
    masses: Floats
    infinite: float

    def curve(self) -> Floats:
        """The delta at each grid point, a sum of positive terms."""
        above = self.infinite + np.concatenate((np.cumsum(self.masses[::-1])[::-1][1:], [0.0]))
        # delta_i = infinite + (1 - e^-h) sum_l e^{-lh} (mass above point i + l)
        inner = above - self.infinite
        sums = lfilter([1.0], [1.0, -np.exp(-self.step)], inner[::-1])[::-1]
        return np.asarray(self.infinite - np.expm1(-self.step) * sums, dtype=np.float64)

    def convolve(self, other: "_Losses") -> "_Losses":
        """The losses of both together."""
        infinite = add_up(self.infinite, other.infinite)
        return _Losses(
            self.step, self.first + other.first, np.convolve(self.masses, other.masses), infinite
        ).trimmed()

    def trimmed(self) -> "_Losses":
        """The same, with negligible masses moved up: to the lowest kept loss, and to infinity."""
        below = np.cumsum(self.masses)
        above = np.cumsum(self.masses[::-1])[::-1]
        low = int(np.searchsorted(below, _TRIM_BELOW * below[-1]))
        high = int(np.count_nonzero(above > _TRIM_ABOVE))
        if high <= low + 1:
            return self
        kept = self.masses[low:high].copy()
        kept[0] = below[low]
        infinite = self.infinite + (above[high] if high < above.size else 0.0)
        return _Losses(self.step, self.first + low, kept, infinite)

    def coarsened(self) -> "_Losses":
        """On a grid with double steps; a mass in between is split so that both P's and Q's totals stay."""
        masses, first = self.masses, self.first
        if first % 2:
            masses, first = np.concatenate(([0.0], masses)), first - 1
        if masses.size % 2 == 0:
            masses = np.append(masses, 0.0)
        even, odd = masses[0::2].copy(), masses[1::2]
        # up e^-h + down e^h = 1 and up + down = 1
        up = 1 / (1 + np.exp(-self.step))
        even[1:] += up * odd
        even[:-1] += (1 - up) * odd
        return _Losses(2 * self.step, first // 2, even, self.infinite)


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """An upper bound of the curve of a product of pairs; made by `composition`."""

    losses: _Losses
    curve: Floats
    largest_loss: Fraction | None
    failure: float

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of the delta for each epsilon."""
        e = np.asarray(epsilon, dtype=np.float64)
        grid, step = self.losses, self.losses.step
        place = e / step - grid.first
        low = np.clip(np.floor(place), 0, self.curve.size - 1).astype(np.int64)
        high = np.minimum(low + 1, self.curve.size - 1)
        part = np.clip(np.expm1(np.clip(place - low, 0, 1) * step) / np.expm1(step), 0, 1)
        value = self.curve[low] * (1 - part) + self.curve[high] * part
        # To the left of the grid the curve is linear in e^eps and starts at the total mass.
        start = max(1.0, float(grid.masses.sum() + grid.infinite))
        left = start + (self.curve[0] - start) * np.exp(np.minimum(place * step, 0.0))
        value = np.where(place < 0, left, value)
        if self.largest_loss is not None:
            value = np.where(e >= float(self.largest_loss), self.failure, value)
        with np.errstate(divide="ignore"):
            return np.asarray(np.minimum(np.log(value), 0.0), dtype=np.float64)

    def delta(self, epsilon: float) -> float:
        """The delta for `epsilon`, rounded up; from the largest finite loss on the infinite one's alone."""
        if self.largest_loss is not None and Fraction(epsilon) >= self.largest_loss:
            return self.failure
        # A place on the grid is a float with an error of its own: the curve is read a little to its left.
        grid = self.losses
        reach = max(abs(epsilon), abs(grid.first * grid.step), (grid.first + self.curve.size) * grid.step)
        value = float(np.exp(self.log_delta(epsilon - ROUNDING * reach)))
        return min(1.0, value * (1 + SLACK) + 5e-324)


def composition(pairs: tuple[Pair, ...], certified: bool = False) -> Composition | FewLosses:
    """The product of directed pairs.

    Parameters
    ----------
    pairs
        The pairs, each in the direction in which it happens; their order does not matter.
    certified
        Take the pairs' curves from ball arithmetic instead of floats, so that the result is proven.
    """
    if not pairs:
        raise ParameterError("a composition needs at least one pair")
    counted = Counter(pairs)
    return _compose(tuple(sorted(counted.items(), key=repr)), certified)


@lru_cache(maxsize=256)
def _compose(counted: tuple[tuple[Pair, int], ...], certified: bool) -> Composition | FewLosses:
    bounds = [pair.largest_loss for pair, _ in counted]
    largest: Fraction | None = Fraction(0)
    failure = 0.0
    for (pair, times), bound in zip(counted, bounds, strict=True):
        largest = None if largest is None or bound is None else largest + times * bound
        for _ in range(times if pair.failure else 0):
            failure = add_up(failure, pair.failure)
    scattered = None if largest is None else few_losses(counted, largest, failure)
    if scattered is not None:
        return scattered
    lattice = _lattice([pair for pair, _ in counted])
    if lattice is None:
        step = max(_end(pair) for pair, _ in counted) / _POINTS
        singles = [_discretised(pair, step, certified) for pair, _ in counted]
    else:
        step, singles = lattice
    total: _Losses | None = None
    for single, (_, times) in zip(singles, counted, strict=True):
        power = _power(single, times)
        if total is not None:
            while power.step < total.step:
                power = power.coarsened()
            while total.step < power.step:
                total = total.coarsened()
        total = power if total is None else _held(total.convolve(power))
    if total is None or not np.all(np.isfinite(total.masses)):
        raise EngineError("a composition came out as no finite number; please report its parameters")
    return Composition(total, total.curve(), largest, failure)


def _held(losses: _Losses) -> _Losses:
    while losses.masses.size > _LARGEST:
        losses = losses.coarsened()
    return losses


def _power(losses: _Losses, times: int) -> _Losses:
    """`times` independent copies, by squaring."""
    result: _Losses | None = None
    square = losses
    while True:
        if times & 1:
            if result is None:
                result = square
            else:
                while result.step < square.step:
                    result = result.coarsened()
                result = _held(result.convolve(square))
        times >>= 1
        if not times:
            return result if result is not None else square
        square = _held(square.convolve(square))


def _lattice(pairs: list[Pair]) -> tuple[float, list[_Losses]] | None:
    """The pairs' own losses, where all lie on one lattice."""
    found = [pair.atoms() for pair in pairs]
    steps = {atoms[0] for atoms in found if atoms is not None}
    if any(atoms is None for atoms in found) or len(steps) != 1:
        return None
    step = float(steps.pop())
    result = []
    for pair, atoms in zip(pairs, found, strict=True):
        if atoms is None:
            return None
        _, levels, values = atoms
        first = int(levels.min())
        masses = np.zeros(int(levels.max()) - first + 1)
        masses[levels - first] = values * (1 + 1e-13)
        result.append(_Losses(step, first, masses, pair.failure))
    return step, result


@lru_cache(maxsize=1024)
def _end(pair: Pair) -> float:
    """The epsilon at which the curve has come down to its tail."""
    if pair.largest_loss is not None:
        return float(pair.largest_loss) * (1 + 1e-15)
    # A curve with a floor (an approximate pair) ends where it has come down to the floor.
    target = max(_LOG_TAIL, float(pair.log_delta(_FARTHEST)) + 1e-6)
    grid = np.geomspace(1e-4, _FARTHEST, 256)
    for _ in range(2):
        above = int(np.count_nonzero(pair.log_delta(grid) > target))
        if above == grid.size:
            return float(grid[-1])
        end = float(grid[above])
        grid = np.geomspace(grid[above - 1] if above else 1e-6, end, 64)
    return end


@lru_cache(maxsize=256)
def _discretised(pair: Pair, step: float, certified: bool) -> _Losses:
    """A pair on the grid that dominates `pair`."""
    top = int(np.ceil(_end(pair) / step)) + 1
    lowest = int(np.ceil(min(_end(pair.reverse()), _LOWEST_LOSS) / step)) + 1
    # What lies further down than that goes up to there: only a pair with a long left tail is touched.
    bottom = min(lowest, 3 * _POINTS)
    places = np.arange(-bottom, top + 1)
    epsilons = places * step
    if certified:
        deltas = np.array([pair.certified_delta(float(e)) for e in epsilons])
    else:
        deltas = np.exp(pair.log_delta(epsilons)) * (1 + 1e-10)
    if not np.all(np.isfinite(deltas)):
        raise EngineError("a privacy curve came out as no finite number; please report its parameters")
    deltas = np.minimum(np.minimum.accumulate(deltas), 1.0)
    kept = _convex(deltas, step)
    gaps = np.diff(kept) * step
    left = np.concatenate(([np.inf], gaps))
    before = np.concatenate(([1.0], deltas[kept][:-1])) - deltas[kept]
    after = np.append(-np.diff(deltas[kept]), 0.0)
    right = np.append(gaps, 1.0)
    masses = np.zeros(places.size)
    masses[kept] = np.maximum(before / -np.expm1(-left) - after / np.expm1(right), 0.0)
    losses = _Losses(step, -bottom, masses, float(deltas[-1]))
    # Rounding may have left the new curve a hair below the old one: scale it up until it is not.
    curve = losses.curve()
    with np.errstate(divide="ignore", invalid="ignore"):
        lacking = np.where(deltas > 0, deltas / curve, 1.0)
    scale = max(1.0, float(np.max(lacking)), 1.0 / float(masses.sum() + deltas[-1])) * (1 + 1e-12)
    if not np.isfinite(scale) or scale > 1.001:
        raise EngineError("a privacy curve could not be put on a grid; please report its parameters")
    return _Losses(step, -bottom, masses * scale, float(deltas[-1]) * scale)


def _convex(deltas: Floats, step: float) -> npt.NDArray[np.int64]:
    """Positions of the lower convex hull of delta as a function of e^eps, from the point (0, 1) on."""
    rise = -np.expm1(-step * np.arange(1, deltas.size + 1))
    fall = np.expm1(np.minimum(step * np.arange(1, deltas.size + 1), 700.0))
    kept: list[int] = []
    values = deltas.tolist()
    rises, falls = rise.tolist(), fall.tolist()
    for i, value in enumerate(values):
        while kept:
            last = kept[-1]
            if len(kept) == 1:
                before = 1.0 - values[last]
            else:
                before = (values[kept[-2]] - values[last]) / rises[last - kept[-2] - 1]
            if before >= (values[last] - value) / falls[i - last - 1]:
                break
            kept.pop()
        kept.append(i)
    return np.asarray(kept, dtype=np.int64)
