"""State of the search over orders that its kernels share: the problem, the families and scratch memory."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from f2sl._jit import Array, int64

NOW, BEFORE, KEPT = int64(0), int64(1), int64(2)
"""Copies of a family: current, before the move being tried, and before the perturbation."""
FORBIDDEN, REQUIRED = 0, 2
"""Entries of `Problem.rule`; 1 marks an allowed edge."""
BEGIN, END = 0, 1
"""Entries of `Workspace.ends`: where the queue begins and ends."""
ROUNDS, MOST_MOVES = 4, 1000
"""Bounds that only rounding can reach: changes of a family, and moves in a climb, for each variable."""
BACK, AHEAD = cast(bool, np.bool_(True)), cast(bool, np.bool_(False))
"""Argument `back` of a walk; for each Python constant Numba would compile the kernel anew."""
FIT_PARENTS, CLIMB, PERTURB = 0, 1, 2
"""Tasks of the kernel."""
NO_VARIABLE = int64(-1)
"""Stands for no variable."""
Wide = Array | None
"""Where the columns of each variable begin, (n + 1,) int64; None if each has one, its own number."""
NEVER = 1e200
"""A price that no parent is worth; its product with a variance is still a number."""


class Problem(NamedTuple):
    """Constant input: n variables with several columns each, w at most; scores as in `_kernels.py`.

    Parameters
    ----------
    matrix : (columns, columns) float64
        Symmetric and positive semidefinite, such as correlations.
    diagonal : (columns,) float64
        Its diagonal.
    first : (n + 1,) int64
        The columns of v are ``first[v]`` to ``first[v + 1]``; kernels get it as `Wide`.
    base : (n,) float64
        What each variable contributes to the score of its family.
    constant, weight : (most parents + 2,) float64
        Of the score, by the number of parents.
    share : float
        Of the logarithm of the determinant; not below 0.
    price : (n, n) float64
        What the score of a child's family (row) loses by a parent (column), besides the fit.
    least_price : (n,) float64
        The smallest in each row.
    least : (n, w * w) float64
        Inverse of the Cholesky factor of a lower bound of what any others leave of each variable, by rows.
    log_least : float
        Logarithm of the smallest determinant of these bounds.
    tolerance : float
        What is left of a column is at least this share of its diagonal entry in a score; a column of which no
        more is left is never added.
    rule : (n, n) int8
        Row u: 1 if u may be, 0 if it must not be, 2 if it must be a parent of v.
    gain : float
        Smallest gain that exceeds rounding.
    most_parents, most_columns : int
        Most parents, and columns of parents, of a variable.
    """

    matrix: Array
    diagonal: Array
    first: Array
    base: Array
    constant: Array
    weight: Array
    share: float
    price: Array
    least_price: Array
    least: Array
    log_least: float
    tolerance: float
    rule: Array
    gain: float
    most_parents: int
    most_columns: int


class FamilyCopies(NamedTuple):
    """Families of all variables in three copies (NOW, BEFORE, KEPT), for m parents with c columns each.

    Parameters
    ----------
    n_parents, n_columns : (3, n) int64
        Number of parents, and of their columns.
    parents : (3, n, m) int64
        In the order in which they came.
    columns : (3, n, c) int64
        Their columns.
    factor : (3, n, c, c) float64
        Cholesky factor of the parents' part of the matrix, but the diagonal has its reciprocals, and 0 for a
        column that those before it determine.
    slopes : (3, n, c * w) float64
        Regression coefficients, by columns of the parents.
    whitening : (3, n, w * w) float64
        Inverse of the Cholesky factor of what the parents leave of u, by rows.
    figures : (3, n, 6) float64
        Logarithm of the determinant of what the parents leave of u (LEFT), and of that of their own part of
        the matrix (LOG_DETERMINANT); the score (SCORE); and what it gains by another parent before the fit
        and the price of this parent (STEP); the weight of the fit then (WEIGHT);
        and, where variables have a single column, the least c^2 / variance with which another one can gain,
        where c is its covariance with what the parents leave of u (NEED).
    version : (3, n) int64
        Number of the family, another one for each that was found.
    """

    n_parents: Array
    n_columns: Array
    parents: Array
    columns: Array
    factor: Array
    slopes: Array
    whitening: Array
    figures: Array
    version: Array


LEFT, LOG_DETERMINANT, SCORE, STEP, WEIGHT, NEED = 0, 1, 2, 3, 4, 5


class Workspace(NamedTuple):
    """Order and scratch memory.

    Parameters
    ----------
    order, position : (3, n) int64
        NOW, and the copies of it.
    marked : (3, n) bool
        Families that have a copy.
    listed : (3, n) int64
        The same as a list.
    n_listed : (3,) int64
        Its length.
    queue : (n,) int64, ends : (2,) int64, waiting : (n,) bool
        Variables to be tried, a ring: entry i is ``queue[i % n]``; each is there at most once.
    full : (1,) bool
        True if a family would have had more parents than the arrays hold.
    rows : (c, columns), left, across : (w, columns) float64
        See `_condition`.
    between, rest_of : (w, w), scratch : (w, w + 1), inverse : (w, c) float64
        Scratch.
    taken : (n,) bool
        The parents, within `fit_parents`.
    refused : (n, n) int64
        The family of u (row) that refused v (column) last; without rows if variables have a single column.
    work : (2,) int64
        The products of rows in `_condition`, which take most of the time, and the number of the newest
        family.
    """

    order: Array
    position: Array
    marked: Array
    listed: Array
    n_listed: Array
    queue: Array
    ends: Array
    waiting: Array
    full: Array
    rows: Array
    left: Array
    across: Array
    between: Array
    rest_of: Array
    scratch: Array
    inverse: Array
    taken: Array
    refused: Array
    work: Array
