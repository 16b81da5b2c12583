"""The taxi chain of Benvenuti et al.: zones combined by a public rule, or by the data."""

from pathlib import Path

import duckdb
import numpy as np

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "nyc-taxi"

NEIGHBOURHOODS: dict[str, tuple[int, ...]] = {
    "Financial District, Battery Park": (12, 13, 87, 88, 209, 261),
    "TriBeCa, Chinatown, SoHo": (45, 125, 144, 211, 231),
    "Lower East Side": (4, 148, 232),
    "Greenwich Village, West Village": (113, 114, 158, 249),
    "East Village, Gramercy, Union Sq": (79, 107, 137, 224, 234),
    "Chelsea, Hudson Yards, Flatiron": (68, 90, 186, 246),
    "Clinton, Times Sq": (48, 50, 100, 230),
    "Midtown": (161, 162, 163, 164),
    "Murray Hill, Turtle Bay": (170, 229, 233),
    "Upper East Side": (140, 141, 202, 236, 237, 262, 263),
    "Upper West Side": (24, 142, 143, 151, 238, 239),
    "Central Park": (43,),
    "East Harlem": (74, 75, 194),
    "Central Harlem, Morningside": (41, 42, 116, 152, 166),
    "Washington Heights, Inwood": (120, 127, 128, 153, 243, 244),
}
"""A public rule, written down from a map before any trip was counted, without the islands."""


def trips() -> tuple[list[int], np.ndarray]:
    """Trips between Manhattan zones, islands left out."""
    zones = sorted(zone for group in NEIGHBOURHOODS.values() for zone in group)
    place = {zone: at for at, zone in enumerate(zones)}
    counts = np.zeros((len(zones), len(zones)), dtype=np.int64)
    query = f"SELECT pickup_zone, dropoff_zone, count(*) FROM '{DATA}/trips.parquet' GROUP BY ALL"
    for a, b, times in duckdb.connect().execute(query).fetchall():
        if a in place and b in place:
            counts[place[a], place[b]] = times
    return zones, counts


def public_chain() -> tuple[list[str], np.ndarray]:
    """Counts between neighbourhoods: the public rule."""
    zones, counts = trips()
    which = np.array([next(i for i, g in enumerate(NEIGHBOURHOODS.values()) if z in g) for z in zones])
    return list(NEIGHBOURHOODS), merged(counts, which)


def merged(counts: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Counts after zone i became part of group which[i]."""
    member = np.eye(which.max() + 1, dtype=np.int64)[which]
    return np.asarray(member.T @ counts @ member)


def combined_by_the_data(n_zones: int) -> np.ndarray:
    """Counts between n groups: the zone with the fewest trips joins the group it exchanges most trips with.

    *Not private*: the paper's kind of rule. Which zones are joined is read off the trips.
    """
    _, counts = trips()
    while len(counts) > n_zones:
        both = counts + counts.T
        smallest = int(both.sum(axis=1).argmin())
        ties = both[smallest].copy()
        ties[smallest] = -1
        partner = int(ties.argmax())
        which = np.arange(len(counts))
        which[smallest] = partner
        _, which = np.unique(which, return_inverse=True)
        counts = merged(counts, which)
    return counts
