"""Count a batch of queries in blocks of rows, wherever the blocks are.

A :class:`Batch` counts one block after another, each with its own `MemoryEngine` of the requested variables.
The counts of blocks add up, in any order, and the sum is turned into tables at the end. A :class:`TileBatch`
does the same for all pairs of some tiles, faster.

A table with more cells than samples lists only the cells that occur. These differ between blocks, so cells
are identified by the number of their configuration until all blocks are added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.data.engines import Presence, Queries, Tables
from f2sl.data.memory.engine import MOST_PLANES, MemoryEngine
from f2sl.data.tiles import BY_PLANES, BY_TABLES, pairs_of
from f2sl.errors import DataError

LARGEST_KEY = 2.0**62
"""Configurations are numbered up to here; beyond, their codes are put side by side."""

MOST_INNER_CELLS = 128
"""Cells of a pair's table, but for the last row and column, up to which bit planes are faster."""


@dataclass(frozen=True)
class Occurring:
    """Configurations of `n_variables` that occur, by number in ascending order, with their counts.

    There may be `most_cells` of them.
    """

    keys: NDArray[Any]
    counts: Integers
    n_variables: int
    most_cells: int

    def plus(self, other: Occurring) -> Occurring:
        """Add the configurations of further rows."""
        keys, where = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, where.reshape(-1), np.concatenate([self.counts, other.counts]))
        if len(keys) > self.most_cells:
            raise too_large(self.n_variables, self.most_cells)
        return Occurring(keys, counts, self.n_variables, self.most_cells)


@dataclass(frozen=True)
class BlockCounts:
    """Counts of a batch in some rows: full tables in one array, the others each on their own."""

    full: Integers
    occurring: tuple[Occurring, ...] = ()

    def plus(self, other: BlockCounts) -> BlockCounts:
        """Add the counts of further rows."""
        return BlockCounts(
            self.full + other.full, tuple(map(Occurring.plus, self.occurring, other.occurring))
        )


class Counted(Protocol):
    """Counts made together in one pass over the blocks."""

    @property
    def used(self) -> Integers:
        """Variables whose codes are needed, in ascending order."""

    def count(self, codes: NDArray[Any]) -> BlockCounts:
        """Count a block, given by the codes of the variables used."""

    def tables(self, total: BlockCounts) -> Tables:
        """Return tables from the counts of all blocks."""


@dataclass(frozen=True)
class _Rows:
    """Codes of some variables in a block of rows."""

    codes: NDArray[Any]
    cardinalities: Integers

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[1])


@dataclass(frozen=True)
class Batch:
    """Queries that are counted together in one pass over the blocks.

    `n_rows` is the number of samples in all blocks. A table that lists only occurring cells must not list
    more than `most_cells`.
    """

    queries: Queries
    presence: Presence
    n_rows: int
    most_cells: int

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
        """Queries by places among the requested variables."""
        return Queries(np.searchsorted(self._asked, self.queries.variables), self.queries.start)

    @cached_property
    def full(self) -> NDArray[np.bool_]:
        """True for tables with all cells."""
        return np.asarray(self.queries.table_sizes(self.cardinalities) <= self.n_rows)

    def _others(self) -> Iterator[tuple[Integers, Integers]]:
        """Return the places and the numbers of states of the variables of each table that is not full."""
        for t in np.flatnonzero(~self.full):
            part = slice(self.queries.start[t], self.queries.start[t + 1])
            yield self._local.variables[part], self.cardinalities[self.queries.variables[part]]

    def count(self, codes: NDArray[Any]) -> BlockCounts:
        """Count a block, given by the codes of the variables used."""
        if self._asked[-1] >= len(self.presence.numbers):
            codes = self.presence.rows(codes, self.used, self._asked)
        dense = self._local if self.full.all() else self._local.where(self.full)
        full = np.zeros(0, np.int64)
        if len(dense):
            rows = _Rows(codes, self.cardinalities[self._asked])
            full = MemoryEngine(rows, 1, most_full_cells=self.n_rows).count(dense).counts
        occurring = []
        for query, cardinalities in self._others():
            there = codes
            if self.presence.any:
                there = codes[:, (codes[query] < cardinalities[:, None]).all(axis=0)]
            keys, counts = np.unique(_keys(there, query, cardinalities), return_counts=True)
            occurring.append(Occurring(keys, counts.astype(np.int64), len(query), self.most_cells))
        return BlockCounts(full, tuple(occurring))

    def tables(self, total: BlockCounts) -> Tables:
        """Return the tables in the order of the queries."""
        others = [
            (table.counts, _groups(table.keys, cardinalities))
            for table, (_, cardinalities) in zip(total.occurring, self._others(), strict=True)
        ]
        how = self.full, total.full, others, self.presence.any
        return _joined(self.queries, self.cardinalities, self.n_rows, *how)


