"""Correlations of all columns of a mixed table with missing values, by the EM algorithm.

The columns are those of :class:`~f2sl.storage.mixed.engine.Embedded`: numbers, and indicators of states, taken
to be jointly normal. The correlations of pairs, each on its own rows, are no answer: the rows of different
pairs may differ systematically, and then the matrix is that of no distribution. Maximum likelihood uses all
that each row knows, and is right whenever a value is missing for reasons that the table holds ("at random";
Little and Rubin 2019, chapter 11).

The E step fills in each row's missing values by what its others predict, and adds the covariance that these
leave open; the M step takes mean and covariance of the rows so completed. It begins with uncorrelated columns,
so that pairs which no row has together stay as unrelated as the others let them be. What predicts is drawn a
little towards independence, by `_ridge`: with few rows for each column the maximum would predict noise.

All sums are of whole numbers, as those of :mod:`f2sl.storage.moments`, and add up over blocks of rows: a step
is one pass over the table, wherever its rows are.

References
----------
.. [1] R. J. A. Little, D. B. Rubin. Statistical analysis with missing data. 3rd edition, 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._threads import one_blas_thread
from f2sl.storage.mixed import _kernels
from f2sl.storage.moments import Scaling
from f2sl.table.table import Block

MOST_STEPS, NEAR = 50, 0.02
"""Steps at most, and the change of correlations at which they end, in standard errors."""
WORK = 2e10
"""Multiplications of all steps together; a table that needs more for each has fewer steps."""
LEAST_STEPS = 4
VALUES_AT_ONCE = 1 << 22
"""Values of rows that are completed at a time."""
DIGITS = 9
"""Correlations are rounded to this many decimal places: steps are no exact sums."""


@dataclass(frozen=True)
class Layout:
    """Where columns of a block go among the embedded ones.

    numbers : (n_numbers,) embedded column of each number; indicators : (all states,) that of each state, -1
    for none; owner : (columns,) variable of each; states, of_numbers : variables of both kinds.
    """

    scaling: Scaling
    cardinalities: Integers
    numbers: Integers
    indicators: Integers
    owner: Integers
    states: Integers
    of_numbers: Integers

    def rows(self, block: Block, a: int, b: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return both halves of some rows' columns, (rows, columns), and what is missing, (rows, variables).

        An indicator is one unit of the scale.
        """
        coarse, fine = np.zeros((2, b - a, len(self.owner)))
        missing = np.empty((b - a, len(self.states) + len(self.of_numbers)), np.bool_)
        numbers, codes = block.numbers[:, a:b], block.codes[:, a:b]
        coarse[:, self.numbers], fine[:, self.numbers] = (half.T for half in self.scaling.halves(numbers))
        missing[:, self.of_numbers] = np.isnan(numbers).T
        missing[:, self.states] = (codes >= self.cardinalities[:, None]).T
        first = np.cumsum(self.cardinalities) - self.cardinalities
        for v, own in enumerate(codes):
            there = np.flatnonzero(own < self.cardinalities[v])
            column = self.indicators[first[v] + own[there].astype(np.int64)]
            coarse[there[column >= 0], column[column >= 0]] = 2.0**self.scaling.coarse_bits
        return coarse, fine, missing


def together(layout: Layout, block: Block) -> tuple[Floats]:
    """Count the samples that have both variables of each pair, (variables, variables)."""
    n = len(layout.states) + len(layout.of_numbers)
    there = np.empty((n, block.codes.shape[1]))
    there[layout.of_numbers] = ~np.isnan(block.numbers)
    there[layout.states] = block.codes < layout.cardinalities[:, None]
    return (there @ there.T,)


