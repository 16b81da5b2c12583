"""Run the comparison: `python -m benchmarks.accuracy` (all of it: see benchmarks/README.md) or `--quick`."""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path

from benchmarks.accuracy.cells import Cell, run_cell
from benchmarks.accuracy.claims import dirichlet_claims
from benchmarks.accuracy.datasets import DATASETS, DataSet, load
from benchmarks.accuracy.page import write_page

OUT = Path(__file__).resolve().parents[1] / "out"
EPSILONS = (0.1, 0.5, 1.0, 3.73)
UNITS = ("destination", "add_remove", "replace")


def run_all(names: list[str], epsilons: list[float], share: float) -> Iterator[Cell]:
    """All cells in their order, one to a core at a time."""
    jobs = [
        (name, share, unit, epsilon)
        for name in names
        for epsilon in epsilons
        for unit in (("user",) if name == "msnbc-users" else UNITS)
    ]
    with ProcessPoolExecutor() as pool:
        yield from pool.map(_run, *zip(*jobs, strict=True))


_load: Callable[[str, float], DataSet] = lru_cache(load)


def _run(name: str, share: float, unit: str, epsilon: float) -> Cell:
    return run_cell(_load(name, share), unit, epsilon)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the repetitions")
    parser.add_argument("--data", nargs="*", default=list(DATASETS), choices=list(DATASETS))
    parser.add_argument("--epsilons", nargs="*", type=float, default=list(EPSILONS))
    options = parser.parse_args()
    start = time.perf_counter()
    cells: list[Cell] = []
    for cell in run_all(options.data, options.epsilons, 0.1 if options.quick else 1.0):
        cells.append(cell)
        print(f"{cell.line()}  at {time.perf_counter() - start:.0f} s", flush=True)
    claims = dirichlet_claims()
    OUT.mkdir(exist_ok=True)
    page = write_page(cells, claims, OUT / "accuracy.html")
    raw = [cell.to_dict() for cell in cells]
    (OUT / "accuracy.json").write_text(json.dumps(raw, indent=1))
    print("\n".join(claims))
    worst = [(cell.worst_ratio(), cell.title) for cell in cells if math.isfinite(cell.worst_ratio()[0])]
    worst.sort(reverse=True)
    print("\nworst ratios of auto to the best peer:")
    for (ratio, measure), title in worst[:10]:
        print(f"  {ratio:.3f}  {measure:<11} {title}")
    print(f"\n{len(cells)} cells in {time.perf_counter() - start:.0f} s; page: {page}")


if __name__ == "__main__":
    sys.exit(main())
