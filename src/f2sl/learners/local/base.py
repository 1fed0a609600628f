"""Base of all learners of parents and children (PC).

A local learner finds, for one variable or for all, the variables that are adjacent to it.
It gets an engine that counts, works on variables by number (in the order of their
names, so that "the smaller number" means "the earlier name"), and returns a :class:`Neighborhood` or
all :class:`Neighborhoods`. Learners of Markov blankets, which also contain the children's other
parents, are local learners, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._estimator import Estimator
from f2sl._notes import Note, Use
from f2sl._options import option
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.data.column import wrong_kinds
from f2sl.errors import OptionError
from f2sl.knowledge import Knowledge
from f2sl.learners.local.lockstep import Search, answer_all, knowing, together
from f2sl.learners.local.subset_search import only_shown_spouses
from f2sl.stats.answers import IndependenceTest
from f2sl.stats.choose import WITHOUT_PRIOR, make_test, resolve_auto


@dataclass(frozen=True)
class Neighborhood:
    """Set of one variable, strongest first, with the strength of each edge.

    `separating_sets` has, for variables outside the set, the set found to make them independent of the
    target; algorithms without tests leave it empty. A search that ran out of time before its end is not
    `complete`; `notes` say so, and what else a user should know.
    """

    members: Integers
    strengths: Floats
    separating_sets: dict[int, tuple[int, ...]] = field(default_factory=dict)
    n_tests: int = 0
    n_inconclusive: int = 0
    complete: bool = True
    notes: tuple[Note, ...] = ()

    @classmethod
    def ranked(
        cls, members: Integers, strengths: Floats, separating_sets: dict[int, tuple[int, ...]] | None = None
    ) -> Neighborhood:
        """Return a set of members in any order."""
        order = strongest_first(members, strengths)
        return cls(members[order], strengths[order], separating_sets or {})

    @classmethod
    def of(
        cls, members: Mapping[int, float], separating_sets: dict[int, tuple[int, ...]] | None = None
    ) -> Neighborhood:
        """Return a set of members with the strength of each."""
        strengths = np.array(list(members.values()), np.float64)
        return cls.ranked(np.array(list(members), np.int64), strengths, separating_sets)


@dataclass(frozen=True)
class Neighborhoods:
    """Sets of all variables, flat.

    The set of variable v is ``members[start[v]:start[v + 1]]``, strongest first, with the strength of each
    edge in `strengths`. ``separating_sets[v, w]`` is the set found to make w independent of v when v was the
    target. ``finished[v]`` says whether the search for v finished; None means all did.
    """

    start: Integers
    members: Integers
    strengths: Floats
    separating_sets: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    n_tests: int = 0
    n_inconclusive: int = 0
    finished: NDArray[np.bool_] | None = None
    notes: tuple[Note, ...] = ()

    @property
    def complete(self) -> bool:
        """True if all searches finished."""
        return self.finished is None or bool(self.finished.all())

    def of(self, variable: int) -> tuple[Integers, Floats]:
        """Return the members of one variable's set, and their strengths."""
        part = slice(self.start[variable], self.start[variable + 1])
        return self.members[part], self.strengths[part]

    @property
    def owners(self) -> Integers:
        """Variable to whose set each member belongs."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def where(self, kept: NDArray[np.bool_]) -> Neighborhoods:
        """Return the sets with some of their members only."""
        sizes = np.bincount(self.owners[kept], minlength=len(self.start) - 1)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return replace(self, start=start, members=self.members[kept], strengths=self.strengths[kept])


def strongest_first(members: Integers, strengths: Floats) -> Integers:
    """Return the positions of the members by strength, equals in the order of their names."""
    return np.lexsort((members, -strengths))


def flatten(sets: Sequence[Neighborhood], n_tests: int = 0, n_inconclusive: int = 0) -> Neighborhoods:
    """Join the sets of variables 0, 1, 2, ... into one flat form."""
    start = np.concatenate([[0], np.cumsum([len(one.members) for one in sets])]).astype(np.int64)
    members = np.concatenate([one.members for one in sets]).astype(np.int64)
    strengths = np.concatenate([one.strengths for one in sets])
    separating = {(v, w): given for v, one in enumerate(sets) for w, given in one.separating_sets.items()}
    return Neighborhoods(start, members, strengths, separating, n_tests, n_inconclusive)


def apply_constraints(sets: Neighborhoods, rules: Constraints, blankets: bool = False) -> Neighborhoods:
    """Drop members that constraints forbid, and add required ones, with unknown strength (NaN).

    In blankets a forbidden adjacency does not matter if the two may be spouses.
    """
    each = [
        apply_constraints_to_one(Neighborhood(*sets.of(v)), v, rules, blankets)
        for v in range(len(sets.start) - 1)
    ]
    flat = flatten(each)
    return replace(sets, start=flat.start, members=flat.members, strengths=flat.strengths)


def apply_constraints_to_one(
    found: Neighborhood, target: int, rules: Constraints, blankets: bool = False
) -> Neighborhood:
    """Return the set of one variable under constraints, as `apply_constraints` does."""
    members = found.members
    kept = rules.allows_adjacency(np.full(len(members), target), members)
    if blankets and not kept.all():
        kept |= rules.may_be_in_blanket(target)[members]
    must = rules.must_be_in_blanket(target) if blankets else rules.must_be_adjacent(target)
    new = np.setdiff1d(must, members)
    strengths = np.where(np.isfinite(found.strengths), found.strengths, np.nan)[kept]
    members = np.concatenate([members[kept], new]).astype(np.int64)
    return replace(found, members=members, strengths=np.append(strengths, np.full(len(new), np.nan)))


def check_required_parents(learner: Any, rules: Constraints, names: Sequence[str]) -> None:
    """Raise an error if constraints require more parents than a learner's `max_parents`."""
    most = getattr(learner, "max_parents", None)
    numbers = np.bincount(rules.required[:, 1], minlength=len(names))
    if most is not None and numbers.max(initial=0) > most:
        named = ", ".join(f"{names[v]!r} ({numbers[v]})" for v in np.flatnonzero(numbers > most).tolist())
        requires = f" is {most}, but the knowledge requires more parents of {named}"
        raise OptionError(Use("max_parents"), requires)


