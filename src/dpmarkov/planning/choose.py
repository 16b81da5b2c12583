"""`auto`: the mechanism, its parameters and its post-processing, by predicted error.

The choice rests on the unit, the budget, the declared shape and the declared (or guessed) size alone.
"""

from dataclasses import dataclass, replace
from functools import lru_cache, partial

from dpmarkov.errors import ParameterError, UnitError
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.additive import Additive
from dpmarkov.mechanisms.base import Mechanism
from dpmarkov.mechanisms.dirichlet import Dirichlet, Form
from dpmarkov.mechanisms.row_totals import check_totals_share, with_row_totals
from dpmarkov.planning.dirichlet import expected_events_guess, plan_dirichlet
from dpmarkov.planning.predict import predicted_errors
from dpmarkov.planning.reference import reference
from dpmarkov.postprocess import NoiseLaw, check_method
from dpmarkov.postprocess.noise import NoiseKind
from dpmarkov.privacy.additive import calibrate_gaussian, calibrate_laplace
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.unit import Unit, User, Visit

__all__ = ["CHOICES", "MARGIN", "Choice", "candidates", "choose"]

CHOICES = ("auto", "laplace", "gaussian", "dirichlet")

_LIMIT = 40
"""States of the stand-in that the choice runs mechanisms on: a fraction of a second."""

MARGIN = 1.25
"""A Dirichlet draw must be predicted better by this factor: post-processing of noisy counts adapts to
structure (sparse rows, busy columns) that a prediction's public shape lacks; a Dirichlet draw does not.
Predicted better by up to 1.25 it was measured at .8 to 1.6 times the error of noisy counts on thin tables."""

_FAR_WIDER = 1.5
"""Noise with a standard deviation so much larger needs no prediction: its post-processing is the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A mechanism and the reason for it.

    Parameters
    ----------
    mechanism
        The mechanism with its calibrated parameters.
    reason
        One sentence that says why, for the release.
    """

    mechanism: Mechanism
    reason: str


def candidates(
    layout: Layout,
    *,
    unit: Unit,
    budget: Budget,
    expected_events: float | None = None,
    quick: bool = False,
) -> dict[str, Mechanism]:
    """Every mechanism that the unit and the budget allow, calibrated, by name.

    With `quick`, the Dirichlet mechanism is left out where a unit's events spread over several cells (users
    with a bound in each cell, visits): each of its floors then needs a composition, seconds in all, and it
    lost in every case that was measured.
    """
    found: dict[str, Mechanism] = {}
    spread = isinstance(unit, Visit) or (isinstance(unit, User) and unit.most_in_a_cell < unit.max_events)
    for name in CHOICES[1:]:
        if name == "dirichlet" and quick and spread:
            continue
        try:
            found[name] = calibrated(name, layout, unit=unit, budget=budget, expected_events=expected_events)
        except (UnitError, ParameterError):
            # This mechanism has no guarantee for the unit, or none with delta = 0.
            continue
    return found


def calibrated(
    name: str,
    layout: Layout,
    *,
    unit: Unit,
    budget: Budget,
    form: Form | None = None,
    floor: float | None = None,
    expected_events: float | None = None,
) -> Mechanism:
    """The mechanism of that name, calibrated to the budget."""
    if name == "laplace" or name == "gaussian":
        return _additive(name, unit, budget)
    if name == "dirichlet":
        return plan_dirichlet(
            layout, unit=unit, budget=budget, form=form, floor=floor, expected_events=expected_events
        )
    raise ParameterError(f"mechanism must be one of {', '.join(CHOICES)}; got {name!r}")


@lru_cache(maxsize=256)
def _additive(kind: NoiseKind, unit: Unit, budget: Budget) -> Additive:
    """The additive mechanism of that noise; a plan asks for the same one several times."""
    if kind == "gaussian":
        return Additive(noise=NoiseLaw(kind="gaussian", scale=calibrate_gaussian(unit, budget)))
    scale = calibrate_laplace(unit, budget)
    pure = calibrate_laplace(unit, Budget(epsilon=budget.epsilon))
    # A hair's breadth of noise is not worth the delta: the pure guarantee is the better one.
    return Additive(noise=NoiseLaw(kind="laplace", scale=pure if scale > 0.99 * pure else scale))


