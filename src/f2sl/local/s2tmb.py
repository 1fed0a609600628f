"""S2TMB, score-based simultaneous Markov blanket (Gao and Ji 2017): neighbours and spouses in one network.

First the neighbours are found as by SLL, among them perhaps some that are none: descendants of a child, which
only a spouse, that was never let in, would separate from the target. So all other variables come once more,
one after another: in the best network over the target, its neighbours, its spouses so far and the
candidate, who is linked to the target is its neighbour from then on, and who has a child with it its
spouse. With the spouses such neighbours go, and no other variable need be asked whether it agrees.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from f2sl.local.by_score import ByScore, Run
from f2sl.local.growing import Around, Growth, grow


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
