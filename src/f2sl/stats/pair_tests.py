"""The G2 test of independence, for all pairs of a table.

G2 = 2 N I(X; Y) follows the chi-squared distribution under independence, nearly, with (states of X - 1)
(states of Y - 1) degrees of freedom; states that do not occur do not count. So pairs of variables with as
many states have the same critical value, and a walk over all pairs compares G2 with that: p-values are
computed for the few that are left.

The approximation needs about 5 samples for each cell of a pair's table. With 1 to 4 of them, spread evenly
over many states, G2 is larger than chi-squared by up to a sixth in the mean, and with hundreds of degrees of
freedom that passes for significance; with fewer, or with rare states, it is smaller, and weak relations are
missed.
"""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Floats
from f2sl.stats.independence import chi_squared_tail
from f2sl.stats.information import Information, PairsAbove
from f2sl.stats.significance import MARGIN
from f2sl.storage.protocol import CountingEngine, FoundPairs


class G2OfPairs:
    """The test for :class:`~f2sl.stats.significance.SignificantPairs` of states.

    Parameters
    ----------
    engine : CountingEngine
        Where pairs are counted.

    Examples
    --------
    >>> from f2sl.storage.memory.engine import MemoryEngine
    >>> from f2sl.reading import open_table
    >>> table = open_table({"a": [0, 0, 0, 1, 1, 1], "b": [0, 0, 0, 1, 1, 1], "c": [0, 1, 0, 1, 0, 1]})
    >>> with MemoryEngine(table) as engine:
    ...     test = G2OfPairs(engine)
    ...     found = engine.search_pairs(test.formula(np.array([0.01])))
    >>> found.first.tolist(), found.second.tolist(), test.p_values(found).round(4).tolist()
    ([0], [1], [0.0039])
    """

    def __init__(self, engine: CountingEngine) -> None:
        self._information = Information(engine)
        occurs = (engine.margins > 0).astype(np.int64)
        states = np.add.reduceat(occurs, engine.margin_start[:-1])
        # Of d different numbers of states there are at least d^2 / 2 states in all: a matrix of classes is
        # never much larger than the margins are.
        self._states, self._classes = np.unique(states, return_inverse=True)

    def formula(self, levels: Floats) -> PairsAbove:
        """Formula that keeps all pairs with a p-value up to the last of some falling levels."""
        from scipy.special import gammainccinv

        freedom = np.outer(self._states - 1, self._states - 1)[:, :, None]
        critical = 2.0 * gammainccinv(np.maximum(freedom, 1) / 2.0, levels)
        thresholds = np.where(freedom > 0, critical * (1.0 - MARGIN), np.inf)
        of = self._information
        return PairsAbove(of.table, of.scaled_entropies, "g2", thresholds, self._classes)

    def p_values(self, found: FoundPairs) -> Floats:
        """p-values of what the formula kept."""
        states = self._states[self._classes]
        return chi_squared_tail(found.values, (states[found.first] - 1) * (states[found.second] - 1))

    def values(self, found: FoundPairs, measure: str) -> Floats:
        """SU or mutual information of what it kept."""
        return self._information.from_g2(found, measure)
