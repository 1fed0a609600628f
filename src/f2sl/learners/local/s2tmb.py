"""S2TMB, score-based simultaneous Markov blanket (Gao and Ji 2017): neighbors and spouses in one network.

First it finds the neighbors as SLL does. They may include false ones: descendants of a child, which only a
spouse outside the set would separate from the target. So all other variables are tried once more, one after
another, in the best network over the target, its neighbors, its spouses so far and the candidate. Variables
linked to the target become its neighbors, and variables with a common child become its spouses. The spouses
remove the false neighbors, so no symmetry check is needed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from f2sl.learners.local.by_score import ByScore, Run
from f2sl.learners.local.growing import Growth, Surroundings, grow


class S2TMB(ByScore):
    """Markov blanket by best networks, neighbors and spouses together."""

    finds_blankets = True

    def search(self, run: Run, target: int) -> Growth[Surroundings]:
        """Find the neighbors, then spouses and neighbors."""
        others = run.others(target)
        first = yield from grow(target, Surroundings(), run.allowed_neighbors(target))
        rest = others[~np.isin(others, list(first.near))]
        return (yield from grow(target, first, rest, with_spouses=True))

    def members(self, around: Surroundings) -> Mapping[int, float]:
        """Return neighbors and spouses."""
        return around.near | around.spouses


class S2TMBPC(S2TMB):
    """Parents and children by best networks that hold the spouses as well; no symmetry is needed."""

    finds_blankets = False

    def members(self, around: Surroundings) -> Mapping[int, float]:
        """Return the neighbors."""
        return around.near
