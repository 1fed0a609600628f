"""What learners ask of a table of real numbers: variances and correlations, summed once.

Sums of floats depend on the order in which they are made. Here they do not: each column is moved near its
mean, divided by a power of two near its standard deviation, and rounded to a whole number of units so small
that nothing is lost by it. Sums of whole numbers are exact in any order, and so are sums of their products,
which a matrix product makes from a coarse and a fine half of each number: by the inequality of Cauchy and
Schwarz no partial sum outgrows the 53 bits that a float keeps exactly. So the correlations are the same to
the last bit whatever the order of rows and columns, the threads and the library of linear algebra. With the
same places and scales, the sums of blocks of rows add up to those of the whole.

>>> from f2sl.reading import open_table
>>> moments = Moments.of_table(open_table({"a": [0.5, 1.5, 2.5], "b": [1.0, 1.0, 4.0]}))
>>> moments.correlations.round(6).tolist()
[[1.0, 0.866025], [0.866025, 1.0]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl._memory import available_bytes
from f2sl._threads import Threads
from f2sl.errors import DataError
from f2sl.storage.memory.table import MemoryTable
from f2sl.storage.protocol import FoundPairs
from f2sl.table.names import listing
from f2sl.table.table import Summand, Table

DIGITS = 12
"""Correlations are rounded to this many decimal places: copies of a column correlate by exactly 1."""

EXACT_BITS = 53
VARIABLES_AT_ONCE = 512
"""Tiles of the matrix of correlations have this many rows and columns."""
NUMBERS_AT_ONCE = 1 << 16
"""As many fit into a core's cache several times."""


AddUp = Callable[[Summand], tuple[NDArray[Any], ...]]
"""Sums what a function makes of each block of rows."""


class CorrelationFormula(Protocol):
    """From the correlations of pairs to the pairs worth keeping."""

    def of_correlations(self, first: Integers, second: Integers, correlations: Floats) -> FoundPairs:
        """Keep some of the pairs, with their values."""

    @property
    def weakest(self) -> float:
        """No pair is kept whose correlation does not exceed it, by absolute value."""


class Moments:
    """Variances and correlations of real-valued variables.

    Parameters
    ----------
    n_rows : int
        From how many samples they come.
    variances : ndarray of shape (n,)
        Sums of squares about the mean, divided by the number of samples.
    correlations : ndarray of shape (n, n)
        One matrix for all that is asked.
    n_jobs : int, optional
        Threads for what is computed from them.
    names : sequence of str, optional
        What to call the variables in messages; their numbers by default.
    """

    counts = None
    """Questions about counts of states have no answer here."""

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
        self.names = tuple(map(str, range(len(variances)))) if names is None else tuple(names)

    @classmethod
    def of_table(cls, table: Table, n_jobs: int | None = None) -> Moments:
        """Sum up a table.

        Raises
        ------
        DataError
            If a column is constant, or the matrix needs more memory than there is.
        """
        _check_memory(table)
        low, high = table.ends()
        if (low == high).any():
            named = listing([repr(table.names[i]) for i in np.flatnonzero(low == high)])
            raise DataError(f"the same number in every row of {named}; leave constant columns out")
        if isinstance(table, MemoryTable):
            numbers = _sums_of_values(table.numbers, low, high)
        else:
            numbers = _sums_of_blocks(table, low, high)
        found = cls(table.n_rows, numbers.variances, numbers.correlations(), n_jobs, table.names)
        found._table = table
        return found

    def column(self, variable: int) -> Floats:
        """Return the numbers of one variable, where they come from a table."""
        if self._table is None:
            raise DataError("these moments were not made from a table: there are no numbers to give")
        return np.asarray(self._table.column(variable), np.float64)

    @property
    def moments(self) -> Moments:
        """What answers questions about moments of numbers: itself."""
        return self

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.variances)

    def copies(self) -> Integers:
        """List the pairs of variables that are the same but for place and scale, one a row."""
        first, second = (np.abs(self.correlations) == 1.0).nonzero()
        return np.asarray(np.column_stack([first, second])[first < second])

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
        parts: list[FoundPairs] = []
        for place, v in enumerate(chosen.tolist()):
            later = chosen[place + 1 :]
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


