"""Contingency tables that are added up over blocks of rows.

Each kind is handed the codes of some variables in one block after another, by several threads at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl.counting.memory import MemoryEngine
from f2sl.counting.protocol import Integers, Queries
from f2sl.counting.tiles import pairs_of
from f2sl.errors import DataError

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


class FullTables:
    """Tables with all their cells, one after another.

    `cardinalities` are those of the variables in the blocks, by whose places there the queries name them.
    """

    def __init__(self, queries: Queries, cardinalities: Integers, n_rows: int) -> None:
        self._queries = queries
        self._cardinalities = cardinalities
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


class TilesOfPairs:
    """The tables of all pairs of some tiles, by bit planes.

    Only the cells of all states but each variable's last are counted; the others follow from the margins.
    """

    def __init__(self, order: Integers, tiles: Integers, cardinalities: Integers) -> None:
        self._order = order
        self._tiles = tiles
        self._cardinalities = cardinalities
        self._turn = Lock()
        self._sums: list[Integers] = []

    def add(self, codes: NDArray[Any]) -> None:
        """Count a block and add it."""
        block = MemoryEngine(_Rows(codes, self._cardinalities), 1)
        for number, tile in enumerate(self._tiles):
            counts = block.count_tile(self._order, tile)
            with self._turn:
                if number < len(self._sums):
                    self._sums[number] += counts
                else:
                    self._sums.append(counts)

    def pairs(self) -> Integers:
        """List the pairs in the order of their tables."""
        return np.concatenate([pairs_of(self._order, tile) for tile in self._tiles])

    def counts(self, margins: Integers, margin_start: Integers) -> Integers:
        """Give all cells of all tables, one after another."""
        tables = []
        for tile, sums in zip(self._tiles, self._sums, strict=True):
            pairs = pairs_of(self._order, tile)
            _, inner_rows, inner_columns, _ = sums.shape
            of_rows = margins[margin_start[pairs[:, :1]] + np.arange(inner_rows + 1)]
            of_columns = margins[margin_start[pairs[:, 1:]] + np.arange(inner_columns + 1)]
            top, bottom, left, right = tile
            ahead = np.arange(left, right) > np.arange(top, bottom)[:, None]
            inner = sums.transpose(0, 3, 1, 2)[ahead]
            whole = np.empty((len(pairs), inner_rows + 1, inner_columns + 1), np.int64)
            whole[:, :-1, :-1] = inner
            whole[:, :-1, -1] = of_rows[:, :-1] - inner.sum(axis=2)
            whole[:, -1, :] = of_columns - whole[:, :-1, :].sum(axis=1)
            tables.append(whole.ravel())
        return np.concatenate(tables)


class OccurringCells:
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
            raise too_large(len(self._query), self._most_cells)
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


def too_large(n_variables: int, most_cells: int) -> DataError:
    """Make the error for a single table that does not fit into memory."""
    return DataError(
        f"a table of {n_variables} variables has more than {most_cells:,} cells, which the memory allowed "
        "cannot hold; allow more with memory= (on the command line --memory), or fewer parents or conditions"
    )
