"""The integrals behind Theorems A and B, in log space, for whole arrays of parameters at once.

Definitions
-----------
`H_eps(P || Q) = sup_A P(A) - e^eps Q(A)` is the hockey-stick divergence: the smallest delta for which P and Q
are (eps, delta)-indistinguishable in that direction. For the pairs of this package the likelihood ratio is
monotone in a variable y (the logit of a beta variate, the logarithm of a gamma variate), so the best set A is
a half line that starts at a threshold y0, and with t the distance from the threshold into the half line

    H_eps(P || Q) = integral over t > 0 of p(y0 + t) (1 - e^{-w t}) dt.

Every factor is positive, so nothing cancels: the naive difference of two incomplete beta functions returns
0 for alpha = .03, w = .0035, eps = 2.72, where the truth is 4.13728e-12. The densities are centred
(`log p` is written as a distance from its peak plus a Stirling remainder), so nothing cancels in the
exponent either. The integral is a trapezoidal rule after a change of variable that spreads the nodes evenly
over orders of magnitude near t = 0 and around the place where p bends; such a rule converges exponentially.
Negative eps goes through `H_eps(P || Q) = 1 - e^eps + e^eps H_{-eps}(Q || P)`, a sum of positive terms.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, log1p

__all__ = ["log_delta_beta", "log_delta_gamma_add", "log_delta_gamma_remove"]

Floats = npt.NDArray[np.float64]

_NODES = 112
_HALF_LOG_TWO_PI = 0.5 * np.log(2 * np.pi)
# Beyond this many natural-log units below its peak an integrand no longer matters to the sixteenth digit.
_NEGLIGIBLE = 46.0
_CHUNK = 1 << 12


def stirling_remainder(x: Floats) -> Floats:
    """The value of ln Gamma(x) - [(x - 1/2) ln x - x + ln(2 pi)/2], without cancellation for large x."""
    large = np.maximum(x, 10.0)
    inverse = 1.0 / large
    square = inverse * inverse
    # Abramowitz and Stegun 6.1.41; the first omitted term is below 3e-17 at x = 10.
    series = inverse * (
        1 / 12
        - square
        * (
            1 / 360
            - square
            * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188 - square * (691 / 360360 - square / 156))))
        )
    )
    small = np.minimum(x, 10.0)
    direct = gammaln(small) - ((small - 0.5) * np.log(small) - small + _HALF_LOG_TWO_PI)
    return np.asarray(np.where(x > 10.0, series, direct), dtype=np.float64)


def log_gamma_growth(alpha: Floats, weight: Floats) -> Floats:
    """[ln Gamma(alpha + w) - ln Gamma(alpha)] / w - ln(alpha + w), accurate for every size of alpha and w."""
    # Shift a small alpha up by whole steps, so that Stirling's remainder is tiny and its difference exact.
    steps = np.where(alpha < 15.0, np.ceil(15.0 - alpha), 0.0)
    shifted = alpha + steps
    ratio = weight / shifted
    value = (
        (shifted - 0.5) * log1p(ratio) - weight + stirling_remainder(shifted + weight)
    ) - stirling_remainder(shifted)
    value = value / weight + np.log(shifted + weight) - np.log(alpha + weight)
    for k in range(15):
        value = value - np.where(k < steps, log1p(weight / (alpha + k)), 0.0) / weight
    return np.asarray(value, dtype=np.float64)


def _reach(curvature: Floats) -> Floats:
    """A distance d with `curvature * d^2 / (2 + d) >= _NEGLIGIBLE`: where e^{-c (d - 1 + e^-d)} has died."""
    c = _NEGLIGIBLE / curvature
    return np.asarray((c + np.sqrt(c * c + 8 * c)) / 2, dtype=np.float64)


def _log_integral(
    log_density: Callable[[Floats], Floats],
    weight: Floats,
    bend: Floats,
    width: Floats,
    slope: Floats,
    before: Floats,
    after: Floats,
) -> Floats:
    """Logarithm of the integral over t > 0 of exp(log_density(t)) (1 - e^{-w t}).

    The density bends around t = `bend` on the scale `width`, has died at the distance `before` to the left of
    the bend and `after` to the right of it, and falls from t = 0 with `slope` (where bend <= width).
    """
    edge = bend <= width
    # Seen from the edge the integral lives on the scale of the slope, the curvature and the weight.
    near = 1.0 / (1.0 / width + weight + np.maximum(slope, 0.0))
    centre = np.where(edge, near, bend)
    scale = np.where(edge, near, width)
    # t = centre * log(1 + (e - 1) exp(z / centre)) with z = scale * sinh(s): even steps in s are even steps
    # in log t near zero, even steps of `scale` around the bend, and even steps in log t far to the right.
    lowest = np.where(2 * before < centre, np.minimum(2 * before, 23 * centre), 23 * centre)
    start = -np.arcsinh(lowest / scale)
    died = np.where(edge, np.minimum(after, (_NEGLIGIBLE + 4) / np.maximum(slope, 1e-300)), after)
    stop = np.arcsinh(1.6 * died / scale + 4.0)
    step = (stop - start) / (_NODES - 1)
    s = start + np.arange(_NODES) * step
    z = scale * np.sinh(s) / centre
    rise = np.exp(np.minimum(z, 50.0)) * (np.e - 1.0)
    soft = np.where(z > 50.0, z + np.log(np.e - 1.0), log1p(rise))
    t = centre * soft
    jacobian = np.where(z > 50.0, 1.0, rise / (1.0 + rise)) * scale * np.cosh(s)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        terms = log_density(t) + np.log(-np.expm1(-weight * t)) + np.log(jacobian)
        peak = np.max(terms, axis=-1, keepdims=True)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        total = np.log(np.sum(np.exp(terms - peak), axis=-1, keepdims=True)) + peak + np.log(step)
    return np.asarray(total[..., 0], dtype=np.float64)


def _beta(alpha: Floats, weight: Floats, epsilon: Floats) -> Floats:
    """Theorem A for epsilon >= 0; P = Beta(alpha + w, alpha), y the logit."""
    total = 2 * alpha + weight
    share = alpha / total
    # Distance of the threshold eps / w from the peak of p.
    start = epsilon / weight - log1p(weight / alpha)
    constant = (
        0.5 * (np.log(alpha) + np.log1p(weight / alpha) - np.log1p((alpha + weight) / alpha))
        - _HALF_LOG_TWO_PI
        + stirling_remainder(total)
        - stirling_remainder(alpha)
        - stirling_remainder(alpha + weight)
    )

    def log_density(t: Floats) -> Floats:
        d = start + t
        return np.asarray(constant - alpha * d - total * log1p(share * np.expm1(-d)), dtype=np.float64)

    solid = np.maximum(alpha, 1.0)
    bend = log1p(weight / solid) - epsilon / weight
    curvature = solid * (solid + weight) / (2 * solid + weight)
    reach = _reach(curvature / 2)
    after = _reach(alpha / 2) + np.maximum(log1p(weight / alpha) - epsilon / weight, 0.0)
    slope = alpha + total * share * np.exp(-start) * -1.0 / (1.0 + share * np.expm1(-start))
    return _log_integral(log_density, weight, bend, 1 / np.sqrt(curvature), slope, reach, after)


def _gamma_add(alpha: Floats, weight: Floats, epsilon: Floats) -> Floats:
    """Theorem B, P = G_{alpha + w} against Q = G_alpha, for epsilon >= 0; y the logarithm."""
    shape = alpha + weight
    start = epsilon / weight + log_gamma_growth(alpha, weight)
    constant = 0.5 * np.log(shape) - _HALF_LOG_TWO_PI - stirling_remainder(shape)

    def log_density(t: Floats) -> Floats:
        d = start + t
        with np.errstate(over="ignore"):
            return np.asarray(constant - shape * (np.expm1(d) - d), dtype=np.float64)

    solid = np.maximum(shape, 1.0)
    bend = np.log(solid / shape) - start
    with np.errstate(over="ignore"):
        slope = shape * np.expm1(np.minimum(start, 700.0))
    after = np.minimum(np.sqrt(2 * _NEGLIGIBLE / solid) * 1.2, 5.0)
    return _log_integral(log_density, weight, bend, 1 / np.sqrt(solid), slope, _reach(shape), after)


def _gamma_remove(alpha: Floats, weight: Floats, epsilon: Floats) -> Floats:
    """Theorem B, P = G_alpha against Q = G_{alpha + w}, for epsilon >= 0; y the logarithm, leftwards."""
    start = log_gamma_growth(alpha, weight) + log1p(weight / alpha) - epsilon / weight
    constant = 0.5 * np.log(alpha) - _HALF_LOG_TWO_PI - stirling_remainder(alpha)

    def log_density(t: Floats) -> Floats:
        d = start - t
        return np.asarray(constant - alpha * (np.expm1(d) - d), dtype=np.float64)

    solid = np.maximum(alpha, 1.0)
    bend = start - np.log(solid / alpha)
    slope = -alpha * np.expm1(np.minimum(start, 700.0))
    before = np.minimum(np.sqrt(2 * _NEGLIGIBLE / solid) * 1.2, 5.0)
    after = _reach(alpha) + np.maximum(start, 0.0)
    return _log_integral(log_density, weight, bend, 1 / np.sqrt(solid), slope, before, after)


def _broadcast(
    rule: Callable[[Floats, Floats, Floats], Floats],
    mirror: Callable[[Floats, Floats, Floats], Floats],
    alpha: npt.ArrayLike,
    weight: npt.ArrayLike,
    epsilon: npt.ArrayLike,
) -> Floats:
    """Apply `rule` where epsilon >= 0 and the identity with its `mirror` elsewhere, in bounded memory."""
    arrays = np.broadcast_arrays(
        np.asarray(alpha, dtype=np.float64),
        np.asarray(weight, dtype=np.float64),
        np.asarray(epsilon, dtype=np.float64),
    )
    shape = arrays[0].shape
    a, w, e = (np.ascontiguousarray(x).reshape(-1) for x in arrays)
    out = np.empty(a.size, dtype=np.float64)
    for low in range(0, a.size, _CHUNK):
        part = slice(low, low + _CHUNK)
        for negative, body in ((False, rule), (True, mirror)):
            rows = np.flatnonzero((e[part] < 0) == negative)
            if rows.size == 0:
                continue
            rows = rows + low
            size = np.abs(e[rows])
            value = body(a[rows, None], w[rows, None], size[:, None])
            if negative:
                value = np.log(-np.expm1(-size) + np.exp(np.minimum(value, 0.0) - size))
            out[rows] = np.minimum(value, 0.0)
    return out.reshape(shape)


def log_delta_beta(alpha: npt.ArrayLike, weight: npt.ArrayLike, epsilon: npt.ArrayLike) -> Floats:
    """Theorem A: ln H_eps(Beta(alpha + w, alpha) || Beta(alpha, alpha + w)).

    Parameters
    ----------
    alpha, weight, epsilon
        Broadcast against one another; alpha > 0, weight > 0, epsilon any real number.
    """
    return _broadcast(_beta, _beta, alpha, weight, epsilon)


def log_delta_gamma_add(alpha: npt.ArrayLike, weight: npt.ArrayLike, epsilon: npt.ArrayLike) -> Floats:
    """Theorem B, an event appears: ln H_eps(G_{alpha + w} || G_alpha); arguments as in `log_delta_beta`."""
    return _broadcast(_gamma_add, _gamma_remove, alpha, weight, epsilon)


def log_delta_gamma_remove(alpha: npt.ArrayLike, weight: npt.ArrayLike, epsilon: npt.ArrayLike) -> Floats:
    """Theorem B, an event vanishes: ln H_eps(G_alpha || G_{alpha + w}); arguments as in `log_delta_beta`."""
    return _broadcast(_gamma_remove, _gamma_add, alpha, weight, epsilon)
