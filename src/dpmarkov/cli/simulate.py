"""`dpmarkov simulate`: a synthetic data set from a release."""

import click


@click.command()
@click.argument("release_directory", metavar="RELEASE")
@click.option("--users", type=int, required=True, help="How many sequences.")
@click.option(
    "--length", type=int, help="States in each; drawn from the released lengths where there are any."
)
@click.option("--out", required=True, help="The file to write: .parquet or .csv.")
@click.option("--group", help="The group, where the release has groups.")
@click.option("--seed", type=int, help="For a data set that can be repeated.")
@click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
def simulate(
    release_directory: str,
    users: int,
    length: int | None,
    out: str,
    group: str | None,
    seed: int | None,
    overwrite: bool,
) -> None:
    """Draw made-up sequences from the chain in the directory RELEASE; this costs no privacy."""
    from dpmarkov.cli.options import released_group
    from dpmarkov.export import write_synthetic
    from dpmarkov.releases import load

    made = released_group(load(release_directory), group)
    path = write_synthetic(made, out, users=users, length=length, seed=seed, overwrite=overwrite)
    click.echo(f"Wrote {users:,} made-up sequences to {path}.")
