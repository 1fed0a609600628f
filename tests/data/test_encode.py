"""From users' tables to codes: what is a state, and in which order."""

import subprocess
import sys
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2sl import DataError, OptionError, open_table
from f2sl.data.memory.table import MemoryTable

as_table = partial(open_table, kinds="discrete")

BACKENDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "dict": dict,
    "dict of arrays": lambda columns: {name: np.array(values) for name, values in columns.items()},
    "dict of series": lambda columns: {name: pd.Series(values) for name, values in columns.items()},
    "rows": lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
    "objects": lambda columns: np.array(list(zip(*columns.values(), strict=True)), dtype=object),
}
NAMELESS = ("rows", "objects")


@pytest.fixture(params=BACKENDS)
def read(request):
    """Encode a dictionary of columns through one of the libraries."""

    def encode(columns, **options):
        names = list(columns) if request.param in NAMELESS else None
        return as_table(BACKENDS[request.param](columns), names=names, **options)

    return encode


def decoded(table):
    return {name: [table.states[i][code] for code in table.codes[i]] for i, name in enumerate(table.names)}


def test_the_same_table_from_every_library(read):
    table = read({"s": ["b", "a", "b", "c"], "i": [7, -1, 7, 0], "t": [True, False, True, True]})
    assert table.names == ("s", "i", "t")
    assert table.states == (("a", "b", "c"), (-1, 0, 7), (False, True))
    assert table.codes.tolist() == [[1, 0, 1, 2], [2, 0, 2, 1], [1, 0, 1, 1]]
    assert table.codes.dtype == np.uint8
    assert table.notes == ()
    assert [type(state) for state in table.states[1] + table.states[2]] == [int, int, int, bool, bool]


def test_missing_values_as_a_state_in_every_library(read):
    table = read({"s": ["b", None, "a"], "i": [None, 4, 2], "t": [True, True, None]}, missing="state")
    assert table.states == (("a", "b", "<missing>"), (2, 4, "<missing>"), (True, "<missing>"))
    assert table.codes.tolist() == [[1, 2, 0], [2, 1, 0], [0, 0, 1]]


def test_rows_with_missing_values_dropped_in_every_library(read):
    columns = {"s": ["b", None, "a", "a"], "i": [None, 4, 2, 3], "t": [True, True, False, False]}
    table = read(columns, missing="drop")
    # Rows 0 and 1 go, and with them the states that nothing else has.
    assert table.states == (("a",), (2, 3), (False,))
    assert table.codes.tolist() == [[0, 0], [0, 1], [0, 0]]
    assert "dropped 2 of 4 rows with missing values" in table.notes


labels = st.one_of(
    st.lists(st.text(alphabet="ab é", max_size=3), min_size=6, max_size=6),
    st.lists(st.integers(-(2**62), 2**62), min_size=6, max_size=6),
    st.lists(st.integers(-3, 300), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
)


@pytest.mark.parametrize("backend", BACKENDS)
@given(columns=st.lists(labels, min_size=1, max_size=4), order=st.permutations(range(6)))
def test_codes_decode_to_the_values_and_follow_the_rows(backend, columns, order):
    data = {f"c{i}": values for i, values in enumerate(columns)}
    names = list(data) if backend in NAMELESS else None
    table = as_table(BACKENDS[backend](data), names=names)
    assert decoded(table) == data
    for states in table.states:
        assert list(states) == sorted(set(states))
    permuted = {name: [values[r] for r in order] for name, values in data.items()}
    moved = as_table(BACKENDS[backend](permuted), names=names)
    assert moved.states == table.states
    assert moved.codes.tolist() == table.codes[:, list(order)].tolist()


@given(
    st.sampled_from(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]),
    st.integers(1, 7),
    st.integers(1, 5),
    st.data(),
)
def test_every_integer_type_over_its_whole_range(dtype, rows, columns, data):
    info = np.iinfo(dtype)
    near = st.integers(0, 3)
    cell = st.one_of(near, st.integers(info.min, info.max), st.sampled_from([info.min, info.max]))
    cells = [
        data.draw(st.lists(cell if c % 2 else near, min_size=rows, max_size=rows)) for c in range(columns)
    ]
    array = np.array(cells, dtype=dtype).T
    expected = [sorted(set(column)) for column in cells]
    for order in "CF":
        table = as_table(np.asarray(array, order=order))
        assert [list(states) for states in table.states] == expected
        assert list(decoded(table).values()) == cells


