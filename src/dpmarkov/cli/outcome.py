"""What a command prints of the release that it made."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["print_json", "print_outcome", "print_warning"]


def print_outcome(made: "Release", folder: Path, *, as_json: bool, notes: tuple[str, ...] = ()) -> None:
    """What it guarantees, what is to be said of it, and where it was saved."""
    from dpmarkov.releases.describe import odds_of, summary

    notes += _lost_in_noise(made)
    epsilon, delta = made.guarantee.epsilon, made.guarantee.delta
    if as_json:
        print_json({"out": str(folder), **summary(made), "notes": list(notes)}, epsilon, delta)
        return
    click.echo(made.headline())
    if (table := odds_of(made.guarantee)) is not None:
        click.echo(f"In odds: {table.in_words}")
    for note in notes:
        click.echo(note)
    print_warning(epsilon, delta)
    click.echo(f"Saved to {folder}. See it whole: dpmarkov show {folder}")


def print_json(data: dict[str, Any], epsilon: float, delta: float) -> None:
    """What a script reads, with the warning on a large epsilon or delta, or null."""
    from dpmarkov.privacy.readable import budget_warning

    click.echo(json.dumps({**data, "warning": budget_warning(epsilon, delta) or None}, indent=1))


def print_warning(epsilon: float, delta: float) -> None:
    """The warning on a large epsilon or delta, where one is due."""
    from dpmarkov.privacy.readable import budget_warning

    warning = budget_warning(epsilon, delta)
    if warning:
        click.echo(f"Warning: {warning}.")


def _lost_in_noise(made: "Release") -> tuple[str, ...]:
    """A note where what was released is no more than noise; it looks at released numbers alone."""
    noisy, spread = made.noisy_counts, made.mechanism.get("noise_std")
    if made.row_totals is not None:
        noisy, spread = made.row_totals, math.sqrt(2) * made.mechanism["totals_scale"]
    if noisy is None or spread is None:
        return ()
    # Where there is hardly any noise, a total of zero is still no data.
    if noisy.sum() >= max(3 * math.sqrt(noisy.size) * spread, 1.0):
        return ()
    return (
        "Note: the total of all counts does not stand out of the noise; `dpmarkov check` shows the operator "
        "how many rows were read and matched.",
    )
