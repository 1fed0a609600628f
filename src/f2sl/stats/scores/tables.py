"""Scores that are formulas on the contingency table of a family.

With N_jk the count of the child's state k in configuration j of the parents, r is the child's number of
states and q the number of configurations (of all parents' states, seen or not; for BDs
those seen).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.engines import CountingEngine, Queries, Tables
from f2sl.stats.answers import as_numbers
from f2sl.stats.measures.information import LogTable
from f2sl.stats.scores.base import AvailableFamilies, Compared, FamilyScores, Score


class TableScore(Score):
    """Base of the scores of states: a formula on tables."""

    requires = "of_tables"
    in_any_order: ClassVar[bool] = False
    """True if the order of the parents, and empty cells, do not change a score by a bit."""

    def of_tables(self, tables: Tables, logarithms: LogTable) -> Floats:
        """Return the score of each table, whose last variable is the child; `logarithms` has n log n."""
        raise NotImplementedError

    def families(self, data: Any, children: Integers, parents: Integers) -> Floats:
        """Return the log score of each family."""
        return self.bind(data).score_all(children, parents)

    def bind(self, engine: Any) -> FamilyScores:
        """Prepare the score to score families on an engine's counts."""
        counts, formula = engine.counts, FamilyFormula(self, LogTable(engine.n_rows))
        if counts.presence.any:
            compare = partial(_compared, counts, formula)
            return FamilyScores(AvailableFamilies(compare, counts.presence.missing), self.edge_log_prior)

        def evaluate(queries: Queries) -> Floats:
            return np.asarray(counts.evaluate(queries, formula)[:, 0])

        return FamilyScores(evaluate, self.edge_log_prior)


@dataclass(frozen=True)
class FamilyFormula:
    """Formula that is sent to where tables are counted: a score, and n log n."""

    score: TableScore
    logarithms: LogTable

    @property
    def in_any_order(self) -> bool:
        """Return whether an engine may put the parents into another order."""
        return self.score.in_any_order

    def __call__(self, tables: Tables) -> Floats:
        """Return one score for each table."""
        found = self.score.of_tables(tables, self.logarithms)
        return as_numbers("of_tables", found, (len(tables.queries),), self.score)


@dataclass(frozen=True)
class ScoresAndTotals:
    """Formula for scores and the numbers of samples that they come from."""

    formula: FamilyFormula

    def __call__(self, tables: Tables) -> Floats:
        """Return both for each table."""
        return np.column_stack([self.formula(tables), tables.totals])


def _compared(
    counts: CountingEngine, formula: FamilyFormula, queries: Queries, left_out: Integers
) -> Compared:
    """Score families with and without one parent, on the same samples."""
    score, n = counts.evaluate(queries, ScoresAndTotals(formula), 2).T
    without = np.zeros(len(queries))
    some = left_out >= 0
    if some.any():
        smaller = queries.where(some)
        at = smaller.start[:-1] + left_out[some]
        variables = smaller.variables.copy()
        variables[at] = counts.presence.numbers[variables[at]]
        without[some] = counts.evaluate(Queries(variables, smaller.start), formula)[:, 0]
    return Compared(score, without, n / counts.n_rows)


def shapes(tables: Tables) -> tuple[Floats, Floats]:
    """Return the child's number of states, and the number of configurations of its parents."""
    cardinalities = tables.cardinalities[tables.queries.variables].astype(np.float64)
    r = cardinalities[tables.queries.start[1:] - 1]
    return r, np.multiply.reduceat(cardinalities, tables.queries.start[:-1]) / r
