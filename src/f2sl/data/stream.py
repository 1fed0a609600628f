"""Tables that stay on disk and are read in blocks of rows.

The data read from files are stored again in a compact form: codes of one or two bytes (or plain floats),
block by block and, within a block, variable by variable. So counting reads only the requested variables and
parses nothing twice. They are in a temporary file without a name, which the system removes when the process
ends, even after a crash. TMPDIR names the folder of such files.
"""

from __future__ import annotations

import operator
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Integers
from f2sl._threads import Threads, resolve_jobs
from f2sl.data.column import CONTINUOUS, DISCRETE, Column, codes_of, of_kind, positions_of
from f2sl.data.memory.table import MemoryTable
from f2sl.data.table import Arrays, Block, BlockTable, Counted, Ends, Summand, WholeColumn, closed_table
from f2sl.errors import FileError

if TYPE_CHECKING:
    from f2sl.data.blocks import BlockEngine

Rows = npt.NDArray[Any]

SHARE_FOR_TABLES = 0.5
"""Share of the memory limit for tables; blocks of rows take less than the rest."""


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
        folder = tempfile.gettempdir()
        free = shutil.disk_usage(folder).free
        if needed > free:
            raise FileError(
                f"{folder}: temporary files need {needed / 1e9:,.2f} GB, but only {free / 1e9:,.2f} GB "
                "are free; free some space, or set TMPDIR to a folder on another disk",
                path=str(folder),
            )

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return -(-self.n_rows // self.rows_per_block)

    def append(self, rows: Rows) -> None:
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

    def _put(self, values: Rows) -> None:
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

    def with_rows(self, changed: Iterable[tuple[int, Rows]]) -> BlockFile:
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

    def read(self, block: int, variables: Sequence[int] | Integers) -> Rows:
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


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StreamTable(BlockTable):
    """Table on disk that is read in blocks.

    Parameters
    ----------
    codes, numbers : BlockFile or None
        Where the rows of the discrete and of the continuous columns are; None if there are no such columns.
    columns, positions, number_ends, counted, memory, notes, transform
        As in :class:`f2sl.data.table.BlockTable`.
    """

    held: ClassVar[str] = "on disk"

    codes: BlockFile | None
    numbers: BlockFile | None

    @classmethod
    def of_table(cls, table: MemoryTable, rows_per_block: int, memory: int = 1 << 28) -> StreamTable:
        """Write a table that is in memory to blocks.

        Examples
        --------
        >>> from f2sl import open_table
        >>> table = open_table({"b": [0.5, 1.5], "a": [2.0, 0.1]})
        >>> streamed = StreamTable.of_table(table, rows_per_block=1).in_name_order()
        >>> streamed.all_numbers().tolist()
        [[2.0, 0.1], [0.5, 1.5]]
        """
        rows = [Block(table.codes, table.numbers)]
        written = cls.of_blocks(table.columns, rows, rows_per_block, table.ends, memory)
        return replace(written, notes=table.notes, transform=table.transform)

    @classmethod
    def of_blocks(
        cls,
        columns: tuple[Column, ...],
        blocks: Iterable[Block],
        rows_per_block: int,
        number_ends: Ends,
        memory: int,
    ) -> StreamTable:
        """Write rows that come in blocks of any sizes."""
        files = [
            BlockFile(len(own), np.dtype(dtype), rows_per_block) if own else None
            for own, dtype in (
                (of_kind(columns, DISCRETE), codes_of(columns)),
                (of_kind(columns, CONTINUOUS), np.float64),
            )
        ]
        for block in blocks:
            for file, rows in zip(files, block, strict=True):
                if file is not None:
                    file.append(rows)
        for file in files:
            if file is not None:
                file.finish()
        codes, numbers = files
        positions = positions_of([column.kind for column in columns])
        how: Any = {"codes": codes, "numbers": numbers, "memory": memory}
        return cls(columns=columns, positions=positions, number_ends=number_ends, **how)

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

    def read(self, block: int) -> Block:
        """Read all columns of a block, those of each kind in their order."""
        files = zip((self.codes, self.numbers), self.positions_of_kinds(), strict=True)
        found = [None if file is None else file.read(block, positions) for file, positions in files]
        nothing = np.empty((0, next(rows.shape[1] for rows in found if rows is not None)))
        codes, numbers = (nothing if rows is None else rows for rows in found)
        return Block(codes, numbers)

    def each(self, function: Callable[[int, Block], Any]) -> Iterator[Any]:
        """Yield what `function` makes of each block, in order."""
        step = self._files[0].rows_per_block
        return (function(i * step, self.read(i)) for i in range(self.n_blocks))

    def add_up(self, function: Summand) -> Arrays:
        """Return the sum of the results of `function` over all blocks of rows."""
        return reduce(_added, (function(self.read(block)) for block in range(self.n_blocks)))

    def totals(
        self, asked: Iterable[Counted], threads: Threads, advance: Callable[[float], None]
    ) -> Iterator[Arrays]:
        """Yield the sums of counts over all blocks; the threads take one block after another."""
        return (self._total(counted, threads, advance) for counted in asked)

    def _total(self, counted: Counted, threads: Threads, advance: Callable[[float], None]) -> Arrays:
        own, left = self.select(counted.used.tolist()), deque(range(self.n_blocks))
        turn, sums = Lock(), list[Arrays]()

        def work(_: int) -> None:
            while left:
                try:
                    block = left.popleft()
                except IndexError:  # another thread has taken the last
                    return
                counts = counted.count(own.read(block))
                with turn:
                    sums[:] = [_added(sums[0], counts) if sums else counts]
                    advance(1.0 / self.n_blocks)

        try:
            for _ in threads.map(work, range(min(threads.n_threads, counted.most_threads))):
                pass
        finally:
            left.clear()  # after an error or Ctrl-C, the other threads end with the blocks they have
        return sums[0]

    def select(self, variables: Sequence[int]) -> StreamTable:
        """Return some of the columns, in this order, as a table of their own on the same blocks."""
        chosen = super().select(variables)
        return replace(
            chosen,
            codes=self.codes if DISCRETE in chosen.kinds or not chosen.kinds else None,
            numbers=self.numbers if CONTINUOUS in chosen.kinds or not chosen.kinds else None,
        )

    def converted(
        self, columns: tuple[Column, ...], function: Callable[[Block], Block], ends: Ends | None = None
    ) -> StreamTable:
        """Return a table on disk of the blocks that `function` makes."""
        made = self.each(lambda _, block: function(block))
        unknown = np.empty(len(columns)), np.empty(len(columns))
        return self.of_blocks(columns, made, self._files[0].rows_per_block, ends or unknown, self.memory)

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
        return replace(
            self, numbers=self.numbers.with_rows(changed), number_ends=self._ends_with(chosen, ends)
        )

    def release(self) -> None:
        """Free the numbers, or the states of a table without numbers."""
        self._files[-1].close()

    def counting_engine(self, n_jobs: int | None = None) -> BlockEngine:
        """Open the engine that counts a discrete table."""
        from f2sl.data.blocks import BlockEngine

        for file in self._files:
            file.check_open()
        # Each thread has its block's tables beside the sums, and the formula takes about as much once more.
        at_once = 8 * (resolve_jobs(n_jobs) + 3)
        return BlockEngine(self, n_jobs, max(1, int(SHARE_FOR_TABLES * self.memory / at_once)))

    def close(self) -> None:
        """Release the space on disk."""
        for file in self._files:
            file.close()


def _added(total: Arrays, more: Arrays) -> Arrays:
    """Add the results of one more block, in place."""
    return tuple(map(operator.iadd, total, more))
