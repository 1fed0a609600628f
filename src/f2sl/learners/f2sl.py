"""F2SL-s and F2SL-c: feature selection, then directions from a score or from tests.

Algorithms 1 and 2 of the F2SL paper (Yu et al.).
"""

from __future__ import annotations

from f2sl._options import option
from f2sl.learners.local_to_global import FromLocal, OrientedByScore, OrientedByTests
from f2sl.stats.choose import check_choice
from f2sl.stats.measures.base import Measure


class WithFCBF(FromLocal):
    """Base class of the F2SL learners, with FCBF for the neighbors of each variable."""

    pc = "fcbf"
    shared_options = ("delta", "ties", "measure")

    delta: float | str = option("delta")
    ties: str = option("ties")
    measure: str | Measure = option("measure", check=check_choice)


class F2SLc(OrientedByTests, WithFCBF):
    """Learn a partially directed graph: FCBF, symmetry, FindVstructure, Meek's rules.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.F2SLc().fit(f2sl.load_example("asia"))
    >>> sorted(model.graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """


class F2SLs(OrientedByScore, WithFCBF):
    """Learn a DAG: FCBF, symmetry, then hill climbing on a score over the edges of the skeleton.

    With BDeu and BDs each edge costs log(equivalent_sample_size + 1), the structure prior of the paper.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.F2SLs().fit(f2sl.load_example("asia"))
    >>> model.dag_.is_dag()
    True
    """
