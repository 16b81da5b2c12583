"""Choose a class from other people's data, with a margin; never from the data that it will protect."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpmarkov.entropy import Entropy
from dpmarkov.errors import InputError, ParameterError
from dpmarkov.privacy.budget import check_epsilon
from dpmarkov.pufferfish.classes import ChainClass, FiniteChains, GapChains, IntervalChains
from dpmarkov.pufferfish.model import Model
from dpmarkov.pufferfish.sampling import noisy_integers
from dpmarkov.pufferfish.sequence import StateSequence
from dpmarkov.states import StateSpace

__all__ = ["estimate_theta"]

Array = npt.NDArray[np.float64]
Kind = Literal["finite", "gap", "interval"]


def estimate_theta(
    cohort: Sequence[StateSequence],
    *,
    margin: float,
    kind: Kind = "finite",
    reversible: bool | None = None,
    cohort_is_public: bool = False,
    epsilon: float | None = None,
    transitions_per_person: int | None = None,
    states: StateSpace | None = None,
    seed: int | None = None,
) -> ChainClass:
    """A class of chains that covers a cohort of other people.

    Parameters
    ----------
    cohort
        The sequences of other people, on one state space.
    margin
        How much further than the cohort the class goes, 0 <= margin < 1. For `"finite"` every chain is also
        taken with this share of its moves replaced by staying; for `"gap"` both numbers are lowered by this
        share; for `"interval"` every probability may be this share lower or higher.
    kind
        `"finite"`: one chain for each person, leaning on the pooled one, and the pooled one; from the starts
        of the cohort. `"gap"`: the least stationary probability and eigengap among them. `"interval"`: all
        chains between the least and the largest probability of each transition among them.
    reversible
        For `"gap"`, which must say it: whether the class holds reversible chains only.
    cohort_is_public
        Say that the cohort's data may be published.
    epsilon, transitions_per_person
        Otherwise the pooled counts are made differentially private for each person of the cohort, of whom at
        most so many transitions are used; the class then has the pooled chain alone.
    states
        The declared states; asked for with `epsilon`, where a cohort of nobody must get an answer, too.
    seed
        For simulations only.

    Returns
    -------
    ChainClass
        Its `origin` says how it was made.
    """
    people = list(cohort)
    if isinstance(margin, bool) or not 0 <= margin < 1:
        raise ParameterError(f"margin must be a number with 0 <= margin < 1; got {margin!r}")
    if kind not in ("finite", "gap", "interval"):
        raise ParameterError(f"kind must be finite, gap or interval; got {kind!r}")
    if (kind == "gap") != (reversible is not None):
        raise ParameterError(
            "a class of kind gap must say whether its chains are reversible (True or False); other kinds "
            "do not ask"
        )
    if cohort_is_public == (epsilon is not None) or (epsilon is None) != (transitions_per_person is None):
        raise ParameterError(
            "a class tells something about its cohort: say that the cohort is public, or give epsilon and "
            "transitions_per_person, and it will be differentially private for each of its people"
        )
    declared = _declared_states(people, states, private=epsilon is not None)
    if epsilon is None or transitions_per_person is None:
        pooled, starts, each = _public_counts(people)
        origin = f"estimated from a public cohort of {len(people)} people with a margin of {margin:g}"
    else:
        pooled, starts = _private_counts(people, len(declared), epsilon, transitions_per_person, seed)
        each = []
        origin = (
            f"estimated with a margin of {margin:g} from a cohort whose people are each protected by "
            f"differential privacy with epsilon = {epsilon:g} (a person added or removed, "
            f"{transitions_per_person:,} transitions of each)"
        )
        if seed is not None:
            origin += f"; SEEDED: NOT PRIVATE (seed {seed})"
    common = _rows(pooled + 1 / len(declared))
    matrices = [common, *(_rows(counts + _LEAN * common) for counts in each)]
    if kind == "finite":
        return _finite(declared, origin, matrices, starts, margin)
    if kind == "gap":
        return _gap(declared, origin, matrices, margin, bool(reversible))
    lower = np.min(matrices, axis=0) * (1 - margin)
    upper = np.minimum(np.max(matrices, axis=0) * (1 + margin), 1.0)
    return IntervalChains(states=declared, origin=origin, lower=lower, upper=np.maximum(upper, lower))


def _declared_states(
    people: Sequence[StateSequence], states: StateSpace | None, *, private: bool
) -> StateSpace:
    """The states all people share. Under differential privacy whether there is anybody must not show."""
    if states is None and private:
        raise ParameterError("a class with epsilon needs the declared states: give states=")
    if states is None and not people:
        raise InputError("the cohort holds nobody; a class can also be declared by hand")
    declared = people[0].states if states is None else states
    if any(person.states != declared for person in people):
        raise InputError("all people of the cohort must have the same declared states")
    return declared


_LEAN = 20.0
"""A person's chain leans on the pooled one with as much weight as this many of its own transitions a row."""


