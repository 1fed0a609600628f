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
unreliable, has a method `bind` of its own, as :class:`~f2sl.stats.tests.g2.G2` has, and is a `BindingTest`.

The statistic of a test on contingency tables is a sum over the strata of Z, and follows a chi-squared
distribution under independence. Degrees of freedom are counted in each stratum from the rows and columns that
are not empty there. A test is unreliable where there are fewer than 5 samples (or what else is asked for) for
each cell of the full table, which is N divided by the product of the numbers of states. Such tables are never
counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.data.engines import (
    CountingEngine,
    PlaneTables,
    Queries,
    TableFormula,
    Tables,
    product_of_columns,
)
from f2sl.stats.answers import (
    DEPENDENT,
    INCONCLUSIVE,
    INDEPENDENT,
    Answers,
    IndependenceTest,
    as_numbers,
)
from f2sl.stats.registries import Configured

STRENGTH_DIGITS = 9
"""Decimal places to which strengths are rounded, so that algebraically equal ones are equal."""

TINIEST_P = 5e-324
"""The smallest float; a p-value of 0 counts as this, so that strengths are finite."""

SAMPLES_PER_CELL = 5.0

SMALLEST_P = 1e-280
"""Below it the logarithm of a p-value is taken by a formula of its own."""

FRACTION_TERMS = 40


class CITest(Configured):
    """Base of the tests of conditional independence: options, and a method that gives p-values."""

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
        """Prepare the test to answer questions about an engine's data at the level `alpha`.

        `without_freedom` is the answer of tables without degrees of freedom, "independent" or "inconclusive",
        and `samples_per_cell` the number of samples that tables need. Tests without cells ignore both.
        """
        return ByPValues(self, engine, alpha)


class BindingTest(CITest):
    """Base class of tests with their own `bind`, which also gives the p-values."""

    requires = "bind"

    def p_values(self, data: Any, x: Integers, y: Integers, given: Integers) -> Floats:
        """Return the p-value of each question; NaN where the test is unreliable."""
        return self.bind(data).ask(x, y, given).p_value


