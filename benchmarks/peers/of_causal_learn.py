"""Causal-learn, in Python: PC with G2 at 0.01 and sets of at most 3, GES with BDeu.

Codes are made before the clock starts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from causallearn.search.ConstraintBased.PC import pc as run_pc
from causallearn.search.ScoreBased.GES import ges as run_ges

from learners import ALPHA, Learn, Learner, pdag


def codes(frame: Any) -> Any:
    return frame.apply(lambda column: column.cat.codes).to_numpy()


def as_pdag(frame: Any, marks: Any) -> Any:
    """Read its matrix: -1 at a tail and 1 at a head, in the row of the end that has the mark."""
    names = list(frame.columns)
    arrows = [(names[i], names[j]) for i, j in np.argwhere((marks == -1) & (marks.T == 1))]
    lines = [(names[i], names[j]) for i, j in np.argwhere((marks == marks.T) & (marks != 0)) if i < j]
    return pdag(names, arrows, lines)


def pc(frame: Any) -> Learn:
    data = codes(frame)
    return lambda: as_pdag(
        frame, run_pc(data, alpha=ALPHA, indep_test="gsq", stable=True, max_k=3, show_progress=False).G.graph
    )


def ges(frame: Any) -> Learn:
    data = codes(frame)
    return lambda: as_pdag(frame, run_ges(data, score_func="local_score_BDeu")["G"].graph)


LEARNERS: dict[str, Learner] = {"PC": pc, "GES": ges}
