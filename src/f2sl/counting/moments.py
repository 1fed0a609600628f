"""What learners ask of a table of real numbers: variances and correlations, summed once.

Sums of floats depend on the order in which they are made. Here they do not: each column is moved near its
mean, divided by a power of two near its standard deviation, and rounded to a whole number of units so small
that nothing is lost by it. Sums of whole numbers are exact in any order, and so are sums of their products,
which a matrix product makes from a coarse and a fine half of each number: by the inequality of Cauchy and
Schwarz no partial sum outgrows the 53 bits that a float keeps exactly. So the correlations are the same to
the last bit whatever the order of rows and columns, the threads and the library of linear algebra. With the
same places and scales, the sums of blocks of rows add up to those of the whole.

>>> from f2sl.data import as_numeric
>>> moments = Moments.of_table(as_numeric({"a": [0.5, 1.5, 2.5], "b": [1.0, 1.0, 4.0]}))
>>> moments.correlations.round(6).tolist()
[[1.0, 0.866025], [0.866025, 1.0]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from f2sl._memory import available_bytes
from f2sl._threads import Threads
from f2sl.counting.protocol import Floats, FoundPairs, Integers
from f2sl.data.names import listing
from f2sl.data.table import NumericTable
from f2sl.errors import DataError

DIGITS = 12
"""Correlations are rounded to this many decimal places: copies of a column correlate by exactly 1."""

EXACT_BITS = 53
VARIABLES_AT_ONCE = 512
"""Tiles of the matrix of correlations have this many rows and columns."""
NUMBERS_AT_ONCE = 1 << 16
"""As many fit into a core's cache several times."""


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
        self.names = tuple(map(str, range(len(variances)))) if names is None else tuple(names)

    @classmethod
    def of_table(cls, table: NumericTable, n_jobs: int | None = None) -> Moments:
        """Sum up a table.

        Raises
        ------
        DataError
            If a column is constant, or the matrix needs more memory than there is.
        """
        _check_memory(table)
        low, high = table.values.min(axis=1), table.values.max(axis=1)
        if (low == high).any():
            named = listing([repr(table.names[i]) for i in np.flatnonzero(low == high)])
            raise DataError(f"the same number in every row of {named}; leave constant columns out")
        numbers = _WholeNumbers(table.values, low, high)
        return cls(table.n_rows, numbers.variances, numbers.correlations(), n_jobs, table.names)

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
        if not parts:
            return FoundPairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        return FoundPairs(
            np.concatenate([part.first for part in parts]),
            np.concatenate([part.second for part in parts]),
            np.concatenate([part.values for part in parts]),
        )

    def __enter__(self) -> Moments:
        return self

    def __exit__(self, *error: object) -> None:
        self.threads.close()


def _check_memory(table: NumericTable) -> None:
    """Refuse a table whose matrix of correlations does not fit into memory."""
    needed = 8 * table.n_variables * (table.n_variables + 2 * table.n_rows)
    available = available_bytes()
    if available is not None and needed > available:
        raise DataError(
            f"{table.n_variables:,} columns of real numbers need {needed / 2**30:,.1f} GiB of memory for "
            f"their correlations, and {available / 2**30:,.1f} GiB are free; leave columns out"
        )


class _WholeNumbers:
    """A table's columns as whole numbers of tiny units, each cut into a coarse and a fine half.

    With N samples and squares that add up to at most N (in units of the scale), coarse halves of
    b bits behind the binary point have squares that add up to at most N 4^b, and so have the fine halves.
    """

    def __init__(self, values: Floats, low: Floats, high: Floats) -> None:
        self.n_rows = values.shape[1]
        coarse_bits = math.floor((EXACT_BITS - 1 - math.log2(self.n_rows)) / 2)
        self.coarse_unit = 2.0 ** (coarse_bits + 1)
        """How many of the fine half's units the coarse half's is."""
        units_per_scale = 2.0**coarse_bits * self.coarse_unit
        self.coarse = np.empty_like(values)
        self.fine = np.empty_like(values)
        scale = np.empty(len(values))
        step = max(1, NUMBERS_AT_ONCE // self.n_rows)
        for start in range(0, len(values), step):
            part = slice(start, start + step)
            standard, scale[part] = self._standardized(values[part], low[part], high[part])
            units = np.rint(standard * units_per_scale)
            self.coarse[part] = np.rint(units / self.coarse_unit)
            self.fine[part] = units - self.coarse[part] * self.coarse_unit
        # In units of the fine half, as all that follows.
        self.sums = self.coarse.sum(axis=1) * self.coarse_unit + self.fine.sum(axis=1)
        own = self._joined(
            _dots(self.coarse, self.coarse), 2.0 * _dots(self.coarse, self.fine), _dots(self.fine, self.fine)
        )
        self.squares = own - self.sums * self.sums / self.n_rows
        unit = scale / units_per_scale
        self.variances = self.squares / self.n_rows * unit * unit

    def _joined(self, coarse: Floats, mixed: Floats, fine: Floats) -> Floats:
        """Join the products of the halves to products of the whole numbers."""
        return (coarse * self.coarse_unit + mixed) * self.coarse_unit + fine

    def _standardized(self, values: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Move columns near their means and divide them by a power of two above their deviation.

        Place and scale need not be exact, but must not depend on the order of the rows: they come from sums
        of whole numbers, too.
        """
        half = high / 2 - low / 2
        relative = (values - (low + half)[:, None]) / half[:, None]
        relative -= self._rough_means(relative)[:, None]
        deviation = np.sqrt(self._rough_means(relative * relative))
        scale = np.ldexp(1.0, np.frexp(deviation)[1] + 1)
        return relative / scale[:, None], scale * half

    def _rough_means(self, values: Floats) -> Floats:
        """Means of numbers of at most 4, by absolute value, to some forty bits."""
        unit = 2.0 ** -min(50, 60 - math.ceil(math.log2(self.n_rows)))
        return np.asarray(np.rint(values / unit).astype(np.int64).sum(axis=1) * (unit / self.n_rows))

    def correlations(self) -> Floats:
        """The matrix of correlations, tile by tile."""
        n = len(self.sums)
        result = np.empty((n, n))
        for top in range(0, n, VARIABLES_AT_ONCE):
            a = slice(top, top + VARIABLES_AT_ONCE)
            for left in range(top, n, VARIABLES_AT_ONCE):
                b = slice(left, left + VARIABLES_AT_ONCE)
                mixed = self.coarse[a] @ self.fine[b].T + self.fine[a] @ self.coarse[b].T
                products = self._joined(
                    self.coarse[a] @ self.coarse[b].T, mixed, self.fine[a] @ self.fine[b].T
                )
                products -= np.outer(self.sums[a], self.sums[b]) / self.n_rows
                products /= np.sqrt(np.outer(self.squares[a], self.squares[b]))
                result[a, b] = np.round(products, DIGITS)
                result[b, a] = result[a, b].T
        np.clip(result, -1.0, 1.0, out=result)
        np.fill_diagonal(result, 1.0)
        return result


def _dots(one: Floats, other: Floats) -> Floats:
    """Scalar products of rows with rows."""
    return np.asarray(np.einsum("ij,ij->i", one, other))
