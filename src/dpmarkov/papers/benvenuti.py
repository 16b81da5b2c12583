r"""Benvenuti et al.: private counting queries, and Markov chains whose rows are counting queries.

A row of N counts with shares C = x/N is released as one draw of Dirichlet(k C). Adjacent databases differ in
one entry, so two shares differ by 1/N. All databases that matter are assumed to have every share >= eta.
Theorem 1 gives

    epsilon = ln[B(k eta, k (1 - 2 eta)) / B(k (eta + 1/N), k (1 - 2 eta - 1/N))]
              + (k/N) ln((1 - (n - 1) gamma)/gamma),      delta = max P(some entry < gamma).

The assumption is on *all* databases. Taking eta from the data (or merging states until eta is large enough)
voids it: `data_dependent_eta_as_printed`. The *floor* form of dpmarkov's Dirichlet mechanism needs no such
assumption. Exact for the same mechanism: Theorem A of `docs/mathematics.md`, alpha = k eta, weight k/N.

The utility theorems (2, 4, 5) are in `dpmarkov.papers.benvenuti_utility`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpmarkov.errors import ParameterError
from dpmarkov.papers import gohari
from dpmarkov.papers.omega import outside, outside_bound, vertex
from dpmarkov.papers.results import Assumption, Bound, Claim

__all__ = [
    "Plan",
    "algorithm1",
    "algorithm2",
    "data_dependent_eta_as_printed",
    "k_for_epsilon",
    "lemma1",
    "lemma2",
    "lemma3_minimum",
    "smallest_epsilon",
    "smallest_k",
    "theorem1",
    "theorem3",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What Algorithm 1 or 2 draws from, and what the paper claims for it. The draw itself is not made here.

    Parameters
    ----------
    parameters
        The Dirichlet parameters of each row, k_i times its shares: as sensitive as the data.
    claim
        The paper's (epsilon, delta).
    """

    parameters: tuple[tuple[float, ...], ...]
    claim: Claim


def theorem1(
    *, k: float, eta: float, n_entries: int, n_categories: int, gamma: float, certified: bool = False
) -> Claim:
    """Theorem 1: the (epsilon, delta) of one counting query.

    Parameters
    ----------
    k
        The mechanism's concentration.
    eta
        The least share of any category, in every database that matters.
    n_entries
        N, the number of entries of the database.
    n_categories
        n.
    gamma
        The threshold of Omega_1.
    certified
        Give the certified union bound for delta (microseconds) in place of the contour integral.
    """
    measure = outside_bound if certified else outside
    return Claim(
        theorem="Benvenuti et al., Theorem 1",
        epsilon=_epsilon(k, eta, n_entries, n_categories, gamma),
        delta=measure(vertex(k, eta, n_categories - 1), gamma),
        assumptions=_assumptions(k, eta, n_categories, gamma),
    )


def smallest_k(eta: float) -> float:
    """Assumption 4: the least k for a border eta, 3/(2 eta)."""
    return 3 / (2 * eta)


def smallest_epsilon(*, eta: float, n_entries: int, n_categories: int, gamma: float) -> float:
    """The paper's epsilon*, Theorem 1's at the least k of Assumption 4 (after Theorem 1)."""
    return _epsilon(smallest_k(eta), eta, n_entries, n_categories, gamma)


def k_for_epsilon(epsilon: float, *, eta: float, n_entries: int, n_categories: int, gamma: float) -> float:
    """The k >= 3/(2 eta) at which Theorem 1 gives `epsilon`; epsilon below epsilon* is refused."""
    return gohari.solve_k(
        lambda k: _epsilon(k, eta, n_entries, n_categories, gamma), epsilon, smallest_k(eta)
    )


def algorithm1(counts: Sequence[int], *, k: float, eta: float, gamma: float) -> Plan:
    """Algorithm 1: the Dirichlet parameters for one row of counts, and the claim for it.

    The claim's first assumption is about every database that matters, not about this one.
    """
    total = sum(counts)
    if total <= 0 or any(x < 0 for x in counts):
        raise ParameterError("counts must be >= 0 with a positive sum")
    if min(counts) < eta * total:
        raise ParameterError("Algorithm 1 has no guarantee here: a share lies below eta")
    claim = theorem1(k=k, eta=eta, n_entries=total, n_categories=len(counts), gamma=gamma)
    return Plan(parameters=(tuple(k * x / total for x in counts),), claim=claim)


def algorithm2(
    counts: Sequence[Sequence[int]], *, k: Sequence[float], eta: Sequence[float], gamma: Sequence[float]
) -> Plan:
    """Algorithm 2: Algorithm 1 for every row; the claim is the worst row's (Theorem 3)."""
    plans = [
        algorithm1(row, k=k_i, eta=eta_i, gamma=gamma_i)
        for row, k_i, eta_i, gamma_i in zip(counts, k, eta, gamma, strict=True)
    ]
    return Plan(
        parameters=tuple(plan.parameters[0] for plan in plans), claim=theorem3([plan.claim for plan in plans])
    )


