"""What each bound on a user's events costs: noise, which grows with it, and lost events, which shrink."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from dpmarkov.errors import ParameterError, UnitError
from dpmarkov.layout import Layout
from dpmarkov.planning.choose import candidates
from dpmarkov.planning.dirichlet import declared_events
from dpmarkov.planning.predict import predicted_errors
from dpmarkov.planning.reference import reference, reference_like
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.charge import remaining
from dpmarkov.privacy.unit import User

if TYPE_CHECKING:
    from dpmarkov.discovery import BoundsReport
    from dpmarkov.releases import Release

__all__ = ["BoundCost", "BoundsPlan", "plan_bounds"]

_TRIED = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundCost:
    """What one bound costs.

    Parameters
    ----------
    max_events
        The bound m.
    mechanism
        The mechanism with the least predicted error there.
    row_error
        Its predicted row error from the noise, on the events that the bound leaves.
    users_whole
        The share of users (privately estimated) that have at most m events.
    lost_events
        The share of events (privately estimated) that the bound leaves out.
    """

    max_events: int
    mechanism: str
    row_error: float
    users_whole: float
    lost_events: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsPlan:
    """Several bounds side by side; nothing in it but public and private numbers, so it may be shared.

    Parameters
    ----------
    budget
        The whole budget, of which the look at the users has used its part.
    spent
        That part, in words.
    costs
        One for each bound.
    """

    budget: Budget
    spent: str
    costs: tuple[BoundCost, ...]

    def describe(self) -> str:
        """The table in plain text."""
        lines = [
            f"Bounds on a user's events, for {self.budget} in all. No data was touched.",
            f"Spent of it: {self.spent}.",
            "",
            f"{'bound m':>9}{'row error by noise':>20}{'users whole':>13}{'events lost':>13}  mechanism",
        ]
        lines += [
            f"{cost.max_events:>9,}{cost.row_error:>20.3g}{cost.users_whole:>13.1%}{cost.lost_events:>13.1%}"
            f"  {cost.mechanism}"
            for cost in self.costs
        ]
        lines += ["", "Lost events bias the chain towards users with few events; noise does not."]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a script."""
        return {
            "epsilon": self.budget.epsilon,
            "delta": self.budget.delta,
            "spent": self.spent,
            "bounds": [asdict(cost) for cost in self.costs],
        }


def plan_bounds(
    report: "BoundsReport",
    layout: Layout | None = None,
    *,
    budget: Budget,
    max_per_pair: int | None = None,
    expected_events: float | None = None,
    like: "Release | None" = None,
    bounds: Sequence[int] = _TRIED,
) -> BoundsPlan:
    """What several bounds cost, from a private look at the users: no data is touched again.

    Parameters
    ----------
    report
        What `dpmarkov.bounds` found, or `BoundsReport.from_charge` of its file.
    layout, like
        As for `dpmarkov.plan`.
    budget
        The budget of the look and the release together.
    max_per_pair
        The second bound that the release will have.
    expected_events
        A public guess of the number of events; by default the private estimate from the report.
    bounds
        The bounds to compare; the one that was found is always among them.
    """
    if layout is None:
        if like is None:
            raise ParameterError("a plan needs a layout (states), or an earlier release that it is like")
        layout = like.layout
    left = remaining(budget, [report.charge])
    events = report.events() if expected_events is None else declared_events(layout, expected_events)
    costs = []
    for m in sorted({*bounds, report.max_events}):
        pairs = None if max_per_pair is None else min(max_per_pair, m)
        unit = User(
            max_events=m,
            max_per_pair=pairs,
            relation="replace" if report.charge.relation == "replace" else "add_remove",
        )
        lost = report.lost_share(m)
        kept = max(1.0, events * (1 - lost))
        stand_in = reference(layout, kept) if like is None else reference_like(like, events=kept)
        found = candidates(layout, unit=unit, budget=left, expected_events=kept, quick=True)
        if not found:
            raise UnitError(f"no mechanism has a guarantee for {unit} and {left}")
        errors = {made.name: predicted_errors(made, stand_in).row for made in found.values()}
        best = min(errors, key=lambda name: errors[name])
        costs.append(
            BoundCost(
                max_events=m,
                mechanism=best,
                row_error=errors[best],
                users_whole=report.share_of_users(m),
                lost_events=lost,
            )
        )
    return BoundsPlan(budget=budget, spent=report.charge.in_words(), costs=tuple(costs))
