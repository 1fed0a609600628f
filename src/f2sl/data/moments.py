"""Compute variances and correlations of a continuous table, exactly and once.

Sums of floats usually depend on their order. These do not: each column is shifted to near its mean, divided
by a power of two near its standard deviation, and rounded to a whole number of very small units. Sums of
whole numbers are exact in any order, and so are sums of their products, which a matrix product computes from
a coarse and a fine half of each number: by the Cauchy-Schwarz inequality no partial sum exceeds the 53 bits
that a float represents exactly. So the correlations are the same to the last bit for any order of rows and
columns, any number of threads and any library of linear algebra. With the same shifts and scales, the sums of
blocks of rows add up to those of the whole.

With N rows, the coarse half keeps b = floor((52 - log2 N) / 2) bits behind the binary point and the fine half
b + 1 more: 43 bits in all for 1,000 rows.

>>> from f2sl import open_table
>>> moments = Moments.of_table(open_table({"a": [0.5, 1.5, 2.5], "b": [1.0, 1.0, 4.5]}))
>>> moments.correlations.round(6).tolist()
[[1.0, 0.866025], [0.866025, 1.0]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers, Mask
from f2sl._memory import LEAST_MEMORY, available_bytes
from f2sl._threads import Threads
from f2sl.data.engines import FoundPairs
from f2sl.data.memory.table import MemoryTable
from f2sl.data.names import listing
from f2sl.data.table import Block, Summand, Table
from f2sl.errors import DataError

if TYPE_CHECKING:
    from f2sl.data.mixed.expected import Layout

DIGITS = 12
"""Correlations are rounded to this many decimal places: copies of a column correlate by exactly 1."""

EXACT_BITS = 53
"""Number of bits of whole numbers that floats represent exactly."""
BY_BLOCKS, BY_MISSING = 5, 16
"""Number of matrices of all pairs in memory at a time: three are sums of products; with gaps, eight more."""
VARIABLES_AT_ONCE = 512
"""Rows and columns of the tiles in which the matrix of correlations is computed."""
NUMBERS_AT_ONCE = 1 << 16
"""Number of values scaled at a time: half a megabyte, which stays in a core's cache."""


AddUp = Callable[[Summand], tuple[NDArray[Any], ...]]
"""Type of functions that apply a function to each block of rows and add up the arrays that it returns."""


Halves = tuple[Floats, Floats]
"""The coarse and the fine halves of numbers."""

Products = tuple[Floats, Floats, Floats]
"""Exact sums of products of whole numbers: coarse with coarse, coarse with fine, and fine with fine.

They are added up over blocks of rows before they are joined, because the joined sum has more than 53 bits and
is rounded.
"""


class CorrelationFormula(Protocol):
    """Formula that keeps pairs by their correlations."""

    def of_correlations(self, first: Integers, second: Integers, correlations: Floats) -> FoundPairs:
        """Keep some of the pairs, with their values."""

    @property
    def weakest(self) -> float:
        """Lower bound: pairs are kept only if their absolute correlation exceeds it."""


