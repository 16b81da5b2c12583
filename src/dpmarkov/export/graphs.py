"""networkx and GraphML: states are nodes, transitions are weighted edges."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx

from dpmarkov.errors import ParameterError
from dpmarkov.export.chains import chain_of
from dpmarkov.whole import check_free, write_whole

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["to_networkx", "write_graphml"]


def to_networkx(release: "Release", *, least: float = 0.0) -> "nx.DiGraph":
    """A directed graph with the attribute `probability` on edges and `label` on nodes.

    Parameters
    ----------
    release
        A release of a Markov chain.
    least
        Leave out transitions with a smaller probability.
    """
    if not 0 <= least <= 1:
        raise ParameterError(f"least must be a number with 0 <= least <= 1; got {least!r}")
    chain = chain_of(release)
    states = release.layout.target
    graph = nx.DiGraph()
    graph.add_nodes_from((s, {"label": label}) for s, label in zip(states, states.labels, strict=True))
    block = release.layout.block("transitions")
    probabilities = release.probabilities[block.at]
    keep = (probabilities >= least) & (probabilities > 0)
    named = chain.states.states
    graph.add_weighted_edges_from(
        (
            (named[i], named[j], p)
            for i, j, p in zip(
                block.cells.row_of_cell[keep].tolist(),
                block.cells.indices[keep].tolist(),
                probabilities[keep].tolist(),
                strict=True,
            )
        ),
        weight="probability",
    )
    return graph


def write_graphml(
    release: "Release", path: str | PathLike[str], *, least: float = 0.0, overwrite: bool = False
) -> Path:
    """Write `to_networkx` as GraphML, which Gephi, yEd, igraph and Cytoscape read."""
    target = check_free(path, overwrite=overwrite)
    text = "\n".join(nx.generate_graphml(to_networkx(release, least=least)))
    write_whole(target, (text + "\n").encode())
    return target
