"""n log n in fixed point, from which entropies, G2 and log likelihoods are summed.

With counts n and N samples, N H = N log N - sum of n log n. Sums of n log n are kept as 64-bit integers
(fixed point), exact whatever their order: a variable's states, the samples and the threads may come in any
order and the result is the same to the last bit. All logarithms are natural.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.stats import _kernels
from f2sl.storage.protocol import Tables

MOST_ENTRIES = 1 << 20
"""Terms n log n are looked up for smaller n, and computed for larger ones, of which there are few."""

LOGARITHMS = np.log(np.maximum(np.arange(1 << 16), 1))
"""Logarithms from which those of larger numbers are computed, with additions and multiplications alone: these
give the same bits in every loop, compiled or not."""


class LogTable:
    """n log n for n from 0 to `n_rows`, in fixed point: entry times `unit` is the value in nats.

    `entries` has those of small n, for the loops that compute what is beyond them; `all_entries` has all, as
    the loops over tiles need it.

    Examples
    --------
    >>> table = LogTable(8)
    >>> round(float(table.entries[8] * table.unit), 12) == round(8 * math.log(8), 12)
    True
    """

    def __init__(self, n_rows: int) -> None:
        largest = max(1.0, n_rows * math.log(max(n_rows, 2)))
        # Sums of a table's terms stay below 2 N log N, and three of them are added at most.
        self.unit = 2.0 ** (math.ceil(math.log2(largest)) - 59)
        n = np.arange(min(n_rows + 1, MOST_ENTRIES), dtype=np.float64)
        n[0] = 1.0
        self.entries: Integers = np.rint(n * np.log(n) / self.unit).astype(np.int64)
        self.n_rows = n_rows

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process makes its own, once, rather than receive eight megabytes with each question.
        return _table_for, (self.n_rows,)

    @cached_property
    def all_entries(self) -> Integers:
        """The terms of all n."""
        if self.n_rows < len(self.entries):
            return self.entries
        return self.terms(np.arange(self.n_rows + 1))

    def terms(self, counts: Integers) -> Integers:
        """Return the terms of some counts."""
        found = np.empty(len(counts), np.int64)
        _kernels.terms_of(counts, self.entries, LOGARITHMS, self.unit, found)
        return found

    @property
    def of_all(self) -> int:
        """N log N."""
        return int(self.terms(np.array([self.n_rows]))[0])


@lru_cache(maxsize=4)
def _table_for(n_rows: int) -> LogTable:
    return LogTable(n_rows)


def sums_of_tables(tables: Tables, table: LogTable) -> tuple[Integers, Integers]:
    """Sum n log n over the cells, and over the groups, of each table, in fixed point."""
    cells = np.empty(len(tables.queries), np.int64)
    groups = np.empty(len(tables.queries), np.int64)
    _kernels.table_sums(
        tables.counts,
        tables.group_start,
        tables.first_group,
        tables.n_groups,
        table.entries,
        LOGARITHMS,
        table.unit,
        cells,
        groups,
    )
    return cells, groups


@dataclass(frozen=True)
class CellSums:
    """Formula for the sum of n log n over a table's cells, in fixed point."""

    table: LogTable

    def __call__(self, tables: Tables) -> Floats:
        """Return one sum for each table."""
        return sums_of_tables(tables, self.table)[0].astype(np.float64)
