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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._threads import Threads
from f2sl.counting.memory import MemoryEngine, merge_pairs
from f2sl.counting.protocol import Floats, FoundPairs, Integers, PairFormula, Queries, TableFormula, Tables
from f2sl.counting.tiles import BY_TABLES, cut_triangle, pairs_of
from f2sl.data.streamed import StreamedTable
from f2sl.errors import DataError

SHARE_FOR_TABLES = 0.5
"""Of the memory allowed, what tables may take; blocks of rows take less than the rest."""

COPIES_AT_LEAST = 4
"""How often a table is in memory at a time, at least: counted, added up, and worked on by a formula."""

LARGEST_KEY = 2.0**62
"""Configurations are numbered up to here; beyond, their codes are put side by side."""


@dataclass(frozen=True)
class _Rows:
    """Some variables' codes in a block of rows."""

    codes: NDArray[Any]
    cardinalities: Integers

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])


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
        triangle = cut_triangle(variables, self.cardinalities, self._cost_of_pair, target)
        found: list[FoundPairs] = []
        if len(triangle.tiles):
            for first, last in pairwise(_borders(triangle.work, self._most_cells)):
                pairs = np.concatenate([pairs_of(triangle.order, t) for t in triangle.tiles[first:last]])
                share = float(triangle.work[first:last].sum() / triangle.work.sum())
                for queries in self._cut(Queries.of_matrix(pairs)):
                    part = share * len(queries) / len(pairs)
                    found.append(formula.of_tables(self.count(queries, advance, part)))
        return merge_pairs(found)

    def _cost_of_pair(self, k_row: int, k_column: int) -> tuple[int, float]:
        return BY_TABLES, float(min(k_row * k_column, self.n_rows))

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
        sums = _Sums(self._table, used, dense, self.n_rows)
        sparse = [
            _Occurring(local[a:b], self.cardinalities[queries.variables[a:b]], self._most_cells)
            for a, b in zip(queries.start[:-1][~full], queries.start[1:][~full], strict=True)
        ]
        n_threads = self._threads_for(queries, full)
        left = deque(range(self._table.blocks.n_blocks))
        step = share / max(1, len(left))

        def work(_: int) -> None:
            while left:
                try:
                    block = left.popleft()
                except IndexError:  # another thread has taken the last
                    return
                codes = self._table.read(block, used)
                sums.add(codes)
                for table in sparse:
                    table.add(codes)
                if advance is not None:
                    advance(step)

        try:
            for _ in self.threads.map(work, range(n_threads)):
                pass
        finally:
            left.clear()  # after Ctrl-C in one thread, the others end with their blocks
        return self._joined(queries, full, sums.counts, [table.groups() for table in sparse])

    def _threads_for(self, queries: Queries, full: NDArray[np.bool_]) -> int:
        """How many threads may have tables of a batch at a time: one if a single table fills the room."""
        cells = self._sizes(queries)[full].sum()
        if cells <= self._most_cells:
            return self.threads.n_threads
        if COPIES_AT_LEAST * 8 * cells > self._table.memory:
            raise _too_large(int(np.diff(queries.start).max()), self._table.memory // (COPIES_AT_LEAST * 8))
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


class _Sums:
    """Full tables, added up over blocks."""

    def __init__(self, table: StreamedTable, used: Integers, queries: Queries, n_rows: int) -> None:
        self._queries = queries
        self._cardinalities = table.cardinalities[used]
        self._most_full_cells = n_rows
        self._turn = Lock()
        self.counts: Integers = np.zeros(0, np.int64)

    def add(self, codes: NDArray[Any]) -> None:
        """Count a block and add it."""
        if not len(self._queries):
            return
        rows = _Rows(codes, self._cardinalities)
        counts = MemoryEngine(rows, 1, most_full_cells=self._most_full_cells).count(self._queries).counts
        with self._turn:
            if len(self.counts):
                self.counts += counts
            else:
                self.counts = counts


class _Occurring:
    """One table of which only the cells that occur are kept, added up over blocks."""

    def __init__(self, query: Integers, cardinalities: Integers, most_cells: int) -> None:
        self._query = query
        self._cardinalities = cardinalities
        self._numbered = float(np.prod(cardinalities.astype(np.float64))) <= LARGEST_KEY
        self._most_cells = most_cells
        self._parts: list[tuple[NDArray[Any], Integers]] = []
        self._turn = Lock()

    def add(self, codes: NDArray[Any]) -> None:
        """Count a block and keep what occurs in it."""
        keys, counts = np.unique(self._keys(codes), return_counts=True)
        with self._turn:
            self._parts.append((keys, counts.astype(np.int64)))
            # As in merge sort: parts of like length are joined, so that each cell is moved few times.
            while len(self._parts) > 1 and len(self._parts[-2][0]) <= 2 * len(self._parts[-1][0]):
                self._join_last_two()

    def _keys(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Name each row's configuration: by a number, or by its codes if there are too many."""
        if not self._numbered:
            side_by_side = np.ascontiguousarray(codes[self._query].T.astype(codes.dtype.newbyteorder(">")))
            return side_by_side.view(f"S{side_by_side.shape[1] * side_by_side.itemsize}").reshape(-1)
        keys = np.zeros(codes.shape[1], np.int64)
        for v, k in zip(self._query, self._cardinalities, strict=True):
            keys *= k
            keys += codes[v]
        return keys

    def _join_last_two(self) -> None:
        (one, n_one), (other, n_other) = self._parts[-2:]
        keys, where = np.unique(np.concatenate([one, other]), return_inverse=True)
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, where.reshape(-1), np.concatenate([n_one, n_other]))
        if len(keys) > self._most_cells:
            raise _too_large(len(self._query), self._most_cells)
        self._parts[-2:] = [(keys, counts)]

    def groups(self) -> tuple[Integers, Integers]:
        """Give the counts of the cells that occur, and where each group of them begins and the last ends."""
        while len(self._parts) > 1:
            self._join_last_two()
        [(keys, counts)] = self._parts
        if self._numbered:
            changes = np.diff(keys // self._cardinalities[-1]) != 0
        else:
            width = keys.itemsize // len(self._query)
            leading = keys.view(np.uint8).reshape(len(keys), -1)[:, :-width]
            changes = (leading[1:] != leading[:-1]).any(axis=1)
        return counts, np.concatenate([[0], np.flatnonzero(changes) + 1, [len(keys)]])


def _too_large(n_variables: int, most_cells: int) -> DataError:
    """Make the error for a single table that does not fit into memory."""
    return DataError(
        f"a table of {n_variables} variables has more than {most_cells:,} cells, which the memory allowed "
        "cannot hold; allow more with memory= (on the command line --memory), or fewer parents or conditions"
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
