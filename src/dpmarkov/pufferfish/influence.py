"""How much the state at one time point tells about distant ones, by theorem: for gap and interval classes.

The *influence* of X_i on a set of nodes is the largest log ratio, over the class, over pairs of states of X_i
and over values of the set, between the probabilities of those values given the one state and given the other
(max-influence, Wang, Song and Chaudhuri, Definition 4.2). For the quilt {X_(i-a), X_(i+b)} of a chain

    e(a, b) = max over x, x' of [max over y of ln P(X_(i+b) = y | x) / P(X_(i+b) = y | x')
                               + max over z of ln P(X_(i-a) = z | x) / P(X_(i-a) = z | x')],

a maximum of a sum. Here it is bounded by a sum, e(a, b) <= w f(a) + f(b), with a convex decreasing f. Each
bound holds at every node of a chain of any length, and is rounded up.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpmarkov.pufferfish.classes import GapChains, IntervalChains

__all__ = ["GapInfluence", "IntervalInfluence", "NodeInfluence", "SeparableInfluence"]

_UNIT = float(np.finfo(np.float64).eps)
_ROUNDING = 1e-11


class NodeInfluence(Protocol):
    """Bounds on the influence of one node (or of any) on the points `b` steps after and `a` before it."""

    def forward(self, b: int) -> float:
        """The influence on {X_(i+b)}; infinite where none is proven."""

    def backward(self, a: int) -> float:
        """The influence on {X_(i-a)}."""

    def both(self, a: int, b: int) -> float:
        """The influence on {X_(i-a), X_(i+b)}."""

    def best_forward(self, room: int, price: float, limit: float) -> int | None:
        """The b <= room with the least forward(b) + price * b, or None if that is not below `limit`."""

    def best_backward(self, room: int, price: float, limit: float) -> int | None:
        """The a <= room with the least backward(a) + price * a, or None if that is not below `limit`."""

    def best_pair(self, left: int, right: int, price: float, limit: float) -> tuple[int, int] | None:
        """The a <= left, b <= right with the least both(a, b) + price * (a + b), or None."""


class SeparableInfluence(ABC):
    """Influence bounded by weight * fade(a) + fade(b), with a convex decreasing `fade`."""

    weight = 1.0

    @abstractmethod
    def fade(self, t: int) -> float:
        """The bound on the influence on one point `t` steps after."""

    @abstractmethod
    def turn(self, price: float) -> float:
        """The real t > 0 at which fade(t) + price * t is least."""

    def at(self, node: int) -> NodeInfluence:
        """The influence of the node: the same for each."""
        return self

    def forward(self, b: int) -> float:
        """The influence on {X_(i+b)}."""
        return self.fade(b)

    def backward(self, a: int) -> float:
        """The influence on {X_(i-a)}."""
        return _up(self.weight * self.fade(a))

    def both(self, a: int, b: int) -> float:
        """The influence on {X_(i-a), X_(i+b)}."""
        return _up(self.backward(a) + self.forward(b))

    def best_forward(self, room: int, price: float, limit: float) -> int | None:
        """The best distance after the node."""
        return self._best(room, price, 1.0, limit)

    def best_backward(self, room: int, price: float, limit: float) -> int | None:
        """The best distance before the node."""
        return self._best(room, price, self.weight, limit)

    def best_pair(self, left: int, right: int, price: float, limit: float) -> tuple[int, int] | None:
        """The best distances: each on its own, because the bound is a sum."""
        a = self._best(left, price, self.weight, limit)
        b = self._best(right, price, 1.0, limit)
        if a is None or b is None or not self.both(a, b) + price * (a + b) < limit:
            return None
        return a, b

    def _best(self, room: int, price: float, weight: float, limit: float) -> int | None:
        """By convexity the best whole number lies beside the real one, or at the end of the room."""
        if room < 1:
            return None
        real = self.turn(price / weight)
        beside = {room} if real >= room else {max(1, math.floor(real)), min(room, max(1, math.ceil(real)))}
        best = min(beside, key=lambda t: weight * self.fade(t) + price * t)
        return best if weight * self.fade(best) + price * best < limit else None


@dataclass(frozen=True, slots=True)
class GapInfluence(SeparableInfluence):
    """Lemma 4.7, corrected: f(t) = ln((pi + e^(-rt)) / (pi - e^(-rt))) for t strictly above ln(1/pi)/r.

    For a reversible chain r is the eigengap. For any other, P^t contracts the space orthogonal to constants
    by the t-th power of P's second singular value in L2(pi), whose square is 1 - g for the eigengap g of
    P P*: r = g/2. The backward term is twice as large, because the first time point may have any
    distribution.
    """

    pi: float
    rate: float
    weight = 2.0

    @classmethod
    def of(cls, theta: GapChains) -> "GapInfluence":
        """The influence under a declared class."""
        return cls(theta.least_probability, theta.eigengap if theta.reversible else theta.eigengap / 2)

    def fade(self, t: int) -> float:
        """f(t), infinite at and below the threshold."""
        left = math.exp(-self.rate * t) * (1 + 4 * _UNIT * (2 + self.rate * t))
        if not left < self.pi * (1 - 1e-9):
            return math.inf
        return _up(math.log1p(2 * left / (self.pi - left)))

    def turn(self, price: float) -> float:
        """Where f' = -price: e^(-rt) = pi / (sqrt(1 + q^2) + q) with q = r / price."""
        q = self.rate / price
        return (math.log(math.hypot(1.0, q) + q) - math.log(self.pi)) / self.rate


@dataclass(frozen=True, slots=True)
class IntervalInfluence(SeparableInfluence):
    """Birkhoff's contraction: f(t) = D tanh(D/4)^(t-1), D the projective diameter of the class.

    D is the largest ln P(x,y) P(x',y') / (P(x',y) P(x,y')) that the bounds allow. In Hilbert's projective
    metric one step contracts distances by tanh(D/4); rows after t steps are at most f(t) apart, and so are
    columns. A posterior over the past is a column times the prior, and the prior cancels in the metric: so
    the backward term is f(a) too, for any start and for chains that vary with time. Two distributions at
    distance d have all log ratios within d.
    """

    diameter: float
    contraction: float

    @classmethod
    def of(cls, theta: IntervalChains) -> "IntervalInfluence":
        """The influence under a declared class, with bounds first tightened by rows that sum to one."""
        low, high = theta.lower, theta.upper
        high = np.minimum(high, 1 - (low.sum(axis=1, keepdims=True) - low) + _ROUNDING)
        low = np.maximum(low, 1 - (high.sum(axis=1, keepdims=True) - high) - _ROUNDING)
        apart = np.log(high)[:, None, :] - np.log(low)[None, :, :]
        np.einsum("iij->ij", apart)[:] = 0.0
        worst = apart.max(axis=2)
        diameter = _up(float((worst + worst.T).max()) + 1e-12)
        return cls(diameter, min(1.0, _up(math.tanh(diameter / 4))))

    def fade(self, t: int) -> float:
        """D tanh(D/4)^(t-1)."""
        return _up(self.diameter * self.contraction ** (t - 1) * (1 + 4 * _UNIT * t))

    def turn(self, price: float) -> float:
        """Where f' = -price."""
        if not 0 < self.contraction < 1:
            return 1.0 if self.contraction == 0 else math.inf
        slope = -math.log(self.contraction)
        return max(1.0, 1 + math.log(self.diameter * slope / price) / slope)


def _up(value: float) -> float:
    """`value` plus a few units in the last place: more than the rounding of the expression before it."""
    return value * (1 + 16 * _UNIT)
