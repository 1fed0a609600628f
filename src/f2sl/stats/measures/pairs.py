"""Measures of how related two columns are.

===============  ===================================================================================
"su"             symmetrical uncertainty of discrete variables (:mod:`~f2sl.stats.measures.information`)
"r2"             r^2 of two continuous variables, the share of the one's variance that the other explains
"correlation"    abs(r) of two continuous variables, the correlation without its sign
"mi"             mutual information in nats: I(X; Y) of states from their counts; -log(1 - r^2) / 2 of
                 two numbers; of a continuous and a discrete variable -log(1 - e) / 2 with the squared
                 correlation ratio e, the share of the number's variance that lies between the states, normal
                 within each with one variance
"information"    1 - exp(-2 I), between 0 and 1: r^2 for two numbers, e for a continuous and a discrete
variable, and for
                 two discrete variables the r^2 of two numbers with the same mutual information
===============  ===================================================================================

Those of numbers rank pairs in the same order, so FCBF finds the same sets with each; only the meaning of
`delta` changes. Like SU, r^2 lies between 0 and 1, and the same default of 0.05 suits both
(docs/evidence/gaussian.md has figures for other thresholds).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.column import CONTINUOUS, DISCRETE, MIXED
from f2sl.data.engines import FoundPairs
from f2sl.stats.answers import TOLERANCE
from f2sl.stats.conditioning import LARGEST
from f2sl.stats.measures.base import Measure, PairSearch
from f2sl.stats.measures.information import Information


class BuiltIn(Measure):
    """Base of the measures below, of which each is a function of counts, correlations or both.

    A correlation ratio counts as the square of a correlation.
    """

    def of(self, correlations: Floats) -> Floats:
        """Return the values that belong to correlations."""
        raise NotImplementedError

    def correlation(self, value: float) -> float:
        """Return the absolute correlation that belongs to a value."""
        raise NotImplementedError

    def information_unit(self, information: Information) -> float | None:
        """Return the value of a fixed-point unit of information; None for SU, which has none."""
        return information.unit

    def values(self, data: Any, first: Integers, second: Integers) -> Floats:
        """Return the value of each pair of variables."""
        result = np.empty(len(first))
        for kind, which, pairs in _by_kind(data, FoundPairs(first, second, result)):
            at = pairs.first, pairs.second
            if kind == DISCRETE:
                information = Information(data.counts)
                result[which] = information.values(np.column_stack(at), self.information_unit(information))
            else:
                result[which] = self.of(
                    data.moments.correlations[at] if kind == CONTINUOUS else np.sqrt(data.ratios[at])
                )
        return result

    def values_of_significant(self, engine: Any, pairs: FoundPairs) -> Floats:
        """Return the values of significant pairs from their statistics, with the bits of `values`."""
        if engine.moments is None and engine.presence.any:
            return self.values(engine, pairs.first, pairs.second)
        result = np.empty(len(pairs.first))
        for kind, which, found in _by_kind(engine, pairs):
            if kind == DISCRETE:
                information = Information(engine.counts)
                result[which] = information.from_g2(found, self.information_unit(information))
            else:
                result[which] = self.of(found.values if kind == CONTINUOUS else np.sqrt(found.values))
        return result

    def search(self, engine: Any, threshold: float) -> PairSearch:
        """Return the search for the pairs whose value exceeds a threshold."""
        of_numbers = Above(self, threshold)
        if engine.counts is None:
            return partial(engine.moments.search_pairs, of_numbers)
        information = Information(engine.counts)
        of_states = information.pairs_above(threshold, self.information_unit(information))
        if engine.moments is None:
            return partial(engine.counts.search_pairs, of_states)
        from f2sl.data.mixed.engine import MixedFormula

        return partial(engine.search_pairs, MixedFormula(of_states, of_numbers, of_numbers))


def _by_kind(engine: Any, pairs: FoundPairs) -> Iterator[tuple[str, Any, FoundPairs]]:
    """Yield the kind of some pairs, which they are, and these, with variables numbered among that kind."""
    if engine.counts is None or engine.moments is None:
        yield DISCRETE if engine.moments is None else CONTINUOUS, slice(None), pairs
        return
    for kind, part in zip((DISCRETE, CONTINUOUS, MIXED), engine.by_kind(pairs), strict=True):
        yield kind, part.which, part.pairs


@dataclass(frozen=True)
class Above:
    """Formula that keeps the pairs whose measure exceeds a threshold."""

    measure: BuiltIn
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

    def of_ratios(
        self, first: Integers, second: Integers, states: Integers, rows: Integers, ratios: Floats
    ) -> FoundPairs:
        """Keep the pairs above the threshold, with their values."""
        return self.of_correlations(first, second, np.sqrt(ratios))


class SU(BuiltIn):
    """Symmetrical uncertainty of discrete variables."""

    unit = "SU"

    def information_unit(self, information: Information) -> None:
        """Return None: SU is a ratio, which has no unit."""


class R2(BuiltIn):
    """Squared correlation."""

    kinds = (CONTINUOUS,)
    unit = "r^2"

    def of(self, correlations: Floats) -> Floats:
        """Return r^2."""
        return np.square(correlations)

    def correlation(self, value: float) -> float:
        """Return the absolute correlation that belongs to a value."""
        return math.sqrt(value)


class Correlation(BuiltIn):
    """Correlation without its sign."""

    kinds = (CONTINUOUS,)
    unit = "|r|"

    def of(self, correlations: Floats) -> Floats:
        """Return the absolute correlations."""
        return np.abs(correlations)

    def correlation(self, value: float) -> float:
        """Return the absolute correlation that belongs to a value."""
        return float(value)


class MI(BuiltIn):
    """Mutual information in nats: of states by their counts, of numbers by their correlation.

    Examples
    --------
    >>> MI().of(np.array([0.0, 0.5])).round(6).tolist()
    [0.0, 0.143841]
    """

    kinds = (DISCRETE, CONTINUOUS, MIXED)
    unit = "MI in nats"

    def of(self, correlations: Floats) -> Floats:
        """Return the mutual information that belongs to correlations."""
        r = np.minimum(np.abs(correlations), LARGEST)
        return np.asarray(-0.5 * np.log1p(-r * r))

    def correlation(self, value: float) -> float:
        """Return the absolute correlation that belongs to a value."""
        return math.sqrt(-math.expm1(-2.0 * value))


class Explained(Measure):
    """1 - exp(-2 I) of the mutual information I: the analogue of r^2 for columns of any kinds."""

    kinds = (DISCRETE, CONTINUOUS, MIXED)
    unit = "1 - exp(-2 MI)"

    def values(self, data: Any, first: Integers, second: Integers) -> Floats:
        """Return the value of each pair of variables."""
        return _explained(MI().values(data, first, second))

    def search(self, engine: Any, threshold: float) -> PairSearch:
        """Return the search for the pairs whose value exceeds a threshold."""
        least = math.inf if threshold >= 1.0 else -0.5 * math.log1p(-threshold)
        search = MI().search(engine, least)

        def explained(*args: Any, **options: Any) -> FoundPairs:
            found = search(*args, **options)
            return FoundPairs(found.first, found.second, _explained(found.values), found.tally)

        return explained

    def values_of_significant(self, engine: Any, pairs: FoundPairs) -> Floats:
        """Return the values of significant pairs, from their statistics."""
        return _explained(MI().values_of_significant(engine, pairs))


def _explained(information: Floats) -> Floats:
    return np.asarray(-np.expm1(-2.0 * information))
