"""SLL+G: neighbours by SLL, then directions from a score (Niinimäki and Parviainen 2012)."""

from __future__ import annotations

from collections.abc import Mapping

from f2sl import _options
from f2sl.graph import PDAG
from f2sl.local.by_score import MAX_EXACT, ByScore, Run
from f2sl.local.sll_pc import SLLPC
from f2sl.skeleton import Skeleton
from f2sl.stats.choose import make_score
from f2sl.structure.by_best_networks import ByBestNetworks
from f2sl.structure.local_to_global import as_graph


class SLLG(ByBestNetworks):
    """Learn a DAG: SLL-PC, symmetry, then hill climbing on the same score over the edges of the skeleton.

    Parameters
    ----------
    score, equivalent_sample_size, order, ties, max_exact, max_indegree, time_limit
        As in :class:`SLLC`; score and prior also of hill climbing, which has no other limits.
    tabu_length, max_stall
        Of hill climbing, as in :class:`F2SLs`; edges have no prior.
    n_jobs, bins, binning, missing, engine, memory, scheduler, verbose
        As in :class:`F2SLc`.

    Attributes
    ----------
    graph_ : DAG
        The best graph found; where time was up before the climb, a PDAG of the links found.
    complete_, pc_, skeleton_, n_exact_, n_climbed_
        As in :class:`SLLC`.
    score_, n_steps_, n_families_
        As in :class:`F2SLs`.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.SLLG().fit(f2sl.load_example("asia")).graph_.is_dag()
    True
    """

    score_: float
    n_steps_: int
    n_families_: int

    def __init__(
        self,
        *,
        score: str = "bdeu",
        equivalent_sample_size: float = 1.0,
        order: str = "strength",
        ties: str = "drop",
        max_exact: int = MAX_EXACT,
        max_indegree: int | None = None,
        time_limit: float | None = None,
        tabu_length: int = 100,
        max_stall: int = 15,
        n_jobs: int | None = None,
        bins: int | Mapping[str, int] | None = None,
        binning: str = "quantile",
        missing: str = "error",
        engine: str = "auto",
        memory: int | str | None = None,
        scheduler: object = None,
        verbose: bool = False,
    ) -> None:
        self.score = score
        self.equivalent_sample_size = equivalent_sample_size
        self.order = order
        self.ties = ties
        self.max_exact = max_exact
        self.max_indegree = max_indegree
        self.time_limit = time_limit
        self.tabu_length = tabu_length
        self.max_stall = max_stall
        self.n_jobs = n_jobs
        self.bins = bins
        self.binning = binning
        self.missing = missing
        self.engine = engine
        self.memory = memory
        self.scheduler = scheduler
        self.verbose = verbose

    def check_options(self) -> None:
        """Refuse options that make no sense."""
        super().check_options()
        _options.whole("tabu_length", self.tabu_length)
        _options.whole("max_stall", self.max_stall, least=1)

    def _local_learner(self) -> ByScore:
        return SLLPC(**self._options_of_networks(), symmetry="none")

    def _how_far(self, run: Run) -> str:
        return "during hill climbing" if len(run.found) == run.n else super()._how_far(run)

    def _oriented(self, run: Run, names: tuple[str, ...], skeleton: Skeleton) -> PDAG:
        if run.interrupted or run.out_of_time:
            return as_graph(skeleton, names)
        from f2sl.orient.by_score import orient_by_score
        from f2sl.search.admissible import Admissible

        score = make_score(run.grower.scores.engine, self.score, self.equivalent_sample_size)
        graph, climbed = orient_by_score(
            skeleton,
            names,
            score if self.max_indegree is None else Admissible(score, self.max_indegree),
            edge_log_prior=0.0,
            tabu_length=self.tabu_length,
            max_stall=self.max_stall,
            may_go_on=run.has_time,
        )
        self.score_, self.n_steps_, self.n_families_ = climbed.score, climbed.steps, score.n_families
        return graph
