"""S2TMB-PC: the neighbours that S2TMB finds (Gao and Ji 2017)."""

from __future__ import annotations

from collections.abc import Mapping

from f2sl.local.growing import Around
from f2sl.local.s2tmb import S2TMB


class S2TMBPC(S2TMB):
    """Parents and children by best networks that hold the spouses as well; no symmetry is needed.

    Parameters
    ----------
    score, equivalent_sample_size, order, ties, max_exact, max_indegree, time_limit
        As in :class:`~f2sl.local.by_score.ByScore`.
    """

    def members(self, around: Around) -> Mapping[int, float]:
        """Give the neighbours."""
        return around.near
