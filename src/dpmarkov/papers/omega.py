r"""Omega: where the papers' density ratio is bounded, and the probability that a Dirichlet draw leaves it.

The papers split the simplex into Omega_1 = {x : x_i >= gamma for every watched i} and the rest, Omega_2.
Their delta is the largest probability of Omega_2 over the inputs they allow. For a draw of Dirichlet(u), with
k = sum u,

    P(Omega_1) = Gamma(k) L^{-1}[ prod_i Q(u_i, gamma_i s) s^{-u_i} ](1),

where L^{-1} is the inverse Laplace transform, Q the regularised upper incomplete gamma function, and gamma_i
is gamma for a watched entry and 0 for another: the density at 1 of a sum of gamma variables that are all
watched to stay above gamma. With P = 1 - Q, the small number itself is

    P(Omega_2) = Gamma(k) L^{-1}[ s^{-k} (1 - prod_i (1 - P(u_i, gamma_i s))) ](1),

computed without cancellation. The contour s = k (1 + i t)^2 passes the saddle point s = k, where the
integrand is of order one and falls off like exp(-2 k t^2); the trapezoidal rule converges geometrically on
it.
"""

import math
from collections.abc import Sequence

import numpy as np
from flint import acb, arb

from dpmarkov.errors import EngineError, ParameterError
from dpmarkov.privacy.certify import float_up, precision

__all__ = ["largest_gamma", "outside", "outside_bound", "vertex"]

_BITS = (128, 512, 2048, 8192)
_TARGET = 1e-15


def vertex(k: float, eta: float, n_watched: int, *, rest: float | None = None) -> tuple[float, ...]:
    """Dirichlet parameters at the worst input: every watched entry at the border eta.

    Parameters
    ----------
    k
        The mechanism's concentration.
    eta
        The border.
    n_watched
        Number of entries at the border.
    rest
        The share of the last, unwatched or large entry; by default what the others leave.

    Notes
    -----
    P(Omega_1) grows with each watched entry (move mass to it from the unwatched one: stochastic order of the
    Beta marginals); where all entries are watched it is Schur-concave, so that the extreme points of the
    bordered simplex minimise it, and these are equal by symmetry.
    """
    share = 1 - n_watched * eta if rest is None else rest
    return (*([k * eta] * n_watched), k * share)


def outside(parameters: Sequence[float], gamma: float, *, n_watched: int | None = None) -> float:
    """P(some watched entry of a Dirichlet(parameters) draw is below gamma), to about 14 digits.

    Gohari et al., Lemma 1; Fallin et al., Lemma 2; Benvenuti et al., Lemma 2: one contour integral for any
    number of entries, in place of nested integrals or Monte Carlo.

    Parameters
    ----------
    parameters
        The Dirichlet parameters, watched entries first.
    gamma
        The threshold, 0 <= gamma <= 1.
    n_watched
        How many entries are watched; all by default.
    """
    watched = len(parameters) if n_watched is None else n_watched
    _check(parameters, gamma, watched)
    if gamma == 0:
        return 0.0
    if watched * gamma >= 1:
        return 1.0
    sizes, times = np.unique(np.asarray(parameters[:watched], dtype=float), return_counts=True)
    shapes = list(zip(sizes.tolist(), times.tolist(), strict=True))
    total = math.fsum(parameters)
    step = min(0.25, 1.0 / math.sqrt(total))
    value = _trapezoid(shapes, gamma, total, step)
    for _ in range(8):
        step /= 2
        finer = _trapezoid(shapes, gamma, total, step)
        if abs(finer - value) <= _TARGET * abs(finer):
            return min(1.0, max(0.0, finer))
        value = finer
    raise EngineError("the contour integral did not converge; use outside_bound, which always does")


def _trapezoid(shapes: list[tuple[float, int]], gamma: float, total: float, step: float) -> float:
    """The trapezoidal rule on the contour, with as many bits as its own rounding needs."""
    for bits in _BITS:
        with precision(bits):
            summed = _sum_on_contour(shapes, gamma, total, step)
            if summed.is_finite() and float(summed.rad()) <= _TARGET / 8 * abs(float(summed.mid())):
                return float(summed.mid())
    raise EngineError("the contour integral lost its digits; use outside_bound, which never does")


