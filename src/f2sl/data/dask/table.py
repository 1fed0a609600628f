"""Tables that a cluster holds, in blocks of rows, and counting them.

Each block is in the memory of a worker. This process has only what learners must know about the table: names,
states and their counts. *Tall* tables are counted in blocks of rows, like those on disk (`data/blocks.py`).
Of *wide* tables each worker has all rows, packed into bit planes once: the triangle of pairs is sent in
tiles, and other queries in parts of a batch; each call returns what its formula keeps. In both cases only
queries and results pass through this process.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import count, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._threads import Threads
from f2sl.data.blocks import BlockEngine, cut
from f2sl.data.column import Column, positions_of
from f2sl.data.dask.runtime import Cluster, Held
from f2sl.data.engines import (
    Advance,
    CodedRows,
    CountingEngine,
    FoundPairs,
    PairFormula,
    Queries,
    TableFormula,
)
from f2sl.data.memory.engine import CELLS_PER_PIECE, MOST_PLANES, MemoryEngine, choose_for_pair
from f2sl.data.memory.table import MemoryTable
from f2sl.data.table import Arrays, Block, BlockTable, Counted, Ends, Summand, WholeColumn, closed_table
from f2sl.data.tiles import Piece, Triangle

FAN_IN = 8
"""Number of blocks whose sums one call adds up."""

BYTES_OF_BLOCK = 1 << 25
"""Size of the blocks sent from here; each worker gets some, if there are enough rows."""

ROWS_AT_ONCE = 1 << 18
"""Rows of a block that a function is applied to at a time."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DaskTable(BlockTable):
    """Table held by the workers of a cluster, whose connection it closes.

    Parameters
    ----------
    cluster : Cluster
        Cluster that holds the rows.
    blocks : Held
        Dask's futures of the blocks.
    starts : tuple of int
        Index of the first row of each block, and the number of samples.
    columns, positions, number_ends, counted, memory, notes, transform
        As in :class:`f2sl.data.table.BlockTable`.
    """

    held: ClassVar[str] = "on a cluster"

    cluster: Cluster
    blocks: Held[list[Any]]
    starts: tuple[int, ...]

    @classmethod
    def of_table(
        cls, table: MemoryTable, cluster: Cluster, memory: int, n_blocks: int | None = None
    ) -> DaskTable:
        """Send a table that is in memory to a cluster, in `n_blocks` blocks or a suitable number of them."""
        if n_blocks is None:
            n_bytes = table.codes.nbytes + table.numbers.nbytes
            n_blocks = max(len(cluster.workers), -(-n_bytes // BYTES_OF_BLOCK))
        starts = np.linspace(0, table.n_rows, min(n_blocks, table.n_rows) + 1).astype(np.int64).tolist()
        parts = [
            Block(np.ascontiguousarray(table.codes[:, a:b]), np.ascontiguousarray(table.numbers[:, a:b]))
            for a, b in pairwise(starts)
        ]
        return cls(
            columns=table.columns,
            positions=positions_of(table.kinds),
            number_ends=table.ends,
            memory=memory,
            notes=table.notes,
            transform=table.transform,
            cluster=cluster,
            blocks=Held(cluster, lambda: cluster.scatter(parts)),
            starts=tuple(starts),
        )

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return self.starts[-1]

    def each(self, function: Callable[[int, Block], Any]) -> Iterator[Any]:
        """Yield what workers make of each block, in order."""
        cluster, positions = self._connected(), self.positions_of_kinds()

        def begin(i: int) -> Any:
            return cluster.submit(
                _of_block, partial(function, self.starts[i]), positions, self.blocks.get()[i]
            )

        return cluster.map(begin, range(len(self.starts) - 1))

    def add_up(self, function: Summand) -> Arrays:
        """Return the sum of the results of `function` over all blocks, added up in a tree of calls."""
        [total] = self._connected().map(self._begin, [function])
        return tuple(total)

    def totals(
        self, asked: Iterable[Counted], threads: Threads, advance: Callable[[float], None]
    ) -> Iterator[Arrays]:
        """Yield the sums of counts over all blocks; several are under way at the same time."""

        def begin(counted: Counted) -> Any:
            return self.select(counted.used.tolist())._begin(counted.count)

        for total in self._connected().map(begin, asked):
            advance(1.0)
            yield total

    def _begin(self, function: Summand) -> Any:
        """Submit the sum of a function over all blocks; return its future."""
        asked = self.cluster.put((function, self.positions_of_kinds()))
        parts = [self.cluster.submit(_sums_of_block, asked, block) for block in self.blocks.get()]
        while len(parts) > 1:
            parts = [self.cluster.submit(added, *parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
        return parts[0]

    def converted(
        self, columns: tuple[Column, ...], function: Callable[[Block], Block], ends: Ends | None = None
    ) -> DaskTable:
        """Return a table that the workers hold, of the blocks that `function` makes."""
        cluster, positions = self._connected(), self.positions_of_kinds()

        def begin() -> list[Any]:
            asked = cluster.put((function, positions))
            return [cluster.submit(_converted, asked, block) for block in self.blocks.get()]

        return replace(
            self,
            columns=columns,
            positions=positions_of([column.kind for column in columns]),
            number_ends=ends or (np.empty(len(columns)), np.empty(len(columns))),
            notes=(),
            counted={},
            blocks=Held(cluster, begin),
        )

    def with_numbers(
        self, chosen: Sequence[int], function: WholeColumn, ends: Ends, n_jobs: int | None = None
    ) -> DaskTable:
        """Return the table with `function` applied to some continuous columns, which pass through here."""
        cluster = self._connected()

        def begin() -> list[Any]:
            parts: list[list[Any]] = []
            for _, numbers in self.numbers_of(chosen):
                new = np.stack([function(values) for values in numbers])
                parts.append(cluster.scatter([new[:, a:b].copy() for a, b in pairwise(self.starts)]))
            asked = cluster.put(self.positions[list(chosen)])
            pieces = zip(self.blocks.get(), *parts, strict=True)
            return [cluster.submit(_with_numbers, asked, *own) for own in pieces]

        return replace(self, blocks=Held(cluster, begin), number_ends=self._ends_with(chosen, ends))

    def release(self) -> None:
        """Free the blocks; the cluster and the original stay."""
        self.blocks.release()

    def counting_engine(self, n_jobs: int | None = None) -> BlockEngine | TileSplitEngine:
        """Open the engine that counts a discrete table; the cluster has its own threads."""
        self._connected()
        return open_cluster_engine(self)

    def _connected(self) -> Cluster:
        """Return the cluster, or refuse if the table was closed."""
        if self.cluster.closed:
            raise closed_table()
        return self.cluster

    def close(self) -> None:
        """Release the table; close the connection if it was opened for the table."""
        self.blocks.release()
        self.cluster.close()


# What workers do


def added(*parts: Arrays) -> Arrays:
    """Add up tuples of arrays, or of other values."""
    return tuple(reduce(operator.add, values) for values in zip(*parts, strict=True))


def _of_block(function: Callable[[Block], Any], positions: tuple[Integers, Integers], block: Block) -> Any:
    codes, numbers = positions
    return function(Block(block.codes[codes], block.numbers[numbers]))


def _converted(asked: tuple[Callable[[Block], Any], tuple[Integers, Integers]], block: Block) -> Any:
    return _of_block(*asked, block)


def _sums_of_block(asked: tuple[Summand, tuple[Integers, Integers]], block: Block) -> Arrays:
    function, (codes, numbers) = asked
    stretches = (slice(a, a + ROWS_AT_ONCE) for a in range(0, block.codes.shape[1], ROWS_AT_ONCE))
    return added(
        *(function(Block(block.codes[codes, rows], block.numbers[numbers, rows])) for rows in stretches)
    )


def _with_numbers(positions: Integers, block: Block, *parts: Floats) -> Block:
    numbers: NDArray[Any] = block.numbers.copy()
    numbers[positions] = np.concatenate(parts)
    return Block(block.codes, numbers)


ROWS_PER_VARIABLE = 1000
"""Number of rows for each variable above which data are tall."""

SHARE_OF_WORKER = 0.25
"""Share of a worker's memory for a whole table; a larger table is split by rows."""

CELLS_AT_ONCE = 1 << 22
"""Number of cells of the tables that one pass over the blocks counts."""

LEAST_CELLS = 1 << 15
"""Smallest number of cells for which a call pays."""

LEAST_WORK, MOST_WORK = 2e7, 2e9
"""Shortest and longest piece of work in nanoseconds: shorter ones do not pay, longer ones delay progress."""


def open_cluster_engine(table: DaskTable) -> BlockEngine | TileSplitEngine:
    """Choose between counting by rows and by tiles, by the table's shape and the workers' memory."""
    states = float(np.where(table.cardinalities <= MOST_PLANES, table.cardinalities, 0).sum())
    needed = table.n_rows * (2.0 * table.n_variables + states / 8)
    limit = table.cluster.memory_of_worker
    tall = table.n_rows > ROWS_PER_VARIABLE * table.n_variables
    if tall or (limit is not None and needed > SHARE_OF_WORKER * limit):
        return BlockEngine(table, 1, CELLS_AT_ONCE)
    return TileSplitEngine(table)


class TileSplitEngine(CountingEngine):
    """Engine that gives each worker the whole table, and each call its own tiles or queries."""

    def __init__(self, table: DaskTable) -> None:
        self._table = table
        self._cluster = table.cluster
        self.n_rows = table.n_rows
        self.cardinalities: Integers = table.cardinalities
        self.observed = table.n_rows - table.missing
        self._copies = Held(self._cluster, self._copy)
        self._turn = count()

    def _copy(self) -> list[Any]:
        """Make each worker assemble the whole table; if a worker is lost, another does it again."""
        facts, blocks = (
            self._cluster.put((self._table.positions, self.cardinalities)),
            self._table.blocks.get(),
        )
        pinned = [{"workers": [worker], "allow_other_workers": True} for worker in self._cluster.workers]
        # Without any worker, for the moment, one copy waits for the next that comes.
        return [self._cluster.submit(_join, facts, *blocks, **where) for where in pinned or [{}]]

    def close(self) -> None:
        """Release the copies; the table stays on the cluster."""
        self._copies.release()

    def _begin(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a call on the next copy of the whole table."""
        copies = self._copies.get()
        return self._cluster.submit(function, copies[next(self._turn) % len(copies)], *arguments)

    def evaluate(self, queries: Queries, formula: TableFormula, width: int = 1) -> Floats:
        """Count the tables of `queries` and apply `formula`; one row of `width` numbers for each query."""
        if not len(queries):
            return np.empty((0, width))
        loads = np.minimum(queries.table_sizes(self.presence.cardinalities), self.n_rows) + 1.0
        share = float(loads.sum()) / (4 * self._cluster.n_threads)
        parts = cut(queries, loads, min(CELLS_PER_PIECE, max(LEAST_CELLS, share)))
        shared = Held(self._cluster, lambda: self._cluster.put(formula))

        def begin(part: Queries) -> Any:
            return self._begin(_apply_to_whole, shared.get(), part)

        results = self._cluster.map(begin, parts)
        return np.concatenate([result.reshape(-1, width) for result in results])

    def _cost_of_pair(self, k_row: int, k_column: int) -> tuple[int, float]:
        return choose_for_pair(self.n_rows, k_row, k_column)

    def _search(self, formula: PairFormula, triangle: Triangle, advance: Advance) -> Iterator[FoundPairs]:
        order, total = triangle.order, triangle.work
        shared = Held(self._cluster, lambda: self._cluster.put((order, formula)))
        share = max(min(total / (8 * self._cluster.n_threads), MOST_WORK), LEAST_WORK)
        shares: deque[float] = deque()  # of the pieces that were handed over and have not come back

        def pieces() -> Iterator[Piece]:
            for piece in triangle.pieces(share):
                shares.append(piece.work / total)
                yield piece

        def begin(piece: Piece) -> Any:
            return self._begin(_search_tiles, shared.get(), piece.tiles, piece.method)

        for part in self._cluster.map(begin, pieces()):
            advance(shares.popleft())
            yield part


# What workers do


class WholeTable:
    """Table in a worker's memory, with an engine that counts in the calling thread."""

    def __init__(self, codes: NDArray[Any], cardinalities: Integers) -> None:
        self.codes = codes
        self.cardinalities = cardinalities
        self.engine = MemoryEngine(CodedRows(codes, cardinalities), 1)

    def __reduce__(self) -> tuple[Any, ...]:
        return WholeTable, (self.codes, self.cardinalities)

    def __sizeof__(self) -> int:
        # So that Dask knows what holding and moving it costs.
        return int(self.codes.nbytes)


def _join(facts: tuple[Integers, Integers], *blocks: Block) -> WholeTable:
    positions, cardinalities = facts
    return WholeTable(np.concatenate([block.codes[positions] for block in blocks], axis=1), cardinalities)


def _apply_to_whole(whole: WholeTable, formula: TableFormula, queries: Queries) -> Floats:
    return formula(whole.engine.count(queries))


def _search_tiles(
    whole: WholeTable, asked: tuple[Integers, PairFormula], tiles: Integers, method: int
) -> FoundPairs:
    order, formula = asked
    return whole.engine.search_tiles(formula, order, tiles, method)
