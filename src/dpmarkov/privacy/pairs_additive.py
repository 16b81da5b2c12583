"""Dominating pairs of additive integer noise: a count with noise against the same count moved by whole steps.

=====================  ==================================================================================
`DiscreteLaplacePair`  X against X + shift, P(X = k) proportional to e^{-|k| / scale}; exact, bounded loss
`DiscreteGaussianPair` X against X + shift, P(X = k) proportional to e^{-k^2 / (2 sigma^2)}; exact
`GaussianNormPair`     discrete Gaussian noise on several cells, moved by any whole-number vector of a given
                       norm: a bound that is tight where sigma is a few units or more
=====================  ==================================================================================

All three are their own mirror image (X to shift - X), so both directions agree.

**The discrete Gaussian.** ln P(k)/Q(k) = shift (shift - 2k) / (2 sigma^2) falls in k, so the best set is
{k <= k*} with k* = floor(shift / 2 - eps sigma^2 / shift), and delta = F(k*) - e^eps F(k* - shift) for the
distribution function F of X. That is the discrete Gaussian's own curve, not the continuous one's.

**The norm bound.** Draw Y from the continuous N(a, s1^2) and K from the discrete Gaussian with centre Y and
variance s2^2 on the integers. By Poisson's summation formula the normaliser of the second step is
s2 sqrt(2 pi) (1 + r), |r| <= e = 2 sum_j exp(-2 pi^2 s2^2 j^2), so K's law is, up to factors in
[(1 - e) / (1 + e), 1 + e], the discrete Gaussian with centre a and variance s1^2 + s2^2. Hence discrete
Gaussian noise on n cells is, up to those factors to the power n, a post-processing of continuous Gaussian
noise of variance s1^2 = sigma^2 - s2^2, for which only the Euclidean norm r of the shift matters:
H_eps <= (1 + e)^n H'_{eps - n ln((1 + e)^2 / (1 - e))}, with H' of N(r / s1, 1) against N(0, 1). At
s2^2 = 3/2 the factors differ from 1 by 6e-13.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from flint import arb
from scipy.special import log_ndtr

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.certify import float_up, precision
from dpmarkov.privacy.pairs import Pair, check_positive, register_pair

__all__ = ["LARGEST_EXACT_SIGMA", "DiscreteGaussianPair", "DiscreteLaplacePair", "GaussianNormPair"]

Floats = npt.NDArray[np.float64]

LARGEST_EXACT_SIGMA = 1000.0
"""Beyond this the exact curve is a sum of too many terms, and the norm bound is as good (1e-6 of sigma)."""

_REACH = 38.0
_BITS = 160


def _check_shift(shift: int) -> int:
    if isinstance(shift, bool) or int(shift) != shift or shift < 1:
        raise ParameterError(f"the shift of a pair must be a whole number >= 1; got {shift!r}")
    return int(shift)


def _mirror(epsilon: Floats, positive: Floats) -> Floats:
    """Extend ln delta(|eps|) of a pair that is its own mirror image to negative epsilon."""
    size = np.abs(epsilon)
    with np.errstate(divide="ignore"):
        mirrored = np.log(-np.expm1(-size) + np.exp(positive - size))
    return np.asarray(np.minimum(np.where(epsilon < 0, mirrored, positive), 0.0), dtype=np.float64)


def _mirror_up(epsilon: float, positive: float) -> float:
    with precision(_BITS):
        factor = arb(epsilon).exp()
        return min(1.0, float_up(1 - factor + factor * arb(positive)))


@register_pair
@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplacePair(Pair):
    """X against X + shift for discrete Laplace X: losses (shift - 2j) / scale, j = 0 .. shift."""

    kind: ClassVar[str] = "discrete_laplace"
    scale: float
    shift: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", check_positive("scale", self.scale))
        object.__setattr__(self, "shift", _check_shift(self.shift))

    @property
    def largest_loss(self) -> Fraction:
        """The pure epsilon, exactly."""
        return self.shift / Fraction(self.scale)

    def atoms(self) -> tuple[Fraction, npt.NDArray[np.int64], Floats]:
        """The step between losses, the losses in steps, and P's mass on each."""
        q = math.exp(-1 / self.scale)
        tail = 1 / (1 + q)
        inner = -math.expm1(-1 / self.scale) / (1 + q) * np.exp(-np.arange(1, self.shift) / self.scale)
        last = math.exp(-self.shift / self.scale) / (1 + q)
        levels = self.shift - 2 * np.arange(self.shift + 1)
        return 1 / Fraction(self.scale), levels, np.concatenate(([tail], inner, [last]))

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of H_eps(P || Q); -inf from shift / scale on."""
        e = np.asarray(epsilon, dtype=np.float64)
        size, s, n = np.abs(e), self.scale, self.shift
        inside = size < n / s
        used = np.where(inside, size, 0.0)
        j = np.floor((n - used * s) / 2)
        q = math.exp(-1 / s)
        inner = -np.expm1(-(j + 1) / s) - q * np.expm1(np.minimum(used - (n - j - 1) / s, 0.0))
        value = np.where(j >= 1, inner, -np.expm1(used - n / s)) / (1 + q)
        with np.errstate(divide="ignore"):
            positive = np.where(inside, np.log(np.maximum(value, 0.0)), -np.inf)
        return _mirror(e, np.asarray(positive))

    def certified_delta(self, epsilon: float) -> float:
        """A float that is proven not to be below H_eps(P || Q)."""
        if epsilon < 0:
            return _mirror_up(epsilon, self.certified_delta(-epsilon))
        exact, scale = Fraction(epsilon), Fraction(self.scale)
        if exact >= self.largest_loss:
            return 0.0
        j = math.floor((self.shift - exact * scale) / 2)
        with precision(_BITS):
            rate = 1 / arb(self.scale)
            q = (-rate).exp()
            # F(j) - e^eps F(j - shift), with 0 <= j <= shift.
            value = (1 + q - (-rate * (j + 1)).exp() - (arb(epsilon) - rate * (self.shift - j)).exp()) / (
                1 + q
            )
            return min(1.0, max(0.0, float_up(value)))


@register_pair
@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussianPair(Pair):
    """X against X + shift for discrete Gaussian X: the exact curve."""

    kind: ClassVar[str] = "discrete_gaussian"
    sigma: float
    shift: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", check_positive("sigma", self.sigma))
        object.__setattr__(self, "shift", _check_shift(self.shift))
        if self.sigma > LARGEST_EXACT_SIGMA:
            raise ParameterError(
                f"the exact curve is for sigma up to {LARGEST_EXACT_SIGMA:g}; got {self.sigma:g}: use "
                "GaussianNormPair"
            )

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of H_eps(P || Q); beyond 38 sigma the value there, which is larger."""
        e = np.asarray(epsilon, dtype=np.float64)
        reach, cumulated, total = _float_sums(self.sigma)
        size = np.abs(e)
        best = np.floor(self.shift / 2 - size * (self.sigma * self.sigma) / self.shift)
        best = np.clip(best, -reach, reach).astype(np.int64)
        top = cumulated[best + reach]
        below = best - self.shift + reach
        with np.errstate(divide="ignore", over="ignore"):
            ratio = np.exp(size + np.log(cumulated[np.maximum(below, 0)]) - np.log(top))
            ratio = np.where(below >= 0, np.minimum(ratio, 1.0), 0.0)
            positive = np.log(top) - math.log(total) + np.log1p(-ratio)
        return _mirror(e, np.asarray(positive))

    def certified_delta(self, epsilon: float) -> float:
        """A float that is proven not to be below H_eps(P || Q)."""
        if epsilon < 0:
            return _mirror_up(epsilon, self.certified_delta(-epsilon))
        square = Fraction(self.sigma) ** 2
        best = math.floor(Fraction(self.shift, 2) - Fraction(epsilon) * square / self.shift)
        reach, cumulated, tail = _ball_sums(self.sigma)
        with precision(_BITS):
            total = cumulated[-1]
            if best < -reach:
                value = tail / total
            else:
                value = cumulated[min(best, reach) + reach] + tail
                if best > reach:
                    value += tail
                if best - self.shift >= -reach:
                    value -= arb(epsilon).exp() * cumulated[min(best - self.shift, reach) + reach]
                value /= total
            return min(1.0, max(float_up(value), 5e-324))


