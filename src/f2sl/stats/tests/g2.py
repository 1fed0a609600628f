"""The likelihood-ratio test: G2 = 2 N I(X; Y | Z), a sum over the strata of Z.

Where only the answer is asked for, tests end as soon as it is certain. No stratum has a negative G2. So when
part of the sum is already larger than what independence allows with all degrees of freedom that the strata
could have, the variables are dependent, whatever the rest is. Most tests between two variables that nothing
separates are of that kind, and a few of the largest strata decide them. Questions about many variables with
the same target and set are counted together instead, which is faster still, and gives the strengths, too.

For all pairs of a table, G2 = 2 N I(X; Y) follows the chi-squared distribution under independence, nearly,
with (states of X - 1) (states of Y - 1) degrees of freedom; states that do not occur do not count. So pairs
of variables with as many states have the same critical value, and a walk over all pairs compares G2 with
that: p-values are computed for the few that are left. The approximation needs about 5 samples for each cell
of a pair's table. With 1 to 4 of them, spread evenly over many states, G2 is larger than chi-squared by up to
a sixth in the mean, and with hundreds of degrees of freedom that passes for significance; with fewer, or with
rare states, it is smaller, and weak relations are missed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.engines import (
    CountingEngine,
    FoundPairs,
    PlaneTables,
    Queries,
    TableFormula,
    Tables,
    product_of_columns,
)
from f2sl.stats.measures.information import LOGARITHMS, Information, LogTable, PairsAbove
from f2sl.stats.measures.significance import MARGIN
from f2sl.stats.tests import _kernels
from f2sl.stats.tests.base import OnTables, TableTest, chi_squared_tail, states_of_pairs

ROUNDING_UNITS = 1000
"""Sums of n log n below this many units are treated as zero."""

EXCESS = 1e-6
"""Share by which a statistic must exceed its critical value, so that rounding does not decide."""

GRID = 1.01
"""Ratio of the numbers of degrees of freedom whose critical value is computed."""

LONG_RUN = 4
"""Mean number of tests in sequence that differ in Y alone, from which on they are counted together."""

LEAST_TOGETHER = 500
"""Number of tests from which on this pays: with fewer, compiling the loop in a first run takes longer."""


@dataclass(frozen=True)
class G2Statistic:
    """Formula for G2 and its degrees of freedom."""

    table: LogTable

    def __call__(self, tables: Tables) -> Floats:
        """Return both for each table."""
        k_x, k_y = states_of_pairs(tables)
        statistic, freedom = np.empty(len(k_x)), np.empty(len(k_x), np.int64)
        _kernels.g2_tests(
            tables.counts,
            tables.cell_start,
            k_x,
            k_y,
            self.table.entries,
            LOGARITHMS,
            self.table.unit,
            statistic,
            freedom,
        )
        return np.column_stack([self.without_rounding(statistic), freedom])

    def of_planes(self, tables: PlaneTables, samples_per_cell: float = 0.0) -> Floats:
        """Return both for each table, counted from bit planes together with others of the same condition.

        Where samples may miss variables, `samples_per_cell` says how many a test needs.
        """
        queries = tables.queries
        found = np.empty((2, len(queries)))
        _kernels.g2_of_runs(
            tables.planes,
            tables.plane_start,
            tables.cardinalities,
            queries.variables.reshape(len(queries), -1),
            _least_rows(tables, samples_per_cell),
            samples_per_cell > 0.0,
            self.table.entries,
            LOGARITHMS,
            self.table.unit,
            *found,
        )
        found[0] = self.without_rounding(found[0])
        return found.T

    def without_rounding(self, statistic: Floats) -> Floats:
        """Set to 0 what rounding of n log n leaves of exact independence; true differences are larger."""
        return np.where(statistic < ROUNDING_UNITS * self.table.unit, 0.0, statistic)


class UntilDecided:
    """Formula of a G2 test that computes the whole statistic only where the answer needs it.

    Returns statistic and degrees of freedom as the test's own formula does, or an infinite statistic where
    part of it was enough for dependence.

    It counts for itself, for speed: counting a stratum and adding its term are one loop over bit planes, so
    that strata after the last one needed are never counted. Tests that come in long runs are better counted
    together, to the end. Engines without bit planes hand it whole tables.
    """

    def __init__(self, whole: Any, engine: CountingEngine, alpha: float) -> None:
        self._whole = whole
        # Where samples may miss variables, the whole formula says how many samples a test needs.
        self._statistic: G2Statistic = getattr(whole, "formula", whole)
        self._samples_per_cell: float = getattr(whole, "samples_per_cell", 0.0)
        self._engine = engine
        self._alpha = alpha
        self._critical = np.array([np.inf])

    def __reduce__(self) -> tuple[Callable[[TableFormula], TableFormula], tuple[TableFormula]]:
        """Pickle as the plain formula, because engines on other machines count whole tables."""
        return copy, (self._whole,)

    def __call__(self, tables: Tables) -> Floats:
        """Compute statistic and degrees of freedom from tables that were counted as a whole."""
        return np.asarray(self._whole(tables))

    def of_planes(self, tables: PlaneTables) -> Floats:
        """Count one stratum after another until part of the statistic is enough; long runs together."""
        queries, logarithms = tables.queries, self._statistic.table
        if len(queries) >= LEAST_TOGETHER and len(queries) >= LONG_RUN * _n_runs(queries):
            return np.asarray(self._whole.of_planes(tables))
        statistic, freedom = np.empty(len(queries)), np.empty(len(queries), np.int64)
        _kernels.tests_until_decided(
            tables.codes,
            tables.planes,
            tables.plane_start,
            tables.cardinalities,
            queries.variables.reshape(len(queries), -1),
            self._engine.margin_start,
            self._by_size,
            self._enough(queries),
            _least_rows(tables, self._samples_per_cell),
            logarithms.entries,
            LOGARITHMS,
            logarithms.unit,
            statistic,
            freedom,
        )
        return np.column_stack([self._statistic.without_rounding(statistic), freedom])

    def _enough(self, queries: Queries) -> Floats:
        """Return half of a critical G2 by degrees of freedom, in units of the table of n log n.

        It has an entry for as many degrees of freedom as any of the tables could have. The inverse is slow,
        so it is computed for some numbers of them only, and those between have that of the next larger one:
        a larger G2 is enough as well. Without degrees of freedom none is.
        """
        # All queries of a batch have the same number of variables.
        states = self._engine.cardinalities[queries.variables].astype(np.float64).reshape(len(queries), -1)
        states[:, -2:] -= 1.0
        most = int(product_of_columns(states).max(initial=0.0))
        critical = self._critical
        if most >= len(critical):
            from scipy import special  # 0.1 s, and not every learner needs it

            steps = math.ceil(math.log(2 * most) / math.log(GRID)) + 1
            freedom = np.unique(np.ceil(GRID ** np.arange(steps)))
            half = special.gammainccinv(freedom / 2.0, self._alpha) * (1.0 + EXCESS)
            next_larger = np.searchsorted(freedom, np.arange(1, 2 * most))
            critical = np.append(np.inf, half[next_larger] / self._statistic.table.unit)
            self._critical = critical
        return critical

    @cached_property
    def _by_size(self) -> Integers:
        """States of each variable, those with most samples first: these strata contribute most to G2.

        Aligned with the engine's margins: those of v begin at ``margin_start[v]``.
        """
        engine = self._engine
        owner = np.repeat(np.arange(len(engine.cardinalities)), engine.cardinalities)
        return np.lexsort((-engine.margins, owner)) - engine.margin_start[owner]


def _n_runs(queries: Queries) -> int:
    """Count the runs of tests that differ in their last variable alone; all have as many variables."""
    differs = np.zeros(len(queries) - 1, np.bool_)
    for shared in queries.variables.reshape(len(queries), -1)[:, :-1].T:
        differs |= shared[1:] != shared[:-1]
    return 1 + int(np.count_nonzero(differs))


def _least_rows(tables: PlaneTables, samples_per_cell: float) -> Floats:
    """Return the number of samples that each test needs; 0 where it is known that there are enough."""
    if samples_per_cell == 0.0:
        return np.zeros(len(tables.queries))
    return samples_per_cell * tables.queries.table_sizes(tables.cardinalities)


class G2Test(TableTest):
    """G2 tests on counted tables, or on bit planes until they are decided."""

    exchangeable = True  # sums of integers

    @cached_property
    def _until_decided(self) -> UntilDecided:
        return UntilDecided(self.formula, self.engine, self.alpha)

    def _formula_of_answers(self) -> TableFormula:
        return self._until_decided


class G2(OnTables):
    """Likelihood-ratio test of states.

    Examples
    --------
    >>> from f2sl import open_table
    >>> from f2sl.data.engines import open_engine
    >>> table = open_table({"a": [0, 0, 0, 1, 1, 1] * 9, "b": [0, 0, 0, 1, 1, 1] * 9})
    >>> with open_engine(table) as engine:
    ...     G2().p_values(engine, np.array([0]), np.array([1]), np.empty((1, 0), int)) < 1e-16
    array([ True])
    """

    bound = G2Test

    def formula(self, engine: CountingEngine) -> G2Statistic:
        """Return the formula for statistic and degrees of freedom."""
        return G2Statistic(LogTable(engine.n_rows))

    def of_pairs(self, engine: Any) -> G2OfPairs:
        """Return the test of all pairs, whose p-values are corrected for their number."""
        return G2OfPairs(engine.counts)


class G2OfPairs:
    """G2 test of all pairs, for :class:`~f2sl.stats.measures.significance.SignificantPairs`.

    Parameters
    ----------
    engine : CountingEngine
        Where pairs are counted.

    Examples
    --------
    >>> from f2sl.data.memory.engine import MemoryEngine
    >>> from f2sl import open_table
    >>> table = open_table({"a": [0, 0, 0, 1, 1, 1], "b": [0, 0, 0, 1, 1, 1], "c": [0, 1, 0, 1, 0, 1]})
    >>> with MemoryEngine(table) as engine:
    ...     test = G2OfPairs(engine)
    ...     found = engine.search_pairs(test.formula(np.array([0.01])))
    >>> found.first.tolist(), found.second.tolist(), test.p_values(found).round(4).tolist()
    ([0], [1], [0.0039])
    """

    def __init__(self, engine: CountingEngine) -> None:
        self._information = Information(engine)
        occurs = (engine.margins > 0).astype(np.int64)
        states = np.add.reduceat(occurs, engine.margin_start[:-1])
        # Of d different numbers of states there are at least d^2 / 2 states in all: a matrix of classes is
        # never much larger than the margins are.
        self._states, self._classes = np.unique(states, return_inverse=True)

    def formula(self, levels: Floats) -> PairsAbove:
        """Return a formula that keeps all pairs with a p-value up to the last of some falling levels."""
        from scipy import special

        freedom = np.outer(self._states - 1, self._states - 1)[:, :, None]
        critical = 2.0 * special.gammainccinv(np.maximum(freedom, 1) / 2.0, levels)
        thresholds = np.where(freedom > 0, critical * (1.0 - MARGIN), np.inf)
        of = self._information
        return PairsAbove(of.table, of.scaled_entropies, of.g2_unit, thresholds, self._classes)

    def p_values(self, found: FoundPairs) -> Floats:
        """Return p-values of the pairs that the formula kept, from their G2."""
        states = self._states[self._classes]
        return chi_squared_tail(found.values, (states[found.first] - 1) * (states[found.second] - 1))
