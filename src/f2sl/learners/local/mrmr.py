"""mRMR, maximum relevance and minimum redundancy (Peng, Long and Ding 2005).

The other well-known instance of the idea behind F2SL (section 4.3 of its paper). Variables are
chosen one after another: the next is the one with the highest

    I(X; C) - mean of I(X; Y) over the Y chosen so far,

until k are chosen. Ties are broken by name. Unlike FCBF it needs the number of variables to choose.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from f2sl._arrays import Floats
from f2sl._options import option
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.data.engines import Engine
from f2sl.learners.local.base import LocalLearner, Neighborhood, Neighborhoods, flatten
from f2sl.stats.answers import TOLERANCE
from f2sl.stats.choose import check_choice, measure_unit, related_pairs
from f2sl.stats.measures.base import Measure

ROWS_REMEMBERED = 256


class MRMR(LocalLearner):
    """Select the k variables most related to the target and least related to each other.

    Fewer than `k` are selected if there are fewer other variables.
    """

    k: int = option("k")
    measure: str | Measure = option("measure", "mi", check=check_choice)

    @property
    def strength_unit(self) -> str:
        """Name the unit of the strengths of edges."""
        return measure_unit(self.measure)

    def learn_one(self, engine: Engine, target: int) -> Neighborhood:
        """Choose k variables for one target."""
        return self._choose(_Rows(engine, self.measure, self.rules), target)

    def learn_all(self, engine: Engine) -> Neighborhoods:
        """Choose k variables for every target; rows of pairs are shared between targets."""
        n = engine.n_variables
        rows = _Rows(engine, self.measure, self.rules)
        sets = []
        with stage("choosing by relevance and redundancy") as advance:
            for target in range(n):
                sets.append(self._choose(rows, target))
                advance(1 / n)
        return flatten(sets)

    def _choose(self, rows: _Rows, target: int) -> Neighborhood:
        relevance = rows.of(target)
        n = len(relevance)
        redundancy = np.zeros(n)
        candidates = self.candidates(n, target)
        free = np.isin(np.arange(n), candidates)
        required: list[int] = [] if self.rules is None else self.rules.must_be_adjacent(target).tolist()
        chosen: list[int] = []
        for _ in range(max(len(required), min(self.k, len(candidates)))):
            if len(chosen) < len(required):
                best = required[len(chosen)]
            else:
                merit = np.where(free, relevance - redundancy / max(1, len(chosen)), -np.inf)
                best = int(np.flatnonzero(merit >= merit.max() - TOLERANCE)[0])
            chosen.append(best)
            free[best] = False
            redundancy = redundancy + rows.of(best)
        members = np.array(chosen, np.int64)
        return Neighborhood(members, relevance[members])


class _Rows:
    """Measure of one variable with each other, a row at a time; the last few rows are cached."""

    def __init__(self, engine: Engine, measure: str | Measure, rules: Constraints | None) -> None:
        # Every pair with any information at all is kept; what is left out is 0, as are forbidden adjacencies.
        search = related_pairs(engine, 0.0, measure, rules)

        @lru_cache(maxsize=ROWS_REMEMBERED)
        def row(variable: int) -> Floats:
            found = search(target=variable)
            values = np.zeros(engine.n_variables)
            values[np.where(found.first == variable, found.second, found.first)] = found.values
            values.setflags(write=False)
            return values

        self.of = row
