"""The questions that independence tests take, and their answers; imports no compiled code.

A test has three possible answers. *Independent*: p > alpha. *Dependent*: p <= alpha. *Inconclusive*:
there are too few samples, or nothing is left to test, so neither can be claimed. Each algorithm defines how
it treats an inconclusive test.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, combinations, islice
from math import comb
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.errors import OptionError, shown

DEPENDENT, INDEPENDENT, INCONCLUSIVE = 0, 1, 2

TOLERANCE = 1e-10
"""Two values of SU or of information nearer than this are equal: rounding decides nothing."""


class Answers(NamedTuple):
    """Answers to a batch of questions, one entry for each.

    `answer` is DEPENDENT, INDEPENDENT or INCONCLUSIVE. `strength` is minus the decimal logarithm of the
    p-value, also if the p-value itself is too small for a float: the larger, the stronger the evidence of
    dependence. The numbers of an inconclusive test are NaN.
    """

    answer: NDArray[np.int8]
    p_value: Floats
    statistic: Floats
    strength: Floats

    def part(self, first: int, last: int) -> Answers:
        """Return answers `first` to `last` (not included)."""
        part = slice(first, last)
        return Answers(self.answer[part], self.p_value[part], self.statistic[part], self.strength[part])


class IndependenceTest(Protocol):
    """Object that answers batches of questions "is X independent of Y given Z?"."""

    n_tests: int
    n_inconclusive: int

    @property
    def n_variables(self) -> int:
        """Number of variables to ask about."""

    def ask(self, x: Integers, y: Integers, given: Integers, enough: Floats | None = None) -> Answers:
        """Answer each question, with its numbers; `given` has one row of conditioning variables for each.

        Dependence whose strength is `enough` or more may be reported as infinite.
        """

    def answer(self, x: Integers, y: Integers, given: Integers) -> NDArray[np.int8]:
        """Answer each question; `given` has one row of conditioning variables for each."""

    def max_configurations(self, x: Integers, y: Integers) -> Floats:
        """Return how many configurations a conditioning set may have for a conclusive test of x and y."""

    def configurations(self, given: Integers) -> Floats:
        """Return how many configurations each row of conditioning variables has: the product of theirs."""


SUBSETS_AT_A_TIME = 1 << 15
"""Largest number of subsets in one array; more subsets take several arrays."""


@lru_cache(maxsize=256)
def _few_positions(n: int, size: int) -> Integers:
    """Return the positions of all subsets, cached; only for few subsets."""
    return next(_positions(n, size))


def _positions(n: int, size: int) -> Iterator[Integers]:
    """Yield the positions of all subsets of `size` among `n` things, in lexicographic order."""
    all_subsets = combinations(range(n), size)
    left = comb(n, size)
    while left > 0:
        rows = min(left, SUBSETS_AT_A_TIME)
        flat = chain.from_iterable(islice(all_subsets, rows))
        positions = np.fromiter(flat, np.int64, rows * size).reshape(rows, size)
        positions.setflags(write=False)
        yield positions
        left -= rows


def subsets(members: Integers, size: int) -> Iterator[Integers]:
    """Yield all subsets of `size` of `members`, one a row, in the order of the members, some at a time.

    Examples
    --------
    >>> [part.tolist() for part in subsets(np.array([7, 8, 9]), 2)]
    [[[7, 8], [7, 9], [8, 9]]]
    >>> [part.shape for part in subsets(np.array([7]), 0)], list(subsets(np.array([7]), 2))
    ([(1, 0)], [])
    """
    n = len(members)
    if comb(n, size) > SUBSETS_AT_A_TIME:
        yield from (members[positions] for positions in _positions(n, size))
    elif n >= size:
        yield members[_few_positions(n, size)]


def reliable_subsets(
    test: IndependenceTest, x: int, y: int, among: Integers, size: int
) -> Iterator[Integers]:
    """Yield the subsets of `among`, without x and y, that are small enough for a conclusive test."""
    [max_sizes] = test.max_configurations(np.array([x]), np.array([y]))
    members = among[(among != x) & (among != y)]
    for sets in subsets(members[test.configurations(members[:, None]) <= max_sizes], size):
        yield sets[test.configurations(sets) <= max_sizes]


def as_numbers(method: str, found: object, shape: tuple[int, ...], owner: object) -> Floats:
    """Return the result of a user's own test, score or measure as an array of numbers.

    Raises
    ------
    OptionError
        If it is not numeric, or does not have one number for each question.

    Examples
    --------
    >>> as_numbers("values", [0.5, 1], (2,), "Agreement()").tolist()
    [0.5, 1.0]
    """
    try:
        numbers = np.asarray(found, np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{owner}: {method} must return an array of numbers, not {shown(found)}") from None
    if numbers.shape != shape:
        raise OptionError(f"{owner}: {method} must return an array of shape {shape}, not {numbers.shape}")
    return numbers
