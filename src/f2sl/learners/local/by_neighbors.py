"""Markov blankets from parents and children: MMMB, HITON-MB and PCMB.

A blanket is the target's parents and children and the other parents of its children, its *spouses*. A
variable Y that is next to a neighbor X of the target T, but not to T itself, is a spouse if X is
their common child: Y, independent of T given a set S, depends on it given S and X.

A set that separates T and Y is known from the search for T's neighbors, or for Y's. If no such set was
found, for lack of samples, Y is not a spouse.

As published, MMMB (Tsamardinos, Aliferis and Statnikov 2003) and HITON-MB (Aliferis, Tsamardinos and
Statnikov 2003) use sets without symmetry, which can be wrong: Peña, Nilsson, Björkegren and Tegnér 2007, the
authors of PCMB, show examples. With symmetry, the default, both are exact with perfect answers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from f2sl._progress import stage
from f2sl.learners.local.base import Neighborhood, Neighborhoods, WithSymmetry, flatten, strongest_first
from f2sl.learners.local.by_tests import ByTests, marginal_strengths, only_shown_spouses
from f2sl.learners.local.hiton_pc import HITONPC
from f2sl.learners.local.lockstep import Questions, Search, answer_all, knowing, together
from f2sl.learners.local.mmpc import MMPC
from f2sl.learners.local.subset_search import drop_in_turn, separations
from f2sl.stats.answers import DEPENDENT, IndependenceTest

Known = dict[int, Neighborhood]


class ByNeighbors(ByTests):
    """Base of the blanket learners that look for neighbors first, then for their neighbors.

    `known` holds the sets found so far, before symmetry, so that no variable is searched twice. Tests for
    spouses have the common child in the conditioning set, beside at most `max_cond_vars` others. With
    `symmetry`, which some have as an option, both ends of a link must name each other.
    """

    finds_blankets = True
    symmetry = "and"

    def neighbors(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the parents and children of one target, before symmetry."""
        raise NotImplementedError

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the blanket of one target."""
        return self._blanket(test, target, {})

    def _obedient(
        self, test: IndependenceTest, target: int, known: Known | None = None
    ) -> Search[Neighborhood]:
        found = self._blanket(test, target, {} if known is None else known)
        return found if self.rules is None else only_shown_spouses(found, test, target, self.rules)

    def find_all(self, test: IndependenceTest) -> Neighborhoods:
        """Find the blankets of all variables, from the neighbors of all variables."""
        everyone = range(test.n_variables)
        known: Known = {}
        with stage("testing independence"):
            answer_all(self._look_up(test, everyone, known), test)
        with stage("looking for spouses"):
            blankets = answer_all(together(self._obedient(test, v, known) for v in everyone), test)
        return flatten(blankets, test.n_tests, test.n_inconclusive)

    def _look_up(self, test: IndependenceTest, variables: Iterable[int], known: Known) -> Search[None]:
        """Search the neighbors of variables that are not yet known."""
        new = [v for v in variables if v not in known]
        searches = (self.neighbors(test, v) for v in new)
        if self.rules is not None:
            rules = self.rules
            searches = (knowing(search, rules) for search in searches)
        known.update(zip(new, (yield from together(searches)), strict=True))

    def _agreed(self, variable: int, known: Known) -> list[int]:
        """Return a variable's neighbors; with symmetry, only those that name it in turn."""
        members: list[int] = known[variable].members.tolist()
        if self.rules is not None:
            linked = self.rules.may_be_adjacent(variable)
            members = [member for member in members if linked[member]]
        if self.symmetry == "none":
            return members
        return [member for member in members if variable in known[member].members]

    def _blanket(self, test: IndependenceTest, target: int, known: Known) -> Search[Neighborhood]:
        # With symmetry, the sets of members' members are needed as well.
        yield from self._look_up(test, [target], known)
        yield from self._look_up(test, known[target].members.tolist(), known)
        near = self._agreed(target, known)
        if self.symmetry != "none":
            yield from self._look_up(test, [y for x in near for y in known[x].members.tolist()], known)
        asked: list[tuple[int, tuple[int, ...]]] = []
        for x in near:
            for y in self._agreed(x, known):
                apart = None if y == target or y in near else _separating_set(target, y, known)
                # A set that separates with X in it shows that X is no common child.
                if apart is not None and x not in apart:
                    asked.append((y, (*apart, x)))
        answers = yield [
            Questions(np.array([target]), np.array([y]), np.array([given], np.int64)) for y, given in asked
        ]
        found = known[target]
        weakest = dict(zip(found.members.tolist(), found.strengths.tolist(), strict=True))
        blanket = {x: weakest[x] for x in near}
        for (y, _), answer in zip(asked, answers, strict=True):
            if answer.answer[0] == DEPENDENT:
                blanket[y] = max(blanket.get(y, 0.0), float(answer.strength[0]))
        apart_now = {y: given for y, given in found.separating_sets.items() if y not in blanket}
        return Neighborhood.of(blanket, apart_now)


def _separating_set(target: int, other: int, known: Known) -> tuple[int, ...] | None:
    """Return the set that was found to separate two variables when either was the target."""
    given = known[target].separating_sets.get(other)
    if given is None and other in known:
        given = known[other].separating_sets.get(target)
    return given


class MMMB(ByNeighbors, WithSymmetry):
    """Markov blanket from the parents and children that MMPC finds."""

    def neighbors(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the parents and children by MMPC."""
        return MMPC(max_cond_vars=self.max_cond_vars).search(test, target)


class HITONMB(ByNeighbors, WithSymmetry):
    """Markov blanket from the parents and children that HITON-PC finds.

    Spouses are found as in the later form of the algorithm (GLL-MB; Aliferis and others 2010): by the test
    that shows a common child.
    """

    def neighbors(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the parents and children by HITON-PC."""
        return HITONPC(max_cond_vars=self.max_cond_vars).search(test, target)


class PCMB(ByNeighbors):
    """Markov blanket from parents and children that both ends name.

    Their GetPCD is MMPC that drops separated members after each new one, not only at the end. GetPC keeps the
    members whose own set has the target. Spouses are those that a common child shows.

    A variable is ranked by the smallest association found so far, including tests with members that have left
    since (theirs repeats the tests with the remaining members).
    """

    def neighbors(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find parents, children and some of the other descendants (GetPCD)."""
        left, weakest, apart = yield from marginal_strengths(
            target, self.candidates(test.n_variables, target)
        )
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
        return Neighborhood.ranked(members, strengths, apart)
