"""SLL+G: neighbours by SLL, then directions from a score (Niinimäki and Parviainen 2012)."""

from __future__ import annotations

from f2sl.graph import PDAG
from f2sl.local.by_score import ByScore, Run
from f2sl.local.sll import SLLPC
from f2sl.skeleton import Skeleton
from f2sl.stats.choose import make_score
from f2sl.structure.base import WithClimbing, as_graph
from f2sl.structure.by_best_networks import ByBestNetworks


class SLLg(ByBestNetworks, WithClimbing):
    """Learn a DAG: SLL-PC, symmetry, then hill climbing on the same score over the edges of the skeleton.

    The score and its prior are also those of hill climbing, in which edges have no prior.

    Attributes
    ----------
    graph_ : DAG
        The best graph found; where time was up before the climb, a PDAG of the links found.
    complete_, pc_, skeleton_, n_exact_, n_climbed_
        As in :class:`SLLc`.
    score_, n_steps_, n_families_
        As in :class:`F2SLs`.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.SLLg().fit(f2sl.load_example("asia")).graph_.is_dag()
    True
    """

    def _local_learner(self) -> ByScore:
        return self._like(SLLPC, symmetry="none")

    def _how_far(self, run: Run) -> str:
        return "during hill climbing" if len(run.found) == run.n else super()._how_far(run)

    def _oriented(self, run: Run, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        if run.interrupted or run.out_of_time:
            return as_graph(skeleton, names)
        from f2sl.search.admissible import Admissible

        score = make_score(run.grower.scores.engine, self.score, self.equivalent_sample_size)
        limited = score if self.max_parents is None else Admissible(score, self.max_parents)
        graph, climbed = self._climbed(skeleton, names, limited, edge_log_prior=0.0, may_go_on=run.has_time)
        self.score_, self.n_steps_, self.n_families_ = climbed.score, climbed.steps, score.n_families
        return graph
