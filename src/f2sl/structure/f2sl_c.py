"""F2SL-c: feature selection, then directions from independence tests (Algorithm 2 of the F2SL paper)."""

from __future__ import annotations

from f2sl._options import option
from f2sl.stats.choose import check_choice
from f2sl.stats.measures.base import Measure
from f2sl.structure.local_to_global import FromLocal, OrientedByTests


class WithFCBF(FromLocal):
    """From the local to the global, with FCBF for the neighbours of each variable."""

    pc = "fcbf"
    shared_options = ("delta", "ties", "measure")

    delta: float | str = option("delta")
    ties: str = option("ties")
    measure: str | Measure = option("measure", check=check_choice)


class F2SLc(OrientedByTests, WithFCBF):
    """Learn a partially directed graph: FCBF, symmetry, FindVstructure, Meek's rules.

    Attributes
    ----------
    graph_ : PDAG
        The graph learned; ``graph_.to_dag()`` orients the rest.
    pc_ : dict of str to list of str
        The parents and children found for each variable, strongest first, before the sets were joined.
    skeleton_ : PDAG
        All edges, undirected, weighted by their strength.
    separating_sets_ : mapping of (str, str) to tuple of str
        What was found to make two unlinked variables independent; names of a pair in ascending order.
    v_structures_ : list of (str, str, str)
        The triples (A, C, D) found to be A -> C <- D.
    n_tests_, n_unreliable_ : int
        Independence tests asked for, and how many of them were inconclusive.
    local_learner_ : LocalLearner
        The learner of neighbours, with its options.
    notes_ : list of str
        What a user should know: rows dropped, columns cut into intervals, constant columns, identifiers.
    timings_ : dict of str to float
        Seconds for each stage, and in all.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.F2SLc().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """
