"""How large a table must be, and which of its rows are complete."""

from __future__ import annotations

import numpy as np

from f2sl.errors import DataError
from f2sl.reading.integers import block_width
from f2sl.reading.sources import Source
from f2sl.reading.values import Mask, Refused


def check_size(names: tuple[str, ...], n_rows: int, min_variables: int, min_rows: int = 1) -> None:
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


def complete_rows(source: Source) -> Mask | None:
    """Find the rows without missing values; None if that is all of them."""
    incomplete = np.zeros(source.n_rows, dtype=np.bool_)
    width = block_width(source.n_rows)
    for first in range(0, len(source.names), width):
        last = min(first + width, len(source.names))
        if source.block(first, last) is not None:
            continue
        for i in range(first, last):
            try:
                gaps = source.column(i).missing
            except Refused:
                continue  # told when the column is read
            if gaps is not None:
                incomplete |= gaps
    return ~incomplete if incomplete.any() else None
