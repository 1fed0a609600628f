"""F2SL-h: candidates by confirmed feature selection, then the best DAG among them by its score.

F2SL-c and F2SL-s (Yu et al.) lose edges by a fixed delta and by the redundancy rule, and each way of
orienting is good where the other is bad. F2SL-h changes four things, all on the same counts:

1. pairs are relevant by significance, corrected for their number, and not by SU > delta;
2. a redundant neighbor is dropped only if an independence test confirms the redundancy, or if beside two
   others it leaves no trace of dependence;
3. an edge needs one of its ends to name the other, not both: the score decides about the rest;
4. the DAG with the best score is found by a search over orders of the variables, from two starts: the graph
   that F2SL-c makes of the relevant pairs, and the order of the names.

Sets of parents that the best order needs are then scored on demand, variables that are dependent on another
given its parents join its candidates, and the search goes on (:mod:`f2sl.search.orders.on_demand`). Columns
that determine each other are moved together as well (:mod:`f2sl.search.orders.determined`), and parents are
found that another one hides because they determine it (:mod:`f2sl.search.orders.determined`). The score of
states is BDs, which leaves out the configurations that do not occur.

docs/evidence/accuracy.md shows the effect of each. Among numbers, effects along several paths can cancel,
and the tests then lose edges, while scores of families are cheap. So for numbers the candidates are no limit:
parents are added and removed among all variables, from the order of the names (:mod:`f2sl.search.growing`).
The result is that of BOSS; a second start from the tests did not raise the score, and took time
(docs/evidence/gaussian.md). With missing continuous values and "bge", the search uses only the candidates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import numpy as np

from f2sl._deadline import keeping, limited
from f2sl._options import option, whole
from f2sl._progress import stage
from f2sl.data.column import CONTINUOUS, DISCRETE, MIXED
from f2sl.data.engines import Engine
from f2sl.graph import DAG, PDAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import Fit
from f2sl.learners.local.base import Neighborhoods
from f2sl.learners.local.confirmed import ConfirmedFCBF
from f2sl.learners.local.fcbf import FCBF
from f2sl.learners.local_to_global import join_sets, shared_options
from f2sl.learners.skeleton import Skeleton, constrained, join, weighted_dag
from f2sl.search.growing import is_gaussian, search_growing
from f2sl.stats.answers import TOLERANCE
from f2sl.stats.choose import check_choice, kind_of_engine, made, make_test
from f2sl.stats.measures.base import Measure
from f2sl.stats.scores.base import Score
from f2sl.stats.tests.base import CITest

if TYPE_CHECKING:
    from f2sl.data.mixed.engine import MixedEngine
    from f2sl.search.growing.again import SearchAgain
    from f2sl.search.orders.determined import Likelihoods
    from f2sl.stats.scores.base import FamilyScores

CLEAN_UP = 2
"""Candidates that may separate another one, by default, where the search keeps to the candidates."""
MOST_FOR_ALL = 800
"""Variables up to which candidates are cleaned up by default, and all pairs may become candidates after the
search; beyond, only relevant pairs may. With more variables both take too long."""
PERTURBATIONS_PER_VARIABLE = 10
THOROUGH_PERTURBATIONS = 100
"""Perturbations of the order for each variable, and in each round of a thorough search."""
ROWS_OF_COST = 2500
"""Rows beyond which the penalty for each edge of a mixed table grows with the root of the rows. Roots with
other factors were tried on random networks of three kinds, and on sachs, hepar2 and win95pts with half of the
variables observed as continuous (docs/evidence/mixed.md)."""
LEAST_WEIGHT = 10.0
"""Smallest equivalent sample size: that of the F2SL paper for BDeu, enough for few states."""


def prior_weight(engine: Engine) -> float:
    """Choose the equivalent sample size of BDs or BDeu by the effective number of states.

    The weight is spread over the cells of a table. With many states little is left for each cell, and the
    score rejects edges that the data show well. So the weight is ten samples for each effective state beyond
    the first, in the mean over all variables, and never less than `LEAST_WEIGHT`. The effective number of
    states is the exponential of the entropy. docs/evidence/accuracy.md shows how this was chosen.
    """
    if engine.counts is None:
        return LEAST_WEIGHT
    from f2sl.stats.measures.information import Information

    states = np.exp(Information(engine.counts).entropies)
    return max(LEAST_WEIGHT, round(LEAST_WEIGHT * (math.fsum(states) / len(states) - 1.0), 1))


def edge_cost(engine: Engine, most_rows: float = math.inf) -> float:
    """Choose the penalty for each edge: log(variables); more for mixed tables.

    These cost twice that, and with more than `ROWS_OF_COST` rows more by the root of their ratio. What a
    degenerate Gaussian misses looks like edges that gain more with every row. The root grows more slowly than
    the gain of a true edge, so that none is lost for good. Rows beyond `most_rows` do not count.
    """
    cost = math.log(engine.n_variables)
    if kind_of_engine(engine) != MIXED:
        return cost
    n_rows = min(cast("MixedEngine", engine).n_rows, most_rows)
    return 2.0 * cost * math.sqrt(max(1.0, n_rows / ROWS_OF_COST))


GAUSSIAN_SCORE = "bic-g"
"""The score that "auto" stands for in continuous tables. BGe adds its prior to the variances. Where many
strong effects meet, the residual variance is so small that the prior outweighs it, and BGe strongly prefers
other graphs to the true one (docs/evidence/gaussian.md)."""


class Objective(NamedTuple):
    """Objective of a search over orders: a score, with the weight of its prior and the edge penalty."""

    score: Score
    weight: float
    edge_cost: float


def objective(fit: Fit, score: str | Score, weight: float | None, cost: float | None) -> Objective:
    """Make the score for an engine, and choose what is None; keep both for the learner."""
    weight = prior_weight(fit.engine) if weight is None else float(weight)
    cost = edge_cost(fit.engine) if cost is None else float(cost)
    fit.found.update(equivalent_sample_size_=weight, edge_cost_=cost)
    return Objective(made("score", score, fit.engine, equivalent_sample_size=weight), weight, cost)


def search_again(fit: Fit, score: Score, cost: float | None, max_parents: int | None) -> SearchAgain | None:
    """Return what searches again from the matrix of resampled rows; None for scores of tables."""
    if not is_gaussian(fit.engine, score):
        return None
    from f2sl.learners.stability import MOST_ROWS
    from f2sl.search.growing.again import SearchAgain

    return SearchAgain(
        fit.engine,
        score,
        edge_cost=edge_cost(fit.engine, MOST_ROWS) if cost is None else float(cost),
        max_parents=max_parents,
        constraints=fit.constraints,
    )


class F2SLh(StructureLearner):
    """Learn a DAG: feature selection that tests confirm, then the best score over the candidates.

    The search over orders gives a variable at most 8 parents (fewer with more than 32,768 variables), even
    if `max_parents` is larger. On continuous tables and on mixed ones there is, with the default score, no
    such limit, all variables are candidates, and no tests are made. With ``effort="fast"`` the search stops
    at the first optimum. "normal" goes on from there and lets further candidates join: any of up to 800
    variables; of more, those that are related to the child. "thorough" disturbs the order many times more,
    as long as that raises the score. `effort` does not change hill climbing. The default score of discrete
    tables is BDs, with a prior weight of 10, or more if variables have many states (see
    :func:`prior_weight`). In the end, parents that others determine may be replaced by these
    (:mod:`f2sl.search.orders.determined`), and arrows of mixed tables may be dropped
    (:mod:`f2sl.search.growing.refuted`), which may lower the score.

    Attributes
    ----------
    graph_ : PDAG
        CPDAG of the best DAG found.
    dag_ : DAG
        The best DAG found.
    pc_ : dict of str to list of str
        The candidates of each variable before the search, strongest first; its neighbors in `graph_` if
        `grows_parents_`.
    skeleton_ : PDAG
        Edges that the search could use, including those that joined later; those of `graph_` if
        `grows_parents_`.
    grows_parents_ : bool
        True if the search took parents from all variables, as it does for continuous and mixed tables
        with the default score.
    equivalent_sample_size_ : float
        Weight of the prior of BDs or BDeu; unused by other scores.
    edge_cost_ : float
        Penalty on the log score for each edge.
    score_ : float
        Log score of `dag_`, including the penalty for its edges.
    n_families_, n_tests_, n_inconclusive_ : int
        Number of families scored, of independence tests, and of inconclusive tests.
    local_learner_ : LocalLearner
        The learner of the candidates, with its options.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.F2SLh().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.neighbors("smoke"))
    ['bronc', 'lung']
    """

    _preferred: ClassVar[Mapping[str, str]] = {CONTINUOUS: GAUSSIAN_SCORE, DISCRETE: "bds"}
    _ignores = (
        ("skeleton_only", True, ("max_cond_vars", "score", "equivalent_sample_size", "edge_cost", "search")),
        ("skeleton_only", True, ("effort", "max_parents", "stability", "tabu_length", "max_stall")),
        ("search", "orders", ("tabu_length", "max_stall")),
        ("search", "hill-climbing", ("effort",)),
    )

    relevance: str = option("relevance")
    alpha: float = option("alpha", 0.05)
    max_cond_vars: int | None = option("max_cond_vars")
    clean_up: int | None = option("clean_up", None)
    symmetry: str = option("symmetry", "or")
    ties: str = option("ties")
    measure: str | Measure = option("measure", check=check_choice)
    ci_test: str | CITest = option("ci_test", check=check_choice)
    skeleton_only: bool = option("skeleton_only")
    score: str | Score = option("score", check=check_choice)
    equivalent_sample_size: float | None = option("equivalent_sample_size", None)
    edge_cost: float | None = option("edge_cost")
    max_parents: int | None = option("max_parents", check=partial(whole, least=1))
    search: str = option("search")
    effort: str = option("effort")
    tabu_length: int = option("tabu_length")
    max_stall: int = option("max_stall")
    stability: int | None = option("stability")

    def _for_replicates(self, fit: Fit) -> tuple[StructureLearner, SearchAgain | None]:
        kind = kind_of_engine(fit.engine)
        if self.grows_parents_:
            from f2sl.learners.boss import BOSS

            # Its result is the same, and it looks for no candidates.
            quick = BOSS(**shared_options(self, BOSS) | {"effort": "fast"})
            score = self._objective(fit).score
            return quick, search_again(fit, score, self.edge_cost, self.max_parents)
        # Where continuous columns are among the candidates, the fast search finds graphs that are too
        # different.
        effort = "fast" if kind == DISCRETE and self.search == "orders" else self.effort
        return type(self)(**{**self.get_params(), "effort": effort}), None

    def _objective(self, fit: Fit) -> Objective:
        score = self._preferring(kind_of_engine(fit.engine))["score"]
        return objective(fit, score, self.equivalent_sample_size, self.edge_cost)

    def _local(self, fit: Fit, gaussian: bool) -> ConfirmedFCBF:
        """Return the learner of the candidates; it cleans up by default where the search keeps to them."""
        clean_up = self.clean_up or 0
        if self.clean_up is None and not gaussian and fit.engine.n_variables <= MOST_FOR_ALL:
            clean_up = CLEAN_UP
        return ConfirmedFCBF(
            relevance=self.relevance,
            alpha=self.alpha,
            clean_up=clean_up,
            ties=self.ties,
            measure=self.measure,
            ci_test=self.ci_test,
        )

    def _learn(self, fit: Fit) -> PDAG:
        engine, goal = fit.engine, self._objective(fit)
        gaussian = is_gaussian(engine, goal.score)
        self.grows_parents_ = self.search == "orders" and gaussian and not self.skeleton_only
        local = (
            self._local(fit, gaussian).resolve_auto(kind_of_engine(engine)).with_constraints(fit.constraints)
        )
        fit.found.update(local_learner_=local)
        if self.grows_parents_:
            return self._grow(fit, goal)
        with fit.timed("neighbors"):
            relevant = local.relevant(engine)
            sets = local.select(relevant, local.test(engine), local.strict_test(engine))
        with fit.timed("skeleton"):
            skeleton = join_sets(fit, sets, self.symmetry)
        if self.skeleton_only:
            return fit.undirected(skeleton).skeleton()
        graph: PDAG | None = None
        with fit.timed("orientation"), keeping("no search for the best DAG began, or it found none yet"):
            tested = constrained(join(FCBF(ties=self.ties).select(relevant), "and"), fit.constraints)
            graph = self._graph_of_tests(fit, tested)
            start = graph.to_dag()
            score = goal.score.bind(engine)
            if self.search == "orders":
                graph, best = self._search_orders(fit, relevant, score, goal.edge_cost, skeleton, start)
            else:
                graph, best = self._climb(fit, score, goal.edge_cost, skeleton, start)
            fit.found.update(score_=best, n_families_=score.n_families)
        return fit.undirected(skeleton) if graph is None else graph

    def _graph_of_tests(self, fit: Fit, skeleton: Skeleton) -> PDAG:
        """Orient a skeleton as F2SL-c does."""
        from f2sl.learners.v_structures import find_v_structures, orient_by_independence

        test = make_test(fit.engine, self.alpha, self.ci_test)
        triples = find_v_structures(skeleton, test, self.max_cond_vars, fit.constraints).triples
        fit.count_tests(test)
        return orient_by_independence(skeleton, fit.names, triples, fit.constraints)

    def _grow(self, fit: Fit, goal: Objective) -> DAG:
        """Search over orders with all variables as candidates, as BOSS does; the tests have no say."""
        names = fit.names
        with fit.timed("search"), limited(None):  # this search looks at the deadline itself
            found = search_growing(
                fit.engine,
                goal.score,
                [np.arange(len(names))],
                edge_cost=goal.edge_cost,
                effort=self.effort,
                max_parents=self.max_parents,
                constraints=fit.constraints,
                deadline=fit.deadline,
            )
        if not found.complete and not fit.deadline.stopped:
            fit.deadline.stop("with more time the score may be higher")
        strengths = made("measure", self.measure, fit.engine).values(fit.engine, *found.arrows.T)
        graph = DAG.from_arrays(names, found.arrows, weights_directed=strengths)
        fit.found.update(
            score_=found.score,
            n_families_=found.n_families,
            n_tests_=0,
            n_inconclusive_=0,
            skeleton_=graph.skeleton().reorder(fit.columns),
            pc_={name: sorted(graph.neighbors(name), key=names.index) for name in names},
        )
        return graph

    def _search_orders(
        self,
        fit: Fit,
        relevant: Neighborhoods,
        score: FamilyScores,
        cost: float,
        skeleton: Skeleton,
        start: DAG,
    ) -> tuple[DAG, float]:
        """Search over orders, starting from the graph of the tests and from the order of the names."""
        from f2sl.search.orders import search_orders
        from f2sl.search.orders.on_demand import OnDemand
        from f2sl.search.orders.parent_sets import parent_sets

        engine, kind = fit.engine, kind_of_engine(fit.engine)
        candidates = skeleton.start, skeleton.neighbors
        limits: dict[str, Any] = {
            "edge_log_prior": -cost,
            "max_parents": self.max_parents,
            "constraints": fit.constraints,
        }
        with stage("scoring sets of parents"):
            sets = parent_sets(score, *candidates, **limits)
        n, number = skeleton.n, {name: v for v, name in enumerate(start.nodes)}
        of_tests = np.array([number[name] for name in start.topological_order()], np.int64)
        orders = of_tests, np.arange(n)
        if self.effort == "fast":
            best = search_orders(sets, *candidates, orders, perturbations=0, constraints=fit.constraints)
            return weighted_dag(skeleton, fit.names, best.arrows), best.score
        test = make_test(engine, self.alpha / max(1, n * (n - 1)), self.ci_test)
        if n > MOST_FOR_ALL:
            outside = np.column_stack([relevant.owners, relevant.members])
        else:
            outside = np.argwhere(~np.eye(n, dtype=np.bool_))
        likelihoods = self._likelihoods(fit)
        wider = OnDemand(
            sets, *candidates, score=score, test=test, outside=outside, likelihoods=likelihoods, **limits
        )
        unfinished = "the search over orders was not finished, so with more time the score may be higher"
        with keeping(unfinished, lambda: wider.best is not None):
            best = wider.search(orders, PERTURBATIONS_PER_VARIABLE)
            if kind == DISCRETE:
                # Columns that determine each other have an SU of 1: they are candidates of each other.
                same = skeleton.strengths
                if made("measure", self.measure, engine).unit != "SU":
                    same = made("measure", "su", engine).values(engine, *skeleton.edges.T)
                best = wider.move_copies(
                    best, skeleton.edges[same > 1.0 - TOLERANCE], PERTURBATIONS_PER_VARIABLE
                )
            if self.effort == "thorough":
                best = wider.search_on(best, THOROUGH_PERTURBATIONS)
            best = wider.simplify(best)
        if wider.best is not None and fit.deadline.stopped:
            best = wider.best
        fit.count_tests(test)
        if len(wider.joined):
            strengths = made("measure", self.measure, engine).values(engine, *wider.joined.T)
            skeleton = skeleton.with_more(wider.joined, strengths)
            fit.keep_skeleton(skeleton)
        return weighted_dag(skeleton, fit.names, best.arrows), best.score

    def _likelihoods(self, fit: Fit) -> Likelihoods | None:
        """Return log likelihoods of families, by which determined variables are known.

        Only for states without missing values.
        """
        from f2sl.search.orders.determined import Likelihoods
        from f2sl.stats.scores.tables import LogLikelihood

        counts = fit.engine.counts
        if kind_of_engine(fit.engine) != DISCRETE or counts is None or counts.presence.any:
            return None
        return Likelihoods(LogLikelihood().bind(fit.engine), counts.cardinalities, counts.n_rows)

    def _climb(
        self, fit: Fit, score: FamilyScores, cost: float, skeleton: Skeleton, start: DAG
    ) -> tuple[DAG, float]:
        """Climb from the usable edges of the graph of the tests, and from no edge."""
        from f2sl.learners.local_to_global import orient_by_score
        from f2sl.search.hill_climbing import Admissible, FamilyScorer

        arrows = start.directed_array
        usable = arrows[skeleton.adjacent(arrows[:, 0], arrows[:, 1])]
        families: FamilyScorer = score
        if self.max_parents is not None:
            families = Admissible(score, self.max_parents)
            # Required parents come first, so that they are among those that stay.
            usable = usable[np.lexsort((~fit.constraints.requires(*usable.T), usable[:, 1]))]
            rank = np.arange(len(usable)) - np.searchsorted(usable[:, 1], usable[:, 1])
            usable = usable[rank < self.max_parents]
        tops = []
        for begin in (usable, arrows[:0]):
            top = orient_by_score(
                skeleton,
                fit.names,
                families,
                edge_log_prior=-cost,
                tabu_length=self.tabu_length,
                max_stall=self.max_stall,
                start=begin,
                constraints=fit.constraints,
            )
            tops.append(top)
            if fit.deadline.stopped:
                break
        graph, climbed = max(tops, key=lambda top: top[1].score)
        return graph, climbed.score