class BoundTest:
    """Base of the tests that are bound to data: counts them, and takes all to be reliable until made."""

    def __init__(self, engine: Any, alpha: float) -> None:
        self.engine = engine
        self.alpha = alpha
        self.n_tests = 0
        self.n_inconclusive = 0

    @property
    def n_variables(self) -> int:
        """Number of variables to ask about."""
        return int(self.engine.n_variables)

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with its numbers."""
        raise NotImplementedError

    def answer(self, x: Integers, y: Integers, given: Integers) -> NDArray[np.int8]:
        """Answer each question with DEPENDENT, INDEPENDENT or INCONCLUSIVE."""
        return self.ask(x, y, given).answer

    def max_configurations(self, x: Integers, y: Integers) -> Floats:
        """Return how many configurations a conditioning set may have for a reliable test: any number."""
        return np.full(len(x), np.inf)

    def configurations(self, given: Integers) -> Floats:
        """Return how many configurations each row of conditioning variables counts for."""
        return np.ones(len(given))


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
        inconclusive = np.isnan(p_values)
        answers = np.where(p_values > self.alpha, INDEPENDENT, DEPENDENT).astype(np.int8)
        answers[inconclusive] = INCONCLUSIVE
        strengths = np.asarray(np.round(-np.log10(np.maximum(p_values, TINIEST_P)), STRENGTH_DIGITS), float)
        self.n_tests += len(x)
        self.n_inconclusive += int(inconclusive.sum())
        return Answers(answers, p_values, np.full(len(x), np.nan), strengths)


class ByCells(BoundTest):
    """Base class of tests that need some samples for each configuration of states; numbers have none."""

    def __init__(self, engine: Any, alpha: float, samples_per_cell: float | None = None) -> None:
        super().__init__(engine, alpha)
        self.samples_per_cell = SAMPLES_PER_CELL if samples_per_cell is None else samples_per_cell
        self._states = np.maximum(engine.cardinalities, 1).astype(np.float64)

    def reliable(self, x: Integers, y: Integers, given: Integers) -> NDArray[np.bool_]:
        """Return which tests have enough samples for each cell, as far as is known before counting."""
        return np.asarray(self.configurations(given) <= self.max_configurations(x, y))

    def max_configurations(self, x: Integers, y: Integers) -> Floats:
        """Return how many configurations a conditioning set may have for a reliable test of x and y."""
        states, observed = self._states, self.engine.observed
        rows = np.minimum(observed[x], observed[y])
        return np.asarray(rows / (self.samples_per_cell * states[x] * states[y]))

    def configurations(self, given: Integers) -> Floats:
        """Return how many configurations each row of conditioning variables has."""
        return product_of_columns(self._states[given])


class TableTest(ByCells):
    """Independence tests on counted tables.

    Parameters
    ----------
    engine : CountingEngine
        Where tables are counted.
    alpha : float
        Level of significance.
    formula : TableFormula
        From tables to statistics and degrees of freedom.
    without_freedom : {"independent", "inconclusive"}
        Answer of a test without degrees of freedom: within each stratum one of the two variables does
        not vary, so that nothing speaks against independence, nor for it.
    samples_per_cell : float, optional
        Number of samples needed for each cell of the full table; at least 1, by default 5.
    """

    engine: CountingEngine
    exchangeable = False
    """True if the formula gives the same numbers, to the last bit, with X and Y exchanged."""

    def __init__(
        self,
        engine: CountingEngine,
        alpha: float,
        formula: TableFormula,
        without_freedom: str = "independent",
        samples_per_cell: float | None = None,
    ) -> None:
        super().__init__(engine, alpha, samples_per_cell)
        self.without_freedom = without_freedom
        self.formula = EnoughRows(formula, self.samples_per_cell) if engine.presence.any else formula

    def answer(self, x: Integers, y: Integers, given: Integers) -> NDArray[np.int8]:
        """Answer each question with DEPENDENT, INDEPENDENT or INCONCLUSIVE."""
        return self._answers(x, y, given, self._formula_of_answers())[0]

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with p-value, statistic and strength.

        Dependence whose strength is `enough` or more may be reported as infinite.
        """
        only_answers = enough is not None and not enough.any()
        formula = self._formula_of_answers() if only_answers else self.formula
        answers, reliable, (statistic, freedom, p_values) = self._answers(x, y, given, formula)
        found = p_values, statistic, strengths(statistic, freedom, p_values)
        if len(statistic) == len(x):
            return Answers(answers, *found)
        numbers = np.full((3, len(x)), np.nan)
        numbers[:, reliable] = found
        return Answers(answers, *numbers)

    def _formula_of_answers(self) -> TableFormula:
        """Return a formula that serves where nothing but the answers is asked for."""
        return self.formula

    def _answers(
        self, x: Integers, y: Integers, given: Integers, formula: TableFormula
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_], tuple[Floats, Floats, Floats]]:
        """Return all answers, which tests were reliable, and the numbers of these as `measure` does."""
        answers = np.full(len(x), INCONCLUSIVE, np.int8)
        reliable = self.reliable(x, y, given)
        if not reliable.all():
            x, y, given = x[reliable], y[reliable], given[reliable]
        statistic, freedom, p_values = self.measure(x, y, given, formula)
        said = ~np.isnan(statistic)
        if self.without_freedom == "inconclusive":
            said &= freedom > 0
        if not said.all():
            reliable[reliable] = said
            statistic, freedom, p_values = statistic[said], freedom[said], p_values[said]
        answers[reliable] = np.where(p_values > self.alpha, INDEPENDENT, DEPENDENT)
        self.n_tests += len(answers)
        self.n_inconclusive += len(answers) - len(statistic)
        return answers, reliable, (statistic, freedom, p_values)

    def measure(
        self, x: Integers, y: Integers, given: Integers, formula: TableFormula | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """Return statistic, degrees of freedom and p-value of each test.

        No table may have more cells than there are samples.
        """
        # The same question asked with X and Y exchanged is the same question.
        if not self.exchangeable:
            x, y = np.minimum(x, y), np.maximum(x, y)
        asked = np.empty((len(x), given.shape[1] + 2), np.int64)
        asked[:, :-2], asked[:, -2], asked[:, -1] = given, x, y
        queries = Queries.of_matrix(asked)
        statistic, freedom = self.engine.evaluate(queries, formula or self.formula, width=2).T
        return statistic, freedom, chi_squared_tail(statistic, freedom)


@dataclass(frozen=True)
class EnoughRows:
    """Formula of a test whose statistic is NaN where a table has too few samples for each cell."""

    formula: TableFormula
    samples_per_cell: float

    def __call__(self, tables: Tables) -> Floats:
        """Return statistic and degrees of freedom of each table."""
        found = self.formula(tables)
        needed = self.samples_per_cell * np.diff(tables.cell_start)  # tables are full
        found[tables.totals < needed, 0] = np.nan
        return found

    @property
    def of_planes(self) -> Callable[[PlaneTables], Floats] | None:
        """The formula's own way to count bit planes, if it has one."""
        counting = getattr(self.formula, "of_planes", None)
        return None if counting is None else partial(counting, samples_per_cell=self.samples_per_cell)


class OnTables(BindingTest):
    """Base of the tests whose statistic is a formula on contingency tables."""

    requires = "formula"
    bound: type[TableTest] = TableTest
    """Class of the test on an engine's counts."""

    def formula(self, engine: CountingEngine) -> TableFormula:
        """Return the formula for statistic and degrees of freedom; tables are ordered by stratum, X, Y."""
        raise NotImplementedError

    def bind(
        self,
        engine: Any,
        alpha: float = 0.01,
        *,
        without_freedom: str = "independent",
        samples_per_cell: float | None = None,
    ) -> TableTest:
        """Prepare the test to answer questions about an engine's counts."""
        counts = engine.counts
        return self.bound(counts, alpha, self.formula(counts), without_freedom, samples_per_cell)


def states_of_pairs(tables: Tables) -> tuple[Integers, Integers]:
    """Return the numbers of states of X and Y, the last two variables of each table; tables must be full."""
    if not tables.full.all():
        raise ValueError("a test's table has more cells than samples")
    width = tables.queries.start[1]
    k_x = tables.cardinalities[tables.queries.variables[width - 2 :: width]]
    return k_x, tables.cardinalities[tables.queries.variables[width - 1 :: width]]


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
