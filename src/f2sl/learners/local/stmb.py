"""STMB, simultaneous Markov blanket (Gao and Ji 2017): spouses without the neighbors' neighbors.

1. Parents and children, as PC-simple finds them around the target; other descendants may be among them.
2. For each member Y and each X outside: if X, separated from the target by S, depends on it given S and Y,
   then Y may be a common child and X a spouse. If a set that contains X separates Y from the target, Y is a
   descendant but not a child and is dropped; otherwise X becomes a spouse by Y.
3. Spouses, then members, that are independent of the target given all others are dropped.

It needs far fewer tests than a search of all neighbors' sets. Two departures: step 3 conditions on all
members and spouses (theirs on the spouses by one member at a time, which can keep a variable that reaches the
target past another member's spouse), and a member that step 2 drops is still tested as a spouse by another
member.
"""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Integers
from f2sl.learners.local.base import Neighborhood
from f2sl.learners.local.by_tests import ByTests
from f2sl.learners.local.grow_shrink import shrink_all
from f2sl.learners.local.lockstep import Questions, Search, together
from f2sl.learners.local.pc_simple import levels
from f2sl.learners.local.subset_search import separations
from f2sl.stats.answers import DEPENDENT, IndependenceTest

Sets = dict[int, tuple[int, ...]]


class STMB(ByTests):
    """Markov blanket with spouses found from the target alone."""

    finds_blankets = True

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the blanket of one target."""
        others = self.candidates(test.n_variables, target)
        near = yield from levels(test, target, others, self.max_cond_vars, keep_inconclusive=False)
        apart = dict(near.separating_sets)
        members = np.sort(near.members)
        edges = yield from find_spouses(target, members.tolist(), apart)
        # Sets without X were asked about in step 1.
        tried = yield from together(
            separations(
                test,
                target,
                np.array([y]),
                members[members != y],
                self.max_cond_vars,
                containing=(x,),
                known=0.0,
            )
            for x, y in edges
        )
        dropped: Sets = {}
        for (_, y), found in zip(edges, tried, strict=True):
            if found.sets:
                dropped.setdefault(y, found.sets[y][0])
        apart.update(dropped)
        stay = [y for y in members.tolist() if y not in dropped]
        again = yield from find_spouses(target, stay, dropped)
        spouses = {edge: strength for edge, strength in edges.items() if edge[1] not in dropped} | again
        strongest: dict[int, float] = {}
        for (x, _), strength in spouses.items():
            strongest[x] = max(strength, strongest.get(x, 0.0))
        weakest = dict(zip(near.members.tolist(), near.strengths.tolist(), strict=True))
        return (yield from shrink_all(test, target, {y: weakest[y] for y in stay}, strongest, apart))


def find_spouses(target: int, members: list[int], apart: Sets) -> Search[dict[tuple[int, int], float]]:
    """Find pairs (X, Y) where X, separated from the target by ``apart[X]``, becomes dependent given Y.

    Gives the strength of each, Y by Y in the order of the members, X in the order of the names.
    """
    pairs = [(x, y) for y in members for x in sorted(apart) if x != y and y not in apart[x]]
    by_size: dict[int, list[int]] = {}
    for position, (x, _) in enumerate(pairs):
        by_size.setdefault(len(apart[x]), []).append(position)
    asked: list[Questions] = []
    for positions in by_size.values():
        others = np.array([pairs[p][0] for p in positions], np.int64)
        given: Integers = np.array([(*apart[pairs[p][0]], pairs[p][1]) for p in positions], np.int64)
        asked.append(Questions(np.full(len(others), target), others, given))
    answers = yield asked
    strengths: dict[int, float] = {}
    for positions, answer in zip(by_size.values(), answers, strict=True):
        for at in (answer.answer == DEPENDENT).nonzero()[0].tolist():
            strengths[positions[at]] = float(answer.strength[at])
    return {pairs[position]: strengths[position] for position in sorted(strengths)}
