"""A realistic city of your own: 60 zones and 300,000 trips by a gravity model, the same each time."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpmarkov.entropy import Entropy

__all__ = ["N_TRIPS", "N_ZONES", "make_city"]

N_ZONES = 60
N_TRIPS = 300_000
_SEED = 60
_REACH = 0.18

_FIRST = ("North", "South", "East", "West", "Old", "New", "Upper", "Lower", "Port", "Mill")
_SECOND = ("Market", "Harbour", "Park", "Station", "Hill", "Bridge")


def make_city(folder: Path) -> tuple[Path, Path]:
    """Write `zones.csv` (public) and `trips.parquet` (made up, and treated as sensitive) into `folder`.

    Zones have a place and a popularity with a heavy tail; a trip from a to b is the likelier the more popular
    b is and the closer it lies: popularity(b) exp(-distance / reach).
    """
    rng = Entropy.seeded(_SEED).generator("city")
    place = rng.random((N_ZONES, 2))
    popularity = rng.pareto(1.5, N_ZONES) + 0.2
    distance = np.hypot(*(place[:, None, :] - place[None, :, :]).transpose(2, 0, 1))
    pull = popularity[None, :] * np.exp(-distance / _REACH)
    np.fill_diagonal(pull, 0.1 * pull.max(axis=1))
    row_share = popularity / popularity.sum()
    flows = row_share[:, None] * pull / pull.sum(axis=1, keepdims=True)
    cell = rng.choice(flows.size, size=N_TRIPS, p=flows.ravel() / flows.sum())
    zone = np.arange(1, N_ZONES + 1)
    folder.mkdir(parents=True, exist_ok=True)
    zones, trips = folder / "zones.csv", folder / "trips.parquet"
    with zones.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["zone", "name"])
        names = [f"{first} {second}" for second in _SECOND for first in _FIRST]
        writer.writerows(zip(zone.tolist(), names, strict=True))
    table = pa.table({"pickup": zone[cell // N_ZONES], "dropoff": zone[cell % N_ZONES]})
    pq.write_table(table, trips)
    return zones, trips
