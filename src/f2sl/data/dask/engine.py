"""Count a table of a cluster that is wide: each worker has all rows, packed into bit planes once.

The triangle of pairs is sent in tiles, and other queries in parts of a batch; each call returns what its
formula keeps. *Tall* tables are counted in blocks of rows instead, like those on disk (`data/blocks.py`). In
both cases only queries and results pass through this process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.data.blocks import BlockEngine, cut
from f2sl.data.dask.runtime import Held
from f2sl.data.dask.table import DaskTable
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
from f2sl.data.table import Block
from f2sl.data.tiles import Piece, Triangle

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

    def _next_copy(self) -> Any:
        copies = self._copies.get()
        return copies[next(self._turn) % len(copies)]

    def evaluate(self, queries: Queries, formula: TableFormula, width: int = 1) -> Floats:
        """Count the tables of `queries` and apply `formula`; one row of `width` numbers for each query."""
        if not len(queries):
            return np.empty((0, width))
        loads = np.minimum(queries.table_sizes(self.presence.cardinalities), self.n_rows) + 1.0
        share = float(loads.sum()) / (4 * self._cluster.n_threads)
        parts = cut(queries, loads, min(CELLS_PER_PIECE, max(LEAST_CELLS, share)))
        shared = Held(self._cluster, lambda: self._cluster.put(formula))

        def begin(part: Queries) -> Any:
            return self._cluster.submit(_apply_to_whole, self._next_copy(), shared.get(), part)

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
            asked = self._next_copy(), shared.get(), piece.tiles, piece.method
            return self._cluster.submit(_search_tiles, *asked)

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
