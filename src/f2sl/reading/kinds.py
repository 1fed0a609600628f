"""Which kind each column of a table has: states or numbers.

Columns of labels are states. Columns of real numbers are numbers, unless they are cut into states. Integers
go with either: they are numbers beside real numbers, if no column holds states, and states otherwise.

>>> from f2sl.reading.frames import open_source
>>> column_kinds(open_source({"a": [0.5, 0.7], "b": [1, 2]}))
('number', 'number')
>>> column_kinds(open_source({"a": [0.5, 0.7], "b": [1, 2], "c": ["x", "y"]}))
('number', 'states', 'states')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from f2sl.errors import OptionError, unknown_name
from f2sl.reading.frames import Source
from f2sl.reading.values import LAST_EXACT, RawColumn, Refused
from f2sl.table.column import KINDS, NUMBER, STATES

Kinds = str | Mapping[str, str]
Bins = int | Mapping[str, int] | None

AUTO = "auto"


def column_kinds(
    source: Source, kinds: Kinds = AUTO, bins: Bins = None, whole: str = STATES
) -> tuple[str, ...]:
    """Decide on the kind of each column; `kinds` and `bins` are as in :func:`f2sl.open_table`.

    `whole` is what to take real numbers for that are all whole, as measurements may be and codes of states
    often are; as states they will be refused, with advice.

    Raises
    ------
    OptionError
        If `kinds` or `bins` name a column that there is not, or contradict each other.
    """
    named = {str(name): kind for name, kind in kinds.items()} if isinstance(kinds, Mapping) else {}
    cut = set(map(str, bins)) if isinstance(bins, Mapping) else set()
    known = set(source.names) if named or cut else set()
    for option, columns in (("kinds", named), ("bins", cut)):
        for name in columns:
            if name not in known:
                raise OptionError(f"{option}: {unknown_name('column', name, source.names)}")
    for name in sorted(cut):
        if named.get(name) == NUMBER:
            raise OptionError(f"bins cuts column {name!r} into states, and kinds has it read as numbers")
    if isinstance(kinds, str) and kinds != AUTO:
        return (kinds,) * len(source.names)
    found = [STATES if name in cut else named.get(name, AUTO) for name in source.names]
    undecided = [i for i, kind in enumerate(found) if kind == AUTO]
    reals: dict[int, RawColumn] = {}
    if not isinstance(bins, int):
        reals = {
            i: column for i in undecided if source.may_be_real(i) and (column := _form(source, i, "reals"))
        }
    rest = [i for i in undecided if i not in reals]
    of_rest = STATES
    if reals and STATES not in found and not any(_form(source, i, "labels") for i in rest):
        of_rest = whole if all(map(_is_whole, reals.values())) else NUMBER
        reals = {} if of_rest == STATES else reals
    for i in undecided:
        found[i] = NUMBER if i in reals else of_rest
    return tuple(found)


def check_kinds(kinds: Any) -> None:
    """Refuse kinds that there are not."""
    for kind in kinds.values() if isinstance(kinds, Mapping) else [kinds]:
        known = KINDS if isinstance(kinds, Mapping) else (AUTO, *KINDS)
        if kind not in known:
            raise OptionError(unknown_name("kind of column, kinds =", kind, known))


def _form(source: Source, i: int, form: str) -> RawColumn | None:
    """Read a column if it has this form."""
    try:
        column = source.column(i)
    except Refused:
        return None  # told when the column is read
    return column if column.form == form else None


def _is_whole(column: RawColumn) -> bool:
    """Tell whether all numbers are whole; those beyond `LAST_EXACT` cannot be otherwise, and tell nothing."""
    numbers = column.values
    return bool(((numbers == np.floor(numbers)) & (np.abs(numbers) <= LAST_EXACT)).all())