def choose(
    layout: Layout,
    *,
    unit: Unit,
    budget: Budget,
    mechanism: str = "auto",
    form: Form | None = None,
    floor: float | None = None,
    expected_events: float | None = None,
    totals_share: float | None = None,
    postprocess: str | None = None,
) -> Choice:
    """The mechanism for a release.

    Parameters
    ----------
    layout
        The public shape.
    unit, budget
        What is protected, and how strongly.
    mechanism
        `"auto"` for the least predicted error of a row, or a mechanism by name.
    form, floor
        The Dirichlet form and its least parameter; giving one asks for the Dirichlet mechanism.
    expected_events
        A public guess of the number of events; 1,000 a row by default.
    totals_share
        The share of epsilon that buys noisy row totals beside a Dirichlet draw.
    postprocess
        How rows follow from noisy counts (see `dpmarkov.postprocess`); `"posterior"` by default.
    """
    again = partial(
        choose,
        layout,
        unit=unit,
        mechanism=mechanism,
        form=form,
        floor=floor,
        expected_events=expected_events,
    )
    if postprocess is not None:
        check_method(postprocess)
        chosen = again(budget=budget, totals_share=totals_share)
        if not isinstance(chosen.mechanism, Additive):
            raise ParameterError(
                f"postprocess (--postprocess) says how rows follow from noisy counts, and "
                f"{chosen.mechanism.name} has none. Leave it out, or ask for the mechanism 'laplace' or "
                "'gaussian' (mechanism=, --mechanism)"
            )
        if postprocess == chosen.mechanism.method:
            return chosen
        return Choice(
            mechanism=replace(chosen.mechanism, method=postprocess),
            reason=f"{chosen.reason} Rows by {postprocess} were asked for, in place of the posterior mean.",
        )
    if totals_share is not None:
        check_totals_share(totals_share)
        rest = Budget(epsilon=(1 - totals_share) * budget.epsilon, delta=budget.delta)
        chosen = again(budget=rest)
        if not isinstance(chosen.mechanism, Dirichlet):
            raise ParameterError(
                f"totals_share (--totals-share) buys noisy row totals, and {chosen.mechanism.name} reveals "
                "every count with noise, so the rows' totals are there already, for nothing. Leave it out, "
                "or ask for the mechanism 'dirichlet' (mechanism=, --mechanism)"
            )
        both = with_row_totals(chosen.mechanism, unit=unit, budget=budget, share=totals_share)
        return Choice(
            mechanism=both,
            reason=f"{chosen.reason} {totals_share:.3g} of epsilon buys the rows' totals.",
        )
    asked = "it was asked for"
    if form is not None or floor is not None:
        if mechanism not in ("auto", "dirichlet"):
            raise ParameterError(
                "form, floor and prior (form=, floor=; --form, --floor, --prior) belong to the Dirichlet "
                f"mechanism; got the mechanism {mechanism!r}"
            )
        mechanism, asked = "dirichlet", "a Dirichlet form or floor was asked for"
    if mechanism != "auto":
        made = calibrated(
            mechanism,
            layout,
            unit=unit,
            budget=budget,
            form=form,
            floor=floor,
            expected_events=expected_events,
        )
        return Choice(mechanism=made, reason=f"{made.name} was taken because {asked}.")
    events = expected_events_guess(layout, expected_events)
    found = candidates(layout, unit=unit, budget=budget, expected_events=expected_events, quick=True)
    if not found:
        raise UnitError(f"no mechanism has a guarantee for the unit {unit.name!r} and {budget}")
    noises = {name: made.noise.std for name, made in found.items() if isinstance(made, Additive)}
    for name in noises:
        if noises[name] > _FAR_WIDER * min(noises.values()):
            del found[name]
    if len(found) == 1:
        name, made = next(iter(found.items()))
        reason = f"{made.name} was chosen because it needs the least noise for this unit and budget."
        return Choice(mechanism=made, reason=reason)
    stand_in = reference(layout, events, limit=_LIMIT)
    errors = {name: predicted_errors(made, stand_in).row for name, made in found.items()}
    best = min(errors, key=lambda name: errors[name] * (1 if isinstance(found[name], Additive) else MARGIN))
    rank = (
        "is the least"
        if errors[best] == min(errors.values())
        else "is close to the least, and it adapts to structure"
    )
    others = " and ".join(found[name].name for name in errors if name != best)
    size = f"{events:,} " + (
        "declared events" if expected_events is not None else "events (1,000 a row: none were declared)"
    )
    reason = (
        f"{found[best].name} was chosen because its predicted error of a row {rank} (beside {others}, on "
        f"public stand-in counts of {size}). The choice rests on public quantities alone."
    )
    return Choice(mechanism=found[best], reason=reason)
