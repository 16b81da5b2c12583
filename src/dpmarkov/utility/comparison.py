"""What differs between two releases, in words and as plain values."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpmarkov.states import State
from dpmarkov.utility.interval import plus_minus

__all__ = ["Change", "Comparison", "Distance"]

_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """A total variation distance between the two chains.

    Attributes
    ----------
    name
        Between what.
    value
        Between the released chains.
    low, high
        Where the true distance plausibly lies.
    noise
        What noise alone may produce: a released distance below it says nothing.
    """

    name: str
    value: float
    low: float
    high: float
    noise: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change that stands out of the noise.

    Attributes
    ----------
    origin
        The from-state; None for a share of the stationary distribution.
    state
        The to-state, or the state whose share changed.
    before, after
        The released values.
    half_width
        Of the interval of the difference.
    """

    origin: State | None
    state: State
    before: float
    after: float
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What differs between two releases, and what is only noise.

    Attributes
    ----------
    distances
        Between the stationary distributions, and between rows (weighted by the stationary distribution); with
        a declared end between rows alone (weighted by their events).
    shares
        Significant changes of the long-run shares, largest first; none with a declared end.
    transitions
        Significant changes of transition probabilities, largest first.
    looked_at
        How many transitions were compared.
    left_out
        How many from-states were not, as their events do not stand out of the noise.
    level
        The level of intervals; at most 1 - level of the changes that are named are false on average.
    counted_differently
        The rules of counting that differ, before and after: what they change is no noise.
    ends
        The declared ends of sequences: there is no long run with them, and their rows are not compared.
    """

    distances: tuple[Distance, ...]
    shares: tuple[Change, ...]
    transitions: tuple[Change, ...]
    looked_at: int
    left_out: int
    level: float
    labels: tuple[str, ...]
    states: tuple[State, ...]
    counted_differently: Mapping[str, tuple[Any, Any]]
    ends: tuple[State, ...] = ()

    def _name(self, state: State) -> str:
        return self.labels[self.states.index(state)]

    def describe(self) -> str:
        """The comparison in words."""
        lines = [
            *self._warning(),
            "Distances (total variation; the true one lies within the interval at "
            f"{100 * self.level:g} %, privacy's noise alone)",
        ]
        for d in self.distances:
            verdict = "more than noise" if d.value > d.noise else "no more than noise alone may give"
            lines.append(
                f"  {d.name}: {d.value:.4f}, true one from {d.low:.4f} to {d.high:.4f}; "
                f"noise alone up to {d.noise:.4f}: {verdict}"
            )
        if self.ends:
            names = " and ".join(map(self._name, self.ends))
            text = (
                f"No long run: sequences end in {names}, as declared. Shares and that row are not compared."
            )
            lines += ["", textwrap.fill(text, 100)]
        else:
            lines += self._changes("long-run shares", self.shares, len(self.states))
        lines += self._changes("transitions", self.transitions, self.looked_at)
        if self.left_out:
            lines += [
                "",
                f"Not compared: {self.left_out:,} from-state{'s' * (self.left_out != 1)} whose events do not "
                "stand out of the noise.",
            ]
        return "\n".join(lines)

    def _changes(self, title: str, changes: tuple[Change, ...], total: int) -> list[str]:
        lines = [
            "",
            f"{len(changes):,} of {total:,} {title} changed by more than noise"
            + (
                f", the largest {min(_SHOWN, len(changes))}:"
                if changes
                else "; every other difference is noise, or too small to tell from it"
            ),
        ]
        for c in changes[:_SHOWN]:
            what = (
                self._name(c.state)
                if c.origin is None
                else f"{self._name(c.origin)} -> {self._name(c.state)}"
            )
            by = plus_minus(c.after - c.before, c.half_width)
            lines.append(f"  {what}: {c.before:.4f} to {c.after:.4f}, by {by}")
        return lines

    def _warning(self) -> list[str]:
        rules = ", ".join(
            f"{name} {' and '.join('none' if value is None else str(value) for value in pair)}"
            for name, pair in self.counted_differently.items()
        )
        text = f"Counted differently: {rules}. A difference may come from that alone, and is no noise then."
        return [textwrap.fill(text, 100), ""] if rules else []

    def to_dict(self) -> dict[str, Any]:
        """Plain values that serialise to JSON."""

        def plain(c: Change) -> dict[str, Any]:
            item: dict[str, Any] = {} if c.origin is None else {"from": c.origin}
            key = "state" if c.origin is None else "to"
            return item | {key: c.state, "before": c.before, "after": c.after, "half_width": c.half_width}

        return {
            "level": self.level,
            "counted_differently": {name: list(pair) for name, pair in self.counted_differently.items()},
            "distances": [
                {"name": d.name, "value": d.value, "low": d.low, "high": d.high, "noise": d.noise}
                for d in self.distances
            ],
            "shares": [plain(c) for c in self.shares],
            "transitions": [plain(c) for c in self.transitions],
            "transitions_compared": self.looked_at,
            "from_states_left_out": self.left_out,
            "ends": list(self.ends),
        }

    def __str__(self) -> str:
        return self.describe()
