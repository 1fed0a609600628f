"""F2SL-s: feature selection, then directions from a score (Algorithm 1 of the F2SL paper)."""

from __future__ import annotations

from f2sl.structure.f2sl_c import WithFCBF
from f2sl.structure.local_to_global import OrientedByScore


class F2SLs(OrientedByScore, WithFCBF):
    """Learn a DAG: FCBF, symmetry, then hill climbing on a score over the edges of the skeleton.

    With BDeu each edge costs log(equivalent_sample_size + 1), the structure prior of the paper.

    Attributes
    ----------
    graph_ : DAG
        The best graph found. An edge of the skeleton may be missing in it.
    skeleton_, pc_, local_learner_, notes_, timings_
        As in :class:`F2SLc`.
    score_ : float
        The log score of `graph_`, structure prior included.
    n_steps_, n_families_ : int
        Steps of the climb, and families scored on the way.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.F2SLs().fit(f2sl.load_example("asia"))
    >>> model.graph_.is_dag()
    True
    """
