r"""Gohari, Wu, Hale and Topcu: the Dirichlet mechanism on the unit simplex.

A sensitive probability vector p (identity query), or the average of N of them (average query), is released as
one draw of Dirichlet(k p). Two vectors are b-adjacent when they differ in two entries, both in the index set
W, by at most b in L1 norm. The inputs that matter are assumed to lie in the bordered simplex: p_i >= eta on
W, and sum over W at most 1 - eta_bar.

With Omega_1 = {x : x_i >= gamma on W}, Theorem 1 gives

    epsilon = ln[B(k eta, k (1 - eta_bar - eta)) / B(k (eta + b/2), k (1 - eta_bar - eta - b/2))]
              + (k b / 2) ln((1 - (|W| - 1) gamma) / gamma),      delta = max P(Omega_2).

Exact for the same mechanism: Theorem A of `docs/mathematics.md` with alpha = k eta and weight k b / 2.
"""

import math
from collections.abc import Callable, Collection, Sequence

from scipy import optimize, special

from dpmarkov.errors import ParameterError
from dpmarkov.papers.omega import largest_gamma, outside, vertex
from dpmarkov.papers.results import Assumption, Bound, Claim

__all__ = [
    "bordered",
    "definition1_adjacent",
    "equation16",
    "equation16_as_printed",
    "k_for_epsilon",
    "lemma1",
    "lemma2_minimum",
    "lemma3",
    "lemma3_as_printed",
    "lemma4",
    "lemma5",
    "proposition1",
    "theorem1",
    "theorem1_simplified",
    "theorem2",
    "theorem2_as_printed",
]

_SLACK = 1e-12


def bordered(p: Sequence[float], watched: Collection[int], eta: float, eta_bar: float) -> bool:
    """Whether `p` lies in the bordered simplex of `watched` (the set W), `eta` and `eta_bar`."""
    inside = [p[i] for i in watched]
    return (
        abs(math.fsum(p) - 1) <= _SLACK * len(p)
        and all(x > 0 for x in p)
        and all(x >= eta - _SLACK for x in inside)
        and math.fsum(inside) <= 1 - eta_bar + _SLACK
    )


def definition1_adjacent(p: Sequence[float], q: Sequence[float], watched: Collection[int], b: float) -> bool:
    """Definition 1: whether `p` and `q` differ in two entries of `watched` by at most b in L1 norm."""
    moved = [i for i in range(len(p)) if p[i] != q[i]]
    return (
        len(moved) <= 2
        and all(i in watched for i in moved)
        and math.fsum(abs(p[i] - q[i]) for i in moved) <= b + _SLACK
    )


def lemma1(p: Sequence[float], k: float, watched: Collection[int], gamma: float) -> Bound:
    """Lemma 1: P(M(p) in Omega_1), for one input p; entries outside W are merged into one."""
    inside = [k * p[i] for i in sorted(watched)]
    rest = k * math.fsum(p[i] for i in range(len(p)) if i not in watched)
    shapes = inside if rest == 0 else [*inside, rest]
    value = 1 - outside(shapes, gamma, n_watched=len(inside))
    return Bound(theorem="Gohari et al., Lemma 1", value=value, assumptions=(_gamma(gamma, len(inside)),))


def lemma2_minimum(k: float, eta: float, eta_bar: float, n_watched: int, gamma: float) -> Bound:
    """Lemma 2 and (8): the least P(M(p) in Omega_1) over the bordered simplex.

    The paper shows P(Omega_1) to be log-concave in p, so that a vertex minimises it, and tries all
    |W|(|W| + 1)/2. The vertex is always p_W = (eta, ..., eta): P(Omega_1) grows with every watched entry.
    That argument needs neither log-concavity nor the k eta >= 1 on which the paper's proof of it rests.
    """
    return Bound(
        theorem="Gohari et al., Lemma 2 and (8)",
        value=1 - outside(vertex(k, eta, n_watched), gamma, n_watched=n_watched),
        assumptions=_assumptions(k, eta, eta_bar, n_watched, gamma),
    )


def lemma3(k: float, eta_bar: float, p_i: float, q_i: float, total: float) -> tuple[float, float]:
    """Lemma 3 with the order that its proof uses, q_i < p_i: both sides, the left one the smaller.

    Parameters
    ----------
    k, eta_bar
        The mechanism's concentration, and the share that is always outside W.
    p_i, q_i
        One of the two entries that differ.
    total
        p_i + p_j = q_i + q_j, at most 1 - eta_bar.
    """
    if not q_i < p_i:
        raise ParameterError(
            f"Lemma 3 holds for q_i < p_i; got q_i = {q_i}, p_i = {p_i}: name the other entry i"
        )
    return lemma3_as_printed(k, eta_bar, p_i, q_i, total)