def _rows(counts: Array) -> Array:
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _public_counts(people: Sequence[StateSequence]) -> tuple[Array, Array, list[Array]]:
    each = [person.transitions().matrix().astype(np.float64) for person in people]
    starts = np.sum([_start_of(person) for person in people], axis=0)
    return np.sum(each, axis=0), starts, each


def _start_of(person: StateSequence) -> npt.NDArray[np.int64]:
    found = np.zeros(len(person.states), dtype=np.int64)
    if person.positions[0] >= 0:
        found[person.positions[0]] = 1
    return found


def _private_counts(
    people: Sequence[StateSequence], k: int, epsilon: float, most: int, seed: int | None
) -> tuple[Array, Array]:
    """Pooled counts of first states and transitions with noise: a person moves them by most + 1 at most."""
    epsilon = check_epsilon(epsilon)
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ParameterError(f"transitions_per_person must be a whole number >= 1; got {most!r}")
    total = np.zeros(k + k * k, dtype=np.int64)
    for person in people:
        pairs = np.stack([person.positions[:-1], person.positions[1:]])
        kept = pairs[:, (pairs >= 0).all(axis=0)][:, :most]
        total[:k] += _start_of(person)
        total[k:] += np.bincount(kept[0] * k + kept[1], minlength=k * k)
    scale = float(np.nextafter((most + 1) / epsilon, np.inf))
    noisy = np.maximum(noisy_integers(total, scale, Entropy.choose(seed)), 0).astype(np.float64)
    return noisy[k:].reshape(k, k), noisy[:k]


def _finite(
    states: StateSpace, origin: str, matrices: Sequence[Array], starts: Array, margin: float
) -> FiniteChains:
    k = len(states)
    initial = (starts + 1 / k) / (starts.sum() + 1)
    slower = [(1 - margin) * matrix + margin * np.eye(k) for matrix in matrices] if margin > 0 else []
    models = tuple(Model(matrix, initial) for matrix in [*matrices, *slower])
    return FiniteChains(states=states, origin=origin, models=models)


def _gap(
    states: StateSpace, origin: str, matrices: Sequence[Array], margin: float, reversible: bool
) -> GapChains:
    least, gap = 1 / len(states), 1.0
    for matrix in matrices:
        pi = Model(matrix).start
        flow = pi[:, None] * matrix
        if reversible:
            flow = (flow + flow.T) / 2
        root = np.sqrt(pi)
        even = flow / root[:, None] / root[None, :]
        second = float(np.linalg.svd(even, compute_uv=False)[1])
        least = min(least, float(pi.min()))
        gap = min(gap, 1 - second if reversible else 1 - second**2)
    if not gap > 0:
        raise InputError(
            "a chain of this cohort never forgets by this measure (a gap of 0); use kind finite instead"
        )
    return GapChains(
        states=states,
        origin=origin,
        least_probability=least * (1 - margin),
        eigengap=gap * (1 - margin),
        reversible=reversible,
    )
