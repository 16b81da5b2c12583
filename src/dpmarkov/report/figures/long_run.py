"""Figures of the long run: the stationary distribution, the mixing curve, the eigenvalues."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpmarkov.errors import ChainError, ParameterError
from dpmarkov.releases import Release
from dpmarkov.report.look import look_at
from dpmarkov.report.theme import figure, log_ticks, percent, text
from dpmarkov.report.trust import in_percent, share_intervals
from dpmarkov.utility.uncertainty import Uncertain

__all__ = ["eigenvalues", "mixing", "stationary"]


def stationary(release: Release, count: int = 30) -> go.Figure:
    """The long-run share of each state, largest first, with error bars where they are known.

    For a single distribution, that distribution. The bars are 95 % intervals for privacy's noise.

    Parameters
    ----------
    release
        A chain with a single long run, or a single distribution.
    count
        How many states are shown.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ParameterError(f"count must be a whole number >= 1; got {count!r}")
    look = look_at(release)
    shares = look.need_shares("the stationary distribution")
    order = look.largest(count)
    what = "long-run share" if look.chain is not None else "share"
    known = share_intervals(release)
    told = [percent(share) for share in shares[order]]
    error_bars: dict[str, Any] = {}
    if known is not None:
        told = [in_percent(known, int(i)) + _mark(known, int(i)) for i in order]
        error_bars = {
            "type": "data",
            "symmetric": False,
            "array": np.maximum(known.high[order] - shares[order], 0.0),
            "arrayminus": np.maximum(shares[order] - known.low[order], 0.0),
            "thickness": 1.3,
            "width": 3,
        }
    bars = go.Bar(
        x=shares[order],
        y=[text(look.labels[i]) for i in order],
        orientation="h",
        customdata=told,
        error_x=error_bars,
        # Error bars stay readable on the bar, in print too.
        opacity=0.75 if known is not None else 1.0,
        hovertemplate="<b>%{y}</b><br>" + what + " %{customdata}<extra></extra>",
    )
    return figure(
        bars,
        height=max(280, 80 + 20 * order.size),
        meta={"tall": True},
        xaxis={"title": {"text": what}, "tickformat": "~%", "rangemode": "tozero"},
        yaxis={"type": "category", "autorange": "reversed", "ticks": "", "showgrid": False},
        bargap=0.25,
    )


def _mark(known: Uncertain, i: int) -> str:
    return "" if known.reliable[i] else "<br>not reliable: noise dominates"


def mixing(release: Release) -> go.Figure:
    """The worst-case distance to the long run after each number of steps, with the mixing time marked."""
    chain = look_at(release).need_chain("the mixing curve")
    times, distances = chain.mixing_curve()
    shown = [(t, float(d)) for t, d in zip(times, distances, strict=True) if t > 0 and d > 0]
    if not shown:
        raise ChainError("the chain is in its long run after one step from every start: there is no curve")
    mixed = chain.mixing_time()
    at = float(chain.mixing_curve([mixed])[1][0])
    curve = go.Scatter(
        x=[t for t, _ in shown],
        y=[d for _, d in shown],
        mode="lines+markers",
        marker={"size": 7},
        name="distance from the worst start",
        hovertemplate="after %{x:,} steps<br>distance %{y:.3~g}<extra></extra>",
    )
    mark = go.Scatter(
        x=[max(1, mixed)],
        y=[at],
        mode="markers",
        marker={"symbol": "diamond-open", "size": 15, "line": {"width": 2.5}},
        name=f"mixing time: {mixed:,} step{'s' if mixed != 1 else ''}",
        hovertemplate=f"mixing time {mixed:,}<br>distance {at:.3g}<extra></extra>",
    )
    return figure(
        curve,
        mark,
        height=380,
        hovermode="x",
        hoverdistance=-1,
        xaxis={"type": "log", "title": {"text": "steps"}, **log_ticks(1, shown[-1][0])},
        yaxis={
            "type": "log",
            "title": {"text": "distance to the long run"},
            "dtick": 1,
            "exponentformat": "power",
        },
    )


def eigenvalues(release: Release) -> go.Figure:
    """The eigenvalues in the unit circle: the farther out, the longer that pattern of movement lasts."""
    chain = look_at(release).need_chain("the eigenvalues")
    values = chain.eigenvalues
    angle = np.linspace(0, 2 * np.pi, 181)
    circle = go.Scatter(
        x=np.cos(angle),
        y=np.sin(angle),
        mode="lines",
        line={"width": 1.5},
        name="unit circle",
        hoverinfo="skip",
    )
    points = go.Scatter(
        x=values.real,
        y=values.imag,
        mode="markers",
        marker={"symbol": "x", "size": 7},
        name="eigenvalues",
        customdata=np.abs(values),
        hovertemplate="%{x:.4f} %{y:+.4f} i<br>modulus %{customdata:.4f}<extra></extra>",
    )
    side = {"range": [-1.1, 1.1], "dtick": 0.5}
    return figure(
        circle,
        points,
        height=440,
        showlegend=False,
        xaxis={**side, "title": {"text": "real part"}, "constrain": "domain"},
        yaxis={**side, "title": {"text": "imaginary part"}, "scaleanchor": "x", "constrain": "domain"},
    )
