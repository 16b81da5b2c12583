"""Private partition selection: which values are common enough to be named.

Each value is kept or not by a coin of its own, whose bias depends on how many users (or events) have it. The
biases are the largest that (epsilon, delta) allows for a change of the number by one (Desfontaines, Voss,
Gipson and Mandayam, "Differentially private partition selection", Theorem 1): from pi(0) = 0,

    pi(n + 1) = min(e^epsilon pi(n) + delta, 1 - e^-epsilon (1 - pi(n) - delta), 1).

No rule that keeps each value on its own keeps more. It is computed in whole numbers over 2^128, rounded down,
with a rational number just below e^epsilon, so that the inequalities hold exactly for what is drawn.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.pairs import ApproximatePair
from dpmarkov.privacy.profile import Profile

__all__ = ["keep", "keep_probabilities", "share_of_budget"]

ONE = 2**128
_MOST = 2_000_000


def keep_probabilities(epsilon: float, delta: float) -> list[int]:
    """pi(0), pi(1), ... over 2^128, up to the first that is one; beyond, values are always kept."""
    if not (0 < epsilon < 50 and 0 < delta < 1):
        raise ParameterError(
            f"selection needs 0 < epsilon < 50 and 0 < delta < 1 for each value; got {epsilon:g} and "
            f"{delta:g}"
        )
    growth = Fraction(math.exp(epsilon)) * (1 - Fraction(1, 2**50))
    if growth <= 1:
        raise ParameterError(f"epsilon = {epsilon:g} for each value is too small to tell anything")
    slack = math.floor(Fraction(delta) * ONE)
    up, down = growth.numerator, growth.denominator
    biases = [0]
    while biases[-1] < ONE:
        last = biases[-1]
        lower = up * last // down + slack
        # 1 - (1 - pi - delta) / growth, rounded down
        upper = ONE - max(0, -(-(ONE - last - slack) * down // up))
        biases.append(min(lower, upper, ONE))
        if len(biases) > _MOST:
            raise ParameterError(
                f"with epsilon = {epsilon:g} and delta = {delta:g} for each value a state would need more "
                f"than {_MOST:,} users to be named; spend more"
            )
    return biases


def keep(counts: Sequence[int], biases: Sequence[int], rng: np.random.Generator) -> list[bool]:
    """One coin for each count."""
    return [int.from_bytes(rng.bytes(16), "big") < (biases[n] if n < len(biases) else ONE) for n in counts]


def share_of_budget(epsilon: float, delta: float, values: int) -> tuple[float, float, Profile]:
    """The (epsilon, delta) for each of the `values` that one unit can touch, and the profile of them all.

    Half of delta goes to the coins, the rest pays for composing `values` of them.
    """
    if values == 1:
        return epsilon, delta, Profile(((ApproximatePair(epsilon=epsilon, delta=delta),),))
    each = delta / (2 * values)

    def composed(strength: float) -> Profile:
        return Profile(((ApproximatePair(epsilon=strength, delta=each),) * values,))

    best, low, high = epsilon / values, 1.0, float(values)
    for _ in range(12):
        middle = math.sqrt(low * high)
        if composed(best * middle).certified_delta(epsilon) <= delta:
            low = middle
        else:
            high = middle
    for share in (low, 0.999, 0.99, 0.9):  # epsilon / values itself may fail by a rounding
        profile = composed(best * share)
        if profile.certified_delta(epsilon) <= delta:
            return best * share, each, profile
    raise ParameterError(
        f"delta = {delta:g} is too small to certify {values} states of one unit together; give a larger "
        "delta, or let a unit name fewer states (max_events)"
    )
