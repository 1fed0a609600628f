"""BOSS: best order score search (Andrews, Ramsey, Sanchez-Romero, Camchong and Kummerfeld 2023).

BOSS uses neither tests nor candidates. It searches orders of all variables for the DAG with the best score;
the parents of each variable are grown and shrunk among the variables before it. Best insertions are repeated
until none improves the score. Then the order is perturbed and improved again, as in FLOP (Wienöbst, Henckel
and Weichwald 2025); the published BOSS ends with a backward search over equivalence classes instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from f2sl._options import option, whole
from f2sl.data.column import CONTINUOUS, DISCRETE
from f2sl.graph import DAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.f2sl_h import GAUSSIAN_SCORE, F2SLh, objective, search_again
from f2sl.learners.fit import Fit
from f2sl.learners.local_to_global import shared_options
from f2sl.search.growing import search_growing
from f2sl.stats.choose import check_choice
from f2sl.stats.scores.base import Score

if TYPE_CHECKING:
    from f2sl.search.growing.again import SearchAgain


class BOSS(StructureLearner):
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
    _watches_time = True

    _preferred: ClassVar[Mapping[str, str]] = {CONTINUOUS: GAUSSIAN_SCORE}

    score: str | Score = option("score", check=check_choice)
    equivalent_sample_size: float | None = option("equivalent_sample_size", None)
    edge_cost: float | None = option("edge_cost")
    max_parents: int | None = option("max_parents", check=partial(whole, least=1))
    effort: str = option("effort")
    stability: int | None = option("stability")
    random_state: int = option("random_state")

    def _for_replicates(self, fit: Fit) -> tuple[StructureLearner, SearchAgain | None]:
        score = self._preferring(fit.table.kind)["score"]
        if fit.table.kind != DISCRETE:
            unbound = objective(fit, score, self.equivalent_sample_size, self.edge_cost).score
            again = search_again(fit, unbound, self.edge_cost, self.max_parents)
            return BOSS(**{**self.get_params(), "effort": "fast"}), again
        # Rows that are drawn twice look like more evidence: among all variables that gives many states long
        # lists of parents (barley, 250 rows: 77 s to check the directions; 2 s among candidates).
        return F2SLh(**shared_options(self, F2SLh) | {"effort": "fast", "score": score}), None

    def _learn(self, fit: Fit) -> DAG:
        with fit.timed("search"):
            score = self._preferring(fit.table.kind)["score"]
            goal = objective(fit, score, self.equivalent_sample_size, self.edge_cost)
            found = search_growing(
                fit.engine,
                goal.score,
                [np.arange(len(fit.names))],
                edge_cost=goal.edge_cost,
                effort=self.effort,
                random_state=self.random_state,
                max_parents=self.max_parents,
                constraints=fit.constraints,
                deadline=fit.deadline,
            )
            graph = DAG.from_arrays(fit.names, found.arrows, weights_directed=found.losses)
        fit.found.update(score_=found.score, n_families_=found.n_families)
        if not found.complete and not fit.deadline.stopped:
            fit.deadline.stop("with more time the score may be higher")
        return graph
