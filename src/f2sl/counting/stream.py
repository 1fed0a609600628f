"""Counting a table that stays on disk, block by block.

Counts add up over blocks of rows. So each block is counted by a :class:`~f2sl.counting.memory.MemoryEngine`
of its own, with only the variables that are asked for, and its tables are added to those of the blocks
before; the formula is applied to the sums. The threads take one block after another. A batch of queries
whose tables would not fit into memory all at once is cut into parts, each of which takes a pass over the
blocks.

A table with more cells than there are samples has only those that occur. Blocks then differ in which do, so
cells are known by the number of their configuration until all are added up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from f2sl._threads import Threads
from f2sl.counting._sums import FullTables, OccurringCells, TilesOfPairs, too_large
from f2sl.counting.memory import MOST_PLANES, merge_pairs
from f2sl.counting.protocol import Floats, FoundPairs, Integers, PairFormula, Queries, TableFormula, Tables
from f2sl.counting.tiles import BY_PLANES, BY_TABLES, cut_triangle, pairs_of
from f2sl.data.streamed import StreamedTable

SHARE_FOR_TABLES = 0.5
"""Of the memory allowed, what tables may take; blocks of rows take less than the rest."""

COPIES_AT_LEAST = 4
"""How often a table is in memory at a time, at least: counted, added up, and worked on by a formula."""

MOST_INNER_CELLS = 128
"""Cells of a pair's table, but for the last row and column, up to which bit planes are faster."""


class Summed(Protocol):
    """Tables that are added up over blocks."""

    def add(self, codes: NDArray[Any]) -> None:
        """Count a block and add it."""


