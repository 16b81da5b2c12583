"""Figures of the transition matrix: the heat map and the strongest flows."""

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

from dpmarkov.errors import ChainError, ParameterError
from dpmarkov.releases import Release
from dpmarkov.report.look import SHOWN_STATES, Look, look_at
from dpmarkov.report.theme import figure, percent, text
from dpmarkov.report.trust import cell_intervals

__all__ = ["Order", "flows", "shown_states", "state_orders", "strongest_flows", "transitions"]

Order = Literal["states", "share", "cluster"]
_TICKS = 40
_LOWEST = -6.0


def shown_states(look: Look) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The rows and columns that a picture has room for, in the declared order."""
    columns = np.sort(look.largest(SHOWN_STATES))
    rows = columns if look.chain is not None else np.arange(min(SHOWN_STATES, max(1, len(look.row_labels))))
    return rows, columns


def state_orders(release: Release) -> dict[str, list[int]]:
    """For a chain: the shown states (as places among those shown) in each order that makes sense."""
    look = look_at(release)
    if look.chain is None:
        return {}
    shown, _ = shown_states(look)
    orders = {"states": list(range(shown.size))}
    if look.shares is not None:
        orders["share"] = np.argsort(-look.shares[shown], kind="stable").tolist()
    if shown.size > 2:
        near = pdist(_block(release, shown, shown), "cityblock") / 2
        tree = hierarchy.linkage(near, "average", optimal_ordering=True)
        orders["cluster"] = hierarchy.leaves_list(tree).tolist()
    return orders


def _block(
    release: Release, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """The shown part of the matrix; known zeros are 0."""
    return np.asarray(release.sparse_matrix[rows][:, columns].toarray())


def transitions(release: Release, order: Order = "states") -> go.Figure:
    """The transition matrix as a heat map with a logarithmic colour; intervals show where one points.

    Parameters
    ----------
    release
        A release with from-states.
    order
        `"states"`: as declared. `"share"`: the largest long-run share first. `"cluster"`: states with alike
        destinations side by side (average linkage of the total variation between rows).
    """
    look = look_at(release)
    if not look.row_labels:
        raise ChainError("a heat map needs from-states; this release is a single distribution")
    if order not in get_args(Order):
        raise ParameterError(f"order must be one of {', '.join(get_args(Order))}; got {order!r}")
    rows, columns = shown_states(look)
    if order != "states":
        orders = state_orders(release)
        if order not in orders:
            raise ChainError(
                f"order {order!r} needs a Markov chain"
                + (f" with a single long run: {look.no_shares}" if order == "share" else "")
            )
        rows = columns = rows[orders[order]]
    p = _block(release, rows, columns)
    inside = p > 0
    logs = np.full(p.shape, np.nan, dtype=np.float32)
    np.log10(p, out=logs, where=inside, casting="same_kind")
    seen = logs[inside]
    top = float(seen.max())
    low = max(_LOWEST, min(float(np.quantile(seen, 0.01)), top - 1))
    marks = np.arange(np.ceil(low), np.floor(top) + 1)
    names_from = [text(look.row_labels[i]) for i in rows]
    names_to = [text(look.labels[j]) for j in columns]
    numbers, told = p.astype(np.float32)[:, :, None], ""
    known = cell_intervals(release)
    if known is not None:
        low_high = [part[np.ix_(rows, columns)].astype(np.float32) for part in (known.low, known.high)]
        numbers = np.dstack([numbers, *low_high])
        told = "<br>95 % interval %{customdata[1]:.3~g} to %{customdata[2]:.3~g}"
    heat = go.Heatmap(
        z=logs,
        x=names_to,
        y=names_from,
        zmin=low,
        zmax=top,
        customdata=numbers,
        hoverongaps=False,
        hovertemplate="from <b>%{y}</b><br>to <b>%{x}</b><br>probability %{customdata[0]:.3~g}"
        + told
        + "<extra></extra>",
        colorbar={
            "title": {"text": "probability", "side": "right"},
            "tickvals": marks,
            "ticktext": [percent(10.0**mark) for mark in marks],
        },
    )
    few = max(len(names_from), len(names_to)) <= _TICKS
    axis: dict[str, Any] = {
        "type": "category",
        "showgrid": False,
        "showticklabels": few,
        "ticks": "outside" if few else "",
    }
    return figure(
        heat,
        height=620,
        meta={"matrix": True},
        xaxis={**axis, "title": {"text": "to"}, "constrain": "domain", "tickangle": -60},
        yaxis={**axis, "title": {"text": "from"}, "autorange": "reversed", "tickangle": 0},
    )


def strongest_flows(release: Release, count: int) -> list[tuple[int, int, float, float]]:
    """The `count` transitions that happen most often: (from, to, probability, share of all transitions).

    In the long run a share pi_i P_ij of all transitions goes from i to j. Where there is no single long run,
    every from-state counts alike, but for a declared end, which nothing leaves.
    """
    look = look_at(release)
    if not look.row_labels:
        raise ChainError("flows need from-states; this release is a single distribution")
    cells, probabilities = look.cells, look.probabilities
    rows = cells.row_of_cell
    weights = np.full(cells.n_rows, 1.0)
    if look.end is not None:
        weights[look.end] = 0.0
    weights /= weights.sum()
    if look.chain is not None and look.shares is not None:
        weights = look.shares
    flow = weights[rows] * probabilities
    best = np.argsort(-flow, kind="stable")[:count]
    return [(int(rows[k]), int(cells.indices[k]), float(probabilities[k]), float(flow[k])) for k in best]


def flows(release: Release, count: int = 25) -> go.Figure:
    """The strongest transitions as a flow diagram: from-states left, to-states right, as wide as they are.

    Parameters
    ----------
    release
        A release with from-states.
    count
        How many transitions are shown.
    """
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 500:
        raise ParameterError(f"count must be a whole number from 1 to 500; got {count!r}")
    look = look_at(release)
    best = strongest_flows(release, count)
    left = list(dict.fromkeys(i for i, _, _, _ in best))
    right = list(dict.fromkeys(j for _, j, _, _ in best))
    at_left = {state: k for k, state in enumerate(left)}
    at_right = {state: len(left) + k for k, state in enumerate(right)}
    single = look.chain is not None and look.shares is not None
    meaning = "of all transitions in the long run" if single else "if every from-state is equally frequent"
    diagram = go.Sankey(
        arrangement="snap",
        node={
            "label": [text(look.row_labels[i]) for i in left] + [text(look.labels[j]) for j in right],
            "pad": 12,
            "thickness": 12,
            "hovertemplate": "%{label}<br>%{value:.3~%} " + meaning + ", among those shown<extra></extra>",
        },
        link={
            "source": [at_left[i] for i, _, _, _ in best],
            "target": [at_right[j] for _, j, _, _ in best],
            "value": [share for _, _, _, share in best],
            "customdata": [p for _, _, p, _ in best],
            "color": "rgba(86,140,190,0.5)",
            "hovercolor": "rgba(213,94,0,0.75)",
            "hovertemplate": (
                "%{source.label} → %{target.label}<br>probability %{customdata:.3~g}<br>"
                "%{value:.3~%} " + meaning + "<extra></extra>"
            ),
        },
    )
    return figure(diagram, height=max(320, 90 + 24 * max(len(left), len(right))), meta={"tall": True})
