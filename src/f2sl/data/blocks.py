"""Count a table in blocks of rows, wherever the blocks are: on disk, or on the workers of a cluster.

A :class:`Batch` counts one block after another, each with its own `MemoryEngine` of the requested variables.
The counts of blocks add up, in any order, and the sum is turned into tables at the end. A :class:`TileBatch`
does the same for all pairs of some tiles, faster. A batch of queries whose tables would not fit into memory
all at once is cut into parts, each of which takes a pass over the blocks.

A table with more cells than samples lists only the cells that occur. These differ between blocks, so cells
are identified by the number of their configuration until all blocks are added up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, tee
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._notes import Use
from f2sl._threads import Threads
from f2sl.data.engines import (
    Advance,
    CodedRows,
    CountingEngine,
    FoundPairs,
    PairFormula,
    Presence,
    Queries,
    TableFormula,
    Tables,
)
from f2sl.data.memory.engine import MOST_PLANES, MemoryEngine, groups_of, sorted_cells
from f2sl.data.table import Arrays, Block, BlockTable
from f2sl.data.tiles import BY_PLANES, BY_TABLES, Piece, Triangle, pairs_of
from f2sl.errors import DataError

MOST_INNER_CELLS = 128
"""Cells of a pair's table, but for the last row and column, up to which bit planes are faster."""


COPIES_AT_LEAST = 4
"""Smallest number of copies of a table in memory: counted, added up, and used by a formula."""


