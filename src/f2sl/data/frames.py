"""Data in memory of any supported type, as a list of columns.

A *source* knows its names and its number of rows and gives one column at a time, so
that a table of 64-bit values is never copied as a whole. A source whose cells are all
integers (or all booleans) can also give a block of columns as one two-dimensional
array, which is many times faster than a column at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Integers
from f2sl.data.names import chosen_names, column_names, generated_names
from f2sl.data.values import RawColumn, Refused, chosen_rows, numpy_column, without
from f2sl.errors import DataError

if TYPE_CHECKING:
    import narwhals as nw


class Source:
    """Table to be read: names, number of rows, and columns."""

    names: tuple[str, ...]
    n_rows: int

    def column(self, i: int) -> RawColumn:
        """Return column `i`; raises `Refused` if it cannot be read."""
        raise NotImplementedError

    def block(self, first: int, last: int) -> npt.NDArray[Any] | None:
        """Return columns `first` to `last` - 1 as (rows, columns) of integers or booleans, or None."""
        return None

    def n_missing(self, i: int) -> int:
        """Count the missing values of column `i`; 0 if it cannot be read."""
        try:
            return self.column(i).n_missing
        except Refused:
            return 0


def open_source(data: Any, names: Sequence[str] | None = None) -> Source:
    """Return the source for `data`; `names` replace their own.

    Raises
    ------
    DataError
        If they cannot be read as a table.
    """
    if isinstance(data, Mapping):
        return _Mapping(data, names)
    if isinstance(data, np.ndarray):
        if data.dtype.names:
            return _Mapping({name: data[name] for name in data.dtype.names}, names)
        return _Array(data, names)
    if isinstance(data, (list, tuple)):
        if data and all(isinstance(row, Mapping) for row in data):
            keys = dict.fromkeys(key for row in data for key in row)
            return _Mapping({key: [row.get(key) for row in data] for key in keys}, names)
        return _Array(_array_of_rows(data), names)
    module = type(data).__module__.partition(".")[0]
    if module == "scipy" and hasattr(data, "toarray"):
        raise DataError("sparse matrices are not supported; convert the matrix with .toarray()")
    if module == "pyarrow" and hasattr(data, "schema"):
        return _Arrow(data, names)
    return _other_source(data, names)


def _other_source(data: Any, names: Sequence[str] | None) -> Source:
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return _Pandas(data, names)
    import narwhals as nw

    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _Frame(frame, names)
    what = type(data).__name__
    if hasattr(data, "collect"):
        raise DataError(f"a {what} has not been computed yet; pass the result of its .collect()")
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__array__"):
        return _Arrow(data, names)
    if hasattr(data, "__array__"):
        return _Array(np.asarray(data), names)
    raise DataError(
        f"no table can be read from a {what}; f2sl takes a data frame (pandas, Polars, PyArrow), "
        "a two-dimensional array, a dictionary of columns, or the path of a file"
    )


class _Array(Source):
    """Two-dimensional NumPy array, one row for each sample."""

    def __init__(self, array: npt.NDArray[Any], names: Sequence[str] | None) -> None:
        if array.dtype.kind == "c":
            raise DataError("Complex data not supported: a variable's values are real numbers or labels")
        if array.ndim != 2:
            raise DataError(_wrong_dimensions(array))
        mask = np.ma.getmask(array)
        self._mask = None if mask is np.ma.nomask else np.asarray(mask)
        self._array = np.asarray(array)
        self.n_rows = array.shape[0]
        self.names = chosen_names(names, array.shape[1]) or generated_names(array.shape[1])

    def column(self, i: int) -> RawColumn:
        return numpy_column(self._array[:, i], None if self._mask is None else self._mask[:, i])

    def block(self, first: int, last: int) -> npt.NDArray[Any] | None:
        if self._array.dtype.kind not in "iub" or self._mask is not None:
            return None
        return self._array[:, first:last]


class _Arrow(Source):
    """PyArrow table or record batch, or an object that PyArrow can convert to a table."""

    def __init__(self, table: Any, names: Sequence[str] | None) -> None:
        import pyarrow as pa

        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        elif not isinstance(table, pa.Table):
            table = pa.table(table)
        self._table = table
        self.n_rows = table.num_rows
        self.names = chosen_names(names, table.num_columns) or column_names(table.column_names)

    def column(self, i: int) -> RawColumn:
        from f2sl.data.arrow import arrow_column

        return arrow_column(self._table.column(i))


class _Frame(Source):
    """Data frame of any library that Narwhals supports, except pandas."""

    def __init__(self, frame: nw.DataFrame[Any], names: Sequence[str] | None) -> None:
        self._frame = frame
        schema = frame.schema
        self._labels = list(schema)
        types = set(schema.values())
        self._alike = len(types) == 1 and next(iter(types)).is_integer()
        self.n_rows = len(frame)
        self.names = chosen_names(names, len(schema)) or column_names(schema)

    def column(self, i: int) -> RawColumn:
        return series_column(self._frame.get_column(self._labels[i]))

    def block(self, first: int, last: int) -> npt.NDArray[Any] | None:
        if not self._alike:
            return None
        block = self._frame[:, first:last].to_numpy()
        return block if block.dtype.kind in "iu" else None


class _Pandas(Source):
    """Frame of pandas, read without Narwhals and without a series for each column: both take longer."""

    def __init__(self, frame: Any, names: Sequence[str] | None) -> None:
        self._frame = frame
        types = {dtype.name: dtype.kind for dtype in frame.dtypes}  # to compare categories takes long
        self._alike = len(types) == 1 and next(iter(types.values())) in "iu"
        self.n_rows = len(frame)
        self.names = chosen_names(names, frame.shape[1]) or column_names(frame.columns)

    def column(self, i: int) -> RawColumn:
        return pandas_column(self._arrays[i])

    @cached_property
    def _arrays(self) -> list[Any]:
        arrays = getattr(self._frame, "_iter_column_arrays", None)
        return list(arrays()) if arrays else [column.values for _, column in self._frame.items()]

    def block(self, first: int, last: int) -> npt.NDArray[Any] | None:
        if not self._alike:
            return None
        block = self._frame.iloc[:, first:last].to_numpy()
        return block if block.dtype.kind in "iu" else None


class _Mapping(Source):
    """Dictionary of columns of any types."""

    def __init__(self, columns: Mapping[Any, Any], names: Sequence[str] | None) -> None:
        self.names = chosen_names(names, len(columns)) or column_names(columns)
        self._columns = list(columns.values())
        lengths = [_length(name, column) for name, column in zip(self.names, self._columns, strict=True)]
        self.n_rows = lengths[0] if lengths else 0
        for name, length in zip(self.names, lengths, strict=True):
            if length != self.n_rows:
                raise DataError(
                    f"columns must be equally long: {self.names[0]!r} has {self.n_rows} values, "
                    f"{name!r} has {length}"
                )

    def column(self, i: int) -> RawColumn:
        import narwhals as nw

        from f2sl.data.arrow import arrow_column, object_column

        values = self._columns[i]
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


class Without(Source):
    """Source without the values that `na` declares missing; `found` are those that occurred so far."""

    def __init__(self, source: Source, na: Sequence[str], found: set[str]) -> None:
        self._source, self._na, self.found = source, na, found
        self.names, self.n_rows = source.names, source.n_rows

    def column(self, i: int) -> RawColumn:
        """Return column `i`."""
        column, found = without(self._source.column(i), self._na)
        self.found |= found
        return column


class Part(Source):
    """Some columns of another source, renamed; `rows` has each row as often as it counts."""

    def __init__(
        self, source: Source, positions: Sequence[int], names: Sequence[str], rows: Integers | None = None
    ) -> None:
        self._source = source
        self._positions = np.array(positions, np.int64)
        self._rows = rows
        self.n_rows = source.n_rows if rows is None else len(rows)
        self.names = tuple(names)

    def column(self, i: int) -> RawColumn:
        """Return column `i`."""
        column = self._source.column(int(self._positions[i]))
        return column if self._rows is None else chosen_rows(column, self._rows)

    def block(self, first: int, last: int) -> npt.NDArray[Any] | None:
        """Return columns `first` to `last` - 1, if the source gives blocks."""
        wanted = self._positions[first:last]
        block = self._source.block(int(wanted[0]), int(wanted[-1]) + 1)
        if block is None:
            return None
        chosen = block[:, wanted - wanted[0]]
        return chosen if self._rows is None else chosen[self._rows]


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
