"""`dpmarkov export`: a release in another format."""

import click

FORMATS = ("csv", "prism", "storm", "graphml")


@click.command()
@click.argument("release_directory", metavar="RELEASE")
@click.option("--to", "kind", type=click.Choice(FORMATS), required=True, help="The format.")
@click.option("--out", required=True, help="The file to write; for prism and storm, the files' common stem.")
@click.option("--group", help="The group, where the release has groups.")
@click.option("--overwrite", is_flag=True, help="Replace files that are there.")
def export(release_directory: str, kind: str, out: str, group: str | None, overwrite: bool) -> None:
    """Write the release in the directory RELEASE in another format."""
    from dpmarkov.cli.options import released_group
    from dpmarkov.export import write_csv, write_graphml, write_prism
    from dpmarkov.releases import load

    made = released_group(load(release_directory), group)
    if kind == "csv":
        written = [write_csv(made, out, overwrite=overwrite)]
    elif kind == "graphml":
        written = [write_graphml(made, out, overwrite=overwrite)]
    else:
        written = list(write_prism(made, out, storm=kind == "storm", overwrite=overwrite))
    click.echo("Wrote " + ", ".join(str(path) for path in written))
