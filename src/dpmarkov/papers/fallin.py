r"""Fallin et al. (2023): the Matrix Dirichlet Mechanism, for a stochastic matrix that is itself sensitive.

Row i of the matrix P is released as one draw of Dirichlet(k P_i). By Definition 4, two matrices are
b-adjacent when *in every row* two entries of W_i differ by at most b in L1 norm.

Theorem 1 takes the worst row's (epsilon, delta), by parallel composition. That holds when one row differs;
when every row does, as in Definition 4, the rows compose: `theorem1_one_row` and `theorem1_all_rows`. Exact
for the same mechanism: Theorem A of `docs/mathematics.md` with alpha = k eta and weight k b / 2, for one row,
and its composition over the rows, for all.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from dpmarkov.errors import ParameterError
from dpmarkov.papers import gohari
from dpmarkov.papers.omega import outside, vertex
from dpmarkov.papers.results import Assumption, Bound, Claim

__all__ = [
    "definition4_adjacent",
    "k_for_epsilon",
    "lemma1",
    "lemma2",
    "lemma3",
    "smallest_epsilon",
    "theorem1_all_rows",
    "theorem1_as_printed",
    "theorem1_one_row",
    "theorem2",
    "theorem3",
    "theorem3_as_printed",
]

Array = npt.NDArray[np.float64]


def definition4_adjacent(
    p: npt.ArrayLike, q: npt.ArrayLike, watched: Sequence[Sequence[int]], b: float, *, rows: str = "all"
) -> bool:
    """Definition 4: whether each row differs as allowed; with `rows="one"`, and at most one does."""
    first, second = np.asarray(p, dtype=float).tolist(), np.asarray(q, dtype=float).tolist()
    changed = sum(a != c for a, c in zip(first, second, strict=True))
    if rows == "one" and changed > 1:
        return False
    return all(
        gohari.definition1_adjacent(a, c, w, b) for a, c, w in zip(first, second, watched, strict=True)
    )


def lemma1(claims: Sequence[Claim]) -> Claim:
    """Lemma 1, parallel composition: the worst of the parts' claims, when one part of the data differs."""
    return Claim(
        theorem="Fallin et al., Lemma 1",
        epsilon=max(c.epsilon for c in claims),
        delta=max(c.delta for c in claims),
        assumptions=(
            *dict.fromkeys(a for c in claims for a in c.assumptions),
            Assumption("neighbours differ in one part only", None),
        ),
    )


def lemma2(p_i: Sequence[float], k: float, watched: Sequence[int], gamma: float) -> Bound:
    """Lemma 2: P(row i of the output in Omega_1), as in Gohari et al., Lemma 1."""
    bound = gohari.lemma1(p_i, k, watched, gamma)
    return Bound(theorem="Fallin et al., Lemma 2", value=bound.value, assumptions=bound.assumptions)


def theorem1_as_printed(
    *, k: float, eta: float, eta_bar: float, b: float, n_watched: Sequence[int], gamma: Sequence[float]
) -> Claim:
    """Theorem 1 as printed, for matrices that differ in every row.

    Counterexample: 32 rows, k = 9.87, eta = .1, b = .025 claim (1.16, .011) in the paper's example; the exact
    delta at epsilon = 1.16, composed over the rows, is .179. The printed delta, 1 - max_i min P(Omega_1), is
    besides that of the *best* row; the text before it has max_i delta_i.

    Parameters
    ----------
    k, eta, eta_bar, b
        As in Gohari et al., Theorem 1.
    n_watched, gamma
        |W_i| and gamma_i, one of each for every row.
    """
    rows = _rows(k, eta, eta_bar, b, n_watched, gamma)
    return Claim(
        theorem="Fallin et al., Theorem 1 as printed",
        epsilon=max(c.epsilon for c in rows),
        delta=min(c.delta for c in rows),
        assumptions=_assumptions(k, eta, eta_bar, rows),
    )


def theorem1_one_row(
    *, k: float, eta: float, eta_bar: float, b: float, n_watched: Sequence[int], gamma: Sequence[float]
) -> Claim:
    """Theorem 1 for matrices that differ in one row: the worst row's epsilon and delta. Valid."""
    rows = _rows(k, eta, eta_bar, b, n_watched, gamma)
    worst = lemma1(rows)
    return Claim(
        theorem="Fallin et al., Theorem 1 (one row differs)",
        epsilon=worst.epsilon,
        delta=worst.delta,
        assumptions=(*_assumptions(k, eta, eta_bar, rows), Assumption("neighbours differ in one row", None)),
    )


def theorem1_all_rows(
    *, k: float, eta: float, eta_bar: float, b: float, n_watched: Sequence[int], gamma: Sequence[float]
) -> Claim:
    """Theorem 1 repaired for Definition 4, where every row may differ.

    Probabilistic differential privacy composes over independent rows: on the product of the rows' Omega_1 the
    log ratio is at most the sum of the epsilons, and the product is left with probability
    1 - prod_i (1 - delta_i).
    """
    rows = _rows(k, eta, eta_bar, b, n_watched, gamma)
    kept = math.fsum(math.log1p(-min(c.delta, 1 - 1e-16)) for c in rows)
    return Claim(
        theorem="Fallin et al., Theorem 1 (all rows differ, composed)",
        epsilon=math.fsum(c.epsilon for c in rows),
        delta=-math.expm1(kept),
        assumptions=_assumptions(k, eta, eta_bar, rows),
    )


def theorem2(k: float) -> tuple[Bound, Bound]:
    """Theorem 2: bounds of E|P_ij - P~_ij| and of E|P_ij - P~_ij|^2, for any entry.

    Both are reached at P_ij = 1/2.
    """
    first = math.exp(special.gammaln(k) + (1 - k) * math.log(2) - 2 * special.gammaln(k / 2)) / k
    return (
        Bound(theorem="Fallin et al., Theorem 2 (first)", value=first),
        Bound(theorem="Fallin et al., Theorem 2 (second)", value=k / (4 * (k**2 + k))),
    )


