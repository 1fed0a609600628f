"""Base of the independence tests, and how to write one of your own.

A test says how likely the data are if X and Y are independent given Z: the p-value. That is the only method
that is required. It is asked many questions at once, all with as many variables given:

>>> from scipy.stats import spearmanr
>>> class Spearman(CITest):
...     kinds = ("continuous",)
...
...     def p_values(self, data, x, y, given):
...         if given.shape[1]:
...             return np.full(len(x), np.nan)  # inconclusive: says nothing given other variables
...         return np.array([spearmanr(data.column(a), data.column(b)).pvalue for a, b in zip(x, y)])

A test that can do better than one p-value after another, or knows before counting which tests would be
inconclusive, has a method `bind` of its own, as :class:`~f2sl.stats.tests.g2.G2` has, and
``p_values = p_values_when_bound``.

The statistic of a test on contingency tables is a sum over the strata of Z, and follows a chi-squared
distribution under independence. Degrees of freedom are counted in each stratum from the rows and columns that
are not empty there. A test is inconclusive where there are fewer than 5 samples (or what else is asked for)
for each cell of the full table, which is N divided by the product of the numbers of states. Such tables are
never counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.data.column import DISCRETE
from f2sl.data.engines import CountingEngine, Queries, TableFormula, product_of_columns
from f2sl.stats.answers import (
    DEPENDENT,
    INCONCLUSIVE,
    INDEPENDENT,
    Answers,
    IndependenceTest,
    as_numbers,
)
from f2sl.stats.registries import configured

STRENGTH_DIGITS = 9
"""Decimal places to which strengths are rounded, so that algebraically equal ones are equal."""

TINIEST_P = 5e-324
"""The smallest float; a p-value of 0 counts as this, so that strengths are finite."""

SAMPLES_PER_CELL = 5.0
"""Samples that a test needs for each cell of its full table, as in MMPC (Tsamardinos, Brown and Aliferis
2006); ``docs/evidence/accuracy.md`` has results with 1."""

SMALLEST_P = 1e-280
"""Below it the logarithm of a p-value is taken by a formula of its own."""

FRACTION_TERMS = 40

NOTHING_MORE = np.zeros(1)
"""Strengths that are enough where nothing but the answers is asked for."""


@configured
class CITest:
    """Base of the tests of conditional independence: options, and a method that gives p-values."""

    kinds: tuple[str, ...] = (DISCRETE,)
    _requires = "p_values"

    def p_values(self, data: Any, x: Integers, y: Integers, given: Integers) -> Floats:
        """Return the p-value of each question; NaN where the test is inconclusive.

        Parameters
        ----------
        data : engine
            Has `n_rows`, `n_variables`, ``column(v)``; `counts` of discrete columns, `moments` of continuous
            ones.
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
        """Prepare the test to answer questions about an engine's data at the level `alpha`.

        `without_freedom` is the answer of tables without degrees of freedom, "independent" or "inconclusive",
        and `samples_per_cell` the number of samples that tables need. Tests without cells ignore both.
        """
        return ByPValues(self, engine, alpha)


def p_values_when_bound(test: CITest, data: Any, x: Integers, y: Integers, given: Integers) -> Floats:
    """Return the p-values that a test gives when it is bound: the method of tests with their own `bind`."""
    return test.bind(data).ask(x, y, given).p_value


class BoundTest:
    """A test on an engine's data, at the level `alpha`: answers batches of questions and counts them.

    With `samples_per_cell`, a test is inconclusive if it has fewer samples for each cell of its full table,
    which is known before counting; continuous variables count as one state. Without, only the p-values tell.
    """

    def __init__(self, engine: Any, alpha: float, samples_per_cell: float = 0.0) -> None:
        self.engine = engine
        self.alpha = alpha
        self.samples_per_cell = samples_per_cell
        self.n_tests = 0
        self.n_inconclusive = 0
        if samples_per_cell:
            self._states = np.maximum(engine.cardinalities, 1).astype(np.float64)

    @property
    def n_variables(self) -> int:
        """Number of variables to ask about."""
        return int(self.engine.n_variables)

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with its numbers."""
        raise NotImplementedError

    def answer(self, x: Integers, y: Integers, given: Integers) -> NDArray[np.int8]:
        """Answer each question with DEPENDENT, INDEPENDENT or INCONCLUSIVE."""
        return self.ask(x, y, given, NOTHING_MORE).answer

    def max_configurations(self, x: Integers, y: Integers) -> Floats:
        """Return how many configurations a conditioning set may have for a reliable test of x and y."""
        if not self.samples_per_cell:
            return np.full(len(x), np.inf)
        states, observed = self._states, self.engine.observed
        rows = np.minimum(observed[x], observed[y])
        return np.asarray(rows / (self.samples_per_cell * states[x] * states[y]))

    def configurations(self, given: Integers) -> Floats:
        """Return how many configurations each row of conditioning variables has."""
        return product_of_columns(self._states[given]) if self.samples_per_cell else np.ones(len(given))

    def answers(self, conclusive: NDArray[np.bool_], found: tuple[Floats, Floats, Floats]) -> Answers:
        """Return the answers from p-value, statistic and strength of the conclusive tests; count them all."""
        answers = np.full(len(conclusive), INCONCLUSIVE, np.int8)
        answers[conclusive] = np.where(found[0] > self.alpha, INDEPENDENT, DEPENDENT)
        self.n_tests += len(answers)
        self.n_inconclusive += len(answers) - len(found[0])
        if len(found[0]) == len(answers):
            return Answers(answers, *found)
        numbers = np.full((3, len(answers)), np.nan)
        numbers[:, conclusive] = found
        return Answers(answers, *numbers)


class ByPValues(BoundTest):
    """Answer questions by a test's p-values.

    X and Y, and the variables given, are handed over in ascending order: the same question asked in another
    way has the same answer.
    """

    def __init__(self, test: CITest, engine: Any, alpha: float) -> None:
        super().__init__(engine, alpha)
        self.test = test

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with p-value and strength; the statistic is unknown (NaN)."""
        p_values = np.empty(0)
        if len(x):
            asked = np.minimum(x, y), np.maximum(x, y), np.sort(given, axis=1)
            found = self.test.p_values(self.engine, *asked)
            p_values = as_numbers("p_values", found, x.shape, self.test)
        conclusive = ~np.isnan(p_values)
        known = p_values[conclusive]
        strength = np.asarray(np.round(-np.log10(np.maximum(known, TINIEST_P)), STRENGTH_DIGITS), np.float64)
        return self.answers(conclusive, (known, np.full(len(known), np.nan), strength))


