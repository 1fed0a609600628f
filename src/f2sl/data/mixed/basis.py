"""Further columns for numbers whose relations are curved.

The score "dg-bic" treats a number as one normal column, and sees of its relations what is linear in it. A
number may stand for several columns, as a discrete variable does: its value, and basis functions of it
that the value cannot replace. This file decides which numbers have some, and computes them. All else follows
from :class:`~f2sl.data.mixed.expected.Layout`: the one matrix, EM, replicates, blocks of rows anywhere.

The basis functions are *hats*: lines that rise from 0 at one knot to 1 at the next and fall to 0 at the one
behind it. Knots are `KNOTS` quantiles. With the value, and without the hats of the outer knots, they span
the functions that are linear between knots (to within the lines at both ends).

A number gets its hats if the relations of pairs are clearly curved. For each other variable, in its linear
columns, there are two gains of log likelihood: of the number's value alone, and of its hats beside it. Each
is less BIC's penalty and log(variables) for each of the two ends, which corrects for the number of pairs, and
at least 0. With the sums of both, hats must have more than `CURVED` of the total twice: in all pairs of
numbers together, and in all pairs of this number. A share, and not a significant gain, because with enough
rows no relation is linear. And pairs of numbers decide first, because these are linear wherever the
degenerate Gaussian holds, while the probability of a state is never linear in a number that the state
shifts: there hats have up to 0.5 of a column, and in pairs of numbers at most 0.04 of a table. Where they
have little, numbers keep one column. So they do in tables with fewer than `ROWS_EACH` rows for each column.
To decide takes 3 to 14 % of the time of learning.

About `ROWS` rows are enough to decide, of those without missing values. They are chosen by their values, so
that neither their order nor the blocks they come in matter.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl._threads import one_blas_thread
from f2sl.data.mixed import block_sums
from f2sl.data.mixed.block_sums import CELL_BITS, CELLS
from f2sl.data.moments import AddUp, Scaling
from f2sl.data.table import Arrays, Block, Summand

if TYPE_CHECKING:
    from f2sl.data.mixed.expected import Layout

KNOTS, CURVED = 5, 0.1
"""Quantiles that are knots, and the least share of hats in what is explained. Both were chosen on sachs,
mildew, hepar2, water and win95pts with half of the variables observed as continuous, and on other data sets
of
the random networks (docs/evidence/mixed.md)."""
ROWS, MOST_COLUMNS, LEAST_ROWS, ROWS_EACH = 8192, 1024, 64, 10
"""Rows that decide; most columns, with hats, of a table that gets any; fewest rows that decide; and fewest
rows for each column, all hats included."""
RIDGE, MOST_EXPLAINED, DECIMALS = 1e-6, 1.0 - 1e-6, 6
"""Added to the variances of columns, some of which determine each other; the R^2 beyond which more does not
count; and the decimal places of what is compared."""


class Hats(NamedTuple):
    """Hat functions: the number that each is of, (m,), in ascending order, and its three knots, (m, 3).

    Knots are in units of the number's scale (:class:`~f2sl.data.moments.Scaling`).

    Examples
    --------
    >>> hats = Hats(np.array([0, 0]), np.array([[-1.0, 0.0, 2.0], [0.0, 2.0, 3.0]]))
    >>> hats.of(np.array([[-2.0], [0.5], [2.5]])).tolist()
    [[0.0, 0.0], [0.75, 0.25], [0.0, 0.5]]
    """

    number: Integers
    knots: Floats

    def of(self, values: Floats) -> Floats:
        """Return the hats of scaled numbers, (rows, numbers), as columns, (rows, m)."""
        own, (left, top, right) = values[:, self.number], self.knots.T
        rising, falling = (own - left) / (top - left), (right - own) / (right - top)
        return np.asarray(np.clip(np.minimum(rising, falling), 0.0, 1.0))

    def of_numbers(self, chosen: Mask) -> Hats:
        """Return the hats of some of the numbers."""
        own = chosen[self.number]
        return Hats(self.number[own], self.knots[own])


NO_HATS = Hats(np.empty(0, np.int64), np.empty((0, 3)))


def possible_hats(scaling: Scaling, n_rows: int, add_up: AddUp) -> Hats:
    """Return the hats of all numbers, with knots at quantiles; fewer where many rows have the same value."""
    counted = partial(block_sums.cells_counted, scaling)
    [counts] = add_up(partial(_of_some, ROWS / n_rows, counted))
    number, knots = [], []
    for v, own in enumerate(counts):
        below = np.cumsum(own)
        cells = np.unique(np.searchsorted(below, below[-1] * (np.arange(KNOTS) + 0.5) / KNOTS))
        at = (cells + 0.5 - CELLS // 2) / 2.0**CELL_BITS
        number += [v] * max(0, len(at) - 2)
        knots += [at[i : i + 3] for i in range(len(at) - 2)]
    return Hats(np.array(number, np.int64), np.array(knots).reshape(-1, 3))


def curved(layout: Layout, n_rows: int, add_up: AddUp) -> Mask:
    """Return for each number of a layout with hats whether its relations are clearly curved."""
    count, sums, products = add_up(partial(_of_some, ROWS / n_rows, partial(_complete_sums, layout)))
    rows, found = float(count[0]), np.zeros(len(layout.of_numbers), np.bool_)
    if rows < LEAST_ROWS:
        return found
    with one_blas_thread():
        matrix = _correlations(products / rows - np.outer(sums, sums) / rows**2)
        linear = np.ones(len(layout.owner), np.bool_)
        linear[layout.of_hats] = False
        # Columns of a variable made independent of each other; its value comes first, and stays.
        own = layout.owner[linear]
        of_linear = _whitening(matrix[np.ix_(linear, linear)], own)
        matrix = _whitening(matrix, layout.owner) @ matrix[:, linear] @ of_linear.T
    variables, start, widths = np.unique(own, return_index=True, return_counts=True)
    price, ends = 0.5 * math.log(rows) * widths, 2.0 * math.log(len(variables))
    gains = np.zeros((2, len(found), len(variables)))  # of values, and of hats
    for position in np.unique(layout.hats.number):
        v = layout.of_numbers[position]
        columns = np.flatnonzero(layout.owner == v)
        joint = np.add.reduceat(matrix[columns, None] * matrix[None, columns], start, axis=2)
        joint = np.where(variables == v, 0.0, joint).transpose(2, 0, 1)
        left = np.linalg.slogdet(np.eye(len(columns)) - MOST_EXPLAINED * joint)
        alone = -np.log1p(-MOST_EXPLAINED * np.minimum(joint[:, 0, 0], 1.0))
        both = np.maximum(np.where(left.sign > 0, -left.logabsdet, -math.log(1.0 - MOST_EXPLAINED)), alone)
        k = len(columns)
        half = 0.5 * np.maximum(rows - k - widths, 0.0)
        gains[0, position] = half * alone - price - ends
        gains[1, position] = half * (both - alone) - (k - 1) * price - ends
    gains = np.maximum(gains, 0.0)

    def much(of_values: Floats, of_hats: Floats) -> Mask:
        return np.asarray(np.round(of_hats - CURVED * (of_values + of_hats), DECIMALS) > 0.0)

    return much(*gains.sum(axis=2)) & much(
        *gains[:, :, np.isin(variables, layout.of_numbers)].sum(axis=(1, 2))
    )


def _of_some(share: float, function: Summand, block: Block) -> Arrays:
    """Apply a function to a share of the rows, chosen by the bits of their numbers in any order."""
    if share >= 1.0:
        return function(block)
    bits = (block.numbers + 0.0).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    bits = np.where(np.isnan(block.numbers), np.uint64(0), bits ^ bits >> np.uint64(32)).sum(axis=0)
    bits = (bits ^ bits >> np.uint64(29)) * np.uint64(0xD6E8FEB86659FD93)
    chosen = np.flatnonzero(bits < np.uint64(share * 2.0**64))
    return function(Block(block.codes[:, chosen], block.numbers[:, chosen]))


def _complete_sums(layout: Layout, block: Block) -> Arrays:
    """Count the rows without missing values; sum up their columns, and the products of pairs of columns."""
    coarse, _, missing = layout.rows(block, 0, block.numbers.shape[1])
    coarse = coarse[~missing.any(axis=1)] / 2.0**layout.scaling.coarse_bits
    return np.array([len(coarse)]), coarse.sum(axis=0), coarse.T @ coarse


def _correlations(covariance: Floats) -> Floats:
    """Return the correlations of columns; those that do not vary are not correlated."""
    variances = np.diag(covariance)
    weights = np.where(variances > RIDGE**2, 1.0 / np.sqrt(np.maximum(variances, RIDGE**2)), 0.0)
    return np.asarray(covariance * np.outer(weights, weights))


def _whitening(matrix: Floats, owner: Integers) -> Floats:
    """Return the matrix that whitens the columns of each variable, one after the other."""
    found = np.zeros_like(matrix)
    for v in np.unique(owner):
        own = np.ix_(owner == v, owner == v)
        found[own] = np.linalg.inv(np.linalg.cholesky(matrix[own] + RIDGE * np.eye(len(matrix[own]))))
    return found
