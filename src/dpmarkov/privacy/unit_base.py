"""What every unit of privacy says of itself."""

import operator
from dataclasses import dataclass
from typing import Any, ClassVar

from dpmarkov.errors import InputError, ParameterError

__all__ = ["Unit", "whole_number"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Base of the units; a subclass says in words what it protects."""

    name: ClassVar[str]

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        raise InputError("a bare Unit protects nothing: use Destination(), Event() or another unit")

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        raise InputError("a bare Unit protects nothing: use Destination(), Event() or another unit")

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        raise InputError("a bare Unit protects nothing: use Destination(), Event() or another unit")

    @property
    def notion(self) -> str:
        """The notion of privacy that the guarantee is given in."""
        return "differential privacy"

    @property
    def from_whom(self) -> str:
        """Against which observers the guarantee holds."""
        return "anybody who sees the release, whatever else they know and however much they compute"

    @property
    def scope(self) -> str:
        """What the guarantee says about further releases."""
        return "this release alone: releases from the same data add up"

    def to_dict(self) -> dict[str, Any]:
        """The unit as it stands in `release.json`."""
        return {"name": self.name}

    def __str__(self) -> str:
        return f"{self.name} ({self.relation_in_words})"


def whole_number(name: str, value: Any) -> int:
    """A parameter as an int >= 1."""
    if isinstance(value, bool):
        raise ParameterError(f"{name} must be a whole number >= 1; got {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise ParameterError(f"{name} must be a whole number >= 1; got {value!r}") from None
    if number < 1:
        raise ParameterError(f"{name} must be a whole number >= 1; got {value!r}")
    return number
