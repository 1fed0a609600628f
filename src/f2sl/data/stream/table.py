"""Tables that stay on disk and are read in blocks of rows.

The data read from files are stored again in a compact form: codes of one or two bytes (or plain floats),
block by block and, within a block, variable by variable. So counting reads only the requested variables and
parses nothing twice. They are in a temporary file without a name, which the system removes when the process
ends, even after a crash. TMPDIR names the folder of such files.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Floats, Integers
from f2sl._constants import AUTO
from f2sl._notes import Note
from f2sl.data.column import CONTINUOUS, DISCRETE, Column, codes_of, of_kind, positions_of
from f2sl.data.memory.table import MemoryTable
from f2sl.data.table import Arrays, Ends, Summand, Table, WholeColumn, closed_table
from f2sl.data.table import Block as Rows
from f2sl.errors import FileError

if TYPE_CHECKING:
    from f2sl.data.stream.engine import StreamEngine

Block = npt.NDArray[Any]


class BlockFile:
    """Temporary file of blocks, each a matrix with a row for each variable.

    All blocks have `rows_per_block` rows of the table, except the last one, which has the remaining rows.

    Examples
    --------
    >>> blocks = BlockFile(2, np.dtype(np.uint8), rows_per_block=2)
    >>> blocks.append(np.array([[0, 1, 2], [3, 4, 5]], np.uint8))
    >>> blocks.finish()
    >>> [blocks.read(i, [1]).tolist() for i in range(blocks.n_blocks)]
    [[[3, 4]], [[5]]]
    """

    def __init__(self, n_variables: int, dtype: np.dtype[Any], rows_per_block: int) -> None:
        self.n_variables = n_variables
        self.dtype = dtype
        self.rows_per_block = rows_per_block
        self.n_rows = 0
        self._pending = np.empty((n_variables, rows_per_block), dtype)
        self._n_pending = 0
        self._file: Any = tempfile.TemporaryFile(prefix="f2sl-", buffering=0)  # noqa: SIM115
        self._turn = Lock()
        self._close = weakref.finalize(self, self._file.close)

    @staticmethod
    def check_space(needed: int) -> None:
        """Raise an error if the disk has too little free space."""
        position = tempfile.gettempdir()
        free = shutil.disk_usage(position).free
        if needed > free:
            raise FileError(
                f"{position}: temporary files need {needed / 1e9:,.2f} GB, but only {free / 1e9:,.2f} GB "
                "are free; free some space, or set TMPDIR to a folder on another disk"
            )

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_rows // self.rows_per_block)

    def append(self, rows: Block) -> None:
        """Add rows of the table, given as a matrix with a row for each variable."""
        done = 0
        while done < rows.shape[1]:
            more = min(self.rows_per_block - self._n_pending, rows.shape[1] - done)
            self._pending[:, self._n_pending : self._n_pending + more] = rows[:, done : done + more]
            self._n_pending += more
            done += more
            if self._n_pending == self.rows_per_block:
                self._write()

    def finish(self) -> None:
        """Write the remaining rows and close the table for writing."""
        if self._n_pending:
            self._write()
        self._pending = self._pending[:, :0]

    def _write(self) -> None:
        self._put(self._pending[:, : self._n_pending])
        self.n_rows += self._n_pending
        self._n_pending = 0

    def _put(self, values: Block) -> None:
        """Write at the current position of the file."""
        content = np.ascontiguousarray(values).data.cast("B")
        try:
            while content:
                content = content[self._file.write(content) :]
        except OSError as error:
            raise FileError(
                f"{tempfile.gettempdir()}: temporary files cannot be written ({error.strerror or error}); "
                "free some space, or set TMPDIR to a folder on another disk"
            ) from None

    def with_rows(self, changed: Iterable[tuple[int, Block]]) -> BlockFile:
        """Return a copy in which some variables have other values: their numbers, each with all its rows."""
        self.check_space(self.n_rows * self.n_variables * self.dtype.itemsize)
        copy = BlockFile(self.n_variables, self.dtype, self.rows_per_block)
        for block in range(self.n_blocks):
            copy.append(self.read(block, range(self.n_variables)))
        copy.finish()
        for variable, values in changed:
            for first in range(0, self.n_rows, self.rows_per_block):
                part = values[first : first + self.rows_per_block]
                copy._file.seek((first * self.n_variables + len(part) * variable) * self.dtype.itemsize)
                copy._put(part.astype(self.dtype))
        return copy

    def read(self, block: int, variables: Sequence[int] | Integers) -> Block:
        """Read some variables' rows of a block; several threads may."""
        self.check_open()
        first = block * self.rows_per_block
        n_rows = min(self.rows_per_block, self.n_rows - first)
        found = np.empty((len(variables), n_rows), self.dtype)
        width = n_rows * self.dtype.itemsize
        start = first * self.n_variables * self.dtype.itemsize
        for row, first_variable, n_together in _runs(variables):
            content = found[row : row + n_together].data.cast("B")
            with self._turn:
                self._file.seek(start + first_variable * width)
                while content:
                    n_read = self._file.readinto(content)
                    if not n_read:
                        raise FileError(f"{tempfile.gettempdir()}: a temporary file was truncated; run again")
                    content = content[n_read:]
        return found

    def check_open(self) -> None:
        """Raise an error if the table was closed."""
        if self._file.closed:
            raise closed_table()

    def close(self) -> None:
        """Release the space."""
        self._close()


