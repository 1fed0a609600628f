"""Count a table that fits into memory, over threads.

Each table and each pair is counted by bit planes, sample by sample, or by refining or sorting the
samples, whichever is cheapest for its numbers of states and samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._threads import Threads
from f2sl.data.engines import (
    Advance,
    CodedRows,
    CodeTiles,
    CountingEngine,
    FoundPairs,
    PairFormula,
    PlaneTables,
    PlaneTiles,
    Queries,
    TableFormula,
    Tables,
    merge_pairs,
)
from f2sl.data.memory import _kernels
from f2sl.data.memory.runs import find_runs
from f2sl.data.tiles import BY_CODES, BY_PLANES, BY_TABLES, Piece, Triangle, pairs_of, plane_columns

if TYPE_CHECKING:
    from f2sl.data.memory.table import MemoryTable

MOST_PLANES = 64
"""Variables with more states have no bit planes: they would take more memory than they save time."""

# Nanoseconds, measured on one core of a server processor; only their ratios matter.
PLANE_WORD = 0.23
PLANE_CELL = 2.0
PLANE_PAIR_WORD = 0.2
PLANE_PAIR_WORD_OF_RUN = 2.9
PLANE_PAIR_RUN = 70.0
PAIR_BY_CODES = 250.0
PAIR_ROW = 0.75
PAIR_ROW_TWICE = 2.5
PAIR_CELL = 0.9
SORTING_ROW = 20.0
CODE_ROW = 0.9
CODE_ROW_AND_VARIABLE = 0.17
CODE_CELL = 0.5
SHARE_UNTIL_DECIDED = 0.25
"""Share of the cells that a test counts on average until it is decided, if it sees the planes."""

SERIAL = 1 << 16
"""Codes of the largest table that is packed before a thread has started."""
CELLS_PER_PIECE = 1 << 20
LEAST_CELLS, LEAST_WORDS = 4096.0, float(1 << 19)
"""Smallest piece of a batch, in cells or, where these are counted from bit planes, in words of these."""
LEAST_WORK = 2e6
"""Shortest piece of the triangle in nanoseconds: submitting a piece to a thread takes time. Also the shortest
batch of tables in which runs are looked for."""
MOST_WORK = 2e8
"""Longest piece in nanoseconds: progress and interrupts are handled between pieces."""
LARGEST_SCRATCH = 1 << 22
"""Cells of the largest table that a pair is counted into without sorting."""
LARGEST_KEY = 2.0**62
"""Largest number of a configuration."""
LARGEST_REFINING = 1 << 24
"""Samples times states of a variable that groups of samples are split by; more is sorted."""


class MemoryEngine(CountingEngine):
    """Count the variables of a :class:`~f2sl.data.memory.table.MemoryTable` in this process.

    Tables with more cells than `most_full_cells` (by default as many as there are samples) list only the
    cells that occur.

    Examples
    --------
    >>> from f2sl import open_table
    >>> engine = MemoryEngine(open_table({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1]}), n_jobs=1)
    >>> engine.count(Queries.of([(0, 1)])).counts.tolist()
    [1, 1, 0, 2]
    """

    def __init__(
        self, table: MemoryTable | CodedRows, n_jobs: int | None = None, most_full_cells: int | None = None
    ) -> None:
        self._codes = table.codes
        self.n_rows = int(table.codes.shape[1])
        self.cardinalities: Integers = table.cardinalities
        self._widest = int(table.cardinalities.max(initial=1))
        self._most_full_cells = self.n_rows if most_full_cells is None else most_full_cells
        self.threads = Threads(n_jobs)
        has_planes = self.cardinalities <= MOST_PLANES
        sizes = np.where(has_planes, self.cardinalities, 0)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        self._n_words = (self.n_rows + 63) // 64
        self._plane_start: Integers = np.where(has_planes, starts[:-1], -1)
        self._planes = np.zeros((int(starts[-1]), self._n_words), np.uint64)
        self.margins = np.zeros(int(self.margin_start[-1]), np.int64)
        n = len(self.cardinalities)
        small = self._codes.size <= SERIAL
        step = max(1, n if small else -(-n // (4 * self.threads.n_threads)))

        def fill(first: int) -> None:
            part = slice(first, first + step)
            _kernels.fill_planes(
                self._codes[part],
                self.cardinalities[part],
                self._plane_start[part],
                self.margin_start[part],
                self._planes,
                self.margins,
            )

        for _ in (map if small else self.threads.map)(fill, range(0, n, step)):
            pass
        if self.presence.any:
            self._add_presence()

    def _add_presence(self) -> None:
        """Add the presence of the variables with gaps, each with one plane."""
        presence, n = self.presence, self.n_variables
        self._codes = presence.rows(self._codes, np.arange(n), np.arange(len(presence.owners)))
        own = np.packbits(self._codes[n:] == 0, axis=1, bitorder="little")
        there = np.zeros((len(own), 8 * self._n_words), np.uint8)
        there[:, : own.shape[1]] = own
        starts = len(self._planes) + np.arange(len(own))
        self._plane_start = np.concatenate([self._plane_start, starts])
        self._planes = np.concatenate([self._planes, there.view("<u8")])

    def column(self, variable: int) -> NDArray[Any]:
        """Return the codes of one variable."""
        return np.asarray(self._codes[variable])

    @property
    def codes(self) -> NDArray[Any]:
        """Codes of all variables, (variables, samples), followed by their presence if there are gaps."""
        return self._codes

    @property
    def planes(self) -> tuple[NDArray[np.uint64], Integers, Integers]:
        """Bit planes of all variables, the first plane of each (-1 for none), and numbers of states."""
        return self._planes, self._plane_start, self.presence.cardinalities

    def close(self) -> None:
        """End the engine's threads."""
        self.threads.close()

    # Tables of any order

    def count(self, queries: Queries) -> Tables:
        """Count the tables of a batch at once, in this thread."""
        method, cells = self._choose(queries)
        full = (method == _kernels.BY_PLANES) | (method == _kernels.BY_CODES)
        capacity = np.where(full, cells, np.minimum(cells, self.n_rows)).astype(np.int64)
        cardinalities = self.presence.cardinalities
        last = cardinalities[queries.variables[queries.start[1:] - 1]]
        groups = np.where(full, capacity // last, capacity) + 1
        cell_start = np.concatenate([[0], np.cumsum(capacity)])
        group_capacity = np.concatenate([[0], np.cumsum(groups)])
        counts = np.empty(int(cell_start[-1]) + 1, np.int64)
        group_start = np.empty(int(group_capacity[-1]), np.int64)
        # What both kernels take last.
        batch = (
            queries.variables,
            queries.start,
            method,
            cell_start,
            group_capacity[:-1],
            counts,
            group_start,
        )
        is_missing = self.presence.missing
        n_groups = _kernels.count_tables(
            self._codes, self._planes, self._plane_start, cardinalities, is_missing, *batch
        )
        for t in np.flatnonzero(method == _kernels.BY_SORTING):
            query = queries.variables[queries.start[t] : queries.start[t + 1]]
            keys, found = sorted_cells(self._codes[query], cardinalities[query])
            borders, first = groups_of(keys, cardinalities[query]), cell_start[t]
            counts[first : first + len(found)] = found
            group_start[group_capacity[t] : group_capacity[t] + len(borders)] = first + borders
            n_groups[t] = len(borders) - 1
        return Tables(
            queries,
            cardinalities,
            counts[:-1],
            cell_start,
            group_start,
            group_capacity[:-1],
            n_groups,
            full,
            self.n_rows,
            self.presence.any,
        )

    def _choose(self, queries: Queries, share: float = 1.0) -> tuple[NDArray[np.int64], Floats]:
        """Return the cheapest way to count each query, and the number of cells of its full table.

        By planes only a `share` of the cells is counted, on average.
        """
        cells = queries.table_sizes(self.presence.cardinalities)
        widest: Any = self._widest
        if widest > min(MOST_PLANES, LARGEST_REFINING // self.n_rows):  # not all queries need be alike
            widest = np.maximum.reduceat(self.presence.cardinalities[queries.variables], queries.start[:-1])
        by_planes, by_codes = self._costs(queries, cells)
        method = np.where(
            (share * by_planes <= by_codes) & (widest <= MOST_PLANES), _kernels.BY_PLANES, _kernels.BY_CODES
        )
        refined = self.n_rows * widest <= LARGEST_REFINING
        large = np.where(refined, _kernels.BY_REFINING, _kernels.BY_SORTING)
        return np.where(cells > self._most_full_cells, large, method).astype(np.int64), cells

    def _costs(self, queries: Queries, cells: Floats) -> Floats:
        """Return the nanoseconds that each query takes by planes and by codes, (2, n_queries) float64."""
        sizes = np.diff(queries.start)
        by_codes = self.n_rows * (CODE_ROW + CODE_ROW_AND_VARIABLE * sizes) + CODE_CELL * cells
        return np.array([cells * (PLANE_WORD * self._n_words + PLANE_CELL), by_codes])

    def evaluate(self, queries: Queries, formula: TableFormula, width: int = 1) -> Floats:
        """Count the tables of `queries` and apply `formula`, in pieces over the threads."""
        if not len(queries):
            return np.empty((0, width))
        cells = queries.table_sizes(self.presence.cardinalities)
        if getattr(formula, "in_any_order", False) and len(queries) > 1 and not self.presence.any:
            costs = self._costs(queries, cells).min(axis=0)
            if costs.sum() > LEAST_WORK:
                return self._evaluate_runs(queries, cells, formula, width, costs)
        return self._evaluate(queries, cells, formula, width)

    def _evaluate(self, queries: Queries, cells: Floats, formula: TableFormula, width: int) -> Floats:
        """Evaluate tables one by one; `cells` are their numbers of cells."""
        least = LEAST_WORDS / self._n_words if getattr(formula, "of_planes", None) else LEAST_CELLS
        pieces = self._pieces(cells, max(least, LEAST_CELLS))
        if len(pieces) == 1:
            return self._apply(queries, cells, formula, width)
        results = self.threads.map(
            lambda piece: self._apply(queries.part(*piece), cells[slice(*piece)], formula, width), pieces
        )
        return np.concatenate(list(results))

    def _evaluate_runs(
        self, queries: Queries, cells: Floats, formula: TableFormula, width: int, costs: Floats
    ) -> Floats:
        """Evaluate tables in runs where that is faster than one by one, in `costs` nanoseconds each."""
        uncommon, _ = self._common_states
        positions, runs = find_runs(queries, self.cardinalities, uncommon, self.n_rows, costs)
        if not len(positions):
            return self._evaluate(queries, cells, formula, width)
        result, alone = np.empty((len(queries), width)), np.ones(len(queries), np.bool_)
        alone[positions] = False
        if alone.any():
            result[alone] = self._evaluate(queries.where(alone), cells[alone], formula, width)
        parts = (runs.part(*piece) for piece in self._pieces(cells[positions], LEAST_CELLS))
        found = self.threads.map(lambda part: formula(self._count_runs(part)).reshape(-1, width), parts)
        result[positions] = np.concatenate(list(found))
        return result

    @cached_property
    def _common_states(self) -> tuple[Integers, Integers]:
        """Number of samples outside each variable's most common state, and that state.

        The number is larger than that of all samples if the variable has no planes.
        """
        starts = self.margin_start[:-1]
        most = np.maximum.reduceat(self.margins, starts)
        owners = np.repeat(np.arange(len(starts)), self.cardinalities)
        positions = np.flatnonzero(self.margins == most[owners])
        _, first = np.unique(owners[positions], return_index=True)
        return self.n_rows - most + (self._plane_start < 0) * (self.n_rows + 1), positions[first] - starts

    def _count_runs(self, queries: Queries) -> Tables:
        """Count the tables of runs, in this thread."""
        capacity = np.minimum(queries.table_sizes(self.presence.cardinalities), self.n_rows).astype(np.int64)
        counts = np.empty(int(capacity.sum()) + 1, np.int64)
        group_start = np.empty(len(counts) + len(capacity), np.int64)
        first_group = np.empty(len(capacity) + 1, np.int64)
        _kernels.count_runs(
            self._codes,
            self._planes,
            self._plane_start,
            self.cardinalities,
            self._common_states[1],
            queries.variables,
            queries.start,
            counts,
            group_start,
            first_group,
        )
        return Tables(
            queries,
            self.cardinalities,
            counts[:-1],
            group_start[first_group],
            group_start,
            first_group[:-1],
            np.diff(first_group) - 1,
            np.zeros(len(capacity), np.bool_),
            self.n_rows,
        )

    def _apply(self, queries: Queries, cells: Floats, formula: TableFormula, width: int) -> Floats:
        """Apply a formula to the tables of one piece, or to the planes if it can use those."""
        of_planes = getattr(formula, "of_planes", None)
        if of_planes is None:
            return formula(self.count(queries)).reshape(-1, width)
        if cells.max() <= self._always_by_planes:
            return np.asarray(of_planes(PlaneTables(self.codes, *self.planes, queries)))
        by_planes = self._choose(queries, SHARE_UNTIL_DECIDED)[0] == _kernels.BY_PLANES
        if by_planes.all():
            return np.asarray(of_planes(PlaneTables(self.codes, *self.planes, queries)))
        result = np.empty((len(queries), width))
        if by_planes.any():
            result[by_planes] = of_planes(PlaneTables(self.codes, *self.planes, queries.where(by_planes)))
        result[~by_planes] = formula(self.count(queries.where(~by_planes))).reshape(-1, width)
        return result

    @cached_property
    def _always_by_planes(self) -> float:
        """Number of cells up to which a formula on planes is cheapest, whatever the variables.

        By `_choose`, for the fewest variables, which favour codes. On small tables choosing for each query
        takes longer than counting.
        """
        if (self._plane_start < 0).any():
            return 0.0
        cell = SHARE_UNTIL_DECIDED * (PLANE_WORD * self._n_words + PLANE_CELL) - CODE_CELL
        most = self.n_rows * CODE_ROW / cell if cell > 0.0 else np.inf
        return min(most, float(self._most_full_cells))

    def _pieces(self, cells: Floats, least: float) -> Sequence[tuple[int, int]]:
        """Cut a batch into pieces for all threads, of at least `least` cells and not too many."""
        load = np.minimum(cells, self.n_rows) + 1.0
        share, total = float(CELLS_PER_PIECE), load.sum()
        if self.threads.n_threads > 1:
            share = min(share, max(least, total / (4 * self.threads.n_threads)))
        if total < share:
            return [(0, len(cells))]
        piece_of = np.floor(np.cumsum(load) / share)
        borders = np.flatnonzero(np.diff(piece_of)) + 1
        edges = [0, *borders.tolist(), len(cells)]
        return list(pairwise(edges))

    # Pairs

    def _cost_of_pair(self, k_row: int, k_column: int) -> tuple[int, float]:
        return choose_for_pair(self.n_rows, k_row, k_column)

    def _search(self, formula: PairFormula, triangle: Triangle, advance: Advance) -> Iterator[FoundPairs]:
        total, threads = triangle.work, self.threads.n_threads
        # The nanoseconds of a thread's piece of work.
        share = max(min(total / (32 * threads), MOST_WORK), min(LEAST_WORK, total / (2 * threads)), 1.0)
        small = total <= LEAST_WORK

        def search(piece: Piece) -> tuple[float, FoundPairs]:
            return piece.work, self.search_tiles(formula, triangle.order, piece.tiles, piece.method)

        run = map if small else self.threads.map
        for work, part in run(search, triangle.pieces(total if small else share)):
            advance(work / total)
            yield part

    def search_tiles(self, formula: PairFormula, order: Integers, tiles: Integers, method: int) -> FoundPairs:
        """Apply `formula` to some tiles of positions in `order` at once, in this thread."""
        if method == BY_PLANES:
            arrays = (self._planes, self._plane_start, self.margins, self.margin_start)
            of_variables = self.cardinalities, self.presence.missing
            return formula.of_tiles(PlaneTiles(*arrays, *of_variables, order, tiles))
        if method == BY_CODES:
            of_variables = self.cardinalities, self.presence.missing
            return formula.of_code_tiles(CodeTiles(self._codes, *of_variables, order, tiles))
        size = max(1, CELLS_PER_PIECE // self.n_rows)
        batches = (
            pairs[i : i + size]
            for pairs in (pairs_of(order, t) for t in tiles)
            for i in range(0, len(pairs), size)
        )
        asked = self.presence.pair_queries
        return merge_pairs(formula.of_tables(self.count(asked(pairs))) for pairs in batches)

    def count_tile(self, order: Integers, tile: Integers, whole: bool) -> Integers:
        """Count the pairs of one tile by bit planes, like `_kernels.count_pairs`; `whole`: all cells."""
        top, bottom, left, right = tile.tolist()
        rows, columns = order[top:bottom], order[left:right]
        inner_rows, inner_columns = self.cardinalities[[rows[0], columns[0]]] - (not whole)
        skip = np.clip(np.arange(top, bottom) + 1 - left, 0, right - left)
        packed = np.empty((inner_columns, _kernels.WORDS_PER_BLOCK, len(columns)), np.uint64)
        counts = np.empty((len(rows), inner_rows, inner_columns, len(columns)), np.int64)
        _kernels.count_pairs(self._planes, self._plane_start, rows, columns, skip, packed, counts)
        return counts


def choose_for_pair(n_rows: int, k_row: int, k_column: int) -> tuple[int, float]:
    """Choose how to count a pair with these numbers of states; return also the nanoseconds it takes."""
    cells = k_row * k_column
    codes = PAIR_BY_CODES + min(PAIR_ROW * n_rows + PAIR_CELL * cells, PAIR_ROW_TWICE * n_rows)
    if max(k_row, k_column) <= MOST_PLANES:
        width = plane_columns(k_column)
        word = PLANE_PAIR_WORD + PLANE_PAIR_WORD_OF_RUN / width
        n_words = (n_rows + 63) // 64
        planes = (k_row - 1) * (k_column - 1) * (word * n_words + PLANE_PAIR_RUN / width)
        if planes + PAIR_CELL * cells <= codes:
            return BY_PLANES, planes + PAIR_CELL * cells
    return (BY_CODES, codes) if cells <= LARGEST_SCRATCH else (BY_TABLES, SORTING_ROW * n_rows)


# Tables by sorting


def sorted_cells(codes: NDArray[Any], cardinalities: Integers) -> tuple[NDArray[Any], Integers]:
    """Return the configurations that occur, by number in ascending order, and their counts.

    Samples with a missing value are left out. Configurations are numbered up to `LARGEST_KEY`; where there
    may be more, their codes are put side by side.

    Examples
    --------
    >>> keys, counts = sorted_cells(np.array([[0, 1, 1], [2, 0, 0]], np.uint8), np.array([2, 3]))
    >>> keys.tolist(), counts.tolist()
    ([2, 3], [1, 2])
    """
    missing = (codes >= cardinalities[:, None]).any(axis=0)
    if missing.any():
        codes = codes[:, ~missing]
    if _numbered(cardinalities):
        keys: NDArray[Any] = np.zeros(codes.shape[1], np.int64)
        for row, k in zip(codes, cardinalities, strict=True):
            keys *= k
            keys += row
    else:
        side_by_side = np.ascontiguousarray(codes.T.astype(codes.dtype.newbyteorder(">")))
        keys = side_by_side.view(f"S{side_by_side.shape[1] * side_by_side.itemsize}").reshape(-1)
    keys, counts = np.unique(keys, return_counts=True)
    return keys, counts.astype(np.int64)


def groups_of(keys: NDArray[Any], cardinalities: Integers) -> Integers:
    """Return where groups of configurations that differ in the last variable begin, and the last ends."""
    if not len(keys):
        return np.zeros(1, np.int64)
    if _numbered(cardinalities):
        changes = np.diff(keys // cardinalities[-1]) != 0
    else:
        width = keys.itemsize // len(cardinalities)
        leading = keys.view(np.uint8).reshape(len(keys), -1)[:, :-width]
        changes = (leading[1:] != leading[:-1]).any(axis=1)
    return np.concatenate([[0], np.flatnonzero(changes) + 1, [len(keys)]])


def _numbered(cardinalities: Integers) -> bool:
    return float(np.prod(cardinalities.astype(np.float64))) <= LARGEST_KEY
