"""`dpmarkov release`: from a table of events to a saved release."""

import json

import click

from dpmarkov.cli.options import STATES_HELP, parse_states, parse_unit
from dpmarkov.errors import ParameterError


@click.command()
@click.argument("data")
@click.option("--from", "source", metavar="COLUMN", help="Column of the from-state.")
@click.option("--to", "target", metavar="COLUMN", help="Column of the to-state.")
@click.option("--column", metavar="COLUMN", help="A single column: release one private distribution.")
@click.option("--states", metavar="STATES", help=STATES_HELP)
@click.option(
    "--from-states", metavar="STATES", help="The from-states, where they differ from the to-states."
)
@click.option(
    "--support", metavar="FILE", help="CSV of allowed pairs (columns from, to); others are known zeros."
)
@click.option(
    "--count", "count_column", metavar="COLUMN", help="For an aggregated table: column of the counts."
)
@click.option(
    "--unknown",
    default="drop",
    show_default=True,
    metavar="RULE",
    help="Missing or undeclared states: 'drop' the event, or map them to a declared state ('state:NAME').",
)
@click.option("--unit", default="event", show_default=True, help="What is protected: event or destination.")
@click.option("--relation", help="For --unit event: add_remove (default) or replace.")
@click.option("--epsilon", type=float, help="Privacy budget, > 0.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Privacy budget, 0 <= delta < 1.")
@click.option("--form", type=click.Choice(["floor", "prior"]), help="Dirichlet form; chosen by default.")
@click.option(
    "--floor", type=float, help="Least Dirichlet parameter of a cell (form floor); chosen by default."
)
@click.option("--prior", type=float, help="Prior of a cell (form prior); chosen by default.")
@click.option("--expected-events", type=float, help="A public guess of the number of events, to choose by.")
@click.option("--out", metavar="DIRECTORY", help="Where the release goes: release.json, transitions.parquet.")
@click.option("--overwrite", is_flag=True, help="Replace a release that is in the directory.")
@click.option("--dry-run", is_flag=True, help="Show unit, parameters and predicted error; read nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--seed", type=int, help="For simulations only: the release is NOT PRIVATE.")
def release(
    data: str,
    source: str | None,
    target: str | None,
    column: str | None,
    states: str | None,
    from_states: str | None,
    support: str | None,
    count_column: str | None,
    unknown: str,
    unit: str,
    relation: str | None,
    epsilon: float | None,
    delta: float,
    form: str | None,
    floor: float | None,
    prior: float | None,
    expected_events: float | None,
    out: str | None,
    overwrite: bool,
    dry_run: bool,
    as_json: bool,
    seed: int | None,
) -> None:
    """Make a private Markov chain from the table of events DATA.

    DATA is a CSV (.csv, .csv.gz, .tsv) or Parquet file, or a quoted glob of many.
    """
    if epsilon is None:
        raise ParameterError("--epsilon is missing: how much privacy may be spent? 1 is a common choice")
    if states is None:
        raise ParameterError(
            "--states is missing: states are declared, public knowledge, never read off the sensitive "
            "table. Give a file and its column (zones.csv:LocationID), a list (A,B,C) or a range (1..69)"
        )
    if (column is None) == (source is None and target is None) or (source is None) != (target is None):
        raise ParameterError(
            "name the columns: --from and --to for a chain, or --column for one distribution"
        )
    form, floor = _form_and_floor(form, floor, prior)
    if out is None and not dry_run:
        raise ParameterError("--out is missing: the directory that the release goes to")

    import dpmarkov as dpm
    from dpmarkov.events import make_layout
    from dpmarkov.planning import plan_dirichlet
    from dpmarkov.releases import check_output
    from dpmarkov.releases.describe import summary

    protected = parse_unit(unit, relation)
    budget = dpm.Budget(epsilon=epsilon, delta=delta)
    space = parse_states(states, data)
    source_space = None if from_states is None else parse_states(from_states, data)
    layout = make_layout(states=space, source_states=source_space, support=support, single=column is not None)
    choice = {"form": form, "floor": floor, "expected_events": expected_events}
    if dry_run:
        plan = plan_dirichlet(layout, unit=protected, budget=budget, **choice)  # type: ignore[arg-type]
        click.echo(json.dumps(plan.to_dict(), indent=1) if as_json else plan.describe())
        return
    if out is not None:
        check_output(out, overwrite=overwrite)
    counts = dpm.count(
        data,
        layout=layout,
        source=source,
        target=target,
        column=column,
        count=count_column,
        unknown=unknown,
        progress=True,
    )
    made = dpm.release(counts, unit=protected, budget=budget, seed=seed, **choice)  # type: ignore[arg-type]
    folder = made.save(str(out), overwrite=overwrite)
    if as_json:
        click.echo(json.dumps({"out": str(folder), **summary(made)}, indent=1))
        return
    click.echo(made.headline())
    click.echo(f"Saved to {folder}. See it whole: dpmarkov show {folder}")


def _form_and_floor(
    form: str | None, floor: float | None, prior: float | None
) -> tuple[str | None, float | None]:
    """One least parameter for either form."""
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
