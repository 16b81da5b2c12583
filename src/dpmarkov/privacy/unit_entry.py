"""The unit of a stochastic matrix that is itself the sensitive data: two entries of a row."""

import operator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.unit_base import Unit

__all__ = ["Entry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Unit):
    """Two entries of a row of a sensitive stochastic matrix (Gohari et al., Fallin et al.).

    The matrix, vector or collection of vectors is itself the sensitive data. A vector is a matrix of one row;
    for an average, the rows are the vectors that are averaged.

    Parameters
    ----------
    b
        By how much, in L1 norm, a row may differ: a mass of at most b/2 moves from one entry to another.
        0 < b <= 2.
    rows
        `"one"`: one row differs. `"all"`: every row may differ, each in two entries of its own.
    among
        The index set W: column positions of the entries that may differ, one list for every row or one list
        for each row. By default any entry may differ, apart from known zeros.
    """

    name: ClassVar[str] = "entry"
    b: float
    rows: Literal["one", "all"] = "one"
    among: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.b, bool) or not isinstance(self.b, int | float) or not 0 < self.b <= 2:
            raise ParameterError(f"b must be a number with 0 < b <= 2; got {self.b!r}")
        object.__setattr__(self, "b", float(self.b))
        if self.rows not in ("one", "all"):
            raise ParameterError(f"rows must be 'one' or 'all'; got {self.rows!r}")
        if self.among is not None:
            object.__setattr__(self, "among", _index_sets(self.among))

    @property
    def relation_in_words(self) -> str:
        """How two neighbouring data sets differ."""
        which = "in one row" if self.rows == "one" else "in every row"
        where = "" if self.among is None else " of the declared index set"
        return (
            f"{which}, two entries{where} differ: a mass of at most b/2 = {self.b / 2:g} moves from one to "
            f"the other (L1 distance at most {self.b:g})"
        )

    @property
    def protects(self) -> str:
        """What an observer of the release cannot tell."""
        which = "one row" if self.rows == "one" else "every row at once"
        return (
            f"which of two versions of {which} is the true one, if they are a shift of {self.b / 2:g} apart"
        )

    @property
    def leaves_open(self) -> str:
        """What this unit does not protect, in words."""
        kept = "the known zeros and the number of rows"
        if self.among is not None:
            kept += ", every entry outside the index set"
        return f"differences larger than b; {kept}"

    def to_dict(self) -> dict[str, Any]:
        """The unit as it stands in `release.json`."""
        data: dict[str, Any] = {"name": self.name, "b": self.b, "rows": self.rows}
        if self.among is not None:
            data["among"] = [list(positions) for positions in self.among]
        return data


def _index_sets(among: Any) -> tuple[tuple[int, ...], ...]:
    """Index sets as sorted tuples: one for every row, or one for each row."""
    listed = list(among)
    sets = [listed] if listed and all(isinstance(at, int | np.integer) for at in listed) else listed
    found: list[tuple[int, ...]] = []
    for positions in sets:
        try:
            row = tuple(sorted({operator.index(at) for at in positions}))
        except TypeError:
            raise ParameterError("among must hold column positions, whole numbers from 0") from None
        if len(row) < 2 or row[0] < 0:
            raise ParameterError("an index set must hold at least two column positions, counted from 0")
        found.append(row)
    if not found:
        raise ParameterError("among must hold at least one index set; leave it out for all entries")
    return tuple(found)
