"""The truth for tiny chains: sums over all sequences. Shared by the tests of this folder."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from dpmarkov.pufferfish import Model

Array = npt.NDArray[np.float64]


def all_sequences(model: Model, length: int) -> tuple[npt.NDArray[np.int64], Array]:
    """Every sequence and its probability."""
    sequences = np.array(list(itertools.product(range(model.n_states), repeat=length)), dtype=np.int64)
    p = model.start[sequences[:, 0]].copy()
    for t in range(1, length):
        p *= model.step(t)[sequences[:, t - 1], sequences[:, t]]
    return sequences, p


def histograms(sequences: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.int64]:
    return np.stack([(sequences == x).sum(axis=1) for x in range(k)], axis=1)


def transition_counts(sequences: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.int64]:
    pairs = sequences[:, :-1] * k + sequences[:, 1:]
    return np.stack([(pairs == x).sum(axis=1) for x in range(k * k)], axis=1)


def law_given(values: npt.NDArray[np.int64], p: Array, chosen: npt.NDArray[np.bool_]) -> dict[tuple, float]:
    total = p[chosen].sum()
    law: dict[tuple, float] = {}
    for value, weight in zip(values[chosen].tolist(), p[chosen].tolist(), strict=True):
        law[tuple(value)] = law.get(tuple(value), 0.0) + weight / total
    return law


def output_law(law: dict[tuple, float], grid: Array, scale: float) -> Array:
    """P(output = w) for each w of the grid, up to the noise's constant factor."""
    points = np.array(list(law), dtype=np.float64)
    weights = np.array(list(law.values()))
    apart = np.abs(grid[:, None, :] - points[None, :, :]).sum(axis=2)
    return np.exp(-apart / scale) @ weights


def realised_epsilon(
    model: Model,
    length: int,
    statistic: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]],
    scale: float,
    nodes: Iterable[int] | None = None,
) -> float:
    """The largest log ratio over outputs, nodes and pairs of states: the true Pufferfish epsilon.

    The noise is discrete Laplace. Outside the box of the statistic's values, coordinate by coordinate, the
    ratio is what it is on the box's border, so that the box is enough.
    """
    sequences, p = all_sequences(model, length)
    values = statistic(sequences)
    if values.ndim == 1:
        values = values[:, None]
    axes = [np.arange(low, high + 1) for low, high in zip(values.min(0), values.max(0), strict=True)]
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1).astype(float)
    worst = 0.0
    for node in range(1, length + 1) if nodes is None else nodes:
        laws = []
        for state in range(model.n_states):
            chosen = sequences[:, node - 1] == state
            if p[chosen].sum() > 0:
                laws.append(np.log(output_law(law_given(values, p, chosen), grid, scale)))
        for one, other in itertools.permutations(laws, 2):
            worst = max(worst, float((one - other).max()))
    return worst


def true_influence(model: Model, length: int, node: int, quilt: Sequence[int]) -> float:
    """The max-influence of a node on others (time points from 1), from the joint distribution."""
    sequences, p = all_sequences(model, length)
    columns = [q - 1 for q in quilt]
    laws = []
    for state in range(model.n_states):
        chosen = sequences[:, node - 1] == state
        if p[chosen].sum() > 0:
            laws.append(law_given(sequences[:, columns], p, chosen))
    worst = 0.0
    for one, other in itertools.permutations(laws, 2):
        for value, weight in one.items():
            if weight > 0:
                there = other.get(value, 0.0)
                worst = max(worst, math.log(weight / there) if there > 0 else math.inf)
    return worst
