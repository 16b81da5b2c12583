"""The data sets of the comparison."""

from collections.abc import Callable
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt

import dpmarkov as dpm
from benchmarks.data import SHARED, taxi_40, taxi_65

Matrix = npt.NDArray[np.int64]


@dataclass(frozen=True)
class DataSet:
    """Counts, and how many repetitions one round has."""

    name: str
    matrix: Matrix
    repeats: int
    is_chain: bool

    @property
    def layout(self) -> dpm.Layout:
        """The public shape."""
        target = dpm.StateSpace.range(0, self.matrix.shape[1])
        return dpm.Layout(target=target, source=target if self.matrix.shape[0] > 1 else None)


def taxi_263() -> Matrix:
    """All pairs of the 263 zones that are on the map (zones 264 and 265 stand for 'unknown')."""
    matrix = np.zeros((263, 263), dtype=np.int64)
    query = f"SELECT pickup_zone, dropoff_zone, count(*) FROM '{SHARED}/nyc-taxi/trips.parquet' GROUP BY ALL"
    for a, b, n in duckdb.sql(query).fetchall():
        if a is not None and b is not None and 1 <= a <= 263 and 1 <= b <= 263:
            matrix[a - 1, b - 1] = n
    return matrix


def msnbc() -> Matrix:
    """Transitions between the 17 kinds of pages."""
    query = f"""
        SELECT a, b, count(*) FROM (
            SELECT page AS a, lead(page) OVER (PARTITION BY "user" ORDER BY pos) AS b
            FROM '{SHARED}/msnbc/views.parquet') WHERE b IS NOT NULL GROUP BY ALL
    """
    rows = duckdb.sql(query).fetchall()
    pages = sorted({row[0] for row in rows} | {row[1] for row in rows})
    at = {page: i for i, page in enumerate(pages)}
    matrix = np.zeros((len(pages), len(pages)), dtype=np.int64)
    for a, b, n in rows:
        matrix[at[a], at[b]] = n
    return matrix


USER_EVENTS = 20
"""Events of a user that count, for the unit `user`."""


def msnbc_by_user() -> Matrix:
    """The same with at most 20 transitions of each user, chosen by a keyed hash."""
    states = dpm.StateSpace.range(1, 18)
    views = f"{SHARED}/msnbc/views.parquet"
    counts = dpm.count(
        views, user="user", time="pos", state="page", states=states, max_events=USER_EVENTS, seed=1
    )
    return counts.matrix()


def network(n: int, events: int = 300_000, seed: int = 5) -> Matrix:
    """A sparse network: places on a plane, four near neighbours and two far ones, heavy-tailed traffic."""
    rng = np.random.default_rng(seed)
    popularity = rng.pareto(1.2, n) + 0.05
    place = rng.random((n, 2))
    distance = np.linalg.norm(place[:, None] - place[None], axis=2)
    flow = np.zeros((n, n))
    for i in range(n):
        near = np.argsort(distance[i])[1:5]
        far = rng.choice(n, 2, p=popularity / popularity.sum())
        for j in near:
            flow[i, j] += popularity[j] * rng.pareto(1.5)
            flow[j, i] += popularity[i] * rng.pareto(1.5)
        for j in far:
            if j != i:
                flow[i, j] += 0.3 * popularity[j] * rng.pareto(1.5)
    chain = flow / flow.sum(axis=1, keepdims=True)
    mixed = 0.99 * chain + 0.01 / n
    share = np.full(n, 1 / n)
    for _ in range(3000):
        share = share @ mixed
    counts = rng.poisson(events * share[:, None] * chain)
    for i in np.flatnonzero(counts.sum(axis=1) == 0):
        counts[i, np.argsort(distance[i])[1]] += 1
    return counts.astype(np.int64)


def grades() -> Matrix:
    """98 grades in five classes, the least share .07, as in Benvenuti et al.'s first example (made up)."""
    return np.array([[31, 28, 20, 12, 7]])


DATASETS: dict[str, tuple[Callable[[], Matrix], int, bool]] = {
    "taxi-40": (lambda: taxi_40()[1], 200, True),
    "taxi-65": (lambda: taxi_65()[1], 25, True),
    "taxi-263": (taxi_263, 3, False),
    "msnbc": (msnbc, 200, True),
    "msnbc-users": (msnbc_by_user, 200, True),
    "network-200": (lambda: network(200), 6, True),
    "network-500": (lambda: network(500), 3, True),
    "grades": (grades, 600, False),
}


def load(name: str, share: float) -> DataSet:
    """A data set, with that share of its repetitions in a round."""
    make, repeats, is_chain = DATASETS[name]
    return DataSet(name=name, matrix=make(), repeats=max(3, round(repeats * share)), is_chain=is_chain)
