"""HITON-PC, interleaved (Aliferis, Tsamardinos and Statnikov 2003; Aliferis and others 2010).

Variables join the set in the order of their association with the target. After each, every member that some
subset of the others separates from the target is dropped: the newest first, so that the weakest go first.
A variable that was dropped does not come back.

A pair with too few samples for a test has no association to rank, and is not admitted.

Alone this can keep a variable that is not adjacent to the target, as MMPC can; with symmetry and perfect
answers the result is exact.
"""

from __future__ import annotations

import numpy as np

from f2sl._options import any_of, option
from f2sl.learners.local.base import LocalLearner, Neighborhood
from f2sl.learners.local.lockstep import Search, side_by_side
from f2sl.learners.local.subset_search import drop_in_turn, marginal_strengths, separations
from f2sl.learners.local.waiting import Waiting, without
from f2sl.stats.answers import IndependenceTest
from f2sl.stats.choose import check_choice
from f2sl.stats.tests.base import CITest


class HITONPC(LocalLearner):
    """Parents and children in the order of association, pruned as they come."""

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)
    symmetry: str = option("symmetry", check=any_of("and", "none"))

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the set of one target, before symmetry."""
        related, strengths, apart = yield from marginal_strengths(
            target, self.candidates(test.n_variables, target)
        )
        waiting = Waiting(test, target, related, strengths, self.max_cond_vars)
        members = np.empty(0, np.int64)
        while True:
            newest, passed = waiting.take()
            apart.update(passed)
            if newest is None:
                break
            older = members
            # A member was asked about with the older ones before; new are the sets with the newest in them.
            backward, _ = yield from side_by_side(
                separations(
                    test,
                    target,
                    older,
                    older,
                    self.max_cond_vars,
                    containing=(newest,),
                    find_all=True,
                    known=waiting.known(older),
                ),
                waiting.look_ahead(newest, older),
            )
            waiting.note(older, backward)
            dropped = drop_in_turn(older[::-1].tolist(), backward.sets)
            members = without(np.append(older, newest), dropped)
            if dropped:
                apart.update(dropped)
                yield from waiting.look_again(dropped, members)
        return Neighborhood.ranked(members, waiting.known(members), apart)
