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
_HORIZON = 256
_SETTLED = 1e-9


class _Powers:
    """P^t for any t, by squaring, with the pattern of entries that are structurally > 0."""

    def __init__(self, matrix: Array) -> None:
        self._squares = [(matrix, matrix > 0)]
        self._held: dict[int, tuple[Array, Mask]] = {1: self._squares[0]}

    def __call__(self, t: int) -> tuple[Array, Mask]:
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
    """The steps of a chain that varies with time, from one node onwards and up to it, as far as asked for."""

    def __init__(self, model: Model, node: int) -> None:
        self._model, self._node = model, node
        self._ahead: list[tuple[Array, Mask]] = []
        self._behind: list[tuple[Array, Mask]] = []

    def ahead(self, b: int) -> tuple[Array, Mask]:
        """The matrix from the node to `b` points after it."""
        while len(self._ahead) < b:
            step = self._step(self._node + len(self._ahead))
            self._ahead.append(_product(self._ahead[-1], step) if self._ahead else step)
        return self._ahead[b - 1]

    def behind(self, a: int) -> tuple[Array, Mask]:
        """The matrix from `a` points before the node to it."""
        while len(self._behind) < a:
            step = self._step(self._node - len(self._behind) - 1)
            self._behind.append(_product(step, self._behind[-1]) if self._behind else step)
        return self._behind[a - 1]

    def _step(self, t: int) -> tuple[Array, Mask]:
        matrix = self._model.step(t)
        return matrix, matrix > 0


def _product(one: tuple[Array, Mask], other: tuple[Array, Mask]) -> tuple[Array, Mask]:
    return one[0] @ other[0], (one[1].astype(np.float32) @ other[1].astype(np.float32)) > 0


