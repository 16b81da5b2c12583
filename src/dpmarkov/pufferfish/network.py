"""Bayesian networks: variables that depend on each other along a directed graph."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import networkx as nx
import numpy as np
from flint import fmpq_poly

from dpmarkov.errors import ParameterError
from dpmarkov.pufferfish.elimination import Factor, exact, marginal, power

__all__ = ["BayesianNetwork"]

Node = Hashable


@dataclass(frozen=True, slots=True, eq=False)
class BayesianNetwork:
    """A network with its conditional tables, in exact fractions.

    Parameters
    ----------
    tables
        For each node its parents and its table: nested lists with one axis for each parent, in that order,
        and a last axis for the node's own values, which are 0, 1, ... along it. Probabilities are numbers,
        fractions, or text such as `"1/3"`; each row sums to one (within 1e-9, and is then scaled).

    Examples
    --------
    >>> rain = BayesianNetwork({"rain": ((), [0.8, 0.2]), "wet": (("rain",), [[0.9, 0.1], [0.2, 0.8]])})
    >>> rain.graph.edges
    OutEdgeView([('rain', 'wet')])
    """

    tables: Mapping[Node, tuple[tuple[Node, ...], Any]]
    graph: nx.DiGraph = field(init=False, repr=False)
    factors: tuple[Factor, ...] = field(init=False, repr=False)
    sizes: Mapping[Node, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.tables:
            raise ParameterError("a network needs at least one node")
        graph = nx.DiGraph()
        graph.add_nodes_from(self.tables)
        factors, sizes = [], {}
        for node, (parents, table) in self.tables.items():
            for parent in parents:
                if parent not in self.tables:
                    raise ParameterError(f"node {node!r} names the parent {parent!r}, which has no table")
                graph.add_edge(parent, node)
            factor = Factor((*parents, node), _checked(node, len(parents), table))
            factors.append(factor)
            sizes[node] = factor.table.shape[-1]
        if not nx.is_directed_acyclic_graph(graph):
            raise ParameterError("the parents form a cycle; a Bayesian network has none")
        for factor in factors:
            for parent, size in zip(factor.variables[:-1], factor.table.shape[:-1], strict=True):
                if sizes[parent] != size:
                    raise ParameterError(
                        f"the table of {factor.variables[-1]!r} has {size} entries for {parent!r}, which has "
                        f"{sizes[parent]} values"
                    )
        for name, value in (("graph", nx.freeze(graph)), ("factors", tuple(factors)), ("sizes", sizes)):
            object.__setattr__(self, name, value)

    def joint(self, nodes: Sequence[Node]) -> Any:
        """The joint distribution of `nodes` as an array of fractions."""
        return marginal(self.factors, nodes)

    def sums(self, values: Mapping[Node, Sequence[int]], node: Node) -> list[fmpq_poly]:
        """For each value of `node`: the distribution of the sum of all nodes' `values`, jointly with it.

        Parameters
        ----------
        values
            For each node that counts, what each of its values adds: whole numbers >= 0.
        node
            The node whose values are told apart.
        """
        scores = []
        for v, given in values.items():
            if v not in self.sizes or len(given) != self.sizes[v]:
                raise ParameterError(f"values of {v!r} must be one whole number for each value of that node")
            table = np.empty(len(given), dtype=object)
            for value, score in enumerate(given):
                table[value] = power(int(score))
            scores.append(Factor((v,), table))
        return list(marginal([*self.factors, *scores], [node]))

    def to_dict(self) -> dict[str, Any]:
        """The network as plain values, probabilities as text."""
        return {
            "nodes": [
                {"node": factor.variables[-1], "parents": list(factor.variables[:-1]),
                 "table": np.vectorize(str, otypes=[object])(factor.table).tolist()}
                for factor in self.factors
            ]
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "BayesianNetwork":
        """The network that `to_dict` wrote."""
        return cls({entry["node"]: (tuple(entry["parents"]), entry["table"]) for entry in data["nodes"]})


def _checked(node: Node, n_parents: int, table: Any) -> Any:
    given = np.array(table, dtype=object)
    if given.ndim != n_parents + 1 or given.shape[-1] < 1:
        raise ParameterError(
            f"the table of {node!r} must have {n_parents + 1} axes (its parents, then its own values); "
            f"got {given.ndim}"
        )
    numbers = np.empty(given.shape, dtype=object)
    for at in np.ndindex(given.shape):
        numbers[at] = exact(given[at])
        if numbers[at] < 0:
            raise ParameterError(f"the table of {node!r} holds a negative probability")
    for at in np.ndindex(given.shape[:-1]):
        total = sum(numbers[at], start=exact(0))
        if abs(float(total.p) / float(total.q) - 1) > 1e-9:
            raise ParameterError(f"each row of the table of {node!r} must sum to 1")
        numbers[at] = numbers[at] / total
    return numbers
