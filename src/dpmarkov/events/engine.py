"""An engine: where a table lies, and who runs the one SQL text over it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError, TableError
from dpmarkov.events.dialect import Dialect, Kind
from dpmarkov.events.expression import Expression

__all__ = ["Column", "Engine", "Query", "pick"]

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an opened table: the plain name it has in the SQL text, and what it holds."""

    sql: str
    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class Query:
    """One SQL text: named steps, and a final selection of integers."""

    steps: Mapping[str, str]
    select: str


class Engine(ABC):
    """A table that was opened, with the columns that were asked for.

    `relation` is SQL for FROM, in which those columns are called `c0`, `c1`, ... in the order asked for.
    `lines` counts the lines of CSV files, which may be more than their rows; other tables have none.
    """

    dialect: Dialect
    relation: str
    columns: list[Column]
    lines: Callable[[], int] | None = None

    @abstractmethod
    def share(self, name: str, columns: Mapping[str, Sequence[object] | Integers]) -> None:
        """Give the SQL text a small public table (states, groups, cells) under `name`."""

    def derive(self, expression: Expression) -> None:
        """Add the column that an expression computes from its row; its name is the expression's words."""
        raise ParameterError(
            f"by={expression.words!r}: an SQL expression is computed by DuckDB alone (files, tables in "
            f"memory and duckdb:///); for {self.dialect.name} write it into a view or the query, and "
            "name its column"
        )

    @abstractmethod
    def fetch(self, query: Query, *, progress: bool = False) -> list[npt.NDArray[Any]]:
        """Run a query; the columns of its answer."""

    def integers(self, query: Query, *, progress: bool = False) -> list[Integers]:
        """Run a query whose answer is made of integers."""
        columns = self.fetch(query, progress=progress)
        return [np.ma.filled(column, -1).astype(np.int64) for column in columns]

    @abstractmethod
    def close(self) -> None:
        """Let go of the connection and of temporary files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def pick(available: Mapping[str, Kind], wanted: Sequence[str], where: str) -> list[Column]:
    """The wanted columns with their plain names; an absent column is an error that lists what is there."""
    for name in wanted:
        if name not in available:
            shown = ", ".join(list(available)[:40])
            raise TableError(f"{where} has no column {name!r}; it has {shown or 'none'}")
    return [Column(f"c{i}", available[name], name) for i, name in enumerate(wanted)]
