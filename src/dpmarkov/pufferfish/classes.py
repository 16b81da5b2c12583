"""Theta: the declared, public class of Markov chains that a person's data may follow.

A class says what an observer may plausibly believe about the person before seeing the release. The larger
the class, the stronger the protection and the more noise it needs. It is declared, never read off the
person's own data.

- `GapChains`: every chain whose stationary probabilities are all >= pi and whose eigengap is >= g, with any
  distribution of the first time point (Wang, Song and Chaudhuri, Condition 4.6).
- `IntervalChains`: every chain whose transition probabilities lie between given bounds, at every step anew.
- `FiniteChains`: a list of chains; each with its own start, or stationary; each may vary with time.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError, ReleaseFormatError
from dpmarkov.pufferfish.model import Model
from dpmarkov.states import State, StateSpace
from dpmarkov.whole import write_whole

__all__ = ["ChainClass", "FiniteChains", "GapChains", "IntervalChains", "load_theta", "theta_from_dict"]

Array = npt.NDArray[np.float64]

FORMAT = "dpmarkov theta"
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChainClass:
    """Base of the classes: all chains on `states` that a subclass admits.

    Parameters
    ----------
    states
        The declared states of the data.
    origin
        Where the class comes from, in words, for the record.
    """

    kind: ClassVar[str] = ""
    states: StateSpace
    origin: str = ""

    @property
    def in_words(self) -> str:
        """The class as a sentence."""
        raise ParameterError("a bare ChainClass holds no chains: use GapChains, IntervalChains, FiniteChains")

    def to_dict(self) -> dict[str, Any]:
        """The class as it stands in `theta.json`."""
        data = {"format": FORMAT, "kind": self.kind, "states": self.states.to_dict()}
        return {**data, "origin": self.origin} if self.origin else data

    @property
    def text(self) -> str:
        """The class in one canonical line of JSON: two classes are the same when these are."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the class to a JSON file."""
        target = Path(path)
        write_whole(target, (json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n").encode())
        return target

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChainClass) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.in_words


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GapChains(ChainClass):
    """All chains with stationary probabilities >= `least_probability` and eigengap >= `eigengap`.

    Parameters
    ----------
    states
        The declared states.
    least_probability
        pi: no state's long-run share is below it; 0 < pi <= 1 / number of states.
    eigengap
        g, 0 < g <= 1. For reversible chains: one minus the second largest modulus of an eigenvalue. For
        others: the same of P P*, where P* is the chain run backwards (the multiplicative reversibilisation).
    reversible
        Whether the class holds reversible chains only. It must be said: the bound for reversible chains is
        false for others, whatever their eigenvalues.
    """

    kind: ClassVar[str] = "gap"
    least_probability: float
    eigengap: float
    reversible: bool

    def __post_init__(self) -> None:
        k = len(self.states)
        pi, g = _number("least_probability", self.least_probability), _number("eigengap", self.eigengap)
        if not 0 < pi <= 1 / k:
            raise ParameterError(
                f"least_probability must be > 0 and at most 1/{k} for {k} states; got {pi:g}. A state "
                "with stationary probability 0 cannot be protected by this class"
            )
        if not 0 < g <= 1:
            raise ParameterError(
                f"eigengap must be > 0 and <= 1; got {g:g}. With a gap of 0 (a periodic or reducible chain, "
                "or a non-reversible one such as de Bruijn's) the past never fades: list the chains in "
                "FiniteChains, or protect all time points as one group"
            )
        if not isinstance(self.reversible, bool):
            raise ParameterError(f"reversible must be True or False; got {self.reversible!r}")
        object.__setattr__(self, "least_probability", pi)
        object.__setattr__(self, "eigengap", g)

    @property
    def in_words(self) -> str:
        """The class as a sentence."""
        gap = "eigengap" if self.reversible else "eigengap of P P*"
        sort = "reversible chain" if self.reversible else "chain, reversible or not,"
        return (
            f"any {sort} on {len(self.states)} states whose long-run shares are all at least "
            f"{self.least_probability:g} and whose {gap} is at least {self.eigengap:g}, from any start"
        )

    def to_dict(self) -> dict[str, Any]:
        """The class as it stands in `theta.json`."""
        return {
            **ChainClass.to_dict(self),
            "least_probability": self.least_probability,
            "eigengap": self.eigengap,
            "reversible": self.reversible,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IntervalChains(ChainClass):
    """All chains whose step probabilities lie between `lower` and `upper`, from any start.

    The matrix may be another one at every step.

    Parameters
    ----------
    states
        The declared states.
    lower, upper
        Bounds of each transition probability, as matrices; every lower bound > 0.
    """

    kind: ClassVar[str] = "interval"
    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        k = len(self.states)
        low, high = (_matrix(name, getattr(self, name), k) for name in ("lower", "upper"))
        if np.any(low <= 0) or np.any(high > 1) or np.any(low > high):
            raise ParameterError(
                "an interval class needs 0 < lower <= upper <= 1 in every entry: with a lower bound of 0 "
                "one step may tell everything. Raise the bounds, or list the chains in FiniteChains"
            )
        if np.any(low.sum(axis=1) > 1 + _ROUNDING) or np.any(high.sum(axis=1) < 1 - _ROUNDING):
            raise ParameterError(
                "no stochastic matrix fits: each row of lower must sum to at most 1, of upper to at least 1"
            )
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    @property
    def in_words(self) -> str:
        """The class as a sentence."""
        return (
            f"any chain on {len(self.states)} states, from any start, whose step probabilities stay within "
            f"declared bounds (entries between {self.lower.min():.3g} and {self.upper.max():.3g}) and may "
            "change from step to step"
        )

    def to_dict(self) -> dict[str, Any]:
        """The class as it stands in `theta.json`."""
        return {
            **ChainClass.to_dict(self),
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteChains(ChainClass):
    """A list of chains, any of which may be the truth.

    Parameters
    ----------
    states
        The declared states of the data.
    models
        The chains, on as many inner states each.
    emits
        For each inner state of the models, the declared state that is seen in it; by default inner states
        and declared states are the same. Inner states that carry their age make durations of any shape
        (see `dpmarkov.pufferfish.semi_markov`).
    """

    kind: ClassVar[str] = "finite"
    models: tuple[Model, ...]
    emits: tuple[State, ...] | None = None

    def __post_init__(self) -> None:
        models = tuple(self.models)
        if not models:
            raise ParameterError("a finite class needs at least one chain; got none")
        emits = self.states.states if self.emits is None else tuple(self.emits)
        positions = {self.states.index(state) for state in emits}
        if len(positions) != len(self.states):
            raise ParameterError("every declared state must be seen in at least one inner state")
        for n, model in enumerate(models, start=1):
            if model.n_states != len(emits):
                raise ParameterError(
                    f"model {n} has {model.n_states} states; the class has {len(emits)} inner states"
                )
        lengths = {model.length for model in models if model.length is not None}
        if len(lengths) > 1:
            raise ParameterError(
                f"models that vary with time must have one length; got {', '.join(map(str, sorted(lengths)))}"
            )
        object.__setattr__(self, "models", models)
        object.__setattr__(self, "emits", None if emits == self.states.states else emits)

    @property
    def inner_states(self) -> tuple[State, ...]:
        """The declared state that is seen in each inner state."""
        return self.states.states if self.emits is None else self.emits

    @property
    def length(self) -> int | None:
        """The number of time points, where a model that varies with time fixes it."""
        return next((model.length for model in self.models if model.length is not None), None)

    @property
    def in_words(self) -> str:
        """The class as a sentence."""
        starts = sum(model.initial is None for model in self.models)
        varying = sum(model.length is not None for model in self.models)
        parts = [f"one of {len(self.models)} declared chains on {len(self.states)} states"]
        if self.emits is not None:
            parts.append(f"with {len(self.inner_states)} inner states")
        parts.append(
            "in their long-run state"
            if starts == len(self.models)
            else "each from its declared start" + (f" ({starts} in the long-run state)" if starts else "")
        )
        if varying:
            parts.append(f"{varying} of them varying with time over {self.length} points")
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """The class as it stands in `theta.json`."""
        data = {**ChainClass.to_dict(self), "models": [model.to_dict() for model in self.models]}
        if self.emits is not None:
            data["emits"] = list(self.emits)
        return data


def theta_from_dict(data: Mapping[str, Any]) -> ChainClass:
    """The class that `to_dict` wrote."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise ReleaseFormatError('this is no class of chains: its "format" is not "dpmarkov theta"')
    try:
        states = StateSpace.from_dict(data["states"])
        kind, origin = data["kind"], str(data.get("origin", ""))
        if kind == "gap":
            if "reversible" not in data:
                raise ParameterError(
                    'a class of kind "gap" must say whether it is "reversible" (true or false)'
                )
            return GapChains(
                states=states,
                origin=origin,
                least_probability=data["least_probability"],
                eigengap=data["eigengap"],
                reversible=data["reversible"],
            )
        if kind == "interval":
            return IntervalChains(states=states, origin=origin, lower=data["lower"], upper=data["upper"])
        if kind == "finite":
            models = tuple(Model.from_dict(entry) for entry in data["models"])
            emits = data.get("emits")
            inner = None if emits is None else tuple(emits)
            return FiniteChains(states=states, origin=origin, models=models, emits=inner)
    except (KeyError, TypeError, AttributeError) as error:
        raise ReleaseFormatError(
            f"the class of chains cannot be read: {type(error).__name__} {error}"
        ) from None
    raise ReleaseFormatError(f"unknown kind of class {kind!r}; this version knows gap, interval and finite")


def load_theta(path: str | PathLike[str]) -> ChainClass:
    """Read the class from the JSON file that `ChainClass.save` or `dpmarkov theta estimate` wrote."""
    source = Path(path)
    try:
        data = json.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReleaseFormatError(f"{source} cannot be read: {error.strerror}") from None
    except ValueError:
        raise ReleaseFormatError(f"{source} is not JSON") from None
    return theta_from_dict(data)


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise ParameterError(f"{name} must be a finite number; got {value!r}")
    return float(value)


def _matrix(name: str, value: object, k: int) -> Array:
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a matrix of numbers") from None
    if matrix.shape != (k, k) or not np.all(np.isfinite(matrix)):
        raise ParameterError(f"{name} must be {k} x {k} finite numbers; got shape {matrix.shape}")
    matrix.flags.writeable = False
    return matrix
