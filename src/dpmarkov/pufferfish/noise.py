"""From a class, a length and a statistic to the noise that hides every secret, and back.

`plan_noise` finds the scale; `joint_epsilon` says what several noisy statistics of the same person give
away together. Both evaluate the same sum, in exact fractions: for the quilt chosen at a node,

    epsilon = e + (largest change of the statistic when the inside moves) / scale.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from dpmarkov.errors import ParameterError, UnitError
from dpmarkov.privacy.budget import check_epsilon
from dpmarkov.privacy.guarantee import Guarantee
from dpmarkov.privacy.unit import TimePoint
from dpmarkov.pufferfish.classes import ChainClass, FiniteChains, theta_from_dict
from dpmarkov.pufferfish.framework import HISTOGRAM, Secrets, Statistic, check_length
from dpmarkov.pufferfish.quilt import (
    Quilt,
    best_quilt,
    influence_of,
    least_quilt,
    score_up,
    worst_quilt,
)

__all__ = ["Noise", "joint_epsilon", "plan_noise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The noise for one statistic under one class: public, computed without the data.

    Parameters
    ----------
    statistic, theta, secrets
        What is released, under which class, hiding what.
    length
        T, the number of time points (of the longest protected chain).
    epsilon
        The Pufferfish epsilon that `scale` delivers, at most.
    scale
        The scale of the Laplace noise of each number released.
    quilt
        The quilt of the time point that needs most.
    """

    statistic: Statistic
    theta: ChainClass
    secrets: Secrets
    length: int
    epsilon: float
    scale: float
    quilt: Quilt

    @property
    def is_group_privacy(self) -> bool:
        """Whether no quilt but the empty one works, so that all time points are hidden as one group."""
        return self.quilt.is_trivial

    @property
    def entry_scale(self) -> float:
        """What entry privacy would use: it hides one point as if the others told nothing of it."""
        links = min(2, self.length - 1) if self.statistic.links else 1
        return self.statistic.lipschitz * links / self.epsilon

    @property
    def group_scale(self) -> float:
        """What group privacy needs: it hides all points at once, whatever their dependence."""
        points = self.length - 1 if self.statistic.links else self.length
        return self.statistic.lipschitz * points / self.epsilon

    def to_dict(self) -> dict[str, Any]:
        """The noise as plain values, as it stands in `release.json`."""
        return {
            "name": "markov quilt",
            "statistic": self.statistic.name,
            "noise": "laplace",
            "scale": self.scale,
            "length": self.length,
            "lipschitz": self.statistic.lipschitz,
            "links": self.statistic.links,
            "secrets": self.secrets.to_dict(),
            "quilt": str(self.quilt),
            "before": self.quilt.before,
            "after": self.quilt.after,
            "card": self.quilt.card,
            "influence": self.quilt.influence,
            "amounts_to": "group privacy" if self.is_group_privacy else "less noise than group privacy",
            "group_privacy_scale": self.group_scale,
            "entry_privacy_scale": self.entry_scale,
        }

    @classmethod
    def of(cls, made: "Released") -> "Noise":
        """The noise of a release under the unit `TimePoint`, read back from it."""
        unit, data = made.guarantee.unit, dict(made.mechanism)
        if not isinstance(unit, TimePoint) or data.get("name") != "markov quilt":
            raise UnitError(
                f"only releases under the unit timepoint compose here; this one protects a {unit.name}"
            )
        theta = theta_from_dict(json.loads(str(unit.theta)))
        statistic = Statistic(name=data["statistic"], lipschitz=data["lipschitz"], links=data["links"])
        hidden = {name: None if v is None else tuple(v) for name, v in data["secrets"].items()}
        open_sides = (data["before"] is None) + (data["after"] is None)
        quilt = Quilt(
            before=data["before"],
            after=data["after"],
            card=data["card"],
            joints=1 - open_sides if statistic.links else 0,
            influence=data["influence"],
        )
        return cls(
            statistic=statistic,
            theta=theta,
            secrets=Secrets(**hidden),
            length=data["length"],
            epsilon=made.guarantee.epsilon,
            scale=data["scale"],
            quilt=quilt,
        )

    def describe(self) -> str:
        """The noise in words, beside entry and group privacy."""
        lines = [
            f"Statistic   {self.statistic.name}, {self.length:,} time points, epsilon = {self.epsilon:g}",
            f"Theta       {self.theta.in_words}",
            f"Noise       Laplace, scale {self.scale:.6g} for each number",
            f"Quilt       {self.quilt}: {self.quilt.card:,} points inside, influence "
            f"{self.quilt.influence:.4g}",
            f"Beside it   entry privacy {self.entry_scale:.6g} (does not protect: neighbours give the point "
            f"away), group privacy {self.group_scale:.6g}",
        ]
        if self.is_group_privacy:
            lines.append(
                "Note        no smaller quilt works at this epsilon and length: this is group privacy"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


class Released(Protocol):
    """What a release under the unit `TimePoint` has: `Release` and `NoisyStatistic` do."""

    @property
    def guarantee(self) -> Guarantee:
        """What is protected."""

    @property
    def mechanism(self) -> Mapping[str, Any]:
        """The public parameters of the noise."""


def plan_noise(
    theta: ChainClass,
    lengths: int | Sequence[int],
    *,
    epsilon: float,
    statistic: Statistic = HISTOGRAM,
    secrets: Secrets | None = None,
) -> Noise:
    """The noise that hides the secrets under `theta`, by the Markov Quilt Mechanism.

    Parameters
    ----------
    theta
        The declared class.
    lengths
        T; or one T for each of several independent people.
    epsilon
        The Pufferfish epsilon.
    statistic
        What is released.
    secrets
        What is hidden; every time point of everybody by default.

    Guarantee
    ---------
    Laplace noise of this scale on each number of the statistic (discrete Laplace noise for integers) is
    epsilon-Pufferfish private: for every chain of the class, every secret time point and every two states
    that it may have, any output is at most e^epsilon times as likely given the one state as given the other.
    """
    epsilon = check_epsilon(epsilon)
    hidden = Secrets() if secrets is None else secrets
    length, nodes = _protected(theta, lengths, hidden)
    joints = 1 if statistic.links else 0
    if statistic.links and length < 2:
        raise ParameterError("a single time point has no transition; release its histogram instead")
    quilt = worst_quilt(
        influence_of(theta),
        length,
        lambda node, left, right: best_quilt(node, left, right, epsilon, joints),
        lambda quilt: quilt.score(epsilon),
        joints,
        nodes,
    )
    scale = score_up(Fraction(statistic.lipschitz) * Fraction(quilt.score(epsilon)))
    return Noise(
        statistic=statistic,
        theta=theta,
        secrets=hidden,
        length=length,
        epsilon=epsilon,
        scale=scale,
        quilt=quilt,
    )


def joint_epsilon(releases: Sequence[Noise | Released]) -> float:
    """The Pufferfish epsilon of several releases from the same data together, rounded up.

    Pufferfish privacy does not compose by itself. Here it does, because one quilt can be used for all the
    releases at once: it costs its influence once, and the change of every statistic. The least such cost is
    taken, node by node. That is never more than K times the largest epsilon when all used the same quilts,
    and usually less than their sum.

    Parameters
    ----------
    releases
        The releases, or their planned noise; all with one class, one length and the same secrets, or else
        refused: nothing is proven for them together. That they are from the same data is taken on trust.
    """
    noises = [each if isinstance(each, Noise) else Noise.of(each) for each in releases]
    if not noises:
        return 0.0
    first = noises[0]
    for other in noises[1:]:
        same = other.theta == first.theta and other.length == first.length and other.secrets == first.secrets
        if not same:
            raise ParameterError(
                "releases under different classes, lengths or secrets do not compose: no epsilon is proven "
                "for them together. Plan all of them under one class and for the same time points"
            )
    each = [Fraction(noise.statistic.lipschitz) / Fraction(noise.scale) for noise in noises]
    price = sum(each, Fraction(0))
    links = sum((p for p, noise in zip(each, noises, strict=True) if noise.statistic.links), Fraction(0))
    joints = links / price
    nodes = _nodes(first.secrets, first.length)
    quilt = worst_quilt(
        influence_of(first.theta),
        first.length,
        lambda node, left, right: least_quilt(node, left, right, price, joints),
        lambda quilt: quilt.cost(price),
        joints,
        nodes,
    )
    return score_up(quilt.cost(price))


def _protected(
    theta: ChainClass, lengths: int | Sequence[int], secrets: Secrets
) -> tuple[int, Iterable[int] | None]:
    """The longest protected chain and its secret nodes: no shorter chain needs more noise."""
    if not isinstance(theta, ChainClass):
        raise ParameterError(
            f"theta must be a class such as GapChains or FiniteChains; got {type(theta).__name__}. Read one "
            "from its file with load_theta"
        )
    every = [lengths] if isinstance(lengths, int | np.integer) else list(lengths)
    if not every:
        raise ParameterError("there must be at least one chain; got none")
    every = [check_length(length) for length in every]
    if secrets.people is not None:
        if secrets.people[-1] >= len(every):
            raise ParameterError(f"there are {len(every)} people; secrets name position {secrets.people[-1]}")
        every = [every[position] for position in secrets.people]
    length = max(every)
    if isinstance(theta, FiniteChains) and theta.length is not None and set(every) != {theta.length}:
        raise ParameterError(
            f"the class varies with time over {theta.length} points; the data have {length}: they must match"
        )
    return length, _nodes(secrets, length)


def _nodes(secrets: Secrets, length: int) -> Iterable[int] | None:
    if secrets.times is None:
        return None
    if secrets.times[0] > length:
        raise ParameterError(f"the secret time points start at {secrets.times[0]}; there are {length}")
    return [t for t in secrets.times if t <= length]
