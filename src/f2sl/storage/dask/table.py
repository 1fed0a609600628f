"""Tables that a cluster holds, in blocks of rows.

A block is a matrix with a row for each variable, in the memory of some worker. What this process has of the
table is what learners must know: names, states, how often each occurs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from f2sl.storage.dask.runtime import Cluster, Held
from f2sl.storage.memory.table import DiscreteTable, NumericTable, name_order
from f2sl.storage.stream.table import Summand

FAN_IN = 8
"""So many blocks' sums are added up by one call."""

BYTES_OF_BLOCK = 1 << 25
"""How large the blocks are that are sent from here; each worker has some, if there are enough rows."""

ROWS_AT_ONCE = 1 << 18
"""Rows of a block that are turned into floats at a time."""

Block = npt.NDArray[Any]
Arrays = tuple[npt.NDArray[Any], ...]


@dataclass(frozen=True, eq=False)
class ClusteredTable:
    """Samples that a cluster holds, of states or of real numbers.

    Parameters
    ----------
    kind, names, places, states, low, high, memory, notes
        As in :class:`f2sl.storage.stream.table.StreamedTable`.
    cluster : Cluster
        Who holds them.
    blocks : Held
        Dask's futures of the blocks.
    n_rows : int
        The number of samples.
    """

    kind: str
    names: tuple[str, ...]
    cluster: Cluster
    blocks: Held[list[Any]]
    n_rows: int
    places: npt.NDArray[np.int64]
    states: tuple[tuple[object, ...], ...]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    memory: int
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ClusteredTable({self.n_variables} variables, {self.n_rows} rows)"

    @classmethod
    def of_table(
        cls, table: DiscreteTable | NumericTable, cluster: Cluster, memory: int, n_blocks: int | None = None
    ) -> ClusteredTable:
        """Send a table that is in memory to a cluster, in `n_blocks` blocks or as many as seem good."""
        values = table.codes if isinstance(table, DiscreteTable) else table.values
        if n_blocks is None:
            n_blocks = max(len(cluster.workers), -(-values.nbytes // BYTES_OF_BLOCK))
        edges = np.linspace(0, table.n_rows, min(n_blocks, table.n_rows) + 1).astype(np.int64)
        parts = [np.ascontiguousarray(values[:, a:b]) for a, b in pairwise(edges)]

        def send() -> list[Any]:
            return cluster.scatter(parts)

        states = table.states if isinstance(table, DiscreteTable) else ()
        low, high = values.min(axis=1).astype(np.float64), values.max(axis=1).astype(np.float64)
        return cls(
            table.kind,
            table.names,
            cluster,
            Held(cluster, send),
            table.n_rows,
            np.arange(table.n_variables),
            states,
            low,
            high,
            memory,
            table.notes,
        )

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.names)

    @cached_property
    def cardinalities(self) -> npt.NDArray[np.int64]:
        """The number of states of each variable."""
        return np.array([len(labels) for labels in self.states], dtype=np.int64)

    @cached_property
    def margins(self) -> tuple[npt.NDArray[np.int64], ...]:
        """For each variable how often each of its states occurs."""
        [counts] = self._summed(_margins_of_block, self.cardinalities)
        return tuple(np.split(counts, np.cumsum(self.cardinalities)[:-1]))

    def add_up(self, function: Summand) -> Arrays:
        """Sum what `function` makes of the numbers of blocks."""
        return self._summed(_apply, function)

    def _summed(self, function: Callable[..., Arrays], argument: Any) -> Arrays:
        [total] = self.cluster.map(lambda _: self._begin_sum(function, argument), [None])
        return tuple(total)

    def _begin_sum(self, function: Callable[..., Arrays], argument: Any) -> Any:
        asked = self.cluster.put((function, self.places, argument))
        parts = [self.cluster.submit(_sums_of_block, asked, block) for block in self.blocks.get()]

        def add(group: list[Any]) -> Any:
            return self.cluster.submit(add_arrays, *group)

        return reduced(parts, add, add)

    def read_all(self) -> npt.NDArray[np.float64]:
        """Bring all numbers here, for who needs them in one place."""
        begun = self.cluster.map(
            lambda i: self.cluster.submit(_chosen, self.places, self.blocks.get()[i]),
            range(len(self.blocks.get())),
        )
        return np.concatenate([block.astype(np.float64) for block in begun], axis=1)

    def some(self, variables: Sequence[int]) -> ClusteredTable:
        """Give some of the variables, in this order, as a table of their own on the same blocks."""
        chosen = list(variables)
        return replace(
            self,
            names=tuple(self.names[i] for i in chosen),
            places=self.places[chosen],
            states=tuple(self.states[i] for i in chosen) if self.states else (),
            low=self.low[chosen],
            high=self.high[chosen],
        )

    def in_name_order(self) -> ClusteredTable:
        """Return the table with its variables sorted by name, itself if they are already."""
        order = name_order(self.names)
        return self if order is None else self.some(order)

    def as_numbers(self) -> ClusteredTable:
        """Take the codes of states for numbers."""
        return replace(self, kind="gaussian", states=())

    def close(self) -> None:
        """Let the cluster forget the table; the connection is closed, if it was opened for it."""
        self.blocks.release()
        self.cluster.close()


def reduced(parts: list[Any], add: Callable[[list[Any]], Any], last: Callable[[list[Any]], Any]) -> Any:
    """Add up futures in a tree, groups by `add`; `last` is given what is left in the end."""
    while len(parts) > FAN_IN:
        parts = [add(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return last(parts)


# What workers do


def add_arrays(*parts: Arrays) -> Arrays:
    """Add up tuples of arrays."""
    return tuple(np.sum(arrays, axis=0) for arrays in zip(*parts, strict=True))


def _sums_of_block(asked: tuple[Callable[..., Arrays], npt.NDArray[np.int64], Any], block: Block) -> Arrays:
    function, places, argument = asked
    stretches = range(0, block.shape[1], ROWS_AT_ONCE)
    return add_arrays(*(function(argument, block[places, a : a + ROWS_AT_ONCE]) for a in stretches))


def _margins_of_block(cardinalities: npt.NDArray[np.int64], codes: Block) -> Arrays:
    counts = [np.bincount(row, minlength=k) for row, k in zip(codes, cardinalities, strict=True)]
    return (np.concatenate(counts).astype(np.int64),)


def _apply(function: Summand, values: Block) -> Arrays:
    return function(values.astype(np.float64))


def _chosen(places: npt.NDArray[np.int64], block: Block) -> Block:
    return block[places]
