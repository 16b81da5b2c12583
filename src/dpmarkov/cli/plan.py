"""`dpmarkov plan`: mechanisms side by side before anything is spent."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from dpmarkov.cli.options import UNITS, parse_states, parse_unit
from dpmarkov.cli.outcome import print_json, print_warning
from dpmarkov.cli.waiting import waiting
from dpmarkov.errors import ParameterError, UnitError

if TYPE_CHECKING:
    from dpmarkov.privacy.unit import Unit
    from dpmarkov.releases import Release


@click.command()
@click.option(
    "--states",
    metavar="STATES",
    help="How many states, or the states as for `dpmarkov release` (zones.csv:LocationID, A,B,C, 1..69).",
)
@click.option(
    "--from-states", metavar="STATES", help="The from-states, where they differ from the to-states."
)
@click.option("--single", is_flag=True, help="A single distribution over the states, without from-states.")
@click.option("--support", metavar="FILE", help="CSV of allowed pairs (columns from, to).")
@click.option(
    "--like",
    metavar="RELEASE",
    help="Instead of --states: an earlier release of similar data, a much closer prediction.",
)
@click.option(
    "--events",
    type=float,
    help="A public guess of the number of events; by default 1,000 a row, or as many as --like shows.",
)
@click.option(
    "--unit", help="What is protected: event (default; with --like, its unit), destination, user or visit."
)
@click.option("--relation", help="For --unit event and user: add_remove (default) or replace.")
@click.option("--max-events", type=int, help="For --unit user: events of a user that count at most.")
@click.option("--max-per-pair", type=int, help="For --unit user: of these, in any one cell.")
@click.option(
    "--bounds",
    metavar="FILE",
    help="The charge file of `dpmarkov bounds`: compare bounds on a user's events instead.",
)
@click.option("--epsilon", type=float, help="Privacy budget, > 0.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Privacy budget, 0 <= delta < 1.")
@click.option(
    "--accuracy",
    type=float,
    help="A wanted row error, such as .05: adds the epsilon that it needs, up to 8.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(
    states: str | None,
    from_states: str | None,
    single: bool,
    support: str | None,
    like: str | None,
    events: float | None,
    unit: str | None,
    relation: str | None,
    max_events: int | None,
    max_per_pair: int | None,
    bounds: str | None,
    epsilon: float | None,
    delta: float,
    accuracy: float | None,
    as_json: bool,
) -> None:
    """Compare the mechanisms for a budget, without touching any data.

    \b
    dpmarkov plan --states 65 --events 300000 --epsilon 1 --delta 1e-6
    dpmarkov plan --like last-year/ --epsilon 0.5 --accuracy 0.05
    dpmarkov plan --states 17 --bounds bounds.json --epsilon 1
    """  # noqa: D301
    if epsilon is None:
        raise ParameterError("--epsilon is missing: how much privacy may be spent? 1 is a common choice")
    if (states is None) == (like is None):
        raise ParameterError("give either --states or --like: what shape will the release have?")
    if like is not None:
        _refuse({"--from-states": from_states, "--single": single or None, "--support": support}, "--states")
    if bounds is not None and (unit not in (None, "user") or relation is not None or accuracy is not None):
        raise ParameterError(
            "--bounds goes with users, and takes their relation from its file; leave out "
            "--relation and --accuracy"
        )
    limits = {"user": None, "max_events": max_events, "max_per_pair": max_per_pair}
    of_earlier = like is not None and unit is None and bounds is None
    if of_earlier:
        given = {"--relation": relation, "--max-events": max_events, "--max-per-pair": max_per_pair}
        _refuse(given, "--unit (without it, the unit is that of the release in --like, with its bounds)")

    import dpmarkov as dpm
    from dpmarkov.events import make_layout
    from dpmarkov.odds import odds

    budget = dpm.Budget(epsilon=epsilon, delta=delta)
    layout = None
    if states is not None:
        space = dpm.StateSpace.range(1, int(states) + 1) if states.isdecimal() else parse_states(states)
        sources = None if from_states is None else parse_states(from_states)
        layout = make_layout(states=space, source_states=sources, support=support, single=single)
    if bounds is None:
        # Before anything is loaded: where the unit is that of --like, this is the default for now.
        protected = parse_unit(unit, relation, limits)
    earlier = None if like is None else dpm.load(like)
    if bounds is not None:
        report = dpm.BoundsReport.from_charge(dpm.Charge.load(bounds))
        tried = {} if max_events is None else {"bounds": [max_events]}
        with waiting("Planning"):
            compared = dpm.plan_bounds(
                report,
                layout,
                budget=budget,
                max_per_pair=max_per_pair,
                expected_events=events,
                like=earlier,
                **tried,
            )
        if as_json:
            print_json(compared.to_dict(), budget.epsilon, budget.delta)
            return
        click.echo(compared.describe())
        print_warning(budget.epsilon, budget.delta)
        return
    if earlier is not None and of_earlier:
        protected = _unit_of(earlier)
    with waiting("Planning"):
        made = dpm.plan(
            layout, unit=protected, budget=budget, expected_events=events, like=earlier, accuracy=accuracy
        )
        table = odds(made.profile, epsilon=epsilon, unit=protected)
    if as_json:
        print_json({**made.to_dict(), "odds": table.to_dict()}, budget.epsilon, budget.delta)
        return
    click.echo(made.describe())
    click.echo(f"\nWhat epsilon = {epsilon:g} means\n{table.describe()}")


def _refuse(options: Mapping[str, object], needed: str) -> None:
    """Refuse options that would be ignored."""
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"{name} goes with {needed}; leave it out")


def _unit_of(earlier: "Release") -> "Unit":
    """The unit of an earlier release, where there are mechanisms to compare for it."""
    unit = earlier.guarantee.unit
    if unit.name in UNITS:
        return unit
    instead = (
        ", or see its noise with dpmarkov release ... --unit timepoint --theta FILE --dry-run --length T"
    )
    raise UnitError(
        f"the earlier release protects the unit {unit.name}, for which there is one mechanism and nothing to "
        f"compare. Give --unit for another one{instead if unit.name == 'timepoint' else ''}"
    )
