"""The command line: parses, calls, prints. It holds no logic that a Python user would miss.

Commands are imported when they are called, so that `--help` answers at once.
"""

import importlib
import sys
import traceback
from pathlib import Path
from typing import NoReturn

import click

from dpmarkov.errors import DpmarkovError, InputError

__all__ = ["main"]

COMMANDS: dict[str, tuple[str, str]] = {
    "plan": ("dpmarkov.cli.plan:plan", "Compare mechanisms before spending: no data is touched."),
    "release": ("dpmarkov.cli.release:release", "Make a private Markov chain from a table of events."),
    "privatize": ("dpmarkov.cli.privatize:privatize", "Make a sensitive matrix, vector or average private."),
    "show": ("dpmarkov.cli.show:show", "Print what a release holds and what it guarantees."),
    "compare": ("dpmarkov.cli.compare:compare", "Tell what differs between two releases from what is noise."),
    "simulate": ("dpmarkov.cli.simulate:simulate", "Draw a synthetic data set from a release."),
    "export": ("dpmarkov.cli.export:export", "Write a release for model checkers, graphs, spreadsheets."),
    "report": ("dpmarkov.cli.report:report", "Write a release as a page that anybody can read."),
    "check": ("dpmarkov.cli.check:check", "Look at the data before a release (exact, sensitive)."),
    "bounds": ("dpmarkov.cli.bounds:bounds", "Find privately how many events of a user to keep."),
    "theta": ("dpmarkov.cli.theta:theta", "Choose a class of chains, for the unit timepoint."),
    "demo": (
        "dpmarkov.cli.demo:demo",
        "Make a realistic city, release its trips privately and show the release.",
    ),
}


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry[0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dpmarkov", prog_name="dpmarkov")
def cli() -> None:
    """Private Markov chains from sensitive event data, with a proven guarantee."""


def main() -> NoReturn:
    """Run the command line: exit code 2 for bad input, 1 for any other failure, no traceback for either."""
    try:
        result = cli.main(standalone_mode=False)
        sys.exit(result if isinstance(result, int) else 0)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except InputError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except (DpmarkovError, OSError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    except MemoryError:
        # Its own text names the shape of an array, which may follow the data.
        click.echo(
            "Error: this needs more memory than there is. Ask for less: fewer states or allowed pairs alone "
            "(--support), fewer users, draws or groups, or a larger epsilon",
            err=True,
        )
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped; nothing more was written.", err=True)
        sys.exit(1)
    except Exception as error:
        # Neither its text nor a traceback: both may hold what was read.
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}, line {last.lineno}"
        click.echo(
            f"Error: an unexpected {type(error).__name__} in {place}: a bug of dpmarkov; nothing more was "
            "written. Please report it with the command that you gave",
            err=True,
        )
        sys.exit(1)
