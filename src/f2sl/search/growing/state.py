"""State of the search over orders that its kernels share: the problem, the families and scratch memory."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from f2sl._jit import Array, int64

NOW, BEFORE, KEPT = int64(0), int64(1), int64(2)
"""Copies of a family: current, before the move being tried, and before the perturbation."""
FORBIDDEN, REQUIRED = 0, 2
"""Entries of `Problem.rule`; 1 marks an allowed arc."""
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
NEVER = 1e200
"""A need that no variable meets; its product with a variance is still a number."""


class Blocks(NamedTuple):
    """Input about variables with several columns each; see `blocks/_kernels.py`.

    Parameters
    ----------
    first : (n + 1,) int64
        The columns of v are ``first[v]`` to ``first[v + 1]``.
    owner : (columns,) int64
        Variable of each column.
    base : (n,) float64
        Score of a family without parents whose columns have a determinant of 1.
    half_rows : float
        Half the number of rows.
    price : (n, n) float64
        What a family's score loses by a parent (row) of a child (column), besides the fit.
    least : (n, w * w) float64
        Inverse of the Cholesky factor of a lower bound of what any others leave of each variable, by rows.
    most_parents, most_columns : int
        Most parents, and columns of parents, of a variable.
    """

    first: Array
    owner: Array
    base: Array
    half_rows: float
    price: Array
    least: Array
    most_parents: int
    most_columns: int


class Problem(NamedTuple):
    """Constant input.

    Parameters
    ----------
    matrix : (n, n) float64
        Symmetric and positive semidefinite, such as correlations.
    least : (n,) float64
        Lower bound of what any others leave of each variable; above 0.
    log_least : float
        Logarithm of the smallest of them.
    constant, weight : (most parents + 2,) float64
        Of the score, by the number of parents.
    share : float
        Of the logarithm of the determinant.
    tolerance : float
        What is left of a variable is at least this share of its diagonal entry in a score; a variable of
        which no more is left is never added.
    rule : (n, n) int8
        Row u: 1 if u may be, 0 if it must not be, 2 if it must be a parent of v.
    gain : float
        Smallest gain that exceeds rounding.
    by_blocks : bool
        True if variables have several columns of the matrix; then only `matrix`, `tolerance`, `rule` and
        `gain` are used of the above.
    blocks : Blocks
        The rest of the problem then.
    """

    matrix: Array
    least: Array
    log_least: float
    constant: Array
    weight: Array
    share: float
    tolerance: float
    rule: Array
    gain: float
    by_blocks: bool
    blocks: Blocks


class Families(NamedTuple):
    """Families of all variables in three copies (NOW, BEFORE, KEPT), with space for m parents each.

    In blocks, parents have c columns instead of m, and u has w at most.

    Parameters
    ----------
    n_parents : (3, n) int64
        Number of parents.
    parents : (3, n, m) int64
        In the order in which they came.
    factor : (3, n, m, m) float64
        Cholesky factor of the parents' part of the matrix, but the diagonal has its reciprocals, and 0 for a
        parent that those before it determine.
    slopes : (3, n, m) float64
        Regression coefficients; in blocks (3, n, c * w), by columns of the parents.
    figures : (3, n, 4) float64
        Residual of u (LEFT), the logarithm of the determinant (LOG_DETERMINANT), the score (SCORE), and
        the least c^2 / variance with which another parent can gain (NEED). In blocks only the logarithm of
        the residual's determinant (LEFT) and the score.
    whitening : (3, n, w * w) float64
        In blocks: inverse of the Cholesky factor of what the parents leave of u, by rows.
    version : (3, n) int64
        In blocks: number of the family, another one for each that was found.
    """

    n_parents: Array
    parents: Array
    factor: Array
    slopes: Array
    figures: Array
    whitening: Array
    version: Array


LEFT, LOG_DETERMINANT, SCORE, NEED = 0, 1, 2, 3


class Workspace(NamedTuple):
    """Order and scratch memory.

    Parameters
    ----------
    order, place : (3, n) int64
        NOW, and the copies of it.
    marked : (3, n) bool
        Families that have a copy.
    listed : (3, n) int64
        The same as a list.
    n_listed : (3,) int64
        Its length.
    rows : (m, n) float64, rest : (n,) float64, covariances : (n,) float64
        See `_condition`.
    column : (m,) float64
        A column of the inverse of a factor, or a row of a factor.
    queue : (n,) int64, ends : (2,) int64, waiting : (n,) bool
        Variables to be tried, a ring: entry i is ``queue[i % n]``; each is there at most once.
    full : (1,) bool
        True if a family would have had more parents than the arrays hold.
    refused : (n, n) int64, work : (2,) int64
        For blocks: the family of u (row) that refused v (column) last; the products of rows in
        `_condition`, which take most of the time, and the number of the newest family.
    left : (columns, w), across : (w, columns), between, rest_of : (w, w), scratch : (w, w + 1),
    inverse : (w, c), unused : (w * w,) float64
        For blocks; see `blocks/_kernels.py`.
    """

    order: Array
    position: Array
    marked: Array
    listed: Array
    n_listed: Array
    rows: Array
    rest: Array
    covariances: Array
    column: Array
    queue: Array
    ends: Array
    waiting: Array
    full: Array
    left: Array
    across: Array
    between: Array
    rest_of: Array
    scratch: Array
    inverse: Array
    unused: Array
    refused: Array
    work: Array
