"""The likelihood-ratio test: G2 = 2 N I(X; Y | Z), a sum over the strata of Z.

Where only the answer is asked for, or how strong the weakest dependence is, tests end early
(:mod:`~f2sl.stats.tests.until_decided`).

For all pairs of a table, G2 = 2 N I(X; Y) follows the chi-squared distribution under independence, nearly,
with (states of X - 1) (states of Y - 1) degrees of freedom; states that do not occur do not count. So pairs
of variables with as many states have the same critical value, and a walk over all pairs compares G2 with
that: p-values are computed for the few that are left. The approximation needs about 5 samples for each cell
of a pair's table. With 1 to 4 of them, spread evenly over many states, G2 is larger than chi-squared by up to
a sixth in the mean, and with hundreds of degrees of freedom that passes for significance; with fewer, or with
rare states, it is smaller, and weak relations are missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.stats.log_table import LOGARITHMS, LogTable
from f2sl.stats.measures.information import Information, PairsAbove
from f2sl.stats.measures.significance import MARGIN
from f2sl.stats.tests import _kernels
from f2sl.stats.tests.tables import OnTables, TableTest, chi_squared_tail, states_of_pairs
from f2sl.stats.tests.until_decided import UntilDecided
from f2sl.storage.protocol import CountingEngine, FoundPairs, TableFormula, Tables

ROUNDING_UNITS = 1000
"""Sums of n log n are not told from zero below so many of their units."""


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

    def without_rounding(self, statistic: Floats) -> Floats:
        """Set to 0 what rounding of n log n leaves of exact independence; true differences are larger."""
        return np.where(statistic < ROUNDING_UNITS * self.table.unit, 0.0, statistic)


class G2Test(TableTest):
    """G2 tests on counted tables, or on bit planes until they are decided."""

    formula: G2Statistic

    @cached_property
    def _until_decided(self) -> UntilDecided:
        return UntilDecided(self.formula, self.engine, self.alpha)

    def _formula_of_answers(self) -> TableFormula:
        return self._until_decided

    def _formula_of_strengths(self, x: Integers, y: Integers, enough: Floats) -> TableFormula:
        return self._until_decided.with_strengths(x, y, enough)


class G2(OnTables):
    """Likelihood-ratio test of states.

    Examples
    --------
    >>> from f2sl.reading import open_table
    >>> from f2sl.storage.engine import open_engine
    >>> table = open_table({"a": [0, 0, 0, 1, 1, 1] * 9, "b": [0, 0, 0, 1, 1, 1] * 9})
    >>> with open_engine(table) as engine:
    ...     G2().p_values(engine, np.array([0]), np.array([1]), np.empty((1, 0), int)) < 1e-16
    array([ True])
    """

    bound = G2Test

    def formula(self, engine: CountingEngine) -> G2Statistic:
        """Make the formula for statistic and degrees of freedom."""
        return G2Statistic(LogTable(engine.n_rows))

    def of_pairs(self, engine: Any) -> G2OfPairs:
        """Make the test of all pairs, whose p-values are corrected for their number."""
        return G2OfPairs(engine.counts)


class G2OfPairs:
    """The G2 test of all pairs, for :class:`~f2sl.stats.measures.significance.SignificantPairs`.

    Parameters
    ----------
    engine : CountingEngine
        Where pairs are counted.

    Examples
    --------
    >>> from f2sl.storage.memory.engine import MemoryEngine
    >>> from f2sl.reading import open_table
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
        from scipy.special import gammainccinv

        freedom = np.outer(self._states - 1, self._states - 1)[:, :, None]
        critical = 2.0 * gammainccinv(np.maximum(freedom, 1) / 2.0, levels)
        thresholds = np.where(freedom > 0, critical * (1.0 - MARGIN), np.inf)
        of = self._information
        return PairsAbove(of.table, of.scaled_entropies, of.g2_unit, thresholds, self._classes)

    def p_values(self, found: FoundPairs) -> Floats:
        """Return the p-values of what the formula kept; its values are G2."""
        states = self._states[self._classes]
        return chi_squared_tail(found.values, (states[found.first] - 1) * (states[found.second] - 1))
