"""BAMB, balanced Markov blanket discovery (Ling, Yu, Wang, Liu, Ding and Wu 2019).

The searches for neighbors and spouses alternate, and each removes false members of the other:

1. Variables are tried in the order of their association with the target. A variable joins the members unless
   some subset of the members separates it from the target.
2. Every X outside that a set separates from the target, and that depends on it given the set and a member Y,
   becomes a spouse by Y. A spouse by Y is dropped if a set that contains Y, of members and other spouses by
   Y, separates it from the target; small sets are tried on all spouses before larger ones.
3. A member is dropped, with its spouses, if some subset of the other members and all spouses separates it.

Two departures. Variables that are separated only on their turn are tested as spouses by earlier members, and
a dropped member is tested as a spouse by the others: the paper's loop, taken literally, would miss them. And
at the end, members that are independent of the target given all others are dropped, if there are enough
samples for the test: small subsets alone can keep false members if the target needs a larger set to be
shielded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from f2sl._arrays import Integers
from f2sl.learners.local.base import Neighborhood
from f2sl.learners.local.by_tests import ByTests, marginal_strengths
from f2sl.learners.local.grow_shrink import shrink_all
from f2sl.learners.local.lockstep import Search, together
from f2sl.learners.local.stmb import find_spouses
from f2sl.learners.local.subset_search import drop_in_turn, separations
from f2sl.learners.local.waiting import Sets, Waiting, without
from f2sl.stats.answers import IndependenceTest


class BAMB(ByTests):
    """Markov blanket with neighbors and spouses found in alternation."""

    finds_blankets = True

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the blanket of one target."""
        related, strengths, apart = yield from marginal_strengths(
            target, self.candidates(test.n_variables, target)
        )
        waiting = Waiting(test, target, related, strengths, self.max_cond_vars)
        found = _Blanket(test, target, self.max_cond_vars, waiting, apart)
        while True:
            newest, passed = waiting.take()
            yield from found.consider(passed)
            if newest is None:
                break
            yield from found.join(newest)
        weakest = {y: waiting.weakest[y] for y in found.members.tolist()}
        return (yield from shrink_all(test, target, weakest, found.all_spouses(), apart))


@dataclass
class _Blanket:
    """Members of a target's blanket, the spouses that each brings, and separating sets of all others."""

    test: IndependenceTest
    target: int
    max_cond_vars: int | None
    waiting: Waiting
    apart: Sets
    members: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    spouses: dict[int, dict[int, float]] = field(default_factory=dict)

    def all_spouses(self) -> dict[int, float]:
        """Return all spouses, each with the largest strength by any member."""
        strongest: dict[int, float] = {}
        for x, strength in chain.from_iterable(by.items() for by in self.spouses.values()):
            strongest[x] = max(strength, strongest.get(x, 0.0))
        return strongest

    def join(self, newest: int) -> Search[None]:
        """Add a variable to the blanket; update spouses and members."""
        older = self.members
        yield from self.waiting.look_ahead(newest, older)
        self.members = np.append(older, newest)
        self.spouses[newest] = {}
        before = self.all_spouses()
        yield from self._add_spouses([newest], self.apart)
        yield from self._drop_members([newest, *(x for x in self.all_spouses() if x not in before)])

    def consider(self, passed: Sets) -> Search[None]:
        """Test whether variables that were just separated are spouses by the current members."""
        self.apart.update(passed)
        if not passed or not len(self.members):
            return
        before = self.all_spouses()
        yield from self._add_spouses(self.members.tolist(), passed)
        yield from self._drop_members([x for x in self.all_spouses() if x not in before])

    def _add_spouses(self, members: list[int], apart: Sets) -> Search[None]:
        """Do step 2, for these members and the variables separated by the sets in `apart`."""
        edges = yield from find_spouses(self.target, members, apart)
        for (x, y), strength in edges.items():
            self.spouses[y][x] = strength
        changed = [y for y in members if self.spouses[y]]
        results = yield from together(self._true_spouses(y) for y in changed)
        for y, stay in zip(changed, results, strict=True):
            self.spouses[y] = {x: self.spouses[y][x] for x in stay}

    def _true_spouses(self, y: int) -> Search[list[int]]:
        """Test sets with Y by increasing size, as PC-simple does; return the remaining spouses."""
        spouses = np.array(list(self.spouses[y]), np.int64)
        near = self.members[self.members != y]
        size = 1
        while len(spouses) and size <= len(near) + len(spouses):
            if self.max_cond_vars is not None and size > self.max_cond_vars:
                break
            found = yield from separations(
                self.test,
                self.target,
                spouses,
                np.concatenate([near, spouses]),
                size,
                smallest=size,
                containing=(y,),
                known=0.0,
            )
            spouses = spouses[~found.separated]
            size += 1
        stay: list[int] = spouses.tolist()
        return stay

    def _drop_members(self, new: list[int]) -> Search[None]:
        """Do step 3 with the sets that contain a new variable; dropped members may become spouses."""
        if not new:
            return
        everyone = [*self.members.tolist(), *(x for x in self.all_spouses() if x not in self.members)]
        old = [v for v in everyone if v not in new]
        searches = []
        for number, one in enumerate(new):
            others = self.members[self.members != one]
            among = np.array([*old, *new[:number]], np.int64)
            searches.append(
                separations(
                    self.test,
                    self.target,
                    others,
                    among,
                    self.max_cond_vars,
                    containing=(one,),
                    find_all=True,
                    known=self.waiting.known(others),
                )
            )
        results = yield from together(searches)
        sets: dict[int, list[tuple[int, ...]]] = {y: [] for y in self.members.tolist()}
        for one, found in zip(new, results, strict=True):
            others = self.members[self.members != one]
            self.waiting.note(others, found)
            for y, given in found.sets.items():
                sets[y] += given
        dropped = drop_in_turn(self.members[::-1].tolist(), sets)
        if dropped:
            self.members = without(self.members, dropped)
            for y in dropped:
                del self.spouses[y]
            yield from self.waiting.look_again(dropped, self.members)
            yield from self.consider(dropped)
