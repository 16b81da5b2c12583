"""How fast a chain forgets where it started.

Definitions, for a chain P with one recurrent class and stationary distribution pi:

- d(t) = max over starts i of TV(P^t(i, .), pi): the *worst-case* distance after t steps, never increasing;
- mixing time: the least t with d(t) <= a given distance, 1/4 unless told;
- absolute spectral gap: 1 - max |lambda| over the eigenvalues other than the simple eigenvalue 1;
- relaxation time: one over that gap;
- tau_1(P) = 1/2 max over i, j of ||P_i - P_j||_1 (Dobrushin's coefficient);
- tau_inf(P) = max of ||P' z||_inf over ||z||_inf = 1 with sum(z) = 0, the coefficient of Definition 7 in
  Benvenuti et al. (P' is the transpose).

Times may be astronomically large: powers are squared, not walked, and the time is found by bisection over
binary digits, so a mixing time of a million costs some forty matrix products.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist

from dpmarkov.chain.gth import visits
from dpmarkov.chain.structure import CommunicatingClass
from dpmarkov.errors import EngineError, ParameterError

__all__ = [
    "all_gaps",
    "check_steps",
    "distance_to_stationary",
    "gap",
    "mixing_curve",
    "mixing_time",
    "power",
    "tau_1",
    "tau_inf",
]

Array = npt.NDArray[np.float64]

_LAST_POWER = 1000
_CURVE_END = 1e-4
_SLOW = 1e-2


def check_steps(steps: int) -> int:
    """`steps` as an int, refused unless it is a whole number >= 0."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 0:
        raise ParameterError(f"a number of steps must be a whole number >= 0; got {steps!r}")
    return int(steps)


def distance_to_stationary(matrix: Array, pi: Array) -> float:
    """The largest, over rows, of the total variation distance to `pi`."""
    return float(0.5 * np.abs(matrix - pi).sum(axis=1).max())


def _product(a: Array, b: Array) -> Array:
    """The product with rows brought back to sum 1, so that rounding does not compound over many squarings."""
    result = a @ b
    result /= result.sum(axis=1, keepdims=True)
    return np.asarray(result)


def power(matrix: Array, steps: int) -> Array:
    """The `steps`-step transition matrix."""
    result = np.eye(matrix.shape[0])
    square = matrix
    while steps:
        if steps & 1:
            result = _product(result, square)
        steps >>= 1
        if steps:
            square = _product(square, square)
    return result


def mixing_time(matrix: Array, pi: Array, distance: float) -> int:
    """The least t with d(t) <= `distance`, for an aperiodic chain with one recurrent class."""
    if not 0 < distance < 1:
        raise ParameterError(f"distance must be a number with 0 < distance < 1; got {distance!r}")
    if distance_to_stationary(np.eye(matrix.shape[0]), pi) <= distance:
        return 0
    squares = [matrix]
    while distance_to_stationary(squares[-1], pi) > distance:
        if len(squares) > _LAST_POWER:
            raise EngineError(
                f"after 2^{_LAST_POWER} steps the chain is still farther than {distance:g} from its "
                "stationary distribution; it is periodic or reducible but for entries near 1e-308"
            )
        squares.append(_product(squares[-1], squares[-1]))
    reached, so_far = 0, None
    for exponent in range(len(squares) - 2, -1, -1):
        ahead = squares[exponent] if so_far is None else _product(so_far, squares[exponent])
        if distance_to_stationary(ahead, pi) > distance:
            reached, so_far = reached + (1 << exponent), ahead
    return reached + 1


