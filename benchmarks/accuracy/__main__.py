"""Run the comparison: `python -m benchmarks.accuracy` (all of it, about 25 minutes) or `--quick`."""

import argparse
import json
import math
import sys
import time
from pathlib import Path

from benchmarks.accuracy.cells import Cell, run_cell
from benchmarks.accuracy.claims import dirichlet_claims
from benchmarks.accuracy.datasets import DATASETS, load
from benchmarks.accuracy.page import write_page

OUT = Path(__file__).resolve().parents[1] / "out"
EPSILONS = (0.1, 0.5, 1.0, 3.73)
UNITS = ("destination", "add_remove", "replace")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the repetitions")
    parser.add_argument("--data", nargs="*", default=list(DATASETS), choices=list(DATASETS))
    parser.add_argument("--epsilons", nargs="*", type=float, default=list(EPSILONS))
    options = parser.parse_args()
    start = time.perf_counter()
    cells: list[Cell] = []
    for name in options.data:
        data = load(name, 0.1 if options.quick else 1.0)
        for epsilon in options.epsilons:
            for unit in ("user",) if name == "msnbc-users" else UNITS:
                began = time.perf_counter()
                cell = run_cell(data, unit, epsilon)
                cells.append(cell)
                print(f"{cell.line()}  {time.perf_counter() - began:.1f} s", flush=True)
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
