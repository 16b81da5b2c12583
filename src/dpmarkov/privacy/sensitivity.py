"""Sensitivity: by how much one unit can move the table of counts. Derived here, and nowhere else.

A *change* is what two neighbouring tables differ by: whole numbers by which some cells gain and others lose.
Which cells these are never matters, since every cell has the same noise or the same floor; so a change is two
lists of whole numbers, and the changes listed for a unit are its worst: any other is obtained from one of
them by taking events away or by spreading what one cell gains (or loses) over several.

=======================  =====================  ==================  =====================================
unit                     gains                  losses              why
=======================  =====================  ==================  =====================================
destination              1                      1                   an event goes to another cell
event, add_remove        1                      none
event, replace           1                      1                   in any two cells
user, add_remove         c, c, ..., rest        none                m events, at most c in any one cell
user, replace            c, c, ..., rest        c, c, ..., rest     up to m leave, up to m enter
visit                    1, 1 or 2              1                   a -> b becomes a -> x -> b
=======================  =====================  ==================  =====================================

An event that turns into one that is not counted is a change with the gain or the loss left out. A visit's two
new transitions share a cell where a = x = b and a gap had kept the two a's apart; what vanishes then is the
start that the second a had been.

**Row totals.** A row's total gains what its cells gain. Several of a change's events may lie in one row, and
moving one total by a + b is worse than moving two by a and b; so all gains go to one row and all losses to
another, whatever bound there is for a single cell.

=======================  =====================  ==================  =====================================
unit                     gains                  losses              why
=======================  =====================  ==================  =====================================
destination              1                      1                   where a group is read off the destination
event, add_remove        1                      none
event, replace           1                      1                   in any two rows
user, add_remove         m                      none                all events in one row
user, replace            m                      m                   in any two rows
visit                    2                      1                   a = x = b, and a start vanishes
=======================  =====================  ==================  =====================================

Under `Destination` the origin of every event is public, yet the totals of the rows are not: an event whose
destination is not declared is not counted, and with one chain for each group, a group that is read off the
destination (`by` the column of the to-state, or an expression of it) moves the event to another row.
"""

import math
from dataclasses import dataclass

from dpmarkov.errors import UnitError
from dpmarkov.privacy.unit import Destination, Event, Unit, User, Visit

__all__ = ["Change", "Sensitivity", "row_total_changes", "sensitivity", "worst_changes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How many events some cells gain and others lose; positive whole numbers, one for each cell."""

    gains: tuple[int, ...]
    losses: tuple[int, ...] = ()

    @property
    def steps(self) -> tuple[int, ...]:
        """By how much each cell moves, in absolute value."""
        return self.gains + self.losses

    @property
    def squared(self) -> int:
        """The squared L2 norm, exactly."""
        return sum(step * step for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """The largest norms of a change.

    Parameters
    ----------
    l1
        The largest sum of absolute moves.
    l2_squared
        The square of the largest Euclidean norm: a whole number, so nothing is rounded.
    linf
        The largest move of one cell.
    """

    l1: int
    l2_squared: int
    linf: int

    @property
    def l2(self) -> float:
        """The largest Euclidean norm."""
        return math.sqrt(self.l2_squared)


def worst_changes(unit: Unit) -> tuple[Change, ...]:
    """The worst changes of a unit that moves counts; the table at the top of this module."""
    if isinstance(unit, Destination) or (isinstance(unit, Event) and unit.relation == "replace"):
        return (Change(gains=(1,), losses=(1,)),)
    if isinstance(unit, Event):
        return (Change(gains=(1,)),)
    if isinstance(unit, User):
        whole, rest = divmod(unit.max_events, unit.most_in_a_cell)
        steps = (unit.most_in_a_cell,) * whole + ((rest,) if rest else ())
        return (Change(gains=steps, losses=steps if unit.relation == "replace" else ()),)
    if isinstance(unit, Visit):
        return (Change(gains=(2,), losses=(1,)), Change(gains=(1, 1), losses=(1,)))
    raise UnitError(
        f"the unit {unit.name!r} does not say how it moves counts; "
        "use Destination(), Event(), User(...) or Visit()"
    )


def row_total_changes(unit: Unit) -> tuple[Change, ...]:
    """The worst changes of the rows' totals; the second table at the top of this module."""
    gains = max(sum(change.gains) for change in worst_changes(unit))
    losses = max(sum(change.losses) for change in worst_changes(unit))
    return (Change(gains=(gains,), losses=(losses,) if losses else ()),)


def sensitivity(unit: Unit) -> Sensitivity:
    """The L1, L2 and L-infinity sensitivity of the table of counts under `unit`.

    Examples
    --------
    >>> sensitivity(Event(relation="replace"))
    Sensitivity(l1=2, l2_squared=2, linf=1)
    >>> sensitivity(User(max_events=10, max_per_pair=3))
    Sensitivity(l1=10, l2_squared=28, linf=3)
    """
    changes = worst_changes(unit)
    return Sensitivity(
        l1=max(sum(change.steps) for change in changes),
        l2_squared=max(change.squared for change in changes),
        linf=max(max(change.steps) for change in changes),
    )
