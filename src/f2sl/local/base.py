"""What all learners of parents and children (PC) share.

A local learner finds, for one variable or for all, the variables that are directly linked to it.
It is told an engine that counts, works on variables by number (in the order of their
names, so that "the smaller number" means "the earlier name"), and returns :class:`Neighbourhoods`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from f2sl._estimator import Estimator
from f2sl._registry import Registry
from f2sl.counting.protocol import CountingEngine, Floats, Integers

LOCAL = Registry("PC algorithm")
LOCAL.add(
    "fcbf",
    "f2sl.local.fcbf:FCBF",
    "relevant by SU, redundant by approximate blankets: the core of F2SL",
    "Yu and Liu 2004",
)
LOCAL.add(
    "mrmr",
    "f2sl.local.mrmr:MRMR",
    "the k best by relevance minus mean redundancy",
    "Peng, Long and Ding 2005",
)


@dataclass(frozen=True)
class Neighbourhoods:
    """The PC sets of all variables, flat.

    The set of variable v is ``members[start[v]:start[v + 1]]``, strongest first, with the
    strength of each link in `strengths`.
    """

    start: Integers
    members: Integers
    strengths: Floats

    def of(self, variable: int) -> tuple[Integers, Floats]:
        """Members of one variable's set, and their strengths."""
        part = slice(self.start[variable], self.start[variable + 1])
        return self.members[part], self.strengths[part]


def flatten(sets: list[tuple[Integers, Floats]]) -> Neighbourhoods:
    """Join the sets of variables 0, 1, 2, ... into one flat form."""
    start = np.concatenate([[0], np.cumsum([len(members) for members, _ in sets])]).astype(np.int64)
    members = np.concatenate([members for members, _ in sets]).astype(np.int64)
    return Neighbourhoods(start, members, np.concatenate([strengths for _, strengths in sets]))


class LocalLearner(Estimator):
    """Base of the PC learners: options in the constructor, two questions as methods."""

    def check_options(self) -> None:
        """Refuse options that make no sense."""
        raise NotImplementedError

    def learn_one(self, engine: CountingEngine, target: int) -> tuple[Integers, Floats]:
        """Find the PC set of one variable, strongest first, with strengths."""
        raise NotImplementedError

    def learn_all(self, engine: CountingEngine) -> Neighbourhoods:
        """Find the PC sets of all variables."""
        raise NotImplementedError
