"""The Wasserstein Mechanism: noise for any finite framework (Wang, Song and Chaudhuri, section 3).

For each pair of secrets and each distribution of the class, F(X) has one law given the one secret and another
given the other. W is the largest infinity-Wasserstein distance between two such laws; noise of scale
W / epsilon is epsilon-Pufferfish private (Theorem 3.2). On the line the distance is the largest gap between
the two quantile functions. Probabilities are exact fractions: in floating point a tie of two cumulative
probabilities would break, and a sliver of 1e-17 mass would be moved across the whole range.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_mat, fmpq_poly

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.budget import check_epsilon
from dpmarkov.pufferfish.classes import FiniteChains
from dpmarkov.pufferfish.elimination import exact, power
from dpmarkov.pufferfish.framework import check_length
from dpmarkov.pufferfish.model import Model
from dpmarkov.pufferfish.network import BayesianNetwork
from dpmarkov.pufferfish.quilt import score_up

__all__ = ["FiniteFramework", "chain_sums", "network_sums", "wasserstein_distance"]

Law = Mapping[Any, Any]
Exact = tuple[tuple[Fraction, Fraction], ...]


def wasserstein_distance(one: Law, other: Law) -> Fraction:
    """The infinity-Wasserstein distance of two discrete laws on the line, exact.

    Parameters
    ----------
    one, other
        Value -> probability. Floats are read as the decimals that they print as; weights are scaled to sum
        to one.

    Examples
    --------
    >>> wasserstein_distance({0: 0.5, 3: 0.5}, {1: 0.5, 2: 0.5})
    Fraction(1, 1)
    """
    return _distance(_law(one), _law(other))


def _law(law: Law) -> Exact:
    parts = [(_fraction(value), _fraction(weight)) for value, weight in law.items()]
    if any(weight < 0 for _, weight in parts):
        raise ParameterError("probabilities must be >= 0")
    total = sum((weight for _, weight in parts), Fraction(0))
    if total <= 0:
        raise ParameterError("a law needs some probability; all of it is 0")
    return tuple(sorted((value, weight / total) for value, weight in parts if weight > 0))


def _fraction(number: object) -> Fraction:
    value = exact(number)
    return Fraction(int(value.p), int(value.q))


def _distance(one: Exact, other: Exact) -> Fraction:
    """Walk up both quantile functions; between two steps of either the gap is constant."""
    i = j = 0
    left, right = one[0][1], other[0][1]
    worst = Fraction(0)
    while True:
        worst = max(worst, abs(one[i][0] - other[j][0]))
        step = min(left, right)
        left, right = left - step, right - step
        if left == 0:
            i += 1
            if i == len(one):
                return worst
            left = one[i][1]
        if right == 0:
            j += 1
            right = other[j][1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteFramework:
    """Pairs of secrets, and for each distribution of the class the law of F given each secret.

    Parameters
    ----------
    pairs
        Pairs of secrets that must not be told apart.
    laws
        For each distribution of the class: secret -> law of F (value -> probability). A secret that has
        probability 0 under a distribution is left out there.
    in_words
        The class as a phrase.
    secrets
        What is hidden, as a phrase.
    """

    pairs: tuple[tuple[Hashable, Hashable], ...]
    laws: tuple[Mapping[Hashable, Law], ...]
    in_words: str = "distributions that are given by the law of the statistic under each secret"
    secrets: str = "any single secret of the framework"

    def __post_init__(self) -> None:
        if not self.pairs or not self.laws:
            raise ParameterError(
                "a framework needs at least one distribution and one pair of secrets that are both possible"
            )
        known = {secret for laws in self.laws for secret in laws}
        for pair in self.pairs:
            for secret in pair:
                if secret not in known:
                    raise ParameterError(f"no law is given for the secret {secret!r}")

    @property
    def is_integer(self) -> bool:
        """Whether F has whole numbers for values."""
        every = {value for laws in self.laws for law in laws.values() for value in law}
        return all(_fraction(value).denominator == 1 for value in every)

    def distance(self) -> Fraction:
        """W: the largest distance over the pairs and the class."""
        worst = Fraction(0)
        for laws in self.laws:
            held = {secret: _law(law) for secret, law in laws.items()}
            for one, other in self.pairs:
                if one in held and other in held:
                    worst = max(worst, _distance(held[one], held[other]))
        return worst

    def scale(self, epsilon: float) -> float:
        """W / epsilon, rounded up: the scale of the Laplace noise."""
        return score_up(self.distance() / Fraction(check_epsilon(epsilon)))


def chain_sums(theta: FiniteChains, length: int, values: Sequence[int]) -> FiniteFramework:
    """The framework of a sum over a chain: secrets are the states at every time point.

    Parameters
    ----------
    theta
        The class.
    length
        T.
    values
        For each declared state, what a time point in it adds: whole numbers >= 0. (0, 1, 0) counts the
        second of three states.
    """
    length = check_length(length)
    if theta.length not in (None, length):
        raise ParameterError(f"the class varies with time over {theta.length} points; got length {length}")
    if len(values) != len(theta.states):
        raise ParameterError(f"there must be one value for each of {len(theta.states)} states")
    seen = [theta.states.index(state) for state in theta.inner_states]
    steps = [power(_whole(values[position])) for position in seen]
    laws = []
    for model in theta.models:
        joint = _chain_joint(model, length, steps)
        found: dict[Hashable, Law] = {}
        for t, row in enumerate(joint, start=1):
            for state in range(len(theta.states)):
                total = sum((row[x] for x, s in enumerate(seen) if s == state), fmpq_poly([]))
                law = _coefficients(total)
                if law:
                    found[t, state] = law
        laws.append(found)
    k = len(theta.states)
    pairs = tuple(
        ((t, a), (t, b))
        for t in range(1, length + 1)
        for a in range(k)
        for b in range(a)
        if any((t, a) in law for law in laws) and any((t, b) in law for law in laws)
    )
    return FiniteFramework(
        pairs=pairs,
        laws=tuple(laws),
        in_words=theta.in_words,
        secrets=f"the state at any single one of {length:,} time points",
    )


def _chain_joint(model: Model, length: int, steps: Sequence[fmpq_poly]) -> list[list[fmpq_poly]]:
    """For each time point and state: the generating function of the sum, jointly with that state.

    Dynamic programming forwards (sum up to and with t) and backwards (sum after t).
    """
    k = model.n_states
    forward = [[step * p for step, p in zip(steps, _exact_start(model), strict=True)]]
    moves = []
    for t in range(1, length):
        moves.append(_exact_rows(model.step(t)))
        last = forward[-1]
        forward.append(
            [steps[y] * sum((last[x] * moves[-1][x][y] for x in range(k)), fmpq_poly([])) for y in range(k)]
        )
    backward = [[fmpq_poly([1])] * k]
    for move in reversed(moves):
        after = [steps[y] * backward[-1][y] for y in range(k)]
        backward.append([sum((after[y] * move[x][y] for y in range(k)), fmpq_poly([])) for x in range(k)])
    backward.reverse()
    return [
        [f * b for f, b in zip(one, two, strict=True)] for one, two in zip(forward, backward, strict=True)
    ]


def _exact_rows(matrix: Iterable[Iterable[float]]) -> list[list[fmpq]]:
    """The rows as fractions that sum to one."""
    rows = [[exact(float(p)) for p in row] for row in matrix]
    return [[p / sum(row, start=exact(0)) for p in row] for row in rows]


def _exact_start(model: Model) -> list[fmpq]:
    """The law of the first state in fractions; a stationary one solves pi P = pi exactly."""
    if model.initial is not None:
        return _exact_rows([model.initial])[0]
    rows, k = _exact_rows(model.matrix), model.n_states
    balance = [[rows[x][y] - (x == y) for x in range(k)] for y in range(k - 1)]
    system, right = fmpq_mat([*balance, [1] * k]), fmpq_mat([[int(y == k - 1)] for y in range(k)])
    return [row[0] for row in system.solve(right).table()]


def network_sums(
    networks: Sequence[BayesianNetwork],
    values: Mapping[Hashable, Sequence[int]],
    secrets: Sequence[Hashable] | None = None,
) -> FiniteFramework:
    """The framework of a sum over a Bayesian network: secrets are the values of its nodes.

    Parameters
    ----------
    networks
        The class: networks on the same nodes.
    values
        For each node that counts, what each of its values adds: whole numbers >= 0.
    secrets
        The nodes that are protected; all by default.
    """
    if not networks:
        raise ParameterError("a class needs at least one network")
    protected = list(networks[0].sizes) if secrets is None else list(secrets)
    laws: list[dict[Hashable, Law]] = []
    whole = {node: [_whole(score) for score in given] for node, given in values.items()}
    for network in networks:
        if dict(network.sizes) != dict(networks[0].sizes):
            raise ParameterError("all networks of a class must have the same nodes and values")
        found: dict[Hashable, Law] = {}
        for node in protected:
            if node not in network.sizes:
                raise ParameterError(f"the network has no node {node!r}")
            for value, joint in enumerate(network.sums(whole, node)):
                law = _coefficients(fmpq_poly(joint))
                if law:
                    found[node, value] = law
        laws.append(found)
    pairs = tuple(
        ((node, a), (node, b))
        for node in protected
        for a in range(networks[0].sizes[node])
        for b in range(a)
        if any((node, a) in law for law in laws) and any((node, b) in law for law in laws)
    )
    return FiniteFramework(
        pairs=pairs,
        laws=tuple(laws),
        in_words=f"one of {len(networks)} declared Bayesian networks on {len(networks[0].sizes)} nodes",
        secrets=f"the value of any single one of {len(protected)} nodes",
    )


def _whole(score: object) -> int:
    if isinstance(score, bool) or not hasattr(score, "__index__") or int(score.__index__()) < 0:
        raise ParameterError(f"what a value adds must be a whole number >= 0; got {score!r}")
    return int(score.__index__())


def _coefficients(polynomial: fmpq_poly) -> dict[int, Fraction]:
    """The law that a generating function stands for, up to scaling."""
    return {
        value: Fraction(int(weight.p), int(weight.q))
        for value, weight in enumerate(polynomial.coeffs())
        if weight != 0
    }
