"""Entropy, mutual information and symmetrical uncertainty, from counts.

With counts n and N samples, N H = N log N - sum of n log n. All logarithms are natural.

========================  ====================================================
H(X)                      entropy
I(X; Y)                   H(X) + H(Y) - H(X, Y), mutual information
I(X; Y | Z)               H(X, Z) + H(Y, Z) - H(X, Y, Z) - H(Z)
SU(X, Y)                  2 I(X; Y) / (H(X) + H(Y)), symmetrical uncertainty:
                          0 for independent variables, 1 where each decides the other
========================  ====================================================

Sums of n log n are kept as 64-bit integers (fixed point), exact whatever their order:
a variable's states, the samples and the threads may come in any order and the result is
the same to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.stats import _kernels
from f2sl.stats.answers import TOLERANCE
from f2sl.storage.protocol import CodeTiles, CountingEngine, FoundPairs, PlaneTiles, Queries, Tables

MOST_ENTRIES = 1 << 20
"""Terms n log n are looked up for smaller n, and computed for larger ones, of which there are few."""

LOGARITHMS = np.log(np.maximum(np.arange(1 << 16), 1))
"""From which the logarithms of larger numbers are computed, with additions and multiplications alone: these
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
        """The terms of some counts."""
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


class Information:
    """Entropies of an engine's variables, and the formulas that need them."""

    def __init__(self, engine: CountingEngine) -> None:
        self.engine = engine
        self.table = LogTable(engine.n_rows)

    @cached_property
    def scaled_entropies(self) -> Integers:
        """N H(X) of each variable, in fixed point."""
        terms = self.table.terms(self.engine.margins)
        sums = np.add.reduceat(terms, self.engine.margin_start[:-1])
        return np.asarray(self.table.of_all - sums)

    @property
    def entropies(self) -> Floats:
        """H(X) of each variable, in nats."""
        return np.asarray(self.scaled_entropies * (self.table.unit / self.engine.n_rows))

    def pairs_above(self, threshold: float, measure: str = "su") -> PairsAbove:
        """Formula that keeps the pairs whose measure exceeds `threshold`."""
        thresholds = np.full((1, 1, 1), threshold + TOLERANCE)
        alike = np.zeros(self.engine.n_variables, np.int64)
        return PairsAbove(self.table, self.scaled_entropies, measure, thresholds, alike)

    def from_g2(self, pairs: FoundPairs, measure: str) -> Floats:
        """Another measure of pairs whose values are G2, with the same bits as if it were found at once."""
        both = self.scaled_entropies[pairs.first] + self.scaled_entropies[pairs.second]
        return measured(pairs.values / unit_of("g2", self.table), both, measure, self.table)

    def mutual_information(self, queries: Queries) -> Floats:
        """I(X; Y | Z) for queries listed as (Z..., X, Y): the last two given the ones before, in nats."""
        starts, ends = queries.start[:-1], queries.start[1:]
        formula = CellSums(self.table)
        parts = [queries, _without(queries, ends - 2), _without(queries, ends - 1)]
        xyz, yz, xz = (self.engine.evaluate(part, formula)[:, 0] for part in parts)
        z = np.full(len(queries), float(self.table.of_all))
        has_z = ends - starts > 2
        if has_z.any():
            given = Queries.of(
                [
                    queries.variables[a : b - 2].tolist()
                    for a, b in zip(starts[has_z], ends[has_z], strict=True)
                ]
            )
            z[has_z] = self.engine.evaluate(given, formula)[:, 0]
        return np.asarray(np.maximum(0.0, (xyz - yz - xz + z) * (self.table.unit / self.engine.n_rows)))


def _without(queries: Queries, places: Integers) -> Queries:
    """Drop one variable of each query: the one that stands at `places` of the flat list."""
    return Queries(np.delete(queries.variables, places), queries.start - np.arange(len(queries.start)))


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
        """Give one sum for each table."""
        return sums_of_tables(tables, self.table)[0].astype(np.float64)


@dataclass(frozen=True)
class PairsAbove:
    """Keeps the pairs whose measure exceeds a threshold.

    Thresholds may differ by class of variables: those of a pair are ``thresholds[classes[x], classes[y]]``,
    one or several, rising. Pairs above the last are kept, and those above each are tallied.
    """

    table: LogTable
    scaled_entropies: Integers
    measure: str
    thresholds: Floats
    classes: Integers

    def of_tiles(self, tiles: PlaneTiles) -> FoundPairs:
        """Count the pairs of some tiles and keep those above the threshold."""
        found = _kernels.search_tiles(
            tiles.planes,
            tiles.plane_start,
            tiles.margins,
            tiles.margin_start,
            tiles.cardinalities,
            tiles.order,
            tiles.tiles,
            self.table.all_entries,
            self.scaled_entropies,
            self.measure == "su",
            unit_of(self.measure, self.table),
            self.thresholds,
            self.classes,
        )
        return FoundPairs(*found)

    def of_code_tiles(self, tiles: CodeTiles) -> FoundPairs:
        """Do the same for pairs that are counted sample by sample."""
        found = _kernels.search_tiles_by_codes(
            tiles.codes,
            tiles.cardinalities,
            tiles.order,
            tiles.tiles,
            self.table.all_entries,
            self.scaled_entropies,
            self.measure == "su",
            unit_of(self.measure, self.table),
            self.thresholds,
            self.classes,
        )
        return FoundPairs(*found)

    def of_tables(self, tables: Tables) -> FoundPairs:
        """Keep pairs among tables of two variables."""
        sums, _ = sums_of_tables(tables, self.table)
        first, second = tables.queries.variables.reshape(-1, 2).T
        both = self.scaled_entropies[first] + self.scaled_entropies[second]
        values = measured(both - (self.table.of_all - sums), both, self.measure, self.table)
        above = values[:, None] > self.thresholds[self.classes[first], self.classes[second]]
        keep = above[:, -1]
        return FoundPairs(first[keep], second[keep], values[keep], above.sum(axis=0))


def unit_of(measure: str, table: LogTable) -> float:
    """What a unit of N I, in fixed point, is of G2, or else of mutual information in nats."""
    return 2.0 * table.unit if measure == "g2" else table.unit / table.n_rows


def measured(information: Integers | Floats, both: Integers, measure: str, table: LogTable) -> Floats:
    """Give a measure of pairs from N I(X; Y) and N (H(X) + H(Y)), both in fixed point.

    It is "su", "mi" in nats, or "g2", the statistic 2 N I of the likelihood-ratio test.
    """
    if measure == "su":
        return np.asarray(2.0 * information / np.maximum(both, 1))
    return np.asarray(information * unit_of(measure, table))
