"""`plan`: mechanisms side by side before anything is spent."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmarkov.errors import ParameterError, UnitError
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.base import Mechanism
from dpmarkov.planning.choose import MARGIN, candidates, choose
from dpmarkov.planning.dirichlet import declared_events
from dpmarkov.planning.predict import Errors, enough_draws, predicted_errors, smallest_reliable
from dpmarkov.planning.reference import reference, reference_like
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Unit

if TYPE_CHECKING:
    from dpmarkov.releases.release import Release

__all__ = ["Plan", "Prediction", "plan"]

_CURVE = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What one mechanism is expected to give.

    Parameters
    ----------
    name
        `laplace`, `gaussian` or `dirichlet`.
    mechanism
        The mechanism, calibrated to the budget.
    errors
        Predicted errors at the budget.
    smallest_reliable
        The smallest probability in a typical row that is at least four standard errors.
    curve
        (epsilon, predicted row error) at the same delta.
    epsilon_for_accuracy
        The epsilon at which the predicted row error falls to the wanted accuracy: the least of the curve
        where that is accurate enough already. None if no accuracy was asked for, or the curve does not
        reach it.
    """

    name: str
    mechanism: Mechanism
    errors: Errors
    smallest_reliable: float
    curve: tuple[tuple[float, float], ...]
    epsilon_for_accuracy: float | None

    def in_words_for_accuracy(self) -> str:
        """The epsilon that the wanted accuracy takes, or on which side of the curve it lies."""
        wanted, (least, _), (most, _) = self.epsilon_for_accuracy, self.curve[0], self.curve[-1]
        if wanted is None:
            return f"above {most:g}"
        return f"{least:g} or less" if wanted == least else f"{wanted:.3g}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan:
    """Predictions for one unit and budget; no data was touched.

    Parameters
    ----------
    layout
        The public shape of the release that is planned.
    unit, budget
        What would be protected, and how strongly.
    basis
        The public counts that the predictions rest on, in words.
    predictions
        One for each mechanism, the least row error first.
    chosen
        What `auto` would take.
    reason
        Why.
    accuracy
        The row error that was asked for, if any.
    """

    layout: Layout
    unit: Unit
    budget: Budget
    basis: str
    predictions: tuple[Prediction, ...]
    chosen: str
    reason: str
    accuracy: float | None

    @property
    def profile(self) -> Profile:
        """The privacy profile of what `auto` would take."""
        chosen = next(item for item in self.predictions if item.name == self.chosen)
        return chosen.mechanism.profile(self.unit, self.layout)

    def describe(self) -> str:
        """The table in plain text."""
        lines = [
            f"Plan for {self.budget}; unit {self.unit}. No data was touched.",
            f"Basis: {self.basis}.",
            "",
            f"{'mechanism':<18}{'row error':>11}{'stationary':>12}{'reliable from':>15}"
            + (f"{f'epsilon for {self.accuracy:g}':>22}" if self.accuracy is not None else ""),
        ]
        for item in self.predictions:
            end = "-" if item.errors.stationary is None else f"{item.errors.stationary:.3g}"
            line = (
                f"{item.mechanism.name:<18}{item.errors.row:>11.3g}{end:>12}{item.smallest_reliable:>15.3g}"
            )
            if self.accuracy is not None:
                line += f"{item.in_words_for_accuracy():>22}"
            lines.append(line)
        lines += ["", "Predicted row error by epsilon:"]
        grid = sorted({e for item in self.predictions for e, _ in item.curve})
        lines.append(f"{'epsilon':<18}" + "".join(f"{e:>9g}" for e in grid))
        for item in self.predictions:
            known = dict(item.curve)
            lines.append(
                f"{item.mechanism.name:<18}"
                + "".join(f"{known[e]:>9.3g}" if e in known else f"{'-':>9}" for e in grid)
            )
        if any(len(item.curve) < len(grid) for item in self.predictions):
            lines.append("-: not tried; for this unit each epsilon takes seconds there.")
        lines += [
            "",
            f"auto takes {self.reason}",
            "Errors are total variation; the row error is averaged over events.",
            "Reliable: a probability, in the row of a typical event, of at least four standard errors.",
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a script."""
        return {
            "unit": self.unit.to_dict(),
            "epsilon": self.budget.epsilon,
            "delta": self.budget.delta,
            "basis": self.basis,
            "chosen": self.chosen,
            "reason": self.reason,
            "accuracy": self.accuracy,
            "mechanisms": [
                {
                    "mechanism": item.mechanism.to_dict(),
                    "row_error": item.errors.row,
                    "stationary_error": item.errors.stationary,
                    "smallest_reliable": item.smallest_reliable,
                    "curve": [list(point) for point in item.curve],
                    "epsilon_for_accuracy": item.epsilon_for_accuracy,
                }
                for item in self.predictions
            ],
        }


def plan(
    layout: Layout | None = None,
    *,
    unit: Unit,
    budget: Budget,
    expected_events: float | None = None,
    like: "Release | None" = None,
    accuracy: float | None = None,
    epsilons: Sequence[float] = _CURVE,
) -> Plan:
    """Compare the mechanisms before spending anything.

    Parameters
    ----------
    layout
        The public shape of the release that is planned; taken from `like` if left out.
    unit, budget
        What is to be protected, and how strongly.
    expected_events
        A public guess of the number of events; 1,000 a row by default. Rounded to one significant digit.
    like
        An earlier release of similar data: predictions from it are much closer than from the shape alone.
    accuracy
        A row error that is wanted: the plan adds the epsilon that each mechanism would need.
    epsilons
        Where the curve is computed.
    """
    if layout is None and like is not None:
        layout = getattr(like, "layout", None)
    layout = _checked(layout, unit, budget, like)
    if accuracy is not None and not (isinstance(accuracy, Real) and 0 < accuracy < 1):
        raise ParameterError(f"accuracy is a row error between 0 and 1, such as 0.05; got {accuracy!r}")
    if not len(epsilons):
        raise ParameterError("the curve needs at least one epsilon")
    if like is None:
        stand_in = reference(layout, declared_events(layout, expected_events))
    else:
        events = None if expected_events is None else declared_events(layout, expected_events)
        stand_in = reference_like(like, events=events)
        if expected_events is None:
            # Mechanisms are tuned to the size that the earlier release shows.
            expected_events = max(1.0, float(stand_in.counts.values.sum()) * layout.n_groups)
    found = candidates(layout, unit=unit, budget=budget, expected_events=expected_events)
    if not found:
        raise UnitError(f"no mechanism has a guarantee for the unit {unit.name!r} and {budget}")
    errors = {name: predicted_errors(made, stand_in) for name, made in found.items()}
    curves = {name: [(budget.epsilon, errors[name].row)] for name in found}
    draws = max(1, enough_draws(stand_in) // 3)
    for epsilon in {*map(float, epsilons)} - {budget.epsilon}:
        there = Budget(epsilon=epsilon, delta=budget.delta)
        other = candidates(layout, unit=unit, budget=there, expected_events=expected_events, quick=True)
        for name in curves.keys() & other.keys():
            curves[name].append((epsilon, predicted_errors(other[name], stand_in, draws=draws).row))
    predictions = [
        Prediction(
            name=name,
            mechanism=made,
            errors=errors[name],
            smallest_reliable=smallest_reliable(made, stand_in),
            curve=tuple(sorted(curves[name])),
            epsilon_for_accuracy=None if accuracy is None else _crossing(sorted(curves[name]), accuracy),
        )
        for name, made in found.items()
    ]
    predictions.sort(key=lambda item: item.errors.row)
    choice = choose(layout, unit=unit, budget=budget, expected_events=expected_events)
    chosen = next(name for name in found if found[name] == choice.mechanism)
    return Plan(
        layout=layout,
        unit=unit,
        budget=budget,
        basis=stand_in.words,
        predictions=tuple(predictions),
        chosen=chosen,
        reason=_choice_beside(predictions, chosen),
        accuracy=accuracy,
    )


def _checked(layout: Layout | None, unit: Unit, budget: Budget, like: "Release | None") -> Layout:
    """The layout, where all of it is what it should be."""
    if not isinstance(unit, Unit):
        raise ParameterError(f"unit must be a unit such as dpmarkov.Event(); got {unit!r}")
    if not isinstance(budget, Budget):
        raise ParameterError(f"budget must be a dpmarkov.Budget(epsilon=..., delta=...); got {budget!r}")
    if like is not None and not isinstance(getattr(like, "layout", None), Layout):
        raise ParameterError(f"like must be a release, such as dpmarkov.load('last-year/'); got {like!r}")
    if not isinstance(layout, Layout):
        raise ParameterError(
            "a plan needs a layout, such as dpmarkov.Layout.square(states), or an earlier release that it is "
            f"like; got {layout!r}"
        )
    if like is not None and like.layout != layout:
        raise ParameterError(
            f"the layout is {layout}, and the earlier release one of {like.layout}: leave one of them out"
        )
    return layout


def _choice_beside(predictions: list[Prediction], chosen: str) -> str:
    """What `auto` takes, from a small stand-in alone, beside the predictions of this plan."""
    best = predictions[0]
    taken = next(item for item in predictions if item.name == chosen)
    if best is taken:
        return f"{taken.mechanism.name}: it has the least row error here."
    if taken.errors.row <= MARGIN * best.errors.row:
        why = "; its rows adapt to structure that no prediction knows" if best.name == "dirichlet" else ""
        return f"{taken.mechanism.name}: its row error is close to the least here{why}."
    return (
        f"{taken.mechanism.name}, by the shape and the number of events alone. By the predictions above, "
        f"{best.mechanism.name} is more accurate: ask for it by name (mechanism {best.name!r})."
    )


def _crossing(curve: list[tuple[float, float]], accuracy: float) -> float | None:
    """The epsilon at which the error falls to `accuracy`, on straight lines between logarithms."""
    epsilons, errors = (np.array(axis) for axis in zip(*curve, strict=True))
    errors = np.maximum(np.minimum.accumulate(errors), 1e-300)
    if errors[-1] > accuracy:
        return None
    at = int(np.argmax(errors <= accuracy))
    if at == 0:
        return float(epsilons[0])
    x = np.log(errors[at - 1 : at + 1])
    share = (x[0] - np.log(accuracy)) / (x[0] - x[1]) if x[0] > x[1] else 1.0
    return float(np.exp(np.log(epsilons[at - 1]) * (1 - share) + np.log(epsilons[at]) * share))
