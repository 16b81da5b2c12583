"""Trips of a city, from a table to a page for the board.

A made-up city of 60 zones and 300,000 trips. What is protected is one trip. Run it: python examples/taxi.py
[directory]; it writes the release and the report there (a temporary directory by default).
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import dpmarkov as dpm
from dpmarkov.demo import make_city


def main(folder: Path) -> None:
    zones, trips = make_city(folder)
    states = dpm.StateSpace.read(zones, column="zone", label="name")
    budget = dpm.Budget(epsilon=1, delta=1e-6)

    # Before anything is spent: what accuracy to expect. The number of trips is a public guess.
    layout = dpm.Layout.square(states)
    print(dpm.plan(layout, unit=dpm.Event(), budget=budget, expected_events=300_000).describe(), "\n")

    counts = dpm.count(trips, source="pickup", target="dropoff", states=states)
    release = dpm.release(counts, unit=dpm.Event(), budget=budget, expected_events=300_000)
    print(release.guarantee.describe(), "\n")

    # From here on only the release is read: all this costs no privacy.
    chain = release.chain
    shares = release.uncertainty("stationary_distribution", draws=200)
    print("Where trips end up in the long run:")
    for i in np.argsort(-shares.value)[:5]:
        print(f"  {states.labels[i]:<15} {shares.value[i]:.4f} ± {shares.half_width[i]:.4f}")
    print(f"Mixing time: {chain.mixing_time()} trips. Three trips after {states.labels[0]}:")
    for zone, probability in chain.predict(states.states[0], steps=3, top=3):
        print(f"  {states.label(zone):<15} {probability:.3f}")

    release.save(folder / "release", overwrite=True)
    path = dpm.write_report(release, folder / "report.html", title="Trips in a made-up city", overwrite=True)
    print(f"\nA page for the board: {path}")

    # Known here, because the city is made up: how far the release is from the truth.
    true = counts.matrix() / counts.matrix().sum(axis=1, keepdims=True)
    off = np.abs(release.transition_matrix - true).sum(axis=1) / 2
    weight = counts.matrix().sum(axis=1) / counts.matrix().sum()
    print(f"Mean error of a row (total variation, over trips): {weight @ off:.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="dpmarkov-taxi-")))
