"""What accuracy to expect, computed without touching the data.

The prediction needs a shape of the data. Nobody has looked, so a public one stands in: from-states and, in
each row, to-states with shares proportional to 1/rank (Zipf's law, which traffic and page views follow
closely), and a guessed number of events.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.dirichlet import FORMS, Dirichlet, Form
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.calibrate import calibrate
from dpmarkov.privacy.unit import Unit

__all__ = ["DirichletPlan", "expected_events_guess", "plan_dirichlet"]

Flat = npt.NDArray[np.float64]

EVENTS_PER_ROW = 1000
"""The guess for a row's events where the user gives none."""

_FLOORS = np.round(np.geomspace(0.1, 1000, 41), 3)
_ROW_SAMPLES = 24
_CELL_SAMPLES = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class DirichletPlan:
    """A calibrated Dirichlet mechanism and the error that is predicted for it.

    Parameters
    ----------
    layout, unit, budget
        What was planned for.
    mechanism
        The mechanism with its calibrated weight.
    row_error
        Predicted total variation between a private row and the true one, averaged over events.
    expected_events
        The public guess that the prediction rests on.
    """

    layout: Layout
    unit: Unit
    budget: Budget
    mechanism: Dirichlet
    row_error: float
    expected_events: int

    def describe(self) -> str:
        """Unit, parameters and predicted error in words."""
        lifted = self.mechanism.alpha / self.mechanism.weight
        effect = (
            f"cells below {lifted:.4g} counts are lifted to it"
            if self.mechanism.form == "floor"
            else f"every cell gains {lifted:.4g} counts"
        )
        return "\n".join(
            [
                "Nothing was read.",
                f"Shape       {self.layout}",
                f"Unit        {self.unit}",
                f"Budget      {self.budget}",
                f"Mechanism   {self.mechanism.name}, weight {self.mechanism.weight:.6g} an event, "
                f"floor {self.mechanism.alpha:.6g}: {effect}",
                f"Prediction  row error {self.row_error:.2g} (total variation, averaged over events) if there "
                f"are about {self.expected_events:,} events (a guess) spread as Zipf's law has it",
            ]
        )

    def to_dict(self) -> dict[str, object]:
        """The plan as plain values."""
        return {
            "unit": self.unit.to_dict(),
            "relation": self.unit.relation_in_words,
            "epsilon": self.budget.epsilon,
            "delta": self.budget.delta,
            "mechanism": self.mechanism.to_dict(),
            "predicted_row_error": self.row_error,
            "expected_events_guess": self.expected_events,
        }


def expected_events_guess(layout: Layout, guess: float | None = None) -> int:
    """The number of events to plan for: the user's public guess, or 1,000 a row.

    Rounded to one significant digit, so that a user who types the exact number of rows does not publish it.
    """
    value = EVENTS_PER_ROW * layout.cells.n_rows if guess is None else guess
    if isinstance(value, bool) or not (math.isfinite(value) and value >= 1):
        raise ParameterError(f"expected_events must be a number >= 1; got {guess!r}")
    return int(float(f"{value:.0e}"))


def plan_dirichlet(
    layout: Layout,
    *,
    unit: Unit,
    budget: Budget,
    form: Form | None = None,
    floor: float | None = None,
    expected_events: float | None = None,
) -> DirichletPlan:
    """The Dirichlet mechanism for a budget; form and floor are chosen by predicted error unless given."""
    if form is not None and form not in FORMS:
        raise ParameterError(f"form must be one of {', '.join(FORMS)}; got {form!r}")
    if floor is not None and not (math.isfinite(floor) and 1e-6 <= floor <= 1e9):
        raise ParameterError(f"floor must be a number from 1e-6 to 1e9; got {floor!r}")
    events = expected_events_guess(layout, expected_events)
    floors = _FLOORS if floor is None else np.array([float(floor)])
    weights = np.asarray(calibrate(unit, budget, floors), dtype=float)
    shares, counts = _reference_rows(layout, events)
    best: DirichletPlan | None = None
    for candidate in FORMS if form is None else (form,):
        for alpha, weight in zip(floors.tolist(), weights.tolist(), strict=True):
            weighted = weight * counts
            u = np.maximum(weighted, alpha) if candidate == "floor" else weighted + alpha
            error = _row_error(u, counts, shares)
            if best is None or error < best.row_error:
                try:
                    mechanism = Dirichlet(form=candidate, weight=weight, alpha=alpha)
                except ParameterError:
                    # Weight and floor too far apart for exact parameters.
                    continue
                best = DirichletPlan(
                    layout=layout,
                    unit=unit,
                    budget=budget,
                    mechanism=mechanism,
                    row_error=error,
                    expected_events=events,
                )
    if best is None:
        raise ParameterError("no mechanism can be planned for this budget")
    return best


def _reference_rows(layout: Layout, events: int) -> tuple[Flat, Flat]:
    """A few rows of the public shape: the share of events each stands for, and their expected counts."""
    cells = layout.cells
    n_rows = cells.n_rows
    row_mass = 1 / np.arange(1, n_rows + 1)
    row_mass /= row_mass.sum()
    groups = np.array_split(np.arange(n_rows), min(n_rows, _ROW_SAMPLES))
    shares = np.array([row_mass[group].sum() for group in groups])
    masses = np.array([row_mass[group].mean() for group in groups])
    n_cells = max(2, min(_CELL_SAMPLES, round(cells.n_cells / n_rows)))
    cell_mass = 1 / np.arange(1, n_cells + 1)
    cell_mass /= cell_mass.sum()
    return shares, events * masses[:, None] * cell_mass[None, :]


def _row_error(u: Flat, counts: Flat, shares: Flat) -> float:
    """Expected total variation of a Dirichlet row: bias and noise of each cell, as if it were normal."""
    totals = u.sum(axis=1, keepdims=True)
    mean = u / totals
    bias = np.abs(mean - counts / counts.sum(axis=1, keepdims=True))
    spread = np.sqrt(mean * (1 - mean) / (totals + 1))
    ratio = bias / spread
    # E|N(bias, spread^2)|
    absolute = spread * math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) + bias * special.erf(
        ratio / math.sqrt(2)
    )
    return float(min(1.0, shares @ (absolute.sum(axis=1) / 2)))
