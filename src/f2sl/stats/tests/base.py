"""What an independence test is, and how to write one of your own.

A test says how likely the data are if X and Y are independent given Z: the p-value. That is the only method
that is required. It is asked many questions at once, all with as many variables given:

>>> from scipy.stats import spearmanr
>>> class Spearman(CITest):
...     kinds = ("number",)
...
...     def p_values(self, data, x, y, given):
...         if given.shape[1]:
...             return np.full(len(x), np.nan)  # unreliable: says nothing given other variables
...         return np.array([spearmanr(data.column(a), data.column(b)).pvalue for a, b in zip(x, y)])

A test that can do better than one p-value after another, or knows before counting which tests would be
unreliable, has a method `bind` of its own, as :class:`~f2sl.stats.tests.g2.G2` has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.stats.answers import DEPENDENT, INDEPENDENT, UNRELIABLE, Answers, IndependenceTest, subsets
from f2sl.stats.registries import Configured

STRENGTH_DIGITS = 9
"""Strengths are rounded to this many decimal places: what is equal in algebra is equal here, too."""

TINIEST_P = 5e-324
"""The smallest float; a p-value of 0 counts as this, so that strengths are finite."""


class CITest(Configured):
    """Base of the tests of conditional independence: options, and a method that gives p-values.

    A test that is to decide which of all pairs are related beyond chance (``delta="auto"``) has a method
    ``of_pairs(engine)``, which gives a :class:`~f2sl.stats.measures.significance.PairTest`.
    """

    requires = "p_values"

    def p_values(self, data: Any, x: Integers, y: Integers, given: Integers) -> Floats:
        """Return the p-value of each question; NaN where the test is unreliable.

        Parameters
        ----------
        data : engine
            Has `n_rows`, `n_variables`, ``column(v)``; `counts` of states, `moments` of numbers.
        x, y : ndarray of shape (m,)
            Variables, by number.
        given : ndarray of shape (m, k)
            Conditioning variables of each question.
        """
        raise NotImplementedError

    def bind(
        self,
        engine: Any,
        alpha: float = 0.01,
        *,
        without_freedom: str = "independent",
        samples_per_cell: float | None = None,
    ) -> IndependenceTest:
        """Make the test ready to answer questions about an engine's data at the level `alpha`.

        `without_freedom` says what tables without degrees of freedom answer, "independent" or "unreliable",
        and `samples_per_cell` how many samples tables need; tests that do not count cells pass over both.
        """
        return ByPValues(self, engine, alpha)


class BoundTest:
    """Base of the tests that are bound to data: counts them, and takes all to be reliable until made."""

    def __init__(self, engine: Any, alpha: float) -> None:
        self.engine = engine
        self.alpha = alpha
        self.n_tests = 0
        self.n_unreliable = 0

    @property
    def n_variables(self) -> int:
        """Number of variables to ask about."""
        return int(self.engine.n_variables)

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with its numbers."""
        raise NotImplementedError

    def answer(self, x: Integers, y: Integers, given: Integers) -> NDArray[np.int8]:
        """Answer each question with DEPENDENT, INDEPENDENT or UNRELIABLE."""
        return self.ask(x, y, given).answer

    def max_configurations(self, x: Integers, y: Integers) -> Floats:
        """Return how many configurations a conditioning set may have for a reliable test: any number."""
        return np.full(len(x), np.inf)

    def configurations(self, given: Integers) -> Floats:
        """Return how many configurations each row of conditioning variables counts for."""
        return np.ones(len(given))

    def reliable_subsets(self, x: int, y: int, among: Integers, size: int) -> Iterator[Integers]:
        """Yield the subsets of `among` without x and y, some at a time."""
        yield from subsets(among[(among != x) & (among != y)], size)


class ByPValues(BoundTest):
    """Answer questions by a test's p-values.

    X and Y, and the variables given, are handed over in ascending order: the same question asked in another
    way has the same answer.
    """

    def __init__(self, test: CITest, engine: Any, alpha: float) -> None:
        super().__init__(engine, alpha)
        self.test = test

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with p-value and strength; the statistic is not known."""
        p_values = np.empty(0)
        if len(x):
            asked = np.minimum(x, y), np.maximum(x, y), np.sort(given, axis=1)
            p_values = np.asarray(self.test.p_values(self.engine, *asked), np.float64)
        if p_values.shape != (len(x),):
            raise ValueError(
                f"{self.test!r}: p_values gave an array of shape {p_values.shape} for {len(x)} questions"
            )
        unreliable = np.isnan(p_values)
        answers = np.where(p_values > self.alpha, INDEPENDENT, DEPENDENT).astype(np.int8)
        answers[unreliable] = UNRELIABLE
        strengths = np.asarray(np.round(-np.log10(np.maximum(p_values, TINIEST_P)), STRENGTH_DIGITS), float)
        self.n_tests += len(x)
        self.n_unreliable += int(unreliable.sum())
        return Answers(answers, p_values, np.full(len(x), np.nan), strengths)
