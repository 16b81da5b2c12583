"""The Markov Quilt Mechanism on a chain: the noise that hides every time point.

A *quilt* of the node X_i is a set of nodes that cuts it off from what is remote: {X_(i-a), X_(i+b)}, one of
them alone, or nothing. What lies inside (`card` nodes) may move with X_i as it likes; what lies outside is
touched only by what X_i tells about the quilt, its influence e. With noise of scale `score * L`,

    score = (card + joints) / (epsilon - e),

the node is hidden (Theorem 4.4): the inside shifts the statistic by at most L (card + joints). Joints is 0
for a statistic that is L-Lipschitz in each time point; for transition counts, where c changed points in a row
touch c + 1 transitions, c at an end of the chain and c - 1 when they are the whole chain, it is 1 less the
number of open sides.

Here the scores are minimised exactly. The ratio is driven down by Dinkelbach's steps: the quilt with the
least e + (card + joints) / s for the present score s gives the next one.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.budget import check_epsilon
from dpmarkov.pufferfish.classes import ChainClass, FiniteChains, GapChains, IntervalChains
from dpmarkov.pufferfish.exact import ExactInfluence
from dpmarkov.pufferfish.influence import GapInfluence, IntervalInfluence, NodeInfluence, SeparableInfluence

__all__ = [
    "Influence",
    "Quilt",
    "basic",
    "best_quilt",
    "closed_form",
    "fast",
    "influence_of",
    "least_quilt",
    "score_up",
    "worst_quilt",
]

Influence = SeparableInfluence | ExactInfluence
Score = Fraction | float
Joints = int | Fraction

_SURE = 1 - 1e-13
_ROUNDS = 100
_REACH = 2**40


@lru_cache(maxsize=4)
def influence_of(theta: ChainClass) -> Influence:
    """How influence is computed or bounded under `theta`; kept for the last few classes."""
    if isinstance(theta, GapChains):
        return GapInfluence.of(theta)
    if isinstance(theta, IntervalChains):
        return IntervalInfluence.of(theta)
    if isinstance(theta, FiniteChains):
        return ExactInfluence(theta)
    raise ParameterError(f"theta must be GapChains, IntervalChains or FiniteChains; got {theta!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quilt:
    """A quilt of one node and what it costs.

    Parameters
    ----------
    before, after
        The distances a and b of its two points; None for a side that is open up to the chain's end.
    card
        The number of nodes that it encloses.
    joints
        What transition counts add to `card`: 1 less the open sides; 0 for other statistics.
    influence
        e, an upper bound.
    """

    before: int | None
    after: int | None
    card: int
    joints: "Joints"
    influence: float

    @property
    def touched(self) -> int | Fraction:
        """By how many single changes the statistic may move: card + joints."""
        return self.card + self.joints

    def score(self, epsilon: float) -> "Score":
        """The score touched / (epsilon - e), exact; infinite where e >= epsilon."""
        if self.influence >= epsilon:
            return math.inf
        return self.touched / (Fraction(epsilon) - Fraction(self.influence))

    def cost(self, price: Fraction) -> "Score":
        """The sum e + price * touched: the epsilon of noise whose loss is `price` for each single change."""
        if self.influence == math.inf:
            return math.inf
        return Fraction(self.influence) + price * self.touched

    @property
    def is_trivial(self) -> bool:
        """Whether it encloses the whole chain: group privacy."""
        return self.before is None and self.after is None

    def __str__(self) -> str:
        if self.is_trivial:
            return "the empty quilt (the whole chain as one group)"
        sides = [f"{self.before} before"] if self.before is not None else []
        sides += [f"{self.after} after"] if self.after is not None else []
        return f"the points {' and '.join(sides)}"


def _candidates(
    influence: NodeInfluence, left: int, right: int, price: float, joints: Joints, limit: float
) -> Iterable[Quilt]:
    """The best quilt of each of the four shapes that costs less than `limit` at `price`."""
    yield Quilt(before=None, after=None, card=left + right + 1, joints=-joints, influence=0.0)
    a = influence.best_backward(left, price, limit - price * right)
    if a is not None:
        e = influence.backward(a)
        yield Quilt(before=a, after=None, card=right + a, joints=0, influence=e)
    b = influence.best_forward(right, price, limit - price * left)
    if b is not None:
        e = influence.forward(b)
        yield Quilt(before=None, after=b, card=left + b, joints=0, influence=e)
    yield from _pair(influence, left, right, price, joints, limit)


def _pair(
    influence: NodeInfluence, left: int, right: int, price: float, joints: Joints, limit: float
) -> Iterable[Quilt]:
    pair = influence.best_pair(left, right, price, limit + price * (1 - joints))
    if pair is not None:
        a, b = pair
        e = influence.both(a, b)
        yield Quilt(before=a, after=b, card=a + b - 1, joints=joints, influence=e)


def least_quilt(
    influence: NodeInfluence, left: int, right: int, price: Fraction, joints: Joints = 0
) -> Quilt:
    """The quilt with the least e + price * (card + joints), for a node with that many points on its sides."""
    whole = float(price) * (left + right + 1 - joints) * (1 + 1e-12)
    return min(
        _candidates(influence, left, right, float(price), joints, whole), key=lambda quilt: quilt.cost(price)
    )


def best_quilt(
    influence: NodeInfluence,
    left: int,
    right: int,
    epsilon: float,
    joints: Joints = 0,
) -> Quilt:
    """The quilt with the least score, for a node with `left` points before it and `right` after it.

    Algorithm 2 of the paper, corrected: a side without a point of the quilt is one whose end is reached, the
    threshold on distances holds for real nodes only, and an influence >= epsilon is passed over.
    """
    best = Quilt(before=None, after=None, card=left + right + 1, joints=-joints, influence=0.0)
    if best.touched == 0:
        return best
    near = _feasible(influence, left, right, epsilon, joints)
    if near is not None and near.score(epsilon) < best.score(epsilon):
        best = near
    for _ in range(_ROUNDS):
        found = _improved(influence, left, right, epsilon, joints, best.score(epsilon))
        if found is None:
            break
        best = found
    return best


def _improved(
    influence: NodeInfluence, left: int, right: int, epsilon: float, joints: Joints, score: Score
) -> Quilt | None:
    """A quilt whose score is below `score`, or None: the one that costs least at the price 1 / score."""
    price = float(1 / score)
    found = [
        quilt
        for quilt in _candidates(influence, left, right, price, joints, epsilon)
        if quilt.score(epsilon) < score * Fraction(_SURE)
    ]
    return min(found, key=lambda quilt: quilt.score(epsilon), default=None)


def _feasible(
    influence: NodeInfluence, left: int, right: int, epsilon: float, joints: Joints
) -> Quilt | None:
    """Some two-sided quilt with influence <= epsilon / 2, by doubling the distances."""
    room, t = min(left, right), 1
    while t <= room:
        e = influence.both(t, t)
        if e <= epsilon / 2:
            return Quilt(before=t, after=t, card=2 * t - 1, joints=joints, influence=e)
        t *= 2
    return None


def closed_form(
    influence: Influence, epsilon: float, joints: Joints = 0, reach: int = _REACH
) -> Quilt | None:
    """The best two-sided quilt of a chain without ends, or None if none works: independent of T.

    It serves every node of a chain of any length: where one of its points falls off the end, that side is
    open, the card smaller and the influence no larger; where both do, what it encloses is the whole chain.
    Only where influence does not depend on the node.
    """
    epsilon = check_epsilon(epsilon)
    node = influence.anywhere if isinstance(influence, ExactInfluence) else influence.at(1)
    best = _feasible(node, reach, reach, epsilon, joints)
    if best is None:
        return None
    for _ in range(_ROUNDS):
        score = best.score(epsilon)
        found = next(iter(_pair(node, reach, reach, float(1 / score), joints, epsilon)), None)
        if found is None or not found.score(epsilon) < score * Fraction(_SURE):
            break
        best = found
    return best


def basic(
    influence: Influence,
    length: int,
    epsilon: float,
    joints: Joints = 0,
    nodes: Iterable[int] | None = None,
) -> Quilt:
    """Algorithm 1: the best quilt of every node; of these, the one with the largest score.

    Parameters
    ----------
    influence
        From `influence_of(theta)`.
    length
        T, the number of time points.
    epsilon
        The privacy that is asked for.
    joints
        1 for transition counts, 0 for other statistics.
    nodes
        The time points that are secrets (the first is 1); all by default.
    """
    epsilon = check_epsilon(epsilon)
    chosen = range(1, length + 1) if nodes is None else nodes
    return max(
        (best_quilt(influence.at(i), i - 1, length - i, epsilon, joints) for i in chosen),
        key=lambda quilt: quilt.score(epsilon),
    )


def fast(influence: Influence, length: int, epsilon: float, joints: Joints = 0) -> Quilt:
    """Algorithm 3: from the middle node outwards, until one quilt serves all nodes on both sides.

    A best quilt with two points serves every node, and so does the empty one. One that is open to the left
    serves all nodes before it, so the walk goes right, and the reverse. Only where influence does not depend
    on the node; it then gives exactly what `basic` gives.
    """
    epsilon = check_epsilon(epsilon)
    return _from_the_middle(
        influence,
        length,
        lambda node, left, right: best_quilt(node, left, right, epsilon, joints),
        lambda quilt: quilt.score(epsilon),
    )


Pick = Callable[[NodeInfluence, int, int], Quilt]
Rank = Callable[[Quilt], Score]


def _from_the_middle(influence: Influence, length: int, pick: Pick, rank: Rank) -> Quilt:
    i, explored = (length + 1) // 2, dict[int, Quilt]()
    while i not in explored:
        quilt = pick(influence.at(i), i - 1, length - i)
        explored[i] = quilt
        if (quilt.before is None) == (quilt.after is None):
            break
        i += 1 if quilt.before is None else -1
    return max(explored.values(), key=rank)


def worst_quilt(
    influence: Influence,
    length: int,
    pick: Pick,
    rank: Rank,
    joints: Joints = 0,
    nodes: Iterable[int] | None = None,
) -> Quilt:
    """The quilt of the node that needs most, whatever the class: `pick` chooses at a node, `rank` compares.

    Where influence is the same at every node: Algorithm 3, in time that does not grow with the length once
    two-sided quilts fit. Otherwise node by node up to the horizon of the declared starts, and one bound for
    all nodes beyond it. A node that a quilt found before serves well enough is not searched again.
    """
    same = not isinstance(influence, ExactInfluence) or (influence.stationary and influence.length is None)
    if same and nodes is None:
        return _from_the_middle(influence, length, pick, rank)
    found: list[Quilt] = []
    last = length
    if isinstance(influence, ExactInfluence) and not same and influence.length is None:
        last = min(length, influence.horizon)
    if nodes is None and length > last:
        whole = Quilt(before=None, after=None, card=length, joints=-joints, influence=0.0)
        found.append(min(pick(influence.at(last + 1), _REACH, _REACH), whole, key=rank))
    # From the middle outwards: what serves there mostly serves towards the ends, too.
    for i in sorted(range(1, last + 1) if nodes is None else nodes, key=lambda i: abs(2 * i - length - 1)):
        node = influence.at(i)
        served = (_at(quilt, node, i - 1, length - i, joints) for quilt in reversed(found))
        worst = max(map(rank, found), default=None)
        if worst is None or not any(rank(q) <= worst for q in served):
            found.append(pick(node, i - 1, length - i))
    return max(found, key=rank)


def _at(quilt: Quilt, node: NodeInfluence, left: int, right: int, joints: Joints) -> Quilt:
    """The quilt moved to another node, open where its points fall off the chain."""
    a = quilt.before if quilt.before is not None and quilt.before <= left else None
    b = quilt.after if quilt.after is not None and quilt.after <= right else None
    sides = (a is None) + (b is None)
    card = (left + 1 if a is None else a) + (right + 1 if b is None else b) - 1
    if a is None:
        e = 0.0 if b is None else node.forward(b)
    else:
        e = node.backward(a) if b is None else node.both(a, b)
    return Quilt(before=a, after=b, card=card, joints=joints * (1 - sides), influence=e)


def score_up(score: Fraction | float) -> float:
    """The score as a float, rounded up."""
    value = float(score)
    return value if value == math.inf or Fraction(value) >= score else float(np.nextafter(value, np.inf))
