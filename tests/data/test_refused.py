"""Tables that are refused: each message names what is at fault and says what to do."""

import re
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from f2sl import DataError, F2SLError, FileError, OptionError, open_table
from f2sl.data.check import check_learnable

as_table = partial(open_table, kinds="discrete", missing="error")


def refusal(data, error=DataError, **options):
    with pytest.raises(error) as caught:
        as_table(data, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_values_are_counted_with_the_ways_out(make):
    message = refusal(make({"a": ["x", None, None], "b": [1, 2, 3], "c": [None, 1, 2]}), missing="error")
    assert "'a' (2 of 3 rows), 'c' (1 of 3 rows)" in message
    for way in ('missing="state"', 'missing="drop"'):
        assert way in message


def test_only_the_first_columns_are_listed():
    message = refusal({f"c{i:02d}": ["x", None] for i in range(13)})
    assert "'c09' (1 of 2 rows) ... and 3 more" in message
    assert "'c10'" not in message


def test_all_troubles_are_told_at_once():
    message = refusal(
        {
            "gap": ["x", None],
            "mix": [1, "x"],
            "float beside text": [1.5, "x"],
            "inf": [0.5, np.inf],
            "list": [[1], [2]],
            "complex": np.array([1j, 2]),
        },
        missing="error",
    )
    for name in ("gap", "mix", "inf", "list", "complex"):
        assert repr(name) in message
    assert "'mix' (int and str), 'float beside text' (float and str)" in message
    assert "infinite" in message
    assert "Complex data not supported" in message


def test_long_integers():
    rows = np.arange(70_000)
    assert as_table({"id": rows[:65_536]}).cardinalities.tolist() == [65_536]
    for data in ({"id": rows}, np.stack([rows, rows % 2], axis=1), pd.DataFrame({"id": rows})):
        assert "(70,000): too many states" in refusal(data)
        assert open_table(data, kinds="continuous").kinds[0] == "continuous"


def test_too_many_strings():
    values = [f"v{i}" for i in range(65_537)]
    table = as_table({"key": values[:65_536]})
    assert table.codes.dtype == np.uint16
    assert table.cardinalities.tolist() == [65_536]
    assert "column 'key' (65,537): too many states" in refusal({"key": values})
    # The state for missing values is one too many.
    assert "column 'key' (65,537)" in refusal({"key": [*values[:65_536], None]}, missing="state")


def test_integers_beyond_64_bits():
    assert "column 'big': integers of more than 64 bits" in refusal({"big": [2**70, 1]})


def test_nothing_left_after_dropping():
    assert "would drop 2 of 2 rows" in refusal({"a": [None, "x"], "b": [1, None]}, missing="drop")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"header": "no"}, "header must be True or False, not 'no'"),
        ({"binning": ["width"]}, "binning: unknown way to cut ['width']; did you mean 'width'?"),
        (
            {"bins": 1, "header": 0},
            'bins takes a whole number of at least 2, or "auto", got 1; header must be True or False, not 0',
        ),
    ],
)
def test_options_of_other_types(options, told):
    assert refusal({"a": ["x", "y"]}, OptionError, **options).startswith(told)


def test_names_beside_an_open_table():
    table = as_table({"a": ["x", "y"]})
    for names in (np.array(["b"]), ["b"]):
        assert refusal(table, OptionError, kinds="auto", missing="available", names=names).startswith(
            "names: these options cannot change a table"
        )


def test_unknown_way_with_missing_values():
    message = refusal({"a": [1]}, OptionError, missing="drops")
    assert "'drops'" in message
    assert "available, state, drop, error" in message


