"""Some rows of a table as one matrix of values, from which notes on the table are found.

A number is its own value. A state is the number that labels it; states without numbers are numbered in their
order, and only where there are two of them, or where they are intervals, does that order mean anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.column import CONTINUOUS, Column
from f2sl.data.table import Arrays, Block, Table

MOST_CELLS = 1 << 21
"""Number of cells of the largest sample: 16 MB, and some hundredths of a second for each pass over them."""

FEW_CELLS = 1 << 18
"""Number of cells of the largest thinned sample."""

FEWEST_SAMPLED = 1 << 10
"""Number of rows that are sampled even if the table is wider."""

STRETCH = 32
"""Number of consecutive rows that are sampled together, for what depends on the order of the rows."""


def values_of(columns: Sequence[Column], block: Block) -> Floats:
    """Return the values of a block of rows, (columns, rows) float64, NaN where one is missing.

    Examples
    --------
    >>> columns = [Column("size", "discrete", (10, 20)), Column("x", "continuous")]
    >>> values_of(columns, Block(np.array([[1, 0]]), np.array([[0.5, 2.5]]))).tolist()
    [[20.0, 10.0], [0.5, 2.5]]
    """
    codes, numbers = iter(block.codes), iter(block.numbers)
    rows = [
        next(numbers) if c.kind == CONTINUOUS else np.append(labels(c), np.nan)[next(codes)] for c in columns
    ]
    return np.array(rows, np.float64)


def labels(column: Column) -> Floats:
    """Return the value of each state of a column."""
    states = column.states
    if _are_numbers(states):
        return np.array(states, np.float64)
    return np.arange(len(states), dtype=np.float64)


def is_ordered(column: Column) -> bool:
    """Return whether larger values of a column mean more of something; two states are ordered either way.

    Examples
    --------
    >>> of_columns = [(1, 2, 3), ("no", "yes"), ("a", "b", "c")]
    >>> [is_ordered(Column("c", "discrete", states)) for states in of_columns]
    [True, True, False]
    """
    return column.is_cut or has_values(column)


def has_values(column: Column) -> bool:
    """Return whether the values of a column can be added to others: numbers, or two states as 0 and 1."""
    return column.kind == CONTINUOUS or len(column.states) < 3 or _are_numbers(column.states)


def _are_numbers(states: Sequence[object]) -> bool:
    return all(isinstance(state, (int, float)) for state in states)


@dataclass(frozen=True)
class Sample:
    """Rows of a table: all, or stretches of consecutive rows that are evenly spaced.

    Parameters
    ----------
    table : Table
        The columns of the table that have at least two values.
    values : (columns, rows) float64
        The values of these columns.
    rows : (rows,) int64
        Position of each row in the table, ascending.
    """

    table: Table
    values: Floats
    rows: Integers

    @classmethod
    def of_table(cls, table: Table) -> Sample:
        """Take the sample of a table: the same rows wherever they are held."""
        low, high = table.ends
        varying = table.select(np.flatnonzero(low < high).tolist())
        rows = _evenly(table.n_rows, max(MOST_CELLS // max(varying.n_variables, 1), FEWEST_SAMPLED))
        return cls(varying, values_of(varying.columns, varying.rows(rows)), rows)

    def thinned(self) -> Sample:
        """Return a smaller sample, for what needs neither many rows nor all of them."""
        n_columns, n_rows = self.values.shape
        some = _evenly(n_rows, max(FEW_CELLS // max(n_columns, 1), FEWEST_SAMPLED))
        return self if len(some) == n_rows else Sample(self.table, self.values[:, some], self.rows[some])

    def add_up(self, columns: Iterable[int], function: Callable[[dict[int, Floats]], Arrays]) -> Integers:
        """Return the sum over all rows of what `function` makes of the values of some columns."""
        chosen = sorted(set(columns))
        table = self.table.select(chosen)
        [found] = table.add_up(partial(_of_values, table.columns, chosen, function))
        return np.asarray(found, np.int64)

    @property
    def is_whole(self) -> bool:
        """True if the sample has all rows of the table."""
        return len(self.rows) == self.table.n_rows


def _of_values(
    columns: Sequence[Column],
    positions: list[int],
    function: Callable[[dict[int, Floats]], Arrays],
    block: Block,
) -> Arrays:
    return function(dict(zip(positions, values_of(columns, block), strict=True)))


def _evenly(n_rows: int, n_sampled: int) -> Integers:
    """Return at most `n_sampled` positions of rows: all, or stretches that are evenly spaced."""
    if n_sampled >= n_rows:
        return np.arange(n_rows)
    n_stretches = n_sampled // STRETCH
    # Stretches begin at multiples of their length, so that stretches of a sample are consecutive rows.
    starts = np.arange(n_stretches) * (n_rows // STRETCH - 1) // (n_stretches - 1) * STRETCH
    return np.asarray((starts[:, None] + np.arange(STRETCH)).ravel(), np.int64)
