"""G2 tests that end as soon as their answer is certain.

G2 is a sum over the strata of the conditioning variables, and no stratum has a negative G2. So when
part of the sum is already larger than what independence allows with all degrees of freedom that the table
could have, the variables are dependent, whatever the rest is. Most tests between two variables that nothing
separates are of that kind, and a few of the largest strata decide them.

A learner that looks for the weakest dependence of two variables given any of many sets needs the strength,
too, but not that of a dependence that is stronger than another one found before.

This formula counts for itself, for speed: counting a stratum and adding its term are one loop over bit
planes, so that strata after the last one needed are never counted. Engines without bit planes hand it whole
tables.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.stats.log_table import LOGARITHMS, LogTable
from f2sl.stats.tests import _kernels
from f2sl.storage.protocol import CountingEngine, PlaneTables, Queries, Tables

if TYPE_CHECKING:
    from f2sl.stats.tests.g2 import G2Statistic

MARGIN = 1e-6
"""Share by which a statistic must exceed its critical value, so that rounding does not decide."""

STRONGEST = 280.0
"""Strength from which on tests do not end early: p-values this small have no inverse in floats."""


class UntilDecided:
    """Formula of a G2 test that computes the whole statistic only where the answer needs it.

    Returns statistic and degrees of freedom as the test's own formula does, or an infinite statistic where
    part of it was enough: for dependence, and for the strength that `enough` states for a pair of variables.
    """

    def __init__(self, statistic: G2Statistic, engine: CountingEngine, alpha: float) -> None:
        self._statistic = statistic
        self._engine = engine
        self._alpha = alpha
        # Pairs of variables, as ascending numbers, and the strength that is enough for each. The strengths
        # have one entry more, which pairs beyond the last one get: here, no pairs, and 0 for all.
        self._pairs = np.empty(0, np.int64)
        self._strengths = np.zeros(1)

    def with_strengths(self, x: Integers, y: Integers, enough: Floats) -> UntilDecided:
        """Return the formula for tests of x and y that need not tell strengths of `enough` or more apart.

        x, y : (m,) int64; enough : (m,) float64. The same pair may come with several strengths: then the
        largest counts, which is enough for all.
        """
        if not enough.any():
            return self
        pairs, of_question = np.unique(self._numbers(x, y), return_inverse=True)
        strengths = np.zeros(len(pairs) + 1)
        np.maximum.at(strengths, of_question, enough)
        formula = UntilDecided(self._statistic, self._engine, self._alpha)
        formula._pairs, formula._strengths, formula._by_size = pairs, strengths, self._by_size
        return formula

    def _numbers(self, x: Integers, y: Integers) -> Integers:
        """Return a number for each pair of variables, the same for (x, y) and (y, x)."""
        return np.minimum(x, y) * len(self._engine.cardinalities) + np.maximum(x, y)

    def __reduce__(self) -> tuple[type[G2Statistic], tuple[LogTable]]:
        """Pickle as the plain formula, because engines on other machines count whole tables."""
        return type(self._statistic), (self._statistic.table,)

    def __call__(self, tables: Tables) -> Floats:
        """Compute statistic and degrees of freedom from tables that were counted as a whole."""
        return self._statistic(tables)

    def of_planes(self, tables: PlaneTables) -> Floats:
        """Count one stratum after another until part of the statistic is enough."""
        queries, logarithms = tables.queries, self._statistic.table
        statistic, freedom = np.empty(len(queries)), np.empty(len(queries), np.int64)
        _kernels.tests_until_decided(
            tables.planes,
            tables.plane_start,
            tables.cardinalities,
            queries.variables,
            queries.start,
            self._engine.margin_start,
            self._by_size,
            self._enough(queries),
            logarithms.entries,
            LOGARITHMS,
            logarithms.unit,
            statistic,
            freedom,
        )
        return np.column_stack([self._statistic.without_rounding(statistic), freedom])

    def _enough(self, queries: Queries) -> Floats:
        """Return half of a critical G2 for each test, in units of the table of n log n, (n_tests,) float64.

        It is that of the most degrees of freedom that the table could have. Strata in which some states do
        not occur have fewer, which are known only after counting; a smaller G2 would be enough then.
        """
        from scipy.special import gammainccinv

        # All queries of a batch have the same number of variables.
        width = queries.start[1]
        variables = queries.variables.reshape(-1, width)
        cardinalities = self._engine.cardinalities[variables]
        strata = cardinalities[:, :-2].prod(axis=1)
        most = (cardinalities[:, -2:] - 1).prod(axis=1) * strata
        # Many tests have the same degrees of freedom and strength, and the inverse is slow: it is computed
        # once for each combination, which is numbered like the digits of a number.
        pair = np.searchsorted(self._pairs, self._numbers(*variables[:, -2:].T))
        kinds, of_query = np.unique(most * len(self._strengths) + pair, return_inverse=True)
        freedom, pair = np.divmod(kinds, len(self._strengths))
        strength = self._strengths[pair]
        levels = np.minimum(self._alpha, 10.0 ** -np.minimum(strength, STRONGEST))
        half = np.where(strength < STRONGEST, gammainccinv(freedom / 2.0, levels) * (1.0 + MARGIN), np.inf)
        return np.asarray(half[of_query] / self._statistic.table.unit)

    @cached_property
    def _by_size(self) -> Integers:
        """States of each variable, those with most samples first: these strata contribute most to G2.

        Aligned with the engine's margins: those of v begin at ``margin_start[v]``.
        """
        engine = self._engine
        owner = np.repeat(np.arange(len(engine.cardinalities)), engine.cardinalities)
        return np.lexsort((-engine.margins, owner)) - engine.margin_start[owner]
