"""HITON-PC, interleaved (Aliferis, Tsamardinos and Statnikov 2003; Aliferis and others 2010).

Variables join the set in the order of their association with the target. After each, every member that some
subset of the others separates from the target is dropped: the newest first, so that the weakest go first.
A variable that was dropped does not come back.

A pair with too few samples for a test has no association that could be ranked, and is not admitted.

Alone this can keep a variable that is not linked to the target, as MMPC can; with symmetry and perfect
answers the result is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from f2sl.counting.protocol import Integers
from f2sl.local.base import Neighbourhood
from f2sl.local.by_tests import SymmetricByTests, marginal_strengths, strongest_first
from f2sl.local.lockstep import Search, together
from f2sl.local.subset_search import Separations, first_sets, separations

if TYPE_CHECKING:
    from f2sl.stats.independence import IndependenceTest

Sets = dict[int, tuple[int, ...]]


class HITONPC(SymmetricByTests):
    """Parents and children in the order of association, pruned as they come.

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
        found, strengths, apart = yield from marginal_strengths(test, target)
        queue = found[strongest_first(found, strengths)]
        weakest = dict(zip(found.tolist(), strengths.tolist(), strict=True))
        members = np.empty(0, np.int64)
        # What separates those in the queue from the target, all of it among the members. Those without an
        # entry have been asked about with all subsets of the members: the first of them is the next to join.
        separated: Sets = {}

        def separate(others: Integers, among: Integers, **how: object) -> Search[Separations]:
            return separations(test, target, others, among, self.max_cond_vars, **how)  # type: ignore[arg-type]

        def note(others: Integers, result: Separations) -> None:
            for other, low in zip(others.tolist(), result.weakest.tolist(), strict=True):
                weakest[other] = min(weakest[other], low)

        def learn(others: Integers, result: Separations) -> None:
            note(others, result)
            separated.update(first_sets(others, result))

        while len(queue):
            newest, queue = int(queue[0]), queue[1:]
            if newest in separated:
                apart[newest] = separated.pop(newest)
                continue
            waiting = _without(queue, separated)
            older = members
            outlook, backward = yield from together(
                [
                    separate(waiting, older, containing=(newest,)),
                    separate(older, older, containing=(newest,), find_all=True),
                ]
            )
            learn(waiting, outlook)
            note(older, backward)
            members = np.append(older, newest)
            dropped = _drop(older, backward)
            if dropped:
                apart.update(dropped)
                members = _without(members, dropped)
                # What a dropped member helped to separate has to be asked about again.
                again = [w for w, given in separated.items() if not dropped.keys().isdisjoint(given)]
                for other in again:
                    del separated[other]
                others = np.array(again, np.int64)
                learn(others, (yield from separate(others, members, smallest=1)))
        low = np.array([weakest[member] for member in members.tolist()])
        order = strongest_first(members, low)
        return Neighbourhood(members[order], low[order], apart)


def _drop(older: Integers, found: Separations) -> Sets:
    """Give the members to drop, the newest first, each with a set in which none was dropped before."""
    dropped: Sets = {}
    for member, sets in zip(older[::-1].tolist(), found.sets[::-1], strict=True):
        first = next((given for given in sets if dropped.keys().isdisjoint(given)), None)
        if first is not None:
            dropped[member] = first
    return dropped


def _without(variables: Integers, left_out: Sets) -> Integers:
    return variables[~np.isin(variables, list(left_out))] if left_out else variables
