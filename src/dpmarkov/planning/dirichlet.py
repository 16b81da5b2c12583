"""The Dirichlet mechanism for a budget: its form and its floor by predicted error, without touching the data.

The prediction needs a shape of the data. Nobody has looked, so a public one stands in: from-states and, in
each row, to-states with shares proportional to 1/rank (Zipf's law, which traffic and page views follow
closely), and a guessed number of events.
"""

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
import numpy.typing as npt
from scipy import special

from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.dirichlet import FORMS, WEIGHT_BITS, Dirichlet, Form
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.calibrate import calibrate, round_down
from dpmarkov.privacy.unit import Unit

__all__ = ["beta_error", "declared_events", "expected_events_guess", "plan_dirichlet"]

Flat = npt.NDArray[np.float64]

EVENTS_PER_ROW = 1000
"""The guess for a row's events where the user gives none."""

_MOST_EVENTS = 1e15
"""Beyond it a float cannot tell one event more from none."""

# With few significant bits, so that w x + alpha is exact too.
_FLOORS = round_down(np.geomspace(0.1, 1000, 41), 10)
_ROW_SAMPLES = 24
_CELL_SAMPLES = 40


def declared_events(layout: Layout, guess: float | None = None) -> float:
    """The number of events to plan for: the user's public guess, or 1,000 a row."""
    value = EVENTS_PER_ROW * layout.cells.n_rows if guess is None else guess
    if isinstance(value, bool) or not (isinstance(value, Real) and 1 <= value <= _MOST_EVENTS):
        raise ParameterError(
            f"the expected number of events must be a number from 1 to {_MOST_EVENTS:.0e}; got {guess!r}"
        )
    return float(value)


def expected_events_guess(layout: Layout, guess: float | None = None) -> int:
    """The same to one significant digit: what a release chooses by, and says.

    So a user who types the exact number of rows does not publish it.
    """
    return int(float(f"{declared_events(layout, guess):.0e}"))


def plan_dirichlet(
    layout: Layout,
    *,
    unit: Unit,
    budget: Budget,
    form: Form | None = None,
    floor: float | None = None,
    expected_events: float | None = None,
) -> Dirichlet:
    """The Dirichlet mechanism for a budget; form and floor are chosen by predicted error unless given."""
    if form is not None and form not in FORMS:
        raise ParameterError(f"form must be one of {', '.join(FORMS)}; got {form!r}")
    if floor is not None and not (math.isfinite(floor) and 1e-6 <= floor <= 1e9):
        raise ParameterError(f"floor must be a number from 1e-6 to 1e9; got {floor!r}")
    events = expected_events_guess(layout, expected_events)
    floors = _floors(unit) if floor is None else round_down(np.array([float(floor)]), WEIGHT_BITS)
    weights = np.asarray(calibrate(unit, budget, floors), dtype=float)
    reference = _reference_rows(layout, events)
    forms: tuple[Form, ...] = FORMS if form is None else (form,)
    choices = [
        (error, candidate, alpha, weight)
        for candidate in forms
        for error, alpha, weight in zip(
            _row_errors(candidate, floors, weights, reference), floors.tolist(), weights.tolist(), strict=True
        )
    ]
    _, chosen, alpha, weight = min(choices)
    return Dirichlet(form=chosen, weight=weight, alpha=alpha)


def _floors(unit: Unit) -> Flat:
    """The floors to try: from 1 up, and fewer of them, where several pairs must be composed (Theorem C)."""
    if unit.name not in ("user", "visit"):
        return _FLOORS
    single = unit.name == "user" and getattr(unit, "max_per_pair", None) is None
    return np.asarray(_FLOORS[_FLOORS >= 1][:: 1 if single else 6])


@dataclass(frozen=True, slots=True)
class _Reference:
    """A few rows and cells of the public shape, each standing for `share` of the events or `many` cells."""

    share: Flat
    many: Flat
    counts: Flat
    truth: Flat


def _reference_rows(layout: Layout, events: int) -> _Reference:
    """Rows and cells by Zipf's law, thinned to a few that stand for their neighbours."""
    n_rows = layout.cells.n_rows
    share, row_mass, _ = _thinned_zipf(n_rows, _ROW_SAMPLES)
    _, cell_mass, many = _thinned_zipf(max(2, round(layout.cells.n_cells / n_rows)), _CELL_SAMPLES)
    return _Reference(share, many, events * row_mass[:, None] * cell_mass, cell_mass)


def _thinned_zipf(n: int, samples: int) -> tuple[Flat, Flat, Flat]:
    """For groups of neighbouring ranks: their joint mass, the mass of each member, and how many they are."""
    edges = np.unique(np.round(np.geomspace(1, n + 1, samples + 1)).astype(np.int64))
    mass = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, n + 1))))
    joint = np.diff(mass[edges - 1]) / mass[-1]
    many = np.diff(edges).astype(np.float64)
    return joint, joint / many, many


def _row_errors(form: Form, floors: Flat, weights: Flat, reference: _Reference) -> list[float]:
    """Expected total variation of a Dirichlet row for each floor: bias and noise, as if it were normal."""
    weighted = weights[:, None, None] * reference.counts
    least = floors[:, None, None]
    u = np.maximum(weighted, least) if form == "floor" else weighted + least
    totals = (u @ reference.many)[:, :, None]
    mean = u / totals
    absolute = beta_error(mean, totals, reference.truth)
    errors = np.minimum(1.0, (absolute @ reference.many / 2) @ reference.share)
    return [float(error) for error in errors]


def beta_error(mean: Flat, totals: Flat, truth: Flat) -> Flat:
    """Expected absolute error of Dirichlet entries, each a Beta, as if normal: E|N(bias, spread^2)|.

    Parameters
    ----------
    mean
        The entries' means.
    totals
        The sum of the parameters of each entry's row.
    truth
        What the entries stand for.
    """
    bias = mean - truth
    spread = np.sqrt(mean * (1 - mean) / (totals + 1))
    ratio = np.divide(bias, spread, out=np.copysign(np.inf, bias), where=spread > 0)
    noise = spread * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2)
    return np.asarray(noise + bias * special.erf(ratio / math.sqrt(2)))
