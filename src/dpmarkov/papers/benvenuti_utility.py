r"""Benvenuti et al.: the accuracy theorems.

Row i is drawn from Dirichlet(k_i C_i), unbiased. Expectations of the Kullback-Leibler divergence are exact
(Theorem 2) with a maximum over the data (Corollary 1). Theorems 4 and 5 bound the stationary distribution and
the ergodicity coefficient tau_inf by

    L = sum_i pi_i (Corollary 1 for row i),

through Lemma 6, E||P - P~||_1 <= sqrt(2 L). Pinsker's inequality gives that for the *pi-weighted sum* of the
rows' L1 errors (`lemma6`), not for the matrix norm (`lemma6_as_printed`): a row that is rarely visited has a
weight near zero in L, and its whole error in the norm. With it fall the proofs of Theorems 4 and 5; Theorem 5
itself is false. Bounds to rely on: `dpmarkov.utility.bounds`, and `theorem5` here.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from dpmarkov.chain import MarkovChain
from dpmarkov.chain.mixing import tau_inf
from dpmarkov.errors import ParameterError
from dpmarkov.papers.results import Assumption, Bound

__all__ = [
    "chain_loss",
    "corollary1",
    "corollary1_floor",
    "definition7",
    "lemma4",
    "lemma5",
    "lemma6",
    "lemma6_as_printed",
    "lemma7",
    "lemma8",
    "theorem2",
    "theorem4_as_printed",
    "theorem5",
    "theorem5_as_printed",
]

Array = npt.NDArray[np.float64]


def theorem2(shares: Sequence[float], k: float) -> Bound:
    """Theorem 2: E KL(C || C~) = sum_i C_i (ln C_i + psi(k) - psi(k C_i)), exactly."""
    c = np.asarray(shares, dtype=float)
    if np.any(c <= 0):
        raise ParameterError("every share must be > 0: the divergence is infinite otherwise")
    value = float(np.sum(c * (np.log(c) + special.digamma(k) - special.digamma(k * c))))
    return Bound(theorem="Benvenuti et al., Theorem 2", value=value)


def corollary1(*, k: float, n_entries: int, n_categories: int) -> Bound:
    """Corollary 1: the largest E KL(C || C~) over all data with every count >= 1.

    True. The printed proof is not (a symmetric function need not be largest where all arguments agree, and
    psi' is positive): x (ln x - psi(k x)) is convex, so that the maximum is at a vertex,
    (1/N, ..., 1/N, 1 - (n - 1)/N).
    """
    if n_entries < n_categories:
        raise ParameterError("with every count >= 1 there are at least as many entries as categories")
    bound = corollary1_floor(k=k, eta=1 / n_entries, n_categories=n_categories)
    return Bound(theorem="Benvenuti et al., Corollary 1", value=bound.value)


def corollary1_floor(*, k: float, eta: float, n_categories: int) -> Bound:
    """Corollary 1 for a public border: the largest E KL(C || C~) over all data with every share >= eta.

    With the paper's own assumption the border is eta, not 1/N, and the maximum is smaller.
    """
    last = 1 - (n_categories - 1) * eta
    if not (eta > 0 and last >= eta * (1 - 1e-12)):
        raise ParameterError(f"eta must lie in (0, 1/n]; got {eta!r} for n = {n_categories}")
    small = eta * (math.log(eta) - special.digamma(k * eta))
    large = last * (math.log(last) - special.digamma(k * last))
    value = float((n_categories - 1) * small + large + special.digamma(k))
    return Bound(theorem="Benvenuti et al., Corollary 1 with a public eta", value=value)


def lemma4(p: npt.ArrayLike, k: Sequence[float]) -> Bound:
    """Lemma 4: the expected divergence of the chain, sum_i pi_i E KL(P_i || P~_i); zeros are known zeros."""
    matrix = np.asarray(p, dtype=float)
    pi = MarkovChain(matrix).stationary_distribution
    rows = [theorem2(row[row > 0].tolist(), k_i).value for row, k_i in zip(matrix, k, strict=True)]
    return Bound(theorem="Benvenuti et al., Lemma 4", value=float(pi @ rows))


def chain_loss(p: npt.ArrayLike, k: Sequence[float], n_entries: Sequence[int]) -> float:
    """L of Theorems 4 and 5: the pi-weighted sum of Corollary 1's bounds, with n the number of states."""
    matrix = np.asarray(p, dtype=float)
    pi = MarkovChain(matrix).stationary_distribution
    n = matrix.shape[0]
    rows = [
        corollary1(k=k_i, n_entries=size, n_categories=n).value
        for k_i, size in zip(k, n_entries, strict=True)
    ]
    return float(pi @ rows)


def lemma5(z: npt.ArrayLike, p: npt.ArrayLike, private: npt.ArrayLike) -> Bound:
    """Lemma 5 (Seneta): |pi - pi~|_1 <= ||Z|| ||P - P~||, with the largest row sum as the norm of both."""
    gap = np.abs(np.asarray(p, dtype=float) - np.asarray(private, dtype=float)).sum(axis=1).max()
    value = float(np.abs(np.asarray(z, dtype=float)).sum(axis=1).max() * gap)
    return Bound(theorem="Benvenuti et al., Lemma 5", value=value)


def lemma6(p: npt.ArrayLike, k: Sequence[float], n_entries: Sequence[int]) -> Bound:
    """Lemma 6 as Pinsker's inequality gives it: E sum_i pi_i |P_i - P~_i|_1 <= sqrt(2 L)."""
    return Bound(
        theorem="Benvenuti et al., Lemma 6 for the pi-weighted error",
        value=math.sqrt(2 * chain_loss(p, k, n_entries)),
        assumptions=_assumptions(p),
    )


def lemma6_as_printed(p: npt.ArrayLike, k: Sequence[float], n_entries: Sequence[int]) -> Bound:
    """Lemma 6 as printed, E||P - P~||_1 <= sqrt(2 L) for the matrix norm: false.

    The counterexample of `theorem5_as_printed` serves here too: the noise of a row that is rarely visited
    counts in the norm, and hardly in L.
    """
    return Bound(
        theorem="Benvenuti et al., Lemma 6 as printed",
        value=math.sqrt(2 * chain_loss(p, k, n_entries)),
        assumptions=_assumptions(p),
    )


def theorem4_as_printed(
    p: npt.ArrayLike, k: Sequence[float], n_entries: Sequence[int], *, row_norm: bool = False
) -> Bound:
    """Theorem 4 as printed: E TV(pi, pi~) <= ||Z||_1 sqrt(2 L)/2. The paper's, not to be relied on.

    Its proof multiplies Lemma 5, which needs the largest row sum of Z, with Lemma 6, which is false. No
    counterexample to the statement is known to us, under full support or with known zeros (a search over
    sparse chains stayed below .6 of the bound). Use `dpmarkov.utility.bounds`, which is proven.

    Parameters
    ----------
    p, k, n_entries
        The chain, and k_i and N_i for each row.
    row_norm
        Use the largest row sum of Z instead of the largest column sum, which is the matrix 1-norm.
    """
    matrix = np.asarray(p, dtype=float)
    pi = MarkovChain(matrix).stationary_distribution
    z = np.linalg.inv(np.eye(len(pi)) - matrix - np.outer(np.ones(len(pi)), pi))
    norm = float(np.abs(z).sum(axis=1 if row_norm else 0).max())
    return Bound(
        theorem="Benvenuti et al., Theorem 4 as printed",
        value=norm * math.sqrt(2 * chain_loss(matrix, k, n_entries)) / 2,
        assumptions=_assumptions(p),
    )


def definition7(p: npt.ArrayLike) -> float:
    """Definition 7: tau_inf(P) = max |P' z|_inf over |z|_inf = 1, sum z = 0, exactly."""
    return tau_inf(np.asarray(p, dtype=float))


def theorem5(p: npt.ArrayLike, k: Sequence[float]) -> Bound:
    """A valid bound in the place of Theorem 5: E|tau_inf(P) - tau_inf(P~)| <= sum_i E|P_i - P~_i|_inf.

    |tau_inf(P) - tau_inf(P~)| is at most the largest column sum of |P - P~|, hence at most the sum of the
    rows' largest errors. For a vector that sums to zero, |x|_inf^2 <= (1 - 1/n) |x|_2^2, and
    E|P_i - P~_i|_2^2 = (1 - |P_i|_2^2)/(k_i + 1).
    """
    matrix = np.asarray(p, dtype=float)
    sizes = (matrix > 0).sum(axis=1)
    spread = (1 - (matrix**2).sum(axis=1)) / (np.asarray(k, dtype=float) + 1)
    value = float(np.sum(np.sqrt((1 - 1 / sizes) * np.maximum(spread, 0))))
    return Bound(theorem="in the place of Benvenuti et al., Theorem 5", value=value)


def theorem5_as_printed(p: npt.ArrayLike, k: Sequence[float], n_entries: Sequence[int]) -> Bound:
    """Theorem 5 as printed, E|tau_inf(P) - tau_inf(P~)| <= sqrt(2 L): false.

    Counterexample with every assumption met: P = (.3, .699, .001; .3, .699, .001; .25, .25, .5) with
    k = (30000, 30000, 7.5) and N = (100000, 100000, 20), eta = (.001, .001, .2). The noise of the third row,
    visited one time in 500, moves tau_inf by .125 on average; the bound says .028.
    """
    return Bound(
        theorem="Benvenuti et al., Theorem 5 as printed",
        value=math.sqrt(2 * chain_loss(p, k, n_entries)),
        assumptions=_assumptions(p),
    )


def lemma7(share: float, k: float) -> tuple[Bound, Bound, Bound, Bound]:
    """Lemma 7: E|C_i - C~_i| and its bound, E|C_i - C~_i|^2 and its bound: moments of a Beta distribution."""
    log = k * share * math.log(share) + k * (1 - share) * math.log1p(-share)
    first = 2 * math.exp(log - special.betaln(k * share, k * (1 - share))) / k
    bound = math.exp(special.gammaln(k) + (1 - k) * math.log(2) - 2 * special.gammaln(k / 2)) / k
    return (
        Bound(theorem="Benvenuti et al., Lemma 7 (mean absolute error)", value=first),
        Bound(theorem="Benvenuti et al., Lemma 7 (its bound)", value=bound),
        Bound(theorem="Benvenuti et al., Lemma 7 (mean squared error)", value=share * (1 - share) / (k + 1)),
        Bound(theorem="Benvenuti et al., Lemma 7 (its bound)", value=1 / (4 * (k + 1))),
    )


def lemma8(*, k: float, n_entries: int, n_categories: int) -> Bound:
    """Lemma 8: a lower bound of E|C_i - C~_i| for any data with every count >= 1."""
    low, rest = 1 / n_entries, (n_categories - 1) / n_entries
    log = k * (1 - rest) * math.log(low) + k * (1 - low) * math.log(rest)
    value = 2 * math.exp(log - special.betaln(k * low, k * rest)) / k
    return Bound(theorem="Benvenuti et al., Lemma 8", value=value)


def _assumptions(p: npt.ArrayLike) -> tuple[Assumption, ...]:
    matrix = np.asarray(p, dtype=float)
    chain = MarkovChain(matrix)
    return (
        Assumption("5: every state can be reached from every other", chain.is_irreducible),
        Assumption(
            "6: every feasible transition has occurred (here: every cell is positive)",
            bool(np.all(matrix > 0)),
        ),
    )
