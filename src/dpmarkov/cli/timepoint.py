"""`dpmarkov release --unit timepoint`: a person's data, hidden point by point under a declared class."""

from collections.abc import Callable
from typing import Any

import click

from dpmarkov.cli.options import parse_states, typed
from dpmarkov.cli.outcome import print_json, print_outcome, print_warning
from dpmarkov.errors import ParameterError

__all__ = ["plan_or_release", "refuse_timepoint_options", "timepoint_options"]

_OPTIONS = [
    click.option(
        "--theta", metavar="FILE", help="Unit timepoint: the declared class of chains (theta.json)."
    ),
    click.option(
        "--statistic",
        type=click.Choice(["chain", "histogram"]),
        help="Unit timepoint: release a Markov chain (the default) or a histogram of states.",
    ),
    click.option("--step", metavar="TIME", help="Unit timepoint: one time step: a number (1), or 30s, 1h."),
    click.option(
        "--gaps",
        type=click.Choice(["error", "split"]),
        help="Unit timepoint: points without a state: refuse (the default), or count no transition across.",
    ),
    click.option(
        "--secret-times", metavar="A..B", help="Unit timepoint: protect the time points A to B alone."
    ),
    click.option(
        "--length", type=int, metavar="T", help="Unit timepoint with --dry-run: the number of time points."
    ),
]
_OWN = ("theta", "statistic", "step", "gaps", "secret_times", "length")
_OTHERS = (
    "source target column from_states support count_column max_events max_per_pair by groups merge gap "
    "start end lengths relation form floor prior expected_events totals_share postprocess bounds "
    "discover_states"
)
_WITH_DEFAULTS = ("delta", "other")


def timepoint_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the unit timepoint to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def refuse_timepoint_options(options: dict[str, Any]) -> None:
    """Take the options of the unit timepoint out; refuse them for another unit."""
    for name in _OWN:
        if options.pop(name, None) is not None:
            raise ParameterError(f"--{name.replace('_', '-')} goes with --unit timepoint")


def plan_or_release(data: str, options: dict[str, Any]) -> None:
    """The whole command for the unit timepoint."""
    from dpmarkov.odds import odds
    from dpmarkov.privacy.pairs import PurePair
    from dpmarkov.privacy.profile import Profile
    from dpmarkov.privacy.unit import TimePoint
    from dpmarkov.pufferfish import HISTOGRAM, TRANSITIONS, load_theta, plan_noise

    for name in [*_OTHERS.split(), *filter(typed, _WITH_DEFAULTS)]:
        if options.get(name) is not None:
            flag = {"source": "from", "target": "to", "count_column": "count"}.get(name, name)
            raise ParameterError(f"--{flag.replace('_', '-')} does not go with --unit timepoint")
    if options["collapse"] or options["unknown"] != "drop":
        raise ParameterError(
            "--collapse and --unknown do not go with --unit timepoint: a point without a declared state is "
            "a gap (see --gaps)"
        )
    if options["mechanism"] not in ("auto", "laplace"):
        raise ParameterError("the unit timepoint has one mechanism, Laplace noise: leave out --mechanism")
    if options["theta"] is None:
        raise ParameterError(
            "--theta is missing: the unit timepoint protects under a declared class of chains. Write "
            "theta.json by hand (docs/correlated.md) or with dpmarkov theta estimate"
        )
    theta = load_theta(options["theta"])
    if options["states"] is not None and parse_states(options["states"], data).states != theta.states.states:
        raise ParameterError("--states and the class in --theta must have the same states in one order")
    statistic = HISTOGRAM if options["statistic"] == "histogram" else TRANSITIONS
    secrets = _secrets(options["secret_times"])
    if options["dry_run"]:
        if options["length"] is None:
            raise ParameterError("--dry-run reads nothing: give the number of time points with --length T")
        noise = plan_noise(
            theta, options["length"], epsilon=options["epsilon"], statistic=statistic, secrets=secrets
        )
        unit = TimePoint(noise.theta, secrets=noise.secrets.in_words)
        curve = Profile(((PurePair(epsilon=noise.epsilon),),))
        table = odds(curve, epsilon=noise.epsilon, unit=unit)
        if options["as_json"]:
            print_json({**noise.to_dict(), "odds": table.to_dict()}, options["epsilon"], 0.0)
            return
        click.echo(noise.describe())
        click.echo(table.in_words)
        print_warning(options["epsilon"], 0.0)
        return
    if options["length"] is not None:
        raise ParameterError("--length goes with --dry-run; a release takes it from the data")
    _release(data, options, theta, secrets)


def _release(data: str, options: dict[str, Any], theta: Any, secrets: Any) -> None:
    from dpmarkov.pufferfish import read_sequences, release_chain, release_histogram
    from dpmarkov.releases import check_output

    if options["time"] is None or options["state"] is None:
        raise ParameterError("name the columns: --time and --state (and --user for several people)")
    check_output(options["out"], overwrite=options["overwrite"])
    people = read_sequences(
        data,
        time=options["time"],
        state=options["state"],
        user=options["user"],
        states=theta.states,
        step=_step(options["step"]),
        gaps=options["gaps"] or "error",
        table=options["table"],
        query=options["query"],
        delimiter=options["delimiter"],
    )
    make = release_histogram if options["statistic"] == "histogram" else release_chain
    made = make(people, theta=theta, epsilon=options["epsilon"], secrets=secrets, seed=options["seed"])
    folder = made.save(options["out"], overwrite=options["overwrite"])
    notes: tuple[str, ...] = ()
    if made.mechanism["amounts_to"] == "group privacy":
        notes = ("At this epsilon and length no smaller quilt works: this is group privacy.",)
    print_outcome(made, folder, as_json=options["as_json"], notes=notes)


def _secrets(text: str | None) -> Any:
    from dpmarkov.pufferfish import Secrets

    if text is None:
        return None
    first, dots, last = text.partition("..")
    if not (dots and first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        raise ParameterError(f"--secret-times is written A..B with 1 <= A <= B; got {text!r}")
    return Secrets(times=tuple(range(int(first), int(last) + 1)))


def _step(text: str | None) -> int | str:
    if text is None:
        return 1
    return int(text) if text.isdecimal() else text
