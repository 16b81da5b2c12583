"""State spaces of 100,000 with a declared support stay sparse from the table to the counts."""

import numpy as np
import pyarrow as pa
import pytest

import dpmarkov as dpm
from dpmarkov.errors import StateSpaceError

N = 100_000


def test_a_large_declared_support():
    states = dpm.StateSpace.range(0, N)
    here = np.arange(N, dtype=np.int64)
    pairs = [(int(i), int(j)) for step in (1, 7) for i, j in zip(here, (here + step) % N, strict=True)]
    layout = dpm.Layout.square(states, dpm.Support.from_pairs(states, states, pairs))
    rng = np.random.default_rng(0)
    source = rng.integers(0, N, 200_000)
    target = (source + rng.choice([1, 7, 9], source.size)) % N
    users = rng.integers(0, 500, source.size)
    table = pa.table({"a": source, "b": target, "u": users})
    counts = dpm.count(table, source="a", target="b", layout=layout)
    assert counts.values.size == 2 * N
    assert counts.values.sum() == np.isin((target - source) % N, [1, 7]).sum()
    bounded = dpm.count(table, source="a", target="b", user="u", layout=layout, max_events=100)
    assert bounded.values.sum() == 500 * 100
    release = dpm.release(
        counts, unit=dpm.Event(), budget=dpm.Budget(epsilon=1, delta=1e-6), mechanism="dirichlet"
    )
    assert release.sparse_matrix.nnz == 2 * N
    assert np.all(release.probabilities > 0)
    with pytest.raises(StateSpaceError, match="GiB; use the sparse form"):
        counts.matrix()


def test_weights_bounds_and_a_support_together():
    """What the support rules out uses up nobody's allowance, for events that stand for several too."""
    states = dpm.StateSpace(["A", "B"])
    support = [("A", "B"), ("B", "A")]
    rows = [("u", "A", "B", 3), ("u", "B", "A", 1), ("u", "A", "A", 9), ("v", "A", "B", 1)]
    columns = {name: [row[k] for row in rows] for k, name in enumerate("uabn")}
    options = {"source": "a", "target": "b", "user": "u", "states": states, "support": support}
    for bound, kept in ((4, 5), (3, 4), (1, 2)):
        counts = dpm.count(pa.table(columns), count="n", max_events=bound, **options)
        assert counts.values.sum() == kept
    whole = dpm.count(pa.table(columns), count="n", max_events=100, max_per_pair=2, **options)
    assert whole.matrix().tolist() == [[0, 3], [1, 0]]
