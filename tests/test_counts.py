"""Counts made of arrays: no type of number makes a count wrap, and no negative one becomes zero."""

import numpy as np
import pytest
from scipy import sparse

from dpmarkov.counts import COUNT_LIMIT, TransitionCounts
from dpmarkov.errors import InputError, ParameterError
from dpmarkov.layout import Layout
from dpmarkov.states import StateSpace

SQUARE = Layout.square(StateSpace(["a", "b"]))
INTEGERS = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_integer_type_is_held_at_the_limit(dtype):
    top = np.iinfo(dtype).max
    held = min(int(top), COUNT_LIMIT)
    dense = np.array([[top, 0], [1, 2]], dtype=dtype)
    assert TransitionCounts.from_matrix(dense, layout=SQUARE).values.tolist() == [held, 0, 1, 2]
    assert TransitionCounts(SQUARE, dense.ravel()).values.tolist() == [held, 0, 1, 2]


@pytest.mark.parametrize("dtype", [*INTEGERS, np.float32, np.float64, np.longdouble])
def test_entries_of_one_cell_add_up_and_never_wrap(dtype):
    top = np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else np.finfo(dtype).max
    half = top // 2 + 1
    entries = np.array([half, half, 1, 3], dtype=dtype)
    matrix = sparse.coo_array((entries, ([0, 0, 0, 1], [0, 0, 0, 1])), shape=(2, 2))
    held = min(2 * min(int(half), COUNT_LIMIT) + 1, COUNT_LIMIT)
    assert TransitionCounts.from_matrix(matrix, layout=SQUARE).values.tolist() == [held, 0, 0, 3]


def test_wrong_entries_are_refused():
    for matrix in ([[-1, 0], [0, 0]], [[0.5, 0], [0, 0]], [[np.nan, 0], [0, 0]], [[np.inf, 0], [0, 0]]):
        for made in (np.array(matrix), sparse.csr_array(np.array(matrix))):
            with pytest.raises(ParameterError, match="whole numbers >= 0"):
                TransitionCounts.from_matrix(made, layout=SQUARE)
    # An entry that would cancel another of its cell is wrong, too.
    pair = sparse.coo_array((np.array([2, -1]), ([0, 0], [0, 0])), shape=(2, 2))
    with pytest.raises(ParameterError, match="whole numbers >= 0"):
        TransitionCounts.from_matrix(pair, layout=SQUARE)
    with pytest.raises(InputError, match="counts must be >= 0"):
        TransitionCounts(SQUARE, np.array([-1, 0, 0, 0]))


def test_sums_stop_at_the_limit():
    full = TransitionCounts(SQUARE, np.full(4, COUNT_LIMIT))
    assert (full + full).values.tolist() == [COUNT_LIMIT] * 4
