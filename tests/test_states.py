"""State spaces, supports and layouts: declared, ordered, unique."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmarkov.counts import COUNT_LIMIT, TransitionCounts
from dpmarkov.errors import InputError, ParameterError, StateSpaceError, TableError
from dpmarkov.layout import Layout
from dpmarkov.states import StateSpace
from dpmarkov.support import Support


def test_order_is_kept_and_positions_are_stable() -> None:
    space = StateSpace(["b", "a", "c"], labels={"a": "Alpha"})
    assert list(space) == ["b", "a", "c"]
    assert [space.index(s) for s in space] == [0, 1, 2]
    assert space.labels == ("b", "Alpha", "c")
    assert "a" in space
    assert "z" not in space


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([], "at least two states; got 0"),
        (["only"], "at least two states; got 1"),
        (["a", "b", "a"], "more than once: 'a'"),
        (["a", 1], "mixture"),
        ([1.5, 2.5], "must be a string or an integer"),
        ([True, False], "must be a string or an integer"),
        ("ab", "not one string"),
    ],
)
def test_bad_state_lists_are_refused(states: object, message: str) -> None:
    with pytest.raises(StateSpaceError, match=message):
        StateSpace(states)  # type: ignore[arg-type]


def test_read_from_csv_and_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    csv = tmp_path / "zones.csv"
    csv.write_text('id,name\n3,"Three, the"\n1,One\n2,\n')
    space = StateSpace.read(csv, column="id", label="name")
    assert space.states == (3, 1, 2)
    assert space.labels[:2] == ("Three, the", "One")
    codes = tmp_path / "codes.csv"
    codes.write_text("id\n03\n1\n")
    assert StateSpace.read(codes, column="id").states == ("03", "1")
    table = tmp_path / "zones.parquet"
    pq.write_table(pa.table({"id": [7, 5]}), table)
    assert StateSpace.read(table, column="id").states == (7, 5)
    with pytest.raises(TableError, match="no column 'nope'; it has id, name"):
        StateSpace.read(csv, column="nope")
    with pytest.raises(TableError, match="no such file"):
        StateSpace.read(tmp_path / "absent.csv", column="id")
    holes = tmp_path / "holes.csv"
    holes.write_text("id,x\n1,a\n,b\n")
    with pytest.raises(TableError, match="1 empty values"):
        StateSpace.read(holes, column="id")


@given(st.lists(st.one_of(st.text(max_size=5)), min_size=2, max_size=20, unique=True))
def test_dict_and_pickle_round_trips(states: list[str]) -> None:
    space = StateSpace(states, labels=[f"<{s}>" for s in states])
    assert StateSpace.from_dict(space.to_dict()) == space
    assert pickle.loads(pickle.dumps(space)) == space


def make_support(mask: np.ndarray) -> Support:
    rows, cols = StateSpace.range(0, mask.shape[0]), StateSpace.range(0, mask.shape[1])
    return Support.from_pairs(rows, cols, [(int(i), int(j)) for i, j in np.argwhere(mask)])


@given(st.integers(2, 6), st.integers(2, 6), st.randoms(use_true_random=False))
def test_support_agrees_with_a_dense_mask(n: int, m: int, random: object) -> None:
    mask = np.array([[random.random() < 0.5 for _ in range(m)] for _ in range(n)])  # type: ignore[attr-defined]
    mask[:, 0] = True
    support = make_support(mask)
    assert support.n_cells == mask.sum()
    values = np.arange(1.0, support.n_cells + 1)
    dense = support.dense(values)
    assert np.array_equal(dense != 0, mask)
    assert np.array_equal(support.sparse(values).toarray(), dense)
    assert np.allclose(support.row_sums(values), dense.sum(axis=1))
    rows, columns = (axis.astype(np.int64) for axis in np.indices(mask.shape).reshape(2, -1))
    located = support.locate(rows, columns)
    assert np.array_equal(located >= 0, mask.ravel())
    assert np.array_equal(np.sort(located[located >= 0]), np.arange(support.n_cells))


def test_support_names_rows_that_go_nowhere_and_unknown_states() -> None:
    space = StateSpace(["a", "b", "c"])
    with pytest.raises(StateSpaceError, match=r"1 from-state\(s\) with nowhere to go: 'c'"):
        Support.from_pairs(space, space, [("a", "b"), ("b", "a")])
    with pytest.raises(StateSpaceError, match="'z' is not a declared state"):
        Support.from_pairs(space, space, [("a", "z")])


def test_a_dense_matrix_that_cannot_fit_is_refused_with_its_size() -> None:
    n = 60_000
    support = Support(np.arange(n + 1, dtype=np.int64), np.zeros(n, dtype=np.int64), n)
    with pytest.raises(StateSpaceError, match=r"60,000 x 60,000 cells would take 26\.8 GiB"):
        support.dense(np.zeros(n))


def test_layout_round_trip_with_support_and_rectangle() -> None:
    a, b = StateSpace(["x", "y"]), StateSpace([1, 2, 3])
    support = Support.from_pairs(a, b, [("x", 1), ("x", 3), ("y", 2)])
    layout = Layout(source=a, target=b, support=support)
    assert Layout.from_dict(layout.to_dict()) == layout
    assert not layout.is_chain
    assert Layout.square(b).is_chain
    assert Layout.from_dict(Layout(target=b).to_dict()).source is None


def test_counts_from_matrices_merge_and_saturate() -> None:
    from scipy import sparse

    space = StateSpace.range(0, 3)
    layout = Layout.square(space)
    dense = np.array([[1, 0, 2], [0, 0, 0], [5, 1, 0]])
    counts = TransitionCounts.from_matrix(dense, layout=layout)
    assert np.array_equal(counts.matrix(), dense)
    assert np.array_equal(
        TransitionCounts.from_matrix(sparse.csr_matrix(dense), layout=layout).matrix(), dense
    )
    assert np.array_equal((counts + counts).matrix(), 2 * dense)
    huge = TransitionCounts.from_matrix(dense * 2**40, layout=layout)
    assert huge.values.max() == COUNT_LIMIT
    assert (huge + huge).values.max() == COUNT_LIMIT
    with pytest.raises(ValueError, match="read-only"):
        counts.values[0] = 7
    with pytest.raises(StateSpaceError, match="same states"):
        counts.merge(TransitionCounts.from_matrix(dense, layout=Layout.square(StateSpace.range(1, 4))))
    for bad in (dense - 3, dense + 0.5, dense * np.nan):
        with pytest.raises(ParameterError, match="whole numbers"):
            TransitionCounts.from_matrix(bad, layout=layout)
    with pytest.raises(InputError, match="must be 3 x 3"):
        TransitionCounts.from_matrix(dense[:2], layout=layout)
    assert "5" not in repr(counts)


def test_counts_outside_the_support_are_not_counted() -> None:
    space = StateSpace.range(0, 3)
    support = Support.from_pairs(space, space, [(0, 1), (1, 1), (1, 2), (2, 0)])
    counts = TransitionCounts.from_matrix(np.full((3, 3), 4), layout=Layout.square(space, support))
    assert np.array_equal(counts.matrix(), [[0, 4, 0], [0, 4, 4], [4, 0, 0]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: StateSpace.range(0, 10**11), "range of 100,000,000,000 states is too long"),
        (lambda: StateSpace.range(0, 10**300), r"10\^300 states is too long"),
        (lambda: Support.full(100_000, 100_000), "10,000,000,000 cells.*GiB.*--support"),
        (
            lambda: Layout(
                target=StateSpace.range(0, 10_000),
                source=StateSpace.range(0, 10_000),
                groups=StateSpace.range(0, 24),
            ),
            "24 groups of 10,000 x 10,000 states are 2,400,000,000 cells",
        ),
    ],
)
def test_what_no_memory_holds_is_refused_in_words(make: Callable[[], object], words: str) -> None:
    with pytest.raises(StateSpaceError, match=words):
        make()
