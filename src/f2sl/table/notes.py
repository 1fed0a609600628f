"""What about a table deserves a word before anything is learned from it."""

from __future__ import annotations

import warnings

import numpy as np

from f2sl.errors import F2SLWarning
from f2sl.table.column import NUMBER
from f2sl.table.names import listing
from f2sl.table.table import Table

LIKE_AN_IDENTIFIER = 0.9
"""Share of states among the rows from which on a column looks like an identifier."""

FEWEST_ROWS = 20
"""With fewer rows than this, many columns have nearly as many states as there are rows, and correlations are
mostly chance."""


def constant_columns(table: Table) -> str | None:
    """Say which columns have one state only, if any.

    Examples
    --------
    >>> from f2sl.reading import open_table
    >>> constant_columns(open_table({"a": [1, 1], "b": [0, 1]}))
    "one state only, so no edges: column 'a'"
    """
    return _listed("one state only, so no edges: ", table, table.cardinalities == 1)


def identifier_columns(table: Table) -> str | None:
    """Say which columns, if any, have nearly as many states as there are rows: they hide what others tell."""
    like = (table.cardinalities > LIKE_AN_IDENTIFIER * table.n_rows) & (table.n_rows > FEWEST_ROWS)
    return _listed("nearly as many states as rows, like an identifier (better left out): ", table, like)


def warn_of_identifiers(table: Table, stacklevel: int) -> None:
    """Warn whoever called a learner, `stacklevel` calls up, of columns of states like identifiers."""
    text = identifier_columns(table)
    if text is not None:
        warnings.warn(text, F2SLWarning, stacklevel=stacklevel)


def remarks(table: Table) -> list[str]:
    """List all that there is to say about a table; of real numbers, their correlations tell more.

    Examples
    --------
    >>> from f2sl.reading import open_table
    >>> remarks(open_table({"a": [0.1, 0.2, 0.4], "b": [0.3, 0.1, 0.2]}))
    ['only 3 rows: what was learned is not to be relied on']
    """
    told = [constant_columns(table), identifier_columns(table)]
    if NUMBER in table.kinds and table.n_rows < FEWEST_ROWS:
        told.append(f"only {table.n_rows} rows: what was learned is not to be relied on")
    return [text for text in told if text is not None]


def _listed(what: str, table: Table, chosen: np.ndarray) -> str | None:
    names = [repr(table.names[i]) for i in np.flatnonzero(chosen)]
    if not names:
        return None
    return f"{what}column{'s' if len(names) > 1 else ''} {listing(names)}"
