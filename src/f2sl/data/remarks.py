"""Texts of the notes on columns: how they were read, and the option that reads them otherwise.

A text is shared by all columns that it is true of. Marks in it stand for options that name these columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from f2sl.data.column import CONTINUOUS, DISCRETE
from f2sl.data.dates import DAYS, YEARS, DateReader
from f2sl.data.kinds import FEW
from f2sl.data.names import listing

KEEP, BY_PARTS, AS_NUMBER, AS_STATES = "{keep}", "{parts}", "{continuous}", "{discrete}"


def integers_read(kind: str, n: int) -> str:
    """Describe how integers with `n` different values are read by default."""
    if kind == CONTINUOUS:
        few = "with few values beside other numbers,"
        return (
            f"integers {few if n <= FEW else f'with more than {FEW} values,'} read as continuous{AS_STATES}"
        )
    like = "that look like codes," if n > FEW else f"with up to {FEW} values,"
    return f"integers {like} read as discrete{AS_NUMBER}"


def dates_read(unit: str, reader: DateReader | None) -> str:
    """Describe how dates or times are read by default.

    Examples
    --------
    >>> dates_read("seconds", None)
    'times, read as continuous (seconds)'
    """
    if unit == YEARS:
        return "years of dates, read as continuous"
    if unit != DAYS:
        return f"times, read as continuous ({unit})"
    form = f" written as {reader.form}" if reader and reader.form else ""
    return f"dates{form}, read as continuous ({unit}){BY_PARTS}"


def note_on(text: str, names: Sequence[str], n_columns: int) -> str:
    """Return the note that a text is true of some of the table's columns.

    Examples
    --------
    >>> note_on(f"left out: by its name{KEEP}", ["id", "nr"], 5)
    "columns 'id', 'nr': left out: by its name; keep with keep=['id', 'nr']"
    """
    some = list(names) if len(names) <= 10 else ""
    text = text.replace(KEEP, f"; keep with keep={some}")
    text = text.replace(BY_PARTS, f"; their parts with date_parts={some}")
    for mark, kind in ((AS_NUMBER, CONTINUOUS), (AS_STATES, DISCRETE)):
        text = text.replace(mark, f"; otherwise with kinds={ {names[0]: kind} }")
    if len(names) == n_columns > 1:
        return f"all {n_columns} columns: {text}"
    return f"column{'s' * (len(names) > 1)} {listing([repr(name) for name in names])}: {text}"
