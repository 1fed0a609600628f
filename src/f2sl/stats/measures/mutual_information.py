"""Mutual information in nats, of states by their counts and of numbers by their correlation."""

from __future__ import annotations

from typing import Any

from f2sl._arrays import Floats, Integers
from f2sl.stats.measures.base import Measure, PairSearch
from f2sl.stats.registries import NUMBER, STATES
from f2sl.storage.protocol import FoundPairs


class MI(Measure):
    """Mutual information in nats."""

    kinds = (STATES, NUMBER)
    unit = "MI in nats"

    def values(self, data: Any, first: Integers, second: Integers) -> Floats:
        """Return the value of each pair of variables."""
        return self._on(data).values(data, first, second)

    def search(self, engine: Any, threshold: float) -> PairSearch:
        """Make the search for the pairs whose value exceeds a threshold."""
        return self._on(engine).search(engine, threshold)

    def significant(self, engine: Any, pairs: FoundPairs) -> Floats:
        """Return the values of significant pairs, from their statistic."""
        return self._on(engine).significant(engine, pairs)

    @staticmethod
    def _on(data: Any) -> Measure:
        if data.counts is None:
            from f2sl.stats.measures.correlations import GaussianMI

            return GaussianMI()
        from f2sl.stats.measures.information import StatesMI

        return StatesMI()
