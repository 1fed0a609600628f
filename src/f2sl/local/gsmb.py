"""GSMB, the Markov blanket by growing and shrinking (Margaritis and Thrun 2000).

Variables are taken in a fixed order, the most strongly associated with the target first (the paper leaves the
order open; this is the one of Margaritis' thesis of 2003). The first in the order that depends on the
target given the set joins it, until there is none; then the set shrinks.
"""

from __future__ import annotations

import numpy as np

from f2sl.local.base import Neighbourhood
from f2sl.local.by_tests import strongest_first
from f2sl.local.grow_shrink import Blanket, GrowShrink
from f2sl.local.lockstep import Questions, Search
from f2sl.stats.answers import IndependenceTest


class GSMB(GrowShrink):
    """Markov blanket by growing in the order of association, then shrinking."""

    def search(self, test: IndependenceTest, target: int) -> Search[Neighbourhood]:
        """Find the blanket of one target."""
        others = np.delete(np.arange(test.n_variables), target)
        alone = Questions(np.full(len(others), target), others, np.empty((len(others), 0), np.int64))
        [answers] = yield [alone]
        # Where nothing is known of the association, the variable comes last.
        order = others[strongest_first(others, np.nan_to_num(answers.strength, nan=-1.0))]
        rank = np.empty(test.n_variables, np.int64)
        rank[order] = np.arange(len(order))
        blanket = Blanket(test, target)
        while self.may_grow(blanket):
            found, strengths = yield from blanket.ask_outside()
            if not len(found):
                break
            first = int(np.argmin(rank[found]))
            blanket.admit(int(found[first]), float(strengths[first]))
        yield from blanket.shrink()
        return blanket.result()