@dataclass(frozen=True)
class TileBatch:
    """All pairs of some tiles of places in `order`, counted by bit planes.

    Only the cells of all states but each variable's last are counted; the others follow from `margins`, which
    are those of all variables and all rows. For tiles of variables with missing values all cells are counted.
    """

    order: Integers
    tiles: Integers
    presence: Presence
    margins: Integers
    n_rows: int

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
        """Order by places among the variables used."""
        local = np.zeros(len(self.order), np.int64)
        local[self._positions] = np.searchsorted(self.used, self.order[self._positions])
        return local

    def count(self, codes: NDArray[Any]) -> BlockCounts:
        """Count a block, given by the codes of the variables used."""
        block = MemoryEngine(_Rows(codes, self.cardinalities[self.used]), 1)
        return BlockCounts(
            np.concatenate(
                [block.count_tile(self._local, tile, self._whole(tile)).ravel() for tile in self.tiles]
            )
        )

    def tables(self, total: BlockCounts) -> Tables:
        """Add the cells that were not counted; the tables are in the order of the tiles."""
        start = np.concatenate([[0], np.cumsum(self.cardinalities)])
        first, pairs, tables = 0, [], []
        for tile in self.tiles:
            top, bottom, left, right = tile
            some = pairs_of(self.order, tile)
            k_row, k_column = self.cardinalities[self.order[[top, left]]]
            inner_rows, inner_columns = np.array([k_row, k_column]) - (not self._whole(tile))
            shape = bottom - top, inner_rows, inner_columns, right - left
            sums = total.full[first : first + np.prod(shape)].reshape(shape)
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
            tables.append(self._with_margins(whole).ravel())
        queries = self.presence.pair_queries(np.concatenate(pairs))
        full, counts = np.ones(len(queries), np.bool_), np.concatenate(tables)
        return _joined(queries, self.cardinalities, self.n_rows, full, counts, [], self.presence.any)

    def _with_margins(self, tables: Integers) -> Integers:
        """Append the margins to tables of pairs if values are missing, as `Presence.pair_queries` does."""
        if not self.presence.any:
            return tables
        flat = tables.reshape(len(tables), -1)
        return np.concatenate([flat, tables.sum(axis=2), tables.sum(axis=1)], axis=1)


def way_of_pair(n_rows: int, k_row: int, k_column: int) -> tuple[int, float]:
    """Return how to count pairs with these numbers of states, and the cells of their tables."""
    few = (k_row - 1) * (k_column - 1) <= MOST_INNER_CELLS and k_row * k_column <= n_rows
    planes = few and max(k_row, k_column) <= MOST_PLANES
    return BY_PLANES if planes else BY_TABLES, float(min(k_row * k_column, n_rows))


def too_large(n_variables: int, most_cells: int) -> DataError:
    """Return the error for a single table that does not fit into memory."""
    return DataError(
        f"a table of {n_variables} variables has more than {most_cells:,} cells, too many for the memory "
        "limit; raise memory=, or allow fewer parents or conditioning variables"
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


def _numbered(cardinalities: Integers) -> bool:
    return float(np.prod(cardinalities.astype(np.float64))) <= LARGEST_KEY


def _keys(codes: NDArray[Any], query: Integers, cardinalities: Integers) -> NDArray[Any]:
    """Return a key for each row's configuration: a number, or its codes if there are too many."""
    if not _numbered(cardinalities):
        side_by_side = np.ascontiguousarray(codes[query].T.astype(codes.dtype.newbyteorder(">")))
        return side_by_side.view(f"S{side_by_side.shape[1] * side_by_side.itemsize}").reshape(-1)
    keys = np.zeros(codes.shape[1], np.int64)
    for v, k in zip(query, cardinalities, strict=True):
        keys *= k
        keys += codes[v]
    return keys


def _groups(keys: NDArray[Any], cardinalities: Integers) -> Integers:
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
