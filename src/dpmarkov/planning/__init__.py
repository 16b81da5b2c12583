"""What accuracy to expect, and the choice that follows from it; computed without touching the data.

A plan runs the mechanisms, as they are, on counts that stand in for the data: of a public shape, or of an
earlier release. Nothing sensitive is read, so nothing is spent.
"""

from dpmarkov.planning.bounds import BoundCost, BoundsPlan, plan_bounds
from dpmarkov.planning.choose import Choice, choose
from dpmarkov.planning.dirichlet import declared_events, expected_events_guess, plan_dirichlet
from dpmarkov.planning.plan import Plan, Prediction, plan
from dpmarkov.planning.predict import Errors, predicted_errors
from dpmarkov.planning.reference import Reference, reference, reference_like

__all__ = [
    "BoundCost",
    "BoundsPlan",
    "Choice",
    "Errors",
    "Plan",
    "Prediction",
    "Reference",
    "choose",
    "declared_events",
    "expected_events_guess",
    "plan",
    "plan_bounds",
    "plan_dirichlet",
    "predicted_errors",
    "reference",
    "reference_like",
]
