"""`dpmarkov privatize`: a vector, an average or a matrix that is itself the sensitive data."""

from pathlib import Path
from typing import Any

import click

from dpmarkov.cli.options import STATES_HELP, parse_states
from dpmarkov.cli.outcome import print_outcome
from dpmarkov.errors import ParameterError

__all__ = ["privatize"]


@click.command()
@click.argument("data")
@click.option("--states", required=True, help=STATES_HELP)
@click.option("--from-states", help="The rows' states, where they are others (a policy: states by actions).")
@click.option(
    "--support", metavar="FILE", help="CSV of allowed pairs (columns from, to); others are known zeros."
)
@click.option(
    "--kind",
    type=click.Choice(["matrix", "vector", "average"]),
    default="matrix",
    show_default=True,
    help="What DATA holds. An average takes a column `vector`, and every vector is somebody's.",
)
@click.option("--b", type=float, required=True, help="A row may differ by this much in L1 norm, 0 < b <= 2.")
@click.option(
    "--rows",
    type=click.Choice(["one", "all"]),
    default="one",
    show_default=True,
    help="Rows that may differ.",
)
@click.option(
    "--among", metavar="A,B,...", help="The to-states that may differ, in every row; all by default."
)
@click.option("--epsilon", type=float, required=True, help="Privacy budget, > 0.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Privacy budget, 0 < delta < 1.")
@click.option(
    "--assumed", is_flag=True, help="The papers' way: the input is assumed to lie in the border already."
)
@click.option("--eta", type=float, help="The border: the least share of an entry that may differ.")
@click.option("--eta-bar", type=float, help="The share of the other entries together.")
@click.option("--k", type=float, help="The concentration; by default the largest within the budget.")
@click.option("--out", metavar="DIRECTORY", required=True, help="Where the release goes.")
@click.option("--overwrite", is_flag=True, help="Replace a release that is in the directory.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--seed", type=int, help="For simulations only: the release is NOT PRIVATE.")
def privatize(data: str, **options: Any) -> None:
    """Make the probabilities in the table DATA private.

    DATA is a CSV or Parquet file with one cell a line: columns from, to, probability (a matrix), to,
    probability (a vector) or vector, to, probability (an average). Cells that are not listed are zero.
    """
    import numpy as np

    import dpmarkov as dpm
    from dpmarkov.events.supports import read_support
    from dpmarkov.queries.tables import read_probabilities
    from dpmarkov.releases import check_output

    kind = options["kind"]
    target = parse_states(options["states"], data)
    if kind == "matrix":
        given = options["from_states"]
        source = target if given is None else parse_states(given, data)
        support = None if options["support"] is None else read_support(options["support"], source, target)
        layout = dpm.Layout(target=target, source=source, support=support)
    elif options["from_states"] is not None or options["support"] is not None:
        raise ParameterError("--from-states and --support go with --kind matrix")
    else:
        layout = dpm.Layout(target=target)
    among = None
    if options["among"] is not None:
        named = {str(state): at for at, state in enumerate(target)}
        names = [name.strip() for name in options["among"].split(",")]
        unknown = [name for name in names if name not in named]
        if unknown:
            raise ParameterError(f"--among names {unknown[0]!r}, which is not among the declared states")
        if len(set(names)) < 2:
            raise ParameterError(
                f"--among must name at least two different to-states; got {options['among']!r}"
            )
        among = (tuple(named[name] for name in names),)
    unit = dpm.Entry(b=options["b"], rows=options["rows"], among=among)
    budget = dpm.Budget(epsilon=options["epsilon"], delta=options["delta"])
    check_output(options["out"], overwrite=options["overwrite"])
    values = read_probabilities(Path(data), layout, kind=kind)
    make = {
        "matrix": dpm.privatize_matrix,
        "vector": dpm.privatize_vector,
        "average": dpm.privatize_average,
    }[kind]
    made = make(
        values,
        unit=unit,
        budget=budget,
        layout=layout,
        way="assumed" if options["assumed"] else "lifted",
        eta=options["eta"],
        eta_bar=options["eta_bar"],
        k=options["k"],
        seed=options["seed"],
    )
    folder = made.save(options["out"], overwrite=options["overwrite"])
    mixing = np.max(made.mechanism["mixing"])
    notes: tuple[str, ...] = ()
    if mixing > 0:
        notes = (
            f"Bias: rows lean towards a public vector (uniform by default) by up to {mixing:.2g}; see "
            "`mixing` in release.json.",
        )
    print_outcome(made, folder, as_json=options["as_json"], notes=notes)
