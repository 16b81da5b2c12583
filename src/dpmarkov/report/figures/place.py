"""A map of the long run, for states that have a place: GeoJSON in, no tiles, no network."""

import json
import math
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from dpmarkov.errors import TableError
from dpmarkov.releases import Release
from dpmarkov.report.look import look_at
from dpmarkov.report.theme import LIGHT, figure, percent, text

__all__ = ["place_map"]

Ring = list[tuple[float, float]]
GeoJson = Mapping[str, Any] | str | PathLike[str]

_KINDS = ("Point", "MultiPoint", "Polygon", "MultiPolygon")


def place_map(release: Release, geojson: GeoJson, key: str | None = None) -> go.Figure:
    """Where the chain spends its time, on a map.

    Parameters
    ----------
    release
        A chain with a single long run, or a single distribution.
    geojson
        A FeatureCollection, as a mapping or a public file, with a point or an area (in degrees) for states.
    key
        The property that holds the state; the feature's `id` unless given.
    """
    look = look_at(release)
    shares = look.need_shares("a map of the long run")
    position = {str(state): i for i, state in enumerate(release.layout.target.states)}
    areas: list[tuple[int, list[Ring]]] = []
    points: list[tuple[int, float, float]] = []
    for state, geometry in _features(geojson, key):
        at = position.get(state)
        if at is None:
            continue
        kind = geometry.get("type")
        if kind not in _KINDS:
            raise TableError(f"a feature of the GeoJSON is a {kind!r}; a state needs {', '.join(_KINDS)}")
        # One level deeper for the kinds of many.
        listed: Any = geometry.get("coordinates")
        try:
            listed = listed if kind.startswith("Multi") else [listed]
            if kind.endswith("Point"):
                points += [(at, *_pair(c)) for c in listed]
            else:
                areas.append((at, [[_pair(c) for c in ring] for polygon in listed for ring in polygon]))
        except (TypeError, ValueError, IndexError):
            raise TableError(f"a {kind} of the GeoJSON has coordinates that are no numbers") from None
    if not areas and not points:
        raise TableError(
            "no feature of the GeoJSON is a declared state; name the property that holds the state "
            f"(looked at {'the feature id' if key is None else f'property {key!r}'})"
        )
    top = float(shares.max())
    scale = LIGHT["data"]["heatmap"][0]["colorscale"]
    traces: list[Any] = []
    for at, rings in areas:
        xs: list[float | None] = []
        ys: list[float | None] = []
        for ring in rings:
            xs += [x for x, _ in ring] + [None]
            ys += [y for _, y in ring] + [None]
        colour = sample_colorscale(scale, [math.sqrt(float(shares[at]) / top)])[0]
        traces.append(
            go.Scatter(
                x=xs[:-1],
                y=ys[:-1],
                mode="lines",
                fill="toself",
                fillcolor=colour,
                line={"width": 0.7, "color": "#5b6570"},
                hoveron="fills",
                name=f"{text(look.labels[at])}: {percent(float(shares[at]))}",
                text=f"{text(look.labels[at])}: {percent(float(shares[at]))}",
                hoverinfo="text",
                showlegend=False,
            )
        )
    if points:
        at_points = np.array([at for at, _, _ in points])
        traces.append(
            go.Scatter(
                x=[x for _, x, _ in points],
                y=[y for _, _, y in points],
                mode="markers",
                # The area of a disc is the share.
                marker={
                    "size": shares[at_points],
                    "sizemode": "area",
                    "sizeref": 2 * top / 40**2,
                    "sizemin": 3,
                    "line": {"width": 1},
                    "opacity": 0.8,
                },
                text=[f"{text(look.labels[i])}: {percent(float(shares[i]))}" for i in at_points],
                hoverinfo="text",
                showlegend=False,
            )
        )
    every_y = [y for _, rings in areas for ring in rings for _, y in ring] + [y for _, _, y in points]
    middle = (min(every_y) + max(every_y)) / 2
    bare = {"visible": False, "showgrid": False, "zeroline": False}
    return figure(
        *traces,
        height=560,
        xaxis={**bare, "constrain": "domain"},
        # A degree of longitude is shorter than one of latitude by the cosine of the latitude.
        yaxis={**bare, "scaleanchor": "x", "scaleratio": 1 / max(0.05, math.cos(math.radians(middle)))},
        hovermode="closest",
    )


def _pair(coordinates: Any) -> tuple[float, float]:
    x, y = float(coordinates[0]), float(coordinates[1])
    if not (math.isfinite(x) and math.isfinite(y)):
        raise ValueError
    return x, y


def _features(geojson: GeoJson, key: str | None) -> list[tuple[str, Mapping[str, Any]]]:
    """(state as text, geometry) of each feature."""
    if not isinstance(geojson, Mapping):
        path = Path(geojson)
        try:
            geojson = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise TableError(f"{path} cannot be read: {error.strerror or error}") from None
        except ValueError:
            raise TableError(f"{path} is not JSON; give a GeoJSON file") from None
    if not isinstance(geojson, Mapping) or geojson.get("type") != "FeatureCollection":
        raise TableError("the GeoJSON must be a FeatureCollection with one feature for each state")
    found = []
    for feature in geojson.get("features", []):
        holder = feature if key is None else feature.get("properties") or {}
        state = holder.get("id" if key is None else key)
        geometry = feature.get("geometry")
        if state is not None and isinstance(geometry, Mapping):
            found.append((str(state), geometry))
    return found
