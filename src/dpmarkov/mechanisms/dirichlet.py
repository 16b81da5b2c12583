r"""The Dirichlet mechanism: each row is released as one draw of Dirichlet(u), in one of two forms.

With a weight w > 0 (what one event adds) and a floor alpha > 0 (the least that any cell's parameter can be):

=======  ======================  ==============================================================
form     parameter u of a cell   what it does
=======  ======================  ==============================================================
floor    max(w x, alpha)         unbiased on the cells above alpha/w counts; lifts the others
prior    w x + alpha             pulls every row towards the uniform one (posterior sampling)
=======  ======================  ==============================================================

Both are unconditional: for every data set, every parameter is at least alpha, and one event changes it by at
most w (Theorems A and B of `docs/mathematics.md`). The form *floor* is Benvenuti et al.'s mechanism without
its assumption on the data; the form *prior* is Ponnoprat's posterior sampling.

Exactness. The weight has at most 20 significant bits and counts saturate below 2^31, so that w x is exact in
double precision: what is certified is what is sampled.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpmarkov.counts import COUNT_LIMIT, TransitionCounts
from dpmarkov.entropy import Entropy
from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.base import Draw
from dpmarkov.privacy.calibrate import dirichlet_profile
from dpmarkov.privacy.guarantee import IDEAL_DRAW
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Unit
from dpmarkov.support import Support

__all__ = ["MIN_PROBABILITY", "WEIGHT_BITS", "Dirichlet", "Form", "draw_rows", "normalize_rows"]

Form = Literal["floor", "prior"]
FORMS: tuple[Form, ...] = ("floor", "prior")
Flat = npt.NDArray[np.float64]

WEIGHT_BITS = 20
"""Significant bits of a weight."""

MIN_PROBABILITY = 2.0**-60
"""No probability inside the support is released below this (public post-processing)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dirichlet:
    """The Dirichlet mechanism with public parameters.

    Parameters
    ----------
    form
        `"floor"` or `"prior"`.
    weight
        What one event adds to a cell's parameter; at most 20 significant bits.
    alpha
        The least that any cell's parameter can be.

    Guarantee
    ---------
    `profile(unit, layout)` is exact by Theorem A or B, for every data set. One event touches one row (or two,
    when it moves), so the matrix as a whole has the guarantee of its worst row, not a sum.
    """

    form: Form
    weight: float
    alpha: float

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ParameterError(f"form must be one of {', '.join(FORMS)}; got {self.form!r}")
        for name, value in (("weight", self.weight), ("floor", self.alpha)):
            if not (math.isfinite(value) and value > 0):
                raise ParameterError(f"{name} must be a finite number > 0; got {value!r}")
        if math.frexp(self.weight)[0] * 2**WEIGHT_BITS % 1:
            raise ParameterError(
                f"weight must have at most {WEIGHT_BITS} significant bits; got {self.weight!r}"
            )
        if self._count_limit < 2**20:
            raise ParameterError(
                f"weight {self.weight!r} and floor {self.alpha!r} cannot be added exactly in doubles; "
                "choose a floor with fewer digits, or closer to the weight"
            )

    @property
    def name(self) -> str:
        """The mechanism's name in files and messages."""
        return f"dirichlet-{self.form}"

    @property
    def evidence(self) -> tuple[str, Literal["exact", "theorem"]]:
        """The theorem behind the profile."""
        return "dominating pairs of the Dirichlet mechanism (docs/mathematics.md, Theorems A to C)", "exact"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """None about the data."""
        return (IDEAL_DRAW,)

    @property
    def _count_limit(self) -> int:
        """Counts saturate here, so that every parameter is an exact double (public and 1-Lipschitz)."""
        if self.form == "floor":
            return COUNT_LIMIT
        step = min(_last_bit(self.weight), _last_bit(self.alpha))
        return min(COUNT_LIMIT, int((2.0**53 * step - self.alpha) / self.weight))

    def profile(self, unit: Unit, layout: Layout) -> Profile:
        """The privacy profile under `unit`; every row has the same floor, so the layout does not matter."""
        return dirichlet_profile(unit, self.weight, self.alpha)

    def parameters(self, counts: npt.NDArray[np.int64]) -> Flat:
        """The Dirichlet parameter of each cell."""
        weighted = self.weight * np.minimum(counts, self._count_limit)
        return np.maximum(weighted, self.alpha) if self.form == "floor" else weighted + self.alpha

    def draw(self, counts: TransitionCounts, entropy: Entropy) -> Draw:
        """One Dirichlet draw for each row, all independent."""
        rng = entropy.generator("dirichlet")
        return Draw(probabilities=draw_rows(self.parameters(counts.values), counts.layout.cells, rng))

    def to_dict(self) -> dict[str, Any]:
        """The public parameters as they stand in `release.json`."""
        return {"name": self.name, "form": self.form, "weight": self.weight, "floor": self.alpha}


def _last_bit(value: float) -> float:
    """The place value of the last set bit of `value`."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator & -numerator) / denominator


def draw_rows(shapes: Flat, cells: Support, rng: np.random.Generator) -> Flat:
    """One Dirichlet draw for each row of `cells`, in log space, for shapes from 1e-6 to 1e9.

    Plain gamma draws underflow at small shapes. Here log G(a) = log G(a + 1) + log(U) / a for a < 1, and the
    row's maximum is subtracted before the exponential, so that no row is ever 0/0.
    """
    small = shapes < 1
    logs = np.log(rng.standard_gamma(np.where(small, shapes + 1, shapes)))
    if small.any():
        logs[small] -= rng.standard_exponential(np.count_nonzero(small)) / shapes[small]
    starts = cells.indptr[:-1]
    peaks = np.maximum.reduceat(logs, starts)
    values = np.exp(logs - np.repeat(peaks, cells.row_sizes))
    return normalize_rows(values, cells)


def normalize_rows(values: Flat, cells: Support) -> Flat:
    """Rows that sum to one to the last bit that floats allow, each entry at least `MIN_PROBABILITY`.

    `values` are >= 0 with at least one positive entry a row. What rounding leaves over goes to the row's
    largest entry.
    """
    starts, sizes = cells.indptr[:-1], cells.row_sizes
    shares: Flat = values / np.repeat(np.add.reduceat(values, starts), sizes)
    shares = np.maximum(shares, MIN_PROBABILITY)
    shares /= np.repeat(np.add.reduceat(shares, starts), sizes)
    np.maximum(shares, MIN_PROBABILITY, out=shares)
    for start, stop in zip(cells.indptr[:-1].tolist(), cells.indptr[1:].tolist(), strict=True):
        row = shares[start:stop]
        at = int(row.argmax())
        row[at] += 1.0 - math.fsum(row)
    return shares
