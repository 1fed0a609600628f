"""Tables in memory: a matrix of codes beside a matrix of numbers.

Both have one row of memory for each column, because counting walks along columns and rarely along samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Floats, Integers
from f2sl._constants import AUTO
from f2sl._notes import Note
from f2sl._threads import Threads
from f2sl.data.column import CONTINUOUS, DISCRETE, MAX_STATES, Column, codes_of, positions_of
from f2sl.data.table import Arrays, Block, Ends, Summand, Table, WholeColumn
from f2sl.errors import DataError

if TYPE_CHECKING:
    from f2sl.data.memory.engine import MemoryEngine


SERIAL = 1 << 17
"""Fewer numbers are changed before a thread has started."""


@dataclass(frozen=True, eq=False, repr=False)
class MemoryTable(Table):
    """Table in the memory of this process.

    Parameters
    ----------
    columns : tuple of Column
        Name, kind and states of each variable. A state need not occur in the rows.
    codes : ndarray of uint8 or uint16
        One row for each discrete column, in their order: positions in the list of the column's states, and
        the number of states for a missing value.
        Stored as uint8 if no column has more than 256 states, as uint16 otherwise.
    numbers : ndarray of float64
        One row for each continuous column, in their order; finite, or NaN for a missing value.
    notes, transform, allowed
        As in :class:`f2sl.Table`.

    Examples
    --------
    >>> columns = Column("b", DISCRETE, ("no", "yes")), Column("a", CONTINUOUS)
    >>> table = MemoryTable(columns, np.array([[0, 1]]), np.array([[0.5, 2.5]]))
    >>> table
    Table(1 discrete and 1 continuous columns, 2 rows, in memory)
    >>> table.cardinalities.tolist()
    [2, 0]
    >>> table.in_name_order().names
    ('a', 'b')
    """

    columns: tuple[Column, ...]
    codes: npt.NDArray[Any]
    numbers: Floats
    notes: tuple[Note, ...] = ()
    transform: str = AUTO
    allowed: int | None = None

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        numbers = np.ascontiguousarray(self.numbers, dtype=np.float64)
        if len(set(self.names)) != len(self.names):
            raise DataError("the names of a table's variables must differ from each other")
        # The kernels index by these codes without checks, so no code may be out of range.
        if codes.dtype.kind not in "iu":
            raise DataError(f"codes must be integers, not {codes.dtype}")
        of_states = [self.columns[i] for i in self.of_kind(DISCRETE)]
        cardinalities = np.array([len(column.states) for column in of_states], np.int64)
        if codes.size:
            wrong = codes.max(axis=1) >= cardinalities + [column.missing > 0 for column in of_states]
            if codes.dtype.kind == "i":
                wrong |= codes.min(axis=1) < 0
            if wrong.any():
                raise DataError(
                    f"variable {of_states[int(wrong.argmax())].name!r} has a code that is none of its states"
                )
        most = int(cardinalities.max(initial=0))
        if most > MAX_STATES:
            raise DataError(f"a variable has {most:,} states; at most {MAX_STATES:,} are possible")
        of_numbers = [self.columns[i] for i in self.of_kind(CONTINUOUS)]
        finite = np.isfinite(numbers).sum(axis=1) == [self.n_rows - column.missing for column in of_numbers]
        if not finite.all():
            name = of_numbers[int(finite.argmin())].name
            raise DataError(f"variable {name!r} has a value that is not finite")
        object.__setattr__(self, "codes", np.ascontiguousarray(codes, dtype=codes_of(of_states)))
        object.__setattr__(self, "numbers", numbers)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.codes.shape[1])

    @cached_property
    def positions(self) -> Integers:  # type: ignore[override]
        """Row of each column in the matrix of its kind."""
        return positions_of(self.kinds)

    @cached_property
    def ends(self) -> Ends:  # type: ignore[override]
        """Smallest and largest number, or code that occurs, of each column."""
        low, high = np.empty(self.n_variables), np.empty(self.n_variables)
        for kind, matrix in ((DISCRETE, self.codes), (CONTINUOUS, self.numbers)):
            own = self.of_kind(kind)
            if own and not self.missing[own].any():
                low[own], high[own] = matrix.min(axis=1), matrix.max(axis=1)
            elif own:
                there = matrix < self.cardinalities[own][:, None] if kind == DISCRETE else ~np.isnan(matrix)
                known = np.where(there, matrix, np.nan)
                low[own], high[own] = np.nanmin(known, axis=1), np.nanmax(known, axis=1)
        return low, high

    def column(self, i: int) -> npt.NDArray[Any]:
        """Return the codes or numbers of one column as an array."""
        matrix = self.codes if self.columns[i].kind == DISCRETE else self.numbers
        return np.asarray(matrix[self.positions[i]])

    def parts_of_column(self, i: int) -> Iterator[npt.NDArray[Any]]:
        """Yield one column, in one part."""
        yield self.column(i)

    def each(self, function: Callable[[int, Block], Any]) -> Iterator[Any]:
        """Yield what `function` makes of all rows: they are one block."""
        yield function(0, Block(self.codes, self.numbers))

    def add_up(self, function: Summand) -> Arrays:
        """Return what `function` makes of all rows."""
        return function(Block(self.codes, self.numbers))

    def all_numbers(self) -> Floats:
        """Return a continuous table as one array, one row for each column."""
        return self.numbers

    def select(self, variables: Sequence[int]) -> MemoryTable:
        """Return some of the columns, in this order, as a table of their own."""
        chosen = tuple(self.columns[i] for i in variables)
        codes, numbers = (
            [self.positions[i] for i in variables if self.columns[i].kind == kind]
            for kind in (DISCRETE, CONTINUOUS)
        )
        return replace(self, columns=chosen, codes=self.codes[codes], numbers=self.numbers[numbers])

    def converted(
        self, columns: tuple[Column, ...], function: Callable[[Block], Block], ends: Ends | None = None
    ) -> MemoryTable:
        """Return a table of the rows that `function` makes of all rows."""
        return MemoryTable(columns, *function(Block(self.codes, self.numbers)), allowed=self.allowed)

    def with_numbers(
        self, chosen: Sequence[int], function: WholeColumn, ends: Ends, n_jobs: int | None = None
    ) -> MemoryTable:
        """Return the table with `function` applied to some continuous columns, each as a whole."""
        numbers, positions = self.numbers.copy(), self.positions[list(chosen)].tolist()
        with Threads(n_jobs if numbers.size > SERIAL else 1) as threads:
            changed = threads.map(lambda position: function(self.numbers[position]), positions)
            for position, values in zip(positions, changed, strict=True):
                numbers[position] = values
        return replace(self, numbers=numbers)

    def counting_engine(self, n_jobs: int | None = None) -> MemoryEngine:
        """Open the engine that counts a discrete table."""
        from f2sl.data.memory.engine import MemoryEngine

        return MemoryEngine(self, n_jobs)
