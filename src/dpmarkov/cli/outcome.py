"""What a command prints of the release that it made."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["print_outcome", "print_warning"]


def print_outcome(made: "Release", folder: Path, *, as_json: bool, notes: tuple[str, ...] = ()) -> None:
    """What it guarantees, what is to be said of it, and where it was saved."""
    from dpmarkov.releases.describe import summary

    if as_json:
        click.echo(json.dumps({"out": str(folder), **summary(made)}, indent=1))
        return
    click.echo(made.headline())
    for note in notes:
        click.echo(note)
    print_warning(made.guarantee.epsilon, made.guarantee.delta)
    click.echo(f"Saved to {folder}. See it whole: dpmarkov show {folder}")


def print_warning(epsilon: float, delta: float) -> None:
    """The warning on a large epsilon or delta, where one is due."""
    from dpmarkov.privacy.readable import budget_warning

    warning = budget_warning(epsilon, delta)
    if warning:
        click.echo(f"Warning: {warning}.")
