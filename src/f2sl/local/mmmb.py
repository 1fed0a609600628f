"""MMMB, max-min Markov blanket (Tsamardinos, Aliferis and Statnikov 2003): MMPC, then spouses.

As published it took MMPC's sets without symmetry, and could then be wrong (Peña and others 2007 show
examples). With symmetry, the default, it is exact with perfect answers.
"""

from __future__ import annotations

from f2sl.local.base import Neighbourhood, WithSymmetry
from f2sl.local.by_neighbours import ByNeighbours
from f2sl.local.lockstep import Search
from f2sl.local.mmpc import MMPC
from f2sl.stats.answers import IndependenceTest


class MMMB(ByNeighbours, WithSymmetry):
    """Markov blanket from the parents and children that MMPC finds."""

    def neighbours(self, test: IndependenceTest, target: int) -> Search[Neighbourhood]:
        """Find the parents and children by MMPC."""
        return MMPC(max_cond_vars=self.max_cond_vars).search(test, target)