def lemma3_as_printed(k: float, eta_bar: float, p_i: float, q_i: float, total: float) -> tuple[float, float]:
    """Lemma 3 for any two adjacent entries, as printed: both sides, the left one claimed the smaller.

    Counterexample, for q_i > p_i: k = 20, eta_bar = .05, p_i = .1, q_i = .2, total .4 gives .3 > .025.
    """
    left = special.betaln(k * q_i, k * (total - q_i)) - special.betaln(k * p_i, k * (total - p_i))
    end = 1 - eta_bar
    right = special.betaln(k * q_i, k * (end - q_i)) - special.betaln(k * p_i, k * (end - p_i))
    return math.exp(left), math.exp(right)


def lemma4(*, k: float, eta: float, eta_bar: float, b: float, n_watched: int, gamma: float) -> float:
    """Lemma 4: the bound of the log density ratio on Omega_1, which is Theorem 1's epsilon."""
    return _epsilon(k, eta, eta_bar, b / 2, n_watched, gamma)


def theorem1(*, k: float, eta: float, eta_bar: float, b: float, n_watched: int, gamma: float) -> Claim:
    """Theorem 1: the (epsilon, delta) of one private vector.

    Parameters
    ----------
    k
        The mechanism's concentration.
    eta, eta_bar
        The border: what each watched entry has at least, what the others have together.
    b
        By how much, in L1 norm, adjacent vectors may differ.
    n_watched
        |W|, the number of entries that may differ.
    gamma
        The threshold of Omega_1; it is no parameter of the mechanism, only of the analysis.
    """
    return Claim(
        theorem="Gohari et al., Theorem 1",
        epsilon=lemma4(k=k, eta=eta, eta_bar=eta_bar, b=b, n_watched=n_watched, gamma=gamma),
        delta=outside(vertex(k, eta, n_watched), gamma, n_watched=n_watched),
        assumptions=_assumptions(k, eta, eta_bar, n_watched, gamma, b / 2),
    )


def lemma5(a: float, b: float) -> tuple[Bound, Bound]:
    """Lemma 5: a lower and an upper bound of the beta function B(a, b), for a, b > 1."""
    assumed = (Assumption("a, b > 1", a > 1 and b > 1),)
    lower = math.exp(2 - a - b)
    upper = (a + b - 1) / ((2 * a - 1) * (2 * b - 1))
    return (
        Bound(theorem="Gohari et al., Lemma 5 (lower)", value=lower, assumptions=assumed),
        Bound(theorem="Gohari et al., Lemma 5 (upper)", value=upper, assumptions=assumed),
    )


def theorem1_simplified(
    *, k: float, eta: float, eta_bar: float, b: float, n_watched: int, gamma: float
) -> Claim:
    """Theorem 1 with Lemma 5 in place of the beta functions: simpler, and larger by an offset (Figure 1)."""
    claim = theorem1(k=k, eta=eta, eta_bar=eta_bar, b=b, n_watched=n_watched, gamma=gamma)
    above = lemma5(k * eta, k * (1 - eta_bar - eta))[1]
    below = (k * (eta + b / 2), k * (1 - eta_bar - eta - b / 2))
    epsilon = math.log(above.value) - (2 - sum(below)) + k * b / 2 * _log_odds(n_watched, gamma)
    needed = Assumption(
        "Lemma 5: both arguments of each beta function > 1", not above.violated and min(below) > 1
    )
    return Claim(
        theorem="Gohari et al., Theorem 1 simplified by Lemma 5",
        epsilon=epsilon,
        delta=claim.delta,
        assumptions=(*claim.assumptions, needed),
    )


def equation16(*, k: float, eta: float, n_watched: int, delta: float) -> float:
    """(16): the gamma that makes epsilon least while P(Omega_2) <= delta: the *largest* such gamma."""
    return largest_gamma(vertex(k, eta, n_watched), delta, n_watched=n_watched)


def equation16_as_printed(*, k: float, eta: float, n_watched: int, delta: float) -> float:
    """(16) as printed, the *least* gamma with P(Omega_2) <= delta: always 0, where epsilon is infinite.

    P(Omega_2) falls to 0 with gamma, so the least feasible gamma is 0 and the constraint never binds. The
    text around it wants epsilon small, and epsilon falls as gamma grows: see `equation16`.
    """
    if outside(vertex(k, eta, n_watched), 0.0, n_watched=n_watched) <= delta:
        return 0.0
    raise ParameterError(f"delta must be >= 0; got {delta!r}")


