"""How far the noise moves any smooth quantity of a chain, to first order.

The counts are moved from their posterior mean in random directions drawn with the noise's own variance, by so
small a step that none turns negative, and the quantity's change is scaled up again: directional derivatives.
Their spread is the standard error under the full noise, without leaning on the learnt prior, for any function
of the chain, as `first_order` has it for the stationary distribution in closed form. The derivative in the
direction of what the noisy counts have left over (noisy count minus posterior mean) is where the quantity
would move without the prior: an estimate of the prior's pull on it.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dpmarkov.chain import MarkovChain

__all__ = ["noise_reach"]

Flat = npt.NDArray[np.float64]

_DIRECTIONS = 100
_LEAST_COUNT = 1e-3
_SHARE = 0.5


def noise_reach(
    compute: Callable[[MarkovChain], object],
    chain_of: Callable[[Flat], MarkovChain],
    *,
    mean: Flat,
    spread: Flat,
    residual: Flat,
    rng: np.random.Generator,
) -> tuple[Flat, Flat]:
    """A quantity's standard error when each cell's count has the variance `spread`, and the prior's pull.

    Parameters
    ----------
    compute
        The quantity, of a chain.
    chain_of
        The chain that belongs to counts.
    mean
        The counts about which the noise acts.
    spread
        The variance of each.
    residual
        What the noisy counts have left over.
    rng
        For the directions.

    Returns
    -------
    error, pull
        The standard error, and how far the quantity would move were the noisy counts taken as they are.
    """
    base = np.maximum(mean, _LEAST_COUNT)
    middle = np.asarray(compute(chain_of(base)), dtype=np.float64)
    squares = np.zeros(middle.shape)

    def derivative(direction: Flat) -> Flat:
        largest = float(np.abs(direction).max())
        if largest == 0.0:
            return np.zeros(middle.shape)
        step = _SHARE * _LEAST_COUNT / largest
        moved = np.asarray(compute(chain_of(base + step * direction)), dtype=np.float64)
        change = np.zeros(middle.shape)
        # What is infinite and stays so has not moved.
        np.subtract(moved, middle, out=change, where=moved != middle)
        return change / step

    for _ in range(_DIRECTIONS):
        squares += derivative(np.sqrt(spread) * rng.standard_normal(base.size)) ** 2
    return np.sqrt(squares / _DIRECTIONS), derivative(residual)
