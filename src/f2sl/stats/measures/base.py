"""Base of the measures of pairs, and how to write one of your own.

A measure gives each pair of variables a number that grows with the strength of their relation, and is 0 (or
less, or NaN) for unrelated ones. Only this method is required:

>>> class Agreement(Measure):
...     unit = "agreement"
...
...     def values(self, data, first, second):
...         return np.array([np.mean(data.column(a) == data.column(b)) for a, b in zip(first, second)])

A measure that can find the pairs above a threshold faster than one by one may have its own method `search`,
like :class:`~f2sl.stats.measures.pairs.SU`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.constraints import Constraints
from f2sl.data.column import DISCRETE
from f2sl.data.engines import FoundPairs
from f2sl.stats.answers import TOLERANCE, as_numbers
from f2sl.stats.registries import configured

PairSearch = Callable[..., FoundPairs]
"""A search for pairs; takes `variables`, `target` and `advance` as `search_pairs` of an engine does."""


@configured
class Measure:
    """Base of the measures: options, a unit, and a method that gives the values of pairs."""

    kinds: tuple[str, ...] = (DISCRETE,)
    _requires = "values"
    unit: str = "strength"
    """Unit of the values."""

    def values(self, data: Any, first: Integers, second: Integers) -> Floats:
        """Return the value of each pair ``first[i]``, ``second[i]`` of variables, by number.

        `data` is an engine: it has `n_rows`, `n_variables`, ``column(v)``; `counts` of states, `moments` of
        numbers. The first variable of a pair has the smaller number.
        """
        raise NotImplementedError

    def search(self, engine: Any, threshold: float) -> PairSearch:
        """Return the search for the pairs whose value exceeds a threshold."""
        return WalkOverPairs(self, engine, threshold)

    def values_of_significant(self, engine: Any, pairs: FoundPairs) -> Floats:
        """Return the values of significant pairs, which come with the test's statistics as values."""
        found = self.values(engine, pairs.first, pairs.second)
        return as_numbers("values", found, pairs.first.shape, self)


class WalkOverPairs:
    """Search for related pairs by computing the value of each, a row of the triangle of pairs at a time."""

    def __init__(self, measure: Measure, engine: Any, threshold: float) -> None:
        self.measure = measure
        self.engine = engine
        self.threshold = threshold
        self.rules: Constraints | None = None  # pairs that these do not let be adjacent are not measured

    def __call__(
        self,
        variables: Integers | None = None,
        target: int | None = None,
        advance: Callable[[float], None] | None = None,
    ) -> FoundPairs:
        """Find the pairs among `variables` (default: all), or of `target` with each variable, in order."""
        chosen = np.arange(self.engine.n_variables) if variables is None else np.sort(variables)
        if target is not None:
            others = chosen[chosen != target]
            smaller, larger = others[others < target], others[others > target]
            ends = np.full(len(smaller), target), np.full(len(larger), target)
            return self._kept(np.concatenate([smaller, ends[1]]), np.concatenate([ends[0], larger]))
        parts = []
        for position, v in enumerate(chosen.tolist()):
            later = chosen[position + 1 :]
            parts.append(self._kept(np.full(len(later), v), later))
            if advance is not None:
                advance(1.0 / len(chosen))
        return FoundPairs.joined(parts)

    def _kept(self, first: Integers, second: Integers) -> FoundPairs:
        """Compute the values of some pairs and keep those above the threshold."""
        if self.rules is not None:
            allowed = self.rules.allows_adjacency(first, second)
            first, second = first[allowed], second[allowed]
        values = np.empty(0)
        if len(first):
            found = self.measure.values(self.engine, first, second)
            values = as_numbers("values", found, first.shape, self.measure)
        keep = values > self.threshold + TOLERANCE
        return FoundPairs(first[keep], second[keep], values[keep])
