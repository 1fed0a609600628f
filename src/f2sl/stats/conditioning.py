"""Conditioning of Gaussian variables on others, from their matrix of correlations.

Conditioning is Gaussian elimination of the few variables in question (`_kernels.py`). A variable that others
determine, up to a share `COLLINEAR` of its variance, adds nothing to a condition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.data.engines import Queries
from f2sl.data.moments import DIGITS as MOMENTS_DIGITS
from f2sl.data.moments import Moments
from f2sl.stats import _kernels

if TYPE_CHECKING:
    from f2sl.data.available import AvailableMoments

COLLINEAR = 1e-8
"""A variable of which no greater share of the variance is left, given others, is determined by them."""

LARGEST = 1.0 - 10.0**-MOMENTS_DIGITS
"""The largest correlation that is computed with."""

DIGITS = 10
"""Partial correlations given all others are rounded to this many decimal places: the differences between
libraries of linear algebra are smaller."""

QUESTIONS_PER_PIECE = 1 << 14


def partial_correlations(moments: Moments, x: Integers, y: Integers, given: Integers) -> Floats:
    """Correlate each x and y given a row of other variables; NaN where those determine x or y."""
    correlations = moments.correlations
    if not given.shape[1]:
        return np.asarray(correlations[x, y])
    # Arrays of another layout are another type, for which the kernel would be compiled once more.
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    # The same set in another order is the same question.
    ordered = np.ascontiguousarray(np.sort(given, axis=1))
    result = np.empty(len(x))

    def piece(first: int) -> None:
        part = slice(first, first + QUESTIONS_PER_PIECE)
        _kernels.partial_correlations(correlations, x[part], y[part], ordered[part], COLLINEAR, result[part])

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
        matrices = found.correlations[of_set[:, None, None], positions[:, :, None], positions[:, None, :]]
        partial = np.empty(len(own))
        _kernels.partial_correlations_of(matrices, COLLINEAR, partial)
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


def eliminated_each(matrices: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """Eliminate all but the last variable from each matrix; returns what `eliminated` does."""
    log_determinant, left = np.empty(len(matrices)), np.empty(len(matrices))
    everyone, start = np.arange(matrices.shape[1]), np.array([0, matrices.shape[1]])
    _kernels.eliminate_each(matrices, everyone, start, tolerance, log_determinant, left)
    return log_determinant, left


def eliminated(matrix: Floats, queries: Queries, tolerance: float) -> tuple[Floats, Floats]:
    """Eliminate the parents of each family, which come before the child.

    Returns the logarithms of the parents' determinants, and the residuals of the child's diagonal entry.
    """
    log_determinant, left = np.empty(len(queries)), np.empty(len(queries))
    _kernels.eliminate(matrix, queries.variables, queries.start, tolerance, log_determinant, left)
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
