"""Explicit-state files of the PRISM model checker, which Storm reads too.

Three files: states (`.sta`), transitions (`.tra`) and labels (`.lab`). Model checkers want rows that sum to
one within their tolerance (1e-5 in PRISM, 1e-6 in Storm); all digits are written, so rows sum to one within
1e-15. ``prism -importmodel model.all -dtmc`` and ``storm --explicit model.tra model.lab`` take them.
"""

import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dpmarkov.errors import ParameterError
from dpmarkov.export.chains import chain_of
from dpmarkov.releases.describe import declared_end, start_shares
from dpmarkov.states import State, StateSpace
from dpmarkov.whole import check_free, write_whole

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = ["label_names", "write_prism"]


def label_names(states: StateSpace) -> list[str]:
    """A distinct label for each state that model checkers accept: a letter, then letters, digits and _."""
    names: list[str] = []
    taken = {"init", "deadlock"}
    for state in states:
        name = re.sub(r"[^A-Za-z0-9_]", "_", str(state))
        if not name or not name[0].isalpha():
            name = f"s_{name}"
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def write_prism(
    release: "Release",
    path: str | PathLike[str],
    *,
    start: State | None = None,
    storm: bool = False,
    overwrite: bool = False,
) -> tuple[Path, Path, Path]:
    """Write `path`.sta, `path`.tra and `path`.lab.

    Parameters
    ----------
    release
        A release of a Markov chain.
    path
        The files' common stem, such as `model`.
    start
        The initial state: the declared start of sequences unless given, else the likeliest state in the long
        run, or to start with where a declared end leaves no long run. (A model has one initial state.)
    storm
        Write the dialect of Storm's explicit format: a header that names the model's kind.
    overwrite
        Replace files that are there.
    """
    chain = chain_of(release)
    states = chain.states
    block = release.layout.block("transitions")
    probabilities = release.probabilities[block.at]
    start = release.counting.get("start") if start is None else start
    if start is not None:
        initial = states.index(start)
    else:
        shares = chain.stationary_distribution if declared_end(release) is None else start_shares(release)
        initial = 0 if shares is None else int(shares.argmax())
    keep = probabilities > 0
    rows, columns = block.cells.row_of_cell[keep].tolist(), block.cells.indices[keep].tolist()
    moves = [f"{i} {j} {p!r}" for i, j, p in zip(rows, columns, probabilities[keep].tolist(), strict=True)]
    header = "dtmc" if storm else f"{len(states)} {len(moves)}"
    names = label_names(states)
    if storm:
        declared = ["#DECLARATION", " ".join(["init", *names]), "#END"]
        marks = [f"{i} {'init ' if i == initial else ''}{name}" for i, name in enumerate(names)]
    else:
        declared = [" ".join(f'{k}="{name}"' for k, name in enumerate(["init", "deadlock", *names]))]
        marks = [f"{i}: {'0 ' if i == initial else ''}{i + 2}" for i in range(len(names))]
    stem = Path(path)
    if not stem.name:
        raise ParameterError(f"{path!r} names no file; give a stem such as model")
    contents = {
        ".sta": ["(s)", *(f"{i}:({i})" for i in range(len(states)))],
        ".tra": [header, *moves],
        ".lab": [*declared, *marks],
    }
    targets = [check_free(stem.with_name(stem.name + suffix), overwrite=overwrite) for suffix in contents]
    for target, lines in zip(targets, contents.values(), strict=True):
        write_whole(target, ("\n".join(lines) + "\n").encode())
    return targets[0], targets[1], targets[2]
