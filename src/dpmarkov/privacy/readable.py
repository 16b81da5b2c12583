"""Budgets in words: deltas rounded up, factors of e^epsilon, and the warnings that are due."""

import math
from decimal import ROUND_CEILING, Context, Decimal

__all__ = ["LARGE_DELTA", "LARGE_EPSILON", "budget_warning", "no_protection", "odds_factor", "readable_up"]

LARGE_EPSILON = 5.0
"""Above this a warning is due: the guarantee alone rules out little."""

LARGE_DELTA = 1e-3
"""Above this a warning is due: one unit in a thousand may be given away whole."""

_NO_PROTECTION = 20.0
"""Above this, e^epsilon (hundreds of millions) is written as a power of ten: nobody reads its digits."""


def readable_up(value: float, digits: int = 3) -> str:
    """`value` with `digits` significant digits, rounded up: the way an upper bound is printed.

    What is below one stays below one, with as many more digits as that takes.

    >>> readable_up(9.99991e-07), readable_up(1.0), readable_up(0.99999)
    ('1e-06', '1', '0.99999')
    """
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    written = Decimal(repr(float(value)))
    rounded = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(written)
    if value < 1 <= rounded:
        return readable_up(value, digits + 1)
    return f"{float(rounded):.{digits}g}"


def odds_factor(epsilon: float, form: str) -> str:
    """e^epsilon in that format, rounded up, or the next power of ten where no format would be readable.

    >>> odds_factor(1.0, ".4g"), odds_factor(8.0, ",.0f"), odds_factor(12.0, ".4g"), odds_factor(1e6, ".4g")
    ('2.719', '2,981', '162,800', '10^434,295')
    """
    if epsilon <= _NO_PROTECTION:
        factor = math.exp(epsilon)
        if form == ",.0f":
            return f"{math.ceil(factor):,}"
        # e^epsilon itself may lie a hair above its double.
        shown = readable_up(math.nextafter(factor, math.inf), int(form.strip(".g")))
        return f"{float(shown):,.0f}" if "e" in shown else shown
    power = epsilon / math.log(10)
    return f"10^{math.ceil(power):,}" if power < 1e9 else f"10^({readable_up(power)})"


def no_protection(epsilon: float) -> str:
    """What is to be said after a factor that is a power of ten."""
    return ": in practice no protection" if epsilon > _NO_PROTECTION else ""


def budget_warning(epsilon: float, delta: float) -> str:
    """What to warn of in an (epsilon, delta), without a full stop; empty where nothing is."""
    warnings = []
    if epsilon > LARGE_EPSILON:
        warnings.append(
            f"epsilon = {readable_up(epsilon, 6)} is large. By the guarantee alone, one unit may shift the "
            f"odds of a conclusion {odds_factor(epsilon, ',.0f')}-fold{no_protection(epsilon)}; values up to "
            f"1 are strong, up to {LARGE_EPSILON:g} common"
        )
    if delta > LARGE_DELTA:
        warnings.append(
            f"delta = {readable_up(delta)} is large: delta is the chance that the promise fails outright. "
            "Keep it far below one over the number of units"
        )
    return ". ".join(warnings)
