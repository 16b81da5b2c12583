"""Certification: the same deltas in ball arithmetic (Arb), rounded up.

A ball is a number with a rigorous error radius. Each function raises the precision until the ball is tight
and returns a float that is not below its upper end, so what it returns is never below the truth. What cannot
be made tight falls back to a bound that is cheap and always true (delta <= P of the best set <= 1), never to
a smaller number.

Floats enter exactly: 0.0878 is the binary number that the sampler uses, not the decimal one.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from flint import arb, ctx

__all__ = [
    "certified_beta",
    "certified_gamma_add",
    "certified_gamma_remove",
    "certified_response",
    "float_up",
    "fraction_down",
    "fraction_up",
]

# A certified ball has at least this many correct bits: its end exceeds the truth by at most 1e-10 of it.
_TIGHT_BITS = 34
_PRECISIONS = (112, 224, 448, 896, 1792)
# Below this a delta means nothing; an upper bound that has come down to it is good enough.
_TINY = 1e-300


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Ball arithmetic with `bits` bits inside the block."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def float_up(ball: Any) -> float:
    """The smallest convenient float that is not below `ball`; infinity when the ball says nothing."""
    if not ball.is_finite():
        return math.inf
    upper = ball.upper()
    value = float(upper)
    while not arb(value) >= upper:
        value = math.nextafter(value, math.inf)
    return value


def fraction_up(value: Fraction) -> float:
    """The smallest float that is not below a fraction."""
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


def fraction_down(value: Fraction) -> float:
    """The largest float that is not above a fraction."""
    return -fraction_up(-value)


def _certify(ball: Callable[[], tuple[Any, Any]]) -> float:
    """The upper end of a delta; `ball` gives it, and the probability P of its best set, at this precision."""
    best = 1.0
    for bits in _PRECISIONS:
        with precision(bits):
            probability, cost = ball()
            delta = probability - cost
            best = min(best, float_up(delta), float_up(probability))
            if delta.is_finite() and delta.rel_accuracy_bits() >= _TIGHT_BITS:
                break
            if best <= _TINY:
                break
    # A difference whose ball reaches below zero has an upper end above the truth, which is positive.
    return min(1.0, max(best, 5e-324))


def _mirrored(
    rule: Callable[[float, float, float], float], alpha: float, weight: float, epsilon: float
) -> float:
    """H_eps(P || Q) = 1 - e^eps + e^eps H_{-eps}(Q || P) for a negative epsilon."""
    delta = rule(alpha, weight, -epsilon)
    with precision(_PRECISIONS[0]):
        factor = arb(epsilon).exp()
        return min(1.0, float_up(1 - factor + factor * arb(delta)))


def certified_beta(alpha: float, weight: float, epsilon: float) -> float:
    """Theorem A: an upper bound of H_eps(Beta(alpha + w, alpha) || Beta(alpha, alpha + w))."""
    if epsilon < 0:
        return _mirrored(certified_beta, alpha, weight, epsilon)

    def ball() -> tuple[Any, Any]:
        a, w, e = arb(alpha), arb(weight), arb(epsilon)
        odds = (e / w).exp()
        s = 1 / (1 + odds)
        return s.beta_lower(a, a + w, regularized=True), e.exp() * s.beta_lower(a + w, a, regularized=True)

    return _certify(ball)


def certified_gamma_add(alpha: float, weight: float, epsilon: float) -> float:
    """Theorem B, an event appears: an upper bound of H_eps(G_{alpha + w} || G_alpha)."""
    if epsilon < 0:
        return _mirrored(certified_gamma_remove, alpha, weight, epsilon)
    with precision(_PRECISIONS[0]):
        # Far out, where Arb is slow, Q(shape, t) <= t^shape e^-t / (Gamma(shape) (t - shape)) is enough.
        shape = arb(alpha) + arb(weight)
        log_t = (arb(epsilon) + shape.lgamma() - arb(alpha).lgamma()) / arb(weight)
        t = log_t.exp()
        if t > shape + 1:
            tail = float_up((shape * log_t - t - shape.lgamma()).exp() / (t - shape))
            if tail <= _TINY:
                return max(tail, 5e-324)

    def ball() -> tuple[Any, Any]:
        a, w, e = arb(alpha), arb(weight), arb(epsilon)
        t = ((e + (a + w).lgamma() - a.lgamma()) / w).exp()
        return t.gamma_upper(a + w, 1), e.exp() * t.gamma_upper(a, 1)

    return _certify(ball)


def certified_gamma_remove(alpha: float, weight: float, epsilon: float) -> float:
    """Theorem B, an event vanishes: an upper bound of H_eps(G_alpha || G_{alpha + w})."""
    if epsilon < 0:
        return _mirrored(certified_gamma_add, alpha, weight, epsilon)

    def ball() -> tuple[Any, Any]:
        a, w, e = arb(alpha), arb(weight), arb(epsilon)
        t = (((a + w).lgamma() - a.lgamma() - e) / w).exp()
        # 1 - Q, not P: Arb's lower function takes a second where alpha is 1,000, its upper one 0.1 ms.
        return 1 - t.gamma_upper(a, 1), e.exp() * (1 - t.gamma_upper(a + w, 1))

    return _certify(ball)


def certified_response(strength: float, failure: float, epsilon: float) -> float:
    """Randomised response: an upper bound of the delta at `epsilon` of the (strength, failure) pair."""
    if abs(epsilon) >= strength:
        if epsilon > 0 or (epsilon == 0 and strength == 0):
            return failure
        with precision(128):
            return min(1.0, float_up(1 - arb(epsilon).exp() * (1 - arb(failure))))
    with precision(128):
        limit, e = arb(strength).exp(), arb(epsilon).exp()
        return min(1.0, float_up(arb(failure) + (1 - arb(failure)) * (limit - e) / (1 + limit)))
