"""Write benchmarks/out/papers.html: tables and figures of the four papers beside what is exactly true."""

import html
import time
from collections.abc import Sequence
from pathlib import Path

import plotly.graph_objects as go
import plotly.io

from benchmarks.papers import (
    benvenuti_figures,
    comparison,
    fallin_figures,
    gohari_figures,
    ponnoprat_figures,
    taxi,
    timing,
)

OUT = Path(__file__).resolve().parents[1] / "out"

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#1f2933;max-width:1060px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.7rem}h2{margin-top:2.6rem;border-bottom:1px solid #d9dee3;padding-bottom:.3rem}
h3{margin:1.8rem 0 .3rem}p{max-width:75ch}table{border-collapse:collapse;margin:.8rem 0;font-size:13px}
th,td{border:1px solid #d9dee3;padding:.35rem .6rem;text-align:left;vertical-align:top}th{background:#f4f6f8}
.wide{overflow-x:auto}.warn{border-left:4px solid #b3261e;padding-left:.8rem}
"""


class Page:
    """Collects headings, tables and figures in order."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.start = time.perf_counter()

    def text(self, tag: str, words: str, kind: str = "") -> None:
        """A heading or a paragraph."""
        self.parts.append(f'<{tag} class="{kind}">{html.escape(words)}</{tag}>')

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table."""
        cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in rows)
        self.parts.append(f'<div class="wide"><table><tr>{cells}</tr>{body}</table></div>')

    def figure(self, title: str, note: str, made: go.Figure) -> None:
        """A figure under its title."""
        self.text("h3", title)
        self.text("p", note)
        self.parts.append(
            plotly.io.to_html(made, full_html=False, include_plotlyjs=False, config={"displayModeBar": False})
        )
        print(f"{time.perf_counter() - self.start:6.1f} s  {title}", flush=True)

    def write(self, path: Path) -> None:
        """One self-contained file."""
        library = plotly.offline.get_plotlyjs()
        document = (
            "<!doctype html><html lang=en><meta charset=utf-8><title>The papers, reproduced</title>"
            f"<style>{STYLE}</style><script>{library}</script><body>{''.join(self.parts)}</body></html>"
        )
        path.parent.mkdir(exist_ok=True)
        path.write_text(document, encoding="utf-8")


def main() -> None:
    page = Page()
    page.text("h1", "Four papers on Dirichlet mechanisms, reproduced and corrected")
    page.text(
        "p",
        "What each paper printed, what its formula gives, and what is exactly true of the same mechanism. "
        "Exact values come from dominating pairs in ball arithmetic; Monte Carlo serves the pictures alone.",
    )
    page.text("h2", "The numbers")
    rows = comparison.rows()
    page.table(
        [
            "paper",
            "what",
            "printed",
            "its formula",
            "exact",
            "same mechanism: exact epsilon at the paper's delta",
        ],
        [[r.paper, r.what, r.printed, r.formula, r.exact, r.same_mechanism] for r in rows],
    )
    page.text("h2", "delta for n = 63 categories")
    page.table(
        ["gamma", "exact", "certified bound", "a million samples", "exact, certified against sampling"],
        timing.table(),
    )
    gohari(page)
    fallin(page)
    benvenuti(page)
    ponnoprat(page)
    page.write(OUT / "papers.html")
    print(f"{time.perf_counter() - page.start:6.1f} s  {OUT.name}/papers.html")
    width = max(len(r.what) for r in rows)
    for r in rows:
        print(
            f"{r.what:{width}}  printed {r.printed}; formula {r.formula}; exact {r.exact}; "
            f"at the paper's delta {r.same_mechanism}"
        )


def gohari(page: Page) -> None:
    page.text("h2", "Gohari et al.: a vector, an average of vectors")
    page.figure(
        "Figure 1",
        "Epsilon over delta for |W| = 3, b = .1: Lemma 5's simplification, Theorem 1, exact.",
        gohari_figures.figure1(),
    )
    made, table = gohari_figures.figure2()
    page.figure(
        "Figure 2", "An average of 100 vectors and a neighbour (the large dot moved); private averages.", made
    )
    page.text("h3", "Table I")
    page.table(["statistic", "value"], table)


def fallin(page: Page) -> None:
    page.text("h2", "Fallin et al.: a stochastic matrix")
    page.text(
        "p", "The city's data is not to be had: a network of our own, 32 crossings, three ways out of each."
    )
    page.figure("Figure 1", "A walk of ten steps from the same luck.", fallin_figures.figure1())
    error, budget, ratios = fallin_figures.figure2()
    page.figure("Figure 2", "The stationary distribution's error, and bounds of it.", error)
    page.table(["ratio over the range of k", "value"], ratios)
    page.figure("What the budget is", "Claimed epsilon against exact, for one row and for every row.", budget)


def benvenuti(page: Page) -> None:
    page.text("h2", "Benvenuti et al.: counts and Markov chains")
    page.figure("Figure 1", "Grades: expected divergence over epsilon.", benvenuti_figures.figure1())
    page.figure(
        "Figure 4",
        "Monte Carlo's relative error; the contour integral has none.",
        benvenuti_figures.figure4(),
    )
    if not taxi.DATA.is_dir():
        page.text("p", "The taxi sample is not here: Figures 2 and 3 and Table 1 are left out.", "warn")
        return
    page.text("h3", "Table 1")
    page.text(
        "p",
        "NOT PRIVATE: zones are combined by looking at the trips, and eta is read off the data, as in the "
        "paper; the epsilons claim nothing. Our sample has a tenth of the paper's trips.",
        "warn",
    )
    page.table(["zones", "printed", "its formula on our sample"], benvenuti_figures.table1())
    bars, errors, rows = benvenuti_figures.figures23()
    page.figure("Figure 2", "Long-run shares of 15 neighbourhoods, combined by a public rule.", bars)
    page.figure("Figure 3", "Error of the stationary distribution over the claimed epsilon.", errors)
    page.table(["", ""], rows)


def ponnoprat(page: Page) -> None:
    page.text("h2", "Ponnoprat: posterior sampling")
    page.figure(
        "Figure 1, left",
        "rho at order 2 for x = (11, 8, 65, 25, 38, 0) and one more.",
        ponnoprat_figures.figure1_left(),
    )
    page.figure(
        "Figure 1, right", "delta over epsilon: Theorem 2 against exact.", ponnoprat_figures.figure1_right()
    )
    page.figure(
        "Figure 2",
        "Largest error of a histogram, 200 inputs, two standard deviations.",
        ponnoprat_figures.figure2(),
    )
    page.figure("Figure 3", "Divergence of the private posterior, 200 inputs.", ponnoprat_figures.figure3())


if __name__ == "__main__":
    main()
