"""Cutting numbers into intervals."""

import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2sl import DataError, OptionError, open_table
from f2sl.data.binning import cut

as_table = partial(open_table, kinds="discrete")

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
numbers = st.one_of(
    st.lists(finite, min_size=1, max_size=40).map(lambda v: np.array(v, dtype=np.float64)),
    st.lists(st.sampled_from([0.0, 0.25, 1.0, 1e-9]), min_size=1, max_size=40).map(np.array),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40).map(
        lambda v: np.array(v, dtype=np.int64)
    ),
)
kinds = st.sampled_from(["quantile", "width"])


def ends(label):
    low, high, bracket = re.fullmatch(r"\[(\S+), (\S+)([)\]])", label).groups()
    return low, high, bracket


@given(numbers, st.integers(2, 8), kinds)
def test_bins_are_ordered_full_and_true_to_their_labels(values, k, kind):
    codes, labels = cut(values, k, kind)
    assert 1 <= len(labels) <= k
    assert len(set(labels)) == len(labels)
    assert set(codes.tolist()) == set(range(len(labels)))
    order = np.argsort(values, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    number = int if values.dtype.kind == "i" else float
    for value, code in zip(values.tolist(), codes.tolist(), strict=True):
        low, high, bracket = ends(labels[code])
        assert number(low) <= value
        assert value < number(high) if bracket == ")" else value <= number(high)


@given(numbers, st.integers(2, 8), kinds, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_decides_nothing(values, k, kind, random):
    order = list(range(len(values)))
    random.shuffle(order)
    codes, labels = cut(values, k, kind)
    shuffled, same_labels = cut(values[order], k, kind)
    assert same_labels == labels
    assert shuffled.tolist() == codes[order].tolist()


@given(st.sets(st.integers(-(10**6), 10**6), min_size=1, max_size=60), st.integers(2, 8))
def test_without_ties_equal_frequency_bins_differ_by_one_row_at_most(values, k):
    codes, labels = cut(np.array(sorted(values)), k, "quantile")
    sizes = np.bincount(codes)
    assert len(labels) == min(k, len(values))
    assert sizes.max() - sizes.min() <= 1


def test_ties_stay_together_and_the_cut_moves_to_the_nearest_place():
    # Ten rows, wanted: a cut after five. The places for one are after 4 rows and after 8: 4 is nearer.
    codes, labels = cut([1, 1, 1, 1, 2, 2, 2, 2, 3, 3], 2, "quantile")
    assert labels == ("[1, 2)", "[2, 3]")
    assert np.bincount(codes).tolist() == [4, 6]


def test_of_two_places_as_near_the_cut_is_the_lower():
    # Ten rows, wanted: a cut after five. After 4 rows and after 6 are as near.
    codes, labels = cut([1, 1, 1, 1, 2, 2, 3, 3, 3, 3], 2, "quantile")
    assert labels == ("[1, 2)", "[2, 3]")
    assert np.bincount(codes).tolist() == [4, 6]


def test_equal_width_by_hand():
    # From 0 to 9 in thirds: 0-3, 3-6, 6-9; nothing lies in the middle one, so it is no state.
    assert cut([0, 1, 2, 9], 3, "width")[1] == ("[0, 3)", "[6, 9]")
    # From 0 to 10 in thirds: the cuts 3 1/3 and 6 2/3 move up to the integers 4 and 7.
    codes, labels = cut([0, 3, 4, 6, 7, 10], 3, "width")
    assert labels == ("[0, 4)", "[4, 7)", "[7, 10]")
    assert codes.tolist() == [0, 0, 1, 1, 2, 2]


def test_labels_are_short_but_true():
    values = [0.123456789, 0.5000000001, 0.50000000011, 0.98765432109]
    # A cut at 0.5 would not separate the second value from the third: it needs eleven digits.
    assert cut(values, 2, "quantile")[1] == ("[0.123456, 0.50000000011)", "[0.50000000011, 0.987655]")
    assert cut([0.1, 2.5123456, 7.0], 2, "width")[1] == ("[0.1, 3.55)", "[3.55, 7]")


def test_the_largest_floats_do_not_overflow():
    huge = np.finfo(np.float64).max
    codes, labels = cut([-huge, huge], 2, "width")
    assert codes.tolist() == [0, 1]
    assert "inf" not in "".join(labels)


def test_a_cut_that_rounding_moves_to_the_largest_value_stays():
    """No float lies between the two, and the middle is rounded to the upper one."""
    two = 1 + 2.0**-52, 1 + 2.0**-51
    assert sum(two) / 2 == two[1]
    assert cut(two, 2, "width")[0].tolist() == [0, 1]


def test_a_constant_column_has_one_state():
    for kind in ("quantile", "width"):
        assert as_table({"a": [2.5, 2.5], "b": [0, 1]}, bins=4, binning=kind).states[0] == ("[2.5, 2.5]",)


def test_a_number_of_bins_is_for_reals_and_long_integers_only():
    rows = 1_500
    data = {"real": np.linspace(0, 1, rows), "long": np.arange(rows), "short": np.arange(rows) % 5}
    table = as_table(data, bins=3)
    assert table.cardinalities.tolist() == [3, 3, 5]
    assert table.states[1] == ("[0, 500)", "[500, 1000)", "[1000, 1499]")
    assert table.notes == ("columns 'real', 'long': cut into 3 equal-frequency bins",)


def test_a_column_too_long_for_any_code_can_be_cut_and_leaves_its_neighbors_alone():
    rows = np.arange(70_000)
    table = as_table(np.stack([rows % 3, rows, rows % 2], axis=1), bins=4)
    assert table.codes.dtype == np.uint8
    assert np.array_equal(table.codes, [rows % 3, rows // 17_500, rows % 2])


def test_a_dictionary_of_bins_is_for_the_columns_it_names():
    table = as_table(np.array([[0, 0], [1, 1], [2, 2], [3, 3]]), bins={"x1": 2}, binning="width")
    assert table.states == ((0, 1, 2, 3), ("[0, 2)", "[2, 3]"))
    assert "column 'x1': cut into 2 equal-width bins" in table.notes


def test_missing_values_are_outside_all_bins():
    table = as_table({"a": [0.5, None, 1.5, 2.5, 3.5]}, bins=2, missing="state")
    assert table.states == (("[0.5, 2.5)", "[2.5, 3.5]", "<missing>"),)
    assert table.codes.tolist() == [[0, 2, 0, 1, 1]]


@pytest.mark.parametrize("bins", [1, 0, -3, 2.5, "five", True, {"a": 1}, {"a": None}])
def test_bins_must_be_a_number_of_at_least_two(bins):
    with pytest.raises(OptionError, match="bins takes a whole number of at least 2"):
        as_table({"a": [0.5, 1.5]}, bins=bins)


def test_bins_for_a_column_that_is_not_there():
    with pytest.raises(OptionError, match="unknown column 'agee'; did you mean 'age'"):
        as_table({"age": [0.5, 1.5]}, bins={"agee": 2})


def test_bins_for_labels_are_refused():
    with pytest.raises(DataError, match="'a': labels cannot be cut"):
        as_table({"a": ["x", "y"]}, bins={"a": 2})


def test_unknown_binning():
    with pytest.raises(OptionError, match="binning: unknown way to cut 'quantiles'; did you mean 'quantile'"):
        as_table({"a": [0.5, 1.5]}, bins=2, binning="quantiles")


def test_infinity_is_refused_even_with_bins():
    with pytest.raises(DataError, match=r"'a'.*infinite"):
        as_table({"a": [0.5, np.inf]}, bins=2)
