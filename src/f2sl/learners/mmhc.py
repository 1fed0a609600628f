"""MMHC, max-min hill climbing (Tsamardinos, Brown and Aliferis 2006), and MMHC-c, oriented by tests."""

from __future__ import annotations

from f2sl.learners.local.base import WithTests
from f2sl.learners.local_to_global import FromLocal, OrientedByScore, OrientedByTests


class WithMMPC(FromLocal, WithTests):
    """Base class of local-to-global learners with MMPC for the neighbors of each variable."""

    pc = "mmpc"
    shared_options = ("alpha", "max_cond_vars", "ci_test")


class MMHC(OrientedByScore, WithMMPC):
    """Learn a DAG: MMPC, symmetry, then hill climbing on a score over the edges of the skeleton.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.MMHC().fit(f2sl.load_example("asia")).dag_.is_dag()
    True
    """


class MMHCc(OrientedByTests, WithMMPC):
    """Learn a partially directed graph: MMPC, symmetry, FindVstructure, Meek's rules.

    Its skeleton is that of MMHC (section 6.1 of the F2SL paper).

    Examples
    --------
    >>> import f2sl
    >>> sorted(f2sl.MMHCc().fit(f2sl.load_example("asia")).graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """
