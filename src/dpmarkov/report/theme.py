"""Colours and type of the figures, light and dark.

Okabe and Ito's palette, which colour-blind people can tell apart; whatever a colour says, a shape, a dash or
a place says too, so that a black-and-white print loses nothing. Scales of colour grow evenly in lightness.
"""

import math
from html import escape
from typing import Any

import plotly.graph_objects as go

__all__ = ["CONFIG", "DARK", "LIGHT", "figure", "log_ticks", "percent", "text"]

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_SCALE = ["#f5f8fb", "#d3e1ee", "#a3c3de", "#6a9cc6", "#3a73a6", "#194d80", "#08284f"]
_SCALE_DARK = ["#10171f", "#173450", "#215580", "#3a7cb0", "#6fa6d2", "#adcfe9", "#eff7fd"]


def _template(*, ink: str, soft: str, paper: str, colours: list[str], scale: list[str]) -> dict[str, Any]:
    steps = [[i / (len(scale) - 1), colour] for i, colour in enumerate(scale)]
    axis = {
        "gridcolor": soft,
        "linecolor": ink,
        "zerolinecolor": soft,
        "showline": True,
        "ticks": "outside",
        "tickcolor": ink,
        "automargin": True,
        "title": {"standoff": 10},
    }
    bar = {"colorscale": steps, "colorbar": {"outlinewidth": 0, "thickness": 14}}
    return {
        "layout": {
            "font": {"family": _FONT, "size": 13, "color": ink},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorway": colours,
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {"bgcolor": paper, "bordercolor": ink, "font": {"color": ink, "family": _FONT}},
            "legend": {"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top"},
            "margin": {"l": 10, "r": 10, "t": 34, "b": 10},
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": ink, "activecolor": colours[0]},
            "annotationdefaults": {"font": {"color": ink}, "arrowcolor": ink},
            "shapedefaults": {"line": {"color": ink}},
            "colorscale": {"sequential": steps, "sequentialminus": steps},
        },
        "data": {
            "heatmap": [bar],
            "bar": [{"marker": {"line": {"width": 0}}, "error_x": {"color": ink}}],
            "sankey": [
                {"node": {"line": {"color": ink, "width": 0.5}, "color": ink}, "textfont": {"color": ink}}
            ],
        },
    }


LIGHT = _template(
    ink="#1c2430",
    soft="#dfe4ea",
    paper="#ffffff",
    colours=["#0072B2", "#D55E00", "#009E73", "#8a6d00", "#7a4a86"],
    scale=_SCALE,
)
DARK = _template(
    ink="#e7ecf2",
    soft="#333d49",
    paper="#161c24",
    colours=["#56B4E9", "#F0A040", "#3fc79a", "#F0E442", "#CC99C7"],
    scale=_SCALE_DARK,
)

CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "scrollZoom": False,
    "showTips": False,
    # A state may be named "$x$".
    "typesetMath": False,
    # Named one by one: plotly's own list has a button that sends the figure to a server.
    "modeBarButtons": [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]],
}
"""How plotly behaves in a report; nothing in it talks to a network."""


def figure(*traces: Any, height: int = 420, **layout: Any) -> go.Figure:
    """A figure in the house's style."""
    return go.Figure(data=list(traces), layout={"template": LIGHT, "height": height, **layout})


def log_ticks(low: float, high: float) -> dict[str, list[Any]]:
    """Ticks of a logarithmic axis at 1, 2 and 5 times powers of ten, or at the powers alone where many."""
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(powers) <= 4 else (1,)
    ticks = [step * 10.0**p for p in powers for step in steps if low <= step * 10.0**p <= high]
    return {"tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}


def text(label: str) -> str:
    """A label as plotly shows it: plotly reads tags in text, and a state's name must stay a name."""
    return escape(label, quote=True)


_UNIT = "\u00a0%"


def percent(share: float) -> str:
    """A share as a percentage with three significant digits, never as 0.000.

    The space before the sign does not break.

    >>> [percent(share).replace(chr(160), " ") for share in (0.0412, 0.00000123, 1.0)]
    ['4.12 %', '0.000123 %', '100 %']
    """
    number = 100 * share
    if number == 0 or number >= 1e-4:
        written = f"{number:.3g}"
        return f"{written if 'e' not in written else format(float(written), '.10f').rstrip('0')}{_UNIT}"
    return f"{number:.2e}{_UNIT}"
