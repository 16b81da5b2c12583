"""Errors of a released matrix against the true one."""

import numpy as np
import numpy.typing as npt

from dpmarkov.chain.gth import stationary_vector

Array = npt.NDArray[np.float64]

MEASURES = ("stationary", "row", "kl", "gap")
TITLES = {
    "stationary": "stationary TV",
    "row": "row TV (weighted)",
    "kl": "KL (weighted)",
    "gap": "spectral gap",
}
_FLOOR = 1e-9


class Truth:
    """The true chain, and the distance of others from it."""

    def __init__(self, matrix: npt.NDArray[np.int64], is_chain: bool) -> None:
        totals = matrix.sum(axis=1, keepdims=True)
        self.rows = np.where(totals > 0, matrix / np.maximum(totals, 1), 1 / matrix.shape[1])
        self.is_chain = is_chain
        self.weights = (totals / totals.sum()).ravel()
        if is_chain:
            self.weights = _settled(self.rows)
            self.gap = _gap(self.rows)

    def errors(self, found: Array) -> tuple[float, ...]:
        """Stationary TV, weighted row TV, weighted KL, spectral gap; NaN where there is no chain.

        A zero where the truth is not would make the KL divergence infinite; 1e-9 stands in for it, in favour
        of those that leave zeros.
        """
        row = float(self.weights @ (np.abs(found - self.rows).sum(axis=1) / 2))
        inside = self.rows > 0
        ratio = np.ones_like(found)
        np.divide(self.rows, np.maximum(found, _FLOOR), out=ratio, where=inside)
        kl = float(self.weights @ (self.rows * np.log(np.where(inside, ratio, 1.0))).sum(axis=1))
        if not self.is_chain:
            return float("nan"), row, kl, float("nan")
        stationary = float(np.abs(_settled(found) - self.weights).sum() / 2)
        return stationary, row, kl, abs(_gap(found) - self.gap)


def _settled(matrix: Array) -> Array:
    """The stationary distribution; a touch of every state makes it the only one."""
    touched = matrix + 1e-12
    return stationary_vector(touched / touched.sum(axis=1, keepdims=True))


def _gap(matrix: Array) -> float:
    """One minus the second largest modulus of the eigenvalues."""
    return float(1 - np.sort(np.abs(np.linalg.eigvals(matrix)))[-2])
