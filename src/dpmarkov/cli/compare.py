"""`dpmarkov compare`: what differs between two releases, and what is only noise."""

import json

import click


@click.command()
@click.argument("before", metavar="RELEASE")
@click.argument("after", metavar="RELEASE")
@click.option("--level", type=float, default=0.95, show_default=True, help="The level of the intervals.")
@click.option("--draws", type=int, default=400, show_default=True, help="Plausible chains to draw of each.")
@click.option("--group", help="The group, where the releases have groups.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def compare(before: str, after: str, level: float, draws: int, group: str | None, as_json: bool) -> None:
    """Compare two releases of chains on the same states: distances, changes, noise."""
    from dpmarkov.cli.options import released_group
    from dpmarkov.cli.waiting import waiting
    from dpmarkov.releases import load
    from dpmarkov.utility.compare import compare as compare_releases

    sides = [released_group(load(path), group) for path in (before, after)]
    with waiting("Comparing"):
        result = compare_releases(sides[0], sides[1], level=level, draws=draws)
    click.echo(json.dumps(result.to_dict(), indent=1) if as_json else result.describe())
