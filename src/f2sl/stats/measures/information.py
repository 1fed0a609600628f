"""Entropy, mutual information and symmetrical uncertainty, from counts.

With counts n and N samples, N H = N log N - sum of n log n. All logarithms are natural.

========================  ====================================================
H(X)                      entropy
I(X; Y)                   H(X) + H(Y) - H(X, Y), mutual information
I(X; Y | Z)               H(X, Z) + H(Y, Z) - H(X, Y, Z) - H(Z)
SU(X, Y)                  2 I(X; Y) / (H(X) + H(Y)), symmetrical uncertainty:
                          0 for independent variables, 1 where each determines the other
========================  ====================================================

Sums of n log n are 64-bit integers (fixed point), which are exact in any order: the result is the same to the
last bit for any order of states, samples and threads. G2 and log likelihoods are summed from the same table
of n log n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.engines import CodeTiles, CountingEngine, FoundPairs, PlaneTiles, Queries, Tables
from f2sl.data.memory._kernels import WORDS_PER_BLOCK
from f2sl.stats import _kernels as sum_kernels
from f2sl.stats.answers import TOLERANCE
from f2sl.stats.measures import _kernels

MOST_ENTRIES = 1 << 20
"""Size of the table of n log n; terms of larger n, which are few, are computed."""

PAIRS_AT_ONCE = 1 << 16
"""Number of pairs for which a kernel gets space at a time; more if the largest tile needs it."""

LOGARITHMS = np.log(np.maximum(np.arange(1 << 16), 1))
"""Logarithms from which those of larger numbers are computed with additions and multiplications only, which
give the same bits in every loop, compiled or not."""


Sums = Integers | Floats
"""Whole numbers, in fixed point or counts."""


class LogTable:
    """n log n for n from 0 to `n_rows`, in fixed point: entry times `unit` is the value in nats.

    `entries` has the terms of small n, for loops that compute larger ones; `all_entries` has all terms, for
    the loops over tiles.

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
        """Terms n log n of all n."""
        if self.n_rows < len(self.entries):
            return self.entries
        return self.terms(np.arange(self.n_rows + 1))

    def terms(self, counts: Integers) -> Integers:
        """Return the terms of some counts."""
        found = np.empty(len(counts), np.int64)
        sum_kernels.terms_of(counts, self.entries, LOGARITHMS, self.unit, found)
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
    sum_kernels.table_sums(
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


class Information:
    """Entropies of an engine's variables, and the formulas that need them."""

    def __init__(self, engine: CountingEngine) -> None:
        self.engine = engine
        self.table = LogTable(engine.n_rows)

    @cached_property
    def scaled_entropies(self) -> Integers:
        """N H(X) of each variable, in fixed point; N are the samples that have it."""
        terms = self.table.terms(self.engine.margins)
        sums = np.add.reduceat(terms, self.engine.margin_start[:-1])
        return np.asarray(self.table.terms(self.engine.observed) - sums)

    @property
    def entropies(self) -> Floats:
        """H(X) of each variable, in nats."""
        return np.asarray(self.scaled_entropies * (self.table.unit / self.engine.observed))

    @property
    def unit(self) -> float:
        """Value of a fixed-point unit of N I, as mutual information in nats."""
        return self.table.unit / self.table.n_rows

    @property
    def g2_unit(self) -> float:
        """Value of a fixed-point unit of N I, as G2 = 2 N I."""
        return 2.0 * self.table.unit

    def values(self, pairs: Integers, unit: float | None) -> Floats:
        """Return SU, or information in `unit`, of pairs, one a row."""
        counts = self.engine
        formula = PairValues(self.table, self.scaled_entropies, unit)
        if not counts.presence.any:
            return np.asarray(counts.evaluate(Queries.of_matrix(pairs), formula)[:, 0])
        found = counts.evaluate(counts.presence.pair_queries(pairs), SumsAndTotals(self.table), width=2)
        return formula.of_whole(*found.reshape(-1, 6).T[[0, 2, 4, 1]])

    def pairs_above(self, threshold: float, unit: float | None = None) -> PairsAbove:
        """Return a formula that keeps the pairs whose SU, or information in `unit`, exceeds `threshold`."""
        thresholds = np.full((1, 1, 1), threshold + TOLERANCE)
        alike = np.zeros(self.engine.n_variables, np.int64)
        return PairsAbove(self.table, self.scaled_entropies, unit, thresholds, alike)

    def from_g2(self, pairs: FoundPairs, unit: float | None) -> Floats:
        """Return SU, or information in `unit`, of pairs whose values are G2, to the last bit."""
        both = self.scaled_entropies[pairs.first] + self.scaled_entropies[pairs.second]
        return measured(pairs.values / self.g2_unit, both, unit)


@dataclass(frozen=True)
class SumsAndTotals:
    """Formula for the sum of n log n over a table's cells, in fixed point, and the number of its samples."""

    table: LogTable

    def __call__(self, tables: Tables) -> Floats:
        """Return both for each table."""
        return np.column_stack([sums_of_tables(tables, self.table)[0], tables.totals]).astype(np.float64)


@dataclass(frozen=True)
class PairValues:
    """Formula for the values of pairs: SU if `unit` is None, otherwise information in that unit."""

    table: LogTable
    scaled_entropies: Integers
    unit: float | None

    def of_whole(self, cells: Sums, rows: Sums, columns: Sums, samples: Sums) -> Floats:
        """Return values of pairs with missing values, from their own sums of n log n and their samples."""
        total = self.table.terms(samples.astype(np.int64))
        both = 2 * total - rows - columns
        values = measured(both - (total - cells), both, self.unit)
        return values * (self.table.n_rows / np.maximum(samples, 1)) if self._per_sample else values

    @property
    def _per_sample(self) -> bool:
        """True if the unit is a share of the number of samples."""
        return self.unit is not None and self.unit < self.table.unit

    def __call__(self, tables: Tables) -> Floats:
        """Return one value for each table of two variables; for each three tables if values are missing."""
        if tables.missing:
            cells, rows, columns = sums_of_tables(tables, self.table)[0].reshape(-1, 3).T
            return self.of_whole(cells, rows, columns, tables.totals[::3])
        sums, _ = sums_of_tables(tables, self.table)
        first, second = tables.queries.variables.reshape(-1, 2).T
        both = self.scaled_entropies[first] + self.scaled_entropies[second]
        return measured(both - (self.table.of_all - sums), both, self.unit)


@dataclass(frozen=True)
class PairsAbove(PairValues):
    """Formula that keeps the pairs whose value exceeds a threshold.

    Thresholds may differ by class of variables: those of a pair are ``thresholds[classes[x], classes[y]]``,
    one or several, rising. Pairs above the last are kept, and those above each are tallied.

    For speed `of_tiles` and `of_code_tiles` count for themselves: counting a tile of pairs and computing
    their values are one compiled loop, which stores nothing about unrelated pairs.
    """

    thresholds: Floats
    classes: Integers

    def of_tiles(self, tiles: PlaneTiles) -> FoundPairs:
        """Count the pairs of some tiles and keep those above the threshold."""
        arrays = tiles.planes, tiles.plane_start, tiles.margins, tiles.margin_start

        def workspace(
            pairs: Integers, width: Integers, k_row: Integers, k_column: Integers, whole: bool
        ) -> Any:
            inner = k_row - (not whole), k_column - (not whole)
            counts = np.empty((pairs * inner[0] * inner[1]).max(), np.int64)
            return counts, np.empty((inner[1] * width).max() * WORDS_PER_BLOCK, np.uint64)

        return self._search((_kernels.search_tiles, _kernels.search_whole_tiles), arrays, tiles, workspace)

    def of_code_tiles(self, tiles: CodeTiles) -> FoundPairs:
        """Do the same for pairs that are counted sample by sample."""

        def workspace(
            pairs: Integers, width: Integers, k_row: Integers, k_column: Integers, whole: bool
        ) -> Any:
            table = np.zeros((k_row * k_column).max(), np.int32)
            if whole:
                return table, np.zeros((k_row + k_column).max(), np.int32)
            return table, np.empty(tiles.codes.shape[1] + 1, np.int64)

        kernels = _kernels.search_tiles_by_codes, _kernels.search_whole_tiles_by_codes
        return self._search(kernels, (tiles.codes,), tiles, workspace)

    def _search(
        self,
        kernels: tuple[Any, Any],
        arrays: tuple[Any, ...],
        tiles: PlaneTiles | CodeTiles,
        capacity_for: Callable[..., tuple[Any, Any]],
    ) -> FoundPairs:
        """Search the tiles whose pairs are complete, then those with missing values, each with its kernel."""
        how = self.unit is None, self.unit or 0.0, float(self.thresholds.min()), self.thresholds, self.classes
        terms = self.table.all_entries, self.scaled_entropies, *how, self._per_sample
        tally, parts = np.zeros(self.thresholds.shape[2], np.int64), []
        top, left = tiles.order[tiles.tiles[:, 0]], tiles.order[tiles.tiles[:, 2]]
        for whole, kernel in enumerate(kernels):
            wanted = (tiles.missing[top] | tiles.missing[left]) == whole
            some = tiles.tiles[wanted]
            if not len(some):
                continue
            width = some[:, 3] - some[:, 2]
            pairs = (some[:, 1] - some[:, 0]) * width
            k_row, k_column = tiles.cardinalities[top[wanted]], tiles.cardinalities[left[wanted]]
            workspace = (
                *capacity_for(pairs, width, k_row, k_column, bool(whole)),
                np.empty(4 * pairs.max(), np.int64),
            )
            size, done = min(int(pairs.sum()), max(int(pairs.max()), PAIRS_AT_ONCE)), 0
            while done < len(some):  # the kernel stops when the space for pairs is used up
                first, second, values = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
                walk = tiles.cardinalities, tiles.order, some, done
                done, found = kernel(arrays, walk, terms, workspace, (tally, first, second, values))
                parts.append(FoundPairs(first, second, values).part(np.arange(found)))
        return replace(FoundPairs.joined(parts), tally=tally)

    def of_tables(self, tables: Tables) -> FoundPairs:
        """Keep pairs among tables of two variables."""
        values = self(tables)
        at = tables.queries.start[:-1][:: 3 if tables.missing else 1]
        first, second = tables.queries.variables[at], tables.queries.variables[at + 1]
        above = values[:, None] > self.thresholds[self.classes[first], self.classes[second]]
        keep = above[:, -1]
        return FoundPairs(first[keep], second[keep], values[keep], above.sum(axis=0))


def measured(information: Sums, both: Sums, unit: float | None) -> Floats:
    """Return information in `unit`, or SU without one, from N I(X; Y) and N (H(X) + H(Y)) in fixed point."""
    if unit is None:
        return np.asarray(2.0 * information / np.maximum(both, 1))
    return np.asarray(information * unit)
