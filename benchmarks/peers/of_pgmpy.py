"""Pgmpy, in Python: PC at 0.01 with sets of at most 3, hill climbing by BIC, MMHC with its defaults.

PC is the one of ``pgmpy.causal_discovery``, many times as fast as the older one of ``pgmpy.estimators``; its
"stable" variant on one core was faster on alarm than the "parallel" one on two. MMHC exists only in the older
module.
"""

from __future__ import annotations

from typing import Any

from pgmpy.causal_discovery import PC, HillClimbSearch
from pgmpy.estimators import MmhcEstimator

from learners import ALPHA, Learn, Learner, pdag


def pc(frame: Any) -> Learn:
    model = PC(
        variant="stable", ci_test="g_sq", significance_level=ALPHA, max_cond_vars=3, show_progress=False
    )

    def learn() -> Any:
        found = model.fit(frame).causal_graph_
        return pdag(frame.columns, found.directed_edges, found.undirected_edges)

    return learn


def hill_climbing(frame: Any) -> Learn:
    model = HillClimbSearch(scoring_method="bic-d", return_type="dag", show_progress=False)
    return lambda: pdag(frame.columns, model.fit(frame).causal_graph_.edges(), [])


def mmhc(frame: Any) -> Learn:
    return lambda: pdag(frame.columns, MmhcEstimator(frame).estimate(significance_level=ALPHA).edges(), [])


LEARNERS: dict[str, Learner] = {"PC": pc, "hill climbing": hill_climbing, "MMHC": mmhc}
