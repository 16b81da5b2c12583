"""Made-up files under the names that README and docs use."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from dpmarkov.demo import make_city

__all__ = ["write_files"]


def write_files(folder: Path) -> None:
    """Every file that a page reads; nothing in them is anybody's."""
    rng = np.random.default_rng(1)
    zones, trips = make_city(folder)
    names = [line.split(",") for line in zones.read_text().splitlines()[1:]]
    zones.write_text("LocationID,Zone\n" + "".join(f"{zone},{name}\n" for zone, name in names))
    table = pq.read_table(trips).slice(0, 60_000)
    hours = rng.integers(0, 24, table.num_rows)
    times = np.datetime64("2026-01-01", "s") + rng.integers(0, 86_400 * 30, table.num_rows)
    columns = {
        "pickup": table["pickup"],
        "dropoff": table["dropoff"],
        "pickup_zone": table["pickup"],
        "dropoff_zone": table["dropoff"],
        "rider": pa.array(rng.integers(0, 9000, table.num_rows)),
        "hour": pa.array(hours),
        "pickup_datetime": pa.array(times),
    }
    pq.write_table(pa.table(columns), trips)
    pc.write_csv(pa.table({"grade": rng.choice(list("ABCDF"), 400)}), folder / "grades.csv")
    pages = ["home", "news", "sport", "shop"]
    (folder / "pages.csv").write_text("page\n" + "\n".join(pages) + "\n")
    n_views = 12_000
    views = {
        "user": pa.array(rng.integers(0, 2000, n_views)),
        "time": pa.array(rng.permutation(n_views)),
        "pos": pa.array(rng.permutation(n_views)),
        "page": pa.array(rng.choice(pages, n_views)),
    }
    pq.write_table(pa.table(views), folder / "views.parquet")
    for name, people in (("cohort", 20), ("person", 1)):
        nights: dict[str, list[object]] = {"who": [], "epoch": [], "stage": []}
        for person in range(people):
            stage = 0
            for epoch in range(1000):
                stage = stage if rng.random() < 0.85 else int(rng.integers(0, 5))
                for column, value in (("who", person), ("epoch", epoch), ("stage", stage)):
                    nights[column].append(value)
        pq.write_table(pa.table(nights), folder / f"{name}.parquet")
    features = [
        {
            "properties": {"zone": int(z)},
            "geometry": {"type": "Point", "coordinates": [int(z) % 10, int(z) // 10]},
        }
        for z, _ in names
    ]
    (folder / "zones.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
