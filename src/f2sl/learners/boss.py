"""BOSS: best order score search (Andrews, Ramsey, Sanchez-Romero, Camchong and Kummerfeld 2023).

BOSS uses neither tests nor candidates. It searches orders of all variables for the DAG with the best score;
the parents of each variable are grown and shrunk among the variables before it. Best insertions are repeated
until none improves the score. Then the order is perturbed and improved again, as in FLOP (Wienöbst, Henckel
and Weichwald 2025); the published BOSS ends with a backward search over equivalence classes instead.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from f2sl._options import option, whole
from f2sl.data.column import DISCRETE
from f2sl.data.engines import Engine
from f2sl.graph import DAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.f2sl_h import ByOrders, F2SLh
from f2sl.search.growing import search_growing


class BOSS(ByOrders):
    """Learn a DAG: the best score over orders, with parents grown and shrunk among all variables.

    On continuous tables, hundreds of variables take seconds. On discrete tables, each set of parents that is
    tried must be counted: tens of variables take seconds, hundreds take long.

    Attributes
    ----------
    graph_ : PDAG
        CPDAG of the best DAG found. The weight of an edge is the loss in score without it.
    dag_ : DAG
        The best DAG found.
    equivalent_sample_size_ : float
        Weight of the prior of BDeu or BDs; unused by other scores.
    edge_cost_ : float
        Penalty on the log score for each edge.
    score_ : float
        Log score of `dag_`, including the penalty for its edges.
    n_families_ : int
        Number of families scored; for numbers, only those of the result.

    Examples
    --------
    >>> import f2sl
    >>> frame = f2sl.random_network(10, 12, kind="continuous", random_state=1).sample(500, random_state=1)
    >>> model = f2sl.BOSS().fit(frame)
    >>> f2sl.BOSS(effort="thorough").fit(frame).score_ >= model.score_
    True
    """

    strength_unit = "log score"
    watches_time = True

    max_parents: int | None = option("max_parents", check=partial(whole, least=1))
    effort: str = option("effort")
    random_state: int = option("random_state")

    def _quick(self, kind: str) -> StructureLearner:
        if kind != DISCRETE:
            return super()._quick(kind)
        # Rows that are drawn twice look like more evidence: among all variables that gives many states long
        # lists of parents (barley, 250 rows: 77 s to check the directions; 2 s among candidates).
        return self._as(F2SLh, effort="fast", score=self._preferring(kind)["score"])

    def _learn(self, engine: Engine, names: tuple[str, ...]) -> DAG:
        with self._timed("search"):
            score = self._unbound_score(engine)
            found = search_growing(
                engine,
                score,
                [np.arange(len(names))],
                edge_cost=self.edge_cost_,
                effort=self.effort,
                random_state=self.random_state,
                max_parents=self.max_parents,
                constraints=self._constraints,
                deadline=self._deadline,
            )
            graph = DAG.from_arrays(names, found.arrows, weights_directed=found.losses)
        self.score_, self.n_families_ = found.score, found.n_families
        if not found.complete and not self._deadline.stopped:
            self._deadline.stop("with more time the score may be higher")
        return graph
