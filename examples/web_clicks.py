"""Page views of a web site, where the person is protected with everything they did.

20,000 made-up visitors of a site with eight kinds of pages. What is protected is the visitor: nobody can tell
whether any one of them is in the data. Run it: python examples/web_clicks.py
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpmarkov as dpm
from dpmarkov.entropy import Entropy

PAGES = dpm.StateSpace(["front", "news", "sport", "weather", "shop", "basket", "account", "help"])
VISITORS = 20_000
MOST_EVENTS = 8


def make_views(path: Path) -> None:
    """A table of views: visitor, when, page. Some visitors look at two pages, some at two hundred."""
    chance = Entropy.seeded(8).generator("views")
    habits = chance.dirichlet(np.full(len(PAGES), 0.6), len(PAGES))
    visitors, times, pages = [], [], []
    for visitor in range(VISITORS):
        length = min(200, 2 + int(chance.pareto(1.2)))
        page = 0
        for step in range(length):
            visitors.append(visitor)
            times.append(step)
            pages.append(PAGES.states[page])
            page = int(chance.choice(len(PAGES), p=habits[page]))
    pq.write_table(pa.table({"visitor": visitors, "step": times, "page": pages}), path)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        views = Path(folder) / "views.parquet"
        make_views(views)
        # At most eight transitions of each visitor count, chosen at random: the bound is public and is fixed
        # beforehand. A larger one keeps more data and needs more noise.
        counts = dpm.count(
            views, user="visitor", time="step", state="page", states=PAGES, max_events=MOST_EVENTS
        )
        release = dpm.release(
            counts, unit=dpm.User(max_events=MOST_EVENTS), budget=dpm.Budget(epsilon=2, delta=1e-6)
        )
    print(release.guarantee.describe(), "\n")
    shares = release.uncertainty("stationary_distribution", draws=200)
    for name, share, half, reliable in zip(
        PAGES, shares.value, shares.half_width, shares.reliable, strict=True
    ):
        print(f"{name:>8}  {share:.3f} ± {half:.3f}{'' if reliable else '  noise dominates'}")
    walks = release.chain.simulate(6, users=3, start="front", seed=1)
    print("\nThree made-up visits, drawn from the release:")
    for walk in walks:
        print("  " + " > ".join(walk))


if __name__ == "__main__":
    main()
