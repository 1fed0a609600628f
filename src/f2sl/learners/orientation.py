"""Two ways to direct the edges of a skeleton, as parts that a learner is given: by tests and by a score."""

from __future__ import annotations

from f2sl._arrays import Integers
from f2sl._estimator import Estimator
from f2sl._options import option
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.graph import DAG, PDAG
from f2sl.learners.fit import Fit
from f2sl.learners.skeleton import Skeleton, weighted_dag
from f2sl.search.hill_climbing import Climbed, Families, hill_climb
from f2sl.stats.choose import check_choice, make_score, make_test
from f2sl.stats.scores.base import Score
from f2sl.stats.tests.base import CITest


class ByTests(Estimator):
    """Direct edges by independence tests: FindVstructure, then Meek's rules.

    A part of :class:`LocalToGlobal`. The learner gets `v_structures_`, and the separating sets and tests of
    this step.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.LocalToGlobal(local=f2sl.FCBF(), orient=f2sl.ByTests(alpha=0.05)).orient
    ByTests(alpha=0.05)
    """

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)

    def orient(self, fit: Fit, skeleton: Skeleton) -> PDAG:
        """Return the partially directed graph."""
        from f2sl.learners.v_structures import find_v_structures

        test = make_test(fit.engine, self.alpha, self.ci_test)
        found = find_v_structures(skeleton, test, self.max_cond_vars, fit.constraints)
        fit.count_tests(test)
        separating, named = fit.found["separating_sets_"], found.separating_sets.named(fit.names)
        fit.found.update(separating_sets_={**separating, **named} if separating else named)
        return fit.oriented(skeleton, found.triples)


class ByScore(Estimator):
    """Direct edges by a score: hill climbing over the edges of the skeleton.

    A part of :class:`LocalToGlobal`. With BDeu and BDs each edge costs log(equivalent_sample_size + 1), the
    structure prior of the F2SL paper. The learner gets `score_`, `n_steps_` and `n_families_`.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.LocalToGlobal(local=f2sl.FCBF(), orient=f2sl.ByScore(score="bic")).orient
    ByScore(score='bic')
    """

    score: str | Score = option("score", check=check_choice)
    equivalent_sample_size: float = option("equivalent_sample_size")
    tabu_length: int = option("tabu_length")
    max_stall: int = option("max_stall")

    def orient(self, fit: Fit, skeleton: Skeleton) -> PDAG:
        """Return the best DAG within the skeleton."""
        score = make_score(fit.engine, self.score, self.equivalent_sample_size)
        graph, climbed = orient_by_score(
            skeleton,
            fit.names,
            score,
            edge_log_prior=score.edge_log_prior,
            tabu_length=self.tabu_length,
            max_stall=self.max_stall,
            constraints=fit.constraints,
        )
        fit.found.update(score_=climbed.score, n_steps_=climbed.steps, n_families_=score.n_families)
        return graph


def orient_by_score(
    skeleton: Skeleton,
    names: tuple[str, ...],
    score: Families,
    *,
    edge_log_prior: float,
    tabu_length: int,
    max_stall: int,
    start: Integers | None = None,
    constraints: Constraints | None = None,
) -> tuple[DAG, Climbed]:
    """Find the best DAG within a skeleton by hill climbing; return it, with strengths, and the climb.

    Variables are numbered in the order of `names`, which are sorted.
    """
    # The first climb adds most edges of the skeleton one by one; later climbs are short.
    share = 1.0 / (len(skeleton.edges) + max_stall + 1)
    with stage("hill climbing") as advance:
        climbed = hill_climb(
            score,
            skeleton.n,
            skeleton.edges,
            edge_log_prior=edge_log_prior,
            tabu_length=tabu_length,
            max_stall=max_stall,
            start=start,
            constraints=constraints,
            on_step=lambda step, value: advance(share),
        )
    return weighted_dag(skeleton, names, climbed.arrows), climbed
