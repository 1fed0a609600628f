"""F2SL-s and F2SL-c: feature selection, then directions from a score or from tests.

Algorithms 1 and 2 of the F2SL paper (Yu et al.).
"""

from __future__ import annotations

from f2sl._options import option
from f2sl.graph import PDAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import Fit
from f2sl.learners.local.fcbf import FCBF
from f2sl.learners.local_to_global import ByScore, ByTests, local_to_global, shared_options
from f2sl.stats.choose import check_choice
from f2sl.stats.measures.base import Measure
from f2sl.stats.scores.base import Score
from f2sl.stats.tests.base import CITest


class F2SLc(StructureLearner):
    """Learn a partially directed graph: FCBF, symmetry, FindVstructure, Meek's rules.

    Attributes
    ----------
    graph_ : PDAG
        Learned graph; `dag_` orients the undirected edges.
    pc_, skeleton_, separating_sets_, v_structures_, n_tests_, n_inconclusive_, local_learner_
        As in :class:`LocalToGlobal`.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.F2SLc().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.neighbors("smoke"))
    ['bronc', 'lung']
    """

    _ignores = (("skeleton_only", True, ("alpha", "ci_test", "max_cond_vars")),)

    delta: float | str = option("delta")
    ties: str = option("ties")
    measure: str | Measure = option("measure", check=check_choice)
    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)
    symmetry: str = option("symmetry")
    skeleton_only: bool = option("skeleton_only")

    def _learn(self, fit: Fit) -> PDAG:
        local = FCBF(delta=self.delta, ties=self.ties, measure=self.measure)
        way = ByTests(alpha=self.alpha, max_cond_vars=self.max_cond_vars, ci_test=self.ci_test)
        return local_to_global(fit, local, way, self.symmetry, self.skeleton_only)


class F2SLs(StructureLearner):
    """Learn a DAG: FCBF, symmetry, then hill climbing on a score over the edges of the skeleton.

    With BDeu and BDs each edge costs log(equivalent_sample_size + 1), the structure prior of the paper.

    Attributes
    ----------
    graph_ : PDAG
        CPDAG of the best DAG found. An edge of the skeleton may be missing in it.
    pc_, skeleton_, n_tests_, n_inconclusive_, local_learner_, score_, n_steps_, n_families_
        As in :class:`LocalToGlobal`.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.F2SLs().fit(f2sl.load_example("asia"))
    >>> model.dag_.is_dag()
    True
    """

    _ignores = (
        ("skeleton_only", True, ("score", "equivalent_sample_size", "tabu_length", "max_stall", "stability")),
    )

    delta: float | str = option("delta")
    ties: str = option("ties")
    measure: str | Measure = option("measure", check=check_choice)
    symmetry: str = option("symmetry")
    skeleton_only: bool = option("skeleton_only")
    score: str | Score = option("score", check=check_choice)
    equivalent_sample_size: float = option("equivalent_sample_size")
    tabu_length: int = option("tabu_length")
    max_stall: int = option("max_stall")
    stability: int | None = option("stability")

    def _learn(self, fit: Fit) -> PDAG:
        local = FCBF(delta=self.delta, ties=self.ties, measure=self.measure)
        way = ByScore(**shared_options(self, ByScore))
        return local_to_global(fit, local, way, self.symmetry, self.skeleton_only)
