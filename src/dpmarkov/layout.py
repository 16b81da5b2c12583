"""The layout: the public shape of a count table and of the release that is made from it.

Rows are from-states (one single row when there is no from-state: a private distribution), columns are
to-states, and the support says which cells exist. Rows, order and size of whatever is written depend on the
layout alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmarkov.errors import ReleaseFormatError, StateSpaceError
from dpmarkov.states import StateSpace
from dpmarkov.support import Support

__all__ = ["Layout"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Layout:
    """State spaces and support: everything that is public about the shape.

    Parameters
    ----------
    target
        The to-states: the columns.
    source
        The from-states: the rows. `None` makes one row, a single distribution over `target`.
    support
        The cells that exist; `None` for all of them.
    """

    target: StateSpace
    source: StateSpace | None
    cells: Support

    def __init__(
        self, *, target: StateSpace, source: StateSpace | None = None, support: Support | None = None
    ) -> None:
        n_rows = 1 if source is None else len(source)
        cells = Support.full(n_rows, len(target)) if support is None else support
        if (cells.n_rows, cells.n_columns) != (n_rows, len(target)):
            raise StateSpaceError(
                f"the support is for {cells.n_rows} x {cells.n_columns} states, the state spaces have "
                f"{n_rows} x {len(target)}"
            )
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "cells", cells)

    @classmethod
    def square(cls, states: StateSpace, support: Support | None = None) -> "Layout":
        """A Markov chain on `states`."""
        return cls(target=states, source=states, support=support)

    @property
    def is_chain(self) -> bool:
        """Whether from-states and to-states are the same, so that the matrix is a Markov chain."""
        return self.source is not None and self.source.states == self.target.states

    def to_dict(self) -> dict[str, Any]:
        """The layout as it stands in `release.json`; a support is a list of column positions for each row."""
        data: dict[str, Any] = {"to": self.target.to_dict()}
        if self.is_chain:
            data["from"] = "same as to"
        elif self.source is not None:
            data["from"] = self.source.to_dict()
        if not self.cells.is_full:
            rows = np.split(self.cells.indices, self.cells.indptr[1:-1])
            data["support"] = [row.tolist() for row in rows]
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
        except (KeyError, TypeError, ValueError) as error:
            raise ReleaseFormatError(f"the states in release.json cannot be read: {error}") from None
        return cls(target=target, source=source, support=support)

    def __str__(self) -> str:
        n_rows = self.cells.n_rows
        shape = (
            f"{n_rows:,} x {len(self.target):,} states"
            if self.source is not None
            else f"{len(self.target):,} states"
        )
        return shape if self.cells.is_full else f"{shape}, {self.cells.n_cells:,} allowed pairs"
