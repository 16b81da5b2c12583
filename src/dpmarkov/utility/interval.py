"""A quantity with its interval, and how it is printed."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

__all__ = ["Uncertain", "in_words", "plus_minus"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uncertain:
    """A released quantity with an interval.

    Attributes
    ----------
    quantity
        Its name.
    value
        The quantity of the released chain.
    low, high
        The interval, entry by entry.
    level
        The share of intervals that should cover.
    method
        How the interval was made, in words.
    includes_sampling
        Whether the data's own sampling error is in it, besides privacy's noise.
    about
        What the interval is about, where it is not about what the data have.
    draws, failed
        Plausible chains that were drawn, and those among them for which the quantity does not exist.
    """

    quantity: str
    value: Array
    low: Array
    high: Array
    level: float
    method: str = field(repr=False)
    includes_sampling: bool
    draws: int
    failed: int = 0
    about: str = "about the chain that the data have, not about the process behind them"

    @property
    def half_width(self) -> Array:
        """Half the width of the interval."""
        return np.asarray((self.high - self.low) / 2)

    @property
    def reliable(self) -> npt.NDArray[np.bool_]:
        """Where the interval's half width is at most half the value: elsewhere noise dominates."""
        return np.asarray(self.half_width <= 0.5 * np.abs(self.value))

    def row(self, i: int) -> "Uncertain":
        """One row of a matrix with intervals."""
        return replace(self, value=self.value[i], low=self.low[i], high=self.high[i])

    @property
    def covers_what(self) -> str:
        """What the interval is about, in words."""
        if self.includes_sampling:
            return "privacy's noise and the data's own sampling error: about the process behind the data"
        return f"privacy's noise alone: {self.about}"

    def __str__(self) -> str:
        if self.value.ndim == 0:
            mark = "" if self.reliable else "   (noise dominates: not reliable)"
            value, low, high = float(self.value), float(self.low), float(self.high)
            within = f" (from {low:.4g} to {high:.4g})" if low <= value <= high else ""
            body = f"{in_words(value, low, high)}{within}{mark}"
        else:
            good = int(np.count_nonzero(self.reliable))
            rest = self.value.size - good
            body = f"{self.value.size:,} values, {good:,} reliable, {rest:,} dominated by noise"
        about = f"{100 * self.level:g} % intervals for {self.covers_what}"
        return f"{self.quantity}: {body}\n{about}; {self.method}."


def plus_minus(value: float, half_width: float) -> str:
    """`0.0412 ± 0.0006`: as many digits as the half width bears."""
    if not (math.isfinite(value) and math.isfinite(half_width)):
        return f"{value:.4g} ± {half_width:.2g}"
    if half_width <= 0:
        return f"{value:.6g} ± 0"
    digits = min(12, max(0, -math.floor(math.log10(half_width))))
    if digits == 0 and half_width >= 1e5:
        return f"{value:.3g} ± {half_width:.1g}"
    return f"{value:.{digits}f} ± {half_width:.{digits}f}"


def in_words(value: float, low: float, high: float) -> str:
    """`0.0412 ± 0.0006`; the interval itself where the value lies outside of it."""
    if low <= value <= high:
        return plus_minus(value, (high - low) / 2)
    return f"{value:.4g} (true value plausibly from {low:.4g} to {high:.4g})"
