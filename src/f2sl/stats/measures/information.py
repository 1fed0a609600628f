"""Entropy, mutual information and symmetrical uncertainty, from counts.

With counts n and N samples, N H = N log N - sum of n log n. All logarithms are natural.

========================  ====================================================
H(X)                      entropy
I(X; Y)                   H(X) + H(Y) - H(X, Y), mutual information
I(X; Y | Z)               H(X, Z) + H(Y, Z) - H(X, Y, Z) - H(Z)
SU(X, Y)                  2 I(X; Y) / (H(X) + H(Y)), symmetrical uncertainty:
                          0 for independent variables, 1 where each determines the other
========================  ====================================================

Sums of n log n are exact in any order (:mod:`f2sl.stats.log_table`), and so are all of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.stats.answers import TOLERANCE
from f2sl.stats.log_table import CellSums, LogTable, sums_of_tables
from f2sl.stats.measures import _kernels
from f2sl.stats.measures.base import Measure, PairSearch
from f2sl.storage.protocol import CodeTiles, CountingEngine, FoundPairs, PlaneTiles, Queries, Tables
from f2sl.table.column import NUMBER, STATES


class SU(Measure):
    """Symmetrical uncertainty of states."""

    unit = "SU"

    def _unit(self, information: Information) -> float | None:
        """Return what a unit of information in fixed point is worth; None for SU, which has none."""
        return None

    def values(self, data: Any, first: Integers, second: Integers) -> Floats:
        """Return the value of each pair of variables."""
        information = Information(data.counts)
        formula = PairValues(information.table, information.scaled_entropies, self._unit(information))
        return np.asarray(
            data.counts.evaluate(Queries.of_matrix(np.column_stack([first, second])), formula)[:, 0]
        )

    def search(self, engine: Any, threshold: float) -> PairSearch:
        """Make the search for the pairs whose value exceeds a threshold."""
        information = Information(engine.counts)
        formula = information.pairs_above(threshold, self._unit(information))
        return partial(engine.counts.search_pairs, formula)

    def values_of_significant(self, engine: Any, pairs: FoundPairs) -> Floats:
        """Return the values of significant pairs from their G2, with the bits that `values` would give."""
        information = Information(engine.counts)
        return information.from_g2(pairs, self._unit(information))


class StatesMI(SU):
    """Mutual information of states, in nats."""

    unit = "MI in nats"

    def _unit(self, information: Information) -> float:
        return information.unit


class MI(Measure):
    """Mutual information in nats: of states by their counts, of numbers by their correlation."""

    kinds = (STATES, NUMBER)
    unit = "MI in nats"

    def values(self, data: Any, first: Integers, second: Integers) -> Floats:
        """Return the value of each pair of variables."""
        return self._on(data).values(data, first, second)

    def search(self, engine: Any, threshold: float) -> PairSearch:
        """Make the search for the pairs whose value exceeds a threshold."""
        return self._on(engine).search(engine, threshold)

    def values_of_significant(self, engine: Any, pairs: FoundPairs) -> Floats:
        """Return the values of significant pairs, from their statistic."""
        return self._on(engine).values_of_significant(engine, pairs)

    @staticmethod
    def _on(data: Any) -> Measure:
        if data.counts is None:
            from f2sl.stats.measures.correlations import GaussianMI

            return GaussianMI()
        return StatesMI()


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

    @property
    def unit(self) -> float:
        """What a unit of N I, in fixed point, is of mutual information in nats."""
        return self.table.unit / self.table.n_rows

    @property
    def g2_unit(self) -> float:
        """What a unit of N I, in fixed point, is of G2 = 2 N I."""
        return 2.0 * self.table.unit

    def pairs_above(self, threshold: float, unit: float | None = None) -> PairsAbove:
        """Return a formula that keeps the pairs whose SU, or information in `unit`, exceeds `threshold`."""
        thresholds = np.full((1, 1, 1), threshold + TOLERANCE)
        alike = np.zeros(self.engine.n_variables, np.int64)
        return PairsAbove(self.table, self.scaled_entropies, unit, thresholds, alike)

    def from_g2(self, pairs: FoundPairs, unit: float | None) -> Floats:
        """Return SU, or information in `unit`, of pairs whose values are G2, to the last bit."""
        both = self.scaled_entropies[pairs.first] + self.scaled_entropies[pairs.second]
        return measured(pairs.values / self.g2_unit, both, unit)

    def mutual_information(self, queries: Queries) -> Floats:
        """Return I(X; Y | Z) in nats for queries listed as (Z..., X, Y)."""
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


@dataclass(frozen=True)
class PairValues:
    """Formula for the values of pairs: SU where `unit` is None, else information in that unit."""

    table: LogTable
    scaled_entropies: Integers
    unit: float | None

    def __call__(self, tables: Tables) -> Floats:
        """Return one value for each table of two variables."""
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
    their values are one compiled loop, which keeps nothing of the pairs that are not related.
    """

    thresholds: Floats
    classes: Integers

    @property
    def _terms(self) -> tuple[Any, ...]:
        """What the kernels need beside the tiles."""
        how = self.unit is None, self.unit or 0.0
        return self.table.all_entries, self.scaled_entropies, *how, self.thresholds, self.classes

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
            *self._terms,
        )
        return FoundPairs(*found)

    def of_code_tiles(self, tiles: CodeTiles) -> FoundPairs:
        """Do the same for pairs that are counted sample by sample."""
        found = _kernels.search_tiles_by_codes(
            tiles.codes,
            tiles.cardinalities,
            tiles.order,
            tiles.tiles,
            *self._terms,
        )
        return FoundPairs(*found)

    def of_tables(self, tables: Tables) -> FoundPairs:
        """Keep pairs among tables of two variables."""
        values = self(tables)
        first, second = tables.queries.variables.reshape(-1, 2).T
        above = values[:, None] > self.thresholds[self.classes[first], self.classes[second]]
        keep = above[:, -1]
        return FoundPairs(first[keep], second[keep], values[keep], above.sum(axis=0))


def measured(information: Integers | Floats, both: Integers, unit: float | None) -> Floats:
    """Return information in `unit`, or SU without one, from N I(X; Y) and N (H(X) + H(Y)) in fixed point."""
    if unit is None:
        return np.asarray(2.0 * information / np.maximum(both, 1))
    return np.asarray(information * unit)