class Moments:
    """Variances and correlations of real-valued variables.

    Parameters
    ----------
    n_rows : int
        Number of samples that they come from.
    variances : ndarray of shape (n,)
        Sums of squares about the mean, divided by the number of samples.
    correlations : ndarray of shape (n, n)
        Symmetric, with ones on the diagonal; all tests, scores and measures read it.
    n_jobs : int, optional
        Number of threads for computing from them.
    names : sequence of str, optional
        Names of the variables in messages; their numbers by default.
    """

    counts = None
    """Questions about counts of states have no answer here."""
    any_missing = False
    """True if numbers are missing (:class:`~f2sl.data.available.AvailableMoments`)."""

    def __init__(
        self,
        n_rows: int,
        variances: Floats,
        correlations: Floats,
        n_jobs: int | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.n_rows = n_rows
        self.variances = variances
        self.correlations = correlations
        self.threads = Threads(n_jobs)
        self._table: Table | None = None
        self.scaling: Scaling | None = None
        """Conversion of a table's columns to whole numbers; None without a table."""
        self.sums = self.squares = np.empty(0)
        """Sums of the whole numbers, and of their squares about the mean."""
        self.isolated: Mask = np.zeros(len(variances), np.bool_)
        """Variables that may have no edges, and so do not matter to the matrix of the others."""
        self.names = tuple(map(str, range(len(variances)))) if names is None else tuple(names)

    @classmethod
    def of_table(cls, table: Table, n_jobs: int | None = None) -> Moments:
        """Compute the moments of a table.

        Raises
        ------
        DataError
            If a column is constant, or the matrix needs more memory than there is.
        """
        _check_memory(table, BY_MISSING if table.missing.any() else BY_BLOCKS)
        low, high = table.ends
        if (low == high).any():
            named = listing([repr(table.names[i]) for i in np.flatnonzero(low == high)])
            raise DataError(f"the same number in every row of {named}; leave constant columns out")
        if table.missing.any():
            from f2sl.data.available import AvailableMoments

            return AvailableMoments.of_missing(table, n_jobs)
        # Two passes, for means and deviations; for the products a third, if rows are not in memory.
        scaling = Scaling(table.n_rows, low, high, table.add_up)
        unit = scaling.coarse_unit
        if isinstance(table, MemoryTable):
            coarse, fine = scaling.halves(table.numbers)
            sums = coarse.sum(axis=1) * unit + fine.sum(axis=1)
            own: Products = _dots(coarse, coarse), 2.0 * _dots(coarse, fine), _dots(fine, fine)

            def products(a: slice, b: slice) -> Products:
                return products_of(coarse, fine, a, b)
        else:
            coarse_sums, fine_sums, *total = table.add_up(partial(_sums_of_block, scaling))
            sums = coarse_sums * unit + fine_sums
            own = np.diagonal(total[0]), np.diagonal(total[1]), np.diagonal(total[2])

            def products(a: slice, b: slice) -> Products:
                return total[0][a, b], total[1][a, b], total[2][a, b]

        squares = in_fine_units(unit, own) - sums * sums / table.n_rows
        variances = squares / table.n_rows * scaling.unit * scaling.unit
        correlations = _correlations(table.n_rows, unit, sums, squares, products)
        found = cls(table.n_rows, variances, correlations, n_jobs, table.names)
        found._table, found.scaling, found.sums, found.squares = table, scaling, sums, squares
        return found

    def column(self, variable: int) -> Floats:
        """Return the numbers of one variable, if they come from a table."""
        if self._table is None:
            raise DataError("these moments were not made from a table, so they have no columns")
        return np.asarray(self._table.column(variable), np.float64)

    @property
    def moments(self) -> Moments:
        """Engine for moments of continuous columns: itself."""
        return self

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.variances)

    @property
    def layout(self) -> Layout:
        """Columns of the one matrix: a column for each number."""
        from f2sl.data.mixed.basis import NO_HATS
        from f2sl.data.mixed.expected import Layout

        assert self.scaling is not None
        everyone, none = np.arange(self.n_variables), np.empty(0, np.int64)
        return Layout(
            self.scaling, none, everyone, none, everyone, none, everyone, NO_HATS, none, self.isolated
        )

    def search_pairs(
        self,
        formula: CorrelationFormula,
        variables: Integers | None = None,
        target: int | None = None,
        advance: Callable[[float], None] | None = None,
    ) -> FoundPairs:
        """Apply `formula` to all pairs among `variables` (default: all), or of `target` with each of them.

        Pairs come back once, with first < second, in ascending order.
        """
        chosen = np.arange(self.n_variables) if variables is None else variables
        if target is not None:
            others = chosen[chosen != target]
            first, second = np.minimum(others, target), np.maximum(others, target)
            order = np.lexsort((second, first))
            first, second = first[order], second[order]
            return formula.of_correlations(first, second, self.correlations[first, second])
        # Row by row, and only what exceeds the bound is handed on: no array is as large as all pairs.
        parts: list[FoundPairs] = []
        for position, v in enumerate(chosen.tolist()):
            later = chosen[position + 1 :]
            row = self.correlations[v, v + 1 :] if variables is None else self.correlations[v, later]
            above = np.flatnonzero(np.abs(row) > formula.weakest)
            parts.append(formula.of_correlations(np.full(len(above), v), later[above], row[above]))
            if advance is not None:
                advance(1.0 / len(chosen))
        return FoundPairs.joined(parts)

    def __enter__(self) -> Moments:
        return self

    def __exit__(self, *error: object) -> None:
        self.threads.close()


