"""Two years of trips in a small city: what the chain says, how far to believe it, what changed.

Run it as it is: ``python examples/two_years.py``. The data are made up here; yours come from `dpm.count`.
"""

import tempfile
from pathlib import Path

import numpy as np

import dpmarkov as dpm
from dpmarkov import export

PLACES = dpm.StateSpace(["centre", "station", "harbour", "park", "airport"])
BUDGET = dpm.Budget(epsilon=1, delta=1e-6)

# The first year: most trips pass through the centre. In the second a new line joins station and airport.
FIRST = np.array(
    [
        [900, 2400, 800, 300, 500],
        [2600, 150, 240, 60, 80],
        [850, 260, 90, 40, 10],
        [310, 50, 45, 30, 5],
        [520, 70, 15, 5, 3],
    ]
)
SECOND = FIRST.copy()
SECOND[1, 4] += 600
SECOND[4, 1] += 550

years = []
for trips in (FIRST, SECOND):
    counts = dpm.TransitionCounts.from_matrix(trips, layout=dpm.Layout.square(PLACES))
    years.append(dpm.release(counts, unit=dpm.Event(), budget=BUDGET))
before, after = years

print(after.headline(), end="\n\n")
print(after.uncertainty("stationary_distribution"), end="\n\n")
trips_to_airport = after.uncertainty(lambda chain: chain.hitting_times("airport"), draws=300)
for place, low, high in zip(PLACES, trips_to_airport.low, trips_to_airport.high, strict=True):
    print(f"from the {place}: {low:.1f} to {high:.1f} trips until the airport")

print("\nWhat changed")
print(dpm.compare(before, after))

folder = Path(tempfile.mkdtemp())
path = export.write_synthetic(after, folder / "synthetic.parquet", users=1000, length=10)
print(f"\n1,000 made-up travellers: {path}")
print(after.citation)
