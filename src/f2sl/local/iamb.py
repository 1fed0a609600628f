"""IAMB, incremental association Markov blanket (Tsamardinos, Aliferis and Statnikov 2003).

The variable joins the set that is most strongly associated with the target given the set, as long as it
depends on it; then the set shrinks. Unlike GSMB the order is made anew after each, so that fewer
variables join that have to leave again.
"""

from __future__ import annotations

from f2sl.local.base import Neighbourhood
from f2sl.local.by_tests import strongest_first
from f2sl.local.grow_shrink import Blanket, GrowShrink
from f2sl.local.lockstep import Search
from f2sl.stats.answers import IndependenceTest


class IAMB(GrowShrink):
    """Markov blanket by growing with the strongest given the set, then shrinking."""

    def search(self, test: IndependenceTest, target: int) -> Search[Neighbourhood]:
        """Find the blanket of one target."""
        blanket = Blanket(test, target)
        while self.may_grow(blanket) and (yield from admit_strongest(blanket)):
            pass
        yield from blanket.shrink()
        return blanket.result()


def admit_strongest(blanket: Blanket) -> Search[bool]:
    """Let in the variable most strongly associated given the set; say whether there was one."""
    found, strengths = yield from blanket.ask_outside()
    if not len(found):
        return False
    best = int(strongest_first(found, strengths)[0])
    blanket.admit(int(found[best]), float(strengths[best]))
    return True
