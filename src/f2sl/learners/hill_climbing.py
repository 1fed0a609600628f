"""Hill climbing over all pairs of variables, plain and with a list of tabu graphs.

From the empty graph, each step adds, deletes or reverses the one edge that raises the score most
(:mod:`f2sl.search.hill_climbing`). Plain hill climbing ends where no step raises the score. Tabu search goes
on with the step that lowers it least, and does not return to recent graphs (Glover 1989). Neither makes tests
or restricts the candidates, so the first step scores all pairs.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from f2sl._options import option, whole
from f2sl._progress import stage
from f2sl.graph import DAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import Fit
from f2sl.stats.choose import check_choice, make_score
from f2sl.stats.scores.base import Score


class HillClimbing(StructureLearner):
    """Learn a DAG: hill climbing on a score over all pairs of variables.

    There is no penalty for edges besides the score: a result of :class:`ExactSearch` with the same score is
    at least as good. With `tabu_length` and a larger `max_stall` it becomes :class:`Tabu`.

    Attributes
    ----------
    graph_ : PDAG
        CPDAG of the best DAG found. The weight of an edge is the loss in score without it.
    dag_ : DAG
        The best DAG found.
    score_ : float
        Log score of `dag_`.
    n_steps_, n_families_ : int
        Steps of the climb, and families scored on the way.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.HillClimbing(score="bic").fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.neighbors("dysp"))
    ['bronc', 'either']
    """

    strength_unit = "log score"

    score: str | Score = option("score", check=check_choice)
    equivalent_sample_size: float = option("equivalent_sample_size")
    tabu_length: int = option("tabu_length", 0)
    max_stall: int = option("max_stall", 1)
    max_parents: int | None = option("max_parents", check=partial(whole, least=1))
    stability: int | None = option("stability")

    def _learn(self, fit: Fit) -> DAG:
        return climb_over_all_pairs(self, fit)


class Tabu(StructureLearner):
    """Learn a DAG: hill climbing on a score over all pairs of variables, with a list of tabu graphs.

    Where no step raises the score, the search goes on with the step that lowers it least, but not to one of
    the last `tabu_length` graphs; it ends after `max_stall` steps without a new best. Its score is never
    lower than that of :class:`HillClimbing` with the same options.

    Attributes
    ----------
    graph_, dag_, score_, n_steps_, n_families_
        As in :class:`HillClimbing`.

    Examples
    --------
    >>> import f2sl
    >>> asia = f2sl.load_example("asia")
    >>> f2sl.Tabu().fit(asia).score_ >= f2sl.HillClimbing().fit(asia).score_
    True
    """

    strength_unit = "log score"

    score: str | Score = option("score", check=check_choice)
    equivalent_sample_size: float = option("equivalent_sample_size")
    tabu_length: int = option("tabu_length")
    max_stall: int = option("max_stall")
    max_parents: int | None = option("max_parents", check=partial(whole, least=1))
    stability: int | None = option("stability")

    def _learn(self, fit: Fit) -> DAG:
        return climb_over_all_pairs(self, fit)


def climb_over_all_pairs(learner: HillClimbing | Tabu, fit: Fit) -> DAG:
    """Climb from the empty graph, with all pairs of variables as candidates."""
    from f2sl.search.hill_climbing import Admissible, hill_climb

    n = len(fit.names)
    score = make_score(fit.engine, learner.score, learner.equivalent_sample_size)
    families = score if learner.max_parents is None else Admissible(score, learner.max_parents)
    # Graphs have about as many edges as variables; those that take more steps show a full bar early.
    share = 1.0 / (2 * n + learner.max_stall)
    with fit.timed("search"), stage("hill climbing") as advance:
        climbed = hill_climb(
            families,
            n,
            np.column_stack(np.triu_indices(n, 1)),
            tabu_length=learner.tabu_length,
            max_stall=learner.max_stall,
            constraints=fit.constraints,
            on_step=lambda step, value: advance(share),
        )
    fit.found.update(score_=climbed.score, n_steps_=climbed.steps, n_families_=score.n_families)
    # Required edges have no strength: the climb never scores a graph without them.
    strengths = np.where(np.isinf(climbed.losses), np.nan, climbed.losses)
    return DAG.from_arrays(fit.names, climbed.arrows, weights_directed=strengths)
