"""The truth at 60 digits, by mpmath: other people's code on the same formulas."""

import math

import mpmath as mp


def _raised(difference):
    """Evaluate at more and more digits until what cancels is far below the result."""
    for digits in (60, 120, 240, 480):
        with mp.workdps(digits):
            first, second = difference()
            value = first - second
            if value > mp.mpf(10) ** (40 - digits) * first:
                return value
    raise ArithmeticError("no digits left")


def beta(alpha, weight, epsilon):
    """Theorem A."""

    def difference():
        a, w, e = mp.mpf(alpha), mp.mpf(weight), mp.mpf(epsilon)
        s = 1 / (1 + mp.exp(e / w))
        left = mp.betainc(a, a + w, 0, s, regularized=True)
        return left, mp.exp(e) * mp.betainc(a + w, a, 0, s, regularized=True)

    return _raised(difference)


def gamma(alpha, weight, epsilon, *, vanishes):
    """Theorem B in either direction."""

    def difference():
        a, w, e = mp.mpf(alpha), mp.mpf(weight), mp.mpf(epsilon)
        kappa = mp.loggamma(a + w) - mp.loggamma(a)
        if vanishes:
            t = mp.exp((kappa - e) / w)
            left = mp.gammainc(a, 0, t, regularized=True)
            return left, mp.exp(e) * mp.gammainc(a + w, 0, t, regularized=True)
        t = mp.exp((e + kappa) / w)
        left = mp.gammainc(a + w, t, mp.inf, regularized=True)
        return left, mp.exp(e) * mp.gammainc(a, t, mp.inf, regularized=True)

    return _raised(difference)


def log(value):
    """The natural logarithm as a float, also of what a float cannot hold."""
    return float(mp.log(value))


def gaussian(norm, epsilon):
    """The delta of N(norm, 1) against N(0, 1)."""
    e, m = mp.mpf(epsilon), mp.mpf(norm)
    return float(mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m))


def randomised_responses(strength, times, epsilon):
    """The delta of several answers with odds e^strength, by the sum over how many are truthful."""
    truth = 1 / (1 + math.exp(-strength))
    return math.fsum(
        max(
            0.0,
            math.comb(times, j)
            * (
                truth**j * (1 - truth) ** (times - j)
                - math.exp(epsilon) * truth ** (times - j) * (1 - truth) ** j
            ),
        )
        for j in range(times + 1)
    )
