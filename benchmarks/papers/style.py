"""One look for all figures."""

from collections.abc import Sequence

import numpy.typing as npt
import plotly.graph_objects as go

INK, BLUE, ORANGE, GREEN, GREY, RED = "#1f2933", "#1f6fb4", "#d9730d", "#2a8f5c", "#8a949e", "#b3261e"


def figure(x: str, y: str, *, log_x: bool = False, log_y: bool = False, height: int = 380) -> go.Figure:
    """An empty figure with named axes."""
    made = go.Figure()
    made.update_layout(
        template="plotly_white",
        height=height,
        margin={"l": 70, "r": 20, "t": 20, "b": 55},
        font={"family": "system-ui, sans-serif", "size": 13, "color": INK},
        legend={"orientation": "h", "y": -0.22, "x": 0},
    )
    power = {"exponentformat": "power", "dtick": "D2"}
    made.update_xaxes(title=x, **({"type": "log"} | power if log_x else {}))
    made.update_yaxes(title=y, **({"type": "log"} | power if log_y else {}))
    return made


def line(
    made: go.Figure,
    x: Sequence[float] | npt.NDArray,
    y: Sequence[float] | npt.NDArray,
    name: str,
    colour: str,
    *,
    dash: str = "solid",
    error: Sequence[float] | npt.NDArray | None = None,
) -> None:
    """Add a line, with error bars where given."""
    made.add_scatter(
        x=list(x),
        y=list(y),
        name=name,
        mode="lines" if error is None else "lines+markers",
        line={"color": colour, "dash": dash, "width": 2},
        marker={"size": 5},
        error_y=None if error is None else {"array": list(error), "thickness": 1, "width": 2},
    )
