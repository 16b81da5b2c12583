"""What the figures and the page ask of a release, worked out once: labels, chain, long run."""

import functools
import unicodedata
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmarkov.chain import MarkovChain
from dpmarkov.errors import ChainError, ParameterError
from dpmarkov.releases import Release
from dpmarkov.releases.describe import declared_end
from dpmarkov.states import StateSpace
from dpmarkov.support import Support

__all__ = ["SHOWN_STATES", "Look", "display_labels", "look_at"]

Array = npt.NDArray[np.float64]

SHOWN_STATES = 300
"""A picture of more states than this can no longer be read; the ones with the largest share are shown."""

_LABEL_LENGTH = 40


def display_labels(space: StateSpace) -> tuple[str, ...]:
    """A short, visible and distinct name for each state, as plain text (not escaped).

    Labels are arbitrary strings: control characters and what cannot be written as UTF-8 are replaced, long
    ones are cut, blank ones give way to the state, and equal ones get the state in brackets.
    """
    names = [_visible(label) or _visible(str(s)) for s, label in zip(space.states, space.labels, strict=True)]
    cut = [name if len(name) <= _LABEL_LENGTH else name[: _LABEL_LENGTH - 1] + "…" for name in names]
    seen: dict[str, int] = {}
    for name in cut:
        seen[name] = seen.get(name, 0) + 1
    named = [
        name if name and seen[name] == 1 else f"{name or 'blank'} ({_visible(str(state))[:_LABEL_LENGTH]})"
        for name, state in zip(cut, space.states, strict=True)
    ]
    if len(set(named)) < len(named):
        # Different states may still look the same once cut; their place tells them apart.
        named = [f"{name} #{i + 1}" for i, name in enumerate(named)]
    return tuple(named)


def _visible(text: str) -> str:
    readable = text.encode("utf-8", "replace").decode("utf-8")
    return "".join("\ufffd" if unicodedata.category(c) in _HIDDEN else c for c in readable).strip()


_HIDDEN = ("Cc", "Cf", "Co", "Zl", "Zp")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """A release seen from outside.

    Parameters
    ----------
    labels, row_labels
        Display names of the to-states and of the from-states.
    cells, probabilities
        The transitions: their geometry, and one probability for each cell.
    chain
        The Markov chain; `None` where the release is no chain.
    shares
        The long-run share of each to-state; for a single distribution, that distribution. `None` where there
        is no single one.
    no_shares
        Why there is none, in words.
    end
        The position of the declared end of sequences, whose row is noise; `None` where there is none.
    """

    labels: tuple[str, ...]
    row_labels: tuple[str, ...]
    cells: Support
    probabilities: Array
    chain: MarkovChain | None
    shares: Array | None
    no_shares: str
    end: int | None = None

    def need_chain(self, question: str) -> MarkovChain:
        """The chain, or an error that says why `question` has no answer."""
        if self.chain is None:
            raise ChainError(
                f"{question} needs a Markov chain, with the same from-states and to-states; this release "
                "is not one"
            )
        return self.chain

    def need_shares(self, question: str) -> Array:
        """The long-run shares, or an error that says why `question` has no answer."""
        if self.shares is None:
            raise ChainError(f"{question} needs a single long-run distribution: {self.no_shares}")
        return self.shares

    def largest(self, count: int) -> npt.NDArray[np.int64]:
        """The positions of the `count` to-states with the largest share, largest first."""
        if self.shares is None:
            return np.arange(min(count, len(self.labels)))
        return np.argsort(-self.shares, kind="stable")[:count]


@functools.lru_cache(maxsize=1)
def look_at(release: Release) -> Look:
    """The look at `release`; the last one is kept, since every figure of a report needs it."""
    layout = release.layout
    if layout.groups is not None:
        raise ParameterError(
            f"this release holds {len(layout.groups)} groups, each a chain of its own: look at one, such as "
            f"release.of({layout.groups.states[0]!r})"
        )
    block = layout.block("transitions")
    probabilities = release.probabilities[block.at]
    labels = display_labels(layout.target)
    chain, shares, why = None, None, ""
    if layout.source is None:
        rows: tuple[str, ...] = ()
        shares = release.transition_matrix[0]
    else:
        rows = labels if layout.is_chain else display_labels(layout.source)
        why = "from-states and to-states differ, so nothing settles"
    end = declared_end(release)
    if layout.is_chain:
        chain = release.chain
    if end is not None:
        why = f"sequences end in {labels[end]}, the declared end, and its row holds nothing but noise"
    elif chain is not None:
        try:
            shares = chain.stationary_distribution
        except ChainError as error:
            why = str(error)
    return Look(
        labels=labels,
        row_labels=rows,
        cells=block.cells,
        probabilities=probabilities,
        chain=chain,
        shares=shares,
        no_shares=why,
        end=end,
    )
