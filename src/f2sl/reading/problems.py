"""Everything that is wrong with a table, told at once.

A user with twenty float columns should not have to fix them one error at a time. The
reasons are gathered while the columns are read, and raised together.
"""

from __future__ import annotations

from collections.abc import Mapping

from f2sl.errors import DataError
from f2sl.storage.memory.table import MAX_STATES
from f2sl.table.names import listing

MAX_INTEGERS = 1_000
"""The most distinct values of an integer column that count as states."""

_BINS = "cut them into states with bins=5, say (on the command line --bins 5)"

MIXED_ADVICE = (
    "cut all columns of real numbers into states with bins=5, say (on the command line --bins 5), "
    "or leave out the columns of the one kind"
)
"""What to do about a table with columns of both kinds."""

COLUMN_REASONS = {
    "time": "dates and times are no states; convert them to categories or numbers, or leave the column out",
    "mixed": "values of different types; convert the column to one type, such as strings",
    "complex": "Complex data not supported; a variable's values are real numbers or labels",
    "type": "values of a type that has no states; convert them to strings, integers or categories",
}
"""Why a column is refused before anything is made of it."""

REASONS = {
    "missing": (
        'missing values (None, NaN or null); make them a state with missing="state", '
        'or drop their rows with missing="drop" (on the command line --missing state, --missing drop)'
    ),
    "infinite": "infinity is no number to learn from; replace it or leave out its rows",
    "reals": f"real numbers are no states; {_BINS}",
    "whole": (
        f"whole numbers stored as floats; convert them to integers with .astype(int), or {_BINS}; "
        'some learners take them for real numbers with kind="gaussian" (on the command line --kind gaussian)'
    ),
    "integers": (
        f"too many distinct values for states (integer columns may have {MAX_INTEGERS:,}); "
        f"{_BINS}, or leave the column out"
    ),
    "many": (
        f"too many states (at most {MAX_STATES:,} are possible); "
        "group the values into fewer categories, or leave the column out"
    ),
    **COLUMN_REASONS,
}
"""Why a column is no discrete variable, and what to do; in the order in which they are told."""


class Problems:
    """The reasons found so far, each one of `reasons`.

    Examples
    --------
    >>> problems = Problems()
    >>> problems.add("mixed", "a", "int and str")
    >>> problems.raise_any()
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: column 'a' (int and str): values of different types; convert the column to one type, such as strings
    """  # noqa: E501

    def __init__(self, reasons: Mapping[str, str] = REASONS) -> None:
        self._reasons = reasons
        self._columns: dict[str, list[str]] = {reason: [] for reason in reasons}

    def add(self, reason: str, column: str, detail: str = "") -> None:
        """Note that `column` is refused for one of the reasons."""
        self._columns[reason].append(f"{column!r} ({detail})" if detail else repr(column))

    def raise_any(self) -> None:
        """Raise one error that names all the columns noted; do nothing if there are none."""
        told = [
            f"{'column' if len(columns) == 1 else 'columns'} {listing(columns)}: {self._reasons[reason]}"
            for reason, columns in self._columns.items()
            if columns
        ]
        if told:
            raise DataError(". ".join(told))
