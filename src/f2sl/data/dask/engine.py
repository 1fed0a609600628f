"""Count on a cluster, in one of two ways.

*Tall* data: each worker has some blocks of rows. A batch of queries goes to all blocks, their counts are
added up in a tree of calls, and the formula is applied where the last sum is made.

*Wide* data: each worker has the whole table, packed into bit planes once. The triangle of pairs is sent in
tiles, and other queries in parts of a batch; each call returns what its formula keeps.

In both cases only queries and results pass through this process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import count
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.data.blocks import Batch, BlockCounts, Counted, TileBatch, cut, way_of_pair
from f2sl.data.dask.runtime import Held
from f2sl.data.dask.table import DaskTable, reduced
from f2sl.data.engines import (
    Advance,
    CountsOnly,
    FoundPairs,
    PairFormula,
    Presence,
    Queries,
    TableFormula,
)
from f2sl.data.memory.engine import CELLS_PER_PIECE, MOST_PLANES, MemoryEngine, choose_for_pair
from f2sl.data.table import Block
from f2sl.data.tiles import BY_PLANES, Piece, Triangle, pairs_of

ROWS_PER_VARIABLE = 1000
"""Number of rows for each variable above which data are tall."""

SHARE_OF_WORKER = 0.25
"""Share of a worker's memory for a whole table; a larger table is split by rows."""

CELLS_AT_ONCE = 1 << 22
"""Number of cells of the tables that one pass over the blocks counts."""

ROWS_AT_ONCE = 1 << 18
"""Number of rows of a block that are counted at a time."""

LEAST_CELLS = 1 << 15
"""Smallest number of cells for which a call pays."""

LEAST_WORK, MOST_WORK = 2e7, 2e9
"""Shortest and longest piece of work in nanoseconds: shorter ones do not pay, longer ones delay progress."""


@dataclass(frozen=True)
class TableFacts:
    """Facts of a table that workers need in addition to its blocks, such as the row of each variable."""

    positions: Integers
    presence: Presence
    n_rows: int


class ClusterEngine(CountsOnly):
    """Base class of both engines for a :class:`~f2sl.data.dask.table.DaskTable`."""

    def __init__(self, table: DaskTable) -> None:
        self._table = table
        self._cluster = table.cluster
        self.n_rows = table.n_rows
        self.cardinalities: Integers = table.cardinalities
        self.observed = table.n_rows - table.missing
        self._facts = Held(self._cluster, self._put_facts)

    def _put_facts(self) -> Any:
        return self._cluster.put(TableFacts(self._table.positions, self.presence, self.n_rows))

    def close(self) -> None:
        """Release the data sent beside the table; the table stays on the cluster."""
        self._facts.release()

    def evaluate(self, queries: Queries, formula: TableFormula, width: int = 1) -> Floats:
        """Count the tables of `queries` and apply `formula`; one row of `width` numbers for each query."""
        if not len(queries):
            return np.empty((0, width))
        shared = Held(self._cluster, lambda: self._cluster.put(formula))
        results = self._cluster.map(partial(self._begin_batch, shared), self._parts(queries))
        return np.concatenate([result.reshape(-1, width) for result in results])

    def _parts(self, queries: Queries) -> Iterator[Queries]:
        """Split a batch into parts that are submitted together."""
        raise NotImplementedError

    def _begin_batch(self, formula: Held[Any], queries: Queries) -> Any:
        """Submit some queries; return the future of the formula's results."""
        raise NotImplementedError

    def _search(self, formula: PairFormula, triangle: Triangle, advance: Advance) -> Iterator[FoundPairs]:
        order, total = triangle.order, triangle.work
        shared = Held(self._cluster, lambda: self._cluster.put((order, formula)))
        shares: deque[float] = deque()  # of the pieces that were handed over and have not come back

        def pieces() -> Iterator[Piece]:
            for piece in triangle.pieces(self._share(total)):
                shares.append(piece.work / total)
                yield piece

        for part in self._cluster.map(partial(self._begin_pairs, shared), pieces()):
            advance(shares.popleft())
            yield part

    def _share(self, total: float) -> float:
        """Return the share of the work that one piece is."""
        raise NotImplementedError

    def _begin_pairs(self, shared: Held[Any], piece: Piece) -> Any:
        """Submit some tiles; return the future of the kept pairs."""
        raise NotImplementedError


