"""Count a table that stays on disk, block by block.

Counts add up over blocks of rows (:mod:`f2sl.data.blocks`); the formula is applied to the sums. The
threads take one block after another. A batch of queries whose tables would not fit into memory all at once is
cut into parts, each of which takes a pass over the blocks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from threading import Lock

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._threads import Threads
from f2sl.data.blocks import (
    Batch,
    BlockCounts,
    Counted,
    Occurring,
    TileBatch,
    cut,
    too_large,
    way_of_pair,
)
from f2sl.data.engines import Advance, CountsOnly, FoundPairs, PairFormula, Queries, TableFormula, Tables
from f2sl.data.stream.table import StreamTable
from f2sl.data.tiles import BY_PLANES, Piece, Triangle, pairs_of

SHARE_FOR_TABLES = 0.5
"""Share of the memory limit for tables; blocks of rows take less than the rest."""

COPIES_AT_LEAST = 4
"""Smallest number of copies of a table in memory: counted, added up, and used by a formula."""


class StreamEngine(CountsOnly):
    """Count the variables of a :class:`~f2sl.data.stream.table.StreamTable`, with bounded memory.

    Examples
    --------
    >>> from f2sl import open_table
    >>> table = open_table({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]})
    >>> with StreamEngine(StreamTable.of_table(table, rows_per_block=3), n_jobs=1) as engine:
    ...     engine.count(Queries.of([(0, 1)])).counts.tolist()
    [1, 1, 0, 2]
    """

    def __init__(self, table: StreamTable, n_jobs: int | None = None) -> None:
        self._table = table
        self.n_rows = table.n_rows
        self.cardinalities: Integers = table.cardinalities
        self.threads = Threads(n_jobs)
        # Each thread has its block's tables beside the sums, and the formula takes about as much once more.
        at_once = 8 * (self.threads.n_threads + 3)
        self._most_cells = max(1, int(SHARE_FOR_TABLES * table.memory / at_once))

    def close(self) -> None:
        """End the engine's threads."""
        self.threads.close()

    def evaluate(self, queries: Queries, formula: TableFormula, width: int = 1) -> Floats:
        """Count the tables of `queries` and apply `formula`, as many at a time as fit into memory."""
        if not len(queries):
            return np.empty((0, width))
        results = (formula(self.count(part)) for part in self._cut(queries))
        return np.concatenate([result.reshape(-1, width) for result in results])

    def _cost_of_pair(self, k_row: int, k_column: int) -> tuple[int, float]:
        return way_of_pair(self.n_rows, k_row, k_column)

    def _search(self, formula: PairFormula, triangle: Triangle, advance: Advance) -> Iterator[FoundPairs]:
        total = triangle.work
        for piece in triangle.pieces(self._most_cells):
            tables = self._count_pairs(triangle.order, piece, advance, piece.work / total)
            yield from map(formula.of_tables, tables)

    def _count_pairs(self, order: Integers, piece: Piece, advance: Advance, share: float) -> Iterator[Tables]:
        """Count the pairs of some tiles, by bit planes or like other tables."""
        if piece.method == BY_PLANES:
            batch = TileBatch(order, piece.tiles, self.presence, self.margins, self.n_rows)
            yield self._go_through(batch, self.threads.n_threads, advance, share)
            return
        pairs = np.concatenate([pairs_of(order, tile) for tile in piece.tiles])
        for part in self._cut(Queries.of_matrix(pairs)):
            queries = self.presence.pair_queries(part.variables.reshape(-1, 2))
            yield self.count(queries, advance, share * len(part) / len(pairs))

    def _cut(self, queries: Queries) -> Iterator[Queries]:
        """Cut a batch into parts that fit into memory."""
        loads = np.minimum(queries.table_sizes(self.presence.cardinalities), self.n_rows)
        return cut(queries, loads, self._most_cells)

    def count(self, queries: Queries, advance: Advance = lambda share: None, share: float = 1.0) -> Tables:
        """Count the tables of a batch in one pass over the blocks; they must fit into memory.

        `advance` receives the share of finished blocks; all blocks make up `share` of the whole.
        """
        batch = Batch(queries, self.presence, self.n_rows, self._most_cells)
        return self._go_through(batch, self._threads_for(batch), advance, share)

    def _threads_for(self, batch: Batch) -> int:
        """Return the number of threads that may hold tables of a batch: 1 if a table fills the memory."""
        cells = batch.queries.table_sizes(batch.cardinalities)[batch.full].sum()
        if cells <= self._most_cells:
            return self.threads.n_threads
        if COPIES_AT_LEAST * 8 * cells > self._table.memory:
            longest = int(np.diff(batch.queries.start).max())
            raise too_large(longest, self._table.memory // (COPIES_AT_LEAST * 8))
        return 1

    def _go_through(self, batch: Counted, n_threads: int, advance: Advance, share: float) -> Tables:
        """Add up the counts of all blocks; the threads take one block after another."""
        left = deque(range(self._table.n_blocks))
        step = share / max(1, len(left))
        sums, turn = _Sums(), Lock()

        def work(_: int) -> None:
            while left:
                try:
                    block = left.popleft()
                except IndexError:  # another thread has taken the last
                    return
                sums.add(batch.count(self._table.read(block, batch.used)))
                with turn:
                    advance(step)

        try:
            for _ in self.threads.map(work, range(n_threads)):
                pass
        finally:
            left.clear()  # after an error or Ctrl-C, the other threads end with the blocks they have
        return batch.tables(sums.total())


class _Sums:
    """Counts of a batch, added up over blocks by several threads."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._full: Integers | None = None
        self._occurring: list[list[Occurring]] = []

    def add(self, counts: BlockCounts) -> None:
        """Add the counts of a block."""
        with self._turn:
            if self._full is None:
                self._full, self._occurring = counts.full, [[table] for table in counts.occurring]
                return
            self._full += counts.full
            for parts, table in zip(self._occurring, counts.occurring, strict=True):
                parts.append(table)
                # As in merge sort: parts of like length are joined, so that each cell is moved few times.
                while len(parts) > 1 and len(parts[-2].keys) <= 2 * len(parts[-1].keys):
                    _join_last_two(parts)

    def total(self) -> BlockCounts:
        """Return the sum."""
        for parts in self._occurring:
            while len(parts) > 1:
                _join_last_two(parts)
        assert self._full is not None  # a table has at least one block
        return BlockCounts(self._full, tuple(part for [part] in self._occurring))


def _join_last_two(parts: list[Occurring]) -> None:
    parts[-2:] = [parts[-2].plus(parts[-1])]
