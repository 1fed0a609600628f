"""Inter-IAMB (Tsamardinos, Aliferis and Statnikov 2003): IAMB that shrinks after each variable it lets in.

The set stays as small as can be, and so do the samples that the tests need. On data, answers can
contradict each other so that a variable is let in and dropped for ever: the search ends when the set is
one that it was before.
"""

from __future__ import annotations

from f2sl.local.base import Neighbourhood
from f2sl.local.grow_shrink import Blanket, GrowShrink
from f2sl.local.iamb import admit_strongest
from f2sl.local.lockstep import Search
from f2sl.stats.answers import IndependenceTest


class InterIAMB(GrowShrink):
    """Markov blanket by growing with the strongest given the set, shrinking after each."""

    def search(self, test: IndependenceTest, target: int) -> Search[Neighbourhood]:
        """Find the blanket of one target."""
        blanket = Blanket(test, target)
        before: set[frozenset[int]] = {frozenset()}
        while self.may_grow(blanket) and (yield from admit_strongest(blanket)):
            yield from blanket.shrink()
            now = frozenset(blanket.members)
            if now in before:
                break
            before.add(now)
        return blanket.result()
