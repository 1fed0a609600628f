"""From whatever a user has to a table of codes.

:func:`as_table` is the one entrance to f2sl for data. What counts as discrete:

- strings and booleans: the values that occur, ascending;
- integers with at most 1,000 distinct values: likewise;
- categories (pandas, Polars ``Enum``, Arrow dictionaries): all that are declared, in
  the declared order, whether they occur or not.

Nothing else is guessed at. Real numbers are cut into intervals only if `bins` asks for
it, and missing values become a state, or cost their row, only if `missing` says so.

>>> table = as_table({"a": [0.5, 1.5, 9.0, 9.5], "b": ["x", None, "x", "y"]}, bins=2, missing="state")
>>> table.states
(('[0.5, 9)', '[9, 9.5]'), ('x', 'y', '<missing>'))
>>> table.codes.tolist()
[[0, 0, 1, 1], [0, 2, 0, 1]]
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from f2sl.errors import OptionError, unknown_name
from f2sl.reading.binning import KINDS
from f2sl.reading.encoder import Encoder
from f2sl.reading.shape import check_size
from f2sl.reading.sources import open_source
from f2sl.storage.memory.table import DiscreteTable

MISSING_WAYS = ("error", "state", "drop")


def as_table(
    data: Any,
    *,
    names: Sequence[str] | None = None,
    bins: int | Mapping[str, int] | None = None,
    binning: str = "quantile",
    missing: str = "error",
    min_variables: int = 1,
) -> DiscreteTable:
    """Encode a table of discrete variables.

    Parameters
    ----------
    data : DiscreteTable, data frame, array, dictionary of columns, list of rows, or path
        Data frames may come from pandas, Polars, PyArrow or any other library that
        Narwhals knows. The rows of an array are samples. A path, of a file or of a folder of
        files, is read by :func:`f2sl.reading.read_table`, and so is a list of paths. A `DiscreteTable` is returned as it is.
    names : sequence of str, optional
        Names for the columns; by default those of `data`, and ``x0``, ``x1``, ... where it
        has none.
    bins : int or dict, optional
        Into how many intervals to cut numeric columns. A number is meant for all columns
        of real numbers and all integer columns with more than 1,000 distinct values; a
        dictionary for the columns it names.
    binning : {"quantile", "width"}
        Intervals with equally many rows, or equally long ones.
    missing : {"error", "state", "drop"}
        Refuse missing values, make them a state labelled ``"<missing>"`` of their column,
        or drop the rows that have any.
    min_variables : int
        The fewest columns that will do.

    Returns
    -------
    DiscreteTable
        Its `notes` say what was cut, dropped or replaced.

    Raises
    ------
    DataError
        If the data cannot be learned from; names all the columns at fault.
    OptionError
        If an option has a value that it cannot have.
    FileError
        If a path cannot be read.

    Examples
    --------
    >>> import numpy as np
    >>> as_table(np.array([[7, 0], [5, 1], [7, 1]])).states
    ((5, 7), (0, 1))
    >>> as_table([[0.5, 1], [0.7, 2]])
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: column 'x0': real numbers are no states; cut them into states with bins=5, say (on the command line --bins 5)
    """  # noqa: E501
    check_reading(bins, binning, missing)
    if isinstance(data, DiscreteTable):
        if names is not None and tuple(names) != data.names:
            raise OptionError("names cannot be changed: a DiscreteTable has its own")
        check_size(data.names, data.n_rows, min_variables)
        return data
    source = open_source(data, names)
    check_size(source.names, source.n_rows, min_variables)
    return Encoder(source, bins_for(bins, source.names), binning, missing).run()


def check_reading(bins: Any, binning: Any, missing: Any) -> None:
    """Refuse ways of reading that there are not; which columns `bins` may name is seen with the table."""
    if binning not in KINDS:
        raise OptionError(unknown_name("binning", binning, KINDS))
    if missing not in MISSING_WAYS:
        raise OptionError(unknown_name("way to treat missing values, missing =", missing, MISSING_WAYS))
    for k in bins.values() if isinstance(bins, Mapping) else [] if bins is None else [bins]:
        _bin_count(k)


def bins_for(bins: int | Mapping[str, int] | None, names: tuple[str, ...]) -> int | dict[str, int] | None:
    """Check what `bins` asks for against the columns there are."""
    if isinstance(bins, Mapping):
        return _bins_by_name(bins, names)
    return None if bins is None else _bin_count(bins)


def _bin_count(k: Any, column: str | None = None) -> int:
    where = "" if column is None else f" for column {column!r}"
    try:
        count = operator.index(k)
    except TypeError:
        raise OptionError(f"bins takes a whole number of at least 2{where}, got {k!r}") from None
    if isinstance(k, bool) or count < 2:
        raise OptionError(f"bins takes a whole number of at least 2{where}, got {k!r}")
    return count


def _bins_by_name(bins: Mapping[Any, Any], names: tuple[str, ...]) -> dict[str, int]:
    known = set(names)
    for column in bins:
        if str(column) not in known:
            raise OptionError(f"bins: {unknown_name('column', column, names)}")
    return {str(column): _bin_count(k, str(column)) for column, k in bins.items()}