def test_blocks_join_without_a_seam(monkeypatch):
    from f2sl.data import values as _values

    array = np.random.default_rng(7).integers(-5, 40, size=(53, 31)) * np.array([1, 1000, 10**7] + [3] * 28)
    whole = as_table(array)
    monkeypatch.setattr(_values, "BLOCK_CELLS", 200)
    parted = as_table(array)
    assert parted.states == whole.states
    assert np.array_equal(parted.codes, whole.codes)
    assert list(decoded(whole).values()) == array.T.tolist()


def test_wide_codes_only_if_a_variable_needs_them():
    array = np.stack([np.arange(257), np.arange(257) % 2], axis=1)
    assert as_table(array[:256]).codes.dtype == np.uint8
    table = as_table(array)
    assert table.codes.dtype == np.uint16
    assert decoded(table) == {"x0": list(range(257)), "x1": [i % 2 for i in range(257)]}
    # The column that needs them may also come last, when the others are stored already.
    assert decoded(as_table({"a": ["u", "v"] * 150, "b": list(range(300))}))["a"] == ["u", "v"] * 150


def test_generated_names_sort_as_the_columns_do():
    assert as_table(np.zeros((2, 10), dtype=int)).names == tuple(f"x{i}" for i in range(10))
    names = as_table(np.zeros((2, 37), dtype=int)).names
    assert names[:2] == ("x00", "x01")
    assert list(names) == sorted(names)


@pytest.mark.parametrize(
    "data",
    [
        {"c": pd.Categorical(["b", None, "b"], ["z", "b", "a"])},
        pd.DataFrame({"c": pd.Categorical(["b", None, "b"], ["z", "b", "a"], ordered=True)}),
        pl.DataFrame({"c": pl.Series(["b", None, "b"], dtype=pl.Enum(["z", "b", "a"]))}),
        pa.table({"c": pa.DictionaryArray.from_arrays([1, None, 1], ["z", "b", "a"])}),
        pa.table({"c": pa.DictionaryArray.from_arrays([1, 3, 4], ["z", "b", "a", None, "b"])}),
    ],
    ids=["pandas column", "pandas", "polars", "arrow", "arrow, repeated and null"],
)
def test_declared_categories_are_states_in_their_order(data):
    table = as_table(data if not isinstance(data, dict) else pd.DataFrame(data), missing="state")
    assert table.states == (("z", "b", "a", "<missing>"),)
    assert table.codes.tolist() == [[1, 3, 1]]


def test_arrow_chunks_with_different_dictionaries():
    chunks = pa.chunked_array(
        [
            pa.DictionaryArray.from_arrays([0, 1], ["a", "b"]),
            pa.DictionaryArray.from_arrays([0, 1], ["c", "a"]),
        ]
    )
    assert decoded(as_table(pa.table({"c": chunks}))) == {"c": ["a", "b", "c", "a"]}


def test_a_polars_categorical_declares_nothing():
    pl.Series(["zz", "yy"], dtype=pl.Categorical)
    table = as_table(pl.DataFrame({"c": pl.Series(["b", "a"], dtype=pl.Categorical)}))
    assert table.states == (("a", "b"),)


def test_categories_that_are_no_strings():
    table = as_table(
        pd.DataFrame({"i": pd.Categorical([2, 1], [3, 2, 1]), "v": pd.cut([1.0, 9.0], [0, 5, 10])})
    )
    assert table.states[0] == (3, 2, 1)
    assert [str(state) for state in table.states[1]] == ["(0, 5]", "(5, 10]"]
    assert table.codes.tolist() == [[1, 2], [0, 1]]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["b", "a"], pa.large_string()),
        pa.array(["b", "a"], pa.string_view()),
        pa.array([b"b", b"a"]),
        pd.Series(["b", "a"], dtype="string"),
        pd.Series(["b", "a"], dtype=object),
        pd.Series(["b", "a"]),
        np.array(["b", "a"]),
        np.array([b"b", b"a"]),
        np.array(["b", "a"], dtype=np.dtypes.StringDType()),
    ],
    ids=str,
)
def test_every_kind_of_string(column):
    table = as_table({"s": column})
    assert table.states == (("a", "b"),)
    assert table.codes.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    "column",
    [
        [3, None, 1],
        np.array([3, np.nan, 1]),
        np.array([3, np.nan, 1], dtype=np.float32),
        pd.Series([3, None, 1]),
        pd.Series([3, None, 1], dtype="Int64"),
        pd.Series([3, pd.NA, 1], dtype=object),
        pl.Series([3, None, 1]),
        pl.Series([3.0, float("nan"), 1.0]),
        pa.array([3, None, 1]),
        [Decimal(3), None, Decimal(1)],
        np.ma.masked_array([3, 99, 1], mask=[False, True, False]),
    ],
)
def test_every_kind_of_integers_with_missing_values(column):
    table = as_table({"i": column}, missing="state")
    assert table.states == ((1, 3, "<missing>"),)
    assert table.codes.tolist() == [[1, 2, 0]]


