"""Scores of a family: how well a set of parents explains a child.

All are log scores that add up over the families of a network, higher is better. With
N_jk the count of the child's state k in configuration j of the parents, r the child's number
of states and q the number of configurations (of all parents' states, seen or not):

========  ==============================================================================
"bdeu"    marginal likelihood under Dirichlet priors ess / (q r) (Heckerman et al. 1995)
"k2"      the same with all priors 1 (Cooper and Herskovits 1992)
"bic"     maximum log likelihood - log(N) / 2 times q (r - 1)
"aic"     maximum log likelihood - q (r - 1)
"loglik"  maximum log likelihood alone
========  ==============================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from f2sl._arrays import Floats
from f2sl.errors import OptionError, unknown_name
from f2sl.stats import _kernels
from f2sl.stats.families import FamilyScores
from f2sl.stats.information import LogTable, sums_of_tables
from f2sl.storage.protocol import CountingEngine, Queries, Tables


class FamilyScore(FamilyScores):
    """Scores families on an engine's counts, each family once.

    Parameters
    ----------
    engine : CountingEngine
        Where tables are counted.
    score : str
        One of the names above.
    equivalent_sample_size : float
        The weight of BDeu's prior, in samples.
    """

    def __init__(
        self, engine: CountingEngine, score: str = "bdeu", equivalent_sample_size: float = 10.0
    ) -> None:
        if score not in SCORES:
            raise OptionError(unknown_name("score", score, SCORES))
        super().__init__()
        self.engine = engine
        self.equivalent_sample_size = equivalent_sample_size
        self._formula = FamilyFormula(score, equivalent_sample_size, LogTable(engine.n_rows))

    def _evaluate(self, queries: Queries) -> Floats:
        return self.engine.evaluate(queries, self._formula)[:, 0]


@dataclass(frozen=True)
class FamilyFormula:
    """Formula for a score: from the tables of families, the parents first, to their scores."""

    score: str
    equivalent_sample_size: float
    table: LogTable

    def __call__(self, tables: Tables) -> Floats:
        """Give one score for each table."""
        return SCORES[self.score](self, tables)

    def _bdeu(self, tables: Tables) -> Floats:
        ess = self.equivalent_sample_size
        r, q = _shapes(tables)
        return self._dirichlet(tables, ess / (q * r), ess / q)

    def _k2(self, tables: Tables) -> Floats:
        r, q = _shapes(tables)
        return self._dirichlet(tables, np.ones_like(q), r)

    def _dirichlet(self, tables: Tables, cell_priors: Floats, group_priors: Floats) -> Floats:
        scores = np.empty(len(tables.queries))
        # No sum exceeds N (log N + 60): |log Gamma| of a prior down to 1e-26 is below 60.
        unit = 2.0 ** (math.ceil(math.log2(tables.n_rows * (math.log(tables.n_rows + 1.0) + 60.0))) - 61)
        _kernels.dirichlet_scores(
            tables.counts,
            tables.group_start,
            tables.first_group,
            tables.n_groups,
            cell_priors,
            group_priors,
            unit,
            scores,
        )
        return scores

    def _log_likelihood(self, tables: Tables) -> Floats:
        cells, groups = sums_of_tables(tables, self.table)
        return np.asarray((cells - groups) * self.table.unit)

    def _bic(self, tables: Tables) -> Floats:
        r, q = _shapes(tables)
        return np.asarray(self._log_likelihood(tables) - 0.5 * math.log(tables.n_rows) * q * (r - 1))

    def _aic(self, tables: Tables) -> Floats:
        r, q = _shapes(tables)
        return np.asarray(self._log_likelihood(tables) - q * (r - 1))


def _shapes(tables: Tables) -> tuple[Floats, Floats]:
    """The child's number of states, and the number of configurations of its parents."""
    cardinalities = tables.cardinalities[tables.queries.variables].astype(np.float64)
    r = cardinalities[tables.queries.start[1:] - 1]
    return r, np.multiply.reduceat(cardinalities, tables.queries.start[:-1]) / r


SCORES: dict[str, Callable[[FamilyFormula, Tables], Floats]] = {
    "bdeu": FamilyFormula._bdeu,
    "k2": FamilyFormula._k2,
    "bic": FamilyFormula._bic,
    "aic": FamilyFormula._aic,
    "loglik": FamilyFormula._log_likelihood,
}
"""Scores by the name they are asked for."""