class StreamEngine:
    """Count the variables of a :class:`~f2sl.data.streamed.StreamedTable`, with bounded memory.

    Examples
    --------
    >>> from f2sl.data import as_table
    >>> table = as_table({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]})
    >>> with StreamEngine(StreamedTable.of_table(table, rows_per_block=3), n_jobs=1) as engine:
    ...     engine.count(Queries.of([(0, 1)])).counts.tolist()
    [1, 1, 0, 2]
    """

    def __init__(self, table: StreamedTable, n_jobs: int | None = None) -> None:
        self._table = table
        self.n_rows = table.n_rows
        self.cardinalities: Integers = table.cardinalities
        self.margin_start: Integers = np.concatenate([[0], np.cumsum(self.cardinalities)])
        self.margins: Integers = np.concatenate([np.empty(0, np.int64), *table.margins])
        self.threads = Threads(n_jobs)
        # Each thread has its block's tables beside the sums, and the formula takes about as much once more.
        at_once = 8 * (self.threads.n_threads + 3)
        self._most_cells = max(1, int(SHARE_FOR_TABLES * table.memory / at_once))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cardinalities)

    def close(self) -> None:
        """End the engine's threads."""
        self.threads.close()

    def __enter__(self) -> StreamEngine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def evaluate(self, queries: Queries, formula: TableFormula, width: int = 1) -> Floats:
        """Count the tables of `queries` and apply `formula`, as many at a time as fit into memory."""
        if not len(queries):
            return np.empty((0, width))
        results = (formula(self.count(part)) for part in self._cut(queries))
        return np.concatenate([result.reshape(-1, width) for result in results])

    def search_pairs(
        self,
        formula: PairFormula,
        variables: Integers | None = None,
        target: int | None = None,
        advance: Callable[[float], None] | None = None,
    ) -> FoundPairs:
        """Apply `formula` to all pairs among `variables`, or of `target` with each of them."""
        if variables is None:
            variables = np.arange(self.n_variables)
        triangle = cut_triangle(variables, self.cardinalities, self._way_of_pair, target)
        total = triangle.work
        found: list[FoundPairs] = []
        for piece in triangle.pieces(self._most_cells / 2):  # which may be twice as large
            count = self._count_tiles if piece.method == BY_PLANES else self._count_pairs
            tables = count(triangle.order, piece.tiles, advance, piece.work / total)
            found.extend(formula.of_tables(part) for part in tables)
        return merge_pairs(found)

    def _way_of_pair(self, k_row: int, k_column: int) -> tuple[int, float]:
        """Choose how to count pairs with these numbers of states; gives the cells of their tables as well."""
        few = (k_row - 1) * (k_column - 1) <= MOST_INNER_CELLS and k_row * k_column <= self.n_rows
        planes = few and max(k_row, k_column) <= MOST_PLANES
        return BY_PLANES if planes else BY_TABLES, float(min(k_row * k_column, self.n_rows))

    def _count_tiles(
        self, order: Integers, tiles: Integers, advance: Callable[[float], None] | None, share: float
    ) -> Iterator[Tables]:
        """Count the pairs of some tiles by bit planes."""
        places = np.unique(
            np.concatenate([np.r_[top:bottom, left:right] for top, bottom, left, right in tiles])
        )
        used, local = np.unique(order[places], return_inverse=True)
        inner = np.zeros(len(order), np.int64)
        inner[places] = local
        sums = TilesOfPairs(inner, tiles, self.cardinalities[used])
        self._go_through(used, [sums], self.threads.n_threads, advance, share)
        queries = Queries.of_matrix(used[sums.pairs()])
        counts = sums.counts(self.margins, self.margin_start[used])
        yield self._joined(queries, np.ones(len(queries), np.bool_), counts, [])

    def _count_pairs(
        self, order: Integers, tiles: Integers, advance: Callable[[float], None] | None, share: float
    ) -> Iterator[Tables]:
        """Count the pairs of some tiles like other tables."""
        pairs = np.concatenate([pairs_of(order, tile) for tile in tiles])
        for queries in self._cut(Queries.of_matrix(pairs)):
            yield self.count(queries, advance, share * len(queries) / len(pairs))

    def _cut(self, queries: Queries) -> Iterator[Queries]:
        """Cut a batch into parts that fit into memory."""
        loads = np.minimum(self._sizes(queries), self.n_rows)
        return (queries.part(*part) for part in pairwise(_borders(loads, self._most_cells)))

    def _sizes(self, queries: Queries) -> Floats:
        """The cells of each query's full table."""
        return np.multiply.reduceat(
            self.cardinalities[queries.variables].astype(np.float64), queries.start[:-1]
        )

    def count(
        self, queries: Queries, advance: Callable[[float], None] | None = None, share: float = 1.0
    ) -> Tables:
        """Count the tables of a batch in one pass over the blocks; they must fit into memory.

        `advance` is told of finished blocks, which make up `share` of the whole.
        """
        used, local = np.unique(queries.variables, return_inverse=True)
        full = self._sizes(queries) <= self.n_rows
        dense = _some(Queries(local.reshape(-1), queries.start), full)
        sums = FullTables(dense, self.cardinalities[used], self.n_rows)
        sparse = [
            OccurringCells(local[a:b], self.cardinalities[queries.variables[a:b]], self._most_cells)
            for a, b in zip(queries.start[:-1][~full], queries.start[1:][~full], strict=True)
        ]
        self._go_through(used, [sums, *sparse], self._threads_for(queries, full), advance, share)
        return self._joined(queries, full, sums.counts, [table.groups() for table in sparse])

    def _go_through(
        self,
        used: Integers,
        tables: Sequence[Summed],
        n_threads: int,
        advance: Callable[[float], None] | None,
        share: float,
    ) -> None:
        """Let tables see all blocks of the variables they need; the threads take one block after another."""
        left = deque(range(self._table.blocks.n_blocks))
        step = share / max(1, len(left))
        turn = Lock()

        def work(_: int) -> None:
            while left:
                try:
                    block = left.popleft()
                except IndexError:  # another thread has taken the last
                    return
                codes = self._table.read(block, used)
                for table in tables:
                    table.add(codes)
                if advance is not None:
                    with turn:
                        advance(step)

        try:
            for _ in self.threads.map(work, range(n_threads)):
                pass
        finally:
            left.clear()  # after an error or Ctrl-C, the other threads end with the blocks they have

    def _threads_for(self, queries: Queries, full: NDArray[np.bool_]) -> int:
        """How many threads may have tables of a batch at a time: one if a single table fills the room."""
        cells = self._sizes(queries)[full].sum()
        if cells <= self._most_cells:
            return self.threads.n_threads
        if COPIES_AT_LEAST * 8 * cells > self._table.memory:
            raise too_large(int(np.diff(queries.start).max()), self._table.memory // (COPIES_AT_LEAST * 8))
        return 1

    def _joined(
        self,
        queries: Queries,
        full: NDArray[np.bool_],
        dense: Integers,
        sparse: list[tuple[Integers, Integers]],
    ) -> Tables:
        """Put the tables of a batch together, in the order of the queries."""
        last = self.cardinalities[queries.variables[queries.start[1:] - 1]]
        cells = np.where(full, self._sizes(queries), 0.0).astype(np.int64)
        n_groups = cells // last
        cells[~full] = [len(counts) for counts, _ in sparse]
        n_groups[~full] = [len(borders) - 1 for _, borders in sparse]
        cell_start = np.concatenate([[0], np.cumsum(cells)])
        slots = np.concatenate([[0], np.cumsum(n_groups + 1)])
        within = np.arange(slots[-1]) - np.repeat(slots[:-1], n_groups + 1)
        group_start = np.repeat(cell_start[:-1], n_groups + 1) + within * np.repeat(last, n_groups + 1)
        counts = dense
        if sparse:
            counts = np.empty(int(cell_start[-1]), np.int64)
            counts[np.repeat(full, cells)] = dense
            for t, (some, borders) in zip(np.flatnonzero(~full), sparse, strict=True):
                counts[cell_start[t] : cell_start[t + 1]] = some
                group_start[slots[t] : slots[t + 1]] = cell_start[t] + borders
        return Tables(
            queries,
            self.cardinalities,
            counts,
            cell_start,
            group_start,
            slots[:-1],
            n_groups,
            full,
            self.n_rows,
        )


def _some(queries: Queries, chosen: NDArray[np.bool_]) -> Queries:
    """Give some of the queries as a batch of their own."""
    if chosen.all():
        return queries
    lengths = np.diff(queries.start)
    start = np.concatenate([[0], np.cumsum(lengths[chosen])])
    return Queries(queries.variables[np.repeat(chosen, lengths)], start)


def _borders(loads: Floats, most: float) -> list[int]:
    """Cut a list of loads into stretches of at most `most` each, or of one that is larger.

    Examples
    --------
    >>> _borders(np.array([3.0, 3.0, 5.0, 9.0, 1.0]), 8.0)
    [0, 2, 3, 4, 5]
    """
    ends = np.cumsum(loads)
    borders = [0]
    while borders[-1] < len(loads):
        before = ends[borders[-1] - 1] if borders[-1] else 0.0
        borders.append(max(borders[-1] + 1, int(np.searchsorted(ends, before + most, side="right"))))
    return borders