def mutual(sets: Neighborhoods) -> Neighborhoods:
    """Keep the members of each set whose own sets contain its owner, or are not finished."""
    n, owners = len(sets.start) - 1, sets.owners
    agreed = np.isin(owners * n + sets.members, sets.members * n + owners)
    if sets.finished is not None:
        agreed |= ~sets.finished[sets.members]
    return sets.where(agreed)


class LocalLearner(Estimator):
    """Base of the local learners: options as fields, two questions as methods.

    Most algorithms make independence tests: they implement `search` for one target, as published, have the
    options `alpha` and `ci_test`, and may have `symmetry`. :meth:`learn_one` and :meth:`learn_all` run the
    search for one target or for all, side by side (:mod:`f2sl.learners.local.lockstep`). Others implement
    these two themselves. Of a learner by tests, the *strength* of an edge is minus the decimal logarithm of
    the p-value, the smallest of all tests of the edge: with ``alpha=0.01`` no tested edge is weaker than 2.

    An inconclusive test neither shows dependence nor separates. Tests without degrees of freedom, where
    within each stratum one of the two variables does not vary, are inconclusive here, too: they would make
    everything independent of the target given a set that determines it. Each algorithm says how it treats a
    pair that has too few samples even without a conditioning set.

    `_takes` lists the kinds of columns that the learner accepts: an engine counts states, or has the moments
    of numbers. `strength_unit` names the unit of the strengths of edges.
    """

    _takes: ClassVar[tuple[str, ...]] = ("discrete", "continuous", "mixed")
    _requires: ClassVar[tuple[tuple[str, str], ...]] = (("learn_one", "search"), ("learn_all", "search"))
    """Methods that a learner must have, each or the one in its place."""
    _ignores = WITHOUT_PRIOR
    finds_blankets: ClassVar[bool] = False
    """True if the sets are Markov blankets, which may contain variables without an edge to the target."""

    knowledge: Knowledge | None = option("knowledge")

    @property
    def strength_unit(self) -> str:
        """Name the unit of the strengths of edges."""
        return "-log10 p"

    @classmethod
    def _wrong_attribute(cls) -> str | None:
        """Return an error message for a wrong class attribute, or None."""
        return wrong_kinds(f"{cls.__name__}._takes", cls._takes)

    def with_constraints(self, rules: Constraints) -> Self:
        """Set the constraints, by variable number, that the learned sets obey; return the learner."""
        self._rules = rules
        return self

    @property
    def rules(self) -> Constraints | None:
        """Constraints of the learner, or None."""
        return getattr(self, "_rules", None) or None

    def candidates(self, n: int, target: int) -> Integers:
        """Return the variables, out of n, that may be in the set of one, in ascending order."""
        others = np.arange(n - 1)
        others[target:] += 1
        if self.rules is None:
            return others
        may = self.rules.may_be_in_blanket if self.finds_blankets else self.rules.may_be_adjacent
        return others[may(target)[others]]

    def resolve_auto(self, kind: str) -> Self:
        """Replace each "auto" by its meaning for this kind of data; return the learner."""
        return self.set_params(**resolve_auto(self.get_params(), kind))

    def learn_one(self, engine: Any, target: int) -> Neighborhood:
        """Find the set of one variable."""
        return self.find_one(self._test(engine), target)

    def learn_all(self, engine: Any) -> Neighborhoods:
        """Find the sets of all variables."""
        return self.find_all(self._test(engine))

    def search(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the set of one target by tests, as published."""
        raise NotImplementedError

    def search_all(self, test: IndependenceTest) -> Search[Neighborhoods]:
        """Find the sets of all variables by tests, side by side."""
        searches = (self._obedient(test, target) for target in range(test.n_variables))
        return flatten((yield from together(searches)))

    def find_one(self, test: IndependenceTest, target: int) -> Neighborhood:
        """Find the set of one variable with the answers of `test`; with `symmetry`, search members, too."""
        with stage("testing independence"):
            found = answer_all(self._obedient(test, target), test)
        if self._wants_mutual:
            with stage("testing whether neighbors agree"):
                searches = [self._obedient(test, member) for member in found.members.tolist()]
                theirs = answer_all(together(searches), test)
            agreed = np.array([target in one.members for one in theirs], np.bool_)
            found = replace(found, members=found.members[agreed], strengths=found.strengths[agreed])
        return replace(found, n_tests=test.n_tests, n_inconclusive=test.n_inconclusive)

    def find_all(self, test: IndependenceTest) -> Neighborhoods:
        """Find the sets of all variables with the answers of `test`."""
        with stage("testing independence"):
            found = answer_all(self.search_all(test), test)
        found = replace(found, n_tests=test.n_tests, n_inconclusive=test.n_inconclusive)
        return mutual(found) if self._wants_mutual else found

    def _obedient(self, test: IndependenceTest, target: int) -> Search[Neighborhood]:
        """Find the set of one target, under the constraints if there are any."""
        if self.rules is None:
            return self.search(test, target)
        found = knowing(self.search(test, target), self.rules)
        return only_shown_spouses(found, test, target, self.rules) if self.finds_blankets else found

    @property
    def makes_tests(self) -> bool:
        """True if the learner makes independence tests, by a `search` of its own."""
        return type(self).search is not LocalLearner.search

    @property
    def _wants_mutual(self) -> bool:
        """True if neighbors that do not name the target in turn are dropped."""
        return not self.finds_blankets and getattr(self, "symmetry", "none") != "none"

    def _test(self, engine: Any) -> IndependenceTest:
        # Where nothing varies nothing is separated: so the F2SL paper's figures come out.
        options = self.get_params()
        return make_test(engine, options["alpha"], options["ci_test"], without_freedom="inconclusive")
