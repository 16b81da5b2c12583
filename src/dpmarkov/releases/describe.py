"""A release in plain words, for the terminal."""

import hashlib
import math
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpmarkov.errors import ChainError, EngineError
from dpmarkov.odds import OddsTable, odds
from dpmarkov.privacy.guarantee import Guarantee
from dpmarkov.releases.release import Release

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmarkov.utility.uncertainty import Uncertain

    Flat = npt.NDArray[np.float64]

__all__ = [
    "citation",
    "declared_end",
    "describe",
    "headline",
    "odds_of",
    "start_shares",
    "summary",
    "why_no_chain",
]

_SHOWN = 10
_ERROR_BARS_UP_TO = 300


def _title(release: Release) -> list[str]:
    """What kind of thing it is, after a warning if it came from a seed."""
    kind = "Private Markov chain" if release.layout.is_chain else "Private stochastic matrix"
    if release.layout.source is None:
        kind = "Private distribution"
    title = f"{kind}: {release.layout}"
    return [*(f"*** {warning} ***" for warning in release.guarantee.warnings), title]


def headline(release: Release) -> str:
    """What this is and what it guarantees, in two lines."""
    return "\n".join([*_title(release), f"Guarantee: {release.guarantee.citation}."])


def citation(release: Release) -> str:
    """The text to cite a release by: what it is, when it was made, its fingerprint and its guarantee.

    The fingerprint is a hash of the released probabilities, so that two releases are never confused.
    """
    fingerprint = hashlib.sha256(release.probabilities.tobytes()).hexdigest()[:16]
    seeded = "".join(f" {warning}." for warning in release.guarantee.warnings)
    return (
        f"{_title(release)[-1]}. Released {release.created[:10]} with dpmarkov {release.version}, "
        f"fingerprint {fingerprint}. Guarantee: {release.guarantee.citation}.{seeded}"
    )


def odds_of(guarantee: Guarantee) -> OddsTable | None:
    """What the guarantee means in odds; None where a seed made it void."""
    if guarantee.warnings:
        return None
    return odds(guarantee.evidence.profile, epsilon=guarantee.epsilon, unit=guarantee.unit)


def _odds(guarantee: Guarantee) -> list[str]:
    """The table of odds below the guarantee; its warning stands there already."""
    if (table := odds_of(guarantee)) is None:
        return []
    blank = " " * 15
    lines = [
        textwrap.fill(line, 100, initial_indent=blank, subsequent_indent=blank)
        for line in replace(table, warning="").describe().split("\n")
        if line
    ]
    return [lines[0].replace(blank, f"{'In odds':<15}", 1), *lines[1:]]


def describe(release: Release) -> str:
    """The guarantee, the size, where the chain settles, and whether it can."""
    guarantee = "\n".join([release.guarantee.describe(), *_odds(release.guarantee)])
    settings = ", ".join(
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in release.mechanism.items()
        if name not in ("name", "reason") and isinstance(value, int | float | str)
    )
    reason = str(release.mechanism.get("reason", ""))
    made = [
        f"Mechanism   {release.mechanism['name']} ({settings})",
        *(
            [textwrap.fill(reason, 100, initial_indent=" " * 12, subsequent_indent=" " * 12)]
            if reason
            else []
        ),
        *_totals(release),
        f"Made        {release.created} by dpmarkov {release.version}",
    ]
    return "\n\n".join([*_title(release), guarantee, "\n".join(made), _long_run(release)]).rstrip()


def _totals(release: Release) -> list[str]:
    """What is known of the rows' totals, where they were bought."""
    if release.row_totals is None:
        return []
    # P(|noise| > x) <= exp(-x / scale) for the discrete Laplace law.
    reach = math.ceil(float(release.mechanism["totals_scale"]) * math.log(20))
    return [f"Row totals  bought, each within {reach:,} of the true one in 95 % of cases (row_totals)"]


def _error_bars(release: Release) -> "Uncertain | None":
    """Error bars of the stationary distribution, where they are known and quick."""
    if len(release.layout.target) > _ERROR_BARS_UP_TO:
        return None
    from dpmarkov.utility.uncertainty import stationary_error_bars

    try:
        return stationary_error_bars(release)
    except (ChainError, EngineError):
        return None


def declared_end(release: Release) -> int | None:
    """The position of the state that every sequence was given at its end; None where none was declared.

    It is a marker: no event leaves it, its row holds nothing but noise, and the chain has no long run.
    """
    end = release.counting.get("end")
    return None if end is None or not release.layout.is_chain else release.layout.target.index(end)


def why_no_chain(release: Release) -> str:
    """Why a question to a chain cannot be put to this release."""
    if release.layout.source is None:
        return f"this release is one distribution over {len(release.layout.target):,} states, not a chain"
    return (
        f"this release is a stochastic matrix of {release.layout}, not a Markov chain: a chain needs the "
        "same from-states and to-states"
    )


def _cell_bars(release: Release) -> "Uncertain | None":
    """Intervals of all probabilities, where they are known and quick."""
    if max(len(release.layout.target), len(release.layout.source or ())) > _ERROR_BARS_UP_TO:
        return None
    try:
        return release.uncertainty("transition_matrix", draws=200)
    except (ChainError, EngineError):
        return None


def _listed(title: str, names: list[str], values: list[float], bars: "Uncertain | None") -> list[str]:
    """A line for each value, with its interval where it is known."""
    from dpmarkov.utility.interval import in_words

    width = max(map(len, names))
    if bars is None:
        told = [f"{value:.4f}" if value == 0 or value >= 1e-4 else f"{value:.2g}" for value in values]
    else:
        told = [
            in_words(value, low, high) + ("" if reliable else "   not reliable: noise dominates")
            for value, low, high, reliable in zip(
                values, bars.low.tolist(), bars.high.tolist(), bars.reliable.tolist(), strict=True
            )
        ]
    return [title, *(f"  {name:<{width}}  {text}" for name, text in zip(names, told, strict=True))]


