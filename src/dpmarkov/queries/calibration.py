"""The largest concentration that a budget allows, for the Dirichlet mechanism of a sensitive matrix.

Everything here is computed from public things: the layout, the unit, the budget and the parameters asked for.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError, UnitError
from dpmarkov.layout import Layout
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.calibrate import calibrate, round_down
from dpmarkov.privacy.pairs import BetaPair
from dpmarkov.privacy.unit import Destination, Entry
from dpmarkov.queries.mechanism import EntryDirichlet, Way

__all__ = ["Request", "chosen"]

Flat = npt.NDArray[np.float64]

SUM_SLACK = 1e-9
"""A row may miss the sum 1 by this much; an entry's change is counted that much larger."""

_FLOORS = np.geomspace(0.02, 4000, 54)
_BITS = 30
_MANTISSA = 33
_LEAST_BITS = 16
_STEPS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a user asked of a private matrix: all of it public."""

    layout: Layout
    unit: Entry
    budget: Budget
    way: Way
    eta: float | None
    eta_bar: float | None
    k: float | None
    n_averaged: int

    def __post_init__(self) -> None:
        if not isinstance(self.unit, Entry):
            raise ParameterError(f"unit must be dpmarkov.Entry(b=...); got {self.unit!r}")
        if not isinstance(self.budget, Budget):
            raise ParameterError(
                f"budget must be a dpmarkov.Budget(epsilon=..., delta=...); got {self.budget!r}"
            )
        if self.budget.delta == 0:
            raise ParameterError(
                "delta = 0 asks for a pure guarantee, which the Dirichlet mechanism of a sensitive matrix "
                "does not have; ask for a delta > 0, such as 1e-6"
            )
        if self.way not in ("lifted", "assumed"):
            raise ParameterError(f"way must be 'lifted' or 'assumed'; got {self.way!r}")
        for name, value, high in (
            ("eta", self.eta, 1.0),
            ("eta_bar", self.eta_bar, 1.0),
            ("k", self.k, 2.0**40),
        ):
            if value is not None and not (math.isfinite(value) and 0 < value < high):
                raise ParameterError(f"{name} must be a number with 0 < {name} < {high:g}; got {value!r}")
        if self.eta is None and (self.way == "assumed" or self.k is not None or self.eta_bar is not None):
            raise ParameterError(
                "give eta (--eta), the least share of a watched entry: the way 'assumed' (--assumed), k and "
                "eta_bar need it"
            )

    @property
    def watched(self) -> npt.NDArray[np.bool_]:
        """For each cell of the layout, whether it is in its row's index set."""
        cells = self.layout.cells
        among = self.unit.among
        if among is None:
            return np.ones(cells.n_cells, dtype=bool)
        if len(among) not in (1, cells.n_rows):
            raise UnitError(
                f"among must hold one index set or one for each of the {cells.n_rows} rows; got {len(among)}"
            )
        if max(max(positions) for positions in among) >= cells.n_columns:
            raise UnitError(f"an index set names a column beyond the last, {cells.n_columns - 1}")
        sets = among if len(among) == cells.n_rows else among * cells.n_rows
        mask = np.concatenate(
            [
                np.isin(row, positions)
                for row, positions in zip(np.split(cells.indices, cells.indptr[1:-1]), sets, strict=True)
            ]
        )
        if np.any(np.add.reduceat(mask, cells.indptr[:-1]) < 2):
            raise UnitError("every index set must hold at least two entries of its row's support")
        return mask


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """Sizes of the rows: watched entries, and the others."""

    request: Request
    mask: npt.NDArray[np.bool_]
    inside: Flat
    outside: Flat

    @property
    def may_change(self) -> npt.NDArray[np.bool_]:
        return self.inside >= 2

    def mechanism(self, *, weight: Flat, alpha: Flat, spread: Flat) -> EntryDirichlet:
        """The mechanism with these parameters, made exact.

        `weight` is k (1 - lambda), `alpha` what the public vector adds to each watched cell, `spread` what it
        adds to each other cell; one of each a row. The way `assumed` adds nothing.
        """
        request = self.request
        cells = request.layout.cells
        lifted = request.way == "lifted"
        weight = round_down(weight)
        ratio = float(np.max(1 + np.maximum(alpha, spread) / weight))
        bits = min(_BITS, _MANTISSA - math.ceil(math.log2(ratio)))
        if bits < _LEAST_BITS:
            raise ParameterError(
                "the data would count for too little against the public vector: raise the budget or lower eta"
            )
        scale = 2.0**bits
        unit = np.ldexp(1.0, np.frexp(weight)[1] - 20 - bits)
        if lifted:
            # A weight of 20 bits times a multiple below 2^bits, plus a multiple of the same last bit.
            alpha, spread = np.floor(alpha / unit) * unit, np.floor(spread / unit) * unit
            floor, total = alpha, weight + alpha * self.inside + spread * self.outside
            eta, eta_bar = alpha / total, spread * self.outside / total
        else:
            total = weight
            border = np.full_like(weight, math.floor((request.eta or 0.0) * scale))
            floor, eta = weight * (border / scale), border / scale
            eta_bar = np.full_like(weight, request.eta_bar or 0.0)
        prior = np.where(self.mask, np.repeat(alpha, cells.row_sizes), np.repeat(spread, cells.row_sizes))
        one = math.ceil(scale * (request.unit.b / 2 + SUM_SLACK))
        return EntryDirichlet(
            way=request.way,
            watched=self.mask,
            bits=bits,
            moves=-(-one // request.n_averaged),
            weight=weight,
            prior=prior,
            floor=floor,
            eta=eta,
            eta_bar=eta_bar,
            k=total,
            n_averaged=request.n_averaged,
        )

    def from_k(self, k: Flat) -> EntryDirichlet:
        """The mechanism for the papers' parameters: concentration k and the request's borders."""
        eta = self.request.eta or 0.0
        if self.request.way == "assumed":
            return self.mechanism(weight=k, alpha=np.zeros_like(k), spread=np.zeros_like(k))
        bar = np.where(self.outside > 0, eta if self.request.eta_bar is None else self.request.eta_bar, 0.0)
        weight = k * (1 - self.inside * eta - bar)
        spread = np.divide(k * bar, self.outside, out=np.zeros_like(k), where=self.outside > 0)
        return self.mechanism(weight=weight, alpha=k * eta, spread=spread)

    def from_alpha(self, weight: float, alpha: float) -> EntryDirichlet:
        """The mechanism with one weight and the same prior `alpha` on every cell."""
        ones = np.ones_like(self.inside)
        return self.mechanism(
            weight=weight * ones, alpha=alpha * ones, spread=alpha * ones * (self.outside > 0)
        )


def chosen(request: Request) -> EntryDirichlet:
    """The mechanism of the largest concentration within the budget, or of the k that was asked for.

    Guarantee
    ---------
    The profile of what is returned has a certified delta at the budget's epsilon within the budget's delta.
    """
    cells = request.layout.cells
    mask = request.watched
    inside = np.add.reduceat(mask.astype(float), cells.indptr[:-1])
    rows = _Rows(request=request, mask=mask, inside=inside, outside=cells.row_sizes.astype(float) - inside)
    if not np.any(rows.may_change):
        raise UnitError("no row has two entries that may differ: there is nothing to protect")
    _check_border(request, rows)
    if request.k is not None:
        mechanism = rows.from_k(np.full(cells.n_rows, float(request.k)))
        if not _fits(mechanism, request):
            raise ParameterError(
                f"k = {request.k:g} does not keep within {request.budget}: lower k or raise the budget"
            )
        return mechanism
    if request.eta is None:
        return _planned(rows)
    ones = np.ones(cells.n_rows)
    if request.unit.rows == "all":
        k = _largest(lambda x: _fits(rows.from_k(x * ones), request), 1 / request.eta)
        return rows.from_k(k * ones)
    # Rows of the same sizes share a concentration; each kind is solved alone, as if there were no other.
    k_of = ones.copy()
    kinds, kind = np.unique(np.column_stack([rows.inside, rows.outside]), axis=0, return_inverse=True)
    for number in range(len(kinds)):
        mine = kind.ravel() == number
        if not np.any(rows.may_change & mine):
            k_of[mine] = 1 / request.eta
            continue
        k_of[mine] = _largest(partial(_fits_kind, rows, mine), 1 / request.eta)
    # All rows share one grid; should it be coarser than a kind's own, a hair less of k makes up for it.
    for step in (0.0, 2.0**-18, 2.0**-14, 2.0**-10):
        mechanism = rows.from_k(k_of * (1 - step))
        if _fits(mechanism, request):
            break
    return mechanism


def _check_border(request: Request, rows: _Rows) -> None:
    if request.eta is None:
        return
    bar = request.eta_bar or 0.0
    room = float(np.max(rows.inside)) * request.eta + bar
    if room >= 1:
        raise ParameterError(
            f"eta = {request.eta:g} on {int(np.max(rows.inside))} entries and eta_bar = {bar:g} leave no "
            "room: |W| eta + eta_bar must be below 1"
        )
    if bar > 0 and np.all(rows.outside == 0):
        raise ParameterError(
            "eta_bar (--eta-bar) is the share outside the index set; here every entry is in it"
        )


def _fits(mechanism: EntryDirichlet, request: Request) -> bool:
    profile = mechanism.profile(request.unit, request.layout)
    return profile.certified_delta(request.budget.epsilon) <= request.budget.delta


def _fits_kind(rows: _Rows, at: npt.NDArray[np.bool_], k: float) -> bool:
    """Whether rows `at` keep within the budget when one row differs."""
    request = rows.request
    first = int(np.flatnonzero(at)[0])
    mechanism = rows.from_k(np.where(at, k, 1.0))
    change = float(mechanism.weight[first] * mechanism.moves / 2.0**mechanism.bits)
    pair = BetaPair(alpha=float(mechanism.floor[first]), weight=change)
    return pair.certified_delta(request.budget.epsilon) <= request.budget.delta


def _largest(fits: Callable[[float], bool], guess: float) -> float:
    """The largest x, to 20 bits, for which a statement that fails from some point on holds."""
    low = guess
    for _ in range(_STEPS):
        if fits(low):
            break
        low /= 2
    else:
        raise ParameterError(
            "no concentration keeps within this budget for these eta and b: the least change of an entry is "
            "too large for it. Raise eta, lower b or raise the budget; or leave eta out"
        )
    high = 2 * low
    while fits(high):
        low, high = high, 2 * high
    while high - low > 2.0**-21 * high:
        middle = (low + high) / 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def _planned(rows: _Rows) -> EntryDirichlet:
    """The prior with the least predicted squared error, and the largest weight for it.

    The prediction stands on a public shape, shares proportional to 1/rank: the true row is never looked at.
    """
    request = rows.request
    n_changing = int(np.count_nonzero(rows.may_change))
    together = math.sqrt(n_changing) if request.unit.rows == "all" else 1.0
    likely = Budget(epsilon=request.budget.epsilon / together, delta=request.budget.delta)
    scale = 2.0**_BITS
    moved = -(-math.ceil(scale * (request.unit.b / 2 + SUM_SLACK)) // request.n_averaged) / scale
    weights = calibrate(Destination(), likely, _FLOORS) / moved
    errors = np.zeros_like(_FLOORS)
    sizes, times = np.unique((rows.inside + rows.outside)[rows.may_change], return_counts=True)
    for size, count in zip(sizes, times, strict=True):
        typical = 1 / np.arange(1, size + 1)
        typical /= typical.sum()
        k = weights + _FLOORS * size
        bias = (_FLOORS * size / k) ** 2 * np.sum((typical - 1 / size) ** 2)
        errors += count * (bias + (1 - np.sum(typical**2)) / (k + 1))
    # A prior far above the weight would leave too few bits for the data.
    allowed = _FLOORS / weights < 2.0 ** (_MANTISSA - _LEAST_BITS - 1)
    best = int(np.argmin(np.where(allowed, errors, np.inf)))
    if not allowed[best]:
        raise ParameterError(f"{request.budget} is too small for b = {request.unit.b:g}: raise it or lower b")
    alpha = float(_FLOORS[best])
    weight = _largest(lambda w: _fits(rows.from_alpha(w, alpha), request), float(weights[best]))
    return rows.from_alpha(weight, alpha)
