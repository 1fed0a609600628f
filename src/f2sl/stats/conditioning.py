"""Conditioning of Gaussian variables on others, from their correlations, and within configurations of states.

Conditioning is Gaussian elimination of the few variables in question (`_kernels.py`). A variable that others
determine, up to a share `COLLINEAR` of its variance, adds nothing to a condition.

Numbers that are jointly normal within each configuration of states have the conditional Gaussian distribution
(Lauritzen and Wermuth 1989): the states of a set D have any distribution, and given their configuration the
numbers of a set C are normal with their own means and covariances. A configuration with few samples says
little about its covariances; with no more samples than numbers it says nothing. So its covariances are
estimated as if it had `weight` additional samples with the pooled covariances of all configurations. With a
single configuration, or with weight 0, this is maximum likelihood; with infinite weight all configurations
share their covariances.

A variable that others determine is assumed to have a share `COLLINEAR` of its variance left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.engines import Queries
from f2sl.data.moments import DIGITS as MOMENTS_DIGITS
from f2sl.data.moments import Moments
from f2sl.stats import _kernels

if TYPE_CHECKING:
    from f2sl.data.available import AvailableMoments
    from f2sl.data.mixed.engine import Groups, MixedEngine

COLLINEAR = 1e-8
"""A variable of which no greater share of the variance is left, given others, is determined by them.

