"""`dpmarkov show`: what a release holds and what it guarantees."""

import click


@click.command()
@click.argument("release_directory", metavar="RELEASE")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def show(release_directory: str, as_json: bool) -> None:
    """Print the guarantee, the size and the long run of the release in the directory RELEASE."""
    from dpmarkov.cli.outcome import print_json
    from dpmarkov.cli.waiting import waiting
    from dpmarkov.releases import load
    from dpmarkov.releases.describe import summary

    made = load(release_directory)
    if as_json:
        print_json(summary(made), made.guarantee.epsilon, made.guarantee.delta)
        return
    with waiting("Computing intervals"):
        text = made.describe()
    click.echo(text)
