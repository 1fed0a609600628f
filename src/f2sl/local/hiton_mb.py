"""HITON-MB (Aliferis, Tsamardinos and Statnikov 2003): HITON-PC, then spouses.

As published it took HITON-PC's sets without symmetry, and could then be wrong (Peña and others 2007 show
examples). With symmetry, the default, it is exact with perfect answers. Spouses are found as in the later
form of the algorithm (GLL-MB; Aliferis and others 2010): by the test that shows a common child.
"""

from __future__ import annotations

from f2sl.local.base import Neighbourhood, WithSymmetry
from f2sl.local.by_neighbours import ByNeighbours
from f2sl.local.hiton_pc import HITONPC
from f2sl.local.lockstep import Search
from f2sl.stats.answers import IndependenceTest


class HITONMB(ByNeighbours, WithSymmetry):
    """Markov blanket from the parents and children that HITON-PC finds."""

    def neighbours(self, test: IndependenceTest, target: int) -> Search[Neighbourhood]:
        """Find the parents and children by HITON-PC."""
        return HITONPC(max_cond_vars=self.max_cond_vars).search(test, target)
