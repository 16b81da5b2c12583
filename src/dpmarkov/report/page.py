"""The report: one HTML file that needs no network and that a non-expert reads from top to bottom.

Safe against what it shows: state names are escaped in text and in plotly's own markup, data blocks cannot be
ended early, and a content security policy lets run only the house's own scripts, by their hashes, and lets
nothing be fetched.
"""

import functools
import json
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from dpmarkov.errors import DpmarkovError, ParameterError
from dpmarkov.releases import Release
from dpmarkov.report import figures, sections
from dpmarkov.report.figures.matrix import state_orders
from dpmarkov.report.figures.place import GeoJson
from dpmarkov.report.html import data, h, script
from dpmarkov.report.look import look_at
from dpmarkov.report.theme import CONFIG, DARK, LIGHT
from dpmarkov.whole import check_free, write_whole

__all__ = ["report_html", "write_report"]

_TITLE_LENGTH = 200


def report_html(
    release: Release, *, title: str | None = None, geojson: GeoJson | None = None, key: str | None = None
) -> str:
    """The report of a release as one self-contained HTML page.

    Parameters
    ----------
    release
        The release. Nothing else enters: the page tells nothing that the release does not.
    title
        A heading; what the release is unless given.
    geojson, key
        Places of the states, for a map: see `dpmarkov.figures.place_map`.
    """
    if title is not None and not (isinstance(title, str) and 0 < len(title.strip()) <= _TITLE_LENGTH):
        raise ParameterError(f"title must be a text of 1 to {_TITLE_LENGTH} characters; got {title!r}")
    drawn, missing = _figures(release, geojson, key)
    heading = sections.what_it_is(release) if title is None else title.strip()
    parts = sections.all_sections(release, drawn, missing)
    orders = state_orders(release) if "transitions" in drawn else {}
    plotly, plotly_hash = script(get_plotlyjs())
    own, own_hash = script(_asset("page.js"))
    policy = (
        f"default-src 'none'; script-src {plotly_hash} {own_hash}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    contents = "".join(f'<li><a href="#{h(name)}">{h(text)}</a></li>' for name, text, _ in parts)
    blocks = [
        data("figures", {name: _plain(figure) for name, figure in drawn.items()}),
        data("themes", {"light": LIGHT, "dark": DARK}),
        data("config", CONFIG),
        data("orders", orders),
    ]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{h(heading)}</title>",
            '<link rel="icon" href="data:,">',
            f"<style>{_asset('page.css')}</style>",
            "</head>",
            "<body>",
            '<a class="skip" href="#short">Skip to the report</a>',
            "<header>",
            f"<h1>{h(heading)}</h1>",
            sections.lead(release),
            f'<nav aria-label="Contents"><ol>{contents}</ol></nav>',
            "</header>",
            "<main>",
            *(body for _, _, body in parts),
            "</main>",
            f"<footer><p>{h(sections.footer(release))}</p></footer>",
            *blocks,
            plotly,
            own,
            "</body>",
            "</html>",
            "",
        ]
    )


def write_report(
    release: Release,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    geojson: GeoJson | None = None,
    key: str | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the report of a release to one HTML file, whole or not at all.

    Parameters
    ----------
    release
        The release.
    path
        The file, such as `report.html`.
    title, geojson, key
        As for `report_html`.
    overwrite
        Replace a file that is there already.
    """
    out = check_free(path, overwrite=overwrite)
    write_whole(out, report_html(release, title=title, geojson=geojson, key=key).encode())
    return out


def _figures(
    release: Release, geojson: GeoJson | None, key: str | None
) -> tuple[dict[str, go.Figure], dict[str, str]]:
    """The figures that this release allows, and for each other one why it is not there."""
    makers: dict[str, Any] = {
        "stationary": figures.stationary,
        "transitions": figures.transitions,
        "flows": figures.flows,
        "mixing": figures.mixing,
        "eigenvalues": figures.eigenvalues,
        "privacy": figures.privacy,
        "accuracy": figures.accuracy,
    }
    if look_at(release).chain is None or look_at(release).end is not None:
        for name in ("mixing", "eigenvalues"):
            del makers[name]
    if release.layout.source is None:
        for name in ("transitions", "flows"):
            del makers[name]
    drawn, missing = {}, {}
    for name, make in makers.items():
        try:
            drawn[name] = make(release)
        except DpmarkovError as error:
            missing[name] = str(error)
    if geojson is not None:
        drawn["map"] = figures.place_map(release, geojson, key)
    return drawn, missing


def _plain(figure: go.Figure) -> dict[str, Any]:
    """A figure as JSON without its template: the page holds the two templates once."""
    plain: dict[str, Any] = json.loads(figure.to_json())
    plain["layout"].pop("template", None)
    return plain


@functools.cache
def _asset(name: str) -> str:
    return resources.files("dpmarkov.report").joinpath(name).read_text(encoding="utf-8")
