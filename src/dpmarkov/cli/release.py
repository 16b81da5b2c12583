"""`dpmarkov release`: from a table of events to a saved release."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from dpmarkov.cli.options import parse_unit, typed
from dpmarkov.cli.outcome import print_json, print_outcome, print_warning
from dpmarkov.cli.spending import check_discovery, discover, take_bounds
from dpmarkov.cli.table import check_table, count_arguments, table_options
from dpmarkov.cli.timepoint import plan_or_release, refuse_timepoint_options, timepoint_options
from dpmarkov.cli.waiting import waiting
from dpmarkov.errors import ParameterError

if TYPE_CHECKING:
    from dpmarkov.layout import Layout
    from dpmarkov.planning import Choice
    from dpmarkov.privacy.budget import Budget
    from dpmarkov.privacy.charge import Charge
    from dpmarkov.privacy.unit import Unit


@click.command()
@click.argument("data")
@table_options
@click.option(
    "--unit",
    help="What is protected: event (the default where there is no --user), destination, user (with "
    "--max-events), visit (a row of a sequence) or timepoint (with --theta).",
)
@click.option("--relation", help="For the units event and user: add_remove (default) or replace.")
@click.option("--epsilon", type=float, help="Privacy budget, > 0.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Privacy budget, 0 <= delta < 1.")
@click.option(
    "--bounds", metavar="FILE", help="The charge file of `dpmarkov bounds`: its bound and its price."
)
@click.option(
    "--discover-states", type=float, metavar="SHARE", help="Find the states with this share of the budget."
)
@click.option("--other", default="other", show_default=True, help="The state for what was not discovered.")
@timepoint_options
@click.option(
    "--mechanism",
    type=click.Choice(["auto", "laplace", "gaussian", "dirichlet"]),
    default="auto",
    show_default=True,
    help="auto takes the least predicted error, from public quantities alone; with --form, --floor or "
    "--prior it is the Dirichlet mechanism.",
)
@click.option(
    "--form",
    type=click.Choice(["floor", "prior"]),
    help="The form of the Dirichlet mechanism. Giving --form, --floor or --prior asks for that mechanism.",
)
@click.option(
    "--floor",
    type=float,
    help="Asks for the Dirichlet mechanism in the form floor: the least parameter of a cell, 1e-6 to 1e9.",
)
@click.option(
    "--prior",
    type=float,
    help="Asks for the Dirichlet mechanism in the form prior: the prior of a cell, 1e-6 to 1e9.",
)
@click.option(
    "--totals-share",
    type=float,
    metavar="SHARE",
    help="Buy noisy row totals with this share of epsilon (Dirichlet only: the others reveal them).",
)
@click.option(
    "--postprocess",
    type=click.Choice(["posterior", "project", "clip"]),
    help="How rows follow from noisy counts: posterior mean (the default), nearest row, or negative to zero.",
)
@click.option(
    "--expected-events",
    type=float,
    help="A public guess of the number of events, to choose the mechanism by; rounded to one significant "
    "digit. 1,000 a row by default.",
)
@click.option(
    "--out",
    metavar="DIRECTORY",
    help="Where the release goes: release.json, transitions.parquet and, from mechanisms that reveal noisy "
    "counts, counts.parquet; sequences add the same for their starts and lengths.",
)
@click.option("--overwrite", is_flag=True, help="Replace a release that is in the directory.")
@click.option(
    "--dry-run", is_flag=True, help="Show unit, odds, parameters and predicted error; read nothing."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--seed", type=int, help="For simulations only: the release is NOT PRIVATE.")
def release(
    data: str,
    unit: str | None,
    relation: str | None,
    epsilon: float | None,
    delta: float,
    mechanism: str,
    form: str | None,
    floor: float | None,
    prior: float | None,
    expected_events: float | None,
    totals_share: float | None,
    postprocess: str | None,
    out: str | None,
    overwrite: bool,
    dry_run: bool,
    as_json: bool,
    seed: int | None,
    bounds: str | None,
    discover_states: float | None,
    other: str,
    **table: Any,
) -> None:
    """Make a private Markov chain from the table DATA.

    DATA is a CSV (.csv, .csv.gz, .tsv) or Parquet file, a quoted glob of many, a database
    (postgresql://..., duckdb:///file.db) or spark:// with --table or --query.
    """
    if epsilon is None:
        raise ParameterError("--epsilon is missing: how much privacy may be spent? 1 is a common choice")
    if unit != "timepoint":
        refuse_timepoint_options(table)
        check_table(table, discover=discover_states is not None)
    if not out and not dry_run:
        raise ParameterError("--out is missing: the directory that the release goes to")
    if unit == "timepoint":
        given = dict(click.get_current_context().params)
        plan_or_release(given.pop("data"), given)
        return
    if discover_states is None and typed("other"):
        raise ParameterError("--other goes with --discover-states")
    form, floor = _form_and_floor(form, floor, prior)
    _check_mechanism(mechanism, form, totals_share, postprocess)

    import dpmarkov as dpm
    from dpmarkov.releases import check_output

    budget = dpm.Budget(epsilon=epsilon, delta=delta)
    charges = take_bounds(bounds, table)
    protected = parse_unit(unit, relation, table)
    choice = {
        "mechanism": mechanism,
        "form": form,
        "floor": floor,
        "expected_events": expected_events,
        "totals_share": totals_share,
        "postprocess": postprocess,
    }
    if discover_states is not None:
        if dry_run:
            raise ParameterError("--dry-run reads nothing, so it cannot discover states; declare them")
        check_output(str(out), overwrite=overwrite)
        check_discovery(table, discover_states)
        # Whatever can be refused is refused before anything is spent, on states that stand in for the found.
        layout, arguments = count_arguments(data, table | {"states": dpm.StateSpace.range(0, 2)})
        rest = dpm.Budget(epsilon=(1 - discover_states) * epsilon, delta=(1 - discover_states) * delta)
        _chosen(layout, arguments, protected, rest, charges, choice)
        charges.append(discover(data, table, protected, budget, discover_states, other, seed))
    layout, arguments = count_arguments(data, table)
    if dry_run:
        _dry_run(layout, arguments, protected, budget, charges, choice, as_json, seed)
        return
    check_output(str(out), overwrite=overwrite)
    _check_fit(arguments, protected, charges)
    counts = dpm.count(data, **arguments, seed=seed, progress=True)
    with waiting("Releasing"):
        made = dpm.release(
            counts,
            unit=protected,
            budget=budget,
            charges=charges,
            seed=seed,
            **choice,  # type: ignore[arg-type]
        )
    print_outcome(made, made.save(str(out), overwrite=overwrite), as_json=as_json)


def _check_fit(arguments: dict[str, Any], unit: "Unit", charges: "list[Charge]") -> None:
    """Refuse, before anything is read, a unit that neither the counts nor the charges would fit."""
    from dpmarkov.events.question import ask

    places = ("table", "query", "delimiter")
    ask(**{name: value for name, value in arguments.items() if name not in places}).contributions.check(unit)
    for charge in charges:
        charge.check(unit)


def _chosen(
    layout: "Layout",
    arguments: dict[str, Any],
    unit: "Unit",
    budget: "Budget",
    charges: "list[Charge]",
    choice: dict[str, Any],
) -> "Choice":
    """The mechanism that a release would take with what the charges leave of the budget."""
    from dpmarkov.planning import choose
    from dpmarkov.privacy.charge import remaining

    _check_fit(arguments, unit, charges)
    return choose(layout, unit=unit, budget=remaining(budget, charges), **choice)


def _dry_run(
    layout: "Layout",
    arguments: dict[str, Any],
    unit: "Unit",
    budget: "Budget",
    charges: "list[Charge]",
    choice: dict[str, Any],
    as_json: bool,
    seed: int | None,
) -> None:
    """What a release would do; nothing is read."""
    from dpmarkov.planning import expected_events_guess, predicted_errors, reference
    from dpmarkov.privacy.charge import remaining
    from dpmarkov.releases.describe import odds_of
    from dpmarkov.releases.make import covering, guarantee_for

    made = _chosen(layout, arguments, unit, budget, charges, choice)
    rest = remaining(budget, charges)
    alone = guarantee_for(made.mechanism, unit=unit, budget=rest, layout=layout, seed=seed)
    table = odds_of(covering(alone, budget, rest, charges))
    stand_in = reference(layout, expected_events_guess(layout, choice["expected_events"]))
    errors = predicted_errors(made.mechanism, stand_in)
    settings = made.mechanism.to_dict()
    spent = [charge.in_words() for charge in charges]
    if as_json:
        data = {
            "unit": unit.to_dict(),
            "relation": unit.relation_in_words,
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "spent_before": spent,
            "mechanism": settings,
            "reason": made.reason,
            "predicted": {**asdict(errors), "basis": stand_in.words},
            "odds": None if table is None else table.to_dict(),
        }
        print_json(data, budget.epsilon, budget.delta)
        return
    shown = ", ".join(f"{name} {_readable(value)}" for name, value in settings.items() if name != "name")
    stationary = "" if errors.stationary is None else f", stationary error {errors.stationary:.3g}"
    lines = [
        "Nothing was read.",
        f"Shape       {layout}",
        f"Unit        {unit.name}: {unit.relation_in_words}",
        f"Budget      {budget}",
        *([] if table is None else [f"In odds     {table.in_words}"]),
        *(f"Spent of it {price}" for price in spent),
        f"Mechanism   {made.mechanism.name} ({shown})",
        f"Reason      {made.reason}",
        f"Prediction  row error {errors.row:.3g}{stationary} (total variation) on {stand_in.words}",
    ]
    click.echo("\n".join(lines))
    print_warning(budget.epsilon, budget.delta)


def _readable(value: object) -> str:
    """A setting for the terminal; --json has all its digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _form_and_floor(
    form: str | None, floor: float | None, prior: float | None
) -> tuple[str | None, float | None]:
    """One least parameter for either form."""
    for name, value in (("--floor", floor), ("--prior", prior)):
        if value is not None and not 1e-6 <= value <= 1e9:
            raise ParameterError(f"{name} must be a number from 1e-6 to 1e9; got {value:g}")
    if floor is not None and prior is not None:
        raise ParameterError(
            "--floor goes with the form floor, --prior with the form prior; give one of them"
        )
    if prior is not None:
        if form == "floor":
            raise ParameterError("--prior goes with --form prior; use --floor with --form floor")
        return "prior", prior
    if floor is not None:
        if form == "prior":
            raise ParameterError("--floor goes with --form floor; use --prior with --form prior")
        return "floor", floor
    return form, None


def _check_mechanism(
    mechanism: str, form: str | None, totals_share: float | None, postprocess: str | None
) -> None:
    """Refuse options of another mechanism than the one that was asked for."""
    if totals_share is not None and not 0 < totals_share < 1:
        raise ParameterError(
            f"--totals-share must be a number > 0 and < 1, such as 0.1; got {totals_share:g}"
        )
    if mechanism in ("laplace", "gaussian"):
        if form is not None:
            raise ParameterError(
                f"--form, --floor and --prior go with --mechanism dirichlet; got --mechanism {mechanism}"
            )
        if totals_share is not None:
            raise ParameterError(
                f"--totals-share goes with --mechanism dirichlet; {mechanism} reveals every count with noise "
                "and so the rows' totals. Leave it out"
            )
    elif postprocess is not None and (mechanism == "dirichlet" or form is not None):
        raise ParameterError(
            "--postprocess says how rows follow from noisy counts, and the Dirichlet mechanism has none: "
            "leave it out, or ask for --mechanism laplace or gaussian"
        )