class BlockEngine(CountingEngine):
    """Count the variables of a table in blocks, at most about `most_cells` cells of tables at a time.

    Examples
    --------
    >>> from f2sl import open_table
    >>> from f2sl.data.stream import StreamTable
    >>> table = open_table({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]})
    >>> with StreamTable.of_table(table, rows_per_block=3).counting_engine(n_jobs=1) as engine:
    ...     engine.count(Queries.of([(0, 1)])).counts.tolist()
    [1, 1, 0, 2]
    """

    def __init__(self, table: BlockTable, n_jobs: int | None, most_cells: int) -> None:
        self._table = table
        self.n_rows = table.n_rows
        self.cardinalities: Integers = table.cardinalities
        self.observed = table.n_rows - table.missing
        self.threads = Threads(n_jobs)
        self._most_cells = most_cells

    def close(self) -> None:
        """End the engine's threads."""
        self.threads.close()

    def evaluate(self, queries: Queries, formula: TableFormula, width: int = 1) -> Floats:
        """Count the tables of `queries` and apply `formula`, as many at a time as fit into memory."""
        if not len(queries):
            return np.empty((0, width))
        results = map(formula, self._tables(map(self._batch, self._cut(queries))))
        return np.concatenate([result.reshape(-1, width) for result in results])

    def count(self, queries: Queries) -> Tables:
        """Count the tables of a batch in one pass over the blocks; they must fit into memory."""
        return next(self._tables([self._batch(queries)]))

    def _search(self, formula: PairFormula, triangle: Triangle, advance: Advance) -> Iterator[FoundPairs]:
        shares: deque[float] = deque()  # of the work, for each batch that has not been counted

        def batches() -> Iterator[Batch | TileBatch]:
            for piece in triangle.pieces(self._most_cells):
                parts = list(self._batches_of(triangle.order, piece))
                shares.extend(piece.work / triangle.work * batch.share for batch in parts)
                yield from parts

        for tables in self._tables(batches(), lambda share: advance(share * shares[0])):
            shares.popleft()
            yield formula.of_tables(tables)

    def _batches_of(self, order: Integers, piece: Piece) -> Iterator[Batch | TileBatch]:
        """Count the pairs of some tiles, by bit planes or like other tables."""
        if piece.method == BY_PLANES:
            yield TileBatch(order, piece.tiles, self.presence, self.margins, self.n_rows)
            return
        pairs = np.concatenate([pairs_of(order, tile) for tile in piece.tiles])
        for part in self._cut(Queries.of_matrix(pairs)):
            queries = self.presence.pair_queries(part.variables.reshape(-1, 2))
            yield replace(self._batch(queries), share=len(part) / len(pairs))

    def _tables(
        self, batches: Iterable[Batch | TileBatch], advance: Advance = lambda share: None
    ) -> Iterator[Tables]:
        ahead, behind = tee(batches)  # a cluster counts some batches ahead
        for total, batch in zip(self._table.totals(ahead, self.threads, advance), behind, strict=False):
            yield batch.tables(total)

    def _cost_of_pair(self, k_row: int, k_column: int) -> tuple[int, float]:
        few = (k_row - 1) * (k_column - 1) <= MOST_INNER_CELLS and k_row * k_column <= self.n_rows
        planes = few and max(k_row, k_column) <= MOST_PLANES
        return BY_PLANES if planes else BY_TABLES, float(min(k_row * k_column, self.n_rows))

    def _cut(self, queries: Queries) -> Iterator[Queries]:
        """Cut a batch into parts that fit into memory."""
        loads = np.minimum(queries.table_sizes(self.presence.cardinalities), self.n_rows)
        return cut(queries, loads, self._most_cells)

    def _batch(self, queries: Queries) -> Batch:
        """Return a batch, which only one thread may hold if it fills the memory."""
        batch = Batch(queries, self.presence, self.n_rows, self._most_cells)
        cells = queries.table_sizes(self.presence.cardinalities)[batch.full].sum()
        if cells <= self._most_cells:
            return batch
        if COPIES_AT_LEAST * 8 * cells > self._table.memory:
            longest = int(np.diff(queries.start).max())
            raise too_large(longest, self._table.memory // (COPIES_AT_LEAST * 8))
        return replace(batch, most_threads=1)


@dataclass(frozen=True)
class Occurring:
    """Configurations of `n_variables` that occur, by number in ascending order, with their counts.

    There may be `most_cells` of them. Those that occur in earlier blocks may be apart, in `earlier`, as in
    merge sort: configurations of like numbers are joined, so that each is moved few times.
    """

    keys: NDArray[Any]
    counts: Integers
    n_variables: int
    most_cells: int
    earlier: Occurring | None = None

    def __add__(self, more: Occurring) -> Occurring:
        """Add the configurations of further rows."""
        more = more.joined()
        if len(self.keys) > 2 * len(more.keys):
            return replace(more, earlier=self)
        both = self._merged(more)
        return both if self.earlier is None else self.earlier + both

    def joined(self) -> Occurring:
        """Return all configurations together."""
        found, earlier = self, self.earlier
        while earlier is not None:
            found, earlier = earlier._merged(found), earlier.earlier
        return found

    def _merged(self, more: Occurring) -> Occurring:
        keys, where = np.unique(np.concatenate([self.keys, more.keys]), return_inverse=True)
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, where.reshape(-1), np.concatenate([self.counts, more.counts]))
        if len(keys) > self.most_cells:
            raise too_large(self.n_variables, self.most_cells)
        return replace(self, keys=keys, counts=counts, earlier=None)


