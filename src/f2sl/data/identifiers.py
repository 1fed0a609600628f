"""Columns that tell rows apart, or groups of a few rows, and so hide the links of all others.

They are left out unless options name them. None of the rules depends on the order of the rows, because many
tables are sorted by what they measure. Chosen on the tables that :mod:`f2sl.data.kinds` names: of 547
columns of integers that differ in every row, 249 are found by their range. About 240 of these are counters,
identifiers, or the years and days of a series; measurements such as populations and prices stay.
"""

from __future__ import annotations

import re

import numpy as np

from f2sl.data.column import MAX_STATES
from f2sl.data.kinds import FEW, few
from f2sl.data.notes import FEWEST_ROWS
from f2sl.data.values import RawColumn

_NAME_OF_ID = re.compile(
    r"(^|[^a-z]|case|person|subject|patient|user|hh)(id|idcode|identifier|uuid|nr)$|[a-z]I[dD]$"
)

REPEATS_BY_CHANCE = 10
"""Integers that differ in every row are measured if they spread so far that fewer pairs of rows than this
would agree by chance: n rows with integers from a range of r have n * n / (2 * r) such pairs."""

MANY_LABELS, MOST_LABELS = 50, 100
"""Labels of a column, beside numbers and in discrete tables, up to which it is never a group of few
rows each. The first is the number of states of the USA, the second that of the largest published network."""

ROWS_OF_LABEL = 10
"""Rows that say something about a label. With very many labels, half of the rows must have a label with as
many; beside numbers, one of the `MANY_LABELS` - 1 that are not pooled."""

COUNTS_ROWS, BY_NAME, DIFFERENT = "it counts the rows", "by its name", "different in every row"
FEW_ROWS = "many labels, and most rows have a rare one"
NAMES_ROWS = "fewer than two rows for each label on average"


def identifies(name: str, column: RawColumn, n_rows: int, beside_numbers: bool = True) -> str | None:
    """Return why integers, dates or labels identify rows or small groups of rows, or None.

    Examples
    --------
    >>> identifies("row", RawColumn("integers", np.arange(200)), 200)
    'it counts the rows'
    >>> identifies("subset", RawColumn("integers", np.arange(200) * 3), 200)
    'different in every row'
    >>> identifies("people", RawColumn("integers", np.arange(200) * 9000), 200)
    """
    n = n_rows - column.n_missing
    if n <= FEWEST_ROWS or (column.form == "reals" and not column.unit):
        return None
    values, counts = column.counted
    very_many = column.only_ends or len(values) > MAX_STATES  # of which files read in blocks keep no account
    different = not very_many and len(values) == n
    if column.unit:
        return DIFFERENT if different else None
    by_name = _NAME_OF_ID.search(name.lower() if name.isupper() else name) is not None
    if column.form == "integers":
        spread = int(values[-1]) - int(values[0])
        if spread == n - 1 and (different or very_many):
            return COUNTS_ROWS
        if different and n * n >= 2 * REPEATS_BY_CHANCE * spread:
            return DIFFERENT
        return BY_NAME if by_name and (very_many or len(values) > FEW) else None
    if not column.declared and 2 * len(values) > n:
        return NAMES_ROWS
    if len(values) > (MANY_LABELS if beside_numbers else MOST_LABELS):
        frequent = np.sort(counts)[::-1][: MANY_LABELS - 1 if beside_numbers else None]
        if by_name or 2 * frequent[frequent >= ROWS_OF_LABEL].sum() < n:
            return BY_NAME if by_name else FEW_ROWS
    return None


def balanced(column: RawColumn, n_rows: int) -> str | None:
    """Return that each of many values occurs equally often, as identifiers in panels do, or None.

    Examples
    --------
    >>> balanced(RawColumn("integers", np.repeat(np.arange(40), 5)), 200)
    'each value occurs 5 times'
    """
    values, counts = column.counted
    if column.only_ends or len(values) > MAX_STATES or few(len(values), n_rows):
        return None
    return f"each value occurs {counts[0]:,} times" if counts.min() == counts.max() > 1 else None
