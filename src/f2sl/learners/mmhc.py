"""MMHC, max-min hill climbing (Tsamardinos, Brown and Aliferis 2006), and MMHC-c, oriented by tests."""

from __future__ import annotations

from f2sl._options import option
from f2sl.graph import PDAG
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import Fit
from f2sl.learners.local.mmpc import MMPC
from f2sl.learners.local_to_global import ByScore, ByTests, local_to_global, shared_options
from f2sl.stats.choose import check_choice
from f2sl.stats.scores.base import Score
from f2sl.stats.tests.base import CITest


class MMHC(StructureLearner):
    """Learn a DAG: MMPC, symmetry, then hill climbing on a score over the edges of the skeleton.

    Attributes
    ----------
    graph_ : PDAG
        CPDAG of the best DAG found. An edge of the skeleton may be missing in it.
    pc_, skeleton_, separating_sets_, n_tests_, n_inconclusive_, local_learner_, score_, n_steps_, n_families_
        As in :class:`LocalToGlobal`.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.MMHC().fit(f2sl.load_example("asia")).dag_.is_dag()
    True
    """

    _ignores = (
        ("skeleton_only", True, ("score", "equivalent_sample_size", "tabu_length", "max_stall", "stability")),
    )

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)
    symmetry: str = option("symmetry")
    skeleton_only: bool = option("skeleton_only")
    score: str | Score = option("score", check=check_choice)
    equivalent_sample_size: float = option("equivalent_sample_size")
    tabu_length: int = option("tabu_length")
    max_stall: int = option("max_stall")
    stability: int | None = option("stability")

    def _learn(self, fit: Fit) -> PDAG:
        alpha, most, ci_test = self.alpha, self.max_cond_vars, self.ci_test
        local = MMPC(alpha=alpha, max_cond_vars=most, ci_test=ci_test, symmetry="none")
        way = ByScore(**shared_options(self, ByScore))
        return local_to_global(fit, local, way, self.symmetry, self.skeleton_only)


class MMHCc(StructureLearner):
    """Learn a partially directed graph: MMPC, symmetry, FindVstructure, Meek's rules.

    Its skeleton is that of MMHC (section 6.1 of the F2SL paper).

    Attributes
    ----------
    graph_ : PDAG
        Learned graph; `dag_` orients the undirected edges.
    pc_, skeleton_, separating_sets_, v_structures_, n_tests_, n_inconclusive_, local_learner_
        As in :class:`LocalToGlobal`.

    Examples
    --------
    >>> import f2sl
    >>> sorted(f2sl.MMHCc().fit(f2sl.load_example("asia")).graph_.neighbors("smoke"))
    ['bronc', 'lung']
    """

    alpha: float = option("alpha")
    max_cond_vars: int | None = option("max_cond_vars")
    ci_test: str | CITest = option("ci_test", check=check_choice)
    symmetry: str = option("symmetry")
    skeleton_only: bool = option("skeleton_only")

    def _learn(self, fit: Fit) -> PDAG:
        alpha, most, ci_test = self.alpha, self.max_cond_vars, self.ci_test
        local = MMPC(alpha=alpha, max_cond_vars=most, ci_test=ci_test, symmetry="none")
        way = ByTests(alpha=alpha, max_cond_vars=most, ci_test=ci_test)
        return local_to_global(fit, local, way, self.symmetry, self.skeleton_only)
