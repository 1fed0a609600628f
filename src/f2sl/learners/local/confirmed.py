"""Parents and children by feature selection that independence tests confirm: the first step of F2SL-h.

FCBF (:mod:`f2sl.learners.local.fcbf`) treats a pair as related above a fixed delta, and decides redundancy by
comparing two numbers. Both lose true neighbors, however many samples there are. Here, for a target C:

1. *Relevance by significance.* Candidates are the variables that a test of independence finds related to C,
   at a level corrected for the number of all pairs; strongest first, by symmetrical uncertainty SU.
2. *Redundancy, confirmed.* In that order each kept candidate X puts in doubt every weaker Y that is closer to
   X than to C: SU(X, Y) >= SU(Y, C). Such a Y is dropped only if a test finds it independent of C given X.
   Each doubt takes one test; if the test is inconclusive, Y stays.
3. *Clean-up* (with ``clean_up`` of 1 or more). A kept candidate is dropped if beside up to this many of the
   strongest others it leaves no trace of dependence on C, with a p-value above `NO_TRACE`; the weakest is
   tried first.

The doubts of all targets are decided in rounds: each round tests every candidate whose next doubt comes from
a candidate that is certain to be kept.

A test of redundancy needs one sample for each cell of its table (`SAMPLES_PER_CELL`), not five: it has only
one conditioning variable, and dropping a true neighbor costs more than keeping a false one, which a score
may still reject. The clean-up asks many more questions of each candidate, of which one answer is enough to
drop it. At the usual level a weak neighbor would fall to one of them by chance. A pair that is independent
given some others has a p-value above one half half the time, for each set that separates it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from f2sl._options import option
from f2sl._progress import stage
from f2sl.data.engines import Engine
from f2sl.learners.local.base import LocalLearner, Neighborhood, Neighborhoods
from f2sl.learners.local.fcbf import redundancy_margin, relevance_graph
from f2sl.learners.local.lockstep import answer_all
from f2sl.learners.local.subset_search import SubsetQuestions, separations_of_all
from f2sl.stats.answers import INDEPENDENT, IndependenceTest
from f2sl.stats.choose import check_choice, make_test, measure_unit, significant_pairs
from f2sl.stats.measures.base import Measure
from f2sl.stats.tests.base import CITest

SAMPLES_PER_CELL = 1.0
NO_TRACE = 0.5
"""Level of the tests of the clean-up."""
MOST_SEPARATING = 16
"""Candidates by which the clean-up tries to separate the others, the strongest: pairs of a hundred would take
minutes."""
DOUBTS_AT_ONCE = 200_000


class ConfirmedFCBF(LocalLearner):
    """Parents and children by feature selection that tests confirm."""

    relevance: str = option("relevance")
    alpha: float = option("alpha")
    clean_up: int = option("clean_up")
    ties: str = option("ties")
    measure: str | Measure = option("measure", check=check_choice)
    ci_test: str | CITest = option("ci_test", check=check_choice)

    @property
    def strength_unit(self) -> str:
        """Name the unit of the strengths of edges."""
        return measure_unit(self.measure)

    def learn_one(self, engine: Engine, target: int) -> Neighborhood:
        """Find the set of one variable; all pairs of the table are needed to decide which are significant."""
        relevant = self.relevant(engine)
        test, strict = self.test(engine), self.strict_test(engine)
        sets = self._cleaned(self.confirm(relevant, test, target, target + 1), strict)
        n_tests, n_inconclusive = test.n_tests + strict.n_tests, test.n_inconclusive + strict.n_inconclusive
        return Neighborhood(*sets.of(target), {}, n_tests, n_inconclusive)

    def learn_all(self, engine: Engine) -> Neighborhoods:
        """Find the sets of all variables."""
        return self.select(self.relevant(engine), self.test(engine), self.strict_test(engine))

    def relevant(self, engine: Engine) -> Neighborhoods:
        """Find the candidates of all variables, strongest first (step 1)."""
        with stage("measuring all pairs") as advance:
            search = significant_pairs(engine, self.relevance, measure=self.measure, rules=self.rules)
            pairs = search(advance=advance)
        return relevance_graph(engine.n_variables, pairs)

    def test(self, engine: Engine) -> IndependenceTest:
        """Return the test of step 2."""
        return make_test(engine, self.alpha, self.ci_test, samples_per_cell=SAMPLES_PER_CELL)

    def strict_test(self, engine: Engine) -> IndependenceTest:
        """Return the test of step 3."""
        return make_test(engine, max(self.alpha, NO_TRACE), self.ci_test)

    def select(
        self, relevant: Neighborhoods, test: IndependenceTest, strict: IndependenceTest
    ) -> Neighborhoods:
        """Do step 2 for all variables by the answers of `test`, and step 3 by those of `strict`."""
        kept = self._cleaned(self.confirm(relevant, test, 0, len(relevant.start) - 1), strict)
        n_tests, n_inconclusive = test.n_tests + strict.n_tests, test.n_inconclusive + strict.n_inconclusive
        return replace(kept, n_tests=n_tests, n_inconclusive=n_inconclusive)

    def confirm(
        self, relevant: Neighborhoods, test: IndependenceTest, first: int, last: int
    ) -> Neighborhoods:
        """Drop candidates that a stronger one makes independent, of targets `first` to `last` (step 2).

        The sets of other targets are empty.
        """
        from f2sl.learners.local import _kernels

        members, owners = relevant.members, relevant.owners
        fate = np.full(len(members), _kernels.UNDECIDED, np.int8)
        since = relevant.start[owners]
        doubted, by = np.empty(len(members), np.int64), np.empty(len(members), np.int64)
        margin = redundancy_margin(self.ties)
        with stage("confirming redundant neighbors"):
            while found := _kernels.next_doubts(
                relevant.start, members, relevant.strengths, first, last, margin, fate, since, doubted, by
            ):
                # Tests with the same target and X in sequence are counted together.
                in_runs = np.argsort(by[:found], kind="stable")
                for part in range(0, found, DOUBTS_AT_ONCE):
                    y, x = (positions[in_runs[part : part + DOUBTS_AT_ONCE]] for positions in (doubted, by))
                    answers = test.answer(owners[x], members[y], members[x][:, None])
                    fate[y[answers == INDEPENDENT]] = _kernels.DROPPED
                    since[y] = x + 1
        return relevant.where(fate == _kernels.KEPT)

    def _cleaned(self, sets: Neighborhoods, test: IndependenceTest) -> Neighborhoods:
        """Clean up the sets of all targets (step 3)."""
        if not self.clean_up:
            return sets
        n, owners = len(sets.start) - 1, sets.owners
        rank = np.arange(len(owners)) - sets.start[owners]
        separating, stays = rank < MOST_SEPARATING, np.ones(len(owners), np.bool_)
        targets, nothing = np.arange(n), np.empty((n, 0), np.int64)
        with stage("testing independence"):
            # Those that separate no other are tried at once, the others one after another. One set that
            # separates is enough, and sets of those that were dropped are not asked about.
            for tried in (
                ~separating,
                *(rank == position for position in range(MOST_SEPARATING - 1, -1, -1)),
            ):
                left = sets.where(separating & stays)
                members = np.zeros((n, MOST_SEPARATING), np.int64)
                members[left.owners, np.arange(len(left.members)) - left.start[left.owners]] = left.members
                asked = SubsetQuestions(
                    targets, owners[tried], sets.members[tried], members, np.diff(left.start)
                )
                known = np.zeros(len(asked.others))
                search = separations_of_all(
                    test, asked, self.clean_up, smallest=1, fixed=nothing, known=known
                )
                stays[tried] = ~answer_all(search, test).separated
        return sets.where(stays)
