"""The table itself: its invariants, and the order of its variables."""

import numpy as np
import pytest

from f2sl import DataError
from tables import table_of_codes


def test_counts_and_code_type():
    table = table_of_codes(("a", "b"), (("no", "yes"), (1, 2, 3)), np.array([[0, 1, 1], [2, 2, 0]]))
    assert (table.n_variables, table.n_rows) == (2, 3)
    assert table.cardinalities.dtype == np.int64
    assert table.cardinalities.tolist() == [2, 3]
    assert table.codes.dtype == np.uint8
    assert table.codes.flags.c_contiguous
    assert repr(table) == "Table(2 discrete columns, 3 rows, in memory)"


@pytest.mark.parametrize(("n_states", "expected"), [(256, np.uint8), (257, np.uint16)])
def test_codes_are_as_narrow_as_the_states_allow(n_states, expected):
    table = table_of_codes(("a",), (tuple(range(n_states)),), np.array([[0, n_states - 1]]))
    assert table.codes.dtype == expected
    assert table.codes[0, 1] == n_states - 1


def test_name_order_moves_states_and_codes_along():
    table = table_of_codes(
        ("b", "B", "a"), ((0, 1), ("x",), (True, False)), np.array([[0, 1], [0, 0], [1, 0]]), ("n",)
    )
    ordered = table.in_name_order()
    assert ordered.names == ("B", "a", "b")
    assert ordered.states == (("x",), (True, False), (0, 1))
    assert ordered.codes.tolist() == [[0, 0], [1, 0], [0, 1]]
    assert ordered.notes == ("n",)
    assert ordered.in_name_order() is ordered


@pytest.mark.parametrize(
    ("names", "states", "codes", "message"),
    [
        (("a",), ((0, 1),), [[0, 2]], "'a'"),
        (("a",), ((0, 1),), [[0, -1]], "'a'"),
        (("a", "a"), ((0,), (0,)), [[0], [0]], "differ"),
        (("a",), ((0,),), [[0.0]], "float64"),
    ],
)
def test_a_malformed_table_is_refused(names, states, codes, message):
    with pytest.raises(DataError, match=message):
        table_of_codes(names, states, np.array(codes))


def test_more_states_than_a_code_can_hold_are_refused():
    with pytest.raises(DataError, match="65,537"):
        table_of_codes(("a",), (tuple(range(65_537)),), np.array([[0]]))
