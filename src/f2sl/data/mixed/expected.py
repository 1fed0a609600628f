"""Correlations of all columns of a table with numbers and missing values, by the EM algorithm.

The columns are those of :class:`Embedded`: numbers, and indicators of states, taken to be jointly normal. The
correlations of pairs, each on its own rows, are no answer: the rows of different pairs may differ
systematically, and then the matrix is that of no distribution. Maximum likelihood uses all that each row
knows, and is right whenever a value is missing for reasons that the table holds ("at random"; Little and
Rubin 2019, chapter 11).

The E step fills in each row's missing values by what its others predict, and adds the covariance that these
leave open; the M step takes mean and covariance of the rows so completed. It begins with the correlations of
pairs (`_of_pairs`), and 0 for pairs which no row has together: a step forgets what it began with only as far
as values are present, and those of sparse columns would stay near 0. For the same reason every two steps are
followed by a leap (`_leap`; Varadhan and Roland 2008), which is taken back if the step after it is longer
than that before. What predicts is drawn a little towards independence (`_ridge`): with few rows for each
column it would predict noise.

All sums are of whole numbers, as those of :mod:`f2sl.data.moments`, and add up over blocks of rows: a step
is one pass over the table, wherever its rows are.

References
----------
.. [1] R. J. A. Little, D. B. Rubin. Statistical analysis with missing data. 3rd edition, 2019.
.. [2] R. Varadhan, C. Roland. Simple and globally convergent methods for accelerating the convergence of any
   EM algorithm. Scandinavian Journal of Statistics 35, 2008.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers, Mask
from f2sl._deadline import TimeUp, checkpoint
from f2sl._notes import Note
from f2sl._progress import stage
from f2sl._threads import interruptibly, one_blas_thread
from f2sl.data.memory.table import MemoryTable
from f2sl.data.mixed import _kernels
from f2sl.data.mixed.basis import Hats
from f2sl.data.moments import AddUp, Scaling
from f2sl.data.table import Block

MOST_STEPS, NEAR, FAR = 50, 0.02, 0.1
"""Steps at most, the change of correlations at which they end, in standard errors, and the change in the last
step that is worth a note."""
WORK, LEAST_STEPS, FEWEST_STEPS = 1e10, 2, 1
"""Multiplications of all steps together, and steps of a table that needs more; with fewer than two rows for
each column, where predictions are mostly noise."""
WIDE = 64
"""Missing columns of a row above which a library inverts their part of the precision."""
GROUP_BITS, SPREAD = 16, np.uint64(0x9E3779B97F4A7C15)
"""Bits of the hash that finds the rows that lack the same; an odd multiplier for it."""
VALUES_AT_ONCE = 1 << 22
"""Values of rows that are completed at a time."""
SHORTEST = 1.01
"""Leaps that go no farther, in units of two steps, are not taken."""
DOUBT, LEAST_EIGENVALUE = 9.0, 0.1
"""Squared standard errors by which the correlations of pairs to begin with shrink, and their least
eigenvalue: those of pairs may have negative ones. Without either, chance between pairs became edges. Chosen
on random linear networks (10 and 20 variables, 500 and 3,000 rows, 30 and 60 % missing)."""
TINY = 1e-12
"""Variance of a scaled column below which it does not vary: rows drawn from a table may all be alike."""
DIGITS = 9
"""Correlations are rounded to this many decimal places: steps are no exact sums."""


Fit = tuple[Floats, Floats]
"""Type of estimates: mean and covariance of the columns."""


@dataclass(frozen=True)
class Embedded:
    """Correlations of numbers and indicators; the columns of v are ``start[v]`` to ``start[v + 1]``.

    `together` counts the samples that have both variables of each pair, (n_variables, n_variables). `mean`
    and `covariance` are those of the scaled columns; None without missing values. `change` is the largest
    change of a correlation in the last step of EM, in standard errors.
    """

    correlations: Floats
    start: Integers
    together: Integers
    mean: Floats | None = None
    covariance: Floats | None = None
    change: float = 0.0

    @property
    def note(self) -> Note | None:
        """Note that the steps of EM did not suffice, None if they did."""
        if self.change <= FAR:
            return None
        return Note(
            "em-steps",
            f"missing values: correlations still changed by {self.change:.1f} standard errors when the steps "
            "of EM ran out, so weak edges are uncertain; leaving out columns with many missing values helps",
            change=self.change,
        )


@dataclass(frozen=True)
class Layout:
    """Where columns of a block go among the embedded ones.

    numbers : (n_numbers,) embedded column of each number; indicators : (all states,) that of each state, -1
    for none; owner : (columns,) variable of each; states, of_numbers : variables of both kinds; hats :
    further columns of some numbers (`basis.py`), and of_hats : where these are; isolated : variables that
    may have no edges, which must not matter to others, so that their columns are constant.
    """

    scaling: Scaling
    cardinalities: Integers
    numbers: Integers
    indicators: Integers
    owner: Integers
    states: Integers
    of_numbers: Integers
    hats: Hats
    of_hats: Integers
    isolated: Mask

    @property
    def n_used(self) -> int:
        """Number of columns of variables that may have edges."""
        return int(np.count_nonzero(~self.isolated[self.owner]))

    def rows(self, block: Block, a: int, b: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return both halves of some rows' columns, (rows, columns), and what is missing, (rows, variables).

        An indicator is one unit of the scale.
        """
        coarse, fine, scale = *np.zeros((2, b - a, len(self.owner))), 2.0**self.scaling.coarse_bits
        missing = np.empty((b - a, len(self.states) + len(self.of_numbers)), np.bool_)
        numbers, codes = block.numbers[:, a:b], block.codes[:, a:b]
        coarse[:, self.numbers], fine[:, self.numbers] = (half.T for half in self.scaling.halves(numbers))
        missing[:, self.of_numbers] = np.isnan(numbers).T
        if len(self.states):
            missing[:, self.states] = (codes >= self.cardinalities[:, None]).T
        first = np.cumsum(self.cardinalities) - self.cardinalities
        for v, own in enumerate(codes):
            there = np.flatnonzero(own < self.cardinalities[v])
            column = self.indicators[first[v] + own[there].astype(np.int64)]
            coarse[there[column >= 0], column[column >= 0]] = scale
        if len(self.of_hats):
            unit = self.scaling.coarse_unit
            hats = scale * self.hats.of((coarse[:, self.numbers] + fine[:, self.numbers] / unit) / scale)
            hats[missing[:, self.owner[self.of_hats]]] = 0.0
            coarse[:, self.of_hats] = np.rint(hats)
            fine[:, self.of_hats] = np.rint((hats - coarse[:, self.of_hats]) * unit)
        if self.isolated.any():
            missing[:, self.isolated] = False
            coarse[:, self.isolated[self.owner]] = fine[:, self.isolated[self.owner]] = 0.0
        return coarse, fine, missing