@dataclass(frozen=True)
class Batch:
    """Queries that are counted together in one pass over the blocks.

    `n_rows` is the number of samples in all blocks. A table that lists only occurring cells must not list
    more than `most_cells`. At most `most_threads` may hold the counts at the same time; `share` is the
    batch's share of the pairs of its tiles.
    """

    queries: Queries
    presence: Presence
    n_rows: int
    most_cells: int
    most_threads: int = 1 << 30
    share: float = 1.0

    @property
    def cardinalities(self) -> Integers:
        """Number of states of all variables, and of their presence."""
        return self.presence.cardinalities

    @cached_property
    def used(self) -> Integers:
        """Variables whose codes are needed, in ascending order."""
        return np.unique(self.presence.owners[self._asked])

    @cached_property
    def _asked(self) -> Integers:
        """Variables, or indicators of presence, in the queries, in ascending order."""
        return np.unique(self.queries.variables)

    @cached_property
    def _local(self) -> Queries:
        """Queries by positions among the requested variables."""
        return Queries(np.searchsorted(self._asked, self.queries.variables), self.queries.start)

    @cached_property
    def full(self) -> NDArray[np.bool_]:
        """True for tables with all cells."""
        return np.asarray(self.queries.table_sizes(self.cardinalities) <= self.n_rows)

    def _others(self) -> Iterator[tuple[Integers, Integers]]:
        """Return the positions and the numbers of states of the variables of each table that is not full."""
        for t in np.flatnonzero(~self.full):
            part = slice(self.queries.start[t], self.queries.start[t + 1])
            yield self._local.variables[part], self.cardinalities[self.queries.variables[part]]

    def count(self, block: Block) -> Arrays:
        """Count a block, given by the codes of the variables used: full tables first, then the others."""
        codes = block.codes
        if self._asked[-1] >= len(self.presence.numbers):
            codes = self.presence.rows(codes, self.used, self._asked)
        dense = self._local if self.full.all() else self._local.where(self.full)
        full = np.zeros(0, np.int64)
        if len(dense):
            rows = CodedRows(codes, self.cardinalities[self._asked])
            full = MemoryEngine(rows, 1, most_full_cells=self.n_rows).count(dense).counts
        occurring = []
        for query, cardinalities in self._others():
            found = sorted_cells(codes[query], cardinalities)
            occurring.append(Occurring(*found, len(query), self.most_cells))
        return full, *occurring

    def tables(self, total: Arrays) -> Tables:
        """Return the tables in the order of the queries."""
        full, *occurring = total
        tables = map(Occurring.joined, occurring)
        others = [
            (table.counts, groups_of(table.keys, cardinalities))
            for table, (_, cardinalities) in zip(tables, self._others(), strict=True)
        ]
        how = self.full, full, others, self.presence.any
        return _joined(self.queries, self.cardinalities, self.n_rows, *how)


@dataclass(frozen=True)
class TileBatch:
    """All pairs of some tiles of positions in `order`, counted by bit planes.

    Only the cells of all states but each variable's last are counted; the others follow from `margins`, which
    are those of all variables and all rows. For tiles of variables with missing values all cells are counted.
    """

    order: Integers
    tiles: Integers
    presence: Presence
    margins: Integers
    n_rows: int
    most_threads: int = 1 << 30
    share: float = 1.0

    @property
    def cardinalities(self) -> Integers:
        """Number of states of all variables, and of their presence."""
        return self.presence.cardinalities

    def _whole(self, tile: Integers) -> bool:
        """Return whether all cells of a tile's pairs are counted."""
        return bool(self.presence.missing[self.order[tile[[0, 2]]]].any())

    @cached_property
    def _positions(self) -> Integers:
        spans = (np.r_[top:bottom, left:right] for top, bottom, left, right in self.tiles)
        return np.unique(np.concatenate(list(spans)))

    @cached_property
    def used(self) -> Integers:
        """Variables whose codes are needed, in ascending order."""
        return np.unique(self.order[self._positions])

    @cached_property
    def _local(self) -> Integers:
        """Order by positions among the variables used."""
        local = np.zeros(len(self.order), np.int64)
        local[self._positions] = np.searchsorted(self.used, self.order[self._positions])
        return local

    def count(self, block: Block) -> Arrays:
        """Count a block, given by the codes of the variables used."""
        engine = MemoryEngine(CodedRows(block.codes, self.cardinalities[self.used]), 1)
        counts = [engine.count_tile(self._local, tile, self._whole(tile)).ravel() for tile in self.tiles]
        return (np.concatenate(counts),)

    def tables(self, total: Arrays) -> Tables:
        """Add the cells that were not counted; the tables are in the order of the tiles."""
        [counted] = total
        start = np.concatenate([[0], np.cumsum(self.cardinalities)])
        first, pairs, tables = 0, [], []
        for tile in self.tiles:
            top, bottom, left, right = tile
            some = pairs_of(self.order, tile)
            k_row, k_column = self.cardinalities[self.order[[top, left]]]
            inner_rows, inner_columns = np.array([k_row, k_column]) - (not self._whole(tile))
            shape = bottom - top, inner_rows, inner_columns, right - left
            sums = counted[first : first + np.prod(shape)].reshape(shape)
            first += sums.size
            ahead = np.arange(left, right) > np.arange(top, bottom)[:, None]
            whole = np.empty((len(some), k_row, k_column), np.int64)
            whole[:, :inner_rows, :inner_columns] = sums.transpose(0, 3, 1, 2)[ahead]
            if inner_rows < k_row:
                of_rows = self.margins[start[some[:, :1]] + np.arange(k_row - 1)]
                whole[:, :-1, -1] = of_rows - whole[:, :-1, :-1].sum(axis=2)
                of_columns = self.margins[start[some[:, 1:]] + np.arange(k_column)]
                whole[:, -1, :] = of_columns - whole[:, :-1, :].sum(axis=1)
            pairs.append(some)
            if self.presence.any:  # with the margins, as in `Presence.pair_queries`
                margins = whole.sum(axis=2), whole.sum(axis=1)
                whole = np.concatenate([whole.reshape(len(whole), -1), *margins], axis=1)
            tables.append(whole.ravel())
        queries = self.presence.pair_queries(np.concatenate(pairs))
        full, counts = np.ones(len(queries), np.bool_), np.concatenate(tables)
        return _joined(queries, self.cardinalities, self.n_rows, full, counts, [], self.presence.any)


