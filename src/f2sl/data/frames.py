"""Data in memory of any supported type, as a list of columns.

A *source* knows its names and its number of rows and gives one column at a time, so
that a table of 64-bit values is never copied as a whole. A source whose cells are all
integers (or all booleans) can also give a block of columns as one two-dimensional
array, which is many times faster than a column at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Integers
from f2sl.data.names import chosen_names, column_names, generated_names
from f2sl.data.values import RawColumn, Refused, chosen_rows, numpy_column, without
from f2sl.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw


@dataclass
class Source:
    """Table to be read: names, number of rows, and columns.

    Parameters
    ----------
    names : tuple of str
        Name of each column.
    n_rows : int
        Number of rows.
    column : callable
        Returns a column by its index; raises `Refused` if it cannot be read.
    block : callable, optional
        Returns columns `first` to `last` - 1 as (rows, columns) of integers or booleans, or None.
    missing : callable, optional
        Counts the missing values of a column, if that is not to be seen from the column.
    """

    names: tuple[str, ...]
    n_rows: int
    column: Callable[[int], RawColumn]
    block: Callable[[int, int], npt.NDArray[Any] | None] = lambda first, last: None
    missing: Callable[[int], int] | None = None

    def n_missing(self, i: int) -> int:
        """Count the missing values of column `i`; 0 if it cannot be read."""
        if self.missing is not None:
            return self.missing(i)
        try:
            return self.column(i).n_missing
        except Refused:
            return 0

    def without(self, na: Sequence[str], found: set[str]) -> Source:
        """Return the source without the values that `na` declares missing; those that occur go to `found`."""

        def column(i: int) -> RawColumn:
            known, occurring = without(self.column(i), na)
            found.update(occurring)
            return known

        return Source(self.names, self.n_rows, column)

    def part(self, positions: Sequence[int], names: Sequence[str], rows: Integers | None = None) -> Source:
        """Return some columns, renamed; `rows` has each row as often as it counts."""
        wanted = np.array(positions, np.int64)

        def column(i: int) -> RawColumn:
            found = self.column(int(wanted[i]))
            return found if rows is None else chosen_rows(found, rows)

        def block(first: int, last: int) -> npt.NDArray[Any] | None:
            own = wanted[first:last]
            found = self.block(int(own[0]), int(own[-1]) + 1)
            if found is None:
                return None
            chosen = found[:, own - own[0]]
            return chosen if rows is None else chosen[rows]

        return Source(tuple(names), self.n_rows if rows is None else len(rows), column, block)


def open_source(data: Any, names: Sequence[str] | None = None) -> Source:
    """Return the source for `data`; `names` replace their own.

    Raises
    ------
    DataError
        If they cannot be read as a table.
    """
    if isinstance(data, np.ndarray) and data.dtype.names:
        data = {name: data[name] for name in data.dtype.names}
    if isinstance(data, (list, tuple)):
        if data and all(isinstance(row, Mapping) for row in data):
            keys = dict.fromkeys(key for row in data for key in row)
            data = {key: [row.get(key) for row in data] for key in keys}
        else:
            data = _array_of_rows(data)
    if isinstance(data, Mapping):
        return _of_mapping(data, names)
    if isinstance(data, np.ndarray):
        return _of_array(data, names)
    module = type(data).__module__.partition(".")[0]
    if module == "scipy" and hasattr(data, "toarray"):
        raise DataError("sparse matrices are not supported; convert the matrix with .toarray()")
    if module == "pyarrow" and hasattr(data, "schema"):
        return _of_arrow(data, names)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _of_pandas(data, names)
    import narwhals as nw

    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _of_frame(frame, names)
    what = type(data).__name__
    if hasattr(data, "collect"):
        raise DataError(f"a {what} has not been computed yet; pass the result of its .collect()")
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__array__"):
        return _of_arrow(data, names)
    if hasattr(data, "__array__"):
        return _of_array(np.asarray(data), names)
    raise DataError(
        f"no table can be read from a {what}; f2sl takes a data frame (pandas, Polars, PyArrow), "
        "a two-dimensional array, a dictionary of columns, or the path of a file"
    )


def _of_array(given: npt.NDArray[Any], names: Sequence[str] | None) -> Source:
    """Read a two-dimensional NumPy array, one row for each sample."""
    if given.dtype.kind == "c":
        raise DataError("Complex data not supported: a variable's values are real numbers or labels")
    if given.ndim != 2:
        raise DataError(_wrong_dimensions(given))
    array, masked = np.asarray(given), np.ma.getmask(given)
    mask = None if masked is np.ma.nomask else np.asarray(masked)
    n_rows, n_columns = array.shape

    def column(i: int) -> RawColumn:
        return numpy_column(array[:, i], None if mask is None else mask[:, i])

    def block(first: int, last: int) -> npt.NDArray[Any] | None:
        return array[:, first:last] if array.dtype.kind in "iub" and mask is None else None

    return Source(chosen_names(names, n_columns) or generated_names(n_columns), n_rows, column, block)


def _of_arrow(table: Any, names: Sequence[str] | None) -> Source:
    """Read a PyArrow table or record batch, or an object that PyArrow can convert to a table."""
    import pyarrow as pa

    from f2sl.data.arrow import arrow_column

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    elif not isinstance(table, pa.Table):
        table = pa.table(table)
    own = chosen_names(names, table.num_columns) or column_names(table.column_names)
    return Source(own, table.num_rows, lambda i: arrow_column(table.column(i)))


def _of_frame(frame: nw.DataFrame[Any], names: Sequence[str] | None) -> Source:
    """Read a data frame of any library that Narwhals supports, except pandas."""
    schema = frame.schema
    labels, types = list(schema), set(schema.values())
    alike = len(types) == 1 and next(iter(types)).is_integer()

    def block(first: int, last: int) -> npt.NDArray[Any] | None:
        return _if_integers(frame[:, first:last].to_numpy()) if alike else None

    own = chosen_names(names, len(schema)) or column_names(schema)
    return Source(own, len(frame), lambda i: series_column(frame.get_column(labels[i])), block)


def _of_pandas(frame: Any, names: Sequence[str] | None) -> Source:
    """Read a frame of pandas, without Narwhals and without a series for each column: both take longer."""
    types = {dtype.name: dtype.kind for dtype in frame.dtypes}  # to compare categories takes long
    alike = len(types) == 1 and next(iter(types.values())) in "iu"

    @cache
    def arrays() -> list[Any]:
        held = getattr(frame, "_iter_column_arrays", None)
        return list(held()) if held else [column.values for _, column in frame.items()]

    def block(first: int, last: int) -> npt.NDArray[Any] | None:
        return _if_integers(frame.iloc[:, first:last].to_numpy()) if alike else None

    own = chosen_names(names, frame.shape[1]) or column_names(frame.columns)
    return Source(own, len(frame), lambda i: pandas_column(arrays()[i]), block)


def _if_integers(block: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    return block if block.dtype.kind in "iu" else None


def _of_mapping(given: Mapping[Any, Any], names: Sequence[str] | None) -> Source:
    """Read a dictionary of columns of any types."""
    own = chosen_names(names, len(given)) or column_names(given)
    columns = list(given.values())
    lengths = [_length(name, column) for name, column in zip(own, columns, strict=True)]
    for name, length in zip(own, lengths, strict=True):
        if length != lengths[0]:
            raise DataError(
                f"columns must be equally long: {own[0]!r} has {lengths[0]} values, {name!r} has {length}"
            )
    return Source(own, lengths[0] if lengths else 0, lambda i: _any_column(columns[i]))


def _any_column(values: Any) -> RawColumn:
    import narwhals as nw

    from f2sl.data.arrow import arrow_column, object_column

    if isinstance(values, np.ma.MaskedArray):
        return numpy_column(np.asarray(values), np.ma.getmaskarray(values))
    if isinstance(values, np.ndarray):
        return numpy_column(values)
    if type(values).__module__.partition(".")[0] == "pyarrow":
        return arrow_column(values)
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series_column(series)
    return object_column(list(values))


MOST_ROWS = 10**9
"""Rows that weights may stand for."""


def rows_by_weight(weights: RawColumn) -> Integers:
    """Return row numbers repeated by weight; raise an error for invalid weights.

    Examples
    --------
    >>> rows_by_weight(numpy_column(np.array([2, 0, 1]))).tolist()
    [0, 0, 2]
    """
    if weights.form != "integers":
        raise Refused("weights", "labels" if weights.form == "labels" else "not whole")
    if weights.missing is not None:
        raise Refused("weights", "missing values")
    if len(weights.values) and weights.values.min() < 0:
        raise Refused("weights", "negative")
    if float(weights.values.sum(dtype=np.float64)) > MOST_ROWS:
        raise Refused("weights", f"more than {MOST_ROWS:,} rows")
    return np.repeat(np.arange(len(weights.values)), weights.values.astype(np.int64))


def series_column(series: nw.Series[Any]) -> RawColumn:
    """Return a column from a data frame's column."""
    import narwhals as nw

    from f2sl.data.arrow import arrow_column

    dtype = series.dtype
    if series.implementation.is_pandas():
        return pandas_column(series.to_native().array)
    if series.implementation.is_pandas_like() and isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _categories(series.to_native().array)
    if series.implementation.is_polars() and isinstance(dtype, nw.Categorical):
        # A Polars Categorical declares nothing: its numbering depends on what else the process has read.
        series = series.cast(nw.String)
    try:
        array = series.to_arrow()
    except Exception:  # each library fails in its own way
        return _numpy_column(series.to_numpy(), dtype)
    return arrow_column(array)


