"""`dpmarkov check`: the operator's look at the data before a release."""

from typing import Any

import click

from dpmarkov.cli.table import count_arguments, table_options


@click.command()
@click.argument("data")
@table_options
def check(data: str, **table: Any) -> None:
    """Look at the table DATA before a release: rows, missing and undeclared values, users over the bound.

    The figures are exact and sensitive: they are printed for the operator alone. Give the same options as to
    `dpmarkov release`.
    """
    import dpmarkov as dpm

    _, arguments = count_arguments(data, table)
    click.echo(dpm.check(data, **arguments, progress=True).describe())
