"""One chain of a finite class: a transition matrix (or one for each step) and where it starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmarkov.chain import MarkovChain
from dpmarkov.errors import ChainError, ParameterError

__all__ = ["Model", "semi_markov"]

Array = npt.NDArray[np.float64]

_LEAST = 1e-100


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A chain that may have generated the data.

    Parameters
    ----------
    matrix
        The transition matrix (from-states are rows), irreducible and aperiodic; or, for a chain that varies
        with time, a sequence of T - 1 matrices, any stochastic ones.
    initial
        The distribution of the first time point; None for the stationary one, which a chain that varies with
        time does not have.
    """

    matrix: Array
    initial: Array | None = None

    def __post_init__(self) -> None:
        try:
            matrix = np.array(self.matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError("a model's matrix must hold numbers, in rows of one length") from None
        if matrix.ndim not in (2, 3) or matrix.shape[-1] != matrix.shape[-2] or matrix.shape[-1] < 2:
            raise ParameterError(f"a model's matrix must be square, 2 x 2 or more; got shape {matrix.shape}")
        if not np.all(np.isfinite(matrix)) or np.any(matrix < 0):
            raise ParameterError("a model's matrix must hold probabilities >= 0")
        if np.any((matrix > 0) & (matrix < _LEAST)):
            raise ParameterError(
                f"a model's matrix holds a probability below {_LEAST:g} that is not 0; set it to 0"
            )
        sums = matrix.sum(axis=-1, keepdims=True)
        if not np.allclose(sums, 1, rtol=0, atol=1e-9):
            raise ParameterError("each row of a model's matrix must sum to 1")
        matrix = _tidied(matrix, sums)
        if matrix.ndim == 2:
            chain = MarkovChain(matrix)
            if not chain.is_irreducible or not chain.is_aperiodic:
                raise ChainError(
                    "a model's chain must be irreducible and aperiodic, so that every state keeps returning "
                    "and the past fades; this one is not. Give entries that are merely unlikely a small "
                    "probability"
                )
        initial = None
        if self.initial is not None:
            initial = np.array(self.initial, dtype=np.float64)
            if initial.shape != matrix.shape[-1:] or not np.all(np.isfinite(initial)) or np.any(initial < 0):
                raise ParameterError(
                    f"a model's initial distribution must hold {matrix.shape[-1]} probabilities >= 0"
                )
            if not np.isclose(initial.sum(), 1, rtol=0, atol=1e-9):
                raise ParameterError("a model's initial distribution must sum to 1")
            initial = _tidied(initial, initial.sum())
            initial.flags.writeable = False
        elif matrix.ndim == 3:
            raise ParameterError("a model that varies with time needs its initial distribution")
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "initial", initial)

    @property
    def n_states(self) -> int:
        """Number of (inner) states."""
        return int(self.matrix.shape[-1])

    @property
    def length(self) -> int | None:
        """The number of time points, for a chain that varies with time."""
        return self.matrix.shape[0] + 1 if self.matrix.ndim == 3 else None

    def step(self, t: int) -> Array:
        """The matrix of the step from time point `t` to `t + 1` (the first time point is 1)."""
        return self.matrix if self.matrix.ndim == 2 else self.matrix[t - 1]

    @property
    def start(self) -> Array:
        """The distribution of the first time point."""
        if self.initial is not None:
            return self.initial
        return np.asarray(MarkovChain(self.matrix).stationary_distribution)

    def to_dict(self) -> dict[str, Any]:
        """The model as it stands in `theta.json`."""
        data: dict[str, Any] = {"matrix" if self.length is None else "matrices": self.matrix.tolist()}
        data["initial"] = "stationary" if self.initial is None else self.initial.tolist()
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Model":
        """The model that `to_dict` wrote."""
        matrix = data["matrices"] if "matrices" in data else data["matrix"]
        initial = data["initial"]
        return cls(matrix, None if initial == "stationary" else initial)


def _tidied(rows: Array, sums: Array) -> Array:
    """Rows that sum to 1 as well as doubles can; those that do already stay, so that files round-trip."""
    off = np.abs(sums - 1) > rows.shape[-1] * np.finfo(np.float64).eps
    return np.asarray(np.where(off, rows / sums, rows))


def semi_markov(jumps: npt.ArrayLike, durations: Sequence[Sequence[float]]) -> tuple[Array, tuple[int, ...]]:
    """A chain whose stays have any declared durations: its matrix on states that carry their age.

    Parameters
    ----------
    jumps
        Where the chain goes when it leaves a state: rows sum to 1, zeros on the diagonal.
    durations
        For each state, the probabilities that a stay lasts 1, 2, ..., m steps.

    Returns
    -------
    matrix
        The transition matrix on inner states (state, age).
    state_of
        For each inner state, the position of its state; `FiniteChains(emits=...)` takes the states there.
    """
    where = np.array(jumps, dtype=np.float64)
    k = len(durations)
    if where.shape != (k, k) or np.any(where < 0) or not np.allclose(where.sum(axis=1), 1, atol=1e-9):
        raise ParameterError(f"jumps must be {k} x {k} with rows that sum to 1")
    if np.any(np.diag(where) > 0):
        raise ParameterError("jumps leads from a state to another one: its diagonal must be 0")
    state_of: list[int] = []
    leave: list[float] = []
    for state, probabilities in enumerate(durations):
        stay = np.array(probabilities, dtype=np.float64)
        if stay.ndim != 1 or np.any(stay < 0) or not np.isclose(stay.sum(), 1, atol=1e-9) or stay[-1] <= 0:
            raise ParameterError(
                "each state's durations must be probabilities >= 0 that sum to 1, the last of them > 0"
            )
        longer = np.cumsum(stay[::-1])[::-1]
        leave.extend([*(stay / longer)[:-1].tolist(), 1.0])
        state_of.extend([state] * stay.size)
    first = [state_of.index(state) for state in range(k)]
    n = len(state_of)
    matrix = np.zeros((n, n))
    for inner, (state, out) in enumerate(zip(state_of, leave, strict=True)):
        matrix[inner, first] += out * where[state]
        if out < 1:
            matrix[inner, inner + 1] = 1 - out
    return matrix, tuple(state_of)
