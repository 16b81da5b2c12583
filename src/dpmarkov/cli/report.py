"""`dpmarkov report`: a release as a page that anybody can read."""

import click


@click.command()
@click.argument("release_directory", metavar="RELEASE")
@click.option(
    "--out", metavar="FILE", default="report.html", show_default=True, help="The HTML file to write."
)
@click.option("--title", metavar="TEXT", help="A heading of your own.")
@click.option("--group", metavar="GROUP", help="Which group, for a release that holds several.")
@click.option(
    "--map",
    "map_file",
    metavar="FILE[:PROPERTY]",
    help="A public GeoJSON file with a place for states, and the property that holds the state "
    "(the feature's id unless given).",
)
@click.option("--overwrite", is_flag=True, help="Replace a file that is there already.")
def report(
    release_directory: str,
    out: str,
    title: str | None,
    group: str | None,
    map_file: str | None,
    overwrite: bool,
) -> None:
    """Write a page about the release in the directory RELEASE: what it holds, protects and is good for.

    One HTML file that needs no network, made from the release alone: it may be shown to anybody who may see
    the release.
    """
    from pathlib import Path

    from dpmarkov.cli.options import released_group
    from dpmarkov.cli.waiting import waiting
    from dpmarkov.releases import load
    from dpmarkov.report import write_report

    made = released_group(load(release_directory), group)
    places, key = map_file, None
    if map_file is not None and not Path(map_file).is_file() and ":" in map_file:
        places, _, key = map_file.rpartition(":")
    with waiting("Drawing the figures"):
        path = write_report(made, out, title=title, geojson=places, key=key, overwrite=overwrite)
    click.echo(f"{path} is written ({path.stat().st_size / 1e6:.1f} MB); it needs no network.")