@lru_cache(maxsize=8)
def _float_sums(sigma: float) -> tuple[int, Floats, float]:
    """Sums of e^{-k^2 / (2 sigma^2)} from -reach up to each k, and over all k."""
    reach = math.ceil(_REACH * sigma) + 1
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    terms = np.maximum(np.exp(-0.5 * (k / sigma) ** 2), 1e-320)
    # Summed from the small end, upwards and downwards, so that no digit of the tail is lost.
    cumulated = np.cumsum(terms)
    return reach, cumulated, float(cumulated[-1])


@lru_cache(maxsize=8)
def _ball_sums(sigma: float) -> tuple[int, list[Any], Any]:
    """The same sums as balls, and a bound of the sum over k < -reach."""
    reach = math.ceil(_REACH * sigma) + 1
    with precision(_BITS):
        rate = 1 / (2 * arb(sigma) ** 2)
        half = [(-rate * (k * k)).exp() for k in range(reach + 1)]
        tail = (-rate * ((reach + 1) ** 2)).exp() / (1 - (-rate * (2 * reach + 3)).exp())
        cumulated, running = [], arb(0)
        for k in range(-reach, reach + 1):
            running += half[abs(k)]
            cumulated.append(running)
    return reach, cumulated, tail


@register_pair
@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianNormPair(Pair):
    """Discrete Gaussian noise on `cells` cells, moved by a whole-number vector of squared norm `squared`."""

    kind: ClassVar[str] = "gaussian_norm"
    is_exact: ClassVar[bool] = False
    sigma: float
    squared: int
    cells: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", check_positive("sigma", self.sigma))
        object.__setattr__(self, "squared", _check_shift(self.squared))
        object.__setattr__(self, "cells", _check_shift(self.cells))

    def _bound(self) -> tuple[Any, Any, Any]:
        """As balls: the norm in standard deviations, the log of the factor, the cost in epsilon."""
        second = min(1.5, self.sigma * self.sigma / 2)
        small = (-2 * arb.pi() ** 2 * arb(second)).exp()
        error = 2 * small / (1 - small)
        first = arb(self.sigma) ** 2 - arb(second)
        norm = (arb(self.squared) / first).sqrt()
        factor = self.cells * (1 + error).log()
        cost = self.cells * (2 * (1 + error).log() - (1 - error).log())
        return norm, factor, cost

    def log_delta(self, epsilon: npt.ArrayLike) -> Floats:
        """The logarithm of the bound of H_eps(P || Q)."""
        with precision(_BITS):
            norm, factor, cost = (float(ball) for ball in self._bound())
        if not math.isfinite(cost):
            return np.zeros(np.shape(epsilon))
        e = np.asarray(epsilon, dtype=np.float64) - cost
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            top = log_ndtr(norm / 2 - e / norm)
            ratio = np.exp(e + log_ndtr(-norm / 2 - e / norm) - top)
            value = top + np.log1p(-np.minimum(ratio, 1.0)) + factor
        value = np.where(np.isnan(value) | (value == -np.inf), top + factor, value)
        return np.asarray(np.minimum(value, 0.0), dtype=np.float64)

    def certified_delta(self, epsilon: float) -> float:
        """A float that is proven not to be below H_eps(P || Q)."""
        best = 1.0
        for bits in (_BITS, 4 * _BITS, 16 * _BITS):
            with precision(bits):
                norm, factor, cost = self._bound()
                e = arb(epsilon) - cost
                root = arb(2).sqrt()
                top = ((e / norm - norm / 2) / root).erfc() / 2
                value = factor.exp() * (top - e.exp() * ((e / norm + norm / 2) / root).erfc() / 2)
                best = min(best, float_up(value), float_up(factor.exp() * top))
                if value.is_finite() and value.rel_accuracy_bits() >= 34:
                    break
        return max(best, 5e-324)
