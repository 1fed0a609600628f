"""Markov blankets by growing and shrinking: GSMB, IAMB and Inter-IAMB.

GSMB is by Margaritis and Thrun 2000, the others are by Tsamardinos, Aliferis and Statnikov 2003. All three
condition on the whole current set. When *growing*, a variable that depends on the target given the set joins
it; when *shrinking*, a member that is independent of the target given the others leaves. With perfect answers
the grown set contains the Markov blanket, and the set after shrinking is the blanket.

The larger the set, the more samples a test needs. An inconclusive test admits nothing and drops nothing, so
growth ends when there are too few samples; `max_cond_vars` can end it earlier.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._options import option
from f2sl.learners.local.base import Neighborhood, strongest_first
from f2sl.learners.local.by_tests import ByTests
from f2sl.learners.local.lockstep import Questions, Search
from f2sl.stats.answers import DEPENDENT, INDEPENDENT, IndependenceTest


class GrowShrink(ByTests):
    """Base of the learners that condition on the whole set."""

    finds_blankets = True

    max_cond_vars: int | None = option("max_cond_vars", None)

    def blanket(self, test: IndependenceTest, target: int) -> Blanket:
        """Return an empty set with the variables that may join it."""
        return Blanket(test, target, self.candidates(test.n_variables, target))

    def may_grow(self, blanket: Blanket) -> bool:
        """Return whether candidates are left, and the set is not too large to condition on."""
        if len(blanket.members) == len(blanket.candidates):
            return False
        return self.max_cond_vars is None or len(blanket.members) <= self.max_cond_vars


@dataclass
class Blanket:
    """Set of a target that grows and shrinks, in order of admission; only `candidates` may join."""

    test: IndependenceTest
    target: int
    candidates: Integers
    members: list[int] = field(default_factory=list)
    weakest: dict[int, float] = field(default_factory=dict)
    apart: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def ask_outside(self) -> Search[tuple[Integers, Floats]]:
        """Test all variables outside the set given the set; return the dependent ones, with strengths."""
        inside = np.array(self.members, np.int64)
        others = np.setdiff1d(self.candidates, inside)
        given = np.broadcast_to(inside, (len(others), len(inside)))
        [answers] = yield [Questions(np.full(len(others), self.target), others, given)]
        for other in others[answers.answer == INDEPENDENT].tolist():
            self.apart[other] = tuple(self.members)
        dependent = answers.answer == DEPENDENT
        return others[dependent], answers.strength[dependent]

    def admit(self, variable: int, strength: float) -> None:
        """Add a variable to the set."""
        self.members.append(variable)
        self.weakest[variable] = strength
        self.apart.pop(variable, None)

    def admit_strongest(self) -> Search[bool]:
        """Add the variable most strongly associated given the set; return whether there was one."""
        found, strengths = yield from self.ask_outside()
        if not len(found):
            return False
        best = int(strongest_first(found, strengths)[0])
        self.admit(int(found[best]), float(strengths[best]))
        return True

    def shrink(self) -> Search[None]:
        """Drop the members that are independent of the target given the rest, in the order of admission.

        All remaining members are tested at once; after the first one is dropped, those behind it are tested
        again.
        """
        position = 0
        while position < len(self.members) > 0:
            members = np.array(self.members, np.int64)
            asked = members[position:]
            rest = np.array([np.delete(members, p) for p in range(position, len(members))], np.int64)
            given = rest.reshape(len(asked), len(members) - 1)
            [answers] = yield [Questions(np.full(len(asked), self.target), asked, given)]
            independent = (answers.answer == INDEPENDENT).nonzero()[0]
            upto = int(independent[0]) if len(independent) else len(asked)
            for p in range(upto):
                if answers.answer[p] == DEPENDENT:
                    variable = int(asked[p])
                    self.weakest[variable] = min(self.weakest[variable], float(answers.strength[p]))
            if not len(independent):
                return
            position += upto
            self.apart[self.members.pop(position)] = tuple(given[upto].tolist())

    def result(self) -> Neighborhood:
        """Return the set as it is, strongest first."""
        strengths = np.array([self.weakest[member] for member in self.members])
        return Neighborhood.ranked(np.array(self.members, np.int64), strengths, self.apart)


def shrink_all(
    test: IndependenceTest,
    target: int,
    members: dict[int, float],
    spouses: dict[int, float],
    apart: dict[int, tuple[int, ...]],
) -> Search[Neighborhood]:
    """Drop members that are independent of the target given the others, spouses first; return strengths."""
    blanket = Blanket(test, target, np.empty(0, np.int64), apart=apart)
    for variable, strength in ({x: s for x, s in spouses.items() if x not in members} | members).items():
        blanket.admit(variable, strength)
    yield from blanket.shrink()
    return blanket.result()


class GSMB(GrowShrink):
    """Markov blanket by growing in the order of association, then shrinking.

    Variables are taken in a fixed order, the most strongly associated with the target first (the paper
    leaves the order open; this is the one of Margaritis' thesis of 2003). The first in the order that
    depends on the target given the set joins it, until there is none; then the set shrinks.
    """

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the blanket of one target."""
        others = self.candidates(test.n_variables, target)
        alone = Questions(np.full(len(others), target), others, np.empty((len(others), 0), np.int64))
        [answers] = yield [alone]
        # Where nothing is known of the association, the variable comes last.
        order = others[strongest_first(others, np.nan_to_num(answers.strength, nan=-1.0))]
        rank = np.empty(test.n_variables, np.int64)
        rank[order] = np.arange(len(order))
        blanket = self.blanket(test, target)
        while self.may_grow(blanket):
            found, strengths = yield from blanket.ask_outside()
            if not len(found):
                break
            first = int(np.argmin(rank[found]))
            blanket.admit(int(found[first]), float(strengths[first]))
        yield from blanket.shrink()
        return blanket.result()


class IAMB(GrowShrink):
    """Markov blanket by growing with the strongest given the set, then shrinking.

    The variable most strongly associated with the target given the set joins it, as long as it depends on the
    target; then the set shrinks. Unlike in GSMB, the order is computed again after each variable, so fewer
    variables join that must leave again.
    """

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the blanket of one target."""
        blanket = self.blanket(test, target)
        while self.may_grow(blanket) and (yield from blanket.admit_strongest()):
            pass
        yield from blanket.shrink()
        return blanket.result()


class InterIAMB(GrowShrink):
    """Markov blanket by growing with the strongest given the set, shrinking after each.

    The set stays as small as possible, and so does the number of samples that the tests need. On data,
    answers can contradict each other, so that a variable is admitted and dropped again and again: the search
    ends when a set occurs for the second time.
    """

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the blanket of one target."""
        blanket = self.blanket(test, target)
        before: set[frozenset[int]] = {frozenset()}
        while self.may_grow(blanket) and (yield from blanket.admit_strongest()):
            yield from blanket.shrink()
            now = frozenset(blanket.members)
            if now in before:
                break
            before.add(now)
        return blanket.result()
