"""One person's data: a state at each point of a regular clock, with the points at which none was seen.

In Pufferfish the number of time points, the number of people and the points without a state are public. So a
missing row, an empty state and a state that was not declared are all the same thing here: a point at which
nothing was observed. Nothing is refused or dropped because of *which* state it holds.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpmarkov.counts import TransitionCounts
from dpmarkov.errors import InputError, ParameterError
from dpmarkov.layout import Layout
from dpmarkov.states import State, StateSpace

__all__ = ["GAPS_IN_WORDS", "Gaps", "StateSequence"]

Gaps = Literal["error", "split"]

GAPS_IN_WORDS = (
    "the number of people, the number of time points and which of them carry no declared state are public "
    "and tell nothing more about the states; "
    "through such gaps the chain is taken to run on unseen, so that the points on both sides are still "
    "treated as dependent, and no transition is counted across one"
)


@dataclass(frozen=True, slots=True, eq=False)
class StateSequence:
    """States at time points 1, ..., T of a regular clock. Immutable and sensitive.

    Parameters
    ----------
    states
        The declared states.
    positions
        For each time point the position of its state in `states`, or -1 where none was observed.
    """

    states: StateSpace
    positions: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        held = np.array(self.positions)
        if held.ndim != 1 or held.size < 1 or not np.issubdtype(held.dtype, np.integer):
            raise InputError("a sequence needs at least one time point, each with a whole number")
        if held.min() < -1 or held.max() >= len(self.states):
            raise InputError(f"positions must lie between -1 (none) and {len(self.states) - 1}")
        held = held.astype(np.int64)
        held.flags.writeable = False
        object.__setattr__(self, "positions", held)

    @classmethod
    def of(
        cls,
        values: Iterable[State | None],
        *,
        states: StateSpace,
        times: Iterable[int] | None = None,
        gaps: Gaps = "error",
    ) -> "StateSequence":
        """A sequence from states and, if given, their whole-numbered times (in any order).

        Parameters
        ----------
        values
            The state at each point; None, or anything that is not declared, where none was observed.
        states
            The declared states.
        times
            The times of `values`: one apart is one step of the chain. In order by default.
        gaps
            What a time point without a declared state means. `"error"`: refuse the data. `"split"`: the
            statistic treats the stretches as separate chains, so no transition is counted across a gap; the
            protection does not: it takes the chain to run on unseen.
        """
        listed = list(values)
        found = np.array(
            [-1 if v is None or v not in states else states.index(v) for v in listed], dtype=np.int64
        )
        at = np.arange(len(listed)) if times is None else np.array(list(times))
        return cls.placed(found, at, states, gaps)

    @classmethod
    def placed(
        cls, found: npt.NDArray[np.int64], at: npt.NDArray[np.int64], states: StateSpace, gaps: Gaps
    ) -> "StateSequence":
        """A sequence from positions (-1 for none) and their times; see `of`."""
        if gaps not in ("error", "split"):
            raise ParameterError(f"gaps must be 'error' or 'split'; got {gaps!r}")
        if at.size == 0 or at.size != found.size or not np.issubdtype(at.dtype, np.integer):
            raise InputError("there must be one whole-numbered time for each state, and at least one")
        span = int(at.max()) - int(at.min()) + 1
        if np.unique(at).size < at.size:
            raise InputError("a time occurs more than once; a person has one state at a time point")
        if span > _LONGEST:
            raise InputError(
                f"the times span {span:,} steps, more than {_LONGEST:,}; say how long one step is"
            )
        positions = np.full(span, -1, dtype=np.int64)
        positions[at - at.min()] = found
        if gaps == "error" and np.any(positions < 0):
            raise InputError(
                f"{int((positions < 0).sum()):,} of {span:,} time points carry no declared state (which "
                "points do is public here). Allow it with gaps = 'split': no transition is then counted "
                "across a gap, while the protection treats both sides as dependent; or declare a state for it"
            )
        return cls(states, positions)

    def __len__(self) -> int:
        return int(self.positions.size)

    @property
    def n_observed(self) -> int:
        """The number of time points with a state: public."""
        return int((self.positions >= 0).sum())

    @property
    def n_transitions(self) -> int:
        """The number of neighbouring pairs of observed points: public."""
        seen = self.positions >= 0
        return int((seen[1:] & seen[:-1]).sum())

    def histogram(self) -> npt.NDArray[np.int64]:
        """How often each state was observed. Exact and sensitive."""
        seen = self.positions[self.positions >= 0]
        return np.bincount(seen, minlength=len(self.states)).astype(np.int64)

    def transitions(self) -> TransitionCounts:
        """How often each state followed each, between neighbouring observed points. Exact and sensitive."""
        source, target = self.positions[:-1], self.positions[1:]
        both = (source >= 0) & (target >= 0)
        k = len(self.states)
        flat = np.bincount(source[both] * k + target[both], minlength=k * k)
        return TransitionCounts(Layout.square(self.states), flat.astype(np.int64))

    def __repr__(self) -> str:
        return f"StateSequence({len(self):,} time points, {self.states}; states are sensitive and not shown)"


_LONGEST = 10**9