It lies between what rounding leaves, about 1e-12 with correlations of 12 digits, and the noise of measured
columns.
"""

LARGEST = 1.0 - 10.0**-MOMENTS_DIGITS
"""The largest correlation that is computed with."""

DIGITS = 10
"""Partial correlations given all others are rounded to this many decimal places: the differences between
libraries of linear algebra are smaller."""

QUESTIONS_PER_PIECE = 1 << 14


def partial_correlations(moments: Moments, x: Integers, y: Integers, given: Integers) -> Floats:
    """Correlate each x and y given a row of other variables; NaN where those determine x or y."""
    if not given.shape[1]:
        return np.asarray(moments.correlations[x, y])
    matrices, which = moments.correlations[None], np.zeros(len(x), np.int64)
    # Arrays of another layout are another type, for which the kernel would be compiled again. The same set in
    # another order is the same question.
    asked = np.ascontiguousarray(x), np.ascontiguousarray(y), np.ascontiguousarray(np.sort(given, axis=1))
    result = np.empty(len(x))

    def piece(first: int) -> None:
        part = slice(first, first + QUESTIONS_PER_PIECE)
        of_x, of_y, of_given = asked[0][part], asked[1][part], asked[2][part]
        _kernels.partial_correlations(matrices, which[part], of_x, of_y, of_given, COLLINEAR, result[part])

    for _ in moments.threads.map(piece, range(0, len(x), QUESTIONS_PER_PIECE)):
        pass
    return result


def available_correlations(
    moments: AvailableMoments, x: Integers, y: Integers, given: Integers
) -> tuple[Floats, Floats]:
    """Correlate as `partial_correlations` does, and count the samples that have all columns of a question."""
    if not given.shape[1]:
        return np.asarray(moments.correlations[x, y]), moments.pair_rows[x, y]
    asked = np.column_stack([np.sort(given, axis=1), np.minimum(x, y), np.maximum(x, y)])
    result, n_rows = np.empty(len(x)), np.empty(len(x))
    for sets, own, of_set, positions in shared_sets(asked, len(moments.missing)):
        found = moments.of_questions(sets)
        of_x, of_y = np.ascontiguousarray(positions[:, -2]), np.ascontiguousarray(positions[:, -1])
        of_given, partial = np.ascontiguousarray(positions[:, :-2]), np.empty(len(own))
        _kernels.partial_correlations(found.correlations, of_set, of_x, of_y, of_given, COLLINEAR, partial)
        result[own], n_rows[own] = partial, found.n_rows[of_set]
    return result, n_rows


def shared_sets(
    questions: Integers, n_variables: int
) -> Iterator[tuple[Integers, Integers, Integers, Integers]]:
    """Yield distinct sets of variables, some at a time, and the questions about each, one after another.

    Questions about the same variables, whatever their roles, come from the same samples. Gives the sets, the
    numbers of the questions, the set of each, and where its variables are in the set.

    Examples
    --------
    >>> [found] = shared_sets(np.array([[0, 1, 2], [1, 0, 2], [0, 1, 3]]), 4)
    >>> [part.tolist() for part in found]
    [[[0, 1, 2], [0, 1, 3]], [0, 1, 2], [0, 0, 1], [[0, 1, 2], [1, 0, 2], [0, 1, 2]]]
    """
    order = np.argsort(questions, axis=1)
    sets, of_set = distinct_rows(np.take_along_axis(questions, order, axis=1), n_variables)
    positions = np.argsort(order, axis=1)
    by_set = np.argsort(of_set, kind="stable")
    for first in range(0, len(sets), QUESTIONS_PER_PIECE):
        last = first + QUESTIONS_PER_PIECE
        own = by_set[slice(*np.searchsorted(of_set[by_set], (first, last)))]
        yield sets[first:last], own, of_set[own] - first, positions[own]


def distinct_rows(rows: Integers, n: int) -> tuple[Integers, Integers]:
    """Return the distinct rows of a matrix of numbers below n, and which of them each row is.

    Examples
    --------
    >>> sets, which = distinct_rows(np.array([[0, 2], [1, 2], [0, 2]]), 3)
    >>> sets.tolist(), which.tolist()
    ([[0, 2], [1, 2]], [0, 1, 0])
    """
    if n ** rows.shape[1] >= 2**63:
        found, which = np.unique(rows, axis=0, return_inverse=True)
        return found, which.reshape(-1)
    # One number for each row: to sort these is several times as fast as to sort rows.
    keys = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = keys * n + column
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], which.reshape(-1)


def eliminated(matrices: Floats, queries: Queries, tolerance: float) -> tuple[Floats, Floats]:
    """Eliminate the parents of each family, which come before the child, from the one matrix or from its own.

    Returns the logarithms of the parents' determinants, and the residuals of the child's diagonal entry.
    """
    log_determinant, left = np.empty(len(queries)), np.empty(len(queries))
    _kernels.eliminate(matrices, queries.variables, queries.start, tolerance, log_determinant, left)
    return log_determinant, left


def decided(correlations: Floats) -> Integers:
    """List the variables that those before them determine, up to a share `COLLINEAR` of the variance.

    Examples
    --------
    >>> decided(np.array([[1.0, 0.5, 1.0], [0.5, 1.0, 0.5], [1.0, 0.5, 1.0]])).tolist()
    [2]
    """
    factor = np.zeros_like(correlations)
    _kernels.factorise(correlations, np.arange(len(correlations)), COLLINEAR, factor)
    return np.flatnonzero(np.diag(factor) == 0.0)


def given_all_others(correlations: Floats) -> Floats:
    """Return the partial correlation of each two variables given all others; no variable may be determined.

    Examples
    --------
    >>> given_all_others(np.array([[1, 0.8, 0.64], [0.8, 1, 0.8], [0.64, 0.8, 1]]))[0].round(6).tolist()
    [1.0, 0.624695, 0.0]
    """
    precision = np.linalg.inv(correlations)
    scale = np.sqrt(np.diag(precision))
    partial = -np.round(precision / np.outer(scale, scale), DIGITS)
    np.fill_diagonal(partial, 1.0)
    return np.asarray((partial + partial.T) / 2.0) + 0.0


@dataclass(frozen=True)
class LikelihoodByGroup:
    """Formula for the maximum log likelihood, on the sums of groups.

    Parameters
    ----------
    coarse_unit : float
        Unit of the coarse halves of whole numbers.
    spread : ndarray
        Standard deviations of the numbers, as whole numbers; with missing values those of the samples
        that have all variables of a query are taken instead.
    n_rows : int
        Number of samples.
    missing : bool
        True if queries have their own samples.
    weight : float
        Number of samples with the pooled covariances that are added to each group.
    """

    coarse_unit: float
    spread: Floats
    n_rows: int
    missing: bool
    weight: float

    @classmethod
    def on(cls, engine: MixedEngine, weight: float) -> Self:
        """Return the formula for an engine's numbers."""
        moments = engine.moments
        assert moments.scaling is not None  # a mixed engine's moments are those of a table
        spread = np.sqrt(moments.squares / engine.n_rows)
        return cls(moments.scaling.coarse_unit, spread, engine.n_rows, engine.any_missing, weight)

    def __call__(self, groups: Groups) -> Floats:
        """Return the log likelihood of each query's numbers, its groups that are not empty, and constants."""
        numbers = groups.numbers
        result = np.empty((len(numbers), 3))
        of_sums = groups.sums, groups.first, groups.n_groups, numbers.start, self.coarse_unit
        if self.missing:
            n_rows, spread = np.empty(len(numbers), np.int64), np.empty(len(numbers.variables))
            _kernels.moments_of_groups(*of_sums, n_rows, spread)
        else:
            n_rows, spread = np.full(len(numbers), self.n_rows), self.spread[numbers.variables]
        _kernels.gaussian_by_group(*of_sums, spread, n_rows, self.weight, COLLINEAR, result)
        return result

    def alone(self, correlations: Floats, sets: Integers) -> Floats:
        """Return the log likelihood of each set of numbers without states, one set a row."""
        size = sets.shape[1]
        left = log_determinants(correlations, Queries.of_matrix(sets))
        return np.asarray(-0.5 * self.n_rows * (left + size * (1.0 + math.log(2.0 * math.pi))))

    def parameters(self, numbers: Integers, groups: Floats) -> Floats:
        """Return the number of parameters, means and covariances, of the numbers in all groups."""
        own = numbers * (numbers + 1) / 2.0
        if math.isinf(self.weight):
            return np.asarray(groups * numbers + own)
        return np.asarray(groups * (numbers + own))


