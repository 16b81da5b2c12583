"""A stationary start is exact in the Wasserstein Mechanism: ties of cumulative probabilities stay ties."""

from fractions import Fraction

from dpmarkov.pufferfish.model import Model
from dpmarkov.pufferfish.wasserstein import _exact_start


def test_the_stationary_start_solves_its_equation_in_fractions() -> None:
    model = Model([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.2, 0.6]])
    start = [Fraction(int(p.p), int(p.q)) for p in _exact_start(model)]
    rows = [[Fraction(str(p)) for p in row] for row in model.matrix.tolist()]
    assert sum(start) == 1
    for y in range(3):
        assert sum(start[x] * rows[x][y] for x in range(3)) == start[y]
    assert any(Fraction(str(p)) != q for p, q in zip(model.start.tolist(), start, strict=True))
