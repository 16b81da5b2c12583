"""`dpmarkov theta`: declared classes of chains, for the unit timepoint."""

from pathlib import Path

import click

from dpmarkov.cli.options import STATES_HELP, parse_states
from dpmarkov.errors import ParameterError


@click.group()
def theta() -> None:
    """Choose and show the class of chains that the unit timepoint protects under."""


@theta.command()
@click.argument("cohort")
@click.option("--user", metavar="COLUMN", required=True, help="Column of the person.")
@click.option("--time", metavar="COLUMN", required=True, help="Column of the time.")
@click.option("--state", metavar="COLUMN", required=True, help="Column of the state.")
@click.option("--states", metavar="STATES", required=True, help=STATES_HELP)
@click.option("--step", default="1", show_default=True, metavar="TIME", help="One time step: 1, 30s, 1h.")
@click.option(
    "--margin", type=float, required=True, help="How much further than the cohort, 0 <= margin < 1."
)
@click.option(
    "--kind",
    type=click.Choice(["finite", "gap", "interval"]),
    default="finite",
    show_default=True,
    help="A list of chains; all with a least probability and eigengap; all within bounds of each entry.",
)
@click.option(
    "--reversible/--not-reversible",
    "reversible",
    default=None,
    help="For --kind gap: whether the class holds reversible chains only. It must be said.",
)
@click.option("--cohort-is-public", is_flag=True, help="The cohort's data may be published.")
@click.option("--epsilon", type=float, help="Otherwise: the budget charged to each person of the cohort.")
@click.option(
    "--transitions-per-person", type=int, metavar="M", help="And how many transitions of each are used."
)
@click.option("--out", metavar="FILE", required=True, help="Where the class goes (theta.json).")
@click.option("--seed", type=int, help="For simulations only: the class is NOT PRIVATE.")
def estimate(
    cohort: str,
    user: str,
    time: str,
    state: str,
    states: str,
    step: str,
    margin: float,
    kind: str,
    reversible: bool | None,
    cohort_is_public: bool,
    epsilon: float | None,
    transitions_per_person: int | None,
    out: str,
    seed: int | None,
) -> None:
    """Choose a class from the table COHORT of other people, never of those it will protect.

    The class tells something about the cohort: say --cohort-is-public, or give --epsilon and
    --transitions-per-person.
    """
    from dpmarkov.pufferfish import estimate_theta, read_sequences

    if Path(out).exists():
        raise ParameterError(f"{out} exists; choose another file")
    if not cohort_is_public and epsilon is None:
        raise ParameterError(
            "a class tells something about its cohort: say --cohort-is-public, or give --epsilon and "
            "--transitions-per-person"
        )
    declared = parse_states(states, cohort)
    people = read_sequences(
        cohort,
        time=time,
        state=state,
        user=user,
        states=declared,
        step=int(step) if step.isdecimal() else step,
        gaps="split",
        private_times=not cohort_is_public,
    )
    made = estimate_theta(
        people,
        margin=margin,
        kind=kind,  # type: ignore[arg-type]
        reversible=reversible,
        cohort_is_public=cohort_is_public,
        epsilon=epsilon,
        transitions_per_person=transitions_per_person,
        states=declared,
        seed=seed,
    )
    made.save(out)
    click.echo(f"Theta: {made.in_words}.\nOrigin: {made.origin}.\nSaved to {out}.")


@theta.command()
@click.argument("file", metavar="THETA")
def show(file: str) -> None:
    """Print the class in the file THETA in words."""
    from dpmarkov.pufferfish import load_theta

    made = load_theta(file)
    click.echo(f"Theta: {made.in_words}.")
    click.echo(f"States: {made.states}.")
    if made.origin:
        click.echo(f"Origin: {made.origin}.")
