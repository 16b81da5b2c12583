"""Figures of what privacy gives and costs: the privacy curve, and accuracy against epsilon."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.guarantee import readable_up
from dpmarkov.releases import Release
from dpmarkov.report.expected import error_curve
from dpmarkov.report.theme import figure, log_ticks

__all__ = ["accuracy", "privacy"]

Array = npt.NDArray[np.float64]

_LEAST_DELTA = 1e-15
_CURVE_POINTS = 61
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")
_SIZES = (10_000, 100_000, 1_000_000, 10_000_000)


def privacy(release: Release) -> go.Figure:
    """The privacy curve: the delta that holds for each epsilon, with the claimed pair marked."""
    guarantee = release.guarantee
    epsilons, deltas = guarantee.curve(np.linspace(0, 3 * guarantee.epsilon, _CURVE_POINTS))
    # A pure guarantee reaches delta = 0, which no logarithmic axis has.
    pure = guarantee.delta == 0
    seen = epsilons <= 1.5 * guarantee.epsilon if pure else deltas >= _LEAST_DELTA
    exact = guarantee.evidence.kind == "exact"
    curve = go.Scatter(
        x=epsilons[seen],
        y=deltas[seen],
        mode="lines",
        line={"width": 3},
        name="exact curve" if exact else "proven upper bound",
        hovertemplate="ε = %{x:.3f}<br>δ = %{y:.2~e}<extra></extra>",
    )
    claimed = go.Scatter(
        x=[guarantee.epsilon],
        y=[guarantee.delta],
        mode="markers",
        marker={"symbol": "diamond-open", "size": 15, "line": {"width": 2.5}},
        cliponaxis=False,
        name=f"this release: ε = {guarantee.epsilon:.6g}, δ = {readable_up(guarantee.delta)}",
        hovertemplate="claimed and certified: ε = %{x:.6g}, δ = "
        + readable_up(guarantee.delta)
        + "<extra></extra>",
    )
    scale = {"rangemode": "tozero"} if pure else {"type": "log", "exponentformat": "power"}
    return figure(
        curve,
        claimed,
        height=380,
        hovermode="x",
        hoverdistance=-1,
        xaxis={"title": {"text": "ε"}, "rangemode": "tozero"},
        yaxis={"title": {"text": "δ"}, **scale},
    )


def accuracy(release: Release, events: Iterable[int] | None = None) -> go.Figure:
    """Expected error of a row against epsilon, with this release marked.

    The data are taken to have the shape of the release itself; nothing else enters. Where the release holds
    noisy counts, they say about how many events there were; where it does not, that number is secret, and the
    figure has one line for each of several sizes.

    Parameters
    ----------
    release
        A release by the Dirichlet mechanism or by noise on counts, for a unit of differential privacy.
    events
        Sizes of data sets; what the noisy counts say, or 10,000 to 10,000,000, unless given.
    """
    claimed = release.guarantee.epsilon
    grid = np.unique(np.append(np.geomspace(claimed / 5, claimed * 5, 10), claimed))
    at = int(np.flatnonzero(grid == claimed)[0])
    sizes: list[int | None] = list(events) if events is not None else list(_SIZES)
    if events is None and release.noisy_counts is not None:
        sizes = [None]
    traces, here = [], []
    for k, size in enumerate(sizes):
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise ParameterError(f"events must be whole numbers >= 1; got {size!r}")
        errors = error_curve(release, grid, size)
        here.append(errors[at])
        name = "data of this size" if size is None else f"{size:,} events"
        traces.append(
            go.Scatter(
                x=grid,
                y=errors,
                mode="lines+markers",
                line={"dash": _DASHES[k % 5], "width": 2.5},
                marker={"symbol": _SYMBOLS[k % 5], "size": 7},
                name=name,
                hovertemplate=f"{name}<br>ε = %{{x:.3~g}}<br>row error %{{y:.2~%}}<extra></extra>",
            )
        )
    traces.append(
        go.Scatter(
            x=[claimed] * len(here),
            y=here,
            mode="markers",
            marker={"symbol": "diamond-open", "size": 15, "line": {"width": 2.5}},
            name="this release's ε",
            hovertemplate=f"this release's ε = {claimed:.6g}<br>row error %{{y:.2~%}}<extra></extra>",
        )
    )
    return figure(
        *traces,
        height=400,
        hovermode="x unified",
        hoverdistance=-1,
        xaxis={
            "type": "log",
            "title": {"text": "ε: less protection →"},
            **log_ticks(float(grid[0]), float(grid[-1])),
        },
        yaxis={"title": {"text": "expected error of a row"}, "tickformat": "~%", "rangemode": "tozero"},
    )
