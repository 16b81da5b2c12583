"""The layout: the public shape of a count table and of the release that is made from it.

Rows are from-states (one single row when there is no from-state: a private distribution), columns are
to-states, and the support says which cells exist. A layout may hold the same rows for several groups (one
chain for each hour of the day), a row for each group's starts (where sequences begin) and a row for its
lengths. All rows stand one below the other in `cells`, in this order::

    transitions of the first group, of the second, ...     one row for each from-state
    starts of the first group, of the second, ...          one row each
    lengths of the first group, of the second, ...         one row each

so that whatever has one value for each cell (counts, noise, probabilities) is one flat array over `cells`,
and `blocks` says which part of it is what. Rows, order and size of whatever is written depend on the layout
alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpmarkov.errors import ReleaseFormatError, StateSpaceError
from dpmarkov.states import State, StateSpace
from dpmarkov.support import Support, check_cells

__all__ = ["Block", "BlockKind", "Layout"]

BlockKind = Literal["transitions", "starts", "lengths"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One part of a layout's cells: the transitions, the starts or the lengths of one group.

    Parameters
    ----------
    kind
        What its rows are.
    group
        The group, or None where there are no groups.
    first_row
        Its first row in `Layout.cells`.
    at
        Where its cells lie in a flat array over `Layout.cells`.
    cells
        Its own geometry, with rows counted from 0.
    """

    kind: BlockKind
    group: State | None
    first_row: int
    at: slice
    cells: Support

    @property
    def rows(self) -> slice:
        """Where its rows lie in an array with one value for each row of `Layout.cells`."""
        return slice(self.first_row, self.first_row + self.cells.n_rows)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Layout:
    """State spaces, support and parts: everything that is public about the shape.

    Parameters
    ----------
    target
        The to-states: the columns.
    source
        The from-states: the rows. `None` makes one row, a single distribution over `target`.
    support
        The cells that exist in one group's transitions; `None` for all of them.
    groups
        The groups, each with transitions (and starts, and lengths) of its own.
    starts
        Whether there is a row for the state that sequences start with.
    lengths
        The lengths of sequences, as a state space of integers; the last one stands for longer ones too.
    """

    target: StateSpace
    source: StateSpace | None
    groups: StateSpace | None
    starts: bool
    lengths: StateSpace | None
    allowed: Support
    cells: Support
    blocks: tuple[Block, ...]

    def __init__(
        self,
        *,
        target: StateSpace,
        source: StateSpace | None = None,
        support: Support | None = None,
        groups: StateSpace | None = None,
        starts: bool = False,
        lengths: StateSpace | None = None,
    ) -> None:
        n_rows = 1 if source is None else len(source)
        allowed = Support.full(n_rows, len(target)) if support is None else support
        if (allowed.n_rows, allowed.n_columns) != (n_rows, len(target)):
            raise StateSpaceError(
                f"the support is for {allowed.n_rows} x {allowed.n_columns} states, the state spaces have "
                f"{n_rows} x {len(target)}"
            )
        if lengths is not None and lengths.states != tuple(range(1, len(lengths) + 1)):
            raise StateSpaceError("lengths must be the integers from 1 up to the longest that is told apart")
        parts: list[tuple[BlockKind, Support]] = [("transitions", allowed)]
        if starts:
            parts.append(("starts", Support.full(1, len(target))))
        if lengths is not None:
            parts.append(("lengths", Support.full(1, len(lengths))))
        if groups is not None:
            check_cells(
                len(groups) * sum(cells.n_cells for _, cells in parts),
                f"{len(groups):,} groups of {n_rows:,} x {len(target):,} states",
            )
        blocks: list[Block] = []
        row = cell = 0
        for kind, cells in parts:
            for group in (None,) if groups is None else groups.states:
                at = slice(cell, cell + cells.n_cells)
                blocks.append(Block(kind=kind, group=group, first_row=row, at=at, cells=cells))
                row, cell = row + cells.n_rows, at.stop
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "starts", starts)
        object.__setattr__(self, "lengths", lengths)
        object.__setattr__(self, "allowed", allowed)
        object.__setattr__(self, "cells", allowed if len(blocks) == 1 else _stacked(blocks))
        object.__setattr__(self, "blocks", tuple(blocks))

    @classmethod
    def square(cls, states: StateSpace, support: Support | None = None) -> "Layout":
        """A Markov chain on `states`."""
        return cls(target=states, source=states, support=support)

    @property
    def is_chain(self) -> bool:
        """Whether from-states and to-states are the same, so that the matrix is a Markov chain."""
        return self.source is not None and self.source.states == self.target.states

    @property
    def n_groups(self) -> int:
        """Number of groups; 1 where there are none."""
        return 1 if self.groups is None else len(self.groups)

    def block(self, kind: BlockKind, group: State | None = None) -> Block:
        """The part of `kind` of one group; `group` is None where there are no groups."""
        for block in self.blocks:
            if block.kind == kind and block.group == group:
                return block
        if all(block.kind != kind for block in self.blocks):
            raise StateSpaceError(f"there is no row of {kind} here; it is released with sequences, on demand")
        if self.groups is None:
            raise StateSpaceError(f"there are no groups here; got {group!r}")
        if group is None:
            raise StateSpaceError(f"there are {len(self.groups)} groups; name one of {self.groups}")
        self.groups.index(group)
        raise StateSpaceError(f"there is no row of {kind} for group {group!r}")

    def of_group(self, group: State) -> "Layout":
        """The layout of a single group, without the others."""
        self.block("transitions", group)
        return Layout(
            target=self.target,
            source=self.source,
            support=self.allowed,
            starts=self.starts,
            lengths=self.lengths,
        )

    def to_dict(self) -> dict[str, Any]:
        """The layout as it stands in `release.json`; a support lists column positions for each row."""
        data: dict[str, Any] = {"to": self.target.to_dict()}
        if self.is_chain:
            data["from"] = "same as to"
        elif self.source is not None:
            data["from"] = self.source.to_dict()
        if not self.allowed.is_full:
            rows = np.split(self.allowed.indices, self.allowed.indptr[1:-1])
            data["support"] = [row.tolist() for row in rows]
        if self.groups is not None:
            data["groups"] = self.groups.to_dict()
        if self.starts:
            data["starts"] = True
        if self.lengths is not None:
            data["lengths"] = len(self.lengths)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Layout":
        """The layout that `to_dict` wrote."""
        try:
            target = StateSpace.from_dict(data["to"])
            written = data.get("from")
            if written is None:
                source = None
            else:
                source = target if written == "same as to" else StateSpace.from_dict(written)
            support = None
            if "support" in data:
                rows = [np.asarray(row, dtype=np.int64) for row in data["support"]]
                sizes = [row.size for row in rows]
                indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
                support = Support(indptr, np.concatenate(rows), len(target))
            groups = StateSpace.from_dict(data["groups"]) if "groups" in data else None
            lengths = StateSpace.range(1, int(data["lengths"]) + 1) if "lengths" in data else None
            starts = data.get("starts", False) is True
        except (KeyError, TypeError, ValueError) as error:
            raise ReleaseFormatError(f"the states in release.json cannot be read: {error}") from None
        return cls(
            target=target, source=source, support=support, groups=groups, starts=starts, lengths=lengths
        )

    def __str__(self) -> str:
        n_rows = self.allowed.n_rows
        shape = (
            f"{n_rows:,} x {len(self.target):,} states"
            if self.source is not None
            else f"{len(self.target):,} states"
        )
        parts = [shape if self.allowed.is_full else f"{shape}, {self.allowed.n_cells:,} allowed pairs"]
        if self.groups is not None:
            parts.append(f"{len(self.groups):,} groups")
        if self.starts:
            parts.append("starts")
        if self.lengths is not None:
            parts.append(f"lengths up to {len(self.lengths):,}")
        return ", ".join(parts)


def _stacked(blocks: list[Block]) -> Support:
    """The geometry of all blocks, one below the other."""
    sizes = np.concatenate([block.cells.row_sizes for block in blocks])
    indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    indices = np.concatenate([block.cells.indices for block in blocks])
    return Support(indptr, indices, max(block.cells.n_columns for block in blocks))
