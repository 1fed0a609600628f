"""Tables that stay on disk and are gone through in blocks of rows.

What is read from files is kept once more, compactly: codes of one or two bytes (or plain floats), block
after block, in each block variable after variable. So whoever counts reads the variables asked for and
nothing else, and parses nothing twice. The place for it is a temporary file without a name, which the system
removes with the process that has it open, however that ends. TMPDIR says where such files are made.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from f2sl.errors import FileError
from f2sl.storage.memory.table import DiscreteTable, NumericTable, code_type, name_order

Block = npt.NDArray[Any]

Summand = Callable[[npt.NDArray[np.float64]], tuple[npt.NDArray[Any], ...]]
"""From a block of numbers to arrays that are to be added up over all blocks."""


class BlockFile:
    """A temporary file of blocks, each a matrix with a row for each variable.

    All blocks have `rows_per_block` rows of the table, the last one what is left.

    Examples
    --------
    >>> blocks = BlockFile(2, np.dtype(np.uint8), rows_per_block=2)
    >>> blocks.append(np.array([[0, 1, 2], [3, 4, 5]], np.uint8))
    >>> blocks.finish()
    >>> [blocks.read(i, [1]).tolist() for i in range(blocks.n_blocks)]
    [[[3, 4]], [[5]]]
    """

    def __init__(self, n_variables: int, kind: np.dtype[Any], rows_per_block: int) -> None:
        self.n_variables = n_variables
        self.kind = kind
        self.rows_per_block = rows_per_block
        self.n_rows = 0
        self._pending = np.empty((n_variables, rows_per_block), kind)
        self._n_pending = 0
        self._file: Any = tempfile.TemporaryFile(prefix="f2sl-", buffering=0)  # noqa: SIM115
        self._turn = Lock()
        self._close = weakref.finalize(self, self._file.close)

    @staticmethod
    def check_space(needed: int) -> None:
        """Refuse to begin what the disk has no room for."""
        place = tempfile.gettempdir()
        free = shutil.disk_usage(place).free
        if needed > free:
            raise FileError(
                f"{place}: {needed / 1e9:,.2f} GB are needed for temporary files and {free / 1e9:,.2f} GB "
                "are free; make room, or let TMPDIR name a folder on another disk"
            )

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
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
        """Write what is left; nothing can be added any more."""
        if self._n_pending:
            self._write()
        self._pending = self._pending[:, :0]

    def _write(self) -> None:
        content = np.ascontiguousarray(self._pending[:, : self._n_pending]).data.cast("B")
        try:
            while content:
                content = content[self._file.write(content) :]
        except OSError as error:
            raise FileError(
                f"{tempfile.gettempdir()}: temporary files cannot be written ({error.strerror or error}); "
                "make room, or let TMPDIR name a folder on another disk"
            ) from None
        self.n_rows += self._n_pending
        self._n_pending = 0

    def read(self, block: int, variables: Sequence[int] | npt.NDArray[np.int64]) -> Block:
        """Read some variables' rows of a block; several threads may."""
        first = block * self.rows_per_block
        n_rows = min(self.rows_per_block, self.n_rows - first)
        found = np.empty((len(variables), n_rows), self.kind)
        width = n_rows * self.kind.itemsize
        start = first * self.n_variables * self.kind.itemsize
        for row, first_variable, n_together in _runs(variables):
            content = found[row : row + n_together].data.cast("B")
            with self._turn:
                self._file.seek(start + first_variable * width)
                while content:
                    n_read = self._file.readinto(content)
                    if not n_read:
                        raise FileError(f"{tempfile.gettempdir()}: a temporary file has lost its end")
                    content = content[n_read:]
        return found

    def close(self) -> None:
        """Give the space back."""
        self._close()