def _sum_on_contour(shapes: list[tuple[float, int]], gamma: float, total: float, step: float) -> arb:
    """The sum for P(Omega_2) over s = k (1 + i t)^2, t = 0, step, 2 step, ..., as a ball."""
    k = arb(total)
    # The terms cancel down to the result, which is at least the largest Beta tail: stop far below that.
    least = max(float(arb(gamma).beta_lower(u, total - u, regularized=1).mid()) for u, _ in shapes)
    front = k.lgamma() + k - (k - 1) * k.log() + arb(2 * step / math.pi).log()
    summed = arb(0)
    for index in range(100_000):
        t = arb(index) * arb(step)
        turn = acb(1, t)
        s = acb(total) * turn * turn
        kept = acb(1)
        for shape, times in shapes:
            z = acb(gamma) * s
            below = z.gamma_lower(shape, regularized=2) * (acb(shape) * z.log()).exp()
            kept *= (1 - below) ** times
        weight = (acb(front) + s - acb(total) - acb(2 * total) * turn.log()).exp() * turn
        term = ((1 - kept) * weight).real
        summed += term / 2 if index == 0 else term
        size = abs(float(weight.abs_upper())) * (1 + float(kept.abs_upper()))
        if index > 4 and size <= 1e-18 * least:
            break
        if not summed.is_finite():
            break
    return summed


def outside_bound(parameters: Sequence[float], gamma: float, *, n_watched: int | None = None) -> float:
    """A certified upper bound of `outside`, in microseconds: the sum of the Beta tails, rounded up.

    Each marginal of Dirichlet(u) is Beta(u_i, k - u_i); the probability that any is below gamma is at most
    the sum of I_gamma(u_i, k - u_i), here evaluated in ball arithmetic.
    """
    watched = len(parameters) if n_watched is None else n_watched
    _check(parameters, gamma, watched)
    if gamma == 0:
        return 0.0
    shapes: dict[float, int] = {}
    for shape in parameters[:watched]:
        shapes[shape] = shapes.get(shape, 0) + 1
    with precision(64):
        total = sum((arb(u) for u in parameters), arb(0))
        bound = arb(0)
        for shape, times in shapes.items():
            bound += times * arb(gamma).beta_lower(shape, total - shape, regularized=1)
        value = float_up(bound)
    return min(1.0, value)


def largest_gamma(
    parameters: Sequence[float], delta: float, *, n_watched: int | None = None, exact: bool = True
) -> float:
    """The largest gamma with P(Omega_2) <= delta, from below: the one that makes the papers' epsilon least.

    Gohari et al. (16). P(Omega_2) grows with gamma, so this is a bisection.

    Parameters
    ----------
    parameters, n_watched
        As in `outside`.
    delta
        The probability that may be spent, 0 < delta < 1.
    exact
        Use `outside`; otherwise the certified bound.
    """
    if not 0 < delta < 1:
        raise ParameterError(f"delta must lie in (0, 1); got {delta!r}")
    watched = len(parameters) if n_watched is None else n_watched
    measure = outside if exact else outside_bound
    low, high = 0.0, 1.0 / watched
    # The bound brackets from below for free: it is never smaller than the exact probability.
    for _ in range(200):
        middle = math.sqrt(low * high) if low > 0 else high / 8
        if not low < middle < high or high - low <= 1e-13 * high or high < 1e-300:
            break
        if measure(parameters, middle, n_watched=watched) <= delta:
            low = middle
        else:
            high = middle
    return low


def _check(parameters: Sequence[float], gamma: float, watched: int) -> None:
    if len(parameters) < 2 or not all(math.isfinite(u) and u > 0 for u in parameters):
        raise ParameterError("Dirichlet parameters must be at least two finite numbers > 0")
    if not 0 <= gamma <= 1:
        raise ParameterError(f"gamma must lie in [0, 1]; got {gamma!r}")
    if not 1 <= watched <= len(parameters):
        raise ParameterError(f"n_watched must lie between 1 and {len(parameters)}; got {watched}")
