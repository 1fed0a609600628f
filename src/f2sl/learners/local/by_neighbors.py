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

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from f2sl._options import any_of, option
from f2sl.constraints import Constraints
from f2sl.learners.local.base import LocalLearner, Neighborhood, Neighborhoods, flatten, strongest_first
from f2sl.learners.local.hiton_pc import HITONPC
from f2sl.learners.local.lockstep import Questions, Search, knowing, together
from f2sl.learners.local.mmpc import MMPC
from f2sl.learners.local.subset_search import (
    drop_in_turn,
    marginal_strengths,
    only_shown_spouses,
    separations,
)
from f2sl.stats.answers import DEPENDENT, IndependenceTest
from f2sl.stats.choose import check_choice
from f2sl.stats.tests.base import CITest

Known = dict[int, Neighborhood]


@dataclass
class Blankets:
    """Blankets from parents and children, and the sets found so far, so that no variable is searched twice.

    Tests for spouses have the common child in the conditioning set, beside the set that `neighbors` found.

    Parameters
    ----------
    neighbors : callable
        Search of the parents and children of one target, before symmetry.
    symmetry : {"and", "none"}
        Whether both ends of an edge must name each other.
    rules : Constraints, optional
        Edges that they forbid do not count.
    """

    neighbors: Callable[[int], Search[Neighborhood]]
    symmetry: str
    rules: Constraints | None
    known: Known = field(default_factory=dict)

    def of_all(self, test: IndependenceTest) -> Search[Neighborhoods]:
        """Find the blankets of all variables, from the neighbors of all variables."""
        everyone, rules = range(test.n_variables), self.rules
        look_up = self._look_up(everyone)
        yield from look_up if rules is None else knowing(look_up, rules)
        searches = (self.of_one(v) for v in everyone)
        if rules is not None:
            searches = (only_shown_spouses(self.of_one(v), test, v, rules) for v in everyone)
        return flatten((yield from together(searches)))

    def of_one(self, target: int) -> Search[Neighborhood]:
        """Find the blanket of one target."""
        # With symmetry, the sets of members' members are needed as well.
        yield from self._look_up([target])
        yield from self._look_up(self.known[target].members.tolist())
        near = self._agreed(target)
        if self.symmetry != "none":
            yield from self._look_up([y for x in near for y in self.known[x].members.tolist()])
        asked: list[tuple[int, tuple[int, ...]]] = []
        for x in near:
            for y in self._agreed(x):
                apart = None if y == target or y in near else _separating_set(target, y, self.known)
                # A set that separates with X in it shows that X is no common child.
                if apart is not None and x not in apart:
                    asked.append((y, (*apart, x)))
        answers = yield [
            Questions(np.array([target]), np.array([y]), np.array([given], np.int64)) for y, given in asked
        ]
        found = self.known[target]
        weakest = dict(zip(found.members.tolist(), found.strengths.tolist(), strict=True))
        blanket = {x: weakest[x] for x in near}
        for (y, _), answer in zip(asked, answers, strict=True):
            if answer.answer[0] == DEPENDENT:
                blanket[y] = max(blanket.get(y, 0.0), float(answer.strength[0]))
        apart_now = {y: given for y, given in found.separating_sets.items() if y not in blanket}
        return Neighborhood.of(blanket, apart_now)

    def _look_up(self, variables: Iterable[int]) -> Search[None]:
        """Search the neighbors of variables that are not yet known."""
        new = [v for v in variables if v not in self.known]
        self.known.update(zip(new, (yield from together(self.neighbors(v) for v in new)), strict=True))

    def _agreed(self, variable: int) -> list[int]:
        """Return a variable's neighbors; with symmetry, only those that name it in turn."""
        members: list[int] = self.known[variable].members.tolist()
        if self.rules is not None:
            adjacent = self.rules.may_be_adjacent(variable)
            members = [member for member in members if adjacent[member]]
        if self.symmetry == "none":
            return members
        return [member for member in members if variable in self.known[member].members]


def _separating_set(target: int, other: int, known: Known) -> tuple[int, ...] | None:
    """Return the set that was found to separate two variables when either was the target."""
    given = known[target].separating_sets.get(other)
    if given is None and other in known:
        given = known[other].separating_sets.get(target)
    return given


class MMMB(LocalLearner):
    """Markov blanket from the parents and children that MMPC finds."""

    finds_blankets = True

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)
    symmetry: str = option("symmetry", check=any_of("and", "none"))

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the blanket of one target."""
        return self._blankets(test).of_one(target)

    def search_all(self, test: IndependenceTest) -> Search[Neighborhoods]:
        """Find the blankets of all variables."""
        return self._blankets(test).of_all(test)

    def _blankets(self, test: IndependenceTest) -> Blankets:
        neighbors = partial(MMPC(max_cond_vars=self.max_cond_vars).search, test)
        return Blankets(neighbors, self.symmetry, self.rules)


class HITONMB(LocalLearner):
    """Markov blanket from the parents and children that HITON-PC finds.

    Spouses are found as in the later form of the algorithm (GLL-MB; Aliferis and others 2010): by the test
    that shows a common child.
    """

    finds_blankets = True

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)
    symmetry: str = option("symmetry", check=any_of("and", "none"))

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the blanket of one target."""
        return self._blankets(test).of_one(target)

    def search_all(self, test: IndependenceTest) -> Search[Neighborhoods]:
        """Find the blankets of all variables."""
        return self._blankets(test).of_all(test)

    def _blankets(self, test: IndependenceTest) -> Blankets:
        neighbors = partial(HITONPC(max_cond_vars=self.max_cond_vars).search, test)
        return Blankets(neighbors, self.symmetry, self.rules)


class PCMB(LocalLearner):
    """Markov blanket from parents and children that both ends name.

    Their GetPCD is MMPC that drops separated members after each new one, not only at the end. GetPC keeps the
    members whose own set has the target. Spouses are those that a common child shows.

    A variable is ranked by the smallest association found so far, including tests with members that have left
    since (theirs repeats the tests with the remaining members).
    """

    finds_blankets = True

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the blanket of one target."""
        return Blankets(partial(self.neighbors, test), "and", self.rules).of_one(target)

    def search_all(self, test: IndependenceTest) -> Search[Neighborhoods]:
        """Find the blankets of all variables."""
        return Blankets(partial(self.neighbors, test), "and", self.rules).of_all(test)

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
