"""PCMB, parents and children based Markov blanket (Peña, Nilsson, Björkegren and Tegnér 2007).

Their GetPCD is MMPC that drops separated members after each that joins, not at the end alone; GetPC keeps the
members whose own set has the target; and the spouses are those that a common child shows. It is exact
with perfect answers.

The association that ranks a variable is the smallest found so far, also with members that have left since
(theirs asks again about the members that are left).
"""

from __future__ import annotations

import numpy as np

from f2sl.local.base import Neighbourhood
from f2sl.local.by_neighbours import ByNeighbours
from f2sl.local.by_tests import marginal_strengths, strongest_first
from f2sl.local.lockstep import Search
from f2sl.local.subset_search import drop_in_turn, separations
from f2sl.stats.answers import IndependenceTest


class PCMB(ByNeighbours):
    """Markov blanket from parents and children that both ends name."""

    def neighbours(self, test: IndependenceTest, target: int) -> Search[Neighbourhood]:
        """Find parents, children and some of the other descendants (GetPCD)."""
        left, weakest, apart = yield from marginal_strengths(test, target)
        members, strengths = np.empty(0, np.int64), np.empty(0)
        while len(left):
            best = int(strongest_first(left, weakest)[0])
            newest, strength = int(left[best]), weakest[best]
            left, weakest = np.delete(left, best), np.delete(weakest, best)
            backward = yield from separations(
                test,
                target,
                members,
                members,
                self.max_cond_vars,
                containing=(newest,),
                find_all=True,
                known=strengths,
            )
            dropped = drop_in_turn(members[::-1].tolist(), backward.sets)
            apart.update(dropped)
            stays = ~np.isin(members, list(dropped))
            older = members[stays]
            members = np.append(older, newest)
            strengths = np.append(backward.weakest[stays], strength)
            outlook = yield from separations(
                test, target, left, older, self.max_cond_vars, containing=(newest,), known=weakest
            )
            apart.update(outlook.first_sets)
            stays = ~outlook.separated
            left, weakest = left[stays], outlook.weakest[stays]
        order = strongest_first(members, strengths)
        return Neighbourhood(members[order], strengths[order], apart)
