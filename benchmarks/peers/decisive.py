"""A G2 test that is never inconclusive: with too few samples, or nothing to test, it says "independent".

PyBNesian's tests have no third answer. They count the degrees of freedom of the full table, empty rows and
columns included, so that with few samples for each cell no statistic is significant: what cannot be tested is
independent. f2sl's tests are inconclusive there, and separate nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from f2sl.stats.answers import INCONCLUSIVE, INDEPENDENT, Answers
from f2sl.stats.tests.base import TableTest
from f2sl.stats.tests.g2 import G2


class _Decisive(TableTest):
    def max_configurations(self, x: Any, y: Any) -> Any:
        return np.full(len(x), np.inf)

    def reliable(self, x: Any, y: Any, given: Any) -> Any:
        return self.configurations(given) <= super().max_configurations(x, y)

    def ask(self, x: Any, y: Any, given: Any, enough: Any = None) -> Answers:
        answers = super().ask(x, y, given, enough)
        inconclusive = answers.answer == INCONCLUSIVE
        answers.answer[inconclusive], answers.strength[inconclusive] = INDEPENDENT, 0.0
        return answers


class DecisiveG2(G2):
    """The test as an option of a learner."""

    def bind(self, engine: Any, alpha: float = 0.01, **how: Any) -> TableTest:
        """Prepare the test to answer questions about an engine's counts."""
        test = super().bind(engine, alpha, **how)
        parts = test.formula, test.without_freedom, test.samples_per_cell, test.until_decided
        return _Decisive(test.engine, alpha, *parts)
