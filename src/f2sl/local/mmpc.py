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
from f2sl.local.base import Neighbourhood
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
        members: list[int] = []
        strengths: list[float] = []
        while len(left):
            # Of equals the first, because `left` is in the order of names.
            best = int(weakest.argmax())
            newest, before = int(left[best]), np.array(members, np.int64)
            members.append(newest)
            strengths.append(float(weakest[best]))
            others = left != newest
            left, weakest = left[others], weakest[others]
            # Only sets with the newest member are new; those without it were asked about before.
            found = yield from separations(
                test, target, left, before, self.max_cond_vars, containing=(newest,), known=weakest
            )
            weakest = found.weakest
            if found.sets:
                apart.update(found.first_sets)
                stays = ~found.separated
                left, weakest = left[stays], weakest[stays]
        everyone = np.array(members, np.int64), np.array(strengths)
        return (yield from drop_separated(test, target, *everyone, apart, self.max_cond_vars))


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
