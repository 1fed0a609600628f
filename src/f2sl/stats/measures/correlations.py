"""Measures of two Gaussian variables, from their correlation r.

===============  ======================================================================
"r2"             r^2, the share of the one's variance that the other explains
"correlation"    abs(r), the correlation without its sign
"mi"             mutual information in nats, -log(1 - r^2) / 2
===============  ======================================================================

All three rank pairs in the same order, so FCBF finds the same sets with each; only the meaning of `delta`
changes. Like SU, r^2 lies between 0 and 1, and the same default of 0.05 suits both (docs/evidence/gaussian.md
has figures for other thresholds).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.column import CONTINUOUS
from f2sl.data.engines import FoundPairs
from f2sl.stats.answers import TOLERANCE
from f2sl.stats.conditioning import LARGEST
from f2sl.stats.measures.base import Measure, PairSearch


class OfCorrelations(Measure):
    """Base of the measures that are functions of the correlation, growing with its absolute value."""

    kinds = (CONTINUOUS,)
    requires = "of"

    def of(self, correlations: Floats) -> Floats:
        """Return the values that belong to correlations."""
        raise NotImplementedError

    def correlation(self, value: float) -> float:
        """Return the absolute correlation that belongs to a value."""
        raise NotImplementedError

    def values(self, data: Any, first: Integers, second: Integers) -> Floats:
        """Return the value of each pair of variables."""
        return self.of(data.moments.correlations[first, second])

    def search(self, engine: Any, threshold: float) -> PairSearch:
        """Return the search for the pairs whose value exceeds a threshold."""
        return partial(engine.moments.search_pairs, CorrelationsOver(self, threshold))


class R2(OfCorrelations):
    """Squared correlation."""

    unit = "r^2"

    def of(self, correlations: Floats) -> Floats:
        """Return r^2."""
        return np.square(correlations)

    def correlation(self, value: float) -> float:
        """Return the absolute correlation that belongs to a value."""
        return math.sqrt(value)


class Correlation(OfCorrelations):
    """Correlation without its sign."""

    unit = "|r|"

    def of(self, correlations: Floats) -> Floats:
        """Return the absolute correlations."""
        return np.abs(correlations)

    def correlation(self, value: float) -> float:
        """Return the absolute correlation that belongs to a value."""
        return float(value)


class GaussianMI(OfCorrelations):
    """Mutual information of two Gaussian variables, in nats.

    Examples
    --------
    >>> GaussianMI().of(np.array([0.0, 0.5])).round(6).tolist()
    [0.0, 0.143841]
    """

    unit = "MI in nats"

    def of(self, correlations: Floats) -> Floats:
        """Return the mutual information that belongs to correlations."""
        r = np.minimum(np.abs(correlations), LARGEST)
        return np.asarray(-0.5 * np.log1p(-r * r))

    def correlation(self, value: float) -> float:
        """Return the absolute correlation that belongs to a value."""
        return math.sqrt(-math.expm1(-2.0 * value))


@dataclass(frozen=True)
class CorrelationsOver:
    """Formula that keeps the pairs whose measure exceeds a threshold."""

    measure: OfCorrelations
    threshold: float

    @property
    def weakest(self) -> float:
        """Lower bound of the absolute correlation of kept pairs."""
        return self.measure.correlation(self.threshold)

    def of_correlations(self, first: Integers, second: Integers, correlations: Floats) -> FoundPairs:
        """Keep the pairs above the threshold, with their values."""
        values = self.measure.of(correlations)
        keep = values > self.threshold + TOLERANCE
        return FoundPairs(first[keep], second[keep], values[keep])
