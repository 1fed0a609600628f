"""Mutual information of any two columns, on one scale.

========================  ===================================================================
two state variables       I(X; Y) from their counts
two numbers               -log(1 - r^2) / 2 with their correlation r
a number and states       -log(1 - e) / 2 with the squared correlation ratio e: the share of the number's
                          variance that lies between the states, normal within each with one variance
========================  ===================================================================

The measure "information" is 1 - exp(-2 I), between 0 and 1: r^2 for two numbers, e for a number and a state
variable, and for two state variables the r^2 of two numbers with the same mutual information.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.column import CONTINUOUS, DISCRETE, MIXED
from f2sl.data.engines import FoundPairs
from f2sl.data.mixed.engine import MixedFormula
from f2sl.stats.answers import TOLERANCE
from f2sl.stats.measures.base import Measure, PairSearch
from f2sl.stats.measures.correlations import CorrelationsOver, GaussianMI
from f2sl.stats.measures.information import MI, Information, StatesMI


class MixedMI(Measure):
    """Mutual information of columns of any kinds, in nats."""

    kinds = (MIXED,)
    unit = "MI in nats"

    def values(self, data: Any, first: Integers, second: Integers) -> Floats:
        """Return the value of each pair of variables."""
        states, numbers, across = data.by_kind(FoundPairs(first, second, np.empty(len(first))))
        result = np.empty(len(first))
        result[states.which] = StatesMI().values(data, states.pairs.first, states.pairs.second)
        result[numbers.which] = GaussianMI().values(data, numbers.pairs.first, numbers.pairs.second)
        result[across.which] = of_ratios(data.ratios[across.pairs.first, across.pairs.second])
        return result

    def search(self, engine: Any, threshold: float) -> PairSearch:
        """Return the search for the pairs whose value exceeds a threshold."""
        information = Information(engine.counts)
        formula = MixedFormula(
            information.pairs_above(threshold, information.unit),
            CorrelationsOver(GaussianMI(), threshold),
            RatiosOver(threshold),
        )
        return partial(engine.search_pairs, formula)

    def values_of_significant(self, engine: Any, pairs: FoundPairs) -> Floats:
        """Return the values of significant pairs, from their statistics."""
        states, numbers, across = engine.by_kind(pairs)
        result = np.empty(len(pairs.first))
        information = Information(engine.counts)
        result[states.which] = information.from_g2(states.pairs, information.unit)
        result[numbers.which] = GaussianMI().of(numbers.pairs.values)
        result[across.which] = of_ratios(across.pairs.values)
        return result


def of_ratios(ratios: Floats) -> Floats:
    """Return the mutual information that belongs to squared correlation ratios."""
    return GaussianMI().of(np.sqrt(ratios))


@dataclass(frozen=True)
class RatiosOver:
    """Formula that keeps the pairs whose mutual information exceeds a threshold."""

    threshold: float

    def of_ratios(
        self, first: Integers, second: Integers, states: Integers, rows: Integers, ratios: Floats
    ) -> FoundPairs:
        """Keep the pairs above the threshold, with their values."""
        values = of_ratios(ratios)
        keep = values > self.threshold + TOLERANCE
        return FoundPairs(first[keep], second[keep], values[keep])


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
