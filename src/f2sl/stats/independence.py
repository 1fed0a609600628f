"""Tests of conditional independence on contingency tables.

The G2 statistic of X and Y given Z is 2 N I(X; Y | Z); Pearson's X2 compares observed with
expected counts. Under independence both follow a chi-squared distribution. Degrees of
freedom are counted in each stratum of Z from the rows and columns that are not empty there.

A test answers in one of three ways. *Independent*: p > alpha. *Dependent*: p <= alpha. *Unreliable*: fewer
than 5 samples (or what else is asked for) for each cell of the full table, which is N divided by the
product of the numbers of states, so that neither can be claimed. What an unreliable test means is for the
algorithm to say; it is never counted at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.errors import OptionError, unknown_name
from f2sl.stats import _kernels
from f2sl.stats.answers import DEPENDENT, INDEPENDENT, UNRELIABLE, Answers
from f2sl.stats.information import LOGARITHMS, LogTable
from f2sl.stats.subsets import subsets
from f2sl.stats.until_decided import UntilDecided
from f2sl.storage.protocol import CountingEngine, Queries, TableFormula, Tables

SAMPLES_PER_CELL = 5.0

STRENGTH_DIGITS = 9
"""Strengths are rounded to this many decimal places: what is equal in algebra is equal here, too."""

SMALLEST_P = 1e-280
"""Below it the logarithm of a p-value is taken by a formula of its own."""

FRACTION_TERMS = 40

ROUNDING_UNITS = 1000
"""Sums of n log n are not told from zero below so many of their units."""

CI_TESTS = {"g2": "likelihood-ratio test (G2)", "x2": "Pearson's chi-squared test (X2)"}
"""Tests by the name they are asked for."""


class TableTest:
    """Independence tests on counted tables.

    Parameters
    ----------
    engine : CountingEngine
        Where tables are counted.
    alpha : float
        Level of significance.
    ci_test : {"g2", "x2"}
        The statistic.
    without_freedom : {"independent", "unreliable"}
        What a test without degrees of freedom answers: within each stratum one of the two variables does
        not vary, so that nothing speaks against independence, nor for it.
    samples_per_cell : float
        How many samples there must be for each cell of the full table; at least 1.
    """

    def __init__(
        self,
        engine: CountingEngine,
        alpha: float = 0.01,
        ci_test: str = "g2",
        without_freedom: str = "independent",
        samples_per_cell: float = SAMPLES_PER_CELL,
    ) -> None:
        if ci_test not in CI_TESTS:
            raise OptionError(unknown_name("independence test", ci_test, CI_TESTS))
        self.engine = engine
        self.alpha = alpha
        self.ci_test = ci_test
        self.without_freedom = without_freedom
        self.samples_per_cell = samples_per_cell
        self.n_tests = 0
        self.n_unreliable = 0
        self.formula = Statistic(ci_test, LogTable(engine.n_rows))
        self._until_decided = UntilDecided(self.formula, engine, alpha)

    @property
    def n_variables(self) -> int:
        """How many variables there are to ask about."""
        return len(self.engine.cardinalities)

    def answer(self, x: Integers, y: Integers, given: Integers) -> NDArray[np.int8]:
        """Answer each question with DEPENDENT, INDEPENDENT or UNRELIABLE."""
        return self._answers(x, y, given, self._until_decided if self.ci_test == "g2" else self.formula)[0]

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with p-value, statistic and strength.

        Dependence whose strength is `enough` or more may be told as if there were no end to it.
        """
        formula: TableFormula = self.formula
        if enough is not None and self.ci_test == "g2":
            formula = self._until_decided.with_strengths(x, y, enough)
        answers, reliable, (statistic, freedom, p_values) = self._answers(x, y, given, formula)
        numbers = np.full((3, len(x)), np.nan)
        numbers[:, reliable] = p_values, statistic, strengths(statistic, freedom, p_values)
        return Answers(answers, *numbers)

    def _answers(
        self, x: Integers, y: Integers, given: Integers, formula: TableFormula
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_], tuple[Floats, Floats, Floats]]:
        """Give all answers, which tests were reliable, and the numbers of these as `measure` does."""
        answers = np.full(len(x), UNRELIABLE, np.int8)
        reliable = self.reliable(x, y, given)
        statistic, freedom, p_values = self.measure(x[reliable], y[reliable], given[reliable], formula)
        if self.without_freedom == "unreliable":
            said = freedom > 0
            reliable[reliable] = said
            statistic, freedom, p_values = statistic[said], freedom[said], p_values[said]
        answers[reliable] = np.where(p_values > self.alpha, INDEPENDENT, DEPENDENT)
        self.n_tests += len(x)
        self.n_unreliable += int(len(x) - reliable.sum())
        return answers, reliable, (statistic, freedom, p_values)

    def reliable(self, x: Integers, y: Integers, given: Integers) -> NDArray[np.bool_]:
        """Say which tests have enough samples for each cell."""
        return np.asarray(self.configurations(given) <= self.max_configurations(x, y))

    def max_configurations(self, x: Integers, y: Integers) -> Floats:
        """How many configurations a conditioning set may have for a reliable test of x and y."""
        cardinalities = self.engine.cardinalities
        return np.asarray(self.engine.n_rows / (self.samples_per_cell * cardinalities[x] * cardinalities[y]))

    def configurations(self, given: Integers) -> Floats:
        """How many configurations each row of conditioning variables has."""
        return np.asarray(self.engine.cardinalities[given].prod(axis=1, dtype=np.float64))

    def reliable_subsets(self, x: int, y: int, among: Integers, size: int) -> Iterator[Integers]:
        """Subsets of `among` without x and y that are small enough for a reliable test, some at a time."""
        cardinalities = self.engine.cardinalities
        [room] = self.max_configurations(np.array([x]), np.array([y]))
        members = among[(among != x) & (among != y) & (cardinalities[among] <= room)]
        if np.sort(cardinalities[members])[:size].prod(dtype=np.float64) > room:
            return
        for sets in subsets(members, size):
            yield sets[self.configurations(sets) <= room]

    def measure(
        self, x: Integers, y: Integers, given: Integers, formula: TableFormula | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """Statistic, degrees of freedom and p-value of each test, on at most as many cells as samples."""
        # The same question asked with X and Y exchanged is the same question.
        queries = Queries.of_matrix(np.column_stack([given, np.minimum(x, y), np.maximum(x, y)]))
        statistic, freedom = self.engine.evaluate(queries, formula or self.formula, width=2).T
        return statistic, freedom, chi_squared_tail(statistic, freedom)


@dataclass(frozen=True)
class Statistic:
    """Formula for the statistic of a test and its degrees of freedom."""

    ci_test: str
    table: LogTable

    def __call__(self, tables: Tables) -> Floats:
        """Give both for each table, which is ordered by stratum, then X, then Y."""
        if not tables.full.all():
            raise ValueError("a test's table has more cells than there are samples: nothing can be said")
        width = tables.queries.start[1]
        k_x = tables.cardinalities[tables.queries.variables[width - 2 :: width]]
        k_y = tables.cardinalities[tables.queries.variables[width - 1 :: width]]
        result = np.empty((len(tables.queries), 2))
        statistic = np.empty(len(tables.queries))
        freedom = np.empty(len(tables.queries), np.int64)
        chi_squared = self.ci_test == "x2"
        # X2 is at most N (min(k_x, k_y) - 1), and no table has more than N cells: below N^1.5.
        x2_unit = 2.0 ** (math.ceil(1.5 * math.log2(tables.n_rows + 1)) - 61)
        unit = x2_unit if chi_squared else self.table.unit
        _kernels.stratified_tests(
            tables.counts,
            tables.cell_start,
            k_x,
            k_y,
            chi_squared,
            self.table.entries,
            LOGARITHMS,
            self.table.unit,
            unit,
            statistic,
            freedom,
        )
        result[:, 0], result[:, 1] = statistic if chi_squared else self.without_rounding(statistic), freedom
        return result

    def without_rounding(self, statistic: Floats) -> Floats:
        """Take away what is left of exact independence by rounding n log n; true differences are larger."""
        return np.where(statistic < ROUNDING_UNITS * self.table.unit, 0.0, statistic)


def chi_squared_tail(statistic: Floats, freedom: Floats | Integers) -> Floats:
    """p-values of statistics that follow the chi-squared distribution; 1 without degrees of freedom.

    Examples
    --------
    >>> chi_squared_tail(np.array([3.8415, 0.0]), np.array([1, 0])).round(4).tolist()
    [0.05, 1.0]
    """
    from scipy.special import gammaincc

    p_values = np.ones(len(statistic))
    tested = freedom > 0
    p_values[tested] = gammaincc(freedom[tested] / 2.0, np.maximum(statistic[tested], 0.0) / 2.0)
    return p_values


def strengths(statistic: Floats, freedom: Floats, p_values: Floats) -> Floats:
    """Minus the decimal logarithm of p-values, also of those too small for a float.

    Far out in the tail the chi-squared distribution's upper part has a continued fraction that
    converges in a few steps (Abramowitz and Stegun 1964, 6.5.31).

    Examples
    --------
    >>> strengths(np.array([3.84, 4000.0]), np.array([1.0, 1.0]), np.array([0.05004, 0.0])).round(3).tolist()
    [1.301, 870.488]
    """
    from scipy.special import gammaln

    result = np.full(len(p_values), np.inf)
    seen = p_values > SMALLEST_P
    result[seen] = -np.log10(p_values[seen])
    far = ~seen & np.isfinite(statistic)
    if far.any():
        x, a = statistic[far] / 2.0, freedom[far] / 2.0
        # From the inside out: x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)).
        fraction = x + 2 * FRACTION_TERMS + 1 - a
        for i in range(FRACTION_TERMS, 0, -1):
            fraction = x + 2 * i - 1 - a - i * (i - a) / fraction
        result[far] = (x - a * np.log(x) + gammaln(a) + np.log(fraction)) / np.log(10.0)
    return np.round(result, STRENGTH_DIGITS)
