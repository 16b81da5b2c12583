"""`dpmarkov demo`: a city, a release, and a look at it, by the very commands that it prints."""

import os
import shlex
import tempfile
from pathlib import Path

import click

from dpmarkov.errors import ParameterError


@click.command()
@click.option(
    "--folder", metavar="DIRECTORY", help="Where the demo goes; a new temporary directory by default."
)
def demo(folder: str | None) -> None:
    """Make a realistic city, release its trips privately and show the release. Needs no network."""
    from dpmarkov.cli import cli
    from dpmarkov.demo import N_TRIPS, N_ZONES, make_city

    place = Path(tempfile.mkdtemp(prefix="dpmarkov-demo-") if folder is None else folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise ParameterError(f"{place} exists and is not an empty directory; choose another for the demo")
    click.echo(f"A made-up city of {N_ZONES} zones and {N_TRIPS:,} trips in {place}")
    make_city(place)
    commands = [
        "dpmarkov release trips.parquet --from pickup --to dropoff --states zones.csv:zone:name "
        "--unit event --epsilon 1 --delta 1e-6 --out release/",
        "dpmarkov show release/",
    ]
    before = Path.cwd()
    os.chdir(place)
    try:
        for command in commands:
            click.echo(f"\n$ {command}")
            cli.main(shlex.split(command)[1:], standalone_mode=False)
    finally:
        os.chdir(before)
    click.echo(f"\nThe release is in {place / 'release'}: its files, and nothing else here, may be shared.")
