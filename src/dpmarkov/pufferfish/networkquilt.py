"""The Markov Quilt Mechanism on a Bayesian network (Wang, Song and Chaudhuri, section 4.2).

A quilt Q of a node leaves the nodes N that are still linked to it when Q is deleted, and the rest R; it
counts only if R is independent of the node given Q, which d-separation decides. Its influence is exact: the
conditional distributions of Q come from variable elimination in fractions.
"""

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.budget import check_epsilon
from dpmarkov.pufferfish.elimination import exact
from dpmarkov.pufferfish.framework import check_positive
from dpmarkov.pufferfish.network import BayesianNetwork
from dpmarkov.pufferfish.quilt import score_up

__all__ = ["NetworkNoise", "NetworkQuilt", "max_influence", "plan_network_noise", "quilts_of"]

Node = Hashable


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkQuilt:
    """A quilt of a node.

    Parameters
    ----------
    node
        The node that is protected.
    quilt
        The nodes that cut it off.
    nearby
        The nodes that stay linked to it, itself among them.
    """

    node: Node
    quilt: tuple[Node, ...]
    nearby: tuple[Node, ...]


def quilts_of(
    graph: nx.DiGraph,
    node: Node,
    *,
    size: int = 2,
    candidates: Iterable[Iterable[Node]] | None = None,
) -> tuple[NetworkQuilt, ...]:
    """The quilts of a node, the empty one first.

    Parameters
    ----------
    graph
        The network's graph.
    node
        The node that is protected.
    size
        Sets of up to so many nodes are tried; larger ones take longer and may need less noise.
    candidates
        Sets to try instead. Those that are no quilts are passed over; the empty set is always tried.
    """
    if node not in graph:
        raise ParameterError(f"the network has no node {node!r}")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ParameterError(f"size must be a whole number >= 0; got {size!r}")
    others = [other for other in graph if other != node]
    tried: Iterable[Iterable[Node]] = (
        itertools.chain.from_iterable(itertools.combinations(others, n) for n in range(1, size + 1))
        if candidates is None
        else candidates
    )
    skeleton = graph.to_undirected(as_view=False)
    found = []
    for given in itertools.chain([()], tried):
        quilt = tuple(given)
        if node in quilt or any(other not in graph for other in quilt):
            raise ParameterError(f"a quilt of {node!r} is a set of other nodes of the network; got {quilt!r}")
        rest = skeleton.subgraph([other for other in graph if other not in quilt])
        near = nx.node_connected_component(rest, node)
        remote = set(rest) - near
        if not remote or nx.is_d_separator(graph, {node}, remote, set(quilt)):
            nearby = tuple(other for other in graph if other in near)
            found.append(NetworkQuilt(node=node, quilt=quilt, nearby=nearby))
    return tuple(found)


def max_influence(networks: Sequence[BayesianNetwork], node: Node, quilt: Sequence[Node]) -> float:
    """The max-influence of a node on a set of nodes over a class of networks (Definition 4.2), rounded up.

    Pairs of values of which one has probability 0 do not count; it is infinite where one value of the node
    rules out what the other allows.
    """
    if not quilt:
        return 0.0
    worst = Fraction(1)
    for network in networks:
        joint = network.joint([node, *quilt])
        rows = joint.reshape(joint.shape[0], -1)
        laws = []
        for row in rows:
            total = sum(row, start=exact(0))
            if total > 0:
                laws.append([p / total for p in row])
        for one, other in itertools.permutations(laws, 2):
            for p, q in zip(one, other, strict=True):
                if p > 0 and q == 0:
                    return math.inf
                if p > 0:
                    ratio = p / q
                    worst = max(worst, Fraction(int(ratio.p), int(ratio.q)))
    return _log_up(worst)


def _log_up(ratio: Fraction) -> float:
    """The logarithm of a fraction >= 1, rounded up."""
    if ratio == 1:
        return 0.0
    high, low = math.log(ratio.numerator), math.log(ratio.denominator)
    return high - low + 4 * float(np.finfo(np.float64).eps) * (high + low + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkNoise:
    """The noise that hides every protected node of a network.

    Parameters
    ----------
    epsilon
        The Pufferfish epsilon that `scale` delivers.
    scale
        The scale of the Laplace noise.
    lipschitz
        How far the statistic may move with one node.
    quilts
        The quilt that was chosen for each protected node, with its influence.
    in_words, secrets
        The class and what is hidden, as phrases.
    """

    epsilon: float
    scale: float
    lipschitz: float
    in_words: str
    secrets: str
    quilts: Mapping[Node, tuple[NetworkQuilt, float]]

    def to_dict(self) -> dict[str, Any]:
        """The noise as plain values."""
        return {
            "epsilon": self.epsilon,
            "scale": self.scale,
            "quilts": [
                {
                    "node": str(node),
                    "quilt": [str(other) for other in quilt.quilt],
                    "card": len(quilt.nearby),
                    "influence": influence,
                }
                for node, (quilt, influence) in self.quilts.items()
            ],
        }


def plan_network_noise(
    networks: Sequence[BayesianNetwork],
    *,
    epsilon: float,
    lipschitz: float = 1.0,
    secrets: Sequence[Node] | None = None,
    size: int = 2,
    candidates: Mapping[Node, Iterable[Iterable[Node]]] | None = None,
) -> NetworkNoise:
    """The noise for a statistic that is L-Lipschitz in each node, by the Markov Quilt Mechanism.

    Parameters
    ----------
    networks
        The class: networks on one graph.
    epsilon
        The Pufferfish epsilon.
    lipschitz
        L: changing one node moves the statistic by at most L (L1 norm for a vector).
    secrets
        The protected nodes; all by default.
    size, candidates
        What quilts are tried: see `quilts_of`.

    Guarantee
    ---------
    Laplace noise of this scale is epsilon-Pufferfish private for the secrets under the class (Theorem 4.4).
    """
    epsilon, lipschitz = check_epsilon(epsilon), check_positive("lipschitz", lipschitz)
    if not networks:
        raise ParameterError("a class needs at least one network")
    graph = networks[0].graph
    for network in networks[1:]:
        if set(network.graph.edges) != set(graph.edges) or dict(network.sizes) != dict(networks[0].sizes):
            raise ParameterError("all networks of a class must have one graph and the same values")
    chosen: dict[Node, tuple[NetworkQuilt, float]] = {}
    worst = Fraction(0)
    for node in list(graph) if secrets is None else secrets:
        best: tuple[Fraction, NetworkQuilt, float] | None = None
        given = None if candidates is None else candidates.get(node, ())
        for quilt in sorted(
            quilts_of(graph, node, size=size, candidates=given), key=lambda quilt: len(quilt.nearby)
        ):
            card = Fraction(len(quilt.nearby))
            if best is not None and card / Fraction(epsilon) >= best[0]:
                continue
            influence = max_influence(networks, node, quilt.quilt)
            if influence < epsilon:
                score = card / (Fraction(epsilon) - Fraction(influence))
                if best is None or score < best[0]:
                    best = (score, quilt, influence)
        if best is not None:
            chosen[node] = (best[1], best[2])
            worst = max(worst, best[0])
    if not chosen:
        raise ParameterError("secrets must name at least one node")
    return NetworkNoise(
        epsilon=epsilon,
        scale=score_up(Fraction(lipschitz) * worst),
        lipschitz=lipschitz,
        in_words=f"one of {len(networks)} declared Bayesian networks on {len(graph)} nodes",
        secrets=f"the value of any single one of {len(chosen)} nodes",
        quilts=chosen,
    )
