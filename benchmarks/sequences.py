"""Sequences: user-level releases of MSNBC, the time and memory of counting, and the price of keyed bounding.

Run: python -m benchmarks.sequences
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
VIEWS = DATA / "msnbc" / "views.parquet"
TRIPS = DATA / "nyc-taxi" / "trips.parquet"
OUT = Path(__file__).parent / "out"
QUESTION = {"user": "user", "time": "pos", "state": "page"}
BUDGET = (1.0, 1e-6)

COUNT_HERE = """
import dpmarkov as dpm
dpm.count("{path}", user="user", time="pos", state="page", states=range(1, 18){bound})
"""
COUNT_PANDAS = """
import numpy as np, pandas as pd
table = pd.read_parquet("{path}").sort_values(["user", "pos", "page"])
first = table["user"].ne(table["user"].shift())
events = table.assign(source=table["page"].shift().where(~first, 0).astype(int))
if {bound}:
    draw = np.random.default_rng(0).random(len(events))
    events = events.assign(draw=draw).sort_values(["user", "draw"]).groupby("user").head({bound})
events.groupby(["source", "page"]).size()
"""
MEASURE = """
import json, time
{imports}
began = time.perf_counter()
{code}
used = int(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1]) / 1e6
print(json.dumps([time.perf_counter() - began, used]))
"""


def measure(code: str, imports: str) -> tuple[float, float]:
    """Seconds (imports excluded) and peak gigabytes of some code in a process of its own."""
    text = MEASURE.format(code=code, imports=imports)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    seconds, gigabytes = json.loads(done.stdout)
    return seconds, gigabytes


def errors(truth: np.ndarray, counts: np.ndarray, release) -> tuple[float, float]:
    """Total variation: of a row, averaged over events; of the stationary distribution."""
    from dpmarkov.chain import MarkovChain

    exact = truth / truth.sum(axis=1, keepdims=True)
    share = truth.sum(axis=1) / truth.sum()
    row = float(share @ np.abs(exact - release.transition_matrix).sum(axis=1)) / 2
    stationary = np.asarray(MarkovChain(exact).stationary_distribution)
    return row, float(np.abs(stationary - release.stationary_distribution).sum()) / 2


def msnbc() -> None:
    """User-level releases at (1, 1e-6), for several bounds."""
    import dpmarkov as dpm

    states = range(1, 18)
    truth = dpm.count(VIEWS, **QUESTION, states=states).matrix().astype(float)
    budget = dpm.Budget(epsilon=BUDGET[0], delta=BUDGET[1])
    print("MSNBC, 989,818 users, 4,698,794 views; (1, 1e-6), one user; errors in total variation")
    print("  m    c   events kept  row error  of it bound  stationary  mechanism")
    for m, c in ((5, None), (10, None), (20, None), (50, None), (20, 2), (50, 2)):
        unit = dpm.User(max_events=m, max_per_pair=c)
        began = time.perf_counter()
        counts = dpm.count(VIEWS, **QUESTION, states=states, max_events=m, max_per_pair=c)
        release = dpm.release(counts, unit=unit, budget=budget, mechanism="laplace")
        seconds = time.perf_counter() - began
        row, stationary = errors(truth, counts.matrix(), release)
        kept = counts.matrix().astype(float)
        exact = truth / truth.sum(axis=1, keepdims=True)
        cut = kept / kept.sum(axis=1, keepdims=True)
        bias = float(truth.sum(axis=1) / truth.sum() @ np.abs(exact - cut).sum(axis=1)) / 2
        cells = f"{counts.values.sum():>11,}  {row:9.4f}  {bias:11.4f}  {stationary:10.4f}"
        print(f"  {m:<3}  {c or '-'!s:<2}  {cells}  {release.mechanism['name']}, {seconds:.1f} s")


def weighting() -> None:
    """Keeping every (N/m)-th event against weighing each by m/N: the difference of the counts."""
    import duckdb

    import dpmarkov as dpm

    weighted = duckdb.sql(
        f"""WITH steps AS (SELECT "user" AS u, page AS s, lag(page) OVER w AS s0 FROM '{VIEWS}'
        WINDOW w AS (PARTITION BY "user" ORDER BY pos, page)),
        sized AS (SELECT u, COUNT(*) AS n FROM steps GROUP BY u)
        SELECT s0, s, SUM(LEAST(1.0, 10.0 / n)) AS w FROM steps JOIN sized USING (u)
        WHERE s0 IS NOT NULL GROUP BY s0, s"""
    ).fetchall()
    matrix = np.zeros((17, 17))
    for source, target, weight in weighted:
        matrix[source - 1, target - 1] = weight
    kept = dpm.count(VIEWS, **QUESTION, states=range(1, 18), max_events=10).matrix()
    gap = np.abs(kept - matrix)
    print(
        f"\nm = 10, kept against weighted: counts differ by {gap.mean():.1f} (mean), {gap.max():.1f} (most)"
    )
    print("  (the noise of the release has a standard deviation of 14.1 on each)")


def speed() -> None:
    """Seconds and memory, beside pandas."""
    print("\nCounting 4.7 million views: seconds, peak GB (process with imports)")
    for bound in (0, 10):
        here = measure(
            COUNT_HERE.format(path=VIEWS, bound=f", max_events={bound}" if bound else ""),
            "import dpmarkov.events",
        )
        there = measure(COUNT_PANDAS.format(path=VIEWS, bound=bound), "import numpy, pandas")
        print(
            f"  max_events {bound or 'none':>4}: dpmarkov {here[0]:.2f} s, {here[1]:.2f} GB; "
            f"pandas {there[0]:.2f} s, {there[1]:.2f} GB"
        )


def keyed() -> None:
    """Ten million rows: keyed bounding against DuckDB's own unkeyed row_number."""
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    import dpmarkov as dpm

    OUT.mkdir(exist_ok=True)
    path = OUT / "ten_million.parquet"
    if not path.exists():
        rng = np.random.default_rng(0)
        users = rng.zipf(1.3, 10_000_000) % 500_000
        columns = {"user": users.astype(np.int32), "pos": rng.integers(0, 10**6, users.size, dtype=np.int32)}
        columns["page"] = rng.integers(1, 18, users.size, dtype=np.int8)
        pq.write_table(pa.table(columns), path)
    plain = f"""SELECT page, COUNT(*) FROM (SELECT page, row_number() OVER
        (PARTITION BY "user" ORDER BY pos) AS k FROM '{path}') WHERE k <= 10 GROUP BY page"""
    connection = duckdb.connect()

    def seconds(work) -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    # In turns, so that whatever else the machine does falls on all three.
    rounds = np.array(
        [
            (
                seconds(lambda: connection.execute(plain).fetchall()),
                seconds(lambda: dpm.count(path, **QUESTION, states=range(1, 18))),
                seconds(lambda: dpm.count(path, **QUESTION, states=range(1, 18), max_events=10)),
            )
            for _ in range(7)
        ]
    )
    ratios = np.sort(rounds[:, 1:] / rounds[:, :1], axis=0)
    best = rounds.min(axis=0)
    print(f"\n10 million rows, 7 rounds in turns: unkeyed row_number {best[0]:.2f} s at best")
    for name, i in (("without a bound", 0), ("and bounded by key", 1)):
        print(
            f"  sequences counted {name} {best[i + 1]:.2f} s at best: {best[i + 1] / best[0]:.1f} x; "
            f"in the middle round {ratios[3, i]:.1f} x (from {ratios[0, i]:.1f} to {ratios[-1, i]:.1f})"
        )


def taxi_by_hour() -> None:
    """Taxi by hour of day: 24 chains in one release."""
    import dpmarkov as dpm

    zones = dpm.StateSpace.read(DATA / "nyc-taxi" / "zones.csv", column="LocationID", label="Zone")
    began = time.perf_counter()
    counts = dpm.count(
        TRIPS, source="pickup_zone", target="dropoff_zone", states=zones, by="hour", time="pickup_datetime"
    )
    release = dpm.release(
        counts, unit=dpm.Event(), budget=dpm.Budget(epsilon=1, delta=1e-6), mechanism="laplace"
    )
    seconds = time.perf_counter() - began
    print(f"\nTaxi by hour: {counts.layout}, one release in {seconds:.1f} s; {release.guarantee.citation}")


if __name__ == "__main__":
    msnbc()
    weighting()
    speed()
    keyed()
    taxi_by_hour()