def lemma3(z: npt.ArrayLike, p: npt.ArrayLike, private: npt.ArrayLike) -> Bound:
    """Lemma 3 (Seneta): |pi - pi~|_1 <= ||Z|| ||P - P~|| with the norm of row vectors, the largest row sum.

    With the usual matrix 1-norm, the largest *column* sum, it does not follow: row vectors multiply from the
    left.
    """
    gap = np.asarray(p, dtype=float) - np.asarray(private, dtype=float)
    return Bound(
        theorem="Fallin et al., Lemma 3", value=_row_norm(np.asarray(z, dtype=float)) * _row_norm(gap)
    )


def theorem3(z: npt.ArrayLike, k: float) -> Bound:
    """A valid bound of E|pi - pi~|_1 in the place of Theorem 3, for rows with n entries and one k.

    |pi - pi~|_1 <= ||Z|| max_i |P_i - P~_i|_1, and the expected maximum is at most
    sqrt(sum_i E|P_i - P~_i|_1^2) <= sqrt(n (n - 1)/(k + 1)).
    """
    matrix = np.asarray(z, dtype=float)
    n = matrix.shape[0]
    return Bound(
        theorem="in the place of Fallin et al., Theorem 3",
        value=_row_norm(matrix) * math.sqrt(n * (n - 1) / (k + 1)),
    )


def theorem3_as_printed(
    z: npt.ArrayLike, *, k: float, eta: float, eta_bar: float, n_watched: Sequence[int]
) -> Bound:
    """Theorem 3: the paper's bound of E|pi - pi~|_1, with the norm of row vectors.

    Its second term treats the errors within a row as if they were independent. No counterexample is known
    (its first term is generous), so it is reported as the paper's and never used for a guarantee.

    Parameters
    ----------
    z
        The fundamental matrix (I - P - 1 pi')^{-1}. With +1 pi', as usual, its norm differs and the bound's
        truth does not.
    k, eta, eta_bar, n_watched
        As in `theorem1_as_printed`.
    """
    matrix = np.asarray(z, dtype=float)
    n = matrix.shape[0]
    mean, square = (bound.value for bound in theorem2(k))
    least = 0.0
    for size in n_watched:
        share = eta_bar + (size - 1) * eta
        log = 2 * k * (1 - share) * math.log(eta) + 2 * k * (1 - eta) * math.log(share)
        least = max(least, 4 * math.exp(log - 2 * special.betaln(k * eta, k * share)) / k**2)
    inner = n**2 * square - least
    value = _row_norm(matrix) * (n * mean + math.sqrt((n - 1) / n) * math.sqrt(max(inner, 0.0)))
    return Bound(theorem="Fallin et al., Theorem 3 as printed", value=value)


def k_for_epsilon(
    epsilon: float, *, eta: float, eta_bar: float, b: float, n_watched: int, gamma: float
) -> float:
    """The k at which Theorem 1 gives `epsilon` for a fixed gamma, from Assumption 2's least k upwards."""

    def claimed(k: float) -> float:
        return gohari.lemma4(k=k, eta=eta, eta_bar=eta_bar, b=b, n_watched=n_watched, gamma=gamma)

    return gohari.solve_k(claimed, epsilon, _least_k(eta, eta_bar))


def smallest_epsilon(*, eta: float, eta_bar: float, b: float, n_watched: int, gamma: float) -> float:
    """The epsilon of Theorem 1 at the least k of Assumption 2: the paper's strongest privacy."""
    k = _least_k(eta, eta_bar)
    return gohari.lemma4(k=k, eta=eta, eta_bar=eta_bar, b=b, n_watched=n_watched, gamma=gamma)


def _least_k(eta: float, eta_bar: float) -> float:
    return max(1 / eta, 1 / (1 - eta - eta_bar))


def _row_norm(matrix: Array) -> float:
    return float(np.abs(matrix).sum(axis=1).max())


def _rows(
    k: float, eta: float, eta_bar: float, b: float, n_watched: Sequence[int], gamma: Sequence[float]
) -> list[Claim]:
    if not n_watched or len(n_watched) != len(gamma):
        raise ParameterError("give |W_i| and gamma_i once for every row, at least one row")
    known: dict[tuple[int, float], Claim] = {}
    for key in zip(n_watched, gamma, strict=True):
        if key not in known:
            size, g = key
            known[key] = Claim(
                theorem="row",
                epsilon=gohari.lemma4(k=k, eta=eta, eta_bar=eta_bar, b=b, n_watched=size, gamma=g),
                delta=outside(vertex(k, eta, size), g, n_watched=size),
                assumptions=(Assumption(f"3: gamma_i <= 1/|W_i| (here {g:g}, 1/{size})", 0 < g <= 1 / size),),
            )
    return [known[key] for key in zip(n_watched, gamma, strict=True)]


def _assumptions(k: float, eta: float, eta_bar: float, rows: list[Claim]) -> tuple[Assumption, ...]:
    least = _least_k(eta, eta_bar)
    return (
        Assumption("every row that matters lies in its bordered simplex", None),
        Assumption(
            "1: eta, eta_bar > 0 and eta + eta_bar < 1/2", eta > 0 and eta_bar > 0 and eta + eta_bar < 0.5
        ),
        Assumption(f"2: k >= max(1/eta, 1/(1 - eta - eta_bar)) = {least:.6g} (here {k:g})", k >= least),
        *dict.fromkeys(a for c in rows for a in c.assumptions),
    )