def _ratios(rows: Array, possible: Mask) -> Array:
    """The largest ln rows[x, y] / rows[x', y] over y, for each pair of rows; 0/0 does not count."""
    if np.any(possible & (rows < _TINY)):
        return np.full((rows.shape[0], rows.shape[0]), math.inf)
    if possible.all():
        logs = np.log(rows)
        return np.asarray((logs[:, None, :] - logs[None, :, :]).max(axis=2))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(possible, np.log(np.where(possible, rows, 1.0)), -math.inf)
        return np.asarray(np.fmax.reduce(logs[:, None, :] - logs[None, :, :], axis=2, initial=-math.inf))


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
            found = max(0.0, float(terms.max())) + self.slack + self.slack_per_step * (a + b)
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
        self._powers = [_Powers(model.step(1)) for model in self._models]
        self._forward: dict[tuple[int, int], Array] = {}
        self._backward: dict[tuple[int, int, bytes], Array] = {}
        self._path: list[list[tuple[Array, Mask]]] = [
            [(model.start, model.start > 0)] for model in self._models
        ]
        self._limit: ExactNode | None = None
        self.horizon = 0 if self.stationary else self._find_horizon()

    def at(self, node: int) -> ExactNode:
        """The influence of time point `node` (the first is 1)."""
        if self.length is None and (self.stationary or node > self.horizon):
            return self.anywhere
        walks = [_Walk(model, node) for model in self._models]

        def ahead(b: int) -> Array:
            return self._stack(lambda m: self._masked(self._ahead(m, b, walks[m]), m, node))

        def behind(a: int) -> Array:
            def of(m: int) -> Array:
                can = self._distribution(m, node - a)[1]
                with np.errstate(invalid="ignore"):
                    terms = self._behind(m, a, can, walks[m]) + self._odds(m, node)
                return self._masked(terms, m, node)

            return self._stack(of)

        return ExactNode(ahead, behind, self._step_slack, self._slack + self._step_slack * node)

    @property
    def anywhere(self) -> ExactNode:
        """A bound for every node beyond the horizon; exact for stationary starts."""
        if self._limit is None:
            odds = [self._limit_odds(m) for m in range(len(self._models))]
            every = np.ones(self._secret.shape[0], dtype=bool)
            forward: dict[int, Array] = {}
            backward: dict[int, Array] = {}

            def hidden(terms: Array) -> Array:
                return np.where(self._secret, terms, -math.inf)

            def ahead(b: int) -> Array:
                if b not in forward:
                    forward[b] = self._stack(lambda m: hidden(self._ahead(m, b, None)))
                return forward[b]

            def behind(a: int) -> Array:
                if a not in backward:
                    backward[a] = self._stack(lambda m: hidden(self._behind(m, a, every, None) + odds[m]))
                return backward[a]

            self._limit = ExactNode(
                ahead, behind, self._step_slack, self._slack + self._step_slack * self.horizon
            )
        return self._limit

    def _stack(self, of: Callable[[int], Array]) -> Array:
        return np.stack([of(m) for m in range(len(self._models))])

    def _ahead(self, m: int, b: int, walk: "_Walk | None") -> Array:
        if walk is not None and self._models[m].length is not None:
            return _ratios(*walk.ahead(b))
        found = self._forward.get((m, b))
        if found is None:
            found = _ratios(*self._powers[m](b))
            self._forward[m, b] = found
        return found

    def _behind(self, m: int, a: int, can: Mask, walk: "_Walk | None") -> Array:
        """The largest ln P(X_i = x | z) / P(X_i = x' | z) over the z that X_(i-a) `can` be."""
        if walk is not None and self._models[m].length is not None:
            steps, possible = walk.behind(a)
            return _ratios(steps[can].T, possible[can].T)
        key = (m, a, can.tobytes())
        found = self._backward.get(key)
        if found is None:
            steps, possible = self._powers[m](a)
            found = _ratios(steps[can].T, possible[can].T)
            self._backward[key] = found
        return found

    def _odds(self, m: int, node: int) -> Array:
        p, possible = self._distribution(m, node)
        if np.any(possible & (p < _TINY)):
            return np.full(self._secret.shape, math.inf)
        logs = np.log(np.where(possible, p, 1.0))
        return np.asarray(logs[None, :] - logs[:, None])

    def _masked(self, terms: Array, m: int, node: int) -> Array:
        """Pairs that are no secret, or of which one state has probability 0, do not count."""
        possible = self._distribution(m, node)[1]
        counts = self._secret & possible[:, None] & possible[None, :]
        return np.where(counts, terms, -math.inf)

    def _distribution(self, m: int, node: int) -> tuple[Array, Mask]:
        path = self._path[m]
        if self._models[m].initial is None:
            return path[0]
        while len(path) < node:
            matrix = self._models[m].step(len(path))
            p, possible = path[-1]
            path.append((p @ matrix, (possible.astype(float) @ (matrix > 0)) > 0))
        return path[node - 1]

    def _spread(self, m: int, node: int) -> tuple[float, Array]:
        """How far apart the p_i / pi are, as a log ratio; and pi itself."""
        pi = Model(self._models[m].matrix).start
        p, possible = self._distribution(m, node)
        if not possible.all() or p.min() < _TINY:
            return math.inf, pi
        return float(np.log((p / pi).max()) - np.log((p / pi).min())), pi

    def _find_horizon(self) -> int:
        """The first node at which all starts have settled, or the last one that is taken on its own."""
        if self.length is not None:
            return self.length
        declared = [m for m, model in enumerate(self._models) if model.initial is not None]
        for node in range(1, _HORIZON):
            if all(self._spread(m, node)[0] <= _SETTLED for m in declared):
                return node
        return _HORIZON

    def _limit_odds(self, m: int) -> Array:
        spread, pi = (
            (0.0, self._models[m].start) if self._models[m].initial is None else self._spread(m, self.horizon)
        )
        logs = np.log(pi)
        return np.asarray(logs[None, :] - logs[:, None] + spread)
