"""TC's blankets: total conditioning (Pellet and Elisseeff 2008), for continuous tables.

Two jointly Gaussian variables are in each other's Markov blanket exactly if they are correlated given all
others. The inverse of the correlation matrix has all these partial correlations, so one inversion gives all
blankets. The paper tests the coefficients of a regression on all others; here Fisher's z, with N - n - 1
degrees of freedom for N samples of n variables, tests the same correlations.

It needs more samples than variables, and no variable may be determined by others; other tables are refused. A
variable outside a blanket is separated from the target by all other variables; these separating sets are not
listed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from f2sl._arrays import Integers
from f2sl._options import option
from f2sl._progress import stage
from f2sl.data.moments import Moments
from f2sl.data.names import listing
from f2sl.errors import DataError
from f2sl.learners.local.base import LocalLearner, Neighborhood, Neighborhoods, flatten
from f2sl.learners.local.lockstep import Search, answer_all
from f2sl.learners.local.subset_search import only_shown_spouses
from f2sl.stats.answers import DEPENDENT
from f2sl.stats.choose import make_test


def _finished(found: Neighborhood) -> Search[Neighborhood]:
    """Return a search with a given result."""
    yield from ()
    return found


class TCBlankets(LocalLearner):
    """Markov blankets of real-valued variables, from correlations given all other variables."""

    _takes = ("continuous",)
    finds_blankets = True

    alpha: float = option("alpha")

    def learn_one(self, engine: Moments, target: int) -> Neighborhood:
        """Find the blanket of one variable."""
        return self._blankets(engine, np.array([target]))[0]

    def learn_all(self, engine: Moments) -> Neighborhoods:
        """Find the blankets of all variables."""
        n = engine.n_variables
        return flatten(self._blankets(engine, np.arange(n)), n * (n - 1) // 2)

    def _blankets(self, engine: Moments, targets: Integers) -> list[Neighborhood]:
        from f2sl.stats.conditioning import decided, given_all_others
        from f2sl.stats.tests.fisher_z import z_answers

        n = engine.n_variables
        freedom = engine.n_rows - n - 1
        if freedom < 1:
            raise DataError(
                f"TC conditions on all other variables at once: {n:,} columns need at least {n + 2:,} rows, "
                f"but there are {engine.n_rows:,}; learners with small conditioning sets, such as iamb or "
                "pc-stable, need fewer"
            )
        with stage("inverting the correlations"):
            surplus = decided(engine.correlations)
            if len(surplus):
                named = listing([repr(engine.names[v]) for v in surplus.tolist()])
                raise DataError(
                    f"other columns determine {named}, so that they have no correlation given all others; "
                    "leave these columns out"
                )
            correlations = given_all_others(engine.correlations)
        blankets = []
        for target in targets.tolist():
            others = self.candidates(n, target)
            answers = z_answers(correlations[target, others], freedom, self.alpha)
            inside = answers.answer == DEPENDENT
            ranked = Neighborhood.ranked(others[inside], answers.strength[inside])
            if self.rules is not None:
                test = make_test(engine, self.alpha)
                shown = only_shown_spouses(_finished(ranked), test, target, self.rules)
                ranked = answer_all(shown, test)
            blankets.append(replace(ranked, n_tests=len(others)))
        return blankets
