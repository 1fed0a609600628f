"""F2SL-h: candidates by confirmed feature selection, then the best DAG among them by its score.

F2SL-c and F2SL-s (Yu et al.) lose edges by a fixed delta and by the redundancy rule, and each way of
orienting is good where the other is bad. F2SL-h changes four things, all on the same counts:

1. pairs are relevant by significance, corrected for their number, and not by SU > delta;
2. a redundant neighbour goes only if an independence test confirms it;
3. an edge needs one of its ends to name the other, not both: the score decides about the rest;
4. the DAG with the best score is looked for among orders of the variables, from two starts: the graph
   that F2SL-c makes of the relevant pairs (after a clean-up: of what was kept), and the order of the names.

docs/accuracy.md shows what each is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import numpy as np

from f2sl import _options
from f2sl._progress import stage
from f2sl.graph import DAG, PDAG
from f2sl.local.confirmed import ConfirmedFCBF
from f2sl.local.fcbf import FCBF
from f2sl.skeleton import Skeleton, join
from f2sl.stats.choose import make_score
from f2sl.storage.engine import Engine
from f2sl.structure.local_to_global import LocalToGlobal, as_graph

if TYPE_CHECKING:
    from f2sl.stats.scores.base import FamilyScores

SEARCHES = ("orders", "hill-climbing")
KICKS_PER_VARIABLE = 10
LEAST_WEIGHT = 10.0
"""Of BDeu's prior, in samples: that of the F2SL paper, and enough for variables of few states."""


def prior_weight(engine: Engine) -> float:
    """Choose the weight of BDeu's prior by how many states the variables have, in effect.

    BDeu spreads its weight over all cells of a table. Where variables have many states next to nothing is
    left for each, and BDeu refuses edges that the data show well. So the weight is ten samples for each
    state beyond the first that a variable has in effect, which is the exponential of its entropy, in the
    mean over all variables; and never less than `LEAST_WEIGHT`. docs/accuracy.md shows how this was chosen.
    """
    if engine.counts is None:
        return LEAST_WEIGHT
    from f2sl.stats.measures.information import Information

    states = np.exp(Information(engine).entropies)
    return max(LEAST_WEIGHT, round(LEAST_WEIGHT * (math.fsum(states) / len(states) - 1.0), 1))


