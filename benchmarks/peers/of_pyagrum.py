"""PyAgrum, in C++, all cores: hill climbing by BIC, MIIC with the MDL correction, PC at 0.01 and sets to 3.

Its database is made before the clock starts. Of MIIC's corrections MDL is the faster one and, on alarm, the
more accurate one.
"""

from __future__ import annotations

from typing import Any

import pyagrum as gum

from learners import ALPHA, Learn, Learner, pdag


def named(learner: Any, pairs: Any) -> list[tuple[str, str]]:
    return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in pairs]


def hill_climbing(frame: Any) -> Learn:
    learner = gum.BNLearner(frame)
    learner.useGreedyHillClimbing()
    learner.useScoreBIC()
    return lambda: pdag(frame.columns, named(learner, learner.learnDAG().arcs()), [])


def by_tests(frame: Any, learner: Any) -> Learn:
    def learn() -> Any:
        found = learner.learnPDAG()
        return pdag(frame.columns, named(learner, found.arcs()), named(learner, found.edges()))

    return learn


def miic(frame: Any) -> Learn:
    learner = gum.BNLearner(frame)
    learner.useMIIC()
    learner.useMDLCorrection()
    return by_tests(frame, learner)


def pc(frame: Any) -> Learn:
    learner = gum.BNLearner(frame)
    learner.usePC()
    learner.setPCAlpha(ALPHA)
    learner.setPCMaxCondSetSize(3)
    return by_tests(frame, learner)


LEARNERS: dict[str, Learner] = {"hill climbing": hill_climbing, "MIIC": miic, "PC": pc}