def _check_memory(table: Table) -> None:
    """Refuse a table whose matrix of correlations does not fit into memory."""
    n, streamed = table.n_variables, table.memory is not None
    needed = 8 * n * (5 * n if streamed else n + 2 * table.n_rows)
    available = table.memory if streamed else available_bytes()
    if available is not None and needed > available:
        raise DataError(
            f"{n:,} columns of real numbers need {needed / 2**30:,.1f} GiB of memory for "
            f"their correlations, and {available / 2**30:,.1f} GiB are free; leave columns out"
        )


def _coarse_bits(n_rows: int) -> int:
    """Give the bits behind the binary point of the coarse half."""
    return math.floor((EXACT_BITS - 1 - math.log2(n_rows)) / 2)


def _coarse_unit(n_rows: int) -> float:
    """Give how many of the fine half's units the coarse half's is."""
    return float(2.0 ** (_coarse_bits(n_rows) + 1))


class _Scaling:
    """Turns columns into whole numbers of tiny units, each cut into a coarse and a fine half.

    With N samples and squares that add up to at most N (in units of the scale), coarse halves of
    b bits behind the binary point have squares that add up to at most N 4^b, and so have the fine halves.

    Columns are moved near their means and divided by a power of two above their deviation. Place and scale
    need not be exact, but must not depend on the order of the rows: they come from sums of whole numbers,
    too.
    `add_up` sums what a function makes of blocks of rows, over all of them.
    """

    def __init__(self, n_rows: int, low: Floats, high: Floats, add_up: AddUp) -> None:
        self.n_rows = n_rows
        coarse_bits = _coarse_bits(n_rows)
        self.coarse_unit = _coarse_unit(n_rows)
        self._units_per_scale = 2.0**coarse_bits * self.coarse_unit
        self._half = high / 2 - low / 2
        self._centre = low + self._half
        self._mean = np.zeros(len(low))
        self._mean = self._rough_means(add_up, 1)
        deviation = np.sqrt(self._rough_means(add_up, 2))
        self._scale = np.ldexp(1.0, np.frexp(deviation)[1] + 1)
        self.unit = self._scale * self._half / self._units_per_scale
        """What a unit of the fine half is in the column's own numbers."""

    def _relative(self, values: Floats) -> Floats:
        relative = (values - self._centre[:, None]) / self._half[:, None]
        relative -= self._mean[:, None]
        return np.asarray(relative)

    @property
    def _rough_unit(self) -> float:
        return 2.0 ** -min(50, 60 - math.ceil(math.log2(self.n_rows)))

    def _rough_sums(self, power: int, values: Floats) -> tuple[Integers]:
        numbers = self._relative(values) ** power / self._rough_unit
        return (np.rint(numbers).astype(np.int64).sum(axis=1),)

    def _rough_means(self, add_up: AddUp, power: int) -> Floats:
        """Means of powers of numbers of at most 2, by absolute value, to some forty bits."""
        [sums] = add_up(partial(self._rough_sums, power))
        return np.asarray(sums * (self._rough_unit / self.n_rows))

    def halves(self, values: Floats) -> tuple[Floats, Floats]:
        """Cut some rows' numbers into their halves."""
        units = np.rint(self._relative(values) / self._scale[:, None] * self._units_per_scale)
        coarse = np.rint(units / self.coarse_unit)
        return coarse, units - coarse * self.coarse_unit


@dataclass(frozen=True)
class _Products:
    """Sums of the products of whole numbers: of coarse halves, of coarse with fine ones, of fine ones."""

    coarse: Floats
    mixed: Floats
    fine: Floats

    def joined(self, coarse_unit: float) -> Floats:
        """Give the sums of products of the whole numbers, in units of the fine half."""
        return (self.coarse * coarse_unit + self.mixed) * coarse_unit + self.fine