def _runs(variables: Sequence[int] | npt.NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Find the stretches of variables that follow each other: place, first variable, how many."""
    numbers = np.asarray(variables, np.int64)
    borders = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
    lengths = np.diff(borders, append=len(numbers))
    return list(zip(borders.tolist(), numbers[borders].tolist(), lengths.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """Samples that are gone through in blocks, of states or of real numbers.

    Parameters
    ----------
    kind : {"discrete", "gaussian"}
        What the blocks hold: codes of states, or numbers.
    names : tuple of str
        The variables, each once.
    blocks : BlockFile
        Where the rows are.
    places : ndarray of int64
        Which of the file's variables each variable is.
    states : tuple of tuples
        For each variable the labels of its states, in the order of their codes; empty for numbers.
    margins : tuple of ndarray
        For each variable how often each of its states occurs; empty for numbers.
    low, high : ndarray of float64
        The least and the greatest number (or code) of each variable.
    memory : int
        Bytes that working with the table may take.
    notes : tuple of str
        What a user should know about how the data were read.
    """

    kind: str
    names: tuple[str, ...]
    blocks: BlockFile
    places: npt.NDArray[np.int64]
    states: tuple[tuple[object, ...], ...]
    margins: tuple[npt.NDArray[np.int64], ...]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    memory: int
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"StreamedTable({self.n_variables} variables, {self.n_rows} rows)"

    @classmethod
    def of_table(
        cls, table: DiscreteTable | NumericTable, rows_per_block: int, memory: int = 1 << 28
    ) -> StreamedTable:
        """Write a table that is in memory to blocks.

        Examples
        --------
        >>> table = NumericTable(("b", "a"), np.array([[0.5, 1.5], [2.0, 0.1]]))
        >>> streamed = StreamedTable.of_table(table, rows_per_block=1).in_name_order()
        >>> streamed.read(1).tolist()
        [[0.1], [1.5]]
        """
        values = table.codes if isinstance(table, DiscreteTable) else table.values
        blocks = BlockFile(table.n_variables, values.dtype, rows_per_block)
        blocks.append(values)
        blocks.finish()
        states: tuple[tuple[object, ...], ...] = ()
        margins: tuple[npt.NDArray[np.int64], ...] = ()
        if isinstance(table, DiscreteTable):
            states = table.states
            margins = tuple(
                np.bincount(codes, minlength=len(labels)).astype(np.int64)
                for codes, labels in zip(values, states, strict=True)
            )
        low, high = values.min(axis=1).astype(np.float64), values.max(axis=1).astype(np.float64)
        places = np.arange(table.n_variables)
        return cls(table.kind, table.names, blocks, places, states, margins, low, high, memory, table.notes)

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """The number of samples."""
        return self.blocks.n_rows

    @cached_property
    def cardinalities(self) -> npt.NDArray[np.int64]:
        """The number of states of each variable."""
        return np.array([len(labels) for labels in self.states], dtype=np.int64)

    def read(self, block: int, variables: npt.NDArray[np.int64] | None = None) -> Block:
        """Read a block's rows of some variables, or of all: a row of the matrix for each variable."""
        return self.blocks.read(block, self.places if variables is None else self.places[variables])

    def add_up(self, function: Summand) -> tuple[npt.NDArray[Any], ...]:
        """Sum what `function` makes of each block's numbers."""
        total = function(self.read(0).astype(np.float64))
        for block in range(1, self.blocks.n_blocks):
            for sums, more in zip(total, function(self.read(block).astype(np.float64)), strict=True):
                sums += more
        return total

    def read_all(self) -> npt.NDArray[np.float64]:
        """Read all numbers, for who needs them in one place."""
        return np.concatenate([self.read(i).astype(np.float64) for i in range(self.blocks.n_blocks)], axis=1)

    def some(self, variables: Sequence[int]) -> StreamedTable:
        """Give some of the variables, in this order, as a table of their own on the same blocks."""
        chosen = list(variables)
        return replace(
            self,
            names=tuple(self.names[i] for i in chosen),
            places=self.places[chosen],
            states=tuple(self.states[i] for i in chosen) if self.states else (),
            margins=tuple(self.margins[i] for i in chosen) if self.margins else (),
            low=self.low[chosen],
            high=self.high[chosen],
        )

    def in_name_order(self) -> StreamedTable:
        """Return the table with its variables sorted by name, itself if they are already."""
        order = name_order(self.names)
        return self if order is None else self.some(order)

    def as_numbers(self) -> StreamedTable:
        """Take the codes of states for numbers."""
        return replace(self, kind="gaussian", states=(), margins=())


def ends_of(
    margins: Sequence[npt.NDArray[np.int64]],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Find the least and the greatest code of each variable that occurs.

    Examples
    --------
    >>> low, high = ends_of([np.array([0, 3, 1])])
    >>> low.tolist(), high.tolist()
    ([1.0], [2.0])
    """
    ends = np.array([np.flatnonzero(counts)[[0, -1]] for counts in margins], np.float64)
    return ends[:, 0], ends[:, 1]


def block_type(states: Sequence[Sequence[object]]) -> np.dtype[Any]:
    """Tell the type of the codes of variables with these states."""
    return np.dtype(code_type(max(map(len, states), default=0)))
