"""G2 tests that end as soon as their answer is certain.

G2 is a sum over the strata of the conditioning variables, and no stratum takes anything away from it. So when
part of the sum is already larger than what independence allows with all degrees of freedom that the table
could have, the variables are dependent, whatever the rest is. Most sets that are tried between two variables
that nothing separates are of that kind, and a few of the largest strata decide them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from f2sl.counting.protocol import CountingEngine, Floats, Integers, PlaneTables, Queries, Tables
from f2sl.stats import _kernels
from f2sl.stats.information import LOGARITHMS, LogTable

if TYPE_CHECKING:
    from f2sl.stats.independence import Statistic

MARGIN = 1e-6
"""A statistic must be larger than enough by this share, so that no rounding decides."""


class UntilDecided:
    """The formula of a G2 test whose answer alone is asked for.

    Gives statistic and degrees of freedom as the test's own formula does, or an infinite statistic where part
    of it was enough.
    """

    def __init__(self, statistic: Statistic, engine: CountingEngine, alpha: float) -> None:
        self._statistic = statistic
        self._engine = engine
        self._alpha = alpha

    def __reduce__(self) -> tuple[type[Statistic], tuple[str, LogTable]]:
        """Travel to other machines as the plain formula: what is counted there comes as whole tables."""
        return type(self._statistic), (self._statistic.ci_test, self._statistic.table)

    def __call__(self, tables: Tables) -> Floats:
        """Look at whole tables where these have been counted."""
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
        """Half of a G2, in units of the logarithms' table, that is surely too large for independence.

        Strata in which some states do not occur have fewer degrees of freedom: less would be enough.
        """
        from scipy.special import gammainccinv

        width = queries.start[1]
        cardinalities = self._engine.cardinalities[queries.variables].reshape(-1, width)
        strata = cardinalities[:, :-2].prod(axis=1)
        most, of_query = np.unique((cardinalities[:, -2:] - 1).prod(axis=1) * strata, return_inverse=True)
        half = gammainccinv(most / 2.0, self._alpha) * (1.0 + MARGIN)
        return np.asarray(half[of_query] / self._statistic.table.unit)

    @cached_property
    def _by_size(self) -> Integers:
        """The states of each variable, those with most samples first: most of a G2 comes from there."""
        engine = self._engine
        owner = np.repeat(np.arange(len(engine.cardinalities)), engine.cardinalities)
        return np.lexsort((-engine.margins, owner)) - engine.margin_start[owner]