@dataclass(frozen=True)
class _Sums:
    """Sums over all rows, in units of the fine half, and the products of two stretches of columns."""

    n_rows: int
    coarse_unit: float
    unit: Floats
    sums: Floats
    own: _Products
    products: Callable[[slice, slice], _Products]

    @cached_property
    def squares(self) -> Floats:
        """Sums of squares about the mean."""
        return self.own.joined(self.coarse_unit) - self.sums * self.sums / self.n_rows

    @property
    def variances(self) -> Floats:
        """Variances of the columns."""
        return self.squares / self.n_rows * self.unit * self.unit

    def correlations(self) -> Floats:
        """The matrix of correlations, tile by tile."""
        n = len(self.sums)
        result = np.empty((n, n))
        for top in range(0, n, VARIABLES_AT_ONCE):
            a = slice(top, top + VARIABLES_AT_ONCE)
            for left in range(top, n, VARIABLES_AT_ONCE):
                b = slice(left, left + VARIABLES_AT_ONCE)
                products = self.products(a, b).joined(self.coarse_unit)
                products -= np.outer(self.sums[a], self.sums[b]) / self.n_rows
                products /= np.sqrt(np.outer(self.squares[a], self.squares[b]))
                result[a, b] = np.round(products, DIGITS)
                result[b, a] = result[a, b].T
        np.clip(result, -1.0, 1.0, out=result)
        np.fill_diagonal(result, 1.0)
        return result


def _sums_of_values(values: Floats, low: Floats, high: Floats) -> _Sums:
    """Sum up columns that are in memory, as many at a time as fit into a core's cache."""
    n, n_rows = values.shape
    coarse, fine, unit = np.empty_like(values), np.empty_like(values), np.empty(n)
    step = max(1, NUMBERS_AT_ONCE // n_rows)
    for start in range(0, n, step):
        part = slice(start, start + step)
        scaling = _Scaling(n_rows, low[part], high[part], partial(_of_one_block, values[part]))
        coarse[part], fine[part] = scaling.halves(values[part])
        unit[part] = scaling.unit
    coarse_unit = _coarse_unit(n_rows)
    sums = coarse.sum(axis=1) * coarse_unit + fine.sum(axis=1)
    own = _Products(_dots(coarse, coarse), 2.0 * _dots(coarse, fine), _dots(fine, fine))
    return _Sums(n_rows, coarse_unit, unit, sums, own, lambda a, b: _multiplied(coarse, fine, a, b))


def _of_one_block(values: Floats, function: Summand) -> tuple[NDArray[Any], ...]:
    return function(values)


def _sums_of_blocks(table: Table, low: Floats, high: Floats) -> _Sums:
    """Sum up columns block by block."""
    scaling = _Scaling(table.n_rows, low, high, table.add_up)
    coarse_sums, fine_sums, *products = table.add_up(partial(_sums_of_block, scaling))
    total = _Products(*products)
    own = _Products(*map(np.diagonal, products))
    sums = coarse_sums * scaling.coarse_unit + fine_sums
    return _Sums(
        table.n_rows,
        scaling.coarse_unit,
        scaling.unit,
        sums,
        own,
        lambda a, b: _Products(total.coarse[a, b], total.mixed[a, b], total.fine[a, b]),
    )


def _sums_of_block(scaling: _Scaling, values: Floats) -> tuple[Floats, ...]:
    """Sum up a block: coarse and fine halves, and their products."""
    coarse, fine = scaling.halves(values)
    products = _multiplied(coarse, fine, slice(None), slice(None))
    return coarse.sum(axis=1), fine.sum(axis=1), products.coarse, products.mixed, products.fine


def _multiplied(coarse: Floats, fine: Floats, a: slice, b: slice) -> _Products:
    """Multiply a stretch of columns by another."""
    mixed = coarse[a] @ fine[b].T + fine[a] @ coarse[b].T
    return _Products(coarse[a] @ coarse[b].T, mixed, fine[a] @ fine[b].T)


def _dots(one: Floats, other: Floats) -> Floats:
    """Scalar products of rows with rows."""
    return np.asarray(np.einsum("ij,ij->i", one, other))