def _check_memory(table: Table, matrices: int) -> None:
    """Raise an error for a table whose matrix of correlations does not fit into memory."""
    # In memory: the matrix, and both halves of all values. By blocks, or with gaps: so many matrices.
    n, streamed = table.n_variables, table.memory is not None
    by_blocks = streamed or matrices == BY_MISSING
    needed = 8 * n * (matrices * n if by_blocks else n + 2 * table.n_rows)
    if not streamed and max(needed, 8 * n * matrices * n) <= LEAST_MEMORY:
        return  # to ask what is free takes longer than to learn from a small table
    available = table.memory if streamed else available_bytes()
    if table.allowed is not None and 8 * n * matrices * n > table.allowed:
        needed, available = 8 * n * matrices * n, table.allowed
    if available is not None and needed > available:
        free = "allowed" if streamed or available == table.allowed else "free"
        raise DataError(
            f"{n:,} continuous columns need {needed / 2**30:,.1f} GiB of memory for "
            f"their correlations, but {available / 2**30:,.1f} GiB are {free}; leave columns out"
        )


class Scaling:
    """Conversion of columns to whole numbers of tiny units, each split into a coarse and a fine half.

    Columns are shifted near their means and divided by a power of two between two and four times their
    standard deviation, so that their squares add up to less than N. Then the squares of the coarse halves,
    with b bits behind the binary point, add up to at most N 4^b; and a fine half, at most half a coarse unit
    of 2^(b + 1) fine ones, is at most 2^b, so that the same bound holds for these. By the choice of b it is
    2^52, and by the Cauchy-Schwarz inequality it holds for all sums of products, too.

    Shift and scale need not be exact, but must not depend on the order of the rows: they come from sums
    of whole numbers, too.

    Parameters
    ----------
    n_rows : int
        Number of rows of the whole table.
    low, high : (n,) float64
        Smallest and largest value of each column, which must differ.
    add_up : AddUp
        Sums what a function returns for blocks of rows, over all of them.
    observed : (n,) int64, optional
        Number of rows with a value of each column, if some are NaN; NaN is 0 in both halves.
    """

    def __init__(
        self, n_rows: int, low: Floats, high: Floats, add_up: AddUp, observed: Integers | None = None
    ) -> None:
        self.n_rows = n_rows
        self._observed = observed
        self.coarse_bits = math.floor((EXACT_BITS - 1 - math.log2(n_rows)) / 2)
        """Bits b behind the binary point of the coarse half: N 4^b is at most 2^52."""
        self.coarse_unit = float(2.0 ** (self.coarse_bits + 1))
        """Unit of the coarse half in units of the fine half."""
        self._units_per_scale = 2.0**self.coarse_bits * self.coarse_unit
        # Halved before the difference, which could overflow for columns near the largest float.
        self._half = high / 2 - low / 2
        self._centre = low + self._half
        self._mean = np.zeros(len(low))
        self._mean = self._rough_means(add_up, 1)
        deviation = np.sqrt(self._rough_means(add_up, 2))
        self._scale = np.ldexp(1.0, np.frexp(deviation)[1] + 1)
        self.unit = self._scale * self._half / self._units_per_scale
        """Value of a unit of the fine half in the column's own numbers, (n,) float64."""

    def part(self, columns: Integers) -> Scaling:
        """Return the scaling of some columns."""
        chosen = copy(self)
        for name in ("_half", "_centre", "_mean", "_scale", "unit"):
            setattr(chosen, name, getattr(self, name)[columns])
        return chosen

    def _relative(self, values: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield some columns at a time, about their means: they fit into the cache for several passes."""
        step = max(1, NUMBERS_AT_ONCE // max(1, values.shape[1]))
        for start in range(0, len(values), step):
            own = slice(start, start + step)
            # First to the range from -1 to 1, which cannot overflow, then about the mean.
            relative = (values[own] - self._centre[own, None]) / self._half[own, None]
            relative -= self._mean[own, None]
            yield own, relative

    @property
    def _rough_unit(self) -> float:
        # N squares of numbers up to 2, in this unit, add up to at most 2^62: they fit into an int64.
        return 2.0 ** -min(50, 60 - math.ceil(math.log2(self.n_rows)))

    def _rough_sums(self, power: int, block: Block) -> tuple[Integers]:
        sums = np.empty(len(block.numbers), np.int64)
        for own, relative in self._relative(block.numbers):
            numbers = self._known(relative) ** power / self._rough_unit
            sums[own] = np.rint(numbers).astype(np.int64).sum(axis=1)
        return (sums,)

    def _rough_means(self, add_up: AddUp, power: int) -> Floats:
        """Compute the mean of a power of each column, to some forty bits; no absolute value exceeds 2."""
        [sums] = add_up(partial(self._rough_sums, power))
        n_rows = self.n_rows if self._observed is None else self._observed
        return np.asarray(sums * (self._rough_unit / n_rows))

    def _known(self, numbers: Floats) -> Floats:
        """Replace NaN by 0."""
        return numbers if self._observed is None else np.nan_to_num(numbers, copy=False, nan=0.0)

    def halves(self, values: Floats) -> Halves:
        """Split some rows' numbers into coarse and fine halves, both whole numbers, (n, rows) float64."""
        coarse, fine = np.empty(values.shape), np.empty(values.shape)
        for own, relative in self._relative(values):
            units = self._known(np.rint(relative / self._scale[own, None] * self._units_per_scale))
            # Rounded to the nearest, the fine half is at most half a coarse unit, and signed.
            coarse[own] = np.rint(units / self.coarse_unit)
            fine[own] = units - coarse[own] * self.coarse_unit
        return coarse, fine


def in_fine_units(coarse_unit: float, products: Iterable[Floats]) -> Floats:
    """Return the sums of products of whole numbers, in units of the fine half."""
    coarse, mixed, fine = products
    return (coarse * coarse_unit + mixed) * coarse_unit + fine


def _correlations(
    n_rows: int,
    coarse_unit: float,
    sums: Floats,
    squares: Floats,
    products: Callable[[slice, slice], Products],
) -> Floats:
    """Compute the matrix of correlations, (n, n) float64, tile by tile, the upper triangle alone.

    sums, squares : (n,) float64, about the mean; products : those of two ranges of columns.
    """
    n = len(sums)
    result = np.empty((n, n))
    for top in range(0, n, VARIABLES_AT_ONCE):
        a = slice(top, top + VARIABLES_AT_ONCE)
        for left in range(top, n, VARIABLES_AT_ONCE):
            b = slice(left, left + VARIABLES_AT_ONCE)
            joined = in_fine_units(coarse_unit, products(a, b))
            # Columns are near their means, so that this subtracts little and loses nothing by cancellation.
            joined -= np.outer(sums[a], sums[b]) / n_rows
            joined /= np.sqrt(np.outer(squares[a], squares[b]))
            result[a, b] = np.round(joined, DIGITS)
            result[b, a] = result[a, b].T
    np.clip(result, -1.0, 1.0, out=result)
    np.fill_diagonal(result, 1.0)
    return result


def _sums_of_block(scaling: Scaling, block: Block) -> tuple[Floats, ...]:
    """Sum up a block: coarse and fine halves, (n,) each, and the three matrices of their products."""
    coarse, fine = scaling.halves(block.numbers)
    return coarse.sum(axis=1), fine.sum(axis=1), *products_of(coarse, fine)


def products_of(
    coarse: Floats,
    fine: Floats,
    a: slice = slice(None),
    b: slice = slice(None),
) -> Products:
    """Multiply two ranges of columns: matrix products of halves, exact whatever order BLAS sums in."""
    mixed = coarse[a] @ fine[b].T + fine[a] @ coarse[b].T
    return coarse[a] @ coarse[b].T, mixed, fine[a] @ fine[b].T


def _dots(one: Floats, other: Floats) -> Floats:
    """Return the scalar product of each row of `one` with the same row of `other`."""
    return np.asarray(np.einsum("ij,ij->i", one, other))
