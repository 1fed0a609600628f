"""Fisher's z test of whether X and Y are uncorrelated once S is known.

Of jointly Gaussian variables, zero partial correlation is conditional independence. With N samples the
statistic is z = sqrt(N - |S| - 3) atanh(r), where r is the sample partial correlation; under
independence it follows the standard normal distribution nearly (Fisher 1924; for PC: Kalisch and
Bühlmann 2007).

A test is *unreliable* where N - |S| - 3 < 1, and where S decides X or Y (but for `COLLINEAR` of its
variance), so that nothing is left to correlate: it separates nothing. Members of S that the others decide add
nothing and change nothing. A correlation of 1 or -1 counts as the next smaller one on the grid of
correlations.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.stats.answers import DEPENDENT, INDEPENDENT, UNRELIABLE, Answers
from f2sl.stats.gaussian import _kernels
from f2sl.stats.independence import strengths
from f2sl.stats.subsets import subsets
from f2sl.storage.moments import DIGITS, Moments

COLLINEAR = 1e-8
"""A variable of which no greater share of the variance is left, given others, is decided by them."""

LARGEST = 1.0 - 10.0**-DIGITS
"""The largest correlation that is computed with."""

LEAST_FREEDOM = 1
QUESTIONS_PER_PIECE = 1 << 14

MOST_DOUBLINGS = 1000
"""Two to the power of this is still a float."""


class FisherZ:
    """Independence tests on correlations.

    Parameters
    ----------
    engine : Moments
        Whose correlations.
    alpha : float
        Level of significance.

    Examples
    --------
    A chain a - b - c: the ends are dependent, and independent given what is between them.

    >>> correlations = np.array([[1, 0.8, 0.64], [0.8, 1, 0.8], [0.64, 0.8, 1]])
    >>> test = FisherZ(Moments(100, np.ones(3), correlations))
    >>> a, b, c = np.array([[0], [1], [2]])
    >>> bool(test.answer(a, c, np.empty((1, 0), np.int64))[0] == DEPENDENT)
    True
    >>> bool(test.answer(a, c, b[:, None])[0] == INDEPENDENT)
    True
    """

    def __init__(self, engine: Moments, alpha: float = 0.01) -> None:
        self.engine = engine
        self.alpha = alpha
        self.n_tests = 0
        self.n_unreliable = 0

    @property
    def n_variables(self) -> int:
        """How many variables there are to ask about."""
        return self.engine.n_variables

    def answer(self, x: Integers, y: Integers, given: Integers) -> NDArray[np.int8]:
        """Answer each question with DEPENDENT, INDEPENDENT or UNRELIABLE."""
        return self.ask(x, y, given).answer

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with p-value, statistic and strength, which costs no more than `enough`."""
        freedom = self.engine.n_rows - given.shape[1] - 3
        if freedom >= LEAST_FREEDOM and len(x):
            correlations = self.partial_correlations(x, y, given)
        else:
            correlations = np.full(len(x), np.nan)
        answers = z_answers(correlations, freedom, self.alpha)
        self.n_tests += len(x)
        self.n_unreliable += int((answers.answer == UNRELIABLE).sum())
        return answers

    def partial_correlations(self, x: Integers, y: Integers, given: Integers) -> Floats:
        """Correlation of each x and y given a row of others; not a number where those decide x or y."""
        correlations = self.engine.correlations
        if not given.shape[1]:
            return np.asarray(correlations[x, y])
        # The same set in another order is the same question.
        ordered = np.sort(given, axis=1)
        result = np.empty(len(x))

        def piece(first: int) -> None:
            part = slice(first, first + QUESTIONS_PER_PIECE)
            _kernels.partial_correlations(
                correlations, x[part], y[part], ordered[part], COLLINEAR, result[part]
            )

        for _ in self.engine.threads.map(piece, range(0, len(x), QUESTIONS_PER_PIECE)):
            pass
        return result

    def max_configurations(self, x: Integers, y: Integers) -> Floats:
        """How many configurations a conditioning set may have, where each variable doubles them."""
        most = self.engine.n_rows - 3 - LEAST_FREEDOM
        return np.full(len(x), 2.0 ** min(most, MOST_DOUBLINGS))

    def configurations(self, given: Integers) -> Floats:
        """Count each variable of a set for a doubling: numbers have no states, but the size matters alike."""
        return np.full(len(given), 2.0 ** min(given.shape[1], MOST_DOUBLINGS))

    def reliable_subsets(self, x: int, y: int, among: Integers, size: int) -> Iterator[Integers]:
        """Subsets of `among` without x and y that are small enough for a reliable test, some at a time."""
        if self.engine.n_rows - size - 3 >= LEAST_FREEDOM:
            yield from subsets(among[(among != x) & (among != y)], size)


def z_answers(correlations: Floats, freedom: int, alpha: float) -> Answers:
    """Answer by partial correlations with so many degrees of freedom; not a number is unreliable."""
    answers = np.full(len(correlations), UNRELIABLE, np.int8)
    numbers = np.full((3, len(correlations)), np.nan)
    reliable = ~np.isnan(correlations)
    if reliable.any():
        z, p_values = z_tail(correlations[reliable], freedom)
        answers[reliable] = np.where(p_values > alpha, INDEPENDENT, DEPENDENT)
        # The square of a standard normal number is chi-squared with one degree of freedom.
        numbers[:, reliable] = p_values, z, strengths(z * z, np.ones(len(z)), p_values)
    return Answers(answers, *numbers)


def z_tail(correlations: Floats, freedom: int) -> tuple[Floats, Floats]:
    """Fisher's z of partial correlations with so many degrees of freedom, and the p-values.

    Examples
    --------
    >>> z, p_values = z_tail(np.array([0.19355]), 100)
    >>> z.round(3).tolist(), p_values.round(3).tolist()
    ([1.96], [0.05])
    """
    from scipy.special import erfc

    z = np.sqrt(max(freedom, 0)) * np.arctanh(np.clip(correlations, -LARGEST, LARGEST))
    return z, np.asarray(erfc(np.abs(z) / np.sqrt(2.0)))
