"""Exact inference by variable elimination, in rational arithmetic or with generating functions.

A factor is a table over some variables whose entries are rational numbers, or polynomials in z over them. A
polynomial stands for a distribution: the coefficient of z^s is the probability that a sum is s. Products and
sums of factors are exact either way, so that ties between probabilities stay ties.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_poly

from dpmarkov.errors import ParameterError

__all__ = ["Factor", "exact", "marginal", "power"]

Table = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A table with one axis for each of its variables."""

    variables: tuple[Any, ...]
    table: Table


def exact(number: object) -> fmpq:
    """A rational number: floats are read as the decimal number that they print as, text as a fraction."""
    try:
        if isinstance(number, float | np.floating | str):
            value = Fraction(str(number))
        elif isinstance(number, Rational | np.integer):
            value = Fraction(int(number)) if isinstance(number, np.integer) else Fraction(number)
        else:
            raise ValueError
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"a probability or value must be a finite number; got {number!r}") from None
    return fmpq(value.numerator, value.denominator)


def power(exponent: int) -> fmpq_poly:
    """The polynomial z^exponent."""
    return fmpq_poly([0] * exponent + [1])


def table_of(entries: Any) -> Table:
    """A table, also of a single entry: numpy would unfold a polynomial into its coefficients."""
    if isinstance(entries, np.ndarray):
        return entries
    table = np.empty((), dtype=object)
    table[()] = entries
    return table


def marginal(factors: Iterable[Factor], keep: Sequence[Any]) -> Table:
    """The product of the factors, summed over all variables but `keep`; axes in that order.

    The variable whose elimination makes the smallest table goes first.
    """
    left = list(factors)
    while True:
        sizes: dict[Any, int] = {}
        for factor in left:
            sizes.update(zip(factor.variables, factor.table.shape, strict=True))
        out = [variable for variable in sizes if variable not in keep]
        if not out:
            break
        cost = {variable: _joint_size(left, variable, sizes) for variable in out}
        chosen = min(out, key=lambda variable: cost[variable])
        touching = [factor for factor in left if chosen in factor.variables]
        left = [factor for factor in left if chosen not in factor.variables]
        product = _product(touching)
        axis = product.variables.index(chosen)
        left.append(
            Factor(
                tuple(v for v in product.variables if v != chosen),
                table_of(np.add.reduce(product.table, axis=axis)),
            )
        )
    product = _product(left)
    order = [product.variables.index(variable) for variable in keep]
    return product.table.transpose(order)


def _joint_size(factors: list[Factor], variable: Any, sizes: dict[Any, int]) -> int:
    joint = {v for factor in factors if variable in factor.variables for v in factor.variables}
    size = 1
    for v in joint:
        size *= sizes[v]
    return size


def _product(factors: Sequence[Factor]) -> Factor:
    variables = tuple(dict.fromkeys(v for factor in factors for v in factor.variables))
    result: Table | None = None
    for factor in factors:
        missing = [v for v in variables if v not in factor.variables]
        wide = factor.table.reshape(factor.table.shape + (1,) * len(missing))
        present = (*factor.variables, *missing)
        aligned = wide.transpose([present.index(v) for v in variables])
        result = aligned if result is None else table_of(result * aligned)
    if result is None:
        raise ParameterError("there is nothing to multiply: a network needs at least one node")
    return Factor(variables, result)