class RowSplitEngine(ClusterEngine):
    """Engine that counts blocks of rows on their workers and adds up the counts."""

    def __init__(self, table: DaskTable) -> None:
        super().__init__(table)
        margins = self.margins
        self._margins_there = Held(self._cluster, lambda: self._cluster.put(margins))

    def close(self) -> None:
        """Release the data sent beside the table; the table stays on the cluster."""
        self._margins_there.release()
        super().close()

    def _parts(self, queries: Queries) -> Iterator[Queries]:
        loads = np.minimum(queries.table_sizes(self.presence.cardinalities), self.n_rows)
        return cut(queries, loads, CELLS_AT_ONCE)

    def _begin_batch(self, formula: Held[Any], queries: Queries) -> Any:
        batch = self._cluster.submit(_batch_of, self._facts.get(), queries)
        return self._begin(batch, _apply_to_counts, formula.get())

    def _cost_of_pair(self, k_row: int, k_column: int) -> tuple[int, float]:
        return way_of_pair(self.n_rows, k_row, k_column)

    def _share(self, total: float) -> float:
        return CELLS_AT_ONCE

    def _begin_pairs(self, shared: Held[Any], piece: Piece) -> Any:
        facts, asked = self._facts.get(), shared.get()
        if piece.method == BY_PLANES:
            margins = self._margins_there.get()
            batch = self._cluster.submit(_tile_batch, facts, margins, asked, piece.tiles)
        else:
            batch = self._cluster.submit(_batch_of_pairs, facts, asked, piece.tiles)
        return self._begin(batch, _keep_pairs, asked)

    def _begin(self, batch: Any, last: Callable[..., Any], formula: Any) -> Any:
        submit, facts = self._cluster.submit, self._facts.get()
        parts = [submit(_count_block, facts, batch, block) for block in self._table.blocks.get()]
        return reduced(
            parts,
            lambda group: submit(_add_counts, *group),
            lambda group: submit(last, batch, formula, *group),
        )


class TileSplitEngine(ClusterEngine):
    """Engine that gives each worker the whole table, and each call its own tiles or queries."""

    def __init__(self, table: DaskTable) -> None:
        super().__init__(table)
        self._copies = Held(self._cluster, self._copy)
        self._turn = count()

    def _copy(self) -> list[Any]:
        """Make each worker assemble the whole table; if a worker is lost, another does it again."""
        facts, blocks = self._facts.get(), self._table.blocks.get()
        pinned = [{"workers": [worker], "allow_other_workers": True} for worker in self._cluster.workers]
        # Without any worker, for the moment, one copy waits for the next that comes.
        return [self._cluster.submit(_join, facts, *blocks, **where) for where in pinned or [{}]]

    def close(self) -> None:
        """Release the copies and the data sent beside the table."""
        self._copies.release()
        super().close()

    def _next_copy(self) -> Any:
        copies = self._copies.get()
        return copies[next(self._turn) % len(copies)]

    def _parts(self, queries: Queries) -> Iterator[Queries]:
        loads = np.minimum(queries.table_sizes(self.presence.cardinalities), self.n_rows) + 1.0
        share = float(loads.sum()) / (4 * self._cluster.n_threads)
        return cut(queries, loads, min(CELLS_PER_PIECE, max(LEAST_CELLS, share)))

    def _begin_batch(self, formula: Held[Any], queries: Queries) -> Any:
        return self._cluster.submit(_apply_to_whole, self._next_copy(), formula.get(), queries)

    def _cost_of_pair(self, k_row: int, k_column: int) -> tuple[int, float]:
        return choose_for_pair(self.n_rows, k_row, k_column)

    def _share(self, total: float) -> float:
        return max(min(total / (8 * self._cluster.n_threads), MOST_WORK), LEAST_WORK)

    def _begin_pairs(self, shared: Held[Any], piece: Piece) -> Any:
        return self._cluster.submit(_search_tiles, self._next_copy(), shared.get(), piece.tiles, piece.method)


