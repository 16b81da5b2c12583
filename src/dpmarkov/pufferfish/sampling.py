"""Laplace noise: exact and discrete for integers, on a fine grid for real numbers.

A release draws through OpenDP, whose samplers use exact rational arithmetic and the operating system's
entropy: the integer noise has P(z) proportional to e^(-|z| / scale) at the very double that is given, the
real one is the same law on a grid of 2^-1074, rounded. A simulation with a seed draws the same law in
floating point from the keyed stream, as a difference of two geometric numbers so that any scale will do, and
is stamped as not private.
"""

import math

import numpy as np
import numpy.typing as npt

from dpmarkov.entropy import Entropy
from dpmarkov.mechanisms.additive import add_noise
from dpmarkov.postprocess import NoiseLaw

__all__ = ["noisy_integers", "noisy_reals"]


def noisy_integers(values: npt.NDArray[np.int64], scale: float, entropy: Entropy) -> npt.NDArray[np.int64]:
    """Each of `values` plus discrete Laplace noise of the given scale."""
    exact = np.asarray(values, dtype=np.int64)
    if not entropy.is_private:
        generator = entropy.generator("pufferfish integers")
        leave = -math.expm1(-1 / scale)
        ups, downs = (generator.geometric(leave, exact.size) for _ in range(2))
        return np.asarray(exact + ups - downs)
    return add_noise(exact, NoiseLaw(kind="laplace", scale=scale), entropy)


def noisy_reals(values: npt.NDArray[np.float64], scale: float, entropy: Entropy) -> npt.NDArray[np.float64]:
    """Each of `values` plus Laplace noise of the given scale."""
    exact = np.asarray(values, dtype=np.float64)
    if not entropy.is_private:
        return np.asarray(exact + entropy.generator("pufferfish reals").laplace(0, scale, exact.size))
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    return np.array(dp.m.make_laplace(*space, scale=scale)(exact.tolist()), dtype=np.float64)
