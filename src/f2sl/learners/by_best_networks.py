"""SLL+C and SLL+G (Niinimäki and Parviainen 2012), and the base class that GGSL shares with them.

They find the best networks around each variable with the local learners by score
(`local/by_score.py`). Like these they can be stopped by a time limit or by Ctrl-C; the result is then
a partial graph, marked as incomplete.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from f2sl._arrays import Integers
from f2sl._deadline import keeping, limited
from f2sl._options import option
from f2sl.data.engines import CountingEngine
from f2sl.errors import Interrupted
from f2sl.graph import PDAG
from f2sl.learners.base import StructureLearner, WithClimbing
from f2sl.learners.local.by_score import ByScore, Found, Run, WithNetworks
from f2sl.learners.local.sll import SLL, SLLPC, blanket
from f2sl.learners.skeleton import Skeleton, constrained, join
from f2sl.stats.choose import make_score


class ByBestNetworks(StructureLearner, WithNetworks):
    """Base of SLL+C, SLL+G and GGSL.

    Attributes
    ----------
    graph_ : PDAG
        The learned graph. The weight of a link is the loss in score without it.
    complete_ : bool
        True if the search finished; otherwise `notes_` say how far it got.
    pc_ : dict of str to list of str
        The neighbors found for each variable, strongest first, before they were joined; empty if the search
        was stopped early.
    skeleton_ : PDAG
        All edges, undirected.
    n_exact_, n_climbed_ : int
        Number of networks found exactly, and by hill climbing because they were too large.
    """

    takes = ("discrete",)
    strength_unit = "log score"
    watches_time = True

    def _local_learner(self) -> ByScore:
        """Return the learner of each variable's surroundings, which also checks the options."""
        raise NotImplementedError

    def _explore(self, run: Run, names: tuple[str, ...]) -> None:
        """Find the surroundings of all variables, as far as time allows."""
        self._local_learner().explore_all(run)

    def _oriented(self, run: Run, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        """Orient the edges; after an interrupt, only as far as this takes no time."""
        raise NotImplementedError

    def _how_far(self, run: Run) -> str:
        """Return how far the work got before it was stopped early."""
        return f"with {len(run.found):,} of {run.n:,} variables finished"

    def _like(self, learner: type[ByScore], **options: Any) -> ByScore:
        """Return a local learner with the same options for its networks."""
        return learner(**{name: getattr(self, name) for name in WithNetworks.option_defaults()}, **options)

    def _learn(self, engine: CountingEngine, names: tuple[str, ...]) -> PDAG:
        run = Run(self._local_learner().with_constraints(self._constraints), engine)
        try:
            with self._timed("neighbors"):
                self._explore(run, names)
            graph = self._finish(run, names)
        except KeyboardInterrupt:
            run.interrupted = True
            graph = self._finish(run, names)
        self.complete_ = not (run.out_of_time or run.interrupted)
        self.notes_ += run.notes(self._how_far(run))
        self.n_exact_, self.n_climbed_ = run.grower.n_exact, run.grower.n_climbed
        if run.interrupted:
            raise Interrupted(graph)
        return graph

    def _finish(self, run: Run, names: tuple[str, ...]) -> PDAG:
        """Return the graph of the found links."""
        with self._timed("skeleton"):
            near = run.sets({target: around.near for target, around in run.found.items()}, run.found)
            self.pc_ = self._named(near, names)
            skeleton = constrained(join(near, "and"), self._constraints)
            self._keep_skeleton(skeleton, names)
        with self._timed("orientation"):
            return self._oriented(run, names, skeleton)


class SLLc(ByBestNetworks):
    """Learn a partially directed graph: SLL, symmetry, v-structures of spouses, Meek's rules.

    T and its spouse have a common child C: T -> C <- spouse is a v-structure if both are linked to C and not
    to each other. If v-structures claim opposite directions, the majority decides; then Meek's rules are
    applied. No independence test is made.

    Attributes
    ----------
    blankets_ : dict of str to list of str
        The Markov blanket of each variable, strongest first.
    v_structures_ : list of (str, str, str)
        The triples (A, C, D) found to be A -> C <- D.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.SLLc().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """

    def _local_learner(self) -> ByScore:
        return self._like(SLL)

    def _how_far(self, run: Run) -> str:
        if len(run.found) < run.n:
            return super()._how_far(run)
        return f"with the spouses of {len(run.spouses):,} of {run.n:,} variables found"

    def _oriented(self, run: Run, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        blankets = run.sets({target: blanket(run, target) for target in run.spouses}, run.spouses)
        self.blankets_ = self._named(blankets, names)
        return self._oriented_by(v_structures_of_spouses(run.spouses, skeleton), skeleton, names)


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
    return np.asarray(triples[skeleton.linked(a, c) & skeleton.linked(c, d) & ~skeleton.linked(a, d)])


class SLLg(ByBestNetworks, WithClimbing):
    """Learn a DAG: SLL-PC, symmetry, then hill climbing on the same score over the edges of the skeleton.

    Hill climbing uses the same score with the same prior on parameters, and no prior on edges.

    Attributes
    ----------
    graph_ : PDAG
        CPDAG of the best DAG found; the links found if the time limit was reached before the climb.
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

    stability: int | None = option("stability")

    def _local_learner(self) -> ByScore:
        return self._like(SLLPC, symmetry="none")

    def _how_far(self, run: Run) -> str:
        return "during hill climbing" if len(run.found) == run.n else super()._how_far(run)

    def _oriented(self, run: Run, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        if run.interrupted or run.out_of_time:
            return self._as_graph(skeleton, names)
        from f2sl.search.admissible import Admissible

        score = make_score(run.grower.scores.engine, self.score, self.equivalent_sample_size)
        admissible = score if self.max_parents is None else Admissible(score, self.max_parents)
        graph = self._as_graph(skeleton, names)
        with limited(run.deadline), keeping("hill climbing did not begin"):
            graph, climbed = self._climbed(skeleton, names, admissible, edge_log_prior=0.0)
            self.score_, self.n_steps_, self.n_families_ = climbed.score, climbed.steps, score.n_families
        run.interrupted, run.out_of_time = run.deadline.interrupted, run.deadline.stopped
        return graph
