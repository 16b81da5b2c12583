"""The real data sets, as the benchmarks cut them. Read-only; never copied into the project."""

from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt

import dpmarkov as dpm

SHARED = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"

Matrix = npt.NDArray[np.int64]


def taxi_65() -> tuple[dpm.StateSpace, Matrix]:
    """Trips among the Manhattan zones that have both pick-ups and drop-offs.

    *Not private*: which zones those are was read off the data, by the benchmark's choice.
    """
    return _taxi_among(
        """
        SELECT z FROM (SELECT pickup_zone AS z FROM trips INTERSECT SELECT dropoff_zone FROM trips) ORDER BY z
        """
    )


def taxi_40() -> tuple[dpm.StateSpace, Matrix]:
    """Trips among the 40 busiest Manhattan zones, by pick-ups plus drop-offs. *Not private*, as above."""
    return _taxi_among(
        """
        SELECT z FROM (
            SELECT z FROM (SELECT pickup_zone AS z FROM trips UNION ALL SELECT dropoff_zone FROM trips)
            GROUP BY z ORDER BY count(*) DESC, z LIMIT 40
        ) ORDER BY z
        """
    )


def _taxi_among(zones: str) -> tuple[dpm.StateSpace, Matrix]:
    connection = duckdb.connect()
    connection.execute(
        f"""
        CREATE TABLE manhattan AS SELECT LocationID AS z FROM '{SHARED}/nyc-taxi/zones.csv'
            WHERE Borough = 'Manhattan';
        CREATE TABLE trips AS SELECT pickup_zone, dropoff_zone FROM '{SHARED}/nyc-taxi/trips.parquet'
            WHERE pickup_zone IN (FROM manhattan) AND dropoff_zone IN (FROM manhattan)
        """
    )
    chosen = [row[0] for row in connection.execute(zones).fetchall()]
    position = {zone: i for i, zone in enumerate(chosen)}
    matrix = np.zeros((len(chosen), len(chosen)), dtype=np.int64)
    for a, b, n in connection.execute(
        "SELECT pickup_zone, dropoff_zone, count(*) FROM trips GROUP BY ALL"
    ).fetchall():
        if a in position and b in position:
            matrix[position[a], position[b]] = n
    return dpm.StateSpace(chosen), matrix


def counts_of(states: dpm.StateSpace, matrix: Matrix) -> dpm.TransitionCounts:
    """Counts of a chain on `states`."""
    return dpm.TransitionCounts.from_matrix(matrix, layout=dpm.Layout.square(states))
