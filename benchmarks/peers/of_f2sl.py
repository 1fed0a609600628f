"""What f2sl has for tables of states, each with its defaults (significance 0.01, sets of at most 3)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

import f2sl
from f2sl.counting.memory import MemoryEngine
from f2sl.search.hill_climbing import hill_climb
from f2sl.stats.scores import FamilyScore
from learners import Learn, Learner


def by_name(algorithm: str, **options: Any) -> Learner:
    """Make a learner of one of f2sl's registered algorithms."""

    def prepare(frame: Any) -> Learn:
        return lambda: f2sl.learn(frame, algorithm=algorithm, **options).graph_

    return prepare


def hill_climbing(frame: Any) -> Learn:
    """Hill climbing over all pairs by BIC: no skeleton, and no tabu list."""

    def learn() -> f2sl.PDAG:
        table = f2sl.as_table(frame).in_name_order()
        edges = np.array(list(combinations(range(table.n_variables), 2)))
        with MemoryEngine(table) as engine:
            found = hill_climb(FamilyScore(engine, "bic"), table.n_variables, edges, max_stall=1)
        return f2sl.DAG.from_arrays(table.names, found.arrows)

    return learn


LEARNERS: dict[str, Learner] = {
    "F2SL-c": by_name("f2sl-c"),
    "F2SL-s": by_name("f2sl-s"),
    "F2SL-h": by_name("f2sl-h"),
    "GSBN": by_name("gsbn"),
    "MMPC": by_name("local-to-global", pc="mmpc", skeleton_only=True),
    "MMHC": by_name("mmhc"),
    "MMHC-c": by_name("mmhc-c"),
    "PC-stable": by_name("pc-stable"),
    "hill climbing": hill_climbing,
    "SLL+C": by_name("sll+c"),
    "SLL+G": by_name("sll+g"),
    "GGSL": by_name("ggsl"),
    "NOTEARS": by_name("notears"),
    "DAG-GNN": by_name("dag-gnn"),
}
