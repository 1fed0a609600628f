"""Base of all learners of parents and children (PC).

A local learner finds, for one variable or for all, the variables that are directly linked to it.
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
from f2sl._options import any_of, option
from f2sl._registry import Registry
from f2sl.constraints import Constraints
from f2sl.data.column import wrong_kinds
from f2sl.errors import OptionError
from f2sl.knowledge import Knowledge
from f2sl.stats.choose import check_choice, measure_unit, resolve_auto
from f2sl.stats.measures.base import Measure
from f2sl.stats.tests.base import CITest

LOCAL = Registry("PC algorithm", "f2sl.learners.local.base:LocalLearner")
LOCAL.add_all(
    "f2sl.learners.local",
    """
fcbf            fcbf:FCBF                Yu and Liu 2004
    relevant by SU (of real numbers, r^2), redundant by approximate blankets: the core of F2SL
fcbf-confirmed  confirmed:ConfirmedFCBF  f2sl
    relevant by significance, redundant where a test confirms it: the first step of F2SL-h
mrmr            mrmr:MRMR                Peng, Long and Ding 2005
    the k best by relevance minus mean redundancy
mmpc            mmpc:MMPC                Tsamardinos and others 2006
    the best by their weakest association given any of the others
hiton-pc        hiton_pc:HITONPC         Aliferis and others 2003
    by association, dropping what some of the others separate, after each
pc-simple       pc_simple:PCSimple       Bühlmann and others 2010
    drops what sets of 1, 2, 3, ... of the others separate
sll-pc          sll:SLLPC                Niinimäki and Parviainen 2012
    neighbors of the target in the best network with each candidate, if they name the target, too
s2tmb-pc        s2tmb:S2TMBPC            Gao and Ji 2017
    neighbors of the target in the best network that also has its spouses
""",
)

MARKOV_BLANKET = Registry("Markov-blanket algorithm", "f2sl.learners.local.base:LocalLearner")
MARKOV_BLANKET.add_all(
    "f2sl.learners.local",
    """
gsmb        grow_shrink:GSMB        Margaritis and Thrun 2000
    grows by dependence given the set, in the order of association, then shrinks
iamb        grow_shrink:IAMB        Tsamardinos and others 2003
    grows by the strongest association given the set, then shrinks
inter-iamb  grow_shrink:InterIAMB   Tsamardinos and others 2003
    IAMB that shrinks after each variable it lets in
hiton-mb    by_neighbors:HITONMB   Aliferis and others 2003
    HITON-PC, then spouses shown by a common child
mmmb        by_neighbors:MMMB      Tsamardinos and others 2003
    MMPC, then spouses shown by a common child
pcmb        by_neighbors:PCMB      Peña and others 2007
    parents and children that both ends name, then spouses
stmb        stmb:STMB               Gao and Ji 2017
    parents and children with spouses, from the target alone
bamb        bamb:BAMB               Ling and others 2019
    parents and children and spouses in alternation
tc          tc_blankets:TCBlankets  Pellet and Elisseeff 2008
    correlated given all others, from the inverse correlation matrix; real numbers
sll         sll:SLL                 Niinimäki and Parviainen 2012
    neighbors by best networks, then spouses among their neighbors
s2tmb       s2tmb:S2TMB             Gao and Ji 2017
    neighbors and spouses in one best network
""",
)


@dataclass(frozen=True)
class Neighborhood:
    """Set of one variable, strongest first, with the strength of each link.

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
    link in `strengths`. ``separating_sets[v, w]`` is the set found to make w independent of v when v was the
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
    """Return the places of the members by strength, equals in the order of their names."""
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

    In blankets a forbidden link does not matter if the two may be spouses.
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

    `takes` lists the kinds of columns that it accepts: an engine counts states, or has the moments of
    numbers. `strength_unit` names the unit of the strengths of links.
    """

    takes: ClassVar[tuple[str, ...]] = ("discrete", "continuous", "mixed")
    strength_unit: ClassVar[str] = "strength"
    requires: ClassVar[tuple[str, ...]] = ("learn_one", "learn_all")
    """Methods that a learner must have."""
    finds_blankets: ClassVar[bool] = False
    """True if the sets are Markov blankets, which may contain variables without a link to the target."""

    knowledge: Knowledge | None = option("knowledge")

    @classmethod
    def wrong_attribute(cls) -> str | None:
        """Return an error message for a wrong class attribute, or None."""
        return wrong_kinds(f"{cls.__name__}.takes", cls.takes)

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
        raise NotImplementedError

    def learn_all(self, engine: Any) -> Neighborhoods:
        """Find the sets of all variables."""
        raise NotImplementedError


class WithTests(Estimator):
    """Options of independence tests."""

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)


class WithSymmetry(Estimator):
    """Option to drop links that only one end names."""

    symmetry: str = option("symmetry", check=any_of("and", "none"))


class WithMeasure(LocalLearner):
    """Option for the measure of how strongly two variables are related, the strength of their link."""

    measure: str | Measure = option("measure", check=check_choice)

    @property
    def strength_unit(self) -> str:  # type: ignore[override]
        """Name the unit of the strengths of links."""
        return measure_unit(self.measure)