def lemma1(claims: Sequence[Claim]) -> Claim:
    """Lemma 1, parallel composition: the worst of the rows' claims, as conventional differential privacy.

    True: the rows that do not differ have the same law under both databases, and add nothing. The printed
    proof is not: it bounds P(M in Omega_2) by the product of the rows', where Omega_2, the complement of
    Omega_1^1 x ... x Omega_1^m, has probability 1 - prod(1 - delta_i) >= max delta_i.
    """
    return Claim(
        theorem="Benvenuti et al., Lemma 1",
        epsilon=max(c.epsilon for c in claims),
        delta=max(c.delta for c in claims),
        assumptions=tuple(dict.fromkeys(a for c in claims for a in c.assumptions)),
    )


def theorem3(claims: Sequence[Claim]) -> Claim:
    """Theorem 3: a whole matrix has the worst row's epsilon and delta, each by Theorem 1."""
    worst = lemma1(claims)
    return Claim(
        theorem="Benvenuti et al., Theorem 3",
        epsilon=worst.epsilon,
        delta=worst.delta,
        assumptions=worst.assumptions,
    )


def lemma2(shares: Sequence[float], k: float, gamma: float) -> Bound:
    """Lemma 2: P(M(C) in Omega_1) for one vector of shares: one contour integral for any n."""
    value = 1 - outside([k * c for c in shares], gamma)
    return Bound(theorem="Benvenuti et al., Lemma 2", value=value, assumptions=(_gamma(gamma, len(shares)),))


def lemma3_minimum(k: float, eta: float, n_categories: int, gamma: float) -> Bound:
    """Lemma 3 and (4): the least P(M(C) in Omega_1) over the bordered simplex.

    The paper evaluates every extreme point. They are permutations of (eta, ..., eta, 1 - (n - 1) eta), and
    P(Omega_1) is symmetric: one evaluation serves all.
    """
    value = 1 - outside(vertex(k, eta, n_categories - 1), gamma)
    return Bound(
        theorem="Benvenuti et al., Lemma 3 and (4)",
        value=value,
        assumptions=_assumptions(k, eta, n_categories, gamma),
    )


def data_dependent_eta_as_printed(counts: Sequence[int], *, gamma: float, k: float | None = None) -> Claim:
    """Theorem 1 with eta taken from the data, as the paper's simulations do: no guarantee.

    Counterexamples: counts (2, 24, 24) with gamma = 1e-8 claim (16.2063, 3.28e-10); the neighbour (1, 25,
    24), whose own eta is 1/50, is distinguishable from it with delta = 3.715e-8 at that epsilon. And a count
    of 1 whose neighbour is 0 has delta = 1: under the neighbour the cell is known to be empty.
    """
    total = sum(counts)
    if min(counts) < 1:
        raise ParameterError("every count must be at least 1 for a positive eta")
    eta = min(counts) / total
    used = smallest_k(eta) if k is None else k
    claim = theorem1(k=used, eta=eta, n_entries=total, n_categories=len(counts), gamma=gamma)
    public = Assumption("eta is public: it was not chosen by looking at the data", False)
    return Claim(
        theorem="Benvenuti et al., Theorem 1 with eta = the least share of the data",
        epsilon=claim.epsilon,
        delta=claim.delta,
        assumptions=(*claim.assumptions, public),
    )


def _epsilon(k: float, eta: float, n_entries: int, n_categories: int, gamma: float) -> float:
    # Gohari's Lemma 4 with eta_bar = eta, one entry moving by 1/N, and every category watched.
    return gohari.lemma4(k=k, eta=eta, eta_bar=eta, b=2 / n_entries, n_watched=n_categories, gamma=gamma)


def _gamma(gamma: float, n_categories: int) -> Assumption:
    limit = 1 / (n_categories - 1)
    return Assumption(f"2: gamma <= 1/(n - 1) = {limit:.4g} (here {gamma:g})", 0 < gamma <= limit)


def _assumptions(k: float, eta: float, n_categories: int, gamma: float) -> tuple[Assumption, ...]:
    return (
        Assumption("every database that matters has every share >= eta", None),
        Assumption("1: every entry belongs to exactly one category", None),
        _gamma(gamma, n_categories),
        Assumption(f"3: 0 < eta < 1/4 (here {eta:g})", 0 < eta < 0.25),
        Assumption(
            f"4: k >= 3/(2 eta) = {smallest_k(eta):.6g} (here {k:g})", k >= smallest_k(eta) * (1 - 1e-12)
        ),
        Assumption("room for the border: n eta <= 1", n_categories * eta <= 1 + 1e-12 and math.isfinite(k)),
    )
