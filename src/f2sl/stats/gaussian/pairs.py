"""Which pairs of Gaussian variables are related, and how much.

===============  ======================================================================
"r2"             r^2, the share of the one's variance that the other explains
"correlation"    abs(r), the correlation without its sign
"mi"             mutual information in nats, -log(1 - r^2) / 2
===============  ======================================================================

Each grows with the others, so that FCBF gives the same sets by all of them, except that `delta` means
another thing. Like SU, r^2 lies between 0 and 1, and the same default of 0.05 does for both
(docs/gaussian.md has figures for other thresholds).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.stats.answers import TOLERANCE
from f2sl.stats.gaussian.fisher_z import LARGEST, LEAST_FREEDOM, z_tail
from f2sl.stats.significance import MARGIN
from f2sl.storage.moments import Moments
from f2sl.storage.protocol import FoundPairs


def mutual_information(correlations: Floats) -> Floats:
    """Of two Gaussian variables, in nats.

    Examples
    --------
    >>> mutual_information(np.array([0.0, 0.5])).round(6).tolist()
    [0.0, 0.143841]
    """
    r = np.minimum(np.abs(correlations), LARGEST)
    return np.asarray(-0.5 * np.log1p(-r * r))


MEASURES: dict[str, tuple[Callable[[Floats], Floats], Callable[[float], float]]] = {
    "r2": (np.square, math.sqrt),
    "correlation": (np.abs, float),
    "mi": (mutual_information, lambda value: math.sqrt(-math.expm1(-2.0 * value))),
}
"""Measures by the name they are asked for, from correlations and back to them."""


@dataclass(frozen=True)
class PairsAbove:
    """Keeps the pairs whose measure exceeds a threshold."""

    threshold: float
    measure: str

    @property
    def weakest(self) -> float:
        """No pair is kept whose correlation does not exceed it, by absolute value."""
        return MEASURES[self.measure][1](self.threshold)

    def of_correlations(self, first: Integers, second: Integers, correlations: Floats) -> FoundPairs:
        """Keep the pairs above the threshold, with their values."""
        values = MEASURES[self.measure][0](correlations)
        keep = values > self.threshold + TOLERANCE
        return FoundPairs(first[keep], second[keep], values[keep])


@dataclass(frozen=True)
class CorrelationsAbove:
    """Keeps the pairs whose correlation exceeds the last of some rising thresholds, by absolute value."""

    thresholds: Floats

    @property
    def weakest(self) -> float:
        """No pair is tallied whose correlation does not exceed it, by absolute value."""
        return float(self.thresholds[0])

    def of_correlations(self, first: Integers, second: Integers, correlations: Floats) -> FoundPairs:
        """Keep the pairs above the last threshold, with their correlations, and tally those above each."""
        above = np.abs(correlations)[:, None] > self.thresholds
        keep = above[:, -1]
        return FoundPairs(first[keep], second[keep], correlations[keep], above.sum(axis=0))


class ZOfPairs:
    """Fisher's z for :class:`~f2sl.stats.significance.SignificantPairs` of real numbers.

    Without enough samples for the test no pair is significant.
    """

    def __init__(self, engine: Moments) -> None:
        self._freedom = engine.n_rows - 3

    def formula(self, levels: Floats) -> CorrelationsAbove:
        """Formula that keeps all pairs with a p-value up to the last of some falling levels."""
        from scipy.special import erfcinv

        if self._freedom < LEAST_FREEDOM:
            return CorrelationsAbove(np.full(len(levels), np.inf))
        critical = np.tanh(math.sqrt(2.0 / self._freedom) * erfcinv(levels))
        return CorrelationsAbove(critical * (1.0 - MARGIN))

    def p_values(self, found: FoundPairs) -> Floats:
        """p-values of what the formula kept."""
        return z_tail(found.values, self._freedom)[1]

    def values(self, found: FoundPairs, measure: str) -> Floats:
        """Measure what it kept."""
        return MEASURES[measure][0](found.values)
