"""The values that a named quantity of a chain can take at all, whatever the data are."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dpmarkov.support import Support

__all__ = ["RANGES"]

Bound = float | npt.NDArray[np.float64]

RANGES: dict[str, Callable[[Support], tuple[Bound, Bound]]] = {
    "stationary_distribution": lambda cells: (0.0, 1.0),
    "transition_matrix": lambda cells: (0.0, 1.0),
    "recurrence_times": lambda cells: (1.0, math.inf),
    "mean_first_passage": lambda cells: (1.0 - np.eye(cells.n_rows), math.inf),
    # At least (n - 1)/2 for n states that all lead to each other; but nobody can tell that these do.
    "kemeny_constant": lambda cells: (0.0, math.inf),
    "entropy_rate": lambda cells: (0.0, math.log2(cells.row_sizes.max())),
    # The worst start of two states or more is at a distance of at least 1/2 from the long run.
    "mixing_time": lambda cells: (1.0, math.inf),
    "spectral_gap": lambda cells: (0.0, 1.0),
    "relaxation_time": lambda cells: (1.0, math.inf),
    "tau_1": lambda cells: (0.0, 1.0),
    "tau_inf": lambda cells: (0.0, cells.n_rows // 2),
}
"""For each name the least and the largest value, on a chain with these cells."""
