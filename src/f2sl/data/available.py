"""Moments of columns with missing values: each question uses the samples that have all its columns.

Correlations of pairs are computed once, each from the samples that have both columns. Together they are not
the correlation matrix of any set of samples, so nothing is derived from them: a question about more columns,
such as a partial correlation, uses the samples again (:meth:`AvailableMoments.of_questions`). One matrix of
all columns, for the score "bic-g", comes from all samples (:attr:`AvailableMoments.embedded`). As without
missing values, all sums are sums of whole numbers, so they are the same in any order and over any blocks of
rows.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers, Mask
from f2sl.data.memory.table import MemoryTable
from f2sl.data.moments import DIGITS, Moments, Scaling, in_fine_units, products_of
from f2sl.data.table import Arrays, Block, Table

if TYPE_CHECKING:
    from f2sl.data.mixed.expected import Embedded

Columns = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]

LEAST_ROWS = 2
"""Fewer samples have no correlation."""

PAIRS_PER_QUESTION = 10
"""Pairs of columns whose products are summed up for all samples of a block in the time of one question."""


class OfQuestions(NamedTuple):
    """Number of samples, correlations, (m, k, k), and variances, (m, k), of the columns of each question.

    Correlations are NaN if fewer than two samples have all columns, or a column does not vary among these.
    """

    n_rows: Floats
    correlations: Floats
    variances: Floats


class AvailableMoments(Moments):
    """Variances and correlations of columns with missing values.

    Attributes
    ----------
    pair_rows : ndarray of shape (n, n)
        Number of samples that have both columns of a pair.

    Examples
    --------
    >>> from f2sl import open_table
    >>> table = open_table({"a": [0.5, 1.5, 2.5, None], "b": [1.0, 1.0, 4.0, 7.5]})
    >>> moments = AvailableMoments.of_missing(table)
    >>> moments.correlations.round(6).tolist(), moments.pair_rows.tolist()
    ([[1.0, 0.866025], [0.866025, 1.0]], [[3.0, 3.0], [3.0, 4.0]])
    """

    any_missing = True
    missing: Mask
    pair_rows: Floats
    _columns: Columns | None = None
    _whole: tuple[Floats, Floats]

    @classmethod
    def of_missing(cls, table: Table, n_jobs: int | None = None) -> AvailableMoments:
        """Compute the moments of a table with missing values."""
        low, high = table.ends
        scaling = Scaling(table.n_rows, low, high, table.add_up, table.n_rows - table.missing)
        n_rows, *sums = table.add_up(partial(_sums_of_pairs, scaling))
        coarse, fine, *squares_and_products = sums
        unit = scaling.coarse_unit
        first = coarse * unit + fine  # of the row's column, over the samples that have the other
        squares, products = (
            in_fine_units(unit, squares_and_products[part]) for part in (slice(3), slice(3, 6))
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            squares -= first * first / n_rows
            found = (products - first * first.T / n_rows) / np.sqrt(squares * squares.T)
        # Pairs in which one column does not vary have no samples that tell anything, and those without
        # samples are not seen to be related.
        varies = _varies(n_rows, coarse, fine, squares_and_products[0], squares_and_products[2])
        n_rows = np.where(varies & varies.T, n_rows, 0.0)
        found = np.where((n_rows > 0) & np.isfinite(found), found, 0.0)
        found = np.clip(np.round(found, DIGITS), -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        variances = np.diagonal(squares) / (table.n_rows - table.missing) * scaling.unit**2
        moments = cls(table.n_rows, variances, found, n_jobs, table.names)
        moments._table, moments.scaling, moments.pair_rows = table, scaling, n_rows
        moments.missing = table.missing > 0
        if isinstance(table, MemoryTable):
            moments._columns = _in_integers(scaling, table.numbers)
            own = np.stack([np.diagonal(part) for part in (coarse, fine)])
            moments._whole = own, np.stack(squares_and_products[3:])
        return moments

    @cached_property
    def embedded(self) -> Embedded:
        """Correlations of a normal distribution that fits all samples best (`mixed/expected.py`)."""
        from f2sl.data.mixed.expected import expected

        assert self._table is not None
        return expected(self.layout, self.n_rows, self._table.add_up)

    def of_questions(self, variables: Integers) -> OfQuestions:
        """Compute the moments of each row of columns, from the samples that have all of them."""
        assert self._table is not None and self.scaling is not None
        if self._columns is not None:
            n_rows, sums, products = _sums_of_questions(variables, self._columns, self._whole)
        else:
            asked = partial(_questions_of_block, self.scaling, variables)
            n_rows, sums, products = self._table.add_up(asked)
        unit = self.scaling.coarse_unit
        first = sums[:, 0] * unit + sums[:, 1]
        both = in_fine_units(unit, products.swapaxes(0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            both -= first[:, :, None] * first[:, None, :] / n_rows[:, None, None]
            squares = np.einsum("tii->ti", both)
            found = both / np.sqrt(squares[:, :, None] * squares[:, None, :])
            variances = squares / n_rows[:, None] * self.scaling.unit[variables] ** 2
        found = np.clip(np.round(found, DIGITS), -1.0, 1.0)
        own = (np.einsum("tii->ti", products[:, part]) for part in (0, 2))
        known = (n_rows >= LEAST_ROWS) & _varies(n_rows[:, None], sums[:, 0], sums[:, 1], *own).all(axis=1)
        found[~known] = np.nan
        return OfQuestions(n_rows, found, variances)


def _varies(
    n_rows: Floats, coarse: Floats, fine: Floats, coarse_squares: Floats, fine_squares: Floats
) -> Mask:
    """Return which columns vary, from the sums of both halves and of their squares, all whole numbers.

    Exact: a difference of rounded sums may be positive where nothing varies, or the other way round.
    """
    found = np.zeros(np.broadcast_shapes(n_rows.shape, coarse.shape), np.bool_)
    with np.errstate(divide="ignore", invalid="ignore"):
        for sums, squares in ((coarse, coarse_squares), (fine, fine_squares)):
            mean = np.rint(sums / n_rows)
            found |= (mean * n_rows != sums) | (mean * mean * n_rows != squares)
    return found


def _sums_of_pairs(scaling: Scaling, block: Block) -> Arrays:
    """Sum up a block for all pairs, (n, n) each.

    Samples; coarse and fine halves, then their squares, of the first column over the samples that have the
    second; products of both.
    """
    values = block.numbers
    there = (~np.isnan(values)).astype(np.float64)
    coarse, fine = scaling.halves(values)
    # Squares are of whole numbers, and sums of some of them no larger than those of all: exact.
    of_first = (coarse, fine, coarse * coarse, 2.0 * coarse * fine, fine * fine)
    return there @ there.T, *(part @ there.T for part in of_first), *products_of(coarse, fine)


def _questions_of_block(scaling: Scaling, variables: Integers, block: Block) -> Arrays:
    """Sum up a block for some questions, which have columns of their own."""
    used, positions = np.unique(variables, return_inverse=True)
    scaling, numbers = scaling.part(used), block.numbers[used]
    whole = np.empty((2, 0)), np.empty((3, 0, 0))
    if len(used) ** 2 <= PAIRS_PER_QUESTION * len(variables):
        coarse, fine = scaling.halves(numbers)
        whole = np.stack([coarse.sum(axis=1), fine.sum(axis=1)]), np.stack(products_of(coarse, fine))
    return _sums_of_questions(positions.reshape(variables.shape), _in_integers(scaling, numbers), whole)


def _in_integers(scaling: Scaling, numbers: Floats) -> Columns:
    """Return both halves of numbers as 32-bit integers, and a bit for each that is missing."""
    coarse, fine = scaling.halves(numbers)
    return coarse.astype(np.int32), fine.astype(np.int32), as_bits(np.isnan(numbers))


def as_bits(mask: Mask) -> NDArray[np.uint64]:
    """Return the rows of a mask as words of 64 bits, the first entry in the lowest bit.

    Examples
    --------
    >>> as_bits(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    words = np.zeros((len(mask), -(-mask.shape[1] // 64) * 8), np.uint8)
    found = np.packbits(mask, axis=1, bitorder="little")
    words[:, : found.shape[1]] = found
    return words.view("<u8")


def _sums_of_questions(
    variables: Integers, columns: Columns, whole: tuple[Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    from f2sl.data import _kernels

    m, k = variables.shape
    found = np.empty(m), np.empty((m, 2, k)), np.empty((m, 3, k, k))
    _kernels.complete_sums(*columns, *whole, np.ascontiguousarray(variables), *found)
    return found