def _runs(variables: Sequence[int] | Integers) -> list[tuple[int, int, int]]:
    """Find runs of consecutive variables: place, first variable and length of each."""
    numbers = np.asarray(variables, np.int64)
    borders = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
    lengths = np.diff(borders, append=len(numbers))
    return list(zip(borders.tolist(), numbers[borders].tolist(), lengths.tolist(), strict=True))


@dataclass(frozen=True, eq=False, repr=False)
class StreamTable(Table):
    """Table on disk that is read in blocks.

    Parameters
    ----------
    columns, places
        As in :class:`f2sl.Table`.
    codes, numbers : BlockFile or None
        Where the rows of the discrete columns, and of numbers, are; None if there are no such columns.
    margins : tuple of ndarray
        For each column how often each of its states occurs; empty for numbers.
    ends, memory, notes, transform
        As in :class:`f2sl.Table`.
    """

    held: ClassVar[str] = "on disk"

    columns: tuple[Column, ...]
    codes: BlockFile | None
    numbers: BlockFile | None
    positions: Integers
    margins: tuple[Integers, ...]
    ends: Ends
    memory: int = 1 << 28
    notes: tuple[Note, ...] = ()
    transform: str = AUTO

    @classmethod
    def of_table(cls, table: MemoryTable, rows_per_block: int, memory: int = 1 << 28) -> StreamTable:
        """Write a table that is in memory to blocks.

        Examples
        --------
        >>> table = MemoryTable.of_numbers(("b", "a"), [[0.5, 1.5], [2.0, 0.1]])
        >>> streamed = StreamTable.of_table(table, rows_per_block=1).in_name_order()
        >>> streamed.read(1).tolist()
        [[0.1], [1.5]]
        """
        writer = BlockWriter(table.columns, rows_per_block)
        writer.append(table.codes, table.numbers)
        return replace(writer.finish(table.ends, memory, table.notes), transform=table.transform)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return self._files[0].n_rows

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self._files[0].n_blocks

    @property
    def _files(self) -> list[BlockFile]:
        return [file for file in (self.codes, self.numbers) if file is not None]

    def read(self, block: int, variables: Integers | None = None) -> Block:
        """Return a block's rows of some or all columns of a table of one kind, a row for each column."""
        [file] = self._files
        return file.read(block, self.positions if variables is None else self.positions[variables])

    def column(self, i: int) -> npt.NDArray[Any]:
        """Return the codes or numbers of one column as an array."""
        return np.concatenate(list(self.parts_of_column(i)))

    def parts_of_column(self, i: int) -> Iterator[npt.NDArray[Any]]:
        """Yield one column block by block."""
        file = self.codes if self.columns[i].kind == DISCRETE else self.numbers
        assert file is not None
        return (file.read(block, self.positions[[i]])[0] for block in range(file.n_blocks))

    def add_up(self, function: Summand) -> Arrays:
        """Sum what `function` makes of each block."""
        total = function(self._rows(0))
        for block in range(1, self.n_blocks):
            for sums, more in zip(total, function(self._rows(block)), strict=True):
                sums += more
        return total

    def _rows(self, block: int) -> Rows:
        """Read all columns of a block, those of each kind in their order."""
        parts = []
        for kind, file in ((DISCRETE, self.codes), (CONTINUOUS, self.numbers)):
            positions = self.positions[self.of_kind(kind)]
            parts.append(np.empty((0, 0)) if file is None else file.read(block, positions))
        return Rows(parts[0], parts[1].astype(np.float64))

    def rows(self, chosen: Integers) -> Rows:
        """Return some rows, given by their positions in ascending order."""
        step = self._files[0].rows_per_block
        parts = []
        for block in np.unique(chosen // step).tolist():
            own = chosen[chosen // step == block] - block * step
            codes, numbers = self._rows(block)
            parts.append(
                (codes[:, own] if codes.size else codes, numbers[:, own] if numbers.size else numbers)
            )
        codes, numbers = (np.concatenate(some, axis=1) for some in zip(*parts, strict=True))
        return Rows(codes, numbers)

    def all_numbers(self) -> Floats:
        """Return a continuous table as one array, one row for each column."""
        return np.concatenate([self.read(i).astype(np.float64) for i in range(self.n_blocks)], axis=1)

    def select(self, variables: Sequence[int]) -> StreamTable:
        """Return some of the columns, in this order, as a table of their own on the same blocks."""
        chosen = super().select(variables)
        return replace(
            chosen,
            codes=self.codes if DISCRETE in chosen.kinds or not chosen.kinds else None,
            numbers=self.numbers if CONTINUOUS in chosen.kinds or not chosen.kinds else None,
            margins=tuple(self.margins[i] for i in variables),
        )

    def _codes_as_numbers(self) -> StreamTable:
        columns = tuple(Column(name, CONTINUOUS) for name in self.names)
        margins = (np.empty(0, np.int64),) * self.n_variables
        return replace(self, columns=columns, codes=None, numbers=self.codes, margins=margins)

    def recoded(self, columns: tuple[Column, ...], function: Callable[[Rows], Block]) -> StreamTable:
        """Return a discrete table on disk, whose codes `function` makes of each block."""
        writer = BlockWriter(columns, self._files[0].rows_per_block)
        for block in range(self.n_blocks):
            writer.append(function(self._rows(block)), np.empty((0, 0)))
        unknown = np.empty(len(columns))
        return writer.finish((unknown, unknown), self.memory, ())

    def with_numbers(
        self, chosen: Sequence[int], function: WholeColumn, ends: Ends, n_jobs: int | None = None
    ) -> StreamTable:
        """Return the table with `function` applied to some continuous columns; the others are copied."""
        assert self.numbers is not None  # there are continuous columns
        changed = (
            (int(self.positions[i]), function(values))
            for part, numbers in self.numbers_of(chosen)
            for i, values in zip(part, numbers, strict=True)
        )
        low, high = (end.copy() for end in self.ends)
        low[chosen], high[chosen] = ends
        return replace(self, numbers=self.numbers.with_rows(changed), ends=(low, high))

    def release(self) -> None:
        """Free the numbers; the states stay."""
        if self.numbers is not None:
            self.numbers.close()

    def counting_engine(self, n_jobs: int | None = None) -> StreamEngine:
        """Open the engine that counts a discrete table."""
        from f2sl.data.stream.engine import StreamEngine

        for file in self._files:
            file.check_open()
        return StreamEngine(self, n_jobs)

    def close(self) -> None:
        """Release the space on disk."""
        for file in self._files:
            file.close()


class BlockWriter:
    """Writer of codes and numbers side by side, which also counts the states."""

    def __init__(self, columns: tuple[Column, ...], rows_per_block: int) -> None:
        self._columns = columns
        self._of_states = of_kind(columns, DISCRETE)
        self._margins = [np.zeros(len(column.states), np.int64) for column in columns]
        held = (self._of_states, codes_of(columns)), (of_kind(columns, CONTINUOUS), np.float64)
        self._files = [
            BlockFile(len(own), np.dtype(dtype), rows_per_block) if own else None for own, dtype in held
        ]

    def append(self, codes: Block, numbers: Block) -> None:
        """Add rows of the table: a matrix for the columns of each kind, with a row for each column."""
        for i, row in zip(self._of_states, codes, strict=True):
            own = self._margins[i]
            own += np.bincount(row, minlength=len(own))[: len(own)]  # without missing values
        for file, rows in zip(self._files, (codes, numbers), strict=True):
            if file is not None:
                file.append(rows)

    def finish(self, ends: Ends, memory: int, notes: tuple[Note, ...]) -> StreamTable:
        """Write the remaining rows; `ends` are those of numbers; those of codes follow from the counts."""
        for file in self._files:
            if file is not None:
                file.finish()
        low, high = (end.copy() for end in ends)
        if self._of_states:
            occurring = ends_of([self._margins[i] for i in self._of_states])
            low[self._of_states], high[self._of_states] = occurring
        codes, numbers = self._files
        positions, margins = positions_of([column.kind for column in self._columns]), tuple(self._margins)
        return StreamTable(self._columns, codes, numbers, positions, margins, (low, high), memory, notes)


def ends_of(margins: Sequence[Integers]) -> Ends:
    """Find the smallest and the largest code that occurs of each variable.

    Examples
    --------
    >>> low, high = ends_of([np.array([0, 3, 1])])
    >>> low.tolist(), high.tolist()
    ([1.0], [2.0])
    """
    ends = np.array([np.flatnonzero(counts)[[0, -1]] for counts in margins], np.float64)
    return ends[:, 0], ends[:, 1]
