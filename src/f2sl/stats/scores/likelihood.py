"""Scores of states by maximum likelihood, less a penalty for each parameter.

A family has q (r - 1) parameters, with r the child's number of states and q the number of configurations of
the parents, seen or not.

========  ==================================================================
"bic"     maximum log likelihood - log(N) / 2 for each parameter (Schwarz 1978)
"aic"     maximum log likelihood - 1 for each parameter (Akaike 1974)
========  ==================================================================

:class:`LogLikelihood` has no penalty. It always prefers more parents, so no learner offers it by name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from f2sl._arrays import Floats
from f2sl.data.engines import Tables
from f2sl.stats.measures.information import LogTable, sums_of_tables
from f2sl.stats.scores.sets import Ceilings, SetFormula, slack_for, table_sizes, unit_for
from f2sl.stats.scores.tables import TableScore, shapes


@dataclass(frozen=True)
class LogLikelihood(TableScore):
    """Maximum log likelihood, without a penalty."""

    in_any_order = True

    def of_tables(self, tables: Tables, logarithms: LogTable) -> Floats:
        """Return the score of each table."""
        cells, groups = sums_of_tables(tables, logarithms)
        return np.asarray((cells - groups) * logarithms.unit)


@dataclass(frozen=True)
class BIC(LogLikelihood):
    """Maximum log likelihood less log(N) / 2 for each parameter."""

    def of_tables(self, tables: Tables, logarithms: LogTable) -> Floats:
        """Return the score of each table."""
        r, q = shapes(tables)
        fit = super().of_tables(tables, logarithms)
        return np.asarray(fit - 0.5 * math.log(tables.n_rows) * q * (r - 1))

    def set_formula(self, engine: Any) -> BICOfSets:
        """Return the formula for G(S), of which the score is a difference.

        The largest table is the number of configurations above which the penalty exceeds any gain in
        likelihood: for any v of a set with Q configurations, score(v | the others) <= - penalty (Q - Q / r),
        which is at most - penalty Q / 2, and score(v | nothing) >= - N log r - penalty (r - 1). (A variable
        with one state needs no parents anyway.)
        """
        n, penalty = engine.n_rows, 0.5 * math.log(engine.n_rows)
        largest_table, most = math.inf, 0.0
        if penalty:
            states = max(2, int(engine.counts.cardinalities.max()))
            largest_table = 2.0 * (n * math.log(states) / penalty + states)
            most = penalty * largest_table
        return BICOfSets(penalty, LogTable(n), unit_for(n * math.log(n + 1.0) + most), largest_table)


@dataclass(frozen=True)
class AIC(LogLikelihood):
    """Maximum log likelihood less 1 for each parameter."""

    def of_tables(self, tables: Tables, logarithms: LogTable) -> Floats:
        """Return the score of each table."""
        r, q = shapes(tables)
        return np.asarray(super().of_tables(tables, logarithms) - q * (r - 1))


@dataclass(frozen=True)
class BICOfSets(SetFormula):
    """Formula for G(S) = sum of n log n - log(N) / 2 * Q.

    Ceilings: the likelihood is at most 1, so the score is at most minus the penalty, log(N) / 2 * Q (1 -
    1 / r) (de Campos and Ji 2011, *Efficient structure learning of Bayesian networks using constraints*).
    """

    penalty: float
    logarithms: LogTable
    unit: float
    largest_table: float

    def __call__(self, tables: Tables) -> Floats:
        """Return G in units for each table, and 0 for the number of occupied cells, which is not needed."""
        sizes = table_sizes(tables.queries, tables.cardinalities)
        cells, _ = sums_of_tables(tables, self.logarithms)
        # Likelihood and penalty are rounded apart, so that each depends on its own numbers alone.
        fit = np.rint(cells * (self.logarithms.unit / self.unit))
        return np.column_stack([fit - np.rint(self.penalty * sizes / self.unit), np.zeros(len(sizes))])

    def ceilings(self, states: Floats, n_rows: int) -> Ceilings:
        """Return upper bounds of all family scores over variables with these numbers of states."""
        # Sizes are numbers of configurations, known beforehand: each variable doubles the list of masks.
        sizes = np.ones(1)
        for k in states:
            sizes = np.concatenate([sizes, sizes * k])
        weights = self.penalty * (1.0 - 1.0 / states) / self.unit
        return Ceilings(weights, sizes, slack_for(n_rows, n_rows + 1.0, self.unit))
