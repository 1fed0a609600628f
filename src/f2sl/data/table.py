"""The table that all learning starts from: named columns, each with a kind, and blocks of rows.

Each storage (memory, stream, Dask) has a subclass, which knows how blocks of rows are reached: memory is one
block, a stream has many, and those of a cluster live elsewhere. All that learners ask of the rows adds up
over blocks. Codes and numbers are held separately, so a table may have columns of both kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Floats, Integers
from f2sl._constants import AUTO
from f2sl._notes import Note, Part, Use
from f2sl.data.column import CONTINUOUS, DISCRETE, KINDS, MIXED, Column, of_kind
from f2sl.data.names import listing
from f2sl.errors import DataError

if TYPE_CHECKING:
    from f2sl._threads import Threads

Ends = tuple[Floats, Floats]
"""Smallest and largest number, or code that occurs, of each column."""


class Block(NamedTuple):
    """Block of rows: a matrix for the columns of each kind, with a row for each column."""

    codes: npt.NDArray[Any]
    numbers: Floats


Arrays = tuple[Any, ...]
Summand = Callable[[Block], Arrays]
"""Function from a block of rows to arrays, or other values that can be added up over all blocks."""


class Counted(Protocol):
    """Counts that are made together in one pass over the blocks."""

    @property
    def used(self) -> Integers:
        """Variables whose codes are needed, in ascending order."""

    @property
    def most_threads(self) -> int:
        """Number of threads that may hold such counts at the same time."""

    def count(self, block: Block) -> Arrays:
        """Count a block, given by the codes of the variables used."""


WholeColumn = Callable[[Floats], Floats]
"""Function from all rows of one continuous column, NaN if missing, to other numbers."""

NUMBERS_AT_ONCE = 1 << 20
"""Numbers of whole columns to hold at a time, unless one column has more."""


def closed_table() -> DataError:
    """Return the error for a table that is used after it was closed."""
    return DataError("this table has been closed; open it again")


class Table(ABC):
    """Samples of named variables; opened by :func:`f2sl.open_table`.

    Attributes
    ----------
    columns : tuple of Column
        Name, kind and states of each variable.
    notes : tuple of Note
        Notes for the user on how the data were read.
    ends : tuple of two ndarrays of float64
        Smallest and largest number, or code that occurs, of each column.
    positions : ndarray of int64
        Index of each column among the stored columns of its kind.
    margins : tuple of ndarray
        Count of each state of each column, if rows are not in memory.
    memory : int or None
        Memory limit in bytes for work on the table; None if it is in memory.
    allowed : int or None
        Memory limit in bytes for correlations that was asked for, if the table is in memory.
    transform : str
        How learners take the numbers: as values ("none"), as normal scores of their ranks ("ranks"), or as
        the data suggest ("auto").
    """

    held: ClassVar[str] = "in memory"
    """Description of where the rows are held."""

    columns: tuple[Column, ...]
    notes: tuple[Note, ...]
    ends: Ends
    positions: Integers
    margins: Any
    memory: int | None = None
    allowed: int | None = None
    transform: str

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of samples."""

    @abstractmethod
    def each(self, function: Callable[[int, Block], Any]) -> Iterator[Any]:
        """Yield what `function` makes of the first row's index and the rows of each block, in order."""

    @abstractmethod
    def add_up(self, function: Summand) -> Arrays:
        """Return the sum of the results of `function` over all blocks of rows."""

    def column(self, i: int) -> npt.NDArray[Any]:
        """Return the codes or numbers of one column as an array."""
        return np.concatenate(list(self.parts_of_column(i)))

    def parts_of_column(self, i: int) -> Iterator[npt.NDArray[Any]]:
        """Yield one column block by block."""
        return (part[0] for part in self.select([i]).each(partial(_matrix, self.columns[i].kind)))

    def rows(self, chosen: Integers) -> Block:
        """Return some rows, given by their positions in ascending order."""
        parts = list(self.each(partial(_some_rows, chosen)))
        if len(parts) == 1:
            return Block(*parts[0])
        return Block(*(np.concatenate(some, axis=1) for some in zip(*parts, strict=True)))

    def all_numbers(self) -> Floats:
        """Return a continuous table as one array, one row for each column."""
        return np.concatenate(list(self.each(partial(_matrix, CONTINUOUS))), axis=1)

    @abstractmethod
    def converted(
        self, columns: tuple[Column, ...], function: Callable[[Block], Block], ends: Ends | None = None
    ) -> Table:
        """Return a table of the blocks that `function` makes; `release` frees them.

        `ends` are the smallest and the largest value of its continuous columns.
        """

    @abstractmethod
    def with_numbers(
        self, chosen: Sequence[int], function: WholeColumn, ends: Ends, n_jobs: int | None = None
    ) -> Self:
        """Return the table with `function` applied to some continuous columns, each as a whole.

        `ends` are the smallest and the largest of their new numbers, `n_jobs` the threads in memory. Rows
        elsewhere are written again; the new table shares its states with this one, and `release` frees its
        own rows.
        """

    def release(self) -> None:  # noqa: B027 - most tables have nothing to give back
        """Free the rows that `with_numbers` or `converted` has written."""

    def numbers_of(self, chosen: Sequence[int]) -> Iterator[tuple[Sequence[int], Floats]]:
        """Yield some continuous columns, a few at a time: which ones, and a row for each of them."""
        step = max(1, NUMBERS_AT_ONCE // max(1, self.n_rows))
        for start in range(0, len(chosen), step):
            part = chosen[start : start + step]
            yield part, self.select(part).all_numbers()

    @abstractmethod
    def counting_engine(self, n_jobs: int | None = None) -> Any:
        """Open the engine that counts a discrete table."""

    @abstractmethod
    def select(self, variables: Sequence[int]) -> Self:
        """Return some of the columns, in this order, as a table of their own."""

    def with_notes(self, *notes: Note) -> Self:
        """Return the same table with these notes and no others."""
        return self._with(notes=notes)

    def _with(self, **changes: Any) -> Self:
        return replace(self, **changes)  # type: ignore[type-var]

    @cached_property
    def remarks(self) -> list[Note]:
        """Notes on what is in the rows, found only once: on the values as they were read.

        Normal scores hide sums, and make linear functions of monotone ones.
        """
        from f2sl.data.notes import remarks

        return remarks(self)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kind of each column."""
        return tuple(column.kind for column in self.columns)

    @cached_property
    def states(self) -> tuple[tuple[object, ...], ...]:
        """Labels of each column's states, in the order of their codes; empty for numbers."""
        return tuple(column.states for column in self.columns)

    @cached_property
    def cardinalities(self) -> Integers:
        """Number of states of each column; 0 for numbers."""
        return np.array([len(column.states) for column in self.columns], dtype=np.int64)

    @cached_property
    def missing(self) -> Integers:
        """Number of missing values of each column."""
        return np.array([column.missing for column in self.columns], dtype=np.int64)

    @property
    def merged(self) -> dict[str, str]:
        """Columns left out as aliases, each with the column that represents it."""
        return {alias.name: column.name for column in self.columns for alias in column.aliases}

    @property
    def n_variables(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def of_kind(self, kind: str) -> list[int]:
        """List the columns of one kind."""
        return of_kind(self.columns, kind)

    @property
    def kind(self) -> str:
        """Kind of all columns, or "mixed" for a table with columns of both."""
        of_states, of_numbers = DISCRETE in self.kinds, CONTINUOUS in self.kinds
        if of_states and of_numbers:
            return MIXED
        return DISCRETE if of_states else CONTINUOUS  # no columns at all have no states to count

    def refuse_mixed(self, learner: str) -> None:
        """Raise an error for a table with columns of both kinds if the learner takes only one kind."""
        if self.kind == MIXED:
            both = ", and ".join(self.describe_columns(self.of_kind(kind)) for kind in (CONTINUOUS, DISCRETE))
            advice = f"; {learner} takes one kind at a time: cut all continuous columns into states with "
            other = ", or leave out the columns of one kind"
            raise DataError(Note("kind", both, advice, Use("bins", 5), other))

    def describe_columns(self, columns: Sequence[int], limit: int = 3) -> str:
        """Describe what some columns of one kind hold, naming the first of them."""
        named = listing([repr(self.columns[i].name) for i in columns], limit)
        kind = self.columns[columns[0]].kind
        return f"column {named} is {kind}" if len(columns) == 1 else f"columns {named} are {kind}"

    def in_name_order(self) -> Self:
        """Return the table with its columns sorted by name, itself if they are already.

        Learners break ties by this order, so the order of a file's columns has no effect.
        """
        order = sorted(range(self.n_variables), key=self.names.__getitem__)
        return self if order == list(range(self.n_variables)) else self.select(order)

    def refuse_missing(self, learner: str) -> None:
        """Raise an error for a table with missing values if the learner needs complete rows."""
        if self.missing.any():
            incomplete = np.flatnonzero(self.missing)
            named = listing([repr(self.names[i]) for i in incomplete])
            lead = (
                f"values are missing (None, NaN or null) in {named}, and {learner} needs all values of a row "
            )
            parts: list[Part] = [lead, "at once; drop incomplete rows with ", Use("missing", "drop")]
            if any(self.kinds[i] == DISCRETE for i in incomplete):
                parts += [", or make missing values of states a state with ", Use("missing", "state")]
            raise DataError(Note("missing", *parts, columns=[self.names[i] for i in incomplete]))

    def as_numbers(self) -> Table:
        """Return a table of one kind with the codes of states as numbers, itself if it holds numbers."""
        self.refuse_mixed("as_numbers")
        if self.kind == CONTINUOUS:
            return self
        columns = tuple(Column(name, CONTINUOUS) for name in self.names)
        made = self.converted(columns, _codes_as_numbers, self.ends)
        return made._with(notes=self.notes, transform=self.transform)

    def close(self) -> None:  # noqa: B027 - most tables have nothing to give back
        """Release what holds the rows: space on disk, or workers that were started for the table."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        counts = ((len(self.of_kind(kind)), kind) for kind in KINDS)
        kinds = " and ".join(f"{n:,} {kind}" for n, kind in counts if n) or "0"
        columns = "column" if self.n_variables == 1 else "columns"
        return f"Table({kinds} {columns}, {self.n_rows:,} rows, {self.held})"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BlockTable(Table):
    """Table whose rows are not in the memory of this process, but in blocks elsewhere.

    Parameters
    ----------
    columns, positions, memory, notes, transform
        As in :class:`f2sl.Table`.
    number_ends : tuple of two ndarrays of float64
        Smallest and largest number of each continuous column; anything for discrete columns.
    counted : dict
        Count of each state, by the column's position; selections of one table share it.
    """

    columns: tuple[Column, ...]
    positions: Integers
    number_ends: Ends
    memory: int
    notes: tuple[Note, ...] = ()
    transform: str = AUTO
    counted: dict[int, Integers] = field(default_factory=dict)

    @abstractmethod
    def totals(
        self, asked: Iterable[Counted], threads: Threads, advance: Callable[[float], None]
    ) -> Iterator[Arrays]:
        """Yield the sums of counts over all blocks; `advance` receives the share of finished blocks."""

    @cached_property
    def margins(self) -> tuple[Integers, ...]:
        """Count of each state of each column; empty for numbers."""
        new = [i for i in self.of_kind(DISCRETE) if self.positions[i] not in self.counted]
        if new:
            cardinalities = self.cardinalities[new]
            [counts] = self.select(new).add_up(partial(_margins, cardinalities))
            split = np.split(counts, np.cumsum(cardinalities)[:-1])
            self.counted.update(zip(self.positions[new].tolist(), split, strict=True))
        own = zip(self.kinds, self.positions.tolist(), strict=True)
        return tuple(self.counted[p] if kind == DISCRETE else np.empty(0, np.int64) for kind, p in own)

    @cached_property
    def ends(self) -> Ends:  # type: ignore[override]
        """Smallest and largest number, or code that occurs, of each column."""
        low, high = (end.copy() for end in self.number_ends)
        for i in self.of_kind(DISCRETE):
            low[i], high[i] = np.flatnonzero(self.margins[i])[[0, -1]]
        return low, high

    def select(self, variables: Sequence[int]) -> Self:
        """Return some of the columns, in this order, as a table of their own on the same blocks."""
        chosen, (low, high) = list(variables), self.number_ends
        return self._with(
            columns=tuple(self.columns[i] for i in chosen),
            positions=self.positions[chosen],
            number_ends=(low[chosen], high[chosen]),
        )

    def _ends_with(self, chosen: Sequence[int], ends: Ends) -> Ends:
        """Return the ends of all continuous columns, with others for some of them."""
        low, high = (end.copy() for end in self.number_ends)
        low[chosen], high[chosen] = ends
        return low, high

    def positions_of_kinds(self) -> tuple[Integers, Integers]:
        """Return the rows of a block's two matrices in which the columns of each kind are."""
        return self.positions[self.of_kind(DISCRETE)], self.positions[self.of_kind(CONTINUOUS)]


# Functions of blocks, which may be sent to workers


def _matrix(kind: str, first: int, block: Block) -> npt.NDArray[Any]:
    return block.codes if kind == DISCRETE else block.numbers


def _some_rows(chosen: Integers, first: int, block: Block) -> Block:
    begin, end = np.searchsorted(chosen, [first, first + block.codes.shape[1]])
    own = chosen[begin:end] - first
    return block if len(own) == block.codes.shape[1] else Block(block.codes[:, own], block.numbers[:, own])


def _codes_as_numbers(block: Block) -> Block:
    return Block(block.codes[:0], block.codes.astype(np.float64))


def _margins(cardinalities: Integers, block: Block) -> Arrays:
    """Count each state of each column, one column after another; missing values have the code behind."""
    counts = [np.bincount(row, minlength=k)[:k] for row, k in zip(block.codes, cardinalities, strict=True)]
    return (np.concatenate(counts).astype(np.int64),)
