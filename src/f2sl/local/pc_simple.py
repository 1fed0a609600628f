"""PC-simple (Bühlmann, Kalisch and Maathuis 2010), with any test of independence.

At level 0 the set holds all variables that depend on the target. At level l = 1, 2, ... each member is
dropped that some l other members of the set of the level before separate from the target. It is the PC
algorithm around one variable; since a level looks at the set of the level before, the order of the
variables does not matter.

A pair with too few samples for a test is not shown to be independent, and stays: with variables of many
states that makes for large sets.

Alone this can keep a variable that is not linked to the target, as MMPC can; with symmetry and perfect
answers the result is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from f2sl.local.base import Neighbourhood
from f2sl.local.by_tests import SymmetricByTests, marginal_strengths, strongest_first
from f2sl.local.lockstep import Search
from f2sl.local.subset_search import first_sets, separations

if TYPE_CHECKING:
    from f2sl.stats.independence import IndependenceTest


class PCSimple(SymmetricByTests):
    """Parents and children as the PC algorithm finds them around one variable.

    Parameters
    ----------
    alpha, max_cond_vars, ci_test, symmetry
        As in :class:`~f2sl.local.mmpc.MMPC`.
    """

    def __init__(
        self,
        alpha: float = 0.01,
        max_cond_vars: int | None = 3,
        ci_test: str = "g2",
        symmetry: str = "and",
    ) -> None:
        self.alpha = alpha
        self.max_cond_vars = max_cond_vars
        self.ci_test = ci_test
        self.symmetry = symmetry

    def search(self, test: IndependenceTest, target: int) -> Search[Neighbourhood]:
        """Find the set of one target, before symmetry."""
        members, weakest, apart = yield from marginal_strengths(test, target, keep_unreliable=True)
        level = 1
        while level < len(members) and (self.max_cond_vars is None or level <= self.max_cond_vars):
            found = yield from separations(test, target, members, members, level, smallest=level)
            apart.update(first_sets(members, found))
            stays = ~found.separated
            members, weakest = members[stays], np.minimum(weakest, found.weakest)[stays]
            level += 1
        order = strongest_first(members, weakest)
        return Neighbourhood(members[order], weakest[order], apart)
