"""The options that say what a table holds; shared by every command that reads one."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from dpmarkov.cli.options import STATES_HELP, parse_states
from dpmarkov.errors import ParameterError

if TYPE_CHECKING:
    from dpmarkov.layout import Layout

__all__ = ["check_table", "count_arguments", "table_options"]

_OPTIONS = [
    click.option("--from", "source", metavar="COLUMN", help="Column of the from-state (one row, one event)."),
    click.option("--to", "target", metavar="COLUMN", help="Column of the to-state."),
    click.option("--column", metavar="COLUMN", help="A single column: release one private distribution."),
    click.option("--user", metavar="COLUMN", help="Column of the user."),
    click.option("--time", metavar="COLUMN", help="Column of the time (with --user and --state: sequences)."),
    click.option("--state", metavar="COLUMN", help="Column of the state that a user is in at a time."),
    click.option("--states", metavar="STATES", help=STATES_HELP),
    click.option(
        "--from-states", metavar="STATES", help="The from-states, where they differ from the to-states."
    ),
    click.option(
        "--support", metavar="FILE", help="CSV of allowed pairs (columns from, to); others are known zeros."
    ),
    click.option(
        "--count", "count_column", metavar="COLUMN", help="For an aggregated table: column of the counts."
    ),
    click.option(
        "--unknown",
        default="drop",
        show_default=True,
        metavar="RULE",
        help="Missing or undeclared states: 'drop' the row, or map them to a declared state ('state:NAME').",
    ),
    click.option("--max-events", type=int, metavar="M", help="Keep at most M events of a user (unit user)."),
    click.option("--max-per-pair", type=int, metavar="C", help="And at most C of them in any one cell."),
    click.option(
        "--by",
        metavar="GROUP",
        help="One chain for each group: a column, or hour, weekday, month, date of the time or of a column: "
        "'hour(pickup)'; or an SQL expression in brackets.",
    ),
    click.option(
        "--groups", metavar="STATES", help="The declared groups (not needed for hours and the like)."
    ),
    click.option("--merge", metavar="FILE", help="CSV map that combines states (columns state, merged)."),
    click.option(
        "--gap", metavar="TIME", help="A sequence ends where more time goes by: 30m, 2h, or a number."
    ),
    click.option("--start", metavar="STATE", help="A declared state to put before every sequence."),
    click.option("--end", metavar="STATE", help="A declared state to put after every sequence."),
    click.option("--collapse", is_flag=True, help="Count a repeated state of a sequence once."),
    click.option(
        "--lengths", type=int, metavar="MAX", help="Release the lengths of sequences too, up to MAX."
    ),
    click.option("--table", metavar="NAME", help="For a database: the table."),
    click.option("--query", metavar="SQL", help="For a database: a read-only query instead of a table."),
    click.option("--delimiter", metavar="CHAR", help="Of a CSV file: a tab for .tsv, else a comma."),
]


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a table to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_table(options: dict[str, Any], *, discover: bool = False) -> None:
    """Refuse a command that does not say which states and which columns there are."""
    if discover and options["states"] is not None:
        raise ParameterError(
            "states are either declared (--states) or discovered (--discover-states); not both"
        )
    if options["states"] is None and not discover:
        raise ParameterError(
            "--states is missing: states are declared, public knowledge, never read off the sensitive "
            "table. Give a file and its column (zones.csv:LocationID), a list (A,B,C) or a range (1..69)"
        )
    pairs = options["source"] is not None or options["target"] is not None
    if pairs + (options["column"] is not None) + (options["state"] is not None) != 1:
        raise ParameterError(
            "name the columns: --from and --to for a chain, or --column for one distribution, or --user, "
            "--time and --state for sequences"
        )


def count_arguments(data: str, options: dict[str, Any]) -> "tuple[Layout, dict[str, Any]]":
    """The public layout, and the arguments of `dpmarkov.count` that the options amount to."""
    from dpmarkov.events import make_layout, refuse_sensitive

    check_table(options)
    for role, name in (("support", "support"), ("merge map", "merge")):
        refuse_sensitive(role, options[name], data)
    given = options["states"]
    space = parse_states(given, data) if isinstance(given, str) else given
    from_states, groups = options["from_states"], options["groups"]

    def typed(state: str | None) -> str | int | None:
        whole = state is not None and space.is_integer and state.removeprefix("-").isdecimal()
        return int(str(state)) if whole else state

    start, end = typed(options["start"]), typed(options["end"])
    layout = make_layout(
        states=space,
        source_states=None if from_states is None else parse_states(from_states, data),
        support=options["support"],
        single=options["column"] is not None,
        sequences=options["state"] is not None,
        by=options["by"],
        time=options["time"],
        groups=None if groups is None else parse_states(groups, data),
        start=start,
        lengths=options["lengths"],
        merge=options["merge"],
    )
    same = "source target column user time state unknown max_events max_per_pair by merge gap collapse"
    arguments = {name: options[name] for name in [*same.split(), "table", "query", "delimiter"]}
    arguments |= {"layout": layout, "count": options["count_column"], "start": start, "end": end}
    if options["merge"] is not None:
        arguments["states"] = space
    return layout, arguments
