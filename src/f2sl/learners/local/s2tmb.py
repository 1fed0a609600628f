"""S2TMB, score-based simultaneous Markov blanket (Gao and Ji 2017): neighbours and spouses in one network.

First it finds the neighbours as SLL does. They may include false ones: descendants of a child, which only a
spouse outside the set would separate from the target. So all other variables are tried once more, one after
another, in the best network over the target, its neighbours, its spouses so far and the candidate. Variables
linked to the target become its neighbours, and variables with a common child become its spouses. The spouses
remove the false neighbours, so no symmetry check is needed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from f2sl.learners.local.by_score import ByScore, Run
from f2sl.learners.local.growing import Around, Growth, grow


class S2TMB(ByScore):
    """Markov blanket by best networks, neighbours and spouses together."""

    finds_blankets = True

    def search(self, run: Run, target: int) -> Growth[Around]:
        """Find the neighbours, then spouses and neighbours."""
        others = run.others(target)
        first = yield from grow(target, Around(), run.linkable(target))
        rest = others[~np.isin(others, list(first.near))]
        return (yield from grow(target, first, rest, with_spouses=True))

    def members(self, around: Around) -> Mapping[int, float]:
        """Return neighbours and spouses."""
        return around.near | around.spouses


class S2TMBPC(S2TMB):
    """Parents and children by best networks that hold the spouses as well; no symmetry is needed."""

    finds_blankets = False

    def members(self, around: Around) -> Mapping[int, float]:
        """Return the neighbours."""
        return around.near