def too_large(n_variables: int, most_cells: int) -> DataError:
    """Return the error for a single table that does not fit into memory."""
    return DataError(
        f"a table of {n_variables} variables has more than {most_cells:,} cells, too many for the memory "
        "limit; raise ",
        Use("memory", ...),
        ", or allow fewer parents or conditioning variables",
    )


def cut(queries: Queries, loads: Floats, most: float) -> Iterator[Queries]:
    """Split a batch into parts with a load of at most `most` each, or of one larger query."""
    return (queries.part(*part) for part in pairwise(_borders(loads, most)))


def _borders(loads: Floats, most: float) -> list[int]:
    """Split a list of loads into runs of at most `most` each, or of one larger load.

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


def _joined(
    queries: Queries,
    cardinalities: Integers,
    n_rows: int,
    full: NDArray[np.bool_],
    dense: Integers,
    others: list[tuple[Integers, Integers]],
    missing: bool = False,
) -> Tables:
    """Join tables in the order of the queries: full ones, and others from counts and group borders."""
    last = cardinalities[queries.variables[queries.start[1:] - 1]]
    cells = np.where(full, queries.table_sizes(cardinalities), 0.0).astype(np.int64)
    n_groups = cells // last
    cells[~full] = [len(counts) for counts, _ in others]
    n_groups[~full] = [len(borders) - 1 for _, borders in others]
    cell_start = np.concatenate([[0], np.cumsum(cells)])
    slots = np.concatenate([[0], np.cumsum(n_groups + 1)])
    within = np.arange(slots[-1]) - np.repeat(slots[:-1], n_groups + 1)
    group_start = np.repeat(cell_start[:-1], n_groups + 1) + within * np.repeat(last, n_groups + 1)
    counts = dense
    if others:
        counts = np.empty(int(cell_start[-1]), np.int64)
        counts[np.repeat(full, cells)] = dense
        for t, (some, borders) in zip(np.flatnonzero(~full), others, strict=True):
            counts[cell_start[t] : cell_start[t + 1]] = some
            group_start[slots[t] : slots[t + 1]] = cell_start[t] + borders
    starts = cell_start, group_start, slots[:-1]
    return Tables(queries, cardinalities, counts, *starts, n_groups, full, n_rows, missing)