def open_cluster_engine(table: DaskTable) -> ClusterEngine:
    """Choose between the two engines by the table's shape and the workers' memory."""
    states = float(np.where(table.cardinalities <= MOST_PLANES, table.cardinalities, 0).sum())
    needed = table.n_rows * (2.0 * table.n_variables + states / 8)
    limit = table.cluster.memory_of_worker
    tall = table.n_rows > ROWS_PER_VARIABLE * table.n_variables
    if tall or (limit is not None and needed > SHARE_OF_WORKER * limit):
        return RowSplitEngine(table)
    return TileSplitEngine(table)


# What workers do


class WholeTable:
    """Table in a worker's memory, with an engine for all calls there."""

    def __init__(self, codes: NDArray[Any], cardinalities: Integers) -> None:
        self.codes = codes
        self.cardinalities = cardinalities
        self._turn = Lock()
        self._engine: MemoryEngine | None = None

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return int(self.codes.shape[1])

    @property
    def engine(self) -> MemoryEngine:
        """Counts in the calling thread; made when it is first needed."""
        with self._turn:
            if self._engine is None:
                self._engine = MemoryEngine(self, 1)
            return self._engine

    def __reduce__(self) -> tuple[Any, ...]:
        return WholeTable, (self.codes, self.cardinalities)

    def __sizeof__(self) -> int:
        # So that Dask knows what holding and moving it costs.
        return int(self.codes.nbytes)


def _join(facts: TableFacts, *blocks: Block) -> WholeTable:
    codes = np.concatenate([block.codes[facts.positions] for block in blocks], axis=1)
    return WholeTable(codes, facts.presence.cardinalities[: len(codes)])


def _apply_to_whole(whole: WholeTable, formula: TableFormula, queries: Queries) -> Floats:
    return formula(whole.engine.count(queries))


def _search_tiles(
    whole: WholeTable, asked: tuple[Integers, PairFormula], tiles: Integers, method: int
) -> FoundPairs:
    order, formula = asked
    return whole.engine.search_tiles(formula, order, tiles, method)


def _batch_of(facts: TableFacts, queries: Queries) -> Batch:
    return Batch(queries, facts.presence, facts.n_rows, CELLS_AT_ONCE)


def _batch_of_pairs(facts: TableFacts, asked: tuple[Integers, PairFormula], tiles: Integers) -> Batch:
    order, _ = asked
    pairs = np.concatenate([pairs_of(order, tile) for tile in tiles])
    return _batch_of(facts, facts.presence.pair_queries(pairs))


def _tile_batch(
    facts: TableFacts, margins: Integers, asked: tuple[Integers, PairFormula], tiles: Integers
) -> TileBatch:
    order, _ = asked
    return TileBatch(order, tiles, facts.presence, margins, facts.n_rows)


def _count_block(facts: TableFacts, batch: Counted, block: Block) -> BlockCounts:
    positions = facts.positions[batch.used]
    stretches = range(0, block.codes.shape[1], ROWS_AT_ONCE)
    return _add_counts(*(batch.count(block.codes[positions, a : a + ROWS_AT_ONCE]) for a in stretches))


def _add_counts(*parts: BlockCounts) -> BlockCounts:
    return reduce(BlockCounts.plus, parts)


def _apply_to_counts(batch: Counted, formula: TableFormula, *parts: BlockCounts) -> Floats:
    return formula(batch.tables(_add_counts(*parts)))


def _keep_pairs(batch: Counted, asked: tuple[Integers, PairFormula], *parts: BlockCounts) -> FoundPairs:
    _, formula = asked
    return formula.of_tables(batch.tables(_add_counts(*parts)))
