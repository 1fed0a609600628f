"""Tables of real numbers, for learners that take the variables for Gaussian.

A :class:`NumericTable` is to real numbers what a :class:`~f2sl.reading.DiscreteTable` is to
states. :func:`as_numeric` makes one from whatever :func:`~f2sl.reading.as_table` takes;
columns of floats and of integers are numbers, and everything else is refused by name.

>>> table = as_numeric({"height": [1.6, 1.8, 1.7], "children": [0, 2, 1]})
>>> table.values.tolist()
[[1.6, 1.8, 1.7], [0.0, 2.0, 1.0]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from f2sl.errors import DataError, OptionError, unknown_name
from f2sl.reading.problems import COLUMN_REASONS, Problems
from f2sl.reading.shape import check_size, complete_rows
from f2sl.reading.sources import Source, open_source
from f2sl.reading.values import Mask, Refused
from f2sl.storage.memory.table import DiscreteTable, NumericTable

MISSING_WAYS = ("error", "drop")

LEAST_SPREAD, MOST_SPREAD = 1e-100, 1e100
"""Between these, the squares of a column's distances from its mean can be computed with."""

REASONS = {
    "missing": (
        'missing values (None, NaN or null); drop their rows with missing="drop" '
        "(on the command line --missing drop)"
    ),
    "infinite": "infinity is no number to learn from; replace it or leave out its rows",
    "labels": (
        "labels are no real numbers; leave the column out, or have the real numbers cut into states with "
        'bins=5, say (on the command line --bins 5), by a learner of states and without kind="gaussian"'
    ),
    "constant": "the same number in every row, which is related to nothing; leave the column out",
    "spread": (
        f"numbers too far apart or too close together to compute with (more than {MOST_SPREAD:g} or less "
        f"than {LEAST_SPREAD:g} between the least and the greatest); measure the column in another unit"
    ),
    **COLUMN_REASONS,
}
"""Why a column is refused, and what to do; in the order in which they are told."""


def as_numeric(
    data: Any,
    *,
    names: Sequence[str] | None = None,
    missing: str = "error",
    min_variables: int = 1,
) -> NumericTable:
    """Read a table of real numbers.

    Parameters
    ----------
    data : NumericTable, data frame, array, dictionary of columns, list of rows, or path
        As in :func:`f2sl.as_table`. A `NumericTable` is checked and returned as it is.
    names : sequence of str, optional
        Names for the columns; by default those of `data`, and ``x0``, ``x1``, ... where it
        has none.
    missing : {"error", "drop"}
        Refuse missing values, or drop the rows that have any.
    min_variables : int
        The fewest columns that will do.

    Returns
    -------
    NumericTable
        At least two rows, and no column with the same number in all of them.

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
    >>> as_numeric([[0.5, 1], [0.7, 1]])
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: column 'x1' (1): the same number in every row, which is related to nothing; leave the column out
    """  # noqa: E501
    check_missing(missing)
    if isinstance(data, NumericTable):
        if names is not None and tuple(names) != data.names:
            raise OptionError("names cannot be changed: a NumericTable has its own")
        check_size(data.names, data.n_rows, min_variables, min_rows=2)
        problems = Problems(REASONS)
        for name, numbers in zip(data.names, data.values, strict=True):
            try:
                _check_numbers(numbers)
            except Refused as refused:
                problems.add(refused.reason, name, refused.detail)
        problems.raise_any()
        return data
    if isinstance(data, DiscreteTable):
        raise DataError("a DiscreteTable holds states, where a table of real numbers is needed")
    source = open_source(data, names)
    check_size(source.names, source.n_rows, min_variables, min_rows=2)
    keep = complete_rows(source) if missing == "drop" else None
    n_rows = source.n_rows if keep is None else int(keep.sum())
    n_dropped = source.n_rows - n_rows
    if n_dropped and n_rows < 2:
        raise too_few_complete(n_dropped, source.n_rows)
    values = np.empty((len(source.names), n_rows))
    problems = Problems(REASONS)
    for i, name in enumerate(source.names):
        try:
            values[i] = numbers_of(source, i, keep)
        except Refused as refused:
            problems.add(refused.reason, name, refused.detail)
    problems.raise_any()
    notes = (f"dropped {n_dropped} of {source.n_rows} rows with missing values",) if n_dropped else ()
    return NumericTable(source.names, values, notes)


def check_missing(missing: str) -> None:
    """Refuse ways to treat missing values that there are not for real numbers."""
    if missing == "state":
        raise OptionError(
            'missing="state" makes missing values a state, and real numbers have none; say "drop"'
        )
    if missing not in MISSING_WAYS:
        raise OptionError(unknown_name("way to treat missing values, missing =", missing, MISSING_WAYS))


def too_few_complete(n_dropped: int, n_rows: int) -> DataError:
    """Make the error for a table of which no two rows are complete."""
    return DataError(
        f'missing="drop" would drop {n_dropped} of {n_rows} rows, and at least 2 are needed; '
        "leave out the columns that miss most"
    )


def numbers_of(source: Source, i: int, keep: Mask | None) -> npt.NDArray[np.float64]:
    """Give the numbers of one column, or refuse it."""
    column = source.column(i)
    if column.kind == "labels":
        raise Refused("labels")
    if keep is not None:
        column = column.rows(keep)
    if column.missing is not None:
        raise Refused("missing", f"{column.n_missing} of {source.n_rows} rows")
    numbers = column.values.astype(np.float64)
    _check_numbers(numbers)
    return numbers


def _check_numbers(numbers: npt.NDArray[np.float64]) -> None:
    """Refuse numbers that cannot be computed with."""
    low, high = float(numbers.min()), float(numbers.max())
    if not np.isfinite([low, high]).all():
        raise Refused("infinite")
    if low == high:
        raise Refused("constant", f"{low:g}")
    # Halves, since the whole difference may overflow.
    if not LEAST_SPREAD / 2 <= high / 2 - low / 2 <= MOST_SPREAD / 2:
        raise Refused("spread")
