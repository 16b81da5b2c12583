"""State elimination without subtraction, after Grassmann, Taksar and Heyman (GTH).

Definitions used here, for a stochastic matrix P split into states A that are kept and states B that are cut
out:

- the *exits* of B: how likely each state of B is to leave B in one step, added up from the entries themselves
  and never formed as one minus something;
- the *visits* N = (I - P_BB)^-1: N_ij is the expected number of visits to j before B is left, from i;
- the *censored* chain S = P_AA + P_AB N P_BA: the chain watched only while it is in A.

Every formula adds and multiplies numbers >= 0 and divides by numbers > 0, so each entry of the results is
right to a small multiple of the machine's precision, relative to that entry, however nearly the chain falls
apart into pieces (O'Cinneide, Numer. Math. 65, 1993). Diagonal entries of P are never read: they are what the
others leave over. Blocks halve recursively, so that nearly all the work is matrix multiplication.
"""

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular

from dpmarkov.errors import EngineError

__all__ = ["censor", "passage_times", "stationary_vector", "stationary_vectors", "visits"]

Array = npt.NDArray[np.float64]

_BLOCK = 48
_CACHED = 1 << 18


def visits(inside: Array, exits: Array) -> Array:
    """(I - inside)^-1 for a substochastic block.

    Parameters
    ----------
    inside
        Probabilities of moving within the block; its diagonal is not read.
    exits
        Probability of leaving the block from each of its states.
    """
    n = exits.size
    if n <= _BLOCK:
        return _visits_small(inside, exits)
    h = n // 2
    p11, p12, p21, p22 = inside[:h, :h], inside[:h, h:], inside[h:, :h], inside[h:, h:]
    n11 = visits(p11, exits[:h] + p12.sum(axis=1))
    over = n11 @ p12
    n22 = visits(p22 + p21 @ over, exits[h:] + p21 @ (n11 @ exits[:h]))
    back = p21 @ n11
    upper = over @ n22
    result = np.empty((n, n))
    result[:h, :h] = n11
    result[:h, :h] += upper @ back
    result[:h, h:] = upper
    np.matmul(n22, back, out=result[h:, :h])
    result[h:, h:] = n22
    return result


def _visits_small(inside: Array, exits: Array) -> Array:
    """`visits` by elimination one state at a time, then two triangular solves without cancellation."""
    n = exits.size
    p = np.array(inside, dtype=np.float64)
    e = np.array(exits, dtype=np.float64)
    lower = np.eye(n)
    upper = np.zeros((n, n))
    for k in range(n):
        pivot = float(e[k] + p[k, k + 1 :].sum())
        _check_pivot(pivot)
        upper[k, k] = pivot
        upper[k, k + 1 :] = -p[k, k + 1 :]
        ratio = p[k + 1 :, k] / pivot
        lower[k + 1 :, k] = -ratio
        p[k + 1 :, k + 1 :] += ratio[:, None] * p[k, k + 1 :]
        e[k + 1 :] += ratio * e[k]
    first = solve_triangular(lower, np.eye(n), lower=True, unit_diagonal=True, check_finite=False)
    return np.asarray(solve_triangular(upper, first, check_finite=False))


def _check_pivot(pivot: float) -> None:
    if not pivot > 0.0:
        raise EngineError(
            "a state elimination met a set of states that is left with a probability below 1e-308; "
            "the chain is irreducible in name only. Set such tiny entries to zero and analyse the classes"
        )


def censor(p: Array, kept: int) -> tuple[Array, Array, Array]:
    """The chain watched on its first `kept` states.

    Returns
    -------
    watched
        The censored chain on the first `kept` states (its diagonal is what the rest leaves over).
    n
        Visits among the states that were cut out.
    ahead
        Expected visits to each state that was cut out, between two steps of the watched chain.
    """
    n = visits(p[kept:, kept:], p[kept:, :kept].sum(axis=1))
    ahead = p[:kept, kept:] @ n
    return p[:kept, :kept] + ahead @ p[kept:, :kept], n, ahead


def stationary_vector(p: Array) -> Array:
    """The stationary distribution of an irreducible dense chain, right in every entry relative to itself."""
    weights = _unnormalised(p)
    return np.asarray(weights / weights.sum())


def _unnormalised(p: Array) -> Array:
    n = p.shape[0]
    if n <= _BLOCK:
        return np.asarray(stationary_vectors(p[None])[0])
    kept = n // 2
    watched, _, ahead = censor(p, kept)
    head = _unnormalised(watched)
    return np.concatenate([head, head @ ahead])


def stationary_vectors(batch: Array) -> Array:
    """The stationary distributions of a stack of irreducible chains, shape (chains, states, states).

    A few chains at a time, so that they stay in the processor's cache while states are cut out one by one.
    """
    at_once = max(1, _CACHED // batch.shape[-1] ** 2)
    parts = [_eliminated(batch[i : i + at_once]) for i in range(0, len(batch), at_once)]
    return np.concatenate(parts) if parts else np.empty(batch.shape[:2])


def _eliminated(batch: Array) -> Array:
    p = np.array(batch, dtype=np.float64)
    n = p.shape[-1]
    for k in range(n - 1, 0, -1):
        pivots = p[:, k, :k].sum(axis=-1)
        _check_pivot(float(pivots.min()))
        p[:, :k, k] /= pivots[:, None]
        p[:, :k, :k] += p[:, :k, k, None] * p[:, k, None, :k]
    weights = np.empty((p.shape[0], n))
    weights[:, 0] = 1.0
    for k in range(1, n):
        weights[:, k] = np.einsum("bi,bi->b", weights[:, :k], p[:, :k, k])
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def passage_times(p: Array, holding: Array | None = None) -> Array:
    """Mean first passage times between all pairs of states of an irreducible dense chain; 0 on the diagonal.

    To reach a target in A, cut B out: a step of the censored chain takes as long as the steps it hides
    (`holding` times add up), and whoever starts in B first walks to A. Applied to both halves, recursively.
    """
    n = p.shape[0]
    w = np.ones(n) if holding is None else holding
    if n == 1:
        return np.zeros((1, 1))
    if n == 2:
        _check_pivot(float(min(p[0, 1], p[1, 0])))
        return np.array([[0.0, w[0] / p[0, 1]], [w[1] / p[1, 0], 0.0]])
    h = n // 2
    result = np.empty((n, n))
    order = np.concatenate([np.arange(h, n), np.arange(h)])
    turned = p[np.ix_(order, order)]
    for chain, time, rows in ((p, w, np.arange(n)), (turned, w[order], order)):
        kept = h if chain is p else n - h
        watched, inner, ahead = censor(chain, kept)
        within = passage_times(watched, time[:kept] + ahead @ time[kept:])
        result[np.ix_(rows[:kept], rows[:kept])] = within
        outer = chain[kept:, :kept] @ within
        outer += time[kept:, None]
        result[np.ix_(rows[kept:], rows[:kept])] = inner @ outer
    return result
