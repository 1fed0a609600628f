"""Tables that a cluster holds, in blocks of rows.

Each block is in the memory of a worker. This process has only what learners must know about the table: names,
states and their counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Floats, Integers
from f2sl._constants import AUTO
from f2sl._notes import Note
from f2sl.data.column import CONTINUOUS, DISCRETE, Column, positions_of
from f2sl.data.dask.runtime import Cluster, Held
from f2sl.data.memory.table import MemoryTable
from f2sl.data.table import Arrays, Block, Ends, Summand, Table, WholeColumn, closed_table

if TYPE_CHECKING:
    from f2sl.data.dask.engine import ClusterEngine

FAN_IN = 8
"""Number of blocks whose sums one call adds up."""

BYTES_OF_BLOCK = 1 << 25
"""Size of the blocks sent from here; each worker gets some, if there are enough rows."""

ROWS_AT_ONCE = 1 << 18
"""Rows of a block that are turned into floats at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class DaskTable(Table):
    """Table held by the workers of a cluster, whose connection it closes.

    Parameters
    ----------
    columns, places, ends, memory, notes, transform
        As in :class:`f2sl.Table`.
    cluster : Cluster
        Cluster that holds the rows.
    blocks : Held
        Dask's futures of the blocks.
    total_rows : int
        The number of samples.
    coded : bool
        True if the numbers are codes of states.
    counted : dict
        Count of each state, by the column's place; selections of one table share it.
    """

    held: ClassVar[str] = "on a cluster"

    columns: tuple[Column, ...]
    cluster: Cluster
    blocks: Held[list[Any]]
    total_rows: int
    positions: Integers
    ends: Ends
    memory: int
    notes: tuple[Note, ...] = ()
    transform: str = AUTO
    coded: bool = False
    counted: dict[int, Integers] = field(default_factory=dict)

    @classmethod
    def of_table(
        cls, table: MemoryTable, cluster: Cluster, memory: int, n_blocks: int | None = None
    ) -> DaskTable:
        """Send a table that is in memory to a cluster, in `n_blocks` blocks or a suitable number of them."""
        if n_blocks is None:
            n_bytes = table.codes.nbytes + table.numbers.nbytes
            n_blocks = max(len(cluster.workers), -(-n_bytes // BYTES_OF_BLOCK))
        edges = np.linspace(0, table.n_rows, min(n_blocks, table.n_rows) + 1).astype(np.int64)
        parts = [
            Block(np.ascontiguousarray(table.codes[:, a:b]), np.ascontiguousarray(table.numbers[:, a:b]))
            for a, b in pairwise(edges)
        ]
        positions = positions_of(table.kinds)
        blocks = Held(cluster, lambda: cluster.scatter(parts))
        how = table.notes, table.transform
        return cls(table.columns, cluster, blocks, table.n_rows, positions, table.ends, memory, *how)

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return self.total_rows

    @cached_property
    def margins(self) -> tuple[Integers, ...]:
        """Count of each state of each column; empty for numbers."""
        new = [i for i in self.of_kind(DISCRETE) if self.positions[i] not in self.counted]
        if new:
            cardinalities, positions = self.cardinalities[new], self.positions[new]
            [counts] = self._summed(_margins_of_block, cardinalities, positions)
            split = np.split(counts, np.cumsum(cardinalities)[:-1])
            self.counted.update(zip(positions.tolist(), split, strict=True))
        own = zip(self.kinds, self.positions.tolist(), strict=True)
        return tuple(self.counted[p] if kind == DISCRETE else np.empty(0, np.int64) for kind, p in own)

    def column(self, i: int) -> npt.NDArray[Any]:
        """Return the codes or numbers of one column as an array."""
        [values] = self._brought(self.positions[[i]], self.columns[i].kind)
        return np.asarray(values)

    def add_up(self, function: Summand) -> Arrays:
        """Sum what `function` makes of blocks."""
        if self.coded:
            return self._summed(_of_codes_as_numbers, function, self.positions)
        positions = [self.positions[self.of_kind(kind)] for kind in (DISCRETE, CONTINUOUS)]
        return self._summed(_of_both, function, positions)

    def _summed(self, function: Callable[..., Arrays], argument: Any, positions: Any) -> Arrays:
        cluster = self._connected()

        def add(group: list[Any]) -> Any:
            return cluster.submit(add_arrays, *group)

        def begin(_: None) -> Any:
            asked = cluster.put((function, positions, argument))
            parts = [cluster.submit(_sums_of_block, asked, block) for block in self.blocks.get()]
            return reduced(parts, add, add)

        [total] = cluster.map(begin, [None])
        return tuple(total)

    def rows(self, chosen: Integers) -> Block:
        """Return some rows, given by their positions in ascending order."""
        cluster, n_blocks = self._connected(), len(self.blocks.get())
        positions = [self.positions[self.of_kind(kind)] for kind in (DISCRETE, CONTINUOUS)]
        lengths = list(cluster.map(lambda i: cluster.submit(_length, self.blocks.get()[i]), range(n_blocks)))
        edges = np.searchsorted(chosen, np.cumsum([0, *lengths]))
        own = [
            chosen[a:b] - start
            for (a, b), start in zip(pairwise(edges), np.cumsum([0, *lengths]), strict=False)
        ]
        parts = cluster.map(
            lambda i: cluster.submit(_some_rows, positions, own[i], self.blocks.get()[i]), range(n_blocks)
        )
        codes, numbers = (np.concatenate(some, axis=1) for some in zip(*parts, strict=True))
        return Block(codes, numbers)

    def all_numbers(self) -> Floats:
        """Return a continuous table as one array, one row for each column."""
        return self._brought(self.positions, CONTINUOUS).astype(np.float64, copy=False)

    def _brought(self, positions: Integers, kind: str) -> npt.NDArray[Any]:
        """Bring some rows of one of the blocks' matrices here."""
        coded, cluster = self.coded or kind == DISCRETE, self._connected()
        begun = cluster.map(
            lambda i: cluster.submit(_chosen, positions, coded, self.blocks.get()[i]),
            range(len(self.blocks.get())),
        )
        return np.concatenate(list(begun), axis=1)

    def _codes_as_numbers(self) -> DaskTable:
        return replace(self, columns=tuple(Column(name, CONTINUOUS) for name in self.names), coded=True)

    def recoded(
        self, columns: tuple[Column, ...], function: Callable[[Block], npt.NDArray[Any]]
    ) -> DaskTable:
        """Return a discrete table that the workers hold, whose codes `function` makes of each block."""
        cluster = self._connected()
        positions = [self.positions[self.of_kind(kind)] for kind in (DISCRETE, CONTINUOUS)]

        def begin() -> list[Any]:
            asked = cluster.put((function, positions))
            return [cluster.submit(_recoded, asked, block) for block in self.blocks.get()]

        ends = np.zeros(len(columns)), np.array([len(column.states) - 1.0 for column in columns])
        return DaskTable(
            columns,
            cluster,
            Held(cluster, begin),
            self.total_rows,
            np.arange(len(columns)),
            ends,
            self.memory,
        )

    def with_numbers(
        self, chosen: Sequence[int], function: WholeColumn, ends: Ends, n_jobs: int | None = None
    ) -> DaskTable:
        """Return the table with `function` applied to some continuous columns, which pass through here."""
        cluster = self._connected()

        def begin() -> list[Any]:
            blocks = self.blocks.get()
            counted = cluster.map(lambda block: cluster.submit(_rows_of, block), blocks)
            edges = np.cumsum([0, *counted])
            parts: list[list[Any]] = []
            for _, numbers in self.numbers_of(chosen):
                new = np.stack([function(values) for values in numbers])
                parts.append(cluster.scatter([new[:, a:b].copy() for a, b in pairwise(edges)]))
            asked = cluster.put(self.positions[list(chosen)])
            return [
                cluster.submit(_with_numbers, asked, *pieces) for pieces in zip(blocks, *parts, strict=True)
            ]

        low, high = (end.copy() for end in self.ends)
        low[chosen], high[chosen] = ends
        return replace(self, blocks=Held(cluster, begin), ends=(low, high))

    def release(self) -> None:
        """Free the blocks; the cluster and the original stay."""
        self.blocks.release()

    def counting_engine(self, n_jobs: int | None = None) -> ClusterEngine:
        """Open the engine that counts a discrete table; the cluster has its own threads."""
        from f2sl.data.dask.engine import open_cluster_engine

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


def reduced(parts: list[Any], add: Callable[[list[Any]], Any], last: Callable[[list[Any]], Any]) -> Any:
    """Add up futures in a tree, groups by `add`; apply `last` to the final sum."""
    while len(parts) > FAN_IN:
        parts = [add(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return last(parts)


# What workers do


def add_arrays(*parts: Arrays) -> Arrays:
    """Add up tuples of arrays."""
    return tuple(np.sum(arrays, axis=0) for arrays in zip(*parts, strict=True))


def _sums_of_block(asked: tuple[Callable[..., Arrays], Any, Any], block: Block) -> Arrays:
    function, positions, argument = asked
    stretches = (slice(a, a + ROWS_AT_ONCE) for a in range(0, block.codes.shape[1], ROWS_AT_ONCE))
    return add_arrays(*(function(argument, block, positions, rows) for rows in stretches))


def _margins_of_block(cardinalities: Integers, block: Block, positions: Integers, rows: slice) -> Arrays:
    codes = block.codes[positions, rows]
    counts = [np.bincount(row, minlength=k)[:k] for row, k in zip(codes, cardinalities, strict=True)]
    return (np.concatenate(counts).astype(np.int64),)


def _of_both(function: Summand, block: Block, positions: list[Integers], rows: slice) -> Arrays:
    codes, numbers = positions
    return function(Block(block.codes[codes, rows], block.numbers[numbers, rows]))


def _recoded(asked: tuple[Callable[[Block], npt.NDArray[Any]], list[Integers]], block: Block) -> Block:
    function, (codes, numbers) = asked
    return Block(function(Block(block.codes[codes], block.numbers[numbers])), block.numbers[:0])


def _rows_of(block: Block) -> int:
    return int(block.numbers.shape[1])


def _with_numbers(positions: Integers, block: Block, *parts: Floats) -> Block:
    numbers = block.numbers.copy()
    numbers[positions] = np.concatenate(parts)
    return Block(block.codes, numbers)


def _of_codes_as_numbers(function: Summand, block: Block, positions: Integers, rows: slice) -> Arrays:
    return function(Block(block.codes[:0, rows], block.codes[positions, rows].astype(np.float64)))


def _length(block: Block) -> int:
    return int(block.codes.shape[1])


def _some_rows(positions: list[Integers], rows: Integers, block: Block) -> Block:
    codes, numbers = positions
    return Block(block.codes[np.ix_(codes, rows)], block.numbers[np.ix_(numbers, rows)])


def _chosen(positions: Integers, coded: bool, block: Block) -> npt.NDArray[Any]:
    return (block.codes if coded else block.numbers)[positions]
