"""Speed and memory of additive releases: `python -m benchmarks.accuracy.speed`."""

import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

import dpmarkov as dpm

BUDGET = dpm.Budget(epsilon=1.0, delta=1e-6)
UNIT = dpm.Event(relation="replace")


def run(n: int, per_row: int | None) -> None:
    """Release, post-process and save `n` states; all pairs, or a support of `per_row` pairs a row."""
    rng = np.random.default_rng(1)
    states = dpm.StateSpace.range(0, n)
    support = None
    if per_row is not None:
        columns = np.sort((np.arange(n)[:, None] + rng.permutation(n)[:per_row][None, :]) % n, axis=1)
        indptr = np.arange(n + 1, dtype=np.int64) * per_row
        support = dpm.Support(indptr, columns.ravel().astype(np.int64), n)
    layout = dpm.Layout.square(states, support)
    values = (rng.pareto(1.2, layout.cells.n_cells) * (rng.random(layout.cells.n_cells) < 0.1) * 20).astype(
        int
    )
    counts = dpm.TransitionCounts(layout, values)
    start, cpu = time.perf_counter(), time.process_time()
    release = dpm.release(counts, unit=UNIT, budget=BUDGET)
    with tempfile.TemporaryDirectory() as folder:
        release.save(f"{folder}/release")
        wall, used = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{n:,} states, {layout.cells.n_cells:,} cells: {wall:.1f} s ({used:.1f} s of CPU), "
        f"peak memory {peak:,.0f} MiB, {release.mechanism['name']}",
        flush=True,
    )


def main() -> None:
    """Each size in a process of its own, so that its peak memory is its own."""
    if len(sys.argv) > 1:
        n, per_row = (int(text) for text in sys.argv[1:3])
        run(n, per_row or None)
        return
    for n, per_row in ((263, 0), (2000, 100), (2000, 0)):
        subprocess.run([sys.executable, "-m", "benchmarks.accuracy.speed", str(n), str(per_row)], check=True)


if __name__ == "__main__":
    main()
