"""One HTML page: curves of error over epsilon, and the table of ratios."""

import html
import math
from pathlib import Path

from benchmarks.accuracy.cells import OURS, Cell
from benchmarks.accuracy.measures import MEASURES, TITLES

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 78rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
td, th { border-bottom: 1px solid #ccc; padding: .2rem .7rem; text-align: right; }
td:first-child, th:first-child { text-align: left; }
.worse { background: #fde2c8; font-weight: 600; }
.charts { display: flex; flex-wrap: wrap; }
svg text { font: 11px system-ui, sans-serif; }
pre { white-space: pre-wrap; }
"""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#999999")


def write_page(cells: list[Cell], claims: list[str], path: Path) -> Path:
    """Write the page."""
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>dpmarkov: accuracy</title>",
        f"<style>{STYLE}</style><h1>Accuracy for the same privacy</h1>",
        "<p>delta = 1e-06. Our mechanisms and OpenDP's Laplace see the same noise in each repetition. "
        "diffprivlib's Geometric and the Spark-style noise have the same law and were drawn by themselves: "
        "what tells the three apart is luck, so the first stands for all of them in the ratios. Whiskers "
        "and brackets are 95 % intervals. Up to 5,000 cells the noise is OpenDP's own; above, the same law "
        "from a seeded stream.</p><h2>auto against the best peer</h2>",
        "<p>Error of <code>auto</code> over that of the best peer with a guarantee at the same budget: below "
        "1 is better. The papers' own mechanism is not among the peers here: its guarantee holds under an "
        "assumption on the data alone.</p>",
        _ratios(cells),
        "<h2>The papers' accounting</h2><pre>" + html.escape("\n".join(claims)) + "</pre>",
        "<h2>Curves</h2>",
    ]
    for data in dict.fromkeys(cell.data for cell in cells):
        for unit in dict.fromkeys(cell.unit for cell in cells):
            chosen = [cell for cell in cells if cell.data == data and cell.unit == unit]
            if chosen:
                parts.append(f"<h3>{data}, {unit}</h3><div class='charts'>")
                parts += [_chart(chosen, k) for k in range(4) if not math.isnan(chosen[0].mean("auto")[k])]
                parts.append("</div>")
    parts.append("<h2>All errors</h2>")
    parts += [_errors(cell) for cell in cells]
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def _ratios(cells: list[Cell]) -> str:
    head = "".join(f"<th>{TITLES[m]}</th>" for m in MEASURES)
    rows = []
    for cell in cells:
        columns = []
        for k in range(4):
            if math.isnan(cell.mean("auto")[k]):
                columns.append("<td>–</td>")
                continue
            ratio, low, high, best = cell.ratio(k)
            mark = " class='worse'" if ratio > 1.03 else ""
            columns.append(f"<td{mark} title='{html.escape(best)}'>{ratio:.3f} [{low:.2f}, {high:.2f}]</td>")
        columns.append(f"<td>{cell.repetitions:,}</td>")
        rows.append(f"<tr><td>{html.escape(cell.title)}</td>{''.join(columns)}</tr>")
    return f"<table><tr><th>cell</th>{head}<th>repetitions</th></tr>{''.join(rows)}</table>"


def _errors(cell: Cell) -> str:
    rows = []
    for name in cell.errors:
        mean, half = cell.mean(name), cell.half_width(name)
        columns = "".join(
            "<td>–</td>" if math.isnan(m) else f"<td>{m:.4g} ± {h:.1g}</td>"
            for m, h in zip(mean, half, strict=True)
        )
        note = html.escape(cell.notes.get(name, ""))
        label = f"<b>{html.escape(name)}</b>" if name in OURS else html.escape(name)
        rows.append(f"<tr><td title='{note}'>{label}</td>{columns}</tr>")
    head = "".join(f"<th>{TITLES[m]}</th>" for m in MEASURES)
    notes = "; ".join(f"{name}: {text}" for name, text in cell.notes.items() if name.startswith("Benvenuti"))
    return (
        f"<details><summary>{html.escape(cell.title)}: {html.escape(cell.notes['auto'])}</summary>"
        f"<p>{html.escape(notes)}</p><table><tr><th></th>{head}</tr>{''.join(rows)}</table></details>"
    )


def _chart(cells: list[Cell], measure: int) -> str:
    """Error over epsilon, both logarithmic."""
    names = [
        name
        for name in (
            "auto",
            "gaussian, posterior",
            "laplace, projected",
            "OpenDP Laplace, clipped",
            "OpenDP Gaussian, clipped",
            "dirichlet, exact",
            "Ponnoprat, prior 5",
            "Benvenuti et al., exact",
        )
        if all(name in cell.errors for cell in cells)
    ]
    series = {
        name: [(cell.epsilon, cell.mean(name)[measure], cell.half_width(name)[measure]) for cell in cells]
        for name in names
    }
    values = [v for points in series.values() for _, v, _ in points if v > 0]
    if not values:
        return ""
    low, high = math.log10(min(values)) - 0.1, math.log10(max(values)) + 0.1
    left, right = math.log10(cells[0].epsilon), math.log10(cells[-1].epsilon)
    span = max(right - left, 1e-9)

    def x(value: float) -> float:
        return 50 + 270 * (math.log10(value) - left) / span

    def y(value: float) -> float:
        return 20 + 200 * (high - math.log10(max(value, 1e-300))) / (high - low)

    out = [f"<svg width='560' height='260' role='img' aria-label='{TITLES[MEASURES[measure]]}'>"]
    out.append(f"<text x='50' y='12'>{TITLES[MEASURES[measure]]}</text>")
    for power in range(math.ceil(low), math.floor(high) + 1):
        at = y(10.0**power)
        out.append(f"<line x1='50' x2='320' y1='{at:.1f}' y2='{at:.1f}' stroke='#ddd'/>")
        out.append(f"<text x='8' y='{at + 4:.1f}'>1e{power}</text>")
    out += [f"<text x='{x(cell.epsilon) - 8:.1f}' y='240'>{cell.epsilon:g}</text>" for cell in cells]
    for k, (name, points) in enumerate(series.items()):
        colour = COLOURS[k % len(COLOURS)]
        dash = "" if name in OURS else " stroke-dasharray='5 3'"
        path = " ".join(f"{x(e):.1f},{y(v):.1f}" for e, v, _ in points)
        out.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'{dash}/>")
        for e, v, half in points:
            top, bottom = y(v + half), y(max(v - half, 10**low))
            out.append(
                f"<line x1='{x(e):.1f}' x2='{x(e):.1f}' y1='{top:.1f}' y2='{bottom:.1f}' stroke='{colour}'/>"
            )
        out.append(f"<text x='330' y='{30 + 16 * k}' fill='{colour}'>{html.escape(name)}</text>")
    return "".join([*out, "</svg>"])
