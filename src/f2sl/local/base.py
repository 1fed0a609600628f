"""What all learners of parents and children (PC) share.

A local learner finds, for one variable or for all, the variables that are directly linked to it.
It is told an engine that counts, works on variables by number (in the order of their
names, so that "the smaller number" means "the earlier name"), and returns a :class:`Neighbourhood` or
all :class:`Neighbourhoods`. Learners of Markov blankets, which hold the children's other parents as
well, are local learners, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._estimator import Estimator
from f2sl._registry import Registry
from f2sl.stats.choose import settle

LOCAL = Registry("PC algorithm")
LOCAL.add(
    "fcbf",
    "f2sl.local.fcbf:FCBF",
    "relevant by SU (of real numbers, r^2), redundant by approximate blankets: the core of F2SL",
    "Yu and Liu 2004",
)
LOCAL.add(
    "fcbf-confirmed",
    "f2sl.local.confirmed:ConfirmedFCBF",
    "relevant by significance, redundant where a test confirms it: the first step of F2SL-h",
    "f2sl",
)
LOCAL.add(
    "mrmr",
    "f2sl.local.mrmr:MRMR",
    "the k best by relevance minus mean redundancy",
    "Peng, Long and Ding 2005",
)
LOCAL.add(
    "mmpc",
    "f2sl.local.mmpc:MMPC",
    "the best by their weakest association given any of the others",
    "Tsamardinos and others 2006",
)
LOCAL.add(
    "hiton-pc",
    "f2sl.local.hiton_pc:HITONPC",
    "by association, dropping what some of the others separate, after each",
    "Aliferis and others 2003",
)
LOCAL.add(
    "pc-simple",
    "f2sl.local.pc_simple:PCSimple",
    "drops what sets of 1, 2, 3, ... of the others separate",
    "Bühlmann and others 2010",
)
LOCAL.add(
    "sll-pc",
    "f2sl.local.sll_pc:SLLPC",
    "who stays linked in the best network with each candidate, and names the target",
    "Niinimäki and Parviainen 2012",
)
LOCAL.add(
    "s2tmb-pc",
    "f2sl.local.s2tmb_pc:S2TMBPC",
    "who is linked in the best network that holds the spouses as well",
    "Gao and Ji 2017",
)

MARKOV_BLANKET = Registry("Markov-blanket algorithm")
MARKOV_BLANKET.add(
    "gsmb",
    "f2sl.local.gsmb:GSMB",
    "grows by dependence given the set, in the order of association, then shrinks",
    "Margaritis and Thrun 2000",
)
MARKOV_BLANKET.add(
    "iamb",
    "f2sl.local.iamb:IAMB",
    "grows by the strongest association given the set, then shrinks",
    "Tsamardinos and others 2003",
)
MARKOV_BLANKET.add(
    "inter-iamb",
    "f2sl.local.inter_iamb:InterIAMB",
    "IAMB that shrinks after each variable it lets in",
    "Tsamardinos and others 2003",
)
MARKOV_BLANKET.add(
    "hiton-mb",
    "f2sl.local.hiton_mb:HITONMB",
    "HITON-PC, then spouses shown by a common child",
    "Aliferis and others 2003",
)
MARKOV_BLANKET.add(
    "mmmb",
    "f2sl.local.mmmb:MMMB",
    "MMPC, then spouses shown by a common child",
    "Tsamardinos and others 2003",
)
MARKOV_BLANKET.add(
    "pcmb",
    "f2sl.local.pcmb:PCMB",
    "parents and children that both ends name, then spouses",
    "Peña and others 2007",
)
MARKOV_BLANKET.add(
    "stmb",
    "f2sl.local.stmb:STMB",
    "parents and children with spouses, from the target alone",
    "Gao and Ji 2017",
)
MARKOV_BLANKET.add(
    "bamb",
    "f2sl.local.bamb:BAMB",
    "parents and children and spouses in alternation",
    "Ling and others 2019",
)
MARKOV_BLANKET.add(
    "tc",
    "f2sl.local.tc:TCBlankets",
    "correlated given all others, from the inverse correlation matrix; real numbers",
    "Pellet and Elisseeff 2008",
)
MARKOV_BLANKET.add(
    "sll",
    "f2sl.local.sll:SLL",
    "neighbours by best networks, then spouses among their neighbours",
    "Niinimäki and Parviainen 2012",
)
MARKOV_BLANKET.add(
    "s2tmb",
    "f2sl.local.s2tmb:S2TMB",
    "neighbours and spouses in one best network",
    "Gao and Ji 2017",
)


@dataclass(frozen=True)
class Neighbourhood:
    """The set of one variable, strongest first, with the strength of each link.

    `separating_sets` says of variables outside the set what was found to make them independent of the target;
    algorithms that make no tests leave it empty. A search that ran out of time before its end is not
    `complete`; `notes` say so, and what else a user should know.
    """

    members: Integers
    strengths: Floats
    separating_sets: dict[int, tuple[int, ...]] = field(default_factory=dict)
    n_tests: int = 0
    n_unreliable: int = 0
    complete: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Neighbourhoods:
    """The sets of all variables, flat.

    The set of variable v is ``members[start[v]:start[v + 1]]``, strongest first, with the
    strength of each link in `strengths`. ``separating_sets[v, w]`` is what was found to make w
    independent of v when v was the target. ``finished[v]`` says whether the search for v came to its end;
    None stands for all.
    """

    start: Integers
    members: Integers
    strengths: Floats
    separating_sets: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)
    n_tests: int = 0
    n_unreliable: int = 0
    finished: NDArray[np.bool_] | None = None
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all searches came to their end."""
        return self.finished is None or bool(self.finished.all())

    def of(self, variable: int) -> tuple[Integers, Floats]:
        """Members of one variable's set, and their strengths."""
        part = slice(self.start[variable], self.start[variable + 1])
        return self.members[part], self.strengths[part]

    @property
    def owners(self) -> Integers:
        """Whose set each member is in."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def where(self, kept: NDArray[np.bool_]) -> Neighbourhoods:
        """Give the sets with some of their members only."""
        sizes = np.bincount(self.owners[kept], minlength=len(self.start) - 1)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return replace(self, start=start, members=self.members[kept], strengths=self.strengths[kept])


def flatten(sets: Sequence[Neighbourhood], n_tests: int = 0, n_unreliable: int = 0) -> Neighbourhoods:
    """Join the sets of variables 0, 1, 2, ... into one flat form."""
    start = np.concatenate([[0], np.cumsum([len(one.members) for one in sets])]).astype(np.int64)
    members = np.concatenate([one.members for one in sets]).astype(np.int64)
    strengths = np.concatenate([one.strengths for one in sets])
    separating = {(v, w): given for v, one in enumerate(sets) for w, given in one.separating_sets.items()}
    return Neighbourhoods(start, members, strengths, separating, n_tests, n_unreliable)


def mutual(sets: Neighbourhoods) -> Neighbourhoods:
    """Keep the members of each set whose own set has its owner, or is not finished."""
    n, owners = len(sets.start) - 1, sets.owners
    agreed = np.isin(owners * n + sets.members, sets.members * n + owners)
    if sets.finished is not None:
        agreed |= ~sets.finished[sets.members]
    return sets.where(agreed)


class LocalLearner(Estimator):
    """Base of the local learners: options in the constructor, two questions as methods.

    `strength_unit` says in a word what the strengths of links are, and `kinds` what data it takes. An engine
    counts states or knows the moments of real numbers, according to these.
    """

    strength_unit = "strength"
    kinds: tuple[str, ...] = ("discrete",)

    def settled(self, kind: str) -> Self:
        """Give the learner with "auto" replaced by what it stands for with this kind of data."""
        return type(self)(**settle(self.get_params(), kind))

    def check_options(self) -> None:
        """Refuse options that make no sense."""
        raise NotImplementedError

    def learn_one(self, engine: Any, target: int) -> Neighbourhood:
        """Find the set of one variable."""
        raise NotImplementedError

    def learn_all(self, engine: Any) -> Neighbourhoods:
        """Find the sets of all variables."""
        raise NotImplementedError