def _completed(
    layout: Layout, mean: Floats, precision: Floats, bits: int, exact: bool, block: Block
) -> tuple[NDArray[Any], ...]:
    """Sum up a block of completed rows: values, products, covariances left open, multiplications.

    With `exact` both halves of what was observed count, else the coarse ones alone.
    """
    c = len(layout.owner)
    sums, products = np.zeros((2, c)), np.zeros((3 if exact else 1, c, c))
    open_, work = np.zeros((c, c), np.int64), np.zeros(1)
    at_once, scale = max(1, VALUES_AT_ONCE // c), 2.0**layout.scaling.coarse_bits
    for a in range(0, block.codes.shape[1], at_once):
        coarse, fine, missing = layout.rows(block, a, min(a + at_once, block.codes.shape[1]))
        _, pattern = np.unique(np.packbits(missing, axis=1), axis=0, return_inverse=True)
        order = np.argsort(pattern.ravel(), kind="stable")
        begin = np.flatnonzero(np.diff(pattern.ravel()[order], prepend=-1, append=-1))
        values = (coarse + fine / layout.scaling.coarse_unit) / scale
        _kernels.fill_in(
            values, missing, order, begin, layout.owner, mean, precision, 2.0**bits, scale, coarse, open_, work
        )
        sums[0] += coarse.sum(axis=0)
        products[0] += coarse.T @ coarse
        if exact:
            fine[missing[:, layout.owner]] = 0.0
            mixed = coarse.T @ fine
            sums[1] += fine.sum(axis=0)
            products[1] += mixed + mixed.T
            products[2] += fine.T @ fine
    return sums, products, open_, work


def expected_correlations(
    layout: Layout, n_rows: int, pairs: Floats, add_up: Callable[..., tuple[NDArray[Any], ...]]
) -> Floats:
    """Return the correlations of all columns that EM finds, (columns, columns).

    `pairs` counts the samples that have both variables of each pair (`together`).
    """
    c, unit = len(layout.owner), layout.scaling.coarse_unit
    weight = np.sqrt(pairs[np.ix_(layout.owner, layout.owner)])
    scale = 2.0**layout.scaling.coarse_bits
    # Variances up to 16, of all rows, fit into 62 bits.
    bits = 58 - math.ceil(math.log2(n_rows))
    mean, covariance, before = np.zeros(c), np.eye(c), np.eye(c)
    steps, step = MOST_STEPS, 0
    with one_blas_thread():
        while step < steps:
            precision = _precision(covariance, c / n_rows) if step else np.eye(c)
            last = step == steps - 1
            found = add_up(partial(_completed, layout, mean, precision, bits, last))
            sums, products, open_, work = found
            if not step:
                most = WORK / (float(work[0]) + n_rows * c * c / 8 + c**3)
                steps = int(np.clip(most, LEAST_STEPS, MOST_STEPS))
            mean = (sums[0] + sums[1] / unit) / (scale * n_rows)
            joined = products[0]
            if last:
                joined = joined + (products[1] + products[2] / unit) / unit
            covariance = joined / scale**2 + open_ / 2.0**bits
            covariance = covariance / n_rows - np.outer(mean, mean)
            correlations = _correlations(covariance)
            step += 1
            if (np.abs(correlations - before) * weight).max() < NEAR and step < steps:
                steps = step + 1  # once more, with all digits
            before = correlations
    return np.asarray(np.clip(np.round(before, DIGITS), -1.0, 1.0))


def _correlations(covariance: Floats) -> Floats:
    spread = np.sqrt(np.diag(covariance))
    found = covariance / np.outer(spread, spread)
    np.fill_diagonal(found, 1.0)
    return found


def _precision(covariance: Floats, share: float) -> Floats:
    """Return the inverse of a covariance matrix drawn towards independence.

    By the squared number of columns for each row: what a regression on that many columns overfits, and with
    as many columns as rows half.
    """
    ridge = max(share * share, 1e-7)
    spread = np.sqrt(np.diag(covariance))
    matrix = _correlations(covariance) + ridge * np.eye(len(spread))
    inverse = np.linalg.inv(matrix) * (1.0 + ridge)
    return np.ascontiguousarray((inverse + inverse.T) / 2 / np.outer(spread, spread))