def mixing_curve(matrix: Array, pi: Array, times: Iterable[int] | None) -> tuple[list[int], Array]:
    """d(t) at the given times, or at 0, 1, 2, 3, 4, 6, 8, 12, ... until it falls below 1e-4."""
    start = np.eye(matrix.shape[0])
    if times is not None:
        wanted = [check_steps(t) for t in times]
        found: dict[int, float] = {}
        now, at = start, 0
        for t in sorted(set(wanted)):
            now, at = _product(now, matrix if t == at + 1 else power(matrix, t - at)), t
            found[t] = distance_to_stationary(now, pi)
        return wanted, np.array([found[t] for t in wanted])
    grid, values = [0, 1], [distance_to_stationary(start, pi), distance_to_stationary(matrix, pi)]
    half, whole, t = start, matrix, 1
    while values[-1] > _CURVE_END and t < 1 << _LAST_POWER:
        if t > 1:
            grid.append(t + t // 2)
            values.append(distance_to_stationary(_product(whole, half), pi))
        half, whole, t = whole, _product(whole, whole), 2 * t
        grid.append(t)
        values.append(distance_to_stationary(whole, pi))
    return grid, np.array(values)


def _distances_from_one(
    block: Array, inverse: Callable[[], Array], *, is_recurrent: bool
) -> npt.NDArray[np.complex128]:
    """1 - lambda for every eigenvalue lambda of one communicating class.

    A solver finds eigenvalues of P to about 1e-16 in absolute terms, which says nothing about a gap of 1e-14.
    Those within 0.01 of 1 are therefore computed as 1 / mu from the eigenvalues mu of `inverse()`: the
    deviation matrix (I - P + 1 pi')^-1 - 1 pi' of a recurrent class, the visits (I - Q)^-1 of a transient
    one. State elimination gives both without cancellation, and a slow mode is their largest eigenvalue
    instead of the smallest difference. A recurrent class has exactly one exact 0.
    """
    z = 1.0 - np.linalg.eigvals(block).astype(np.complex128)
    slow = np.abs(z) < _SLOW
    if is_recurrent:
        simple = int(np.argmin(np.abs(z)))
        z[simple] = 0.0
        slow[simple] = False
    if slow.any():
        mu = np.linalg.eigvals(inverse()).astype(np.complex128)
        z[slow] = 1.0 / mu[np.argsort(-np.abs(mu))[: np.count_nonzero(slow)]]
    return z


def _shortfall(z: npt.NDArray[np.complex128]) -> Array:
    """1 - |lambda| from z = 1 - lambda, without cancellation."""
    return np.asarray((2.0 * z.real - np.abs(z) ** 2) / (1.0 + np.abs(1.0 - z)))


def all_gaps(
    matrix: Array,
    classes: Sequence[CommunicatingClass],
    deviation_of: Callable[[CommunicatingClass], Array],
) -> npt.NDArray[np.complex128]:
    """1 - lambda for all eigenvalues, class by class (P is block triangular), largest modulus first."""
    parts = []
    for c in classes:
        at = c.positions
        block = matrix if len(c) == matrix.shape[0] else matrix[np.ix_(at, at)]
        if len(c) == 1:
            parts.append(np.array([0.0 if c.is_recurrent else 1.0 - block[0, 0]], dtype=np.complex128))
        elif c.is_recurrent:
            parts.append(_distances_from_one(block, partial(deviation_of, c), is_recurrent=True))
        else:
            exits = np.delete(matrix[at], at, axis=1).sum(axis=1)
            parts.append(_distances_from_one(block, partial(visits, block, exits), is_recurrent=False))
    z = np.concatenate(parts)
    return np.asarray(z[np.argsort(_shortfall(z), kind="stable")])


def gap(z: npt.NDArray[np.complex128]) -> float:
    """The absolute spectral gap from all of 1 - lambda, of which one is exactly 0."""
    others = np.delete(z, np.flatnonzero(z == 0)[:1])
    return max(0.0, float(_shortfall(others).min()))


def tau_1(matrix: Array) -> float:
    """Dobrushin's coefficient: half the largest L1 distance between two rows."""
    return min(1.0, float(0.5 * pdist(matrix, "cityblock").max())) if math.prod(matrix.shape) > 1 else 0.0


def tau_inf(matrix: Array) -> float:
    """The infinity-norm ergodicity coefficient of Benvenuti et al., Definition 7.

    For one column c the maximum of |c' z| puts z = +1 on the larger half of its entries and -1 on the smaller
    half (0 on the median when their number is odd): a linear program over a box with one equality.
    """
    ordered = np.sort(matrix, axis=0)
    half = matrix.shape[0] // 2
    if half == 0:
        return 0.0
    return float((ordered[-half:].sum(axis=0) - ordered[:half].sum(axis=0)).max())
