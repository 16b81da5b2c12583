"""Releases under Pufferfish: a private histogram, a private Markov chain, any Lipschitz statistic."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
import numpy.typing as npt

from dpmarkov.entropy import Entropy
from dpmarkov.errors import InputError, ParameterError
from dpmarkov.layout import Layout
from dpmarkov.postprocess import NoiseLaw, estimate_probabilities, project
from dpmarkov.postprocess.simplex import to_rows
from dpmarkov.privacy.guarantee import Evidence, Guarantee
from dpmarkov.privacy.pairs import PurePair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import TimePoint
from dpmarkov.pufferfish.classes import ChainClass
from dpmarkov.pufferfish.framework import HISTOGRAM, TRANSITIONS, Secrets, Statistic
from dpmarkov.pufferfish.noise import Noise, plan_noise
from dpmarkov.pufferfish.noisy import NoisyStatistic
from dpmarkov.pufferfish.sampling import noisy_integers, noisy_reals
from dpmarkov.pufferfish.sequence import GAPS_IN_WORDS, StateSequence
from dpmarkov.releases.release import Release, seed_warning
from dpmarkov.support import Support

__all__ = ["release_chain", "release_histogram", "release_statistic"]

THEOREM = (
    "Markov Quilt Mechanism: Wang, Song and Chaudhuri, Theorem 4.4, with the corrections listed in "
    "docs/correlated.md; scale and quilt re-evaluated in exact fractions"
)

People = StateSequence | Sequence[StateSequence]


def release_histogram(
    people: People,
    *,
    theta: ChainClass,
    epsilon: float,
    secrets: Secrets | None = None,
    seed: int | None = None,
) -> Release:
    """How often each state occurs, over one person's time points or those of several people.

    Parameters
    ----------
    people
        One `StateSequence`, or one for each of several independent people, who are counted together.
    theta
        The declared class, on the same states.
    epsilon
        The Pufferfish epsilon.
    secrets
        What is hidden; every time point of everybody by default.
    seed
        For simulations only: the release is stamped *not private*.

    Returns
    -------
    Release
        A private distribution; `noisy_counts` are the integers with noise, which are unbiased.

    Guarantee
    ---------
    Epsilon-Pufferfish for the secrets under `theta`. The noise is exact discrete Laplace, the rest is
    post-processing with the public number of observed points.
    """
    noise, persons = _plan(people, theta, epsilon, HISTOGRAM, secrets)
    exact = np.sum([person.histogram() for person in persons], axis=0)
    layout = Layout(target=theta.states)
    entropy = Entropy.choose(seed)
    noisy = noisy_integers(exact, noise.scale, entropy)
    seen = sum(person.n_observed for person in persons)
    nearest = project(noisy, layout.cells, np.array([float(seen)]))
    total = float(nearest.sum())
    shares = nearest / total if total > 0 else np.full(len(theta.states), 1 / len(theta.states))
    return _release(layout, shares, noisy, noise, persons, seed)


def release_chain(
    people: People,
    *,
    theta: ChainClass,
    epsilon: float,
    secrets: Secrets | None = None,
    seed: int | None = None,
) -> Release:
    """A Markov chain of one person, or of several people together: transition counts with noise, normalised.

    Parameters
    ----------
    people
        One `StateSequence`, or one for each of several independent people, whose transitions are counted
        together.
    theta
        The declared class, on the same states.
    epsilon
        The Pufferfish epsilon.
    secrets
        What is hidden; every time point of everybody by default.
    seed
        For simulations only: the release is stamped *not private*.

    Returns
    -------
    Release
        A private Markov chain, as every other release; `noisy_counts` are the unbiased integers.

    Guarantee
    ---------
    Epsilon-Pufferfish for the secrets under `theta`. A block of c changed points touches at most c + 1
    transitions and moves the counts by at most 2 (c + 1) in L1 norm; the noise is exact discrete Laplace.
    """
    noise, persons = _plan(people, theta, epsilon, TRANSITIONS, secrets)
    layout = Layout.square(theta.states)
    exact = np.sum([person.transitions().values for person in persons], axis=0)
    noisy = noisy_integers(exact, noise.scale, Entropy.choose(seed))
    links = sum(person.n_transitions for person in persons)
    return _release(layout, _rows(noisy, layout, noise.scale, links), noisy, noise, persons, seed)


def release_statistic(
    people: People,
    function: Callable[[Sequence[StateSequence]], float | Sequence[float] | npt.NDArray[np.float64]],
    *,
    lipschitz: float,
    name: str,
    theta: ChainClass,
    epsilon: float,
    secrets: Secrets | None = None,
    seed: int | None = None,
) -> NoisyStatistic:
    """Any number or vector that changes little when one time point changes, with Laplace noise.

    Parameters
    ----------
    people
        One `StateSequence`, or one for each of several independent people.
    function
        From the sequences to a number or a vector of a length that does not depend on the states. A value
        that is not finite counts as 0.
    lipschitz
        L: changing one time point of one person moves the value by at most L, in L1 norm for a vector. It is
        taken on trust.
    name
        What the statistic is, in words.
    theta, epsilon, secrets, seed
        As for `release_histogram`.

    Guarantee
    ---------
    Epsilon-Pufferfish for the secrets under `theta`, if `lipschitz` is true.
    """
    statistic = Statistic(name=name, lipschitz=lipschitz)
    noise, persons = _plan(people, theta, epsilon, statistic, secrets)
    exact = np.atleast_1d(np.asarray(function(persons), dtype=np.float64))
    if exact.ndim != 1:
        raise InputError("the function must give a number or a flat vector of numbers")
    finite = np.where(np.isfinite(exact), exact, 0.0)
    noisy = noisy_reals(finite, noise.scale, Entropy.choose(seed))
    trusted = (f"the statistic changes by at most {noise.statistic.lipschitz:g} with one time point",)
    return NoisyStatistic.made(noisy, _guarantee(noise, persons, seed, trusted), noise.to_dict(), seed)


_FEW_STATES = 12
"""Up to so many states the public total is worth more than a prior learnt from the noisy cells (measured)."""


def _rows(noisy: npt.NDArray[np.int64], layout: Layout, scale: float, links: int) -> npt.NDArray[np.float64]:
    """Row probabilities from noisy transition counts and the public number of transitions."""
    k = len(layout.target)
    if k > _FEW_STATES:
        return estimate_probabilities(noisy, layout, NoiseLaw(kind="laplace", scale=scale))
    table = project(noisy, Support.full(1, k * k), np.array([float(links)])) + 1 / k
    return to_rows(table, layout.cells)


def _plan(
    people: People, theta: ChainClass, epsilon: float, statistic: Statistic, secrets: Secrets | None
) -> tuple[Noise, tuple[StateSequence, ...]]:
    persons = (people,) if isinstance(people, StateSequence) else tuple(people)
    for person in persons:
        if not isinstance(person, StateSequence):
            raise InputError(f"people must be StateSequence objects; got {type(person).__name__}")
        if person.states.states != theta.states.states:
            raise ParameterError(
                "the class theta is declared on other states than the data: give both the same, in one order"
            )
    lengths = [len(person) for person in persons]
    noise = plan_noise(theta, lengths, epsilon=epsilon, statistic=statistic, secrets=secrets)
    return noise, persons


def _guarantee(
    noise: Noise, persons: Sequence[StateSequence], seed: int | None, more: tuple[str, ...] = ()
) -> Guarantee:
    assumptions = [
        f"the states follow a chain of the declared class: {noise.theta.in_words}",
        "the class was declared without looking at these data",
        GAPS_IN_WORDS,
        *more,
    ]
    if len(persons) > 1:
        assumptions.append(f"the {len(persons)} people are independent of each other")
    if seed is not None:
        assumptions.insert(0, seed_warning(seed))
    parameters = {name: v for name, v in noise.to_dict().items() if isinstance(v, int | float | str)}
    return Guarantee(
        epsilon=noise.epsilon,
        delta=0.0,
        unit=TimePoint(noise.theta, secrets=noise.secrets.in_words),
        assumptions=tuple(assumptions),
        evidence=Evidence(
            theorem=THEOREM,
            kind="theorem",
            profile=Profile(((PurePair(epsilon=noise.epsilon),),)),
            parameters=parameters,
        ),
    )


def _release(
    layout: Layout,
    probabilities: npt.NDArray[np.float64],
    noisy: npt.NDArray[np.int64],
    noise: Noise,
    persons: Sequence[StateSequence],
    seed: int | None,
) -> Release:
    return Release(
        layout=layout,
        probabilities=probabilities,
        guarantee=_guarantee(noise, persons, seed),
        mechanism=noise.to_dict(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("dpmarkov"),
        seed=seed,
        noisy_counts=noisy,
    )
