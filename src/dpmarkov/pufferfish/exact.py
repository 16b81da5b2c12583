"""Exact influence under a declared list of chains: computed from their matrices, not bounded by their gap.

For one chain, with P^b the matrix of b steps and p_i the distribution of X_i,

    forward  F_b[x, x'] = max over y of ln P^b(x, y) / P^b(x', y)
    backward B_a[x, x'] = max over z of ln P^a(z, x) / P^a(z, x') + ln p_i(x') / p_i(x)   (Bayes)

and e(a, b) is the largest F_b + B_a over pairs of states and over the class. Both terms decrease with the
distance (what lies further away is computed from what lies nearer), which the search uses. With a declared
start the backward term depends on i: nodes up to a horizon are taken one by one; from there on, p_i / pi lies
within the range it had at the horizon (the chain run backwards averages it), which bounds all later nodes.

Products and sums of non-negative numbers lose at most a few units of relative precision a step; that much is
added to each influence.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpmarkov.pufferfish.classes import FiniteChains
from dpmarkov.pufferfish.model import Model

__all__ = ["ExactInfluence", "ExactNode"]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_UNIT = float(np.finfo(np.float64).eps)
_TINY = 1e-250
_BLOCK = 4_000_000
_HORIZON = 256
_SETTLED = 1e-9


class _Powers:
    """P^t for any t and all chains at once, by squaring, with the entries that are structurally > 0."""

    def __init__(self, matrices: Array) -> None:
        self._squares = [(matrices, matrices > 0)]
        self._held: dict[int, Steps] = {1: self._squares[0]}

    def __call__(self, t: int) -> "Steps":
        found = self._held.get(t)
        if found is None:
            while len(self._squares) < t.bit_length():
                self._squares.append(_product(self._squares[-1], self._squares[-1]))
            top = t.bit_length() - 1
            rest = t - (1 << top)
            found = self._squares[top] if rest == 0 else _product(self(rest), self._squares[top])
            self._held[t] = found
        return found


class _Walk:
    """The steps of chains that vary with time, from one node onwards and up to it, as far as asked for."""

    def __init__(self, step: "Callable[[int], Steps]", node: int) -> None:
        self._step, self._node = step, node
        self._ahead: list[Steps] = []
        self._behind: list[Steps] = []

    def ahead(self, b: int) -> "Steps":
        """The matrices from the node to `b` points after it."""
        while len(self._ahead) < b:
            step = self._step(self._node + len(self._ahead))
            self._ahead.append(_product(self._ahead[-1], step) if self._ahead else step)
        return self._ahead[b - 1]

    def behind(self, a: int) -> "Steps":
        """The matrices from `a` points before the node to it."""
        while len(self._behind) < a:
            step = self._step(self._node - len(self._behind) - 1)
            self._behind.append(_product(step, self._behind[-1]) if self._behind else step)
        return self._behind[a - 1]


Steps = tuple[Array, Mask]


def _product(one: Steps, other: Steps) -> Steps:
    return one[0] @ other[0], (one[1].astype(np.float32) @ other[1].astype(np.float32)) > 0


def _ratios(rows: Array, possible: Mask) -> Array:
    """The largest ln rows[m, x, y] / rows[m, x', y] over y, for each pair of rows; 0/0 does not count."""
    if rows.size * rows.shape[1] > _BLOCK and rows.shape[0] > 1:
        return np.concatenate([_ratios(rows[m : m + 1], possible[m : m + 1]) for m in range(rows.shape[0])])
    if possible.all():
        logs = np.log(np.maximum(rows, _TINY))
        found = (logs[:, :, None, :] - logs[:, None, :, :]).max(axis=3)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(possible, np.log(np.where(possible, rows, 1.0)), -math.inf)
            apart = logs[:, :, None, :] - logs[:, None, :, :]
            found = np.fmax.reduce(apart, axis=3, initial=-math.inf)
    lost = np.any(possible & (rows < _TINY), axis=(1, 2))
    return np.where(lost[:, None, None], math.inf, found)


@dataclass(frozen=True, slots=True)
class ExactNode:
    """The exact influence of one node: pairwise terms on call, largest values cached."""

    ahead: Callable[[int], Array]
    behind: Callable[[int], Array]
    slack_per_step: float
    slack: float
    _pairs: dict[tuple[int, int], float] = field(default_factory=dict)

    def forward(self, b: int) -> float:
        """The influence on {X_(i+b)}."""
        return self.both(0, b)

    def backward(self, a: int) -> float:
        """The influence on {X_(i-a)}."""
        return self.both(a, 0)

    def both(self, a: int, b: int) -> float:
        """The influence on {X_(i-a), X_(i+b)}; a distance of 0 leaves that side out."""
        found = self._pairs.get((a, b))
        if found is None:
            terms = self.ahead(b) if a == 0 else self.behind(a) if b == 0 else self.ahead(b) + self.behind(a)
            found = float(np.maximum(0.0, terms.max())) + self.slack + self.slack_per_step * (a + b)
            self._pairs[a, b] = found
        return found

    def best_forward(self, room: int, price: float, limit: float) -> int | None:
        """The best distance after the node."""
        found = _search(lambda _, b: self.both(0, b), 0, room, price, limit) if room >= 1 else None
        return None if found is None else found[1]

    def best_backward(self, room: int, price: float, limit: float) -> int | None:
        """The best distance before the node."""
        found = _search(lambda a, _: self.both(a, 0), room, 0, price, limit) if room >= 1 else None
        return None if found is None else found[0]

    def best_pair(self, left: int, right: int, price: float, limit: float) -> tuple[int, int] | None:
        """The best distances on both sides."""
        return _search(self.both, left, right, price, limit) if left >= 1 and right >= 1 else None


def _search(
    influence: Callable[[int, int], float], left: int, right: int, price: float, limit: float
) -> tuple[int, int] | None:
    """The (a, b) with the least influence + price * (a + b) below `limit`: branch and bound.

    The influence decreases in both distances, so over a rectangle the cost is at least the influence at its
    far corner plus the price of its near corner. A side with no room at all stays at 0.
    """
    reach = int(min(limit / price, 1e15))
    far = (min(left, reach), min(right, reach))
    near = (min(1, left), min(1, right))
    if far[0] < near[0] or far[1] < near[1]:
        return None
    best, cut = None, limit
    heap: list[tuple[float, tuple[int, int], tuple[int, int]]] = [(0.0, near, far)]
    while heap:
        bound, (a1, b1), (a2, b2) = heapq.heappop(heap)
        if not bound < cut * (1 - 1e-12):
            break
        for low, high in _halves((a1, b1), (a2, b2)):
            if not price * (low[0] + low[1]) < cut:
                continue
            e = influence(*high)
            cost = e + price * (high[0] + high[1])
            if cost < cut:
                best, cut = high, cost
            if low != high and e + price * (low[0] + low[1]) < cut:
                heapq.heappush(heap, (e + price * (low[0] + low[1]), low, high))
    return best


def _halves(
    low: tuple[int, int], high: tuple[int, int]
) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
    """The rectangle cut across its longer side; early cuts fall near the short distances."""
    width, height = high[0] - low[0], high[1] - low[1]
    if width == 0 and height == 0:
        return ((low, high),)
    if width >= height:
        middle = _between(low[0], high[0])
        return (low, (middle, high[1])), ((middle + 1, low[1]), high)
    middle = _between(low[1], high[1])
    return (low, (high[0], middle)), ((low[0], middle + 1), high)


def _between(low: int, high: int) -> int:
    """A cut at the geometric mean while the range spans orders of magnitude, else in the middle."""
    return math.isqrt(max(low, 1) * high) if high > 16 * max(low, 1) else (low + high) // 2


class ExactInfluence:
    """The influence under a `FiniteChains` class.

    Parameters
    ----------
    theta
        The declared class.
    """

    def __init__(self, theta: FiniteChains) -> None:
        self._models = theta.models
        seen = np.array([theta.states.index(state) for state in theta.inner_states])
        self._secret = seen[:, None] != seen[None, :]
        k = seen.size
        self._step_slack = 4 * _UNIT * (k + 4)
        self._slack = 16 * _UNIT * k**3
        self.length = theta.length
        self.stationary = all(model.initial is None for model in self._models)
        self._powers = _Powers(self._step(1)[0])
        self._forward: dict[int, Array] = {}
        self._backward: dict[tuple[int, bytes], Array] = {}
        start = np.stack([model.start for model in self._models])
        self._path: list[tuple[Array, Mask]] = [(start, start > 0)]
        self._limit: ExactNode | None = None
        self._settled: Array | None = None
        self.horizon = 0 if self.stationary else self._find_horizon()

    def at(self, node: int) -> ExactNode:
        """The influence of time point `node` (the first is 1)."""
        if self.length is None and (self.stationary or node > self.horizon):
            return self.anywhere
        walk = None if self.length is None else _Walk(self._step, node)
        p, possible = self._distribution(node)
        counts = self._secret & possible[:, :, None] & possible[:, None, :]
        odds = _odds(p, possible)

        def ahead(b: int) -> Array:
            return np.where(counts, self._ahead(b, walk), -math.inf)

        def behind(a: int) -> Array:
            can = self._distribution(node - a)[1]
            with np.errstate(invalid="ignore"):
                return np.where(counts, self._behind(a, can, walk) + odds, -math.inf)

        return ExactNode(ahead, behind, self._step_slack, self._slack + self._step_slack * node)

    @property
    def anywhere(self) -> ExactNode:
        """A bound for every node beyond the horizon; exact for stationary starts."""
        if self._limit is None:
            odds = self._limit_odds()
            every = np.ones(odds.shape[:2], dtype=bool)
            forward: dict[int, Array] = {}
            backward: dict[int, Array] = {}

            def ahead(b: int) -> Array:
                if b not in forward:
                    forward[b] = np.where(self._secret, self._ahead(b, None), -math.inf)
                return forward[b]

            def behind(a: int) -> Array:
                if a not in backward:
                    backward[a] = np.where(self._secret, self._behind(a, every, None) + odds, -math.inf)
                return backward[a]

            self._limit = ExactNode(
                ahead, behind, self._step_slack, self._slack + self._step_slack * self.horizon
            )
        return self._limit

    def _step(self, t: int) -> Steps:
        matrices = np.stack([model.step(t) for model in self._models])
        return matrices, matrices > 0

    def _ahead(self, b: int, walk: _Walk | None) -> Array:
        if walk is not None:
            return _ratios(*walk.ahead(b))
        found = self._forward.get(b)
        if found is None:
            found = self._forward[b] = _ratios(*self._powers(b))
        return found

    def _behind(self, a: int, can: Mask, walk: _Walk | None) -> Array:
        """The largest ln P(X_i = x | z) / P(X_i = x' | z) over the z that X_(i-a) `can` be."""
        key = (a, can.tobytes())
        found = None if walk is not None else self._backward.get(key)
        if found is None:
            steps, possible = self._powers(a) if walk is None else walk.behind(a)
            turned = possible & can[:, :, None]
            found = _ratios(steps.transpose(0, 2, 1), turned.transpose(0, 2, 1))
            if walk is None:
                self._backward[key] = found
        return found

    def _distribution(self, node: int) -> tuple[Array, Mask]:
        while len(self._path) < node:
            matrices, steps = self._step(len(self._path))
            p, possible = self._path[-1]
            step = (p[:, None, :] @ matrices)[:, 0], (possible[:, None, :] @ steps)[:, 0]
            self._path.append(step)
        return self._path[node - 1]

    def _spread(self, node: int) -> Array:
        """How far apart p_i / pi is over the states of each chain, as a log ratio."""
        if self._settled is None:
            self._settled = np.stack([Model(model.matrix).start for model in self._models])
        p, possible = self._distribution(node)
        if not possible.all() or p.min() < _TINY:
            return np.full(p.shape[0], math.inf)
        relative = np.log(p) - np.log(self._settled)
        return np.asarray(relative.max(axis=1) - relative.min(axis=1))

    def _find_horizon(self) -> int:
        """The first node at which all starts have settled, or the last one that is taken on its own."""
        if self.length is not None:
            return self.length
        return next((i for i in range(1, _HORIZON) if self._spread(i).max() <= _SETTLED), _HORIZON)

    def _limit_odds(self) -> Array:
        pi = self._path[0][0]
        spread = np.zeros(pi.shape[0])
        if not self.stationary:
            spread = self._spread(self.horizon)
            pi = pi if self._settled is None else self._settled
        return _odds(pi, np.ones(pi.shape, dtype=bool)) + spread[:, None, None]


def _odds(p: Array, possible: Mask) -> Array:
    """The ln p(x') / p(x), for each chain and pair; infinite where a probability is too small to be known."""
    logs = np.log(np.where(possible, np.maximum(p, _TINY), 1.0))
    odds = logs[:, None, :] - logs[:, :, None]
    lost = np.any(possible & (p < _TINY), axis=1)
    return np.where(lost[:, None, None], math.inf, odds)
