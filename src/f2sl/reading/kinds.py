"""Detection of the kind of each column: states or numbers.

Labels, booleans, categories and integers with few values are states. Real numbers, and integers with many
values for the number of rows, are numbers. Floats that are all whole are integers. `kinds` overrides this,
and columns that are cut into intervals are states.

The meaning of "few": among about 2,700 columns of integers in the tables of R's packages, those with more
than a dozen values are ages, years, scores and amounts, and almost never codes. Up to :data:`FEW` values are
always states, up to :data:`MOST` if there are at least as many rows as the square of that number, and more
are never states.

>>> few(12, 40), few(20, 100), few(20, 1000), few(60, 10_000)
(True, False, True, False)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from f2sl._constants import AUTO
from f2sl.errors import OptionError, unknown_name
from f2sl.reading.values import RawColumn
from f2sl.table.column import KINDS, MAX_STATES
from f2sl.table.notes import FEWEST_ROWS

Kinds = str | Mapping[str, str]

FEW, MOST = 12, 32
"""Distinct values of a column of integers that always are states, and that can be."""

_NAME_OF_ID = re.compile(
    r"(^|[^a-z]|case|person|subject|patient|user|hh)(id|idcode|identifier|uuid|key|nr)$|[a-z]I[dD]$"
)


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


_DAY, _MONTH = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])"
_DATE = re.compile(
    rf"(?:{_DAY}([/.-]){_MONTH}\1\d{{4}}|{_MONTH}([/.-]){_DAY}\2\d{{4}}|\d{{4}}([/.-]){_MONTH}\3{_DAY}"
    rf"|{_DAY}/{_MONTH}/\d\d|{_MONTH}/{_DAY}/\d\d)"
    r"(?:[T ]\s*\d?\d:\d\d(?::\d\d(?:\.\d+)?)?\s?(?:[AaPp][Mm]|Z|[+-]\d\d:?\d\d)?)?"
)


def are_dates(labels: Sequence[object]) -> bool:
    """Return whether labels are all dates written in numbers, with or without a time.

    Examples
    --------
    >>> are_dates(["31/12/2020", "1/2/2021"]), are_dates(["1.2.2021", "?"]), are_dates(["2020-02-01 08:30"])
    (True, False, True)
    """
    return bool(labels) and all(isinstance(one, str) and _DATE.fullmatch(one.strip()) for one in labels)


def name_rows(column: RawColumn, n_rows: int) -> bool:
    """Return whether labels have fewer than two rows each on average, so that they identify rows.

    Dates do not count, because they are refused, and neither do tables with very few rows.

    Examples
    --------
    >>> import numpy as np
    >>> half = RawColumn("labels", np.arange(30) // 2, labels=tuple("abcdefghijklmno"))
    >>> name_rows(half, 30), name_rows(half.rows(np.arange(25)), 25)
    (False, True)
    """
    n_known = n_rows - column.n_missing
    if column.form != "labels" or column.declared or n_known <= FEWEST_ROWS:
        return False
    return 2 * len(column.counted[0]) > n_known and not are_dates(column.labels)


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


AS_ONE = 'in pandas, df[column].str.split().str.join(" ").str.casefold() unifies them'
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
    """Return whether this many distinct integers in this many rows are few enough to be states."""
    return n_distinct <= max(FEW, min(MOST, math.isqrt(n_rows)))


def check_kinds(kinds: Any) -> None:
    """Raise an error for unknown kinds."""
    for kind in kinds.values() if isinstance(kinds, Mapping) else [kinds]:
        known = KINDS if isinstance(kinds, Mapping) else (AUTO, *KINDS)
        if not isinstance(kind, str) or kind not in known:
            raise OptionError(f"kinds: {unknown_name('kind of column', kind, known)}")


def like_identifier(name: str, column: RawColumn, n_rows: int) -> str | None:
    """Return why integers or labels with many values look like an identifier, or None.

    Examples
    --------
    >>> import numpy as np
    >>> like_identifier("person", RawColumn("integers", np.repeat(np.arange(40), 5)), 200)
    'each value occurs 5 times'
    >>> like_identifier("row", RawColumn("integers", np.arange(200)), 200)
    'it counts the rows'
    """
    values, counts = column.counted
    many = column.only_ends or len(values) > MAX_STATES
    if not many and few(len(values), n_rows):
        return None
    dense = column.form == "integers" and int(values[-1]) - int(values[0]) == n_rows - 1
    if dense and (many or len(values) == n_rows):
        return "it counts the rows"
    if _NAME_OF_ID.search(name.lower() if name.isupper() else name):
        return "by its name"
    if not many and counts.min() == counts.max() > 1:
        return f"each value occurs {counts[0]:,} times"
    return None
