"""SLL+C and SLL+G (Niinimäki and Parviainen 2012), and the steps that GGSL shares with them.

They find the best networks around each variable with the local learners by score
(`local/by_score.py`). Like these they can be stopped by a time limit or by Ctrl-C; the result is then
a partial graph, marked as incomplete.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from f2sl._arrays import Integers
from f2sl._deadline import keeping, limited
from f2sl._options import option
from f2sl.errors import Interrupted
from f2sl.graph import PDAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import Fit
from f2sl.learners.local.by_score import Found, Run, network_option
from f2sl.learners.local.sll import blanket, explore_blankets, explore_neighbors
from f2sl.learners.local_to_global import orient_by_score
from f2sl.learners.skeleton import Skeleton, constrained, join
from f2sl.stats.choose import make_score
from f2sl.stats.scores.base import Score


def learn_by_best_networks(
    fit: Fit,
    run: Run,
    explore: Callable[[], None],
    orient: Callable[[Skeleton], PDAG],
    how_far: Callable[[], str],
) -> PDAG:
    """Find the surroundings of all variables, as far as time allows, and orient the edges found.

    After a time limit or Ctrl-C, `orient` does only what takes no time, and a note says `how_far` it got.
    """

    def finish() -> PDAG:
        with fit.timed("skeleton"):
            near = run.near_sets()
            fit.found.update(pc_=fit.by_name(near))
            skeleton = constrained(join(near, "and"), fit.constraints)
            fit.keep_skeleton(skeleton)
        with fit.timed("orientation"):
            return orient(skeleton)

    try:
        with fit.timed("neighbors"):
            explore()
        graph = finish()
    except KeyboardInterrupt:
        run.interrupted = True
        graph = finish()
    fit.complete = not (run.out_of_time or run.interrupted)
    fit.notes += run.notes(how_far())
    fit.found.update(n_exact_=run.grower.n_exact, n_climbed_=run.grower.n_climbed)
    if run.interrupted:
        raise Interrupted(graph)
    return graph


def finished_part(run: Run) -> str:
    """Return how many variables were finished."""
    return f"with {len(run.found):,} of {run.n:,} variables finished"


class SLLc(StructureLearner):
    """Learn a partially directed graph: SLL, symmetry, v-structures of spouses, Meek's rules.

    T and its spouse have a common child C: T -> C <- spouse is a v-structure if both are adjacent to C but
    not to each other. If v-structures claim opposite directions, the majority decides; then Meek's rules are
    applied. No independence test is made.

    Attributes
    ----------
    graph_ : PDAG
        The learned graph. The weight of an edge is the loss in score without it.
    pc_ : dict of str to list of str
        The neighbors found for each variable, strongest first, before they were joined; empty if the search
        was stopped early.
    skeleton_ : PDAG
        All edges, undirected.
    n_exact_, n_climbed_ : int
        Number of networks found exactly, and by hill climbing because they were too large.
    blankets_ : dict of str to list of str
        The Markov blanket of each variable, strongest first.
    v_structures_ : list of (str, str, str)
        The triples (A, C, D) found to be A -> C <- D.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.SLLc().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.neighbors("smoke"))
    ['bronc', 'lung']
    """

    _takes = ("discrete",)
    strength_unit = "log score"
    _watches_time = True

    score: str | Score = network_option("score")
    equivalent_sample_size: float = network_option("equivalent_sample_size")
    order: str = network_option("order")
    ties: str = network_option("ties")
    max_exact: int = network_option("max_exact")
    max_parents: int | None = network_option("max_parents")
    time_limit: float | None = network_option("time_limit")

    def _learn(self, fit: Fit) -> PDAG:
        run = Run(self, fit.engine, fit.constraints or None)

        def orient(skeleton: Skeleton) -> PDAG:
            blankets = run.sets({target: blanket(run, target) for target in run.spouses}, run.spouses)
            fit.found.update(blankets_=fit.by_name(blankets))
            return fit.oriented(skeleton, v_structures_of_spouses(run.spouses, skeleton))

        def how_far() -> str:
            if len(run.found) < run.n:
                return finished_part(run)
            return f"with the spouses of {len(run.spouses):,} of {run.n:,} variables found"

        return learn_by_best_networks(fit, run, partial(explore_blankets, run), orient, how_far)


def v_structures_of_spouses(found: Found, skeleton: Skeleton) -> Integers:
    """List the v-structures that spouses show, as rows (A, C, D) with A < D, each once."""
    shown = {
        (min(target, spouse), child, max(target, spouse))
        for target, around in found.items()
        for spouse, children in around.children.items()
        for child in children
    }
    triples = np.array(sorted(shown), np.int64).reshape(-1, 3)
    a, c, d = triples.T
    return np.asarray(triples[skeleton.adjacent(a, c) & skeleton.adjacent(c, d) & ~skeleton.adjacent(a, d)])


class SLLg(StructureLearner):
    """Learn a DAG: SLL-PC, symmetry, then hill climbing on the same score over the edges of the skeleton.

    Hill climbing uses the same score with the same prior on parameters, and no prior on edges.

    Attributes
    ----------
    graph_ : PDAG
        CPDAG of the best DAG found; the edges found if the time limit was reached before the climb.
    pc_ : dict of str to list of str
        The neighbors found for each variable, strongest first, before they were joined; empty if the search
        was stopped early.
    skeleton_ : PDAG
        All edges, undirected.
    n_exact_, n_climbed_ : int
        Number of networks found exactly, and by hill climbing because they were too large.
    score_ : float
        The log score of `dag_`.
    n_steps_, n_families_ : int
        Steps of the climb, and families scored on the way.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.SLLg().fit(f2sl.load_example("asia")).dag_.is_dag()
    True
    """

    _takes = ("discrete",)
    strength_unit = "log score"
    _watches_time = True

    score: str | Score = network_option("score")
    equivalent_sample_size: float = network_option("equivalent_sample_size")
    order: str = network_option("order")
    ties: str = network_option("ties")
    max_exact: int = network_option("max_exact")
    max_parents: int | None = network_option("max_parents")
    time_limit: float | None = network_option("time_limit")
    tabu_length: int = option("tabu_length")
    max_stall: int = option("max_stall")
    stability: int | None = option("stability")

    def _learn(self, fit: Fit) -> PDAG:
        run = Run(self, fit.engine, fit.constraints or None)

        def how_far() -> str:
            return "during hill climbing" if len(run.found) == run.n else finished_part(run)

        explore, orient = partial(explore_neighbors, run), partial(self._climbed, fit, run)
        return learn_by_best_networks(fit, run, explore, orient, how_far)

    def _climbed(self, fit: Fit, run: Run, skeleton: Skeleton) -> PDAG:
        """Return the best DAG within the skeleton; after an interrupt, the edges."""
        graph = fit.undirected(skeleton)
        if run.interrupted or run.out_of_time:
            return graph
        from f2sl.search.hill_climbing import Admissible

        score = make_score(run.grower.scores.engine, self.score, self.equivalent_sample_size)
        with limited(run.deadline), keeping("hill climbing did not begin"):
            graph, climbed = orient_by_score(
                skeleton,
                fit.names,
                score if self.max_parents is None else Admissible(score, self.max_parents),
                edge_log_prior=0.0,
                tabu_length=self.tabu_length,
                max_stall=self.max_stall,
                constraints=fit.constraints,
            )
            fit.found.update(score_=climbed.score, n_steps_=climbed.steps, n_families_=score.n_families)
        run.interrupted, run.out_of_time = run.deadline.interrupted, run.deadline.stopped
        return graph