class F2SLh(LocalToGlobal):
    """Learn a DAG: feature selection that tests confirm, then the best score over the candidates.

    Parameters
    ----------
    relevance : {"fdr", "bonferroni"}
        How the level 0.05 of the tests of all pairs is corrected for their number: by the rate of false
        discoveries (Benjamini and Hochberg 1995), or so that there should be none.
    alpha : float
        Level of significance of the other independence tests.
    max_cond_vars : int, optional
        Largest set of neighbours that a separating set is looked for in, for the first start.
    clean_up : int
        Largest set of other candidates by which a candidate may still go; 0 for no clean-up.
    symmetry : {"and", "or"}
        Whether an edge that the search may use needs both its ends to name each other, or one.
    ties, measure, ci_test
        As in :class:`F2SLc`.
    score : {"auto", "bdeu", "k2", "bic", "aic", "bge", "bic-g"}
        What is made as high as possible, as in :class:`F2SLs`.
    equivalent_sample_size : float, optional
        The weight of BDeu's prior; by default 10, or more where variables have many states (see
        :func:`prior_weight`).
    edge_cost : float, optional
        What each edge takes from the log score; by default the logarithm of the number of variables, as if
        one of a variable's pairs were expected to be an edge.
    max_parents : int, optional
        Most parents of a variable. A search over orders looks at no more than 8 (fewer with more than 32,768
        variables), whatever is said here; hill climbing has no such limit.
    search : {"orders", "hill-climbing"}
        How the best DAG is looked for: over orders of the variables, or by adding, deleting and reversing
        one edge at a time.
    tabu_length, max_stall
        Of hill climbing, as in :class:`F2SLs`.
    skeleton_only, kind, n_jobs, bins, binning, missing, engine, memory, scheduler, verbose
        As in :class:`F2SLc`.

    Attributes
    ----------
    graph_ : DAG
        The best graph found.
    cpdag_ : PDAG
        What all DAGs have in common that the score cannot tell from it: only these arrows are shown by the
        data.
    pc_ : dict of str to list of str
        The candidates of each variable, strongest first.
    skeleton_ : PDAG
        The edges that the search might use.
    notes_ : list of str
        What a user should know: rows dropped, columns cut into intervals, constant columns, identifiers.
    timings_ : dict of str to float
        Seconds for each stage, and in all.
    equivalent_sample_size_ : float
        The weight of BDeu's prior; other scores have no use for it.
    edge_cost_ : float
        What each edge took from the log score.
    score_ : float
        The log score of `graph_`, what its edges cost taken off.
    n_families_, n_tests_, n_unreliable_ : int
        Families scored, independence tests asked for, and how many of these could not answer.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.F2SLh().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """

    pc = "fcbf-confirmed"
    orient = "score"
    shared_options = ("relevance", "alpha", "clean_up", "ties", "measure", "ci_test")

    equivalent_sample_size: float | None  # type: ignore[assignment]

    graph_: DAG
    cpdag_: PDAG
    equivalent_sample_size_: float
    edge_cost_: float
    score_: float
    n_families_: int
    n_tests_: int
    n_unreliable_: int

    def __init__(
        self,
        *,
        relevance: str = "fdr",
        alpha: float = 0.01,
        max_cond_vars: int | None = 3,
        clean_up: int = 0,
        symmetry: str = "or",
        ties: str = "drop",
        measure: str = "auto",
        ci_test: str = "auto",
        score: str = "auto",
        equivalent_sample_size: float | None = None,
        edge_cost: float | None = None,
        max_parents: int | None = None,
        search: str = "orders",
        tabu_length: int = 100,
        max_stall: int = 15,
        skeleton_only: bool = False,
        kind: str = "auto",
        n_jobs: int | None = None,
        bins: int | Mapping[str, int] | None = None,
        binning: str = "quantile",
        missing: str = "error",
        engine: str = "auto",
        memory: int | str | None = None,
        scheduler: object = None,
        verbose: bool = False,
    ) -> None:
        self.relevance = relevance
        self.alpha = alpha
        self.max_cond_vars = max_cond_vars
        self.clean_up = clean_up
        self.symmetry = symmetry
        self.ties = ties
        self.measure = measure
        self.ci_test = ci_test
        self.score = score
        self.equivalent_sample_size = equivalent_sample_size
        self.edge_cost = edge_cost
        self.max_parents = max_parents
        self.search = search
        self.tabu_length = tabu_length
        self.max_stall = max_stall
        self.skeleton_only = skeleton_only
        self.kind = kind
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
        if self.edge_cost is not None:
            _options.not_negative("edge_cost", self.edge_cost)
        if self.max_parents is not None:
            _options.whole("max_parents", self.max_parents, least=1)
        _options.choice("search", self.search, SEARCHES)

    def _check_weight(self) -> None:
        if self.equivalent_sample_size is not None:
            super()._check_weight()

    def _learn(self, engine: Engine, names: tuple[str, ...]) -> PDAG:
        learner = cast(ConfirmedFCBF, self._local_learner())
        with self._timed("neighbours"):
            relevant = learner.relevant(engine)
            sets = learner.find_all(relevant, learner.test(engine))
        skeleton = self._join(sets, names)
        if self.skeleton_only:
            return as_graph(skeleton, names)
        with self._timed("orientation"):
            first = sets if self.clean_up else FCBF(ties=self.ties).select(relevant)
            start = self._tested(engine, names, join(first, "and"))[0].to_dag()
            weight, cost = self.equivalent_sample_size, self.edge_cost
            self.equivalent_sample_size_ = prior_weight(engine) if weight is None else float(weight)
            self.edge_cost_ = math.log(engine.n_variables) if cost is None else float(cost)
            score = make_score(engine, self.score, self.equivalent_sample_size_)
            search = self._search_orders if self.search == "orders" else self._climb
            graph, self.score_ = search(score, names, skeleton, start)
            self.n_families_ = score.n_families
            self.cpdag_ = graph.to_cpdag().reorder(self.feature_names_in_.tolist())
        return graph

    def _search_orders(
        self, score: FamilyScores, names: tuple[str, ...], skeleton: Skeleton, start: DAG
    ) -> tuple[DAG, float]:
        """Search over orders, from that of the graph of the tests and from that of the names."""
        from f2sl.orient.by_score import weighted_dag
        from f2sl.search.orders import search_orders
        from f2sl.search.orders.parent_sets import parent_sets

        candidates = skeleton.start, skeleton.neighbours
        with stage("scoring sets of parents"):
            sets = parent_sets(
                score, *candidates, edge_log_prior=-self.edge_cost_, max_parents=self.max_parents
            )
        number = {name: v for v, name in enumerate(start.nodes)}
        of_tests = np.array([number[name] for name in start.topological_order()], np.int64)
        orders = of_tests, np.arange(skeleton.n)
        best = search_orders(sets, *candidates, orders, kicks=KICKS_PER_VARIABLE * skeleton.n)
        return weighted_dag(skeleton, names, best.arrows), best.score

    def _climb(
        self, score: FamilyScores, names: tuple[str, ...], skeleton: Skeleton, start: DAG
    ) -> tuple[DAG, float]:
        """Hill climbing, from the usable edges of the graph of the tests and from no edge."""
        from f2sl.orient.by_score import orient_by_score
        from f2sl.search.admissible import Admissible
        from f2sl.search.hill_climbing import Families

        arrows = start.directed_array
        usable = arrows[skeleton.linked(arrows[:, 0], arrows[:, 1])]
        families: Families = score
        if self.max_parents is not None:
            families = Admissible(score, self.max_parents)
            usable = usable[np.argsort(usable[:, 1], kind="stable")]
            rank = np.arange(len(usable)) - np.searchsorted(usable[:, 1], usable[:, 1])
            usable = usable[rank < self.max_parents]
        tops = [
            orient_by_score(
                skeleton,
                names,
                families,
                edge_log_prior=-self.edge_cost_,
                tabu_length=self.tabu_length,
                max_stall=self.max_stall,
                start=begin,
            )
            for begin in (usable, arrows[:0])
        ]
        graph, climbed = max(tops, key=lambda top: top[1].score)
        return graph, climbed.score
