"""The exact law of the noise on a count: discrete Laplace or discrete Gaussian."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError

__all__ = ["NoiseKind", "NoiseLaw"]

NoiseKind = Literal["laplace", "gaussian"]
Flat = npt.NDArray[np.float64]

_TAIL = 34.0
"""Beyond the radius of a law less than e^-34 = 2e-15 of its mass is left out."""

_LARGEST = 2.0**56
"""Noise of a larger scale would often leave the 64-bit integers that counts and noise are kept in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseLaw:
    """Integer noise: P(z) proportional to exp(-|z| / scale) or to exp(-z^2 / (2 scale^2)).

    Parameters
    ----------
    kind
        `"laplace"` or `"gaussian"`.
    scale
        The scale b of the discrete Laplace, or sigma of the discrete Gaussian.
    """

    kind: NoiseKind
    scale: float

    def __post_init__(self) -> None:
        if self.kind not in ("laplace", "gaussian"):
            raise ParameterError(f"noise must be laplace or gaussian; got {self.kind!r}")
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ParameterError(f"the scale of the noise must be a finite number > 0; got {self.scale!r}")
        if self.scale > _LARGEST:
            raise ParameterError(
                f"noise of scale {self.scale:g} would drown any count in a 64-bit integer: raise the budget "
                f"(at most {_LARGEST:g} is possible)"
            )

    @property
    def radius(self) -> int:
        """How far from zero the noise goes for all practical purposes."""
        if self.kind == "laplace":
            return math.ceil(_TAIL * self.scale) + 1
        return math.ceil(math.sqrt(2 * _TAIL) * self.scale) + 1

    @property
    def std(self) -> float:
        """The standard deviation."""
        if self.kind == "laplace":
            q = math.exp(-1 / self.scale)
            return math.sqrt(2 * q) / -math.expm1(-1 / self.scale)
        if self.scale > 4:
            return self.scale
        weights = self.pmf()
        z = np.arange(-self.radius, self.radius + 1)
        return math.sqrt(float(weights @ z.astype(float) ** 2))

    def pmf(self) -> Flat:
        """The probabilities of -radius, ..., radius."""
        z = np.arange(-self.radius, self.radius + 1).astype(float)
        logs = -np.abs(z) / self.scale if self.kind == "laplace" else -(z**2) / (2 * self.scale**2)
        weights = np.exp(logs)
        return np.asarray(weights / weights.sum(), dtype=float)

    def coarser(self, factor: int) -> "NoiseLaw":
        """The law of the noise in units of `factor` counts."""
        return self if factor == 1 else NoiseLaw(kind=self.kind, scale=self.scale / factor)

    def to_dict(self) -> dict[str, Any]:
        """The law as it stands in `release.json`."""
        return {"kind": self.kind, "scale": self.scale}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "NoiseLaw":
        """The law that `to_dict` wrote."""
        return cls(kind=data["kind"], scale=float(data["scale"]))