def pandas_column(held: Any) -> RawColumn:
    """Return a column from an array of pandas."""
    import pyarrow as pa

    from f2sl.data.arrow import arrow_column

    if held.dtype.name == "category":
        return _categories(held)
    if held.dtype.name.startswith("period["):
        held = held.to_timestamp()
    try:
        array = pa.Array.from_pandas(held)
    except Exception:  # objects fail in many ways
        return _numpy_column(held, held.dtype)
    return arrow_column(array)


def _numpy_column(held: Any, dtype: Any) -> RawColumn:
    """Return a column from what cannot be read as an Arrow array."""
    values = np.asarray(held)
    if values.ndim != 1:
        raise Refused("type", str(dtype)) from None
    return numpy_column(values)


def _categories(held: Any) -> RawColumn:
    """Read a pandas array of categories directly: some, such as intervals, have no counterpart in Arrow."""
    import pyarrow as pa

    codes, categories = np.asarray(held.codes), held.categories
    if categories.dtype.name in ("str", "string"):
        labels = tuple(pa.array(categories.array).to_pylist())  # pandas itself takes seven times as long
    else:
        labels = tuple(categories.to_numpy(dtype=object).tolist())
    missing = codes < 0 if len(codes) and codes.min() < 0 else None
    return RawColumn(
        "labels", codes if missing is None else np.where(missing, 0, codes), missing, labels, declared=True
    )


