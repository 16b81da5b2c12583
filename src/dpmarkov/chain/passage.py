"""How long from here to there: hitting times and probabilities.

Definitions, for a set of target states T:

- hitting probability of T from i: that the chain, started in i, is ever in T (1 for i in T);
- mean hitting time of T from i: the expected number of steps until it is (0 for i in T; infinite where the
  probability is below one);
- mean first passage m_ij: the mean hitting time of {j} from i, with m_jj = 0;
- Kemeny's constant: sum over j of pi_j m_ij, the same for every i: the mean time to a state drawn from the
  stationary distribution. (Others add 1: they count the return to the start as 1 / pi_i.)

Which probabilities are 0 or 1, and which times infinite, is read off the graph and is exact. The rest comes
from state elimination, without subtraction; sparse chains above the dense limit take a sparse solver.
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import spsolve

from dpmarkov.chain.gth import visits
from dpmarkov.chain.stationary import DENSE_STATES
from dpmarkov.errors import EngineError

__all__ = ["hitting_probabilities", "hitting_times"]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_RESIDUAL = 1e-10


def hitting_probabilities(matrix: Array | sparse.csr_array, targets: Mask) -> Array:
    """The probability of ever being in `targets`, from each state."""
    able = _can_reach(matrix, targets)
    certain = ~_can_reach(matrix, ~able, avoiding=targets)
    result = np.where(targets | certain, 1.0, 0.0)
    open_question = able & ~targets & ~certain
    if open_question.any():
        inside, exits = _cut(matrix, open_question)
        aim = _sums(matrix, open_question, result == 1.0)
        result[open_question] = np.minimum(_solve(inside, exits, aim), 1.0)
    return result


def hitting_times(matrix: Array | sparse.csr_array, targets: Mask) -> Array:
    """The expected number of steps until `targets`, from each state; infinite where they may be missed."""
    able = _can_reach(matrix, targets)
    certain = ~_can_reach(matrix, ~able, avoiding=targets)
    result = np.where(targets, 0.0, np.inf)
    walking = certain & ~targets
    if walking.any():
        inside, exits = _cut(matrix, walking)
        result[walking] = _solve(inside, exits, np.ones(exits.size))
    return result


def _can_reach(matrix: Array | sparse.csr_array, goal: Mask, avoiding: Mask | None = None) -> Mask:
    """States with a path into `goal`, of length 0 or more, that does not step through `avoiding`."""
    back = sparse.csr_array(matrix.T, copy=True)
    back.eliminate_zeros()
    reached = goal.copy()
    frontier = np.flatnonzero(goal)
    while frontier.size:
        sources = np.unique(back[frontier].indices)
        fresh = sources[~reached[sources]]
        if avoiding is not None:
            fresh = fresh[~avoiding[fresh]]
        reached[fresh] = True
        frontier = fresh
    return reached


def _cut(matrix: Array | sparse.csr_array, block: Mask) -> tuple[Array | sparse.csr_array, Array]:
    """The block's inner transitions and its exits."""
    return matrix[block][:, block], _sums(matrix, block, ~block)


def _sums(matrix: Array | sparse.csr_array, rows: Mask, columns: Mask) -> Array:
    return np.asarray(matrix[rows][:, columns].sum(axis=1), dtype=np.float64)


def _solve(inside: Array | sparse.csr_array, exits: Array, right: Array) -> Array:
    """(I - inside)^-1 right."""
    if isinstance(inside, np.ndarray):
        return np.asarray(visits(inside, exits) @ right)
    if exits.size <= DENSE_STATES:
        return np.asarray(visits(inside.toarray(), exits) @ right)
    off = sparse.csr_array(inside - sparse.diags_array(inside.diagonal()))
    system = sparse.csc_array(sparse.diags_array(off.sum(axis=1) + exits) - off)
    answer = np.asarray(spsolve(system, right))
    error = float(np.abs(system @ answer - right).max())
    if not error <= _RESIDUAL * max(1.0, float(np.abs(right).max())):
        raise EngineError(
            f"the sparse solver left a residual of {error:.3g}; the chain is too nearly decomposable for it. "
            f"Restrict the chain to at most {DENSE_STATES:,} states, where elimination is exact"
        )
    return answer
