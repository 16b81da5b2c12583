"""Releases to look at: a city, hostile names, and chains that do not settle."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from report_cases import HOSTILE, release_of

import dpmarkov as dpm
from dpmarkov.demo import make_city


@pytest.fixture(scope="session")
def city(tmp_path_factory: pytest.TempPathFactory) -> dpm.Release:
    zones, trips = make_city(tmp_path_factory.mktemp("city"))
    states = dpm.StateSpace.read(zones, column="zone", label="name")
    table = pq.read_table(trips)
    counts = np.zeros((len(states), len(states)), np.int64)
    np.add.at(counts, (table["pickup"].to_numpy() - 1, table["dropoff"].to_numpy() - 1), 1)
    return release_of(counts, states)


@pytest.fixture(scope="session")
def noisy(city: dpm.Release) -> dpm.Release:
    """A city of half the zones whose noisy counts are in the release; a pure guarantee."""
    counts = np.round(1000 * city.transition_matrix[:30, :30]).astype(np.int64)
    return release_of(counts, dpm.StateSpace(city.layout.target.labels[:30]), "laplace")


@pytest.fixture(scope="session")
def many() -> dpm.Release:
    rng = np.random.default_rng(0)
    return release_of(rng.poisson(30, (263, 263)) + 3)


@pytest.fixture(scope="session")
def hostile() -> dpm.Release:
    return release_of(np.full((len(HOSTILE),) * 2, 500), dpm.StateSpace(HOSTILE))


@pytest.fixture(scope="session")
def places() -> dict[str, object]:
    """A GeoJSON with an area for the states 0-3 and a point for state 4, and one that is no state."""

    def area(k: int) -> list[object]:
        return [[[k, 50], [k + 1, 50], [k + 1, 51], [k, 51], [k, 50]]]

    features: list[dict[str, object]] = [
        {"id": k, "properties": {"zone": k}, "geometry": {"type": "Polygon", "coordinates": area(k)}}
        for k in range(3)
    ]
    both = {"type": "MultiPolygon", "coordinates": [area(3), area(5)]}
    features.append({"id": 3, "properties": {"zone": 3}, "geometry": both})
    point = {"type": "Point", "coordinates": [4.5, 50.5]}
    features.append({"id": 4, "properties": {"zone": 4}, "geometry": point})
    features.append({"id": "elsewhere", "properties": None, "geometry": point})
    return {"type": "FeatureCollection", "features": features}


@pytest.fixture(scope="session")
def report_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")
