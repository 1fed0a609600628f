"""Tables of real numbers: what is taken for one, from whatever it comes, and what is refused."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import f2sl
from f2sl.reading import DiscreteTable, NumericTable, as_either, as_numeric, as_table, kind_of

FRAME = pd.DataFrame({"b": [0.5, -1.25, 3.0], "a": [7, 5, 7]})


def refused(call, *words):
    with pytest.raises(f2sl.F2SLError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


class TestReading:
    @pytest.mark.parametrize(
        "data",
        [
            FRAME,
            pl.from_pandas(FRAME),
            pa.Table.from_pandas(FRAME),
            {"b": [0.5, -1.25, 3.0], "a": [7, 5, 7]},
            {"b": np.array([0.5, -1.25, 3.0], np.float32), "a": pl.Series([7, 5, 7])},
            {"b": [decimal.Decimal(x) for x in ("0.5", "-1.25", "3")], "a": pa.array([7, 5, 7])},
        ],
        ids=["pandas", "polars", "arrow", "lists", "mixture", "decimals"],
    )
    def test_whatever_it_comes_in(self, data):
        table = as_numeric(data)
        assert table.names == ("b", "a")
        assert table.values.tolist() == [[0.5, -1.25, 3.0], [7.0, 5.0, 7.0]]
        assert kind_of(data) == "gaussian"

    def test_arrays_and_files(self, tmp_path):
        array = FRAME.to_numpy()
        assert as_numeric(array, names=["b", "a"]).values.tolist() == array.T.tolist()
        assert as_numeric(array).names == ("x0", "x1")
        FRAME.to_csv(tmp_path / "t.csv", index=False)
        assert as_numeric(tmp_path / "t.csv").values.tolist() == array.T.tolist()

    def test_name_order(self):
        table = as_numeric(FRAME).in_name_order()
        assert table.names == ("a", "b")
        assert table.values.tolist() == [[7, 5, 7], [0.5, -1.25, 3.0]]
        assert table.in_name_order() is table

    def test_a_table_is_itself_and_can_still_be_cut(self):
        table = as_numeric(FRAME)
        assert as_numeric(table) is table
        assert as_table(table, bins=2).n_variables == 2
        refused(lambda: as_numeric(table, names=["x", "y"]), "names cannot be changed")

    def test_missing_values(self):
        gaps = FRAME.assign(b=[0.5, np.nan, 3.0])
        refused(lambda: as_numeric(gaps), "'b' (1 of 3 rows)", 'missing="drop"')
        table = as_numeric(gaps.assign(a=[7, 5, 9]), missing="drop")
        assert table.values.tolist() == [[0.5, 3.0], [7.0, 9.0]]
        assert table.notes == ("dropped 1 of 3 rows with missing values",)
        refused(lambda: as_numeric(gaps, missing="state"), "state", "drop")
        refused(lambda: as_numeric(gaps, missing="omit"), "'omit'", "error, drop")
        refused(lambda: as_numeric(gaps[1:], missing="drop"), "would drop 1 of 2 rows", "at least 2")

    def test_whole_floats_with_gaps_are_numbers_too(self):
        table = as_numeric({"a": [1.0, np.nan, 3.0], "b": [0.5, 0.6, 0.7]}, missing="drop")
        assert table.values.tolist() == [[1.0, 3.0], [0.5, 0.7]]


class TestRefusals:
    @pytest.mark.parametrize(
        ("column", "words"),
        [
            (["x", "y", "z"], ["labels are no real numbers", "bins=5"]),
            ([True, False, True], ["labels are no real numbers"]),
            ([1.0, np.inf, 2.0], ["infinity"]),
            ([1.0, -np.inf, np.nan], ["missing"]),
            ([4.0, 4.0, 4.0], ["(4)", "same number in every row"]),
            ([3, 3, 3], ["same number in every row"]),
            ([1e300, -1e300, 0.0], ["too far apart"]),
            ([1.7e308, -1.7e308, 0.0], ["too far apart"]),
            ([1e-300, 2e-300, 0.0], ["too close together"]),
            (pd.to_datetime(["2020-01-01"] * 3), ["dates and times"]),
        ],
    )
    def test_columns_by_name(self, column, words):
        refused(lambda: as_numeric({"fine": [0.1, 0.2, 0.4], "bad": column}), "'bad'", *words)

    def test_all_at_once(self):
        data = {"a": [np.inf, 0.0], "b": ["x", "y"], "c": [1.0, 1.0], "d": [0.1, 0.2]}
        refused(lambda: as_numeric(data), "'a'", "'b'", "'c'")

    def test_sizes(self):
        refused(lambda: as_numeric(np.zeros((1, 3))), "1 sample", "minimum of 2")
        refused(lambda: as_numeric(np.zeros((0, 3))), "no rows")
        refused(lambda: as_numeric(np.array([[0.1], [0.2]]), min_variables=2), "one column only")

    def test_a_discrete_table(self):
        refused(lambda: as_numeric(as_table({"a": [0, 1]})), "DiscreteTable")

    def test_a_table_made_by_hand(self):
        refused(lambda: NumericTable(("a",), np.array([[np.nan, 1.0]])), "'a'", "not finite")
        refused(lambda: NumericTable(("a", "a"), np.zeros((2, 2))), "differ")
        refused(lambda: NumericTable(("a",), np.zeros((2, 2))), "1 names", "(2, 2)")


class TestKinds:
    @pytest.mark.parametrize(
        ("data", "kind"),
        [
            ({"a": [0.5, 1.5], "b": [1, 2]}, "gaussian"),
            ({"a": [1, 2], "b": ["x", "y"]}, "discrete"),
            ({"a": [1.0, 2.0], "b": [1, 2]}, "whole"),
            ({"a": [1.0, np.nan], "b": [1, 2]}, "discrete"),
            ([[0.5, 1], [0.7, 2]], "gaussian"),
            (np.array([[0, 1], [1, 1]]), "discrete"),
            (np.array([[0.0, 1.0], [1.0, 1.0]]), "whole"),
            (pd.DataFrame({"a": pd.Categorical([0.5, 0.7]), "b": [1, 2]}), "discrete"),
            (as_table({"a": [1, 2]}), "discrete"),
            (as_numeric({"a": [1, 2]}), "gaussian"),
        ],
    )
    def test_by_columns(self, data, kind):
        assert kind_of(data) == kind

    def test_mixed_is_refused_with_bins_offered(self):
        data = {"a": [0.5, 1.5], "b": ["x", "y"], "c": [1, 2]}
        refused(lambda: kind_of(data), "'a' holds real numbers", "'b' holds states", "bins=5", "--bins 5")
        assert kind_of(data, bins=2) == kind_of(data, bins={"a": 2}) == "discrete"
        some = {"a": [0.5, 1.5], "d": [0.1, 0.2]}
        refused(lambda: kind_of(some, bins={"a": 2}), "'d' holds real numbers", "'a' holds states")

    def test_either_is_read_as_what_it_is(self):
        numbers = as_either(FRAME)
        assert isinstance(numbers, NumericTable)
        assert numbers.notes == ("all 2 columns read as real numbers (bins= would cut them into states)",)
        assert isinstance(as_either(FRAME, bins=2), DiscreteTable)
        assert isinstance(as_either({"a": [0, 1], "b": ["x", "y"]}), DiscreteTable)
        assert as_either({"a": [0, 1]}, "gaussian").values.tolist() == [[0.0, 1.0]]
        refused(lambda: as_either(FRAME, "discrete"), "'b'", "real numbers are no states")
        refused(lambda: as_either(FRAME, "gaussian", bins=3), "bins")
        refused(lambda: as_either(FRAME, "normal"), "'normal'", "auto, discrete, gaussian")

    def test_whole_floats_are_refused_unless_told_otherwise(self):
        data = np.array([[0.0, 1.0], [1.0, 2.0]])
        refused(lambda: as_either(data), "whole numbers stored as floats")
        assert isinstance(as_either(data, whole="gaussian"), NumericTable)

    def test_floats_too_large_for_fractions_are_real_numbers(self):
        assert isinstance(as_either(np.array([[0.5, 1.5], [1.2, 2.1]]) * 1e40), NumericTable)
        refused(lambda: as_either({"a": [0.0, 1.0, np.inf], "b": [1.0, 0.0, 1.0]}), "'a'", "infinity")

    def test_codes_as_numbers(self):
        table = as_table({"b": ["y", "x", "y"], "a": [5, 9, 5]})
        assert NumericTable.from_codes(table).values.tolist() == [[1, 0, 1], [0, 1, 0]]
