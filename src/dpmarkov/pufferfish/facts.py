"""Releases for frameworks that are not chains: the Wasserstein Mechanism, and quilts of Bayesian networks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpmarkov.entropy import Entropy
from dpmarkov.errors import InputError, ParameterError
from dpmarkov.privacy.budget import check_epsilon
from dpmarkov.privacy.guarantee import Evidence, Guarantee
from dpmarkov.privacy.pairs import PurePair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Secret
from dpmarkov.pufferfish.networkquilt import NetworkNoise
from dpmarkov.pufferfish.noisy import NoisyStatistic
from dpmarkov.pufferfish.sampling import noisy_integers, noisy_reals
from dpmarkov.pufferfish.wasserstein import FiniteFramework
from dpmarkov.releases.release import seed_warning

__all__ = ["release_by_wasserstein", "release_over_network"]


def release_by_wasserstein(
    value: int, framework: FiniteFramework, *, epsilon: float, name: str, seed: int | None = None
) -> NoisyStatistic:
    """A whole-numbered statistic with noise by the Wasserstein Mechanism.

    Parameters
    ----------
    value
        F of the data: sensitive, a whole number.
    framework
        The framework, with the laws of that same F, on whole numbers.
    epsilon
        The Pufferfish epsilon.
    name
        What F is, in words.
    seed
        For simulations only: the release is stamped *not private*.

    Guarantee
    ---------
    Epsilon-Pufferfish in the framework (Theorem 3.2, whose proof holds for discrete Laplace noise alike: the
    noise's ratio between two whole numbers at most W apart is at most e^epsilon).
    """
    distance = framework.distance()
    if distance.denominator != 1 or not framework.is_integer:
        raise ParameterError(
            "this mechanism releases whole numbers: scale F and its laws so that all values are whole"
        )
    if distance == 0:
        raise ParameterError(
            "no secret changes the law of F: W is 0, and F could be published without noise. Check that the "
            "laws are those of F"
        )
    scale = framework.scale(epsilon)
    noisy = noisy_integers(np.array([_integer(value)]), scale, Entropy.choose(seed))
    public = {
        "name": "wasserstein",
        "statistic": name,
        "scale": scale,
        "distance": int(distance),
    }
    theorem = "Wasserstein Mechanism: Wang, Song and Chaudhuri, Theorem 3.2; W in exact fractions"
    guarantee = _guarantee(
        check_epsilon(epsilon), framework.in_words, framework.secrets, theorem, public, (), seed
    )
    return NoisyStatistic.made(noisy, guarantee, public, seed)


def release_over_network(
    values: float | Sequence[float], noise: NetworkNoise, *, name: str, seed: int | None = None
) -> NoisyStatistic:
    """A Lipschitz statistic of the nodes of a Bayesian network, with noise by the Markov Quilt Mechanism.

    Parameters
    ----------
    values
        F of the data: sensitive. A value that is not finite counts as 0.
    noise
        From `plan_network_noise`, for the Lipschitz constant of F.
    name
        What F is, in words.
    seed
        For simulations only: the release is stamped *not private*.

    Guarantee
    ---------
    Epsilon-Pufferfish for the secrets of `noise` under its class, if its Lipschitz constant is true.
    """
    exact = np.atleast_1d(np.asarray(values, dtype=np.float64))
    if exact.ndim != 1:
        raise InputError("values must be a number or a flat vector of numbers")
    finite = np.where(np.isfinite(exact), exact, 0.0)
    noisy = noisy_reals(finite, noise.scale, Entropy.choose(seed))
    public = {
        "name": "markov quilt",
        "statistic": name,
        "scale": noise.scale,
        "lipschitz": noise.lipschitz,
        "largest card": max(len(quilt.nearby) for quilt, _ in noise.quilts.values()),
    }
    theorem = "Markov Quilt Mechanism: Wang, Song and Chaudhuri, Theorem 4.4; influence in exact fractions"
    trusted = (f"the statistic changes by at most {noise.lipschitz:g} with one node",)
    guarantee = _guarantee(noise.epsilon, noise.in_words, noise.secrets, theorem, public, trusted, seed)
    return NoisyStatistic.made(noisy, guarantee, public, seed)


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"the value must be a whole number; got one of type {type(value).__name__}")
    return int(value)


def _guarantee(
    epsilon: float,
    in_words: str,
    secrets: str,
    theorem: str,
    public: dict[str, Any],
    trusted: tuple[str, ...],
    seed: int | None,
) -> Guarantee:
    assumptions = (
        f"the data follow a distribution of the declared class: {in_words}",
        "the class was declared without looking at these data",
        *trusted,
    )
    return Guarantee(
        epsilon=epsilon,
        delta=0.0,
        unit=Secret(in_words=in_words, secrets=secrets),
        assumptions=assumptions if seed is None else (seed_warning(seed), *assumptions),
        evidence=Evidence(
            theorem=theorem,
            kind="theorem",
            profile=Profile(((PurePair(epsilon=epsilon),),)),
            parameters=public,
        ),
    )
