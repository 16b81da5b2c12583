"""Units of Pufferfish privacy: a secret, and the state at one time point of a chain."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from dpmarkov.privacy.unit_base import Unit

__all__ = ["Secret", "TimePoint"]


class Described(Protocol):
    """What a unit needs to know of a class of chains: `dpmarkov.pufferfish.ChainClass` has it."""

    @property
    def text(self) -> str:
        """The class in one canonical line of JSON."""

    @property
    def in_words(self) -> str:
        """The class as a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret(Unit):
    """One fact among facts that give each other away: Pufferfish privacy (Kifer and Machanavajjhala).

    The two cases that must not be told apart are the data that follow when the fact is one way, and when it
    is another, under any distribution of a declared class.

    Parameters
    ----------
    in_words
        The declared class as a sentence.
    secrets
        What is hidden, as a phrase.
    """

    name: ClassVar[str] = "secret"
    in_words: str
    secrets: str

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        return (
            f"{self.secrets} is one way or another, and the rest of the data follows from it under a "
            f"distribution of the declared class: {self.in_words} (Pufferfish)"
        )

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        return f"{self.secrets}, although other facts in the data depend on it"

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        return "facts that are no single secret; dependence that the declared class does not admit"

    @property
    def notion(self) -> str:
        """The notion of privacy that the guarantee is given in."""
        return "Pufferfish privacy"

    @property
    def from_whom(self) -> str:
        """Against which observers the guarantee holds."""
        return (
            "anybody whose belief about the data before the release lies in the declared class; not somebody "
            "who knows other parts of the data already"
        )

    @property
    def scope(self) -> str:
        """What the guarantee says about further releases."""
        return (
            "this release alone: Pufferfish guarantees do not add up by themselves; for several releases "
            "under one class, dpmarkov.pufferfish.joint_epsilon says what is proven"
        )

    def to_dict(self) -> dict[str, Any]:
        """The unit as it stands in `release.json`."""
        return {"name": self.name, "in_words": self.in_words, "secrets": self.secrets}


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePoint(Secret):
    """The state of one person at one time point, when neighbouring time points give each other away.

    Parameters
    ----------
    theta
        The declared class of chains that the person's data may follow; it is kept as plain data.
    in_words
        The class as a sentence; taken from `theta`.
    secrets
        What is hidden, as a phrase.
    """

    name: ClassVar[str] = "timepoint"
    theta: Described | Mapping[str, Any] | str = field(kw_only=False)
    in_words: str = ""
    secrets: str = "the state at any single time point"

    def __post_init__(self) -> None:
        theta = self.theta
        if not isinstance(theta, str):
            if isinstance(theta, Mapping):
                text, words = _canonical(theta), self.in_words
            else:
                text, words = theta.text, theta.in_words
            object.__setattr__(self, "theta", text)
            object.__setattr__(self, "in_words", words)

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        return (
            f"{self.secrets} is one declared state or any other, and all other points follow from it as in a "
            f"chain of the declared class: {self.in_words} (Pufferfish)"
        )

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        return f"{self.secrets}, although the points around it depend on it"

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        return (
            "the number of people, of time points and the gaps; how often the states occur over the whole "
            "time; long stretches of time, and several time points together; dependence that the declared "
            "class does not admit"
        )

    def to_dict(self) -> dict[str, Any]:
        """The unit as it stands in `release.json`."""
        return {
            "name": self.name,
            "theta": json.loads(str(self.theta)),
            "in_words": self.in_words,
            "secrets": self.secrets,
        }


def _canonical(data: Mapping[str, Any]) -> str:
    return json.dumps(dict(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
