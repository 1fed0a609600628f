"""Tests of discrete variables: statistics of contingency tables that are nearly chi-squared distributed.

G2 = 2 N I(X; Y | Z), the likelihood-ratio test, is a sum over the strata of Z. X2, Pearson's test, is the sum
of (observed - expected)^2 / expected over cells and strata.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from f2sl.stats.tests.base import (
    SAMPLES_PER_CELL,
    CITest,
    TableTest,
    chi_squared_tail,
    p_values_when_bound,
)

ROUNDING_UNITS = 1000
"""Sums of n log n below this many units are treated as zero; the dependence of one sample has millions."""

EXCESS = 1e-6
"""Share by which a statistic must exceed its critical value, so that rounding does not decide."""

GRID = 1.01
"""Ratio of the numbers of degrees of freedom whose critical value is computed."""

LONG_RUN = 4
"""Mean number of tests in sequence that differ in Y alone, from which on they are counted together."""

LEAST_TOGETHER = 500
"""Number of tests from which on this pays: with fewer, compiling the loop in a first run takes longer."""


@dataclass(frozen=True)
class X2Statistic:
    """Formula for X2 and its degrees of freedom.

    With missing values only a counted table tells how many samples it has; with fewer than `samples_per_cell`
    for each cell its statistic is NaN.
    """

    samples_per_cell: float = 0.0

    def __call__(self, tables: Tables) -> Floats:
        """Return both for each table."""
        k_x, k_y = states_of_pairs(tables)
        found = np.empty((2, len(k_x)))
        # X2 is at most N (min(k_x, k_y) - 1), and no table has more than N cells: below N^1.5.
        unit = 2.0 ** (math.ceil(1.5 * math.log2(tables.n_rows + 1)) - 61)
        _kernels.x2_tests(tables.counts, tables.cell_start, k_x, k_y, unit, *found)
        return of_enough_rows(tables, self.samples_per_cell, found)


@dataclass(frozen=True)
class G2Statistic:
    """Formula for G2 and its degrees of freedom, from the table of n log n; NaN as in `X2Statistic`."""

    table: LogTable
    samples_per_cell: float = 0.0

    def __call__(self, tables: Tables) -> Floats:
        """Return both for each table."""
        k_x, k_y = states_of_pairs(tables)
        found = np.empty((2, len(k_x)))
        logarithms = self.table.entries, LOGARITHMS, self.table.unit
        _kernels.g2_tests(tables.counts, tables.cell_start, k_x, k_y, *logarithms, *found)
        self.drop_rounding(found)
        return of_enough_rows(tables, self.samples_per_cell, found)

    def of_planes(self, tables: PlaneTables) -> Floats:
        """Return both for each table, counted from bit planes together with others of the same condition.

        Learners that need strengths ask in long runs about one target and set: MMHC on pigs with 5,000 rows
        takes 1.1 instead of 3.4 s. Engines without bit planes hand over whole tables.
        """
        found = np.empty((2, len(tables.queries)))
        how = self.least_rows(tables), self.samples_per_cell > 0.0, self.table.entries, LOGARITHMS
        _kernels.g2_of_runs(*_planes_and_queries(tables), *how, self.table.unit, found[0], found[1])
        self.drop_rounding(found)
        return found.T

    def least_rows(self, tables: PlaneTables) -> Floats:
        """Return the number of samples that each test needs; 0 where it is known that there are enough."""
        if not self.samples_per_cell:
            return np.zeros(len(tables.queries))
        return self.samples_per_cell * tables.queries.table_sizes(tables.cardinalities)

    def drop_rounding(self, found: Floats) -> None:
        """Set to 0 what rounding of n log n leaves of exact independence; true differences are larger."""
        found[0, found[0] < ROUNDING_UNITS * self.table.unit] = 0.0


def states_of_pairs(tables: Tables) -> tuple[Integers, Integers]:
    """Return the numbers of states of X and Y, the last two variables of each table; tables must be full."""
    if not tables.full.all():
        raise ValueError("a test's table has more cells than samples")
    width = tables.queries.start[1]
    k_x = tables.cardinalities[tables.queries.variables[width - 2 :: width]]
    return k_x, tables.cardinalities[tables.queries.variables[width - 1 :: width]]


def of_enough_rows(tables: Tables, samples_per_cell: float, found: Floats) -> Floats:
    """Return statistics and degrees of freedom by table, NaN for those with too few samples for each cell."""
    if samples_per_cell:  # tables are full
        found[0, tables.totals < samples_per_cell * np.diff(tables.cell_start)] = np.nan
    return found.T


def _planes_and_queries(tables: PlaneTables) -> tuple[NDArray[np.uint64], Integers, Integers, Integers]:
    queries = tables.queries.variables.reshape(len(tables.queries), -1)
    return tables.planes, tables.plane_start, tables.cardinalities, queries


class UntilDecided:
    """Formula of a G2 test that computes the whole statistic only where the answer needs it.

    Returns statistic and degrees of freedom as the test's own formula does, or an infinite statistic where
    part of it was enough for dependence.

    It counts for itself: counting a stratum and adding its term are one loop over bit planes, so that strata
    after the last one needed are never counted. PC-stable on alarm with 5,000 rows takes 0.023 instead of
    0.043 s. Tests that come in long runs are better counted together, to the end. Engines without bit planes
    hand it whole tables.
    """

    def __init__(self, whole: G2Statistic, engine: CountingEngine, alpha: float) -> None:
        self._whole = whole
        self._engine = engine
        self._alpha = alpha
        self._critical = np.array([np.inf])
        self._order: Integers | None = None

    def __reduce__(self) -> tuple[Callable[[TableFormula], TableFormula], tuple[TableFormula]]:
        """Pickle as the plain formula, because engines on other machines count whole tables."""
        return copy, (self._whole,)

    def __call__(self, tables: Tables) -> Floats:
        """Compute statistic and degrees of freedom from tables that were counted as a whole."""
        return self._whole(tables)

    def of_planes(self, tables: PlaneTables) -> Floats:
        """Count one stratum after another until part of the statistic is enough; long runs together."""
        whole, asked = self._whole, _planes_and_queries(tables)
        if len(asked[-1]) >= LEAST_TOGETHER:
            same = (asked[-1][1:, :-1] == asked[-1][:-1, :-1]).all(axis=1)
            if len(same) + 1 >= LONG_RUN * (1 + np.count_nonzero(~same)):
                return whole.of_planes(tables)
        found = np.empty((2, len(asked[-1])))
        strata = *self._by_size(tables.plane_start), self._enough(tables.queries), whole.least_rows(tables)
        logarithms = whole.table.entries, LOGARITHMS, whole.table.unit
        _kernels.tests_until_decided(*asked, *strata, *logarithms, found[0], found[1])
        whole.drop_rounding(found)
        return found.T

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
            critical = np.append(np.inf, half[next_larger] / self._whole.table.unit)
            self._critical = critical
        return critical

    def _by_size(self, plane_start: Integers) -> tuple[Integers, Integers]:
        """Return where each variable's planes begin in a list, and the list: those with most samples first.

        Large strata contribute most to G2. Variables without planes have none that is meant.
        """
        engine = self._engine
        if self._order is None:
            owner = np.repeat(np.arange(len(engine.cardinalities)), engine.cardinalities)
            by_size = np.lexsort((-engine.margins, owner)) - engine.margin_start[owner]
            self._order = plane_start[owner] + by_size
        return engine.margin_start, self._order


class G2(CITest):
    """Likelihood-ratio test of discrete variables.

    Examples
    --------
    >>> from f2sl import open_table
    >>> from f2sl.data.engines import open_engine
    >>> table = open_table({"a": [0, 0, 0, 1, 1, 1] * 9, "b": [0, 0, 0, 1, 1, 1] * 9})
    >>> with open_engine(table) as engine:
    ...     G2().p_values(engine, np.array([0]), np.array([1]), np.empty((1, 0), int)) < 1e-16
    array([ True])
    """

    p_values = p_values_when_bound

    def bind(
        self,
        engine: Any,
        alpha: float = 0.01,
        *,
        without_freedom: str = "independent",
        samples_per_cell: float | None = None,
    ) -> TableTest:
        """Prepare the test to answer questions about an engine's counts."""
        counts = engine.counts
        needed = SAMPLES_PER_CELL if samples_per_cell is None else samples_per_cell
        formula = G2Statistic(LogTable(counts.n_rows), needed if counts.presence.any else 0.0)
        decided = UntilDecided(formula, counts, alpha)
        return TableTest(counts, alpha, formula, without_freedom, needed, decided)

    def of_pairs(self, engine: Any) -> G2OfPairs:
        """Return the test of all pairs, whose p-values are corrected for their number."""
        return G2OfPairs(engine.counts)


class X2(CITest):
    """Pearson's chi-squared test of discrete variables."""

    p_values = p_values_when_bound

    def bind(
        self,
        engine: Any,
        alpha: float = 0.01,
        *,
        without_freedom: str = "independent",
        samples_per_cell: float | None = None,
    ) -> TableTest:
        """Prepare the test to answer questions about an engine's counts."""
        counts = engine.counts
        needed = SAMPLES_PER_CELL if samples_per_cell is None else samples_per_cell
        formula = X2Statistic(needed if counts.presence.any else 0.0)
        return TableTest(counts, alpha, formula, without_freedom, needed)


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