def _observed(layout: Layout, block: Block) -> tuple[Floats, ...]:
    """Sum up what a block has.

    Returns the samples that have both variables of each pair, (variables, variables); sums and sums of
    squares of each column, over the samples that have each variable, (2, variables, columns); sums of
    products, (columns, columns); for groups of rows that lack the same, with few exceptions, how many rows
    and columns these are.
    """
    n, c, rows = len(layout.states) + len(layout.of_numbers), len(layout.owner), block.numbers.shape[1]
    pairs, sums, products = np.zeros((n, n)), np.zeros((2, n, c)), np.zeros((c, c))
    groups = np.zeros((2, 1 << GROUP_BITS))
    # Whole numbers, which may overflow.
    signs = (np.arange(1, n + 1, dtype=np.uint64) * SPREAD) ** np.uint64(3)
    widths, at_once = np.bincount(layout.owner, minlength=n), max(1, VALUES_AT_ONCE // c)
    for a in range(0, rows, at_once):
        coarse, _, missing = layout.rows(block, a, min(a + at_once, rows))
        there = (~missing).astype(np.float64)
        pairs += there.T @ there
        sums[0] += there.T @ coarse
        sums[1] += there.T @ (coarse * coarse)
        products += interruptibly(np.matmul, coarse.T, coarse)
        mixed = (missing.astype(np.uint64) @ signs) * SPREAD
        group = (mixed >> np.uint64(64 - GROUP_BITS)).astype(np.int64)
        groups[0] += np.bincount(group, minlength=groups.shape[1])
        groups[1] += np.bincount(group, missing @ widths, groups.shape[1])
    return pairs, sums, products, groups


def _steps(layout: Layout, n_rows: int, groups: Floats) -> int:
    """Return the most steps, by the work of each; it does not depend on how rows are divided into blocks."""
    c, (rows, columns) = layout.n_used, groups[:, groups[0] > 0]
    lacks = columns / rows
    inverses = np.where(lacks > WIDE, lacks**3 / 16, lacks**3 / 2)  # a library multiplies faster
    each = inverses.sum() + (columns * (c + lacks)).sum() + n_rows * c * c / 8 + c**3
    least = LEAST_STEPS if n_rows >= 2 * c else FEWEST_STEPS
    return int(np.clip(WORK / each, least, MOST_STEPS))


def _completed(
    layout: Layout, mean: Floats, precision: Floats | None, bits: int, exact: bool, block: Block
) -> tuple[NDArray[Any], ...]:
    """Sum up a block of completed rows: values, products, covariances left open.

    Without a precision matrix nothing is filled in. With `exact` both halves of what was observed count, else
    the coarse ones alone.
    """
    c, rows = len(layout.owner), block.numbers.shape[1]
    sums, products = np.zeros((2, c)), np.zeros((3 if exact else 1, c, c))
    left_open = np.zeros((c, c), np.int64)
    at_once, scale = max(1, VALUES_AT_ONCE // c), 2.0**layout.scaling.coarse_bits
    for a in range(0, rows, at_once):
        checkpoint()
        coarse, fine, missing = layout.rows(block, a, min(a + at_once, rows))
        if precision is not None:
            values = (coarse + fine / layout.scaling.coarse_unit) / scale
            of_columns = values, layout.owner, mean, precision, 2.0**bits, scale, coarse, left_open
            _fill_in(missing, *of_columns)
        sums[0] += coarse.sum(axis=0)
        products[0] += interruptibly(np.matmul, coarse.T, coarse)
        if exact:
            fine[missing[:, layout.owner]] = 0.0
            mixed = interruptibly(np.matmul, coarse.T, fine)
            sums[1] += fine.sum(axis=0)
            products[1] += mixed + mixed.T
            products[2] += interruptibly(np.matmul, fine.T, fine)
    return sums, products, left_open


def _fill_in(
    missing: NDArray[np.bool_], values: Floats, owner: Integers, mean: Floats, precision: Floats, *rest: Any
) -> None:
    """Fill in rows by `_kernels.fill_in`, those that lack many columns one kind at a time."""
    _, pattern = np.unique(np.packbits(missing, axis=1), axis=0, return_inverse=True)
    order = np.argsort(pattern.ravel(), kind="stable")
    first = np.flatnonzero(np.diff(pattern.ravel()[order], prepend=-1, append=-1))
    begin, end = first[:-1], first[1:]
    lacked = missing[order[begin]] @ np.bincount(owner, minlength=missing.shape[1])
    wide = lacked > WIDE
    few = (lacked > 0) & ~wide
    shared = values, missing, order
    _kernels.fill_in(*shared, begin[few], end[few], owner, mean, precision, np.empty((0, 0)), *rest)
    if not wide.any():
        return
    with one_blas_thread(of_scipy=True):
        for k in np.flatnonzero(wide):
            checkpoint()
            lacks = np.flatnonzero(missing[order[begin[k]]][owner])
            inverse = _inverse(precision[np.ix_(lacks, lacks)])
            one = begin[k : k + 1], end[k : k + 1]
            _kernels.fill_in(*shared, *one, owner, mean, precision, inverse, *rest)


def expected(layout: Layout, n_rows: int, add_up: AddUp) -> Embedded:
    """Return the correlations of all columns, and how many samples have both variables of each pair.

    At the time limit EM ends with the steps that it has made: enough to find a graph, if not the best one.
    """
    scale = 2.0**layout.scaling.coarse_bits
    with one_blas_thread(), stage("filling in missing values") as advance:
        pairs, sums, products, groups = add_up(partial(_observed, layout))
        weight = np.sqrt(pairs[np.ix_(layout.owner, layout.owner)])
        found = safe = _of_pairs(layout.owner, pairs, sums, products, scale)
        path, longest = [safe], math.inf
        steps, step, change = _steps(layout, n_rows, groups), 0, math.inf
        ridge = _ridge(layout.n_used, n_rows)
        with suppress(TimeUp):
            while step < steps:
                checkpoint()
                last, (mean, covariance) = step == steps - 1, path[-1]
                found = _step(layout, n_rows, add_up, mean, _precision(covariance, ridge), last)
                changes = np.abs(_correlations(found[1]) - _correlations(covariance)) * weight
                step, change = step + 1, float(changes.max())
                if change < NEAR and 2 < step < steps:  # the first steps may be short and far from the end
                    steps = step + 1  # once more, with all digits
                path.append(found)
                if len(path) == 3:
                    safe, path = found, [_leap(path, ridge) if step + 1 < steps else found]
                elif (length := float(np.linalg.norm(changes))) > longest:
                    path, longest = [safe], math.inf  # the leap led away
                else:
                    longest = length
                advance(1.0 / steps)
    start = np.searchsorted(layout.owner, np.arange(len(pairs) + 1))
    correlations = _rounded(_correlations(found[1]))
    return Embedded(correlations, start, pairs.astype(np.int64), *found, change)


def _of_pairs(owner: Integers, pairs: Floats, sums: Floats, products: Floats, scale: float) -> Fit:
    """Return mean and covariance to begin with: correlations of pairs, each on the samples that have both.

    The sums are those of `_observed`. Correlations shrink, to 0 if they may be chance, and the matrix is made
    positive definite.
    """
    both = np.maximum(pairs, 1.0)[np.ix_(owner, owner)]
    means, squares = sums[0][owner] / (both * scale), sums[1][owner] / (both * scale**2)
    variances = squares - means * means
    spreads = np.sqrt(np.where(variances > TINY, variances, np.inf))
    found = (products / (both * scale**2) - means * means.T) / (spreads * spreads.T)
    found *= np.maximum(0.0, 1.0 - DOUBT / np.maximum(both * found * found, DOUBT))
    np.fill_diagonal(found, 1.0)
    found = _correlations(interruptibly(_with_least_eigenvalue, found))
    spread = np.sqrt(np.where(np.diag(variances) > TINY, np.diag(variances), 0.0))
    return np.diag(means).copy(), found * np.outer(spread, spread)


def _with_least_eigenvalue(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T)


def _leap(path: list[Fit], ridge: float) -> Fit:
    """Return where two steps lead to if those after them shrink alike (SQUAREM).

    Variances may at most double or halve, and `_precision` needs a positive definite matrix. A leap is
    shortened until it complies, at worst to the end of the second step.
    """
    spread = np.sqrt(np.maximum(np.diag(path[0][1]), TINY))
    scale = np.vstack([spread, np.outer(spread, spread)])
    begin, middle, end = (np.vstack(fit) / scale for fit in path)
    first, bend = middle - begin, end - 2.0 * middle + begin
    length = float(np.linalg.norm(first)) / max(float(np.linalg.norm(bend)), TINY)
    variances = np.diag(end[1:])
    varies = variances > 0.0
    while length > SHORTEST:
        there = begin + 2.0 * length * first + length**2 * bend
        change = np.diag(there[1:])[varies] / variances[varies]
        if change.min() > 0.5 and change.max() < 2.0 and _is_positive(there[1:], ridge):
            mean, covariance = scale[0] * there[0], scale[1:] * there[1:]
            return mean, covariance
        length = (length + 1.0) / 2.0
    return path[-1]


def _is_positive(covariance: Floats, ridge: float) -> bool:
    try:
        interruptibly(np.linalg.cholesky, _correlations(covariance) + ridge * np.eye(len(covariance)))
    except np.linalg.LinAlgError:
        return False
    return True


def of_rows(layout: Layout, table: MemoryTable, of_all: Embedded, steps: int) -> Floats:
    """Return the correlations of some rows of a table, by a few steps of EM from those of all its rows.

    A column that does not vary is not correlated.
    """
    n_rows, mean, covariance = table.n_rows, of_all.mean, of_all.covariance
    if mean is None or covariance is None:
        return of_complete(layout, n_rows, table.add_up)
    with one_blas_thread():
        for left in range(steps - 1, -1, -1):
            precision = _precision(covariance, _ridge(layout.n_used, n_rows))
            mean, covariance = _step(layout, n_rows, table.add_up, mean, precision, left == 0)
        return _rounded(_correlations(covariance))


def of_complete(layout: Layout, n_rows: int, add_up: AddUp) -> Floats:
    """Return the correlations of rows without missing values."""
    with one_blas_thread():
        _, covariance = _step(layout, n_rows, add_up, np.zeros(len(layout.owner)), None, True)
    return _rounded(_correlations(covariance))


def _step(
    layout: Layout, n_rows: int, add_up: AddUp, mean: Floats, precision: Floats | None, exact: bool
) -> Fit:
    """Return the mean and the covariance of completed rows, as `_completed` sums them up."""
    unit, scale = layout.scaling.coarse_unit, 2.0**layout.scaling.coarse_bits
    # Variances up to 16, of all rows, fit into 62 bits.
    bits = 58 - math.ceil(math.log2(n_rows))
    sums, products, left_open = add_up(partial(_completed, layout, mean, precision, bits, exact))
    mean = (sums[0] + sums[1] / unit) / (scale * n_rows)
    joined = products[0]
    if exact:
        joined = joined + (products[1] + products[2] / unit) / unit
    covariance = joined / scale**2 + left_open / 2.0**bits
    return mean, covariance / n_rows - np.outer(mean, mean)


def _rounded(correlations: Floats) -> Floats:
    return np.clip(np.round(correlations, DIGITS), -1.0, 1.0)


def _inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive definite matrix."""
    from scipy.linalg import lapack  # 0.1 s, and seldom needed

    factor, _ = lapack.dpotrf(matrix, lower=1)
    inverse, _ = lapack.dpotri(factor, lower=1)
    lower = np.tril(inverse)
    return np.ascontiguousarray(lower + np.tril(lower, -1).T)


def _correlations(covariance: Floats) -> Floats:
    variances = np.diag(covariance)
    weights = np.where(variances > TINY, 1.0 / np.sqrt(np.maximum(variances, TINY)), 0.0)
    found: Floats = covariance * np.outer(weights, weights)
    np.fill_diagonal(found, 1.0)
    return found


def _ridge(columns: int, n_rows: int) -> float:
    """Return how far predictions are drawn towards independence: the squared number of columns for each row.

    That is what a regression on that many columns overfits, and with as many columns as rows half.
    """
    return max((columns / n_rows) ** 2, 1e-7)


def _precision(covariance: Floats, ridge: float) -> Floats:
    """Return the inverse of a covariance matrix drawn towards independence."""
    spread = np.sqrt(np.maximum(np.diag(covariance), TINY))
    matrix = _correlations(covariance) + ridge * np.eye(len(spread))
    inverse = interruptibly(np.linalg.inv, matrix) * (1.0 + ridge)
    return np.ascontiguousarray((inverse + inverse.T) / 2 / np.outer(spread, spread))