@pytest.mark.parametrize("gap", [None, 5])
@pytest.mark.parametrize(
    "make",
    [
        pl.DataFrame,
        pa.table,
        pd.DataFrame,
        lambda columns: pd.DataFrame(columns, dtype="Int64"),
        lambda columns: pd.DataFrame(columns).astype("Int64").convert_dtypes(dtype_backend="pyarrow"),
    ],
    ids=["polars", "pyarrow", "pandas", "pandas nullable", "pandas on arrow"],
)
def test_frames_of_nothing_but_integers(make, gap):
    table = as_table(make({"a": [2, 1, 2], "b": [3, gap, 4]}), missing="state")
    assert table.states == ((1, 2), (3, 4, "<missing>" if gap is None else 5))
    assert table.codes.tolist() == [[1, 0, 1], [0, 2, 1]]


def test_whole_floats_with_gaps_are_integers():
    table = as_table({"i": [3.0, None, 1.0]}, missing="state")
    assert table.notes == ("column 'i': missing values became a state",)
    assert table.states == ((1, 3, "<missing>"),)


def test_a_masked_array_keeps_its_mask():
    array = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, False], [True, False]])
    assert as_table(array, missing="state").states == ((1, "<missing>"), (2, 4))


def test_the_missing_label_makes_way():
    assert as_table({"a": ["<missing>", None]}, missing="state").states == (("<missing>", "<missing>_"),)
    both_taken = as_table({"a": ["<missing>", "<missing>_", None]}, missing="state")
    assert both_taken.states == (("<missing>", "<missing>_", "<missing>__"),)


def test_a_column_of_nothing_but_missing_values():
    for missing in ("state", "error"):
        table = as_table({"a": [None, None], "b": [1, 2]}, missing=missing)
        assert (table.names, table.notes) == (("b",), ("column 'a': left out: no values",))
    with pytest.raises(DataError, match=r"no row is complete: .* 2 of 2 rows; leave out .* drop=\['a'\]"):
        as_table({"a": [None, None], "b": [1, 2]}, missing="drop")


def test_names_replace_those_of_the_data():
    assert as_table(pd.DataFrame({"a": [1], "b": [2]}), names=["u", "v"]).names == ("u", "v")


def test_names_that_are_no_strings_are_converted():
    assert as_table(pd.DataFrame([[1, 2], [3, 4]])).names == ("0", "1")
    assert as_table(pd.DataFrame([["a", 2], ["b", 4]])).states == (("a", "b"), (2, 4))


def test_a_structured_array_has_columns():
    array = np.array([(1, "a"), (2, "b")], dtype=[("i", int), ("s", "U1")])
    assert as_table(array).states == ((1, 2), ("a", "b"))


def test_a_table_is_returned_as_it_is():
    table = as_table({"a": [1, 2]})
    assert open_table(table) is table
    with pytest.raises(
        OptionError, match="names, bins: these options cannot change a table that is already open"
    ):
        open_table(table, names=["b"], bins=3)


def test_anything_with_an_arrow_stream():
    reader = pa.table({"a": [1, 2]}).to_reader()
    assert decoded(as_table(reader)) == {"a": [1, 2]}


def test_a_path_is_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    for way in (path, str(path)):
        table = as_table(way)
        assert isinstance(table, MemoryTable)
        assert table.states == ((1, 2), ("x", "y"))


def test_constant_columns_are_allowed():
    assert as_table(np.full((3, 2), 8)).states == ((8,), (8,))


def test_the_users_array_is_left_alone():
    array = np.array([[5, 1], [3, 2]])
    array.setflags(write=False)
    as_table(array)
    assert array.tolist() == [[5, 1], [3, 2]]


def test_importing_needs_no_data_frame_library():
    code = "import sys, f2sl.data.open; print({'pandas', 'polars', 'numba', 'pyarrow'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
