"""What makes a table unfit to learn from, told at once and by name.

A user with twenty float columns should not have to fix them one error at a time. The reasons are gathered
while the columns are read, and raised together.
"""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Floats
from f2sl.errors import DataError
from f2sl.reading.values import Refused
from f2sl.table.column import HOLDS, KINDS, MAX_STATES, MIXED, NUMBER
from f2sl.table.names import listing
from f2sl.table.table import Table

MAX_INTEGERS = 1_000
"""The most distinct values of an integer column that count as states."""

LEAST_SPREAD, MOST_SPREAD = 1e-100, 1e100
"""Between these, the squares of a column's distances from its mean can be computed with."""

_BINS = "cut them into states with bins=5, say (on the command line --bins 5)"

REASONS = {
    "missing": (
        'missing values (None, NaN or null); make them a state with missing="state", '
        'or drop their rows with missing="drop" (on the command line --missing state, --missing drop)'
    ),
    "missing numbers": (
        'missing values (None, NaN or null); drop their rows with missing="drop" '
        "(on the command line --missing drop)"
    ),
    "empty": "no values at all; leave the column out with drop= (on the command line --drop)",
    "infinite": "infinity is no number to learn from; replace it or leave out its rows",
    "labels": (
        "labels are no real numbers; leave the column out, or have the real numbers cut into states with "
        'bins=5, say (on the command line --bins 5), by a learner of states and without kinds="number"'
    ),
    "constant": "the same number in every row, which is related to nothing; leave the column out",
    "spread": (
        f"numbers too far apart or too close together to compute with (more than {MOST_SPREAD:g} or less "
        f"than {LEAST_SPREAD:g} between the least and the greatest); measure the column in another unit"
    ),
    "reals": f"real numbers are no states; {_BINS}",
    "whole": (
        f"whole numbers stored as floats; convert them to integers with .astype(int), or {_BINS}; "
        'some learners take them for real numbers with kinds="number" (on the command line --kinds number)'
    ),
    "integers": (
        f"too many distinct values for states (integer columns may have {MAX_INTEGERS:,}); "
        f"{_BINS}, or leave the column out"
    ),
    "many": (
        f"too many states (at most {MAX_STATES:,} are possible); "
        "group the values into fewer categories, or leave the column out"
    ),
    "time": "dates and times are no states; convert them to categories or numbers, or leave the column out",
    "mixed": "values of different types; convert the column to one type, such as strings",
    "complex": "Complex data not supported; a variable's values are real numbers or labels",
    "type": "values of a type that has no states; convert them to strings, integers or categories",
}
"""Why a column is refused, and what to do; in the order in which they are told."""


class Problems:
    """The columns that are refused, by the reasons for it.

    Examples
    --------
    >>> problems = Problems()
    >>> problems.add("mixed", "a", "int and str")
    >>> problems.raise_any()
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: column 'a' (int and str): values of different types; convert the column to one type, such as strings
    """  # noqa: E501

    def __init__(self) -> None:
        self._columns: dict[str, list[str]] = {reason: [] for reason in REASONS}

    def add(self, reason: str, column: str, detail: str = "") -> None:
        """Note that `column` is refused for one of the reasons."""
        self._columns[reason].append(f"{column!r} ({detail})" if detail else repr(column))

    def raise_any(self) -> None:
        """Raise one error that names all the columns noted; do nothing if there are none."""
        told = [
            f"{'column' if len(columns) == 1 else 'columns'} {listing(columns)}: {REASONS[reason]}"
            for reason, columns in self._columns.items()
            if columns
        ]
        if told:
            raise DataError(". ".join(told))


def check_size(names: tuple[str, ...], n_rows: int, min_variables: int = 1, min_rows: int = 1) -> None:
    """Refuse a table with too few columns or rows."""
    n = len(names)
    if n == 0:
        raise DataError(
            f"the table has no columns: 0 feature(s) (shape=({n_rows}, 0)) while a minimum of "
            f"{max(min_variables, 1)} is required."
        )
    if n_rows < min_rows:
        raise DataError(
            f"the table has {'no rows' if n_rows == 0 else 'too few rows'}: {n_rows} sample(s) "
            f"(shape=({n_rows}, {n})) while a minimum of {min_rows} is required."
        )
    if n == 1 and min_variables == 2:
        raise DataError(
            f"one column only ({names[0]!r}): there is nothing to learn a structure from; "
            "at least two are needed (on the command line, --delimiter says what stands between columns)"
        )
    if n < min_variables:
        raise DataError(f"too few columns: {n} where at least {min_variables} are needed")


def check_numbers(numbers: Floats) -> None:
    """Refuse a column of numbers that cannot be computed with; its least and greatest are enough."""
    low, high = float(numbers.min()), float(numbers.max())
    if not np.isfinite([low, high]).all():
        raise Refused("infinite")
    if low == high:
        raise Refused("constant", f"{low:g}")
    # Halves, since the whole difference may overflow.
    if not LEAST_SPREAD / 2 <= high / 2 - low / 2 <= MOST_SPREAD / 2:
        raise Refused("spread")


def check_learnable(table: Table, takes: tuple[str, ...], learner: str, min_variables: int = 2) -> None:
    """Refuse a table that a learner cannot take: too small, or with columns of kinds that it does not take.

    Examples
    --------
    >>> from f2sl.reading import open_table
    >>> check_learnable(open_table({"a": [0.5, 0.7], "b": [1, 2]}), ("states",), "sll")
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: columns 'a', 'b' hold real numbers, and sll learns from states alone
    """
    of_numbers = table.of_kind(NUMBER)
    check_size(table.names, table.n_rows, min_variables, min_rows=2 if of_numbers else 1)
    if table.kind == MIXED and set(KINDS) <= set(takes) and MIXED not in takes:
        raise table.mixed_error(f"{learner} learns from one kind at a time: ")
    for kind in KINDS:
        columns = table.of_kind(kind)
        if columns and kind not in takes:
            raise DataError(f"{table.told(columns)}, and {learner} learns from {HOLDS[takes[0]]} alone")
    if of_numbers:  # a table that was made by hand may hold anything
        problems, ends = Problems(), np.stack(table.ends)
        for i in of_numbers:
            try:
                check_numbers(ends[:, i])
            except Refused as refused:
                problems.add(refused.reason, table.names[i], refused.detail)
        problems.raise_any()
