"""Gaussian noise on the counts, then a draw from the posterior (Ponnoprat, Appendix C).

Every cell's count gets exact discrete Gaussian noise; what falls below zero becomes zero; each row is one
draw of Dirichlet(noisy count + prior). The draw reads the noisy counts alone, so it costs no privacy, and its
spread shows what a sample of the noisy size would leave open.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpmarkov.counts import TransitionCounts
from dpmarkov.entropy import Entropy
from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.additive import add_noise
from dpmarkov.mechanisms.base import Draw
from dpmarkov.mechanisms.dirichlet import draw_rows
from dpmarkov.postprocess import NoiseLaw
from dpmarkov.privacy.additive import calibrate_gaussian, gaussian_profile
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Unit

__all__ = ["NoisyPosterior"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyPosterior:
    """Discrete Gaussian noise of parameter `sigma`, then a posterior draw under the public `prior`.

    Parameters
    ----------
    sigma
        The noise's parameter; `NoisyPosterior.for_budget` finds the least one for a budget.
    prior
        What is added to every noisy count, > 0.

    Guarantee
    ---------
    `profile(unit, layout)` is that of the noisy counts and holds for every data set; the draw is
    post-processing.
    """

    sigma: float
    prior: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("sigma", self.sigma), ("prior", self.prior)):
            if not (math.isfinite(value) and value > 0):
                raise ParameterError(f"{name} must be a finite number > 0; got {value!r}")

    @classmethod
    def for_budget(cls, unit: Unit, budget: Budget, *, prior: float = 1.0) -> "NoisyPosterior":
        """The mechanism with the least noise that keeps `unit` within `budget`."""
        return cls(sigma=calibrate_gaussian(unit, budget), prior=prior)

    @property
    def name(self) -> str:
        """The mechanism's name in files and messages."""
        return "gaussian-posterior"

    @property
    def evidence(self) -> tuple[str, Literal["exact", "theorem"]]:
        """The theorem behind the profile."""
        return "discrete Gaussian noise on every count (docs/mathematics.md, additive noise)", "exact"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """None about the data; the noise is exact, and the posterior draw only reads what is noisy."""
        return ()

    def profile(self, unit: Unit, layout: Layout) -> Profile:
        """The privacy profile of the noisy counts under `unit`."""
        return gaussian_profile(unit, self.sigma)

    def draw(self, counts: TransitionCounts, entropy: Entropy) -> Draw:
        """Noisy counts, and one Dirichlet draw for each row from them."""
        law = NoiseLaw(kind="gaussian", scale=self.sigma)
        noisy = add_noise(counts.values, law, entropy)
        shapes = np.maximum(noisy, 0) + self.prior
        rows = draw_rows(shapes, counts.layout.cells, entropy.generator("posterior"))
        return Draw(probabilities=rows, noisy_counts=noisy)

    def to_dict(self) -> dict[str, Any]:
        """The public parameters as they stand in `release.json`."""
        return {"name": self.name, "sigma": self.sigma, "prior": self.prior}
