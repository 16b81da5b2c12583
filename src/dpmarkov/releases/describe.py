"""A release in plain words, for the terminal."""

import hashlib
import math
import textwrap
from typing import TYPE_CHECKING

from dpmarkov.errors import ChainError, EngineError
from dpmarkov.odds import odds
from dpmarkov.releases.release import Release

if TYPE_CHECKING:
    from dpmarkov.utility.uncertainty import Uncertain

__all__ = ["citation", "describe", "headline", "summary"]

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


def describe(release: Release) -> str:
    """The guarantee, the size, where the chain settles, and whether it can."""
    meaning = odds(
        release.guarantee.evidence.profile, epsilon=release.guarantee.epsilon, unit=release.guarantee.unit
    )
    guarantee = "\n".join(
        [
            release.guarantee.describe(),
            textwrap.fill(
                f"{meaning.in_words} {meaning.warning}".rstrip(),
                100,
                initial_indent=f"{'In odds':<15}",
                subsequent_indent=" " * 15,
            ),
        ]
    )
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


def _shares(release: Release) -> str:
    """A single distribution, with error bars where they are known."""
    shares, bars = release.transition_matrix[0].tolist(), None
    if len(shares) <= _ERROR_BARS_UP_TO:
        try:
            bars = release.uncertainty("transition_matrix", draws=200).row(0)
        except (ChainError, EngineError):
            bars = None
    listed = _largest(release, shares, "Largest shares", bars)
    return listed if bars is None else f"{listed}\n  ± {100 * bars.level:g} %, for {bars.covers_what}"


def _largest(release: Release, shares: list[float], title: str, bars: "Uncertain | None" = None) -> str:
    from dpmarkov.utility.interval import in_words

    labels = release.layout.target.labels
    order = sorted(range(len(shares)), key=lambda i: -shares[i])[:_SHOWN]
    width = max(len(labels[i]) for i in order)
    if bars is None:
        lines = [f"  {labels[i]:<{width}}  {shares[i]:.4f}" for i in order]
    else:
        lines = [
            f"  {labels[i]:<{width}}  {in_words(shares[i], float(bars.low[i]), float(bars.high[i]))}"
            + ("" if bars.reliable[i] else "   not reliable: noise dominates")
            for i in order
        ]
    if len(shares) > _SHOWN:
        rest = 1 - sum(shares[i] for i in order)
        lines.append(f"  {f'{len(shares) - _SHOWN} others':<{width}}  {max(rest, 0.0):.4f}")
    return "\n".join([title, *lines])


def _long_run(release: Release) -> str:
    if release.groups is not None:
        first = release.groups.states[0]
        return (
            f"{len(release.groups)} groups ({', '.join(release.groups.labels[:_SHOWN])}"
            f"{', ...' if len(release.groups) > _SHOWN else ''}); the first one, {first}:\n"
            f"{_long_run(release.of(first))}"
        ).rstrip()
    if not release.layout.is_chain:
        return _shares(release) if release.layout.source is None else ""
    chain = release.chain
    if chain.is_ergodic:
        verdict = "Ergodic: from every start the chain settles in one stationary distribution."
    else:
        verdict = f"Not ergodic: {chain.why_not_ergodic}"
    try:
        shares = release.stationary_distribution.tolist()
    except ChainError:
        return verdict
    bars = _error_bars(release)
    settled = _largest(release, shares, "Stationary distribution (largest states)", bars)
    if bars is not None:
        settled += f"\n  ± {100 * bars.level:g} %, for {bars.covers_what}"
    if release.layout.starts:
        shares = release.start_distribution.tolist()
        settled += "\n" + _largest(release, shares, "Where sequences start (largest states)")
    return f"{verdict}\n{settled}"


def summary(release: Release) -> dict[str, object]:
    """The same for a script: plain values that serialise to JSON."""
    layout = release.layout
    data: dict[str, object] = {
        "epsilon": release.guarantee.epsilon,
        "delta": release.guarantee.delta,
        "unit": release.guarantee.unit.to_dict(),
        "relation": release.guarantee.unit.relation_in_words,
        "assumptions": list(release.guarantee.assumptions),
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
    if layout.is_chain:
        chain = release.chain
        data["ergodic"] = bool(chain.is_ergodic)
        if chain.is_ergodic:
            shares = release.stationary_distribution.tolist()
            data["stationary_distribution"] = dict(zip(map(str, layout.target), shares, strict=True))
    return data
