"""MMPC, max-min parents and children (Tsamardinos, Brown and Aliferis 2006).

The forward step takes for each variable its weakest association with the target given any subset of the set
so far, and adds the variable for which this is strongest (the *max-min heuristic*). It ends when all
remaining variables are independent of the target given some subset. The backward step drops members that some
subset of the others separates from the target.

A pair with too few samples for a test has no association to rank, and is not admitted.

Alone this can keep a variable that is not adjacent to the target: a descendant of a child, if its separating
set lies outside the set. Symmetry, which their paper adds as a correction, drops such a member, because the
target is not in its own set. With perfect answers the result is then exact.
"""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._options import any_of, option
from f2sl.learners.local.base import LocalLearner, Neighborhood, Neighborhoods
from f2sl.learners.local.lockstep import QUESTIONS_PER_BATCH, Questions, Search, knowing
from f2sl.learners.local.separating_sets import Collected
from f2sl.learners.local.subset_search import SubsetQuestions, drop_in_turn, separations_of_all
from f2sl.stats.answers import DEPENDENT, INDEPENDENT, IndependenceTest
from f2sl.stats.choose import check_choice
from f2sl.stats.tests.base import CITest


def first_of_each(ascending: Integers) -> Integers:
    """Return the position of the first of each value in an ascending array.

    Examples
    --------
    >>> first_of_each(np.array([2, 2, 5, 7, 7])).tolist()
    [0, 2, 3]
    """
    new = np.ones(len(ascending), np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    return np.flatnonzero(new)


class MMPC(LocalLearner):
    """Parents and children by the max-min heuristic."""

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)
    symmetry: str = option("symmetry", check=any_of("and", "none"))

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the set of one target, before symmetry."""
        found = yield from self.search_many(test, np.array([target]))
        apart = {w: given for (_, w), given in found.separating_sets.items()}
        return Neighborhood(*found.of(target), apart)

    def search_all(self, test: IndependenceTest) -> Search[Neighborhoods]:
        """Find the sets of all variables, side by side, before symmetry."""
        search = self.search_many(test, np.arange(test.n_variables))
        return search if self.rules is None else knowing(search, self.rules)

    def search_many(self, test: IndependenceTest, targets: Integers) -> Search[Neighborhoods]:
        """Find the sets of some targets, before symmetry; other variables have empty ones."""
        apart = Collected(test.n_variables)
        owner, left, weakest = yield from self._related(test.n_variables, targets, apart)
        n_members = np.zeros(len(targets), np.int64)
        members, strengths = np.zeros((len(targets), 1), np.int64), np.zeros((len(targets), 1))
        while len(left):
            # The strongest of each target; of equals the first, because others are in the order of names.
            begin = first_of_each(owner)
            active = owner[begin]
            strongest = np.zeros(len(targets))
            strongest[active] = np.maximum.reduceat(weakest, begin)
            best = np.flatnonzero(weakest == strongest[owner])
            best = best[first_of_each(owner[best])]
            newest = left[best]
            others = np.ones(len(left), np.bool_)
            others[best] = False
            # Only sets with the newest member are new; those without it were asked about before.
            asked = SubsetQuestions(
                targets[active],
                np.searchsorted(active, owner[others]),
                left[others],
                members[active],
                n_members[active],
            )
            if n_members.max() == members.shape[1]:
                members = np.concatenate([members, np.zeros_like(members)], axis=1)
                strengths = np.concatenate([strengths, np.zeros_like(strengths)], axis=1)
            members[active, n_members[active]], strengths[active, n_members[active]] = newest, weakest[best]
            n_members[active] += 1
            found = yield from separations_of_all(
                test, asked, self.max_cond_vars, fixed=newest[:, None], known=weakest[others]
            )
            for positions, given in found.found:
                apart.add(asked.targets[asked.owner[positions]], asked.others[positions], given)
            stays = ~found.separated
            owner, left, weakest = owner[others][stays], asked.others[stays], found.weakest[stays]
        return (yield from self._without_separated(test, targets, members, strengths, n_members, apart))

    def _related(
        self, n: int, targets: Integers, apart: Collected
    ) -> Search[tuple[Integers, Integers, Floats]]:
        """Find the variables that depend on each target alone: owner, variable and strength.

        A pair of two targets is asked about once.
        """
        position = np.full(n, -1)
        position[targets] = np.arange(len(targets))
        found: list[tuple[Integers, Integers, Floats]] = [(targets[:0], targets[:0], np.empty(0))]
        pairs: list[tuple[Integers, Integers]] = []
        load = 0
        for target in targets.tolist():
            others = self.candidates(n, target)
            others = others[(position[others] < 0) | (others > target)]
            pairs.append((np.full(len(others), target), others))
            load += len(others)
            if load < QUESTIONS_PER_BATCH and target != targets[-1]:
                continue
            x, y = (np.concatenate(part) for part in zip(*pairs, strict=True))
            pairs, load = [], 0
            [answers] = yield [Questions(x, y, np.empty((len(x), 0), np.int64))]
            for a, b in ((x, y), (y, x)):
                own = position[a] >= 0
                separated, dependent = (own & (answers.answer == said) for said in (INDEPENDENT, DEPENDENT))
                apart.add(a[separated], b[separated], np.empty((separated.sum(), 0), np.int64))
                found.append((position[a[dependent]], b[dependent], answers.strength[dependent]))
        owner, other, strength = (np.concatenate(part) for part in zip(*found, strict=True))
        order = np.lexsort((other, owner))
        return owner[order], other[order], strength[order]

    def _without_separated(
        self,
        test: IndependenceTest,
        targets: Integers,
        members: Integers,
        strengths: Floats,
        n_members: Integers,
        apart: Collected,
    ) -> Search[Neighborhoods]:
        """Drop, one after another, the members that some subset of those still there separates.

        All sets of all members are asked about at once: a set counts if none of its own was dropped before.
        """
        there = np.arange(members.shape[1]) < n_members[:, None]
        owner, joined = there.nonzero()
        asked = SubsetQuestions(targets, owner, members[there], members, n_members)
        nothing = np.empty((len(targets), 0), np.int64)
        found = yield from separations_of_all(
            test,
            asked,
            self.max_cond_vars,
            smallest=1,
            fixed=nothing,
            find_all=True,
            known=strengths[there],
            asked_up_to=joined,  # it would not have joined if those before it separated it
        )
        sets: dict[int, dict[int, list[tuple[int, ...]]]] = {}
        for position, given in found.sets():
            own = sets.setdefault(int(asked.owner[position]), {})
            own.setdefault(int(asked.others[position]), []).append(given)
        kept = np.ones(len(asked.others), np.bool_)
        for t, own in sets.items():
            dropped = drop_in_turn(members[t, : n_members[t]].tolist(), own)
            kept[(asked.owner == t) & np.isin(asked.others, list(dropped))] = False
            for member, given in dropped.items():
                apart.add(targets[[t]], np.array([member]), np.array([given]))
        owner, others, weakest = targets[asked.owner[kept]], asked.others[kept], found.weakest[kept]
        order = np.lexsort((others, -weakest, owner))
        sizes = np.bincount(owner, minlength=test.n_variables)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Neighborhoods(start, others[order], weakest[order], apart.finish())
