"""Columns that tell rows apart, or groups of a few rows, and so hide the edges of all others.

They are left out unless options name them. None of the rules depends on the order of the rows, because many
tables are sorted by what they measure. Chosen on the tables that :mod:`f2sl.data.kinds` names: of 547
columns of integers that differ in every row, 249 are found by their range. About 240 of these are counters,
identifiers, or the years and days of a series; measurements such as populations and prices stay.

Beside numbers, tests and scores have an indicator for each state, so that a column with hundreds of labels
takes the memory and the time of hundreds of columns. So it keeps its most frequent labels, and the others
become one state, :data:`OTHER`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from f2sl._arrays import Integers
from f2sl._constants import OTHER
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
"""Labels of a column, in mixed and in discrete tables, up to which it is never a group of few rows each.
The first is the number of states of the USA, the second that of the largest published network."""

ROWS_OF_LABEL = 10
"""Rows that say something about a label. With very many labels, half of the rows must have a label with as
many; beside continuous columns, one of the `MANY_LABELS` - 1 that are not pooled."""

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


def frequent_labels(column: RawColumn) -> tuple[str, ...]:
    """Return the most frequent labels in their order, and one for all others, last.

    Examples
    --------
    >>> labels = tuple(f"town {i:02}" for i in range(60))
    >>> towns = RawColumn("labels", np.repeat(np.arange(60), np.arange(60)), labels=labels)
    >>> frequent = frequent_labels(towns)
    >>> len(frequent), frequent[0], frequent[-2:]
    (50, 'town 11', ('town 59', '<other>'))
    """
    values, counts = column.counted
    order = np.lexsort((values, -counts))[: MANY_LABELS - 1]  # of equally frequent ones the first
    kept = np.sort(values[order[counts[order] >= ROWS_OF_LABEL]])
    return (*(str(column.labels[value]) for value in kept.tolist()), OTHER)


def pooled_codes(column: RawColumn, states: Sequence[str]) -> Integers:
    """Return the position of each value among the `states`, that of `OTHER` if it is not one.

    Examples
    --------
    >>> pooled_codes(RawColumn("labels", np.array([1, 0]), labels=("a", "b")), ("b", OTHER)).tolist()
    [0, 1]
    """
    position = {label: code for code, label in enumerate(states)}
    other = position[OTHER]
    codes = np.array([position.get(str(label), other) for label in column.labels], np.int64)
    return np.asarray(codes[column.values])
