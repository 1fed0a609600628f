"""MMHC, max-min hill climbing (Tsamardinos, Brown and Aliferis 2006)."""

from __future__ import annotations

from f2sl.local.base import WithTests
from f2sl.structure.local_to_global import FromLocal, OrientedByScore


class WithMMPC(FromLocal, WithTests):
    """From the local to the global, with MMPC for the neighbours of each variable."""

    pc = "mmpc"
    shared_options = ("alpha", "max_cond_vars", "ci_test")


class MMHC(OrientedByScore, WithMMPC):
    """Learn a DAG: MMPC, symmetry, then hill climbing on a score over the edges of the skeleton.

    Attributes
    ----------
    graph_, skeleton_, pc_, score_, n_steps_, n_families_
        As in :class:`F2SLs`.
    separating_sets_, n_tests_, n_unreliable_
        Of MMPC.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.MMHC().fit(f2sl.load_example("asia")).graph_.is_dag()
    True
    """
