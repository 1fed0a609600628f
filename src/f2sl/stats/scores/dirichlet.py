"""Bayesian scores of states: the marginal likelihood of a family under Dirichlet priors.

========  =====================================================================================
"bdeu"    prior ess / (q r) for each cell, so that equivalent networks score the same (Heckerman,
          Geiger and Chickering 1995)
"bds"     the same, with q the number of configurations that occur in the data (Scutari 2016)
"k2"      prior 1 for each cell (Cooper and Herskovits 1992)
========  =====================================================================================

ess is the *equivalent sample size*, r the child's number of states, q the number of configurations of the
parents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl.data.engines import Tables
from f2sl.stats.measures.information import LogTable
from f2sl.stats.scores import _kernels
from f2sl.stats.scores.base import MOST_MEMBERS, UNKNOWN, FamilyScores
from f2sl.stats.scores.sets import Ceilings, SetFormula, slack_for, table_sizes, unit_for
from f2sl.stats.scores.tables import TableScore, shapes

if TYPE_CHECKING:
    from f2sl.data.memory.engine import MemoryEngine

COUNTS_REMEMBERED = 1024
"""Counts below this are so frequent that their terms are kept while a batch is worked on."""

SIZES_KEPT = 1021
"""Room for numbers of configurations whose terms are kept, a prime number: at most 8 MB."""

MOST_ROWS = 1 << 16
"""Samples up to which gains are computed at once: with more, counting takes longer than asking."""

MOST_CELLS = 1 << 12
MOST_WORDS = 1 << 19
"""Cells of a family's table for that, and words of 64 samples in all of them together: larger tables are
counted faster sample by sample."""


@dataclass(frozen=True)
class WithWeight(TableScore):
    """Base of the scores whose prior has a weight.

    Parameters
    ----------
    equivalent_sample_size : float
        The weight of the prior, in samples.
    """

    equivalent_sample_size: float = 10.0
    in_any_order = True

    @property
    def edge_log_prior(self) -> float:
        """Prior of the F2SL paper on structures: - log(ess + 1) for each edge."""
        return -math.log(self.equivalent_sample_size + 1.0)


@dataclass(frozen=True)
class BDs(WithWeight):
    """Marginal likelihood under Dirichlet priors over the configurations of the parents that occur.

    BDeu spreads its weight over all configurations. Where most of them do not occur, because there are many
    or because some parents determine others, little is left for each, and it prefers larger tables that say
    the same. Here the whole weight is spread over those that occur. If not all do, equivalent networks may
    score differently.
    """

    def of_tables(self, tables: Tables, logarithms: LogTable) -> Floats:
        """Return the score of each table."""
        r, _ = shapes(tables)
        occurring = np.empty(len(r))
        _kernels.count_occurring(
            tables.counts, tables.group_start, tables.first_group, tables.n_groups, occurring
        )
        prior = self.equivalent_sample_size / occurring
        return dirichlet_scores(tables, prior / r, prior)


@dataclass(frozen=True)
class BDeu(WithWeight):
    """Marginal likelihood under Dirichlet priors that equivalent networks share."""

    def of_tables(self, tables: Tables, logarithms: LogTable) -> Floats:
        """Return the score of each table."""
        ess = self.equivalent_sample_size
        r, q = shapes(tables)
        return dirichlet_scores(tables, ess / (q * r), ess / q)

    def bind(self, engine: Any) -> FamilyScores:
        """Prepare the score to score families on an engine's counts, or on bit planes."""
        from f2sl.data.memory.engine import MemoryEngine

        bound, counts = super().bind(engine), engine.counts
        if not isinstance(counts, MemoryEngine) or counts.presence.any or counts.n_rows > MOST_ROWS:
            return bound
        if type(self).of_tables is not BDeu.of_tables:  # another score, derived from this one
            return bound
        return BDeuOfPlanes(bound, counts, self.equivalent_sample_size)

    def set_formula(self, engine: Any) -> BDeuOfSets:
        """Return the formula for G(S), of which the score is a difference."""
        n, ess = engine.n_rows, self.equivalent_sample_size
        # The term of a cell with n samples lies between log(ess / Q) and n log(n + ess).
        log_q = float(np.log(np.sort(engine.counts.cardinalities)[-MOST_MEMBERS:]).sum())
        return BDeuOfSets(ess, unit_for(n * max(math.log(n + ess + 1.0), log_q - math.log(ess))))


@dataclass(frozen=True)
class K2(TableScore):
    """Marginal likelihood under Dirichlet priors of 1 for each cell."""

    in_any_order = True

    def of_tables(self, tables: Tables, logarithms: LogTable) -> Floats:
        """Return the score of each table."""
        r, q = shapes(tables)
        return dirichlet_scores(tables, np.ones_like(q), r)


class BDeuOfPlanes(FamilyScores):
    """BDeu scores on a table in memory, with gains of all changes of a family at once, from bit planes.

    Asking an engine takes a fifth of a millisecond, as long as counting hundreds of tables of 1,000 samples,
    and a step of hill climbing asks about a dozen families.
    """

    def __init__(self, bound: FamilyScores, engine: MemoryEngine, ess: float) -> None:
        super().__init__(bound.evaluate, bound.edge_log_prior)
        n = engine.n_rows
        self._planes = engine.planes
        self._most_cells = min(MOST_CELLS, MOST_WORDS // self._planes[0].shape[1])
        self._terms = _kernels.Terms(
            ess,
            unit_of_scores(n),
            np.zeros(SIZES_KEPT),
            np.empty((SIZES_KEPT, min(n + 1, COUNTS_REMEMBERED)), np.int64),
            np.zeros(1, np.int64),
        )

    def gains(
        self, children: Integers, start: Integers, others: Integers, present: Mask, gain: Floats, own: Floats
    ) -> bool:
        """Score the families of some children, and the gain of each change of one parent.

        Parameters
        ----------
        children : ndarray of int64
            Variables, by number.
        start, others, present : ndarrays of int64, int64 and bool
            Those that may be parents of v are ``others[start[v]:start[v + 1]]``, ascending; `present` says
            which of them are.
        gain, own : ndarrays of float64
            Output: the gain of adding or removing each of `others`, and the score of each child's family.

        Returns
        -------
        bool
            False if a table is too large for this way, or a variable has no planes; then nothing is known.
        """
        asked = children, start, others, present
        scored = _kernels.bdeu_gains(*self._planes, *asked, self._terms, self._most_cells, gain, own)
        self._n_at_once += max(scored, 0)
        return scored >= 0


def unit_of_scores(n_rows: int) -> float:
    """Return the unit of fixed point sums: none exceeds N (log N + 60).

    |log Gamma| of a prior down to 1e-26 is below 60.
    """
    return float(2.0 ** (math.ceil(math.log2(n_rows * (math.log(n_rows + 1.0) + 60.0))) - 61))


def dirichlet_scores(tables: Tables, cell_priors: Floats, group_priors: Floats) -> Floats:
    """Return the log marginal likelihood of each table, given the priors of a cell and of a configuration."""
    scores = np.empty(len(tables.queries))
    priors, which = np.unique(np.concatenate([cell_priors, group_priors]), return_inverse=True)
    _kernels.dirichlet_scores(
        tables.counts,
        tables.group_start,
        tables.first_group,
        tables.n_groups,
        priors,
        which[: len(scores)],
        which[len(scores) :],
        np.full((len(priors), min(tables.n_rows + 1, COUNTS_REMEMBERED)), UNKNOWN),
        unit_of_scores(tables.n_rows),
        scores,
    )
    return scores


@dataclass(frozen=True)
class BDeuOfSets(SetFormula):
    """Formula for G(S) = sum over the occupied cells of log Gamma(n + ess / Q) - log Gamma(ess / Q).

    Ceilings: the score is the log probability of the child's states, predicted one sample after another. The
    first time that a state appears with a configuration of the parents, its probability is at most 1 / r:
    after n samples there it is a / (r a + n), where a is the prior of a cell. So the score is at most - log r
    for each occupied cell, and more parents only increase the number of these cells. De Campos and Ji 2011
    count the occupied configurations of the parents, which are fewer; Correia, Cussens and de Campos 2020,
    *On pruning for score-based Bayesian network structure learning*, have further bounds.
    """

    equivalent_sample_size: float
    unit: float

    def __call__(self, tables: Tables) -> Floats:
        """Return G in units, and the number of occupied cells, for each table."""
        # Tables with equally many cells have the same prior, and share the terms of small counts.
        sizes = table_sizes(tables.queries, tables.cardinalities)
        different, which = np.unique(sizes, return_inverse=True)
        sums = np.empty((len(sizes), 2))
        _kernels.set_sums(
            tables.counts,
            tables.group_start,
            tables.first_group,
            tables.n_groups,
            self.equivalent_sample_size / different,
            np.full((len(different), min(tables.n_rows + 1, COUNTS_REMEMBERED)), UNKNOWN),
            which,
            self.unit,
            sums,
        )
        return sums

    def ceilings(self, states: Floats, n_rows: int) -> Ceilings:
        """Return upper bounds of all family scores over variables with these numbers of states."""
        slack = slack_for(n_rows, n_rows + self.equivalent_sample_size, self.unit)
        return Ceilings(np.log(states) / self.unit, np.zeros(1 << len(states)), slack)
