"""`dpmarkov bounds`: a private quantile of events per user, to choose --max-events by."""

from typing import Any

import click

from dpmarkov.cli.outcome import print_json, print_warning
from dpmarkov.cli.table import check_table, count_arguments, table_options
from dpmarkov.errors import ParameterError, UnitError


@click.command()
@click.argument("data")
@table_options
@click.option("--unit", default="user", show_default=True, help="What is protected; bounds are about users.")
@click.option("--relation", default="add_remove", show_default=True, help="That of the release: or replace.")
@click.option("--epsilon", type=float, help="The price, > 0; .05 is a common choice.")
@click.option("--quantile", type=float, default=0.95, show_default=True, help="Share of users to keep whole.")
@click.option("--out", metavar="FILE", help="The charge file; `dpmarkov release --bounds FILE` takes it.")
@click.option("--overwrite", is_flag=True, help="Replace the charge file.")
@click.option("--json", "as_json", is_flag=True, help="Print the charge as JSON.")
@click.option("--seed", type=int, help="For simulations only: the result is NOT PRIVATE.")
def bounds(
    data: str,
    unit: str,
    relation: str,
    epsilon: float | None,
    quantile: float,
    out: str | None,
    overwrite: bool,
    as_json: bool,
    seed: int | None,
    **table: Any,
) -> None:
    """Find, privately, how many events of a user of DATA to keep, and what other bounds would cost."""
    if unit != "user":
        raise UnitError(f"bounds are about users: --unit user; got {unit!r}")
    if epsilon is None:
        raise ParameterError(
            "--epsilon is missing: how much privacy may be spent on the bound? .05 is common"
        )
    if out is None:
        raise ParameterError("--out is missing: the charge file, which the release needs")
    check_table(table)
    import dpmarkov as dpm
    from dpmarkov.whole import check_free

    check_free(out, overwrite=overwrite)
    _, arguments = count_arguments(data, table)
    report = dpm.bounds(
        data, epsilon=epsilon, quantile=quantile, relation=relation, seed=seed, progress=True, **arguments
    )
    report.charge.save(out, overwrite=overwrite)
    if as_json:
        print_json(report.charge.to_dict(), report.charge.epsilon, report.charge.delta)
        return
    click.echo(report.describe())
    print_warning(report.charge.epsilon, report.charge.delta)
    click.echo(f"\nSaved to {out}. Next: dpmarkov release {data} ... --unit user --bounds {out}")