def theorem2(
    *, k: float, eta: float, eta_bar: float, b: float, n_vectors: int, n_watched: int, gamma: float
) -> Claim:
    """Theorem 2: the (epsilon, delta) of the average of N vectors, whose entries move by at most b/(2N)."""
    return Claim(
        theorem="Gohari et al., Theorem 2 (with b/(2N))",
        epsilon=_epsilon(k, eta, eta_bar, b / 2 / n_vectors, n_watched, gamma),
        delta=outside(vertex(k, eta, n_watched), gamma, n_watched=n_watched),
        assumptions=_assumptions(k, eta, eta_bar, n_watched, gamma, b / 2 / n_vectors),
    )


def theorem2_as_printed(
    *, k: float, eta: float, eta_bar: float, b: float, n: int, n_watched: int, gamma: float
) -> Claim:
    """Theorem 2 as printed, with b/(2n): n is the length of the vectors, where N, their number, is meant.

    With n = 3, N = 100, eta = eta_bar = .05, k = 24, b = 1, delta = .05 it gives 32.6, while the paper's own
    example, 1.18, comes near the 1.122 of b/(2N). An entry of an average of N vectors moves by b/(2N).
    """
    return Claim(
        theorem="Gohari et al., Theorem 2 as printed (with b/(2n))",
        epsilon=_epsilon(k, eta, eta_bar, b / 2 / n, n_watched, gamma),
        delta=outside(vertex(k, eta, n_watched), gamma, n_watched=n_watched),
        assumptions=_assumptions(k, eta, eta_bar, n_watched, gamma, b / 2 / n),
    )


def proposition1(p_i: float, k: float) -> tuple[Bound, Bound]:
    """Proposition 1: an output entry's expectation and variance, the latter at most 1/(4 (k + 1)) (23)."""
    return (
        Bound(theorem="Gohari et al., Proposition 1 (expectation)", value=p_i),
        Bound(theorem="Gohari et al., Proposition 1 (22)", value=p_i * (1 - p_i) / (k + 1)),
    )


def k_for_epsilon(
    epsilon: float, *, eta: float, eta_bar: float, b: float, n_watched: int, delta: float
) -> float:
    """The k at which Theorem 1 with the best gamma for `delta` gives `epsilon`, searched over k eta >= 1."""

    def claimed(k: float) -> float:
        gamma = equation16(k=k, eta=eta, n_watched=n_watched, delta=delta)
        return lemma4(k=k, eta=eta, eta_bar=eta_bar, b=b, n_watched=n_watched, gamma=gamma)

    return solve_k(claimed, epsilon, 1 / eta)


def solve_k(claimed: Callable[[float], float], epsilon: float, least: float) -> float:
    """The largest k >= `least` with claimed(k) <= epsilon, for a claim that grows with k."""
    strongest = claimed(least)
    if strongest > epsilon:
        raise ParameterError(
            f"epsilon = {epsilon:g} is below the least that this formula reaches, {strongest:.6g} "
            f"at k = {least:.6g}"
        )
    high = 2 * least
    while claimed(high) <= epsilon:
        high *= 2
    return float(optimize.brentq(lambda k: claimed(k) - epsilon, least, high, xtol=1e-12, rtol=1e-14))


def _log_odds(n_watched: int, gamma: float) -> float:
    return math.log((1 - (n_watched - 1) * gamma) / gamma) if gamma > 0 else math.inf


def _epsilon(k: float, eta: float, eta_bar: float, shift: float, n_watched: int, gamma: float) -> float:
    """Theorem 1's epsilon when one entry gains `shift` and another loses it."""
    room = 1 - eta_bar - eta
    if not (eta > 0 and shift > 0 and room - shift > 0):
        raise ParameterError(
            f"need eta > 0 and 0 < shift < 1 - eta_bar - eta; got eta = {eta}, shift = {shift}, room = {room}"
        )
    ratio = special.betaln(k * eta, k * room) - special.betaln(k * (eta + shift), k * (room - shift))
    return float(ratio) + k * shift * _log_odds(n_watched, gamma)


def _gamma(gamma: float, n_watched: int) -> Assumption:
    return Assumption(f"0 < gamma <= 1/|W| (here {gamma:g} and 1/{n_watched})", 0 < gamma <= 1 / n_watched)


def _assumptions(
    k: float, eta: float, eta_bar: float, n_watched: int, gamma: float, shift: float | None = None
) -> tuple[Assumption, ...]:
    checks = [
        Assumption("every input that matters lies in the bordered simplex", None),
        Assumption(
            "|W| >= 2 and room for a border: |W| eta <= 1 - eta_bar", 2 <= n_watched <= (1 - eta_bar) / eta
        ),
        Assumption(
            f"k eta >= 1, for the paper's proof of Lemma 2 (here {k * eta:.4g}; not needed)", k * eta >= 1
        ),
        _gamma(gamma, n_watched),
    ]
    if shift is not None:
        checks.append(Assumption("an entry can move as far as b allows: eta + shift < 1", eta + shift < 1))
    return tuple(checks)