def _largest(release: Release, shares: "Flat", title: str, bars: "Uncertain | None" = None) -> str:
    """The largest shares of a distribution over the states."""
    labels, order = release.layout.target.labels, (-shares).argsort(kind="stable")[:_SHOWN]
    names = [labels[i] for i in order]
    lines = _listed(title, names, shares[order].tolist(), None if bars is None else bars.part(order))
    if (others := len(shares) - len(order)) > 0:
        rest = f"{others} others".ljust(max(map(len, names)))
        lines.append(f"  {rest}  {max(1 - float(shares[order].sum()), 0.0):.4f}")
    return "\n".join([*lines, *_about(bars)])


def _about(bars: "Uncertain | None") -> list[str]:
    if bars is None:
        return []
    text = f"{100 * bars.level:g} % intervals for {bars.covers_what}"
    return [textwrap.fill(text, 100, initial_indent="  ", subsequent_indent="  ")]


def _entries(release: Release, bars: "Uncertain | None") -> str:
    """The largest probabilities of the rows; not of the row out of a declared end, which is noise."""
    layout, block = release.layout, release.layout.block("transitions")
    source, rows, columns = layout.source or layout.target, block.cells.row_of_cell, block.cells.indices
    values, end = release.probabilities[block.at], declared_end(release)
    kept = np.flatnonzero(rows != (-1 if end is None else end))
    order = kept[(-values[kept]).argsort(kind="stable")[:_SHOWN]]
    names = [f"{source.labels[rows[k]]} -> {layout.target.labels[columns[k]]}" for k in order]
    part = None if bars is None else bars.part((rows[order], columns[order]))
    return "\n".join([*_listed("Largest probabilities", names, values[order].tolist(), part), *_about(part)])


def start_shares(release: Release) -> "Flat | None":
    """Where sequences start: a row of its own, or that of a declared start; None where neither is there."""
    if release.layout.starts:
        return release.start_distribution
    if (at := _declared_start(release)) is None:
        return None
    return np.asarray(release.sparse_matrix[[at]].toarray()[0], dtype=np.float64)


def _declared_start(release: Release) -> int | None:
    start = release.counting.get("start")
    return None if start is None or not release.layout.is_chain else release.layout.target.index(start)


def _starts(release: Release, bars: "Uncertain | None" = None) -> list[str]:
    """Where sequences start, with intervals for the row of a declared start."""
    shares, at = start_shares(release), _declared_start(release)
    if shares is None:
        return []
    part = None if bars is None or at is None else bars.part(at)
    return [_largest(release, shares, "Where sequences start (largest states)", part)]


def _long_run(release: Release) -> str:
    if release.groups is not None:
        first = release.groups.states[0]
        return (
            f"{len(release.groups)} groups ({', '.join(release.groups.labels[:_SHOWN])}"
            f"{', ...' if len(release.groups) > _SHOWN else ''}); the first one, {first}:\n"
            f"{_long_run(release.of(first))}"
        ).rstrip()
    end = declared_end(release)
    if not release.layout.is_chain or end is not None:
        bars = _cell_bars(release)
        if release.layout.source is None:
            row = None if bars is None else bars.part(0)
            return _largest(release, release.transition_matrix[0], "Largest shares", row)
        if end is None:
            return _entries(release, bars)
        verdict = (
            f"No long run: sequences end in {release.layout.target.labels[end]}, the declared end. Where no "
            "visit has that state, its row holds nothing but noise."
        )
        return "\n".join([verdict, _entries(release, bars), *_starts(release, bars)])
    chain = release.chain
    if chain.is_ergodic:
        verdict = "Ergodic: from every start the chain settles in one stationary distribution."
    else:
        verdict = f"Not ergodic: {chain.why_not_ergodic}"
    try:
        shares = release.stationary_distribution
    except ChainError:
        return "\n".join([verdict, *_starts(release)])
    settled = _largest(release, shares, "Stationary distribution (largest states)", _error_bars(release))
    return "\n".join([verdict, settled, *_starts(release)])


def summary(release: Release) -> dict[str, object]:
    """The same for a script: plain values that serialise to JSON."""
    layout, table = release.layout, odds_of(release.guarantee)
    data: dict[str, object] = {
        "epsilon": release.guarantee.epsilon,
        "delta": release.guarantee.delta,
        "unit": release.guarantee.unit.to_dict(),
        "relation": release.guarantee.unit.relation_in_words,
        "assumptions": list(release.guarantee.assumptions),
        "odds": None if table is None else table.to_dict(),
        "private": release.is_private,
        "mechanism": dict(release.mechanism),
        "rows": layout.cells.n_rows,
        "states": len(layout.target),
        "cells": layout.cells.n_cells,
        "created": release.created,
        "version": release.version,
    }
    if layout.groups is not None:
        data["groups"] = [str(group) for group in layout.groups]
        return data
    if release.row_totals is not None:
        data["row_totals"] = release.row_totals[layout.block("transitions").rows].tolist()
    if layout.source is None:
        shares = release.transition_matrix[0].tolist()
        data["distribution"] = dict(zip(map(str, layout.target), shares, strict=True))
    end = declared_end(release)
    if end is not None:
        data["end"] = layout.target.states[end]
    elif layout.is_chain:
        chain = release.chain
        data["ergodic"] = bool(chain.is_ergodic)
        if chain.is_ergodic:
            shares = release.stationary_distribution.tolist()
            data["stationary_distribution"] = dict(zip(map(str, layout.target), shares, strict=True))
    return data
