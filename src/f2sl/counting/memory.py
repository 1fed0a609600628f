"""Counting a table that fits into memory, over threads.

Each table and each pair is counted by bit planes, sample by sample, or by sorting the
samples, whichever is cheapest for its numbers of states and samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from f2sl._threads import Threads
from f2sl.counting import _kernels
from f2sl.counting.protocol import (
    Floats,
    FoundPairs,
    Integers,
    PairFormula,
    PairTile,
    Queries,
    TableFormula,
    Tables,
)
from f2sl.counting.tiles import Tile, cut_run_pair, cut_triangle, pairs_of_runs, runs_of_equal
from f2sl.data.table import DiscreteTable

MOST_PLANES = 64
"""Variables with more states have no bit planes: they would take more memory than they save time."""

# Nanoseconds, measured on one core of a server processor; only their ratios matter.
PLANE_WORD = 0.23
PLANE_CELL = 2.0
PAIR_PLANE_WORD = 0.18
PAIR_CELL = 1.0
CODE_ROW = 0.9
CODE_ROW_AND_VARIABLE = 0.17
CODE_CELL = 0.5

CELLS_PER_PIECE = 1 << 20


class MemoryEngine:
    """Count the variables of a :class:`~f2sl.data.table.DiscreteTable` in this process.

    Examples
    --------
    >>> from f2sl.data.encode import as_table
    >>> engine = MemoryEngine(as_table({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}), n_jobs=1)
    >>> engine.count(Queries.of([(0, 1)])).counts.tolist()
    [1, 1, 0, 2]
    """

    def __init__(self, table: DiscreteTable, n_jobs: int | None = None) -> None:
        self._codes = table.codes
        self.n_rows = table.n_rows
        self.cardinalities: Integers = table.cardinalities
        self.threads = Threads(n_jobs)
        has_planes = self.cardinalities <= MOST_PLANES
        sizes = np.where(has_planes, self.cardinalities, 0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        self._n_words = (self.n_rows + 63) // 64
        self._plane_start: Integers = np.where(has_planes, starts[:-1], -1)
        self._planes = np.zeros((int(starts[-1]), self._n_words), np.uint64)
        self.margin_start: Integers = np.concatenate([[0], np.cumsum(self.cardinalities)])
        self.margins: Integers = np.zeros(int(self.margin_start[-1]), np.int64)
        self._fill()

    def _fill(self) -> None:
        n = len(self.cardinalities)
        step = max(1, -(-n // (4 * self.threads.n_threads)))

        def fill(first: int) -> None:
            part = slice(first, first + step)
            _kernels.fill_planes(
                self._codes[part],
                self._plane_start[part],
                self.margin_start[part],
                self._planes,
                self.margins,
            )

        for _ in self.threads.map(fill, range(0, n, step)):
            pass

    def _margins_of(self, variables: Integers, k: int) -> Integers:
        """Give the margins of variables that all have `k` states, one a row."""
        rows: Integers = self.margins[self.margin_start[variables][:, None] + np.arange(k)]
        return rows

    def close(self) -> None:
        """End the engine's threads."""
        self.threads.close()

    def __enter__(self) -> MemoryEngine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Tables of any order

    def count(self, queries: Queries) -> Tables:
        """Count the tables of a batch, here and now, in this thread."""
        method, cells = self._choose(queries)
        full = method != _kernels.BY_SORTING
        room = np.where(full, cells, np.minimum(cells, self.n_rows)).astype(np.int64)
        last = self.cardinalities[queries.variables[queries.start[1:] - 1]]
        groups = np.where(full, room // last, room) + 1
        cell_start = np.concatenate([[0], np.cumsum(room)])
        group_room = np.concatenate([[0], np.cumsum(groups)])
        counts = np.empty(int(cell_start[-1]), np.int64)
        group_start = np.empty(int(group_room[-1]), np.int64)
        n_groups = _kernels.count_tables(
            self._codes,
            self._planes,
            self._plane_start,
            self.cardinalities,
            queries.variables,
            queries.start,
            method,
            cell_start,
            group_room[:-1],
            counts,
            group_start,
        )
        return Tables(
            queries,
            self.cardinalities,
            counts,
            cell_start,
            group_start,
            group_room[:-1],
            n_groups,
            full,
            self.n_rows,
        )

    def _choose(self, queries: Queries) -> tuple[NDArray[np.int64], Floats]:
        """For each query, the cheapest way to count it, and the cells of its full table."""
        cardinalities = self.cardinalities[queries.variables]
        first = queries.start[:-1]
        cells = np.multiply.reduceat(cardinalities.astype(np.float64), first)
        widest = np.maximum.reduceat(cardinalities, first)
        by_planes = cells * (PLANE_WORD * self._n_words + PLANE_CELL)
        by_codes = (
            self.n_rows * (CODE_ROW + CODE_ROW_AND_VARIABLE * np.diff(queries.start)) + CODE_CELL * cells
        )
        method = np.where(
            (by_planes <= by_codes) & (widest <= MOST_PLANES), _kernels.BY_PLANES, _kernels.BY_CODES
        )
        return np.where(cells > self.n_rows, _kernels.BY_SORTING, method).astype(np.int64), cells

    def evaluate(self, queries: Queries, formula: TableFormula, width: int = 1) -> Floats:
        """Count the tables of `queries` and apply `formula`, in pieces over the threads."""
        if not len(queries):
            return np.empty((0, width))
        pieces = self._pieces(queries)
        results = self.threads.map(lambda piece: formula(self.count(queries.part(*piece))), pieces)
        return np.concatenate([result.reshape(-1, width) for result in results])

    def _pieces(self, queries: Queries) -> Sequence[tuple[int, int]]:
        """Cut a batch so that no piece holds too many cells, and all threads have some."""
        _, cells = self._choose(queries)
        load = np.minimum(cells, self.n_rows) + 1.0
        share = min(CELLS_PER_PIECE, max(4096.0, load.sum() / (4 * self.threads.n_threads)))
        piece_of = np.floor(np.cumsum(load) / share)
        borders = np.flatnonzero(np.diff(piece_of)) + 1
        edges = [0, *borders.tolist(), len(queries)]
        return list(pairwise(edges))

    # Pairs

    def search_pairs(
        self,
        formula: PairFormula,
        variables: Integers | None = None,
        target: int | None = None,
        advance: Callable[[float], None] | None = None,
    ) -> FoundPairs:
        """Apply `formula` to all pairs among `variables`, or of `target` with each of them."""
        if variables is None:
            variables = np.arange(len(self.cardinalities))
        if target is None:
            tiles, rest = cut_triangle(variables, self.cardinalities, self._pair_by_planes)
        else:
            tiles, rest = self._cut_row(target, variables[variables != target])
        batches = self._batches(rest)
        pieces: list[list[Tile] | Integers] = [*self._bundle(tiles), *batches]
        total = sum(tile.work for tile in tiles) + sum(map(len, batches))

        def search(piece: list[Tile] | Integers) -> tuple[list[FoundPairs], float]:
            if isinstance(piece, list):
                return self._search_tiles(piece, formula), sum(tile.work for tile in piece)
            return [formula.of_tables(self.count(Queries.of_matrix(piece)))], float(len(piece))

        found: list[FoundPairs] = []
        for part, work in self.threads.map(search, pieces):
            found.extend(part)
            if advance is not None:
                advance(work / total)
        return _merge(found)

    def _pair_by_planes(self, k_row: int, k_column: int) -> bool:
        if max(k_row, k_column) > MOST_PLANES:
            return False
        planes = (k_row - 1) * (k_column - 1) * PAIR_PLANE_WORD * self._n_words + PAIR_CELL * k_row * k_column
        codes = self.n_rows * (CODE_ROW + 2 * CODE_ROW_AND_VARIABLE) + CODE_CELL * k_row * k_column
        return planes <= codes

    def _cut_row(self, target: int, others: Integers) -> tuple[list[Tile], list[tuple[Integers, Integers]]]:
        row = np.array([target])
        k_row = int(self.cardinalities[target])
        tiles: list[Tile] = []
        rest: list[tuple[Integers, Integers]] = []
        if k_row > 1:
            for run in runs_of_equal(others[self.cardinalities[others] > 1], self.cardinalities):
                k_column = int(self.cardinalities[run[0]])
                if self._pair_by_planes(k_row, k_column):
                    tiles.extend(cut_run_pair(row, run, k_row, k_column))
                else:
                    rest.append((row, run))
        return tiles, rest

    def _bundle(self, tiles: list[Tile]) -> list[list[Tile]]:
        """Put neighbouring tiles together into pieces of about equal work."""
        share = sum(tile.work for tile in tiles) / (16 * self.threads.n_threads)
        bundles: list[list[Tile]] = []
        load = np.inf
        for tile in tiles:
            if load >= share:
                bundles.append([])
                load = 0.0
            bundles[-1].append(tile)
            load += tile.work
        return bundles

    def _batches(self, rest: list[tuple[Integers, Integers]]) -> list[Integers]:
        """List pairs to be counted as tables, in batches of bounded size."""
        batches: list[Integers] = []
        for row_run, column_run in rest:
            cells = int(self.cardinalities[row_run[0]] * self.cardinalities[column_run[0]])
            size = max(1, CELLS_PER_PIECE // min(cells, self.n_rows) // 4)
            pairs = pairs_of_runs(row_run, column_run)
            batches.extend(pairs[i : i + size] for i in range(0, len(pairs), size))
        return batches

    def _search_tiles(self, tiles: list[Tile], formula: PairFormula) -> list[FoundPairs]:
        room = max(len(t.rows) * (t.k_row - 1) * (t.k_column - 1) * len(t.columns) for t in tiles)
        packing = max((t.k_column - 1) * _kernels.WORDS_PER_BLOCK * len(t.columns) for t in tiles)
        count_buffer = np.empty(room, np.int64)
        pack_buffer = np.empty(packing, np.uint64)
        found = []
        for tile in tiles:
            shape = (len(tile.rows), tile.k_row - 1, tile.k_column - 1, len(tile.columns))
            counts = count_buffer[: math.prod(shape)].reshape(shape)
            packed_shape = (tile.k_column - 1, _kernels.WORDS_PER_BLOCK, len(tile.columns))
            packed = pack_buffer[: math.prod(packed_shape)].reshape(packed_shape)
            starts = self._plane_start
            _kernels.count_pairs(
                self._planes, starts[tile.rows], starts[tile.columns], tile.skip, packed, counts
            )
            row_margins = self._margins_of(tile.rows, tile.k_row)
            column_margins = np.ascontiguousarray(self._margins_of(tile.columns, tile.k_column).T)
            found.append(
                formula.of_tile(
                    PairTile(tile.rows, tile.columns, counts, tile.skip, row_margins, column_margins)
                )
            )
        return found


def _merge(found: list[FoundPairs]) -> FoundPairs:
    """Join what the pieces found, each pair with its smaller variable first, in ascending order."""
    if not found:
        return FoundPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    first = np.concatenate([part.first for part in found])
    second = np.concatenate([part.second for part in found])
    values = np.concatenate([part.values for part in found])
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((high, low))
    return FoundPairs(low[order], high[order], values[order])