class TestNames:
    @pytest.mark.parametrize(
        "data",
        [
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            pa.table([[1], [2]], names=["a", "a"]),
        ],
    )
    def test_repeated(self, data):
        assert "'a' occurs 2 times" in refusal(data)

    def test_repeated_once_they_are_strings(self):
        assert "'1' occurs 2 times (names that are not strings" in refusal({1: [1], "1": [2]})
        assert "'1' occurs 2 times" in refusal(pd.DataFrame([[1, 2]], columns=[1, "1"]))

    def test_empty(self):
        assert as_table({"a": [1], "": [1]}).names == ("a", "column 2")

    def test_of_the_wrong_number(self):
        message = refusal(np.zeros((2, 3), dtype=int), OptionError, names=["a"])
        assert message == "names has 1 entries, but the table has 3 columns"

    def test_a_single_string(self):
        assert "'ab'" in refusal(np.zeros((2, 2), dtype=int), OptionError, names="ab")


class TestShape:
    """The fragments in capital letters are those that scikit-learn's estimator checks look for."""

    def test_one_dimension(self):
        for data in (np.arange(3), [1, 2, 3], pd.Series([1, 2]), pl.Series([1, 2])):
            message = refusal(data)
            assert "Expected 2D array, got 1D array instead" in message
            assert "Reshape your data" in message

    def test_no_and_three_dimensions(self):
        assert "scalar array" in refusal(np.array(3))
        assert "dim 3" in refusal(np.zeros((2, 2, 2), dtype=int))

    def test_no_columns(self):
        pattern = r"0 feature\(s\) \(shape=\(\d*, 0\)\) while a minimum of \d* is required."
        for data in (np.empty((12, 0)), pd.DataFrame(index=range(12)), {}, [[], []]):
            assert re.search(pattern, refusal(data))

    def test_no_rows(self):
        expected = "0 sample(s) (shape=(0, 5)) while a minimum of 1 is required."
        assert expected in refusal(np.empty((0, 5), dtype=int))
        assert expected in refusal(pd.DataFrame(columns=list("abcde")))

    def test_one_column_where_two_are_needed(self):
        table = open_table({"a": [1, 2]})
        with pytest.raises(DataError, match=r"^one column only \('a'\): a graph needs at least two columns"):
            check_learnable(table, ("discrete",), "mmhc")
        check_learnable(table, ("discrete",), "a network", min_variables=1)
        two = open_table({"a": [1], "b": [1]})
        with pytest.raises(DataError, match="2, but at least 3"):
            check_learnable(two, ("discrete",), "mmhc", min_variables=3)

    def test_columns_of_different_lengths(self):
        assert "'a' has 2 values, 'c' has 3" in refusal({"a": [1, 2], "b": [1, 2], "c": [1, 2, 3]})

    def test_rows_of_different_lengths(self):
        assert "row 0 has 2 values, row 2 has 3" in refusal([[1, 2], [1, 2], [1, 2, 3]])

    def test_a_column_that_is_none(self):
        assert "column 'a' is a single str" in refusal({"a": "xyz"})
        assert "column 'a' has more than one dimension" in refusal({"a": np.zeros((2, 2))})


class TestOtherThings:
    def test_sparse(self):
        for make in (scipy.sparse.csr_array, scipy.sparse.csr_matrix, scipy.sparse.coo_array):
            assert "sparse" in refusal(make(np.eye(3)))

    def test_complex(self):
        for data in (np.array([[1j]]), pd.DataFrame({"a": [1j]}), [[1j, 1]]):
            assert "Complex data not supported" in refusal(data)

    def test_nan_and_infinity_in_arrays(self):
        for bins in (None, 2):
            assert "missing values" in refusal(np.array([[0.5, np.nan], [0.1, 0.2]]), bins=bins)
            assert "infinite" in refusal(np.array([[0.5, np.inf], [0.1, 0.2]]), bins=bins)

    def test_lazy_frames(self):
        assert "LazyFrame" in refusal(pl.LazyFrame({"a": [1]}))
        assert ".collect()" in refusal(pl.LazyFrame({"a": [1]}))

    def test_no_table_at_all(self):
        for thing in (None, 3, object()):
            assert type(thing).__name__ in refusal(thing)

    def test_no_such_file(self):
        message = refusal("nowhere.csv", FileError)
        assert message == "nowhere.csv: no such file"
        assert issubclass(FileError, F2SLError)