def _length(name: str, column: Any) -> int:
    if isinstance(column, (str, bytes)) or not hasattr(column, "__len__"):
        raise DataError(f"column {name!r} is a single {type(column).__name__}, not a sequence of values")
    if len(getattr(column, "shape", ())) > 1:
        raise DataError(f"column {name!r} has more than one dimension: shape {column.shape}")
    return len(column)


def _array_of_rows(rows: Sequence[Any]) -> npt.NDArray[Any]:
    """Return an array from a list of rows; numbers beside strings stay numbers."""
    lengths = [len(row) if isinstance(row, (list, tuple, np.ndarray)) else -1 for row in rows]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            raise DataError(f"rows must be equally long: row 0 has {lengths[0]} values, row {i} has {length}")
    if rows and lengths[0] == 0:
        return np.empty((len(rows), 0), dtype=object)
    return np.array(rows, dtype=object)


def _wrong_dimensions(array: npt.NDArray[Any]) -> str:
    if array.ndim == 1:
        return (
            "Expected 2D array, got 1D array instead: a table has rows (samples) and columns (variables). "
            "Reshape your data with .reshape(-1, 1) if it is one column, .reshape(1, -1) if it is one row"
        )
    if array.ndim == 0:
        return f"Expected 2D array, got scalar array instead: a single value ({array}) is not a table"
    return f"Expected 2D array, got an array with dim {array.ndim} (shape {array.shape}) instead"