def log_determinants(matrix: Floats, queries: Queries) -> Floats:
    """Return the log determinant of the part of a matrix that belongs to each query."""
    result = np.empty(len(queries))
    _kernels.log_determinants(matrix, queries.variables, queries.start, COLLINEAR, result)
    return result


class Parts(NamedTuple):
    """For each set: log likelihood and number of its numeric columns, and configurations of its states.

    `occurring` is the number of configurations that occur in the data. The likelihood is NaN if there are
    more configurations than rows. `rows` is the number of samples that it comes from; the bits of `constant`
    stand for the numbers, in ascending order, that do not vary there.
    """

    log_likelihood: Floats
    numbers: Integers
    configurations: Floats
    occurring: Floats
    rows: Integers
    constant: Floats


def gaussian_parts(
    engine: MixedEngine, formula: LikelihoodByGroup, sets: Integers, also: Integers | None = None
) -> Parts:
    """Compute the parts of sets of one size, one a row, in any order of their members.

    With missing values they come from the samples that have all members, and those of `also`.
    """
    limits = sets[:, :0] if also is None else np.sort(also, axis=1)
    asked = np.column_stack([np.sort(sets, axis=1), limits + engine.n_variables])
    questions, which = np.unique(asked, axis=0, return_inverse=True)
    distinct = questions[:, : sets.shape[1]]
    rows = engine.complete_rows(questions % engine.n_variables)
    is_number = engine.is_number[distinct]
    numbers = is_number.sum(axis=1)
    configurations = np.maximum(engine.cardinalities[distinct], 1).prod(axis=1, dtype=np.float64)
    found = np.tile([0.0, 1.0, 0.0], (len(questions), 1))
    alone = (numbers > 0) & is_number.all(axis=1) & (not engine.any_missing)
    if alone.any():
        positions = engine.position[distinct[alone]]
        found[alone, 0] = formula.alone(engine.moments.correlations, positions)
    mixed = (numbers > 0) & ~alone
    possible = mixed & (configurations <= rows)
    found[mixed & ~possible] = np.nan
    found[possible] = engine.grouped(Queries.of_matrix(questions[possible]), formula).reshape(-1, 3)
    which = which.reshape(-1)
    likelihood, occurring, constant = found[which].T
    return Parts(likelihood, numbers[which], configurations[which], occurring, rows[which], constant)
