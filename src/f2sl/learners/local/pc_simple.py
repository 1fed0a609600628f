"""PC-simple (Bühlmann, Kalisch and Maathuis 2010), with any test of independence.

At level 0 the set contains all variables that depend on the target. At level l = 1, 2, ... a member is
dropped if some l other members of the previous level's set separate it from the target. It is the PC
algorithm around one variable. A level uses the set of the previous level, so the order of the variables does
not matter.

A pair with too few samples for a test is not shown to be independent, and stays: with many states per
variable this leads to large sets.

Alone this can keep a variable that is not adjacent to the target, as MMPC can; with symmetry and perfect
answers the result is exact.
"""

from __future__ import annotations

from f2sl._arrays import Integers
from f2sl._options import any_of, option
from f2sl.learners.local.base import LocalLearner, Neighborhood
from f2sl.learners.local.lockstep import Search
from f2sl.learners.local.subset_search import marginal_strengths, separations
from f2sl.stats.answers import IndependenceTest
from f2sl.stats.choose import check_choice
from f2sl.stats.tests.base import CITest


class PCSimple(LocalLearner):
    """Parents and children as the PC algorithm finds them around one variable."""

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)
    symmetry: str = option("symmetry", check=any_of("and", "none"))

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the set of one target, before symmetry."""
        others = self.candidates(test.n_variables, target)
        return levels(test, target, others, self.max_cond_vars, keep_inconclusive=True)


def levels(
    test: IndependenceTest,
    target: int,
    others: Integers,
    max_cond_vars: int | None,
    *,
    keep_inconclusive: bool,
) -> Search[Neighborhood]:
    """Test by levels with some others; a pair with too few samples is kept, or not admitted."""
    members, weakest, apart = yield from marginal_strengths(
        target, others, keep_inconclusive=keep_inconclusive
    )
    level = 1
    while level < len(members) and (max_cond_vars is None or level <= max_cond_vars):
        found = yield from separations(test, target, members, members, level, smallest=level, known=weakest)
        apart.update(found.first_sets)
        stays = ~found.separated
        members, weakest = members[stays], found.weakest[stays]
        level += 1
    return Neighborhood.ranked(members, weakest, apart)
