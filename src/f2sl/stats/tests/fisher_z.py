"""Fisher's z test of whether X and Y are uncorrelated given S.

For jointly Gaussian variables, zero partial correlation means conditional independence. With N samples the
statistic is z = sqrt(N - |S| - 3) atanh(r), where r is the sample partial correlation; under
independence it follows the standard normal distribution nearly (Fisher 1924; for PC: Kalisch and
Bühlmann 2007).

A test is *inconclusive* if N - |S| - 3 < 1, or if S determines X or Y (up to a share `COLLINEAR` of its
variance), so that there is no residual to correlate: it separates nothing. Members of S that the others
determine have no effect. A correlation of 1 or -1 counts as the next smaller one on the grid of correlations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.available import AvailableMoments
from f2sl.data.column import CONTINUOUS
from f2sl.data.engines import FoundPairs
from f2sl.data.moments import Moments
from f2sl.stats.answers import DEPENDENT, INCONCLUSIVE, INDEPENDENT, Answers
from f2sl.stats.conditioning import LARGEST, available_correlations, partial_correlations
from f2sl.stats.measures.significance import MARGIN
from f2sl.stats.tests.base import BoundTest, CITest, p_values_when_bound, strengths

LEAST_FREEDOM = 1
"""Fewest degrees of freedom, N - |S| - 3, of a conclusive test: with none, z is 0 whatever r is."""

MOST_DOUBLINGS = 1000
"""Two to the power of this is still a float."""


class FisherZ(CITest):
    """Fisher's z test of continuous variables.

    Examples
    --------
    >>> correlations = np.array([[1.0, 0.8, 0.64], [0.8, 1.0, 0.8], [0.64, 0.8, 1.0]])
    >>> test = FisherZ().bind(Moments(100, np.ones(3), correlations))
    >>> a, b, c = np.array([[0], [1], [2]])
    >>> bool(test.answer(a, c, np.empty((1, 0), np.int64))[0] == DEPENDENT)
    True
    >>> bool(test.answer(a, c, b[:, None])[0] == INDEPENDENT)
    True
    """

    kinds = (CONTINUOUS,)
    p_values = p_values_when_bound

    def bind(self, engine: Any, alpha: float = 0.01, **how: Any) -> CorrelationTest:
        """Prepare the test to answer questions about an engine's correlations."""
        return CorrelationTest(engine.moments, alpha)

    def of_pairs(self, engine: Any) -> ZOfPairs:
        """Return the test of all pairs, whose p-values are corrected for their number."""
        return ZOfPairs(engine.moments)


class CorrelationTest(BoundTest):
    """Fisher's z tests on correlations, at the level `alpha`."""

    engine: Moments

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with p-value, statistic and strength, whatever is `enough`."""
        freedom: int | Floats = self.engine.n_rows - given.shape[1] - 3
        if not (freedom >= LEAST_FREEDOM and len(x)):
            correlations = np.full(len(x), np.nan)
        elif isinstance(self.engine, AvailableMoments):
            correlations, rows = available_correlations(self.engine, x, y, given)
            freedom = rows - given.shape[1] - 3
            correlations = np.where(freedom >= LEAST_FREEDOM, correlations, np.nan)
        else:
            correlations = partial_correlations(self.engine, x, y, given)
        answers = z_answers(correlations, freedom, self.alpha)
        self.n_tests += len(x)
        self.n_inconclusive += int((answers.answer == INCONCLUSIVE).sum())
        return answers

    def max_configurations(self, x: Integers, y: Integers) -> Floats:
        """Return how many configurations a conditioning set may have, where each variable doubles them."""
        most = self.engine.n_rows - 3 - LEAST_FREEDOM
        return np.full(len(x), 2.0 ** min(most, MOST_DOUBLINGS))

    def configurations(self, given: Integers) -> Floats:
        """Count each variable as a doubling: numbers have no states, but the size of a set matters."""
        return np.full(len(given), 2.0 ** min(given.shape[1], MOST_DOUBLINGS))


def z_answers(correlations: Floats, freedom: int | Floats, alpha: float) -> Answers:
    """Answer from partial correlations and degrees of freedom; NaN is inconclusive."""
    answers = np.full(len(correlations), INCONCLUSIVE, np.int8)
    numbers = np.full((3, len(correlations)), np.nan)
    reliable = ~np.isnan(correlations)
    if reliable.any():
        free = freedom[reliable] if isinstance(freedom, np.ndarray) else freedom
        z, p_values = z_tail(correlations[reliable], free)
        answers[reliable] = np.where(p_values > alpha, INDEPENDENT, DEPENDENT)
        # The square of a standard normal number is chi-squared with one degree of freedom.
        numbers[:, reliable] = p_values, z, strengths(z * z, np.ones(len(z)), p_values)
    return Answers(answers, *numbers)


def z_tail(correlations: Floats, freedom: int | Floats) -> tuple[Floats, Floats]:
    """Return Fisher's z of partial correlations with these degrees of freedom, and the p-values.

    Examples
    --------
    >>> z, p_values = z_tail(np.array([0.19355]), 100)
    >>> z.round(3).tolist(), p_values.round(3).tolist()
    ([1.96], [0.05])
    """
    from scipy import special  # 0.1 s, and not every learner needs it

    z = np.sqrt(np.maximum(freedom, 0)) * np.arctanh(np.clip(correlations, -LARGEST, LARGEST))
    return z, np.asarray(special.erfc(np.abs(z) / np.sqrt(2.0)))


@dataclass(frozen=True)
class CorrelationsAbove:
    """Formula that keeps pairs whose absolute correlation exceeds the last of some rising thresholds."""

    thresholds: Floats

    @property
    def weakest(self) -> float:
        """Lower bound of the absolute correlation of tallied pairs."""
        return float(self.thresholds[0])

    def of_correlations(self, first: Integers, second: Integers, correlations: Floats) -> FoundPairs:
        """Keep the pairs above the last threshold, with their correlations, and tally those above each."""
        above = np.abs(correlations)[:, None] > self.thresholds
        keep = above[:, -1]
        return FoundPairs(first[keep], second[keep], correlations[keep], above.sum(axis=0))


class ZOfPairs:
    """Fisher's z test of all pairs, for :class:`~f2sl.stats.measures.significance.SignificantPairs`.

    Without enough samples for the test no pair is significant. With missing continuous values, the formula is
    that of the pair with most samples: it may keep too many pairs, and p-values decide.
    """

    def __init__(self, engine: Moments) -> None:
        self._engine = engine
        self._freedom = engine.n_rows - 3

    def formula(self, levels: Floats) -> CorrelationsAbove:
        """Return a formula that keeps all pairs with a p-value up to the last of some falling levels."""
        if self._freedom < LEAST_FREEDOM:
            return CorrelationsAbove(np.full(len(levels), np.inf))
        from scipy import special

        critical = np.tanh(math.sqrt(2.0 / self._freedom) * special.erfcinv(levels))
        return CorrelationsAbove(critical * (1.0 - MARGIN))

    def p_values(self, found: FoundPairs) -> Floats:
        """Return p-values of the pairs that the formula kept, from their correlations."""
        if isinstance(self._engine, AvailableMoments):
            freedom = self._engine.pair_rows[found.first, found.second] - 3
            return np.where(freedom >= LEAST_FREEDOM, z_tail(found.values, freedom)[1], 1.0)
        return z_tail(found.values, self._freedom)[1]
