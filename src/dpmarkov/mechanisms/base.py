"""What every mechanism is: public parameters, a privacy profile, and one random draw."""

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from dpmarkov.counts import TransitionCounts
from dpmarkov.entropy import Entropy
from dpmarkov.layout import Layout
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Unit

__all__ = ["Draw", "Mechanism"]

Flat = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What one run of a mechanism gave: private, so whatever is computed from it is private too.

    Parameters
    ----------
    probabilities
        One probability for each cell of the layout.
    noisy_counts
        The counts with noise, for a mechanism that reveals them.
    row_totals
        The total of each row with noise, where a share of the budget bought it.
    """

    probabilities: Flat
    noisy_counts: npt.NDArray[np.int64] | None = None
    row_totals: npt.NDArray[np.int64] | None = None


class Mechanism(Protocol):
    """Counts in, a random stochastic matrix out, with parameters that are public and fixed beforehand."""

    @property
    def name(self) -> str:
        """The mechanism's name in files and messages."""

    @property
    def evidence(self) -> tuple[str, Literal["exact", "theorem"]]:
        """The theorem behind the profile, and whether the profile is exact."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must be true for the guarantee, in words."""

    def profile(self, unit: Unit, layout: Layout) -> Profile:
        """The privacy profile under `unit`."""

    def draw(self, counts: TransitionCounts, entropy: Entropy) -> Draw:
        """One draw: the only place where counts meet randomness."""

    def to_dict(self) -> dict[str, Any]:
        """The public parameters as they stand in `release.json`."""
