"""Additive mechanisms: exact integer noise on every cell's count, then post-processing.

==========  ==========================================  =======================================
noise       law                                         guarantee
==========  ==========================================  =======================================
laplace     P(z) proportional to exp(-|z| / scale)      pure epsilon = (L1 sensitivity) / scale
gaussian    P(z) proportional to exp(-z^2/(2 scale^2))  the discrete Gaussian's own curve
==========  ==========================================  =======================================

Every cell of the support gets noise, zeros included. What comes after (see `dpmarkov.postprocess`) reads the
noisy counts and public quantities alone, so it costs nothing; the release keeps the signed noisy counts.

Exactness. OpenDP's samplers draw from exactly these laws, in exact integer arithmetic, from the operating
system's entropy; the scale that is certified is the one that is passed to them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpmarkov.counts import TransitionCounts
from dpmarkov.entropy import Entropy
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.base import Draw
from dpmarkov.mechanisms.dirichlet import normalize_rows
from dpmarkov.postprocess import NoiseLaw, check_method, estimate_probabilities
from dpmarkov.privacy.additive import gaussian_profile, laplace_profile
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Unit

__all__ = ["Additive", "add_noise", "draw_noise"]

Counts = npt.NDArray[np.int64]

_MOST_POINTS = 1 << 20
"""Seeded noise whose law has more points is drawn without a table of it."""

_CHUNK = 1 << 18
"""Cells in one call of a sampler: it works on Python lists, which take memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Additive:
    """Exact integer noise on the counts, with public parameters.

    Parameters
    ----------
    noise
        The law of the noise.
    method
        The post-processing: `"posterior"` (the default), `"project"` or `"clip"`.

    Guarantee
    ---------
    `profile(unit, layout)` holds for every data set: by how much one unit can move the vector of all counts
    (in L1 and L2 norm) is derived in `dpmarkov.privacy.sensitivity`.
    """

    noise: NoiseLaw
    method: str = "posterior"

    def __post_init__(self) -> None:
        check_method(self.method)

    @property
    def name(self) -> str:
        """The mechanism's name in files and messages."""
        return f"{self.noise.kind}-counts"

    @property
    def evidence(self) -> tuple[str, Literal["exact", "theorem"]]:
        """The theorem behind the profile."""
        if self.noise.kind == "laplace":
            return "discrete Laplace noise on every count (docs/mathematics.md, additive noise)", "exact"
        return "discrete Gaussian noise on every count (docs/mathematics.md, additive noise)", "exact"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """None about the data, and none about an ideal draw: the sampler is exact."""
        return ()

    def profile(self, unit: Unit, layout: Layout) -> Profile:
        """The privacy profile under `unit`; every cell has the same noise, so the layout does not matter."""
        rule = laplace_profile if self.noise.kind == "laplace" else gaussian_profile
        return rule(unit, self.noise.scale)

    def draw(self, counts: TransitionCounts, entropy: Entropy) -> Draw:
        """Add noise to every cell, then estimate the rows from the noisy counts alone."""
        noisy = add_noise(counts.values, self.noise, entropy)
        return Draw(probabilities=self.finish(noisy, counts.layout), noisy_counts=noisy)

    def finish(self, noisy: Counts, layout: Layout) -> npt.NDArray[np.float64]:
        """The rows as a function of the noisy counts and public quantities: post-processing."""
        rows = estimate_probabilities(noisy, layout, self.noise, method=self.method)
        return normalize_rows(rows, layout.cells) if self.method == "posterior" else rows

    def to_dict(self) -> dict[str, Any]:
        """The public parameters as they stand in `release.json`."""
        return {
            "name": self.name,
            "noise": self.noise.kind,
            "scale": self.noise.scale,
            "noise_std": self.noise.std,
            "postprocessing": self.method,
        }


_LIMIT = 1 << 62


def add_noise(values: Counts, law: NoiseLaw, entropy: Entropy) -> Counts:
    """Each of `values` plus noise from `law`, clipped at +-2^62: a function of the true sum alone.

    The samplers stop at the ends of the 64-bit integers. Noise that stopped there tells its own value, so
    that a plain sum would give the exact count away; clipped below those ends it is the same for every count.
    Counts are clipped at +-2^61 first, which moves none of them further apart.
    """
    exact = np.clip(np.asarray(values, dtype=np.int64), -_LIMIT // 2, _LIMIT // 2)
    reach = _LIMIT + _LIMIT // 2
    noise = np.clip(draw_noise(law, exact.size, entropy), -reach, reach)
    return np.asarray(np.clip(exact + noise, -_LIMIT, _LIMIT))


def draw_noise(law: NoiseLaw, size: int, entropy: Entropy) -> Counts:
    """`size` independent integers from `law`.

    A private release takes OpenDP's exact samplers, which ask the operating system for entropy themselves. A
    simulation inverts the distribution function on a seeded stream: the same law up to rounding of 1e-15, and
    whatever is made from it is stamped as seeded.
    """
    if not entropy.is_private:
        if law.radius > _MOST_POINTS:
            return _wide_noise(law, size, entropy.generator("additive"))
        points = np.arange(-law.radius, law.radius + 1)
        steps = np.cumsum(law.pmf())
        uniform = entropy.generator("additive").random(size)
        return points[np.minimum(np.searchsorted(steps, uniform, side="right"), points.size - 1)]
    sampler = _exact_sampler(law)
    result = np.empty(size, dtype=np.int64)
    for start in range(0, size, _CHUNK):
        stop = min(start + _CHUNK, size)
        result[start:stop] = sampler([0] * (stop - start))
    return result


def _wide_noise(law: NoiseLaw, size: int, rng: np.random.Generator) -> Counts:
    """Simulated noise whose law would not fit into memory."""
    if law.kind == "laplace":
        stop = -math.expm1(-1 / law.scale)
        return rng.geometric(stop, size) - rng.geometric(stop, size)
    return np.rint(rng.normal(0.0, law.scale, size)).astype(np.int64)


def _exact_sampler(law: NoiseLaw) -> Callable[[list[int]], list[int]]:
    """OpenDP's sampler of the law, as a function that adds noise to a list of integers."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if law.kind == "laplace":
        made = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=law.scale)
    else:
        made = dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=law.scale)
    return made
