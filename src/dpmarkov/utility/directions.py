"""How far the noise moves any smooth quantity of a chain, to first order.

The counts are moved from their posterior mean in random directions drawn with the noise's own variance, by so
small a step that none turns negative, and the quantity's change is scaled up again: directional derivatives.
Their spread is the standard error under the full noise, without leaning on the learnt prior, for any function
of the chain, as `first_order` has it for the stationary distribution in closed form.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dpmarkov.chain import MarkovChain

__all__ = ["noise_spread"]

Flat = npt.NDArray[np.float64]

_DIRECTIONS = 100
_LEAST_COUNT = 1e-3
_SHARE = 0.5


def noise_spread(
    compute: Callable[[MarkovChain], object],
    chain_of: Callable[[Flat], MarkovChain],
    *,
    mean: Flat,
    spread: Flat,
    rng: np.random.Generator,
) -> Flat:
    """The standard error of a quantity when each cell's count has the variance `spread`.

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
    rng
        For the directions.
    """
    base = np.maximum(mean, _LEAST_COUNT)
    middle = np.asarray(compute(chain_of(base)), dtype=np.float64)
    squares = np.zeros(middle.shape)
    deviation = np.sqrt(spread)
    for _ in range(_DIRECTIONS):
        direction = deviation * rng.standard_normal(base.size)
        step = _SHARE * _LEAST_COUNT / float(np.abs(direction).max())
        moved = np.asarray(compute(chain_of(base + step * direction)), dtype=np.float64)
        squares += ((moved - middle) / step) ** 2
    return np.sqrt(squares / _DIRECTIONS)
