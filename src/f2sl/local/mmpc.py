"""MMPC, max-min parents and children (Tsamardinos, Brown and Aliferis 2006).

The forward step takes for each variable its weakest association with the target given any subset of the set
so far, and adds the variable for which this is strongest (the *max-min heuristic*). It ends when all
remaining variables are independent of the target given some subset. The backward step drops members that some
subset of the others separates from the target.

A pair with too few samples for a test has no association to rank, and is not admitted.

Alone this can keep a variable that is not linked to the target: a descendant of a child, if its separating
set lies outside the set. Symmetry, which their paper adds as a correction, drops such a member, because the
target is not in its own set. With perfect answers the result is then exact.
"""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.local.base import Neighbourhood, strongest_first
from f2sl.local.by_tests import SymmetricByTests, marginal_strengths
from f2sl.local.lockstep import Search
from f2sl.local.subset_search import drop_in_turn, separations
from f2sl.stats.answers import IndependenceTest


class MMPC(SymmetricByTests):
    """Parents and children by the max-min heuristic."""

    def search(self, test: IndependenceTest, target: int) -> Search[Neighbourhood]:
        """Find the set of one target, before symmetry."""
        left, weakest, apart = yield from marginal_strengths(
            target, self.candidates(test.n_variables, target)
        )
        members = np.empty(0, np.int64)
        strengths = np.empty(0)
        while len(left):
            best = int(strongest_first(left, weakest)[0])
            newest = int(left[best])
            before, members = members, np.append(members, newest)
            strengths = np.append(strengths, weakest[best])
            left, weakest = np.delete(left, best), np.delete(weakest, best)
            # Only sets with the newest member are new; those without it were asked about before.
            found = yield from separations(
                test, target, left, before, self.max_cond_vars, containing=(newest,), known=weakest
            )
            apart.update(found.first_sets)
            stays = ~found.separated
            left, weakest = left[stays], found.weakest[stays]
        return (yield from drop_separated(test, target, members, strengths, apart, self.max_cond_vars))


def drop_separated(
    test: IndependenceTest,
    target: int,
    members: Integers,
    strengths: Floats,
    apart: dict[int, tuple[int, ...]],
    max_cond_vars: int | None,
) -> Search[Neighbourhood]:
    """Drop, one after another, the members that some subset of those still there separates.

    All sets of all members are asked about at once: a set counts if none of its own was dropped before.
    """
    found = yield from separations(
        test, target, members, members, max_cond_vars, smallest=1, find_all=True, known=strengths
    )
    dropped = drop_in_turn(members.tolist(), found.sets)
    apart.update(dropped)
    stays = ~np.isin(members, list(dropped))
    members, weakest = members[stays], found.weakest[stays]
    return Neighbourhood.ranked(members, weakest, apart)
