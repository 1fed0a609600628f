"""Base of the local learners that make independence tests.

Each algorithm is a *search* for one target (`local/lockstep.py`). This module runs it for one target
or for all, on an engine's tables or on any object that answers questions of independence. The *strength* of a
link is minus the decimal logarithm of the p-value, the smallest of all tests of the link. With ``alpha=0.01``
no tested link is weaker than 2.

An inconclusive test neither shows dependence nor separates. Tests without degrees of freedom, where within
each stratum one of the two variables does not vary, are inconclusive here, too: they would make everything
independent of the target given a set that determines it. Each algorithm says how it treats a pair that has
too few samples even without a conditioning set.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.data.engines import Engine
from f2sl.learners.local.base import (
    LocalLearner,
    Neighborhood,
    Neighborhoods,
    WithSymmetry,
    WithTests,
    flatten,
    mutual,
)
from f2sl.learners.local.lockstep import Questions, Search, answer_all, knowing, together
from f2sl.learners.local.subset_search import separations
from f2sl.stats.answers import DEPENDENT, INCONCLUSIVE, INDEPENDENT, IndependenceTest
from f2sl.stats.choose import make_test

MOST_BETWEEN_SPOUSES = 3
"""Size of sets that separate two variables whose link is forbidden, and that can only be spouses."""


class ByTests(LocalLearner, WithTests):
    """Base of the local learners by independence tests."""

    strength_unit = "-log10 p"
    requires = ("search",)

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the set of one target, as published."""
        raise NotImplementedError

    def learn_one(self, engine: Engine, target: int) -> Neighborhood:
        """Find the set of one variable."""
        return self.find_one(self._test(engine), target)

    def learn_all(self, engine: Engine) -> Neighborhoods:
        """Find the sets of all variables, side by side."""
        return self.find_all(self._test(engine))

    def find_one(self, test: IndependenceTest, target: int) -> Neighborhood:
        """Find the set of one variable with the answers of `test`."""
        with stage("testing independence"):
            found = answer_all(self._obedient(test, target), test)
        return replace(found, n_tests=test.n_tests, n_inconclusive=test.n_inconclusive)

    def find_all(self, test: IndependenceTest) -> Neighborhoods:
        """Find the sets of all variables with the answers of `test`."""
        with stage("testing independence"):
            found = answer_all(self.search_all(test), test)
        return replace(found, n_tests=test.n_tests, n_inconclusive=test.n_inconclusive)

    def search_all(self, test: IndependenceTest) -> Search[Neighborhoods]:
        """Find the sets of all variables, side by side, as published."""
        searches = (self._obedient(test, target) for target in range(test.n_variables))
        return flatten((yield from together(searches)))

    def _obedient(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the set of one target, under the constraints if there are any."""
        if self.rules is None:
            return self.search(test, target)
        found = knowing(self.search(test, target), self.rules)
        return only_shown_spouses(found, test, target, self.rules) if self.finds_blankets else found

    def _test(self, engine: Engine) -> IndependenceTest:
        # Where nothing varies nothing is separated: so the F2SL paper's figures come out.
        return make_test(engine, self.alpha, self.ci_test, without_freedom="inconclusive")


class SymmetricByTests(ByTests, WithSymmetry):
    """Base of the PC learners with optional symmetry."""

    def find_one(self, test: IndependenceTest, target: int) -> Neighborhood:
        """Find the set of one variable; with symmetry, search the members' sets as well."""
        found = super().find_one(test, target)
        if self.symmetry == "none":
            return found
        with stage("testing whether neighbors agree"):
            searches = [self._obedient(test, member) for member in found.members.tolist()]
            theirs = answer_all(together(searches), test)
        agreed = np.array([target in one.members for one in theirs], np.bool_)
        return replace(
            found,
            members=found.members[agreed],
            strengths=found.strengths[agreed],
            n_tests=test.n_tests,
            n_inconclusive=test.n_inconclusive,
        )

    def find_all(self, test: IndependenceTest) -> Neighborhoods:
        """Find the sets of all variables; with symmetry, drop links that only one end names."""
        found = super().find_all(test)
        return found if self.symmetry == "none" else mutual(found)


def only_shown_spouses(
    search: Search[Neighborhood], test: IndependenceTest, target: int, rules: Constraints
) -> Search[Neighborhood]:
    """Drop members of a blanket whose link to the target is forbidden, unless they are shown to be spouses.

    They are if a set separates the two, and they become dependent given also a member that may be a child of
    both.
    """
    found = yield from search
    members = found.members
    linked = rules.allows_adjacency(np.full(len(members), target), members)
    if linked.all():
        return found
    separated = yield from separations(
        test, target, members[~linked], members, MOST_BETWEEN_SPOUSES, known=0.0
    )
    asked = [
        (other, (*given, int(child)))
        for other, given in separated.first_sets.items()
        for child in members.tolist()
        if child not in (other, *given) and rules.allows(np.array([target, other]), np.array([child])).all()
    ]
    answers = yield [
        Questions(np.array([target]), np.array([other]), np.array([given])) for other, given in asked
    ]
    shown = [o for (o, _), one in zip(asked, answers, strict=True) if one.answer[0] == DEPENDENT]
    kept = linked | np.isin(members, shown)
    return replace(found, members=members[kept], strengths=found.strengths[kept])


def marginal_strengths(
    target: int, others: Integers, *, keep_inconclusive: bool = False
) -> Search[tuple[Integers, Floats, dict[int, tuple[int, ...]]]]:
    """Test the target with each of some other variables alone.

    Returns the variables that depend on the target, in the order of their names, with the strength of each,
    and the empty separating sets of those that do not. If the test is inconclusive, a variable is in neither,
    unless it is to be kept: then its strength is 0.
    """
    [answers] = yield [Questions(np.full(len(others), target), others, np.empty((len(others), 0), np.int64))]
    apart = answers.answer == INDEPENDENT
    chosen = ~apart if keep_inconclusive else answers.answer == DEPENDENT
    strengths = np.where(answers.answer == INCONCLUSIVE, 0.0, answers.strength)
    return others[chosen], strengths[chosen], dict.fromkeys(others[apart].tolist(), ())