class TableTest(BoundTest):
    """Independence tests on counted tables.

    Parameters
    ----------
    engine : CountingEngine
        Where tables are counted.
    alpha : float
        Level of significance.
    formula : TableFormula
        From tables to statistics and degrees of freedom, the same to the last bit with X and Y exchanged.
        Tables are ordered by stratum, X, Y; the statistic of a table with too few samples is NaN.
    without_freedom : {"independent", "inconclusive"}
        Answer of a test without degrees of freedom: within each stratum one of the two variables does
        not vary, so that nothing speaks against independence, nor for it.
    samples_per_cell : float
        Number of samples needed for each cell of the full table; at least 1.
    until_decided : TableFormula, optional
        Formula for answers alone: its statistic may be infinite instead of large.
    """

    engine: CountingEngine

    def __init__(
        self,
        engine: CountingEngine,
        alpha: float,
        formula: TableFormula,
        without_freedom: str,
        samples_per_cell: float,
        until_decided: TableFormula | None = None,
    ) -> None:
        super().__init__(engine, alpha, samples_per_cell)
        self.without_freedom = without_freedom
        self.formula = formula
        self.until_decided = until_decided or formula

    def reliable(self, x: Integers, y: Integers, given: Integers) -> NDArray[np.bool_]:
        """Return which tests have enough samples for each cell, as far as is known before counting."""
        return np.asarray(self.configurations(given) <= self.max_configurations(x, y))

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with p-value, statistic and strength.

        Dependence whose strength is `enough` or more may be reported as infinite.
        """
        reliable = self.reliable(x, y, given)
        asked = np.column_stack([given, x, y])
        if not reliable.all():
            asked = asked[reliable]
        formula = self.until_decided if enough is not None and not enough.any() else self.formula
        statistic, freedom = self.engine.evaluate(Queries.of_matrix(asked), formula, 2).T
        said = ~np.isnan(statistic)
        if self.without_freedom == "inconclusive":
            said &= freedom > 0
        if not said.all():
            reliable[reliable] = said
            statistic, freedom = statistic[said], freedom[said]
        p_values = chi_squared_tail(statistic, freedom)
        return self.answers(reliable, (p_values, statistic, strengths(statistic, freedom, p_values)))


def chi_squared_tail(statistic: Floats, freedom: Floats | Integers) -> Floats:
    """Return the p-values of chi-squared statistics; 1 without degrees of freedom.

    Examples
    --------
    >>> chi_squared_tail(np.array([3.8415, 0.0]), np.array([1, 0])).round(4).tolist()
    [0.05, 1.0]
    """
    from scipy import special  # 0.1 s, and not every learner needs it

    p_values = np.ones(len(statistic))
    tested = freedom > 0
    p_values[tested] = special.gammaincc(freedom[tested] / 2.0, np.maximum(statistic[tested], 0.0) / 2.0)
    return p_values


def strengths(statistic: Floats, freedom: Floats, p_values: Floats) -> Floats:
    """Return minus the decimal logarithm of p-values, also of those too small for a float.

    Far out in the tail the chi-squared distribution's upper part has a continued fraction that
    converges in a few steps (Abramowitz and Stegun 1964, 6.5.31).

    Examples
    --------
    >>> strengths(np.array([3.84, 4000.0]), np.array([1.0, 1.0]), np.array([0.05004, 0.0])).round(3).tolist()
    [1.301, 870.488]
    """
    seen = p_values > SMALLEST_P
    if seen.all():
        return np.asarray(np.round(-np.log10(p_values), STRENGTH_DIGITS), np.float64)
    result = np.full(len(p_values), np.inf)
    result[seen] = -np.log10(p_values[seen])
    far = ~seen & np.isfinite(statistic)
    if far.any():
        from scipy import special

        x, a = statistic[far] / 2.0, freedom[far] / 2.0
        # From the inside out: x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)).
        fraction = x + 2 * FRACTION_TERMS + 1 - a
        for i in range(FRACTION_TERMS, 0, -1):
            fraction = x + 2 * i - 1 - a - i * (i - a) / fraction
        result[far] = (x - a * np.log(x) + special.gammaln(a) + np.log(fraction)) / np.log(10.0)
    return np.round(result, STRENGTH_DIGITS)
