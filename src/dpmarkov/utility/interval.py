"""A quantity with its interval, and how it is printed."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Uncertain", "in_words", "plus_minus"]

Array = npt.NDArray[np.float64]

_SHARES = ("stationary_distribution", "transition_matrix", "input_matrix")
_LOPSIDED = 1.5
"""So many times as far as the nearer end may the farther one lie for the interval to be told by a ±."""


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
        What the interval is about, in words.
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
    about: str

    @property
    def half_width(self) -> Array:
        """Half the width of the interval."""
        with np.errstate(invalid="ignore"):
            return np.where(self.low == self.high, 0.0, (self.high - self.low) / 2)

    @property
    def reliable(self) -> npt.NDArray[np.bool_]:
        """Where neither end lies farther from the value than half the value: elsewhere noise dominates.

        A share whose interval spans more than half of [0, 1] is not reliable either.
        """
        with np.errstate(invalid="ignore"):
            far = np.maximum(self.value - self.low, self.high - self.value)
        near = (far <= 0.5 * np.abs(self.value)) | ((self.low == self.value) & (self.high == self.value))
        return np.asarray(near & (self.half_width <= 0.25) if self.quantity in _SHARES else near)

    def part(self, at: Any) -> "Uncertain":
        """Some of its values, such as one row of a matrix, by whatever indexes an array."""
        return replace(self, value=self.value[at], low=self.low[at], high=self.high[at])

    @property
    def covers_what(self) -> str:
        """What the interval is about, in words."""
        error = "privacy's noise alone"
        if self.includes_sampling:
            error = "privacy's noise and the data's own sampling error"
        return f"{error}: {self.about}"

    def __str__(self) -> str:
        if self.value.ndim == 0:
            mark = "" if self.reliable else "   (noise dominates: not reliable)"
            value, low, high = float(self.value), float(self.low), float(self.high)
            body = in_words(value, low, high)
            within = f" (from {_plain(low, 4)} to {_plain(high, 4)})" if "±" in body else ""
            body = f"{body}{within}{mark}"
        else:
            good = int(np.count_nonzero(self.reliable))
            rest = self.value.size - good
            body = f"{self.value.size:,} values, {good:,} reliable, {rest:,} dominated by noise"
        about = f"{100 * self.level:g} % intervals for {self.covers_what}"
        return f"{self.quantity}: {body}\n{about}; {self.method}."


def plus_minus(value: float, half_width: float) -> str:
    """`0.0412 ± 0.0006`: as many digits as the half width bears, and never zero for what is not."""
    if not (math.isfinite(value) and math.isfinite(half_width)):
        return f"{value:.4g} ± {half_width:.2g}"
    if half_width <= 0:
        return f"{value:.6g} ± 0"
    digits = min(12, max(0, -math.floor(math.log10(half_width))))
    if digits == 0 and half_width >= 1e5:
        return f"{value:.3g} ± {half_width:.1g}"
    if value != 0 and round(value, digits) == 0:
        return f"{value:.2g} ± {half_width:.2g}"
    return f"{value:.{digits}f} ± {half_width:.{digits}f}"


def in_words(value: float, low: float, high: float, unit: str = "") -> str:
    """`0.0412 ± 0.0006`; `0.018 (0 to 0.26)` where the interval is lopsided or does not hold the value.

    (A floor lifts small entries, and then the true value is plausibly below all that could be released.)
    """
    if low == high == value:
        return plus_minus(value, 0.0) + unit if math.isfinite(value) else "infinite"
    down, up, half = value - low, high - value, (high - low) / 2
    even = 0 < max(down, up) <= _LOPSIDED * min(down, up) < math.inf
    # What cannot be negative is not told as if it could be.
    if even and not low >= 0 > value - half:
        return plus_minus(value, half) + unit
    told, least, most = (_short(x, high - low) for x in (value, low, high))
    return f"{told}{unit} ({least} to {most}{unit})"


def _short(x: float, width: float) -> str:
    """A number to a hundredth of the interval's width, and to two digits at least."""
    if x == 0 or not math.isfinite(x) or not 0 < width < math.inf:
        return _plain(x, 4)
    digits = math.floor(math.log10(abs(x))) - math.floor(math.log10(width)) + 2
    return _plain(x, min(12, max(2, digits)))


def _plain(x: float, digits: int) -> str:
    """A number rounded to so many digits, and written out: 400, where the format `g` says 4e+02."""
    return f"{float(f'{x:.{digits}g}'):.{max(6, digits)}g}"
