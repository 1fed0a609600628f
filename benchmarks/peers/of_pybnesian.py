"""PyBNesian, in C++: significance 0.01, Pearson's test, BDe with a sample of 10 or BIC."""

from __future__ import annotations

from typing import Any

import pybnesian as pbn

from learners import ALPHA, Learn, Learner, pdag


def as_pdag(frame: Any, found: Any) -> Any:
    return pdag(frame.columns, found.arcs(), found.edges())


def mmpc(frame: Any) -> Learn:
    return lambda: as_pdag(frame, pbn.MMPC().estimate(pbn.ChiSquare(frame), alpha=ALPHA))


def pc(frame: Any) -> Learn:
    return lambda: as_pdag(frame, pbn.PC().estimate(pbn.ChiSquare(frame), alpha=ALPHA))


def mmhc(frame: Any) -> Learn:
    def learn() -> Any:
        test, score = pbn.ChiSquare(frame), pbn.BDe(frame, iss=10)
        arcs = pbn.ArcOperatorSet()
        found = pbn.MMHC().estimate(test, arcs, score, bn_type=pbn.DiscreteBNType(), alpha=ALPHA)
        return pdag(frame.columns, found.arcs(), [])

    return learn


def hill_climbing(frame: Any) -> Learn:
    def learn() -> Any:
        found = pbn.hc(frame, bn_type=pbn.DiscreteBNType(), score="bic", operators=["arcs"])
        return pdag(frame.columns, found.arcs(), [])

    return learn


LEARNERS: dict[str, Learner] = {"MMPC": mmpc, "MMHC": mmhc, "PC": pc, "hill climbing": hill_climbing}
