"""Codes of integer columns, many at a time and without sorting.

Discrete data are mostly small integers. For a column whose values are close together, a table with one entry
for each value between the smallest and the largest is enough: mark the values that occur, number the marks
from left to right, and look up every cell. One ``bincount`` marks a whole block of columns, each in its own
part of one long table. Columns whose values are far apart are sorted, one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from f2sl.data.column import code_type

BLOCK_CELLS = 1 << 20
"""Number of cells processed at a time, which limits temporary memory to a few times 8 MB."""

BLOCK_COLUMNS = 1 << 12
"""Columns worked on at once."""

SHARED_SPREAD = 1 << 8
"""Span of values below which columns share one table; 4,096 columns fill 8 MB."""

SINGLE_SPREAD = 1 << 16
"""Span of values below which a column has its own table; other columns are sorted."""

Integers = npt.NDArray[Any]


def distinct(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Find the distinct numbers, ascending, and how often each occurs; integers close together unsorted.

    Examples
    --------
    >>> [found.tolist() for found in distinct(np.array([7, 5, 7]))]
    [[5, 7], [1, 2]]
    """
    if values.dtype.kind in "iu" and len(values):
        low, high = values.min(), values.max()
        if int(high) - int(low) < SINGLE_SPREAD:
            counts = np.bincount(offsets(values, low))
            there = np.flatnonzero(counts)
            return there.astype(values.dtype) + low, counts[there].astype(np.int64)
    found, counts = np.unique(values, return_counts=True)
    return found, counts.astype(np.int64)


def block_width(n_rows: int) -> int:
    """Return how many columns of `n_rows` rows make a block."""
    return min(max(1, BLOCK_CELLS // max(n_rows, 1)), BLOCK_COLUMNS)


def encode_integers(values: Integers) -> tuple[list[Integers], Integers]:
    """Find the distinct values of each column, and each cell's position among them.

    `values` are of shape (n_rows, n_columns), with at least one row. The distinct values are ascending; the
    codes, of shape (n_columns, n_rows), are as narrow as the largest number of states allows.

    Examples
    --------
    >>> states, codes = encode_integers(np.array([[5, 0], [-1, 0], [5, 1]]))
    >>> [s.tolist() for s in states], codes.tolist()
    ([[-1, 5], [0, 1]], [[1, 0, 1], [0, 0, 1]])
    """
    low, high = values.min(axis=0), values.max(axis=0)
    # Modular arithmetic: right even where high - low does not fit the signed type.
    spread = high.astype(np.uint64) - low.astype(np.uint64)
    shared = spread < SHARED_SPREAD
    if shared.all():
        return _look_up(values, low, spread)
    states: list[Integers] = [low] * values.shape[1]
    codes: list[Integers] = [low] * values.shape[1]
    if shared.any():
        where = np.flatnonzero(shared)
        some_states, some_codes = _look_up(values[:, where], low[where], spread[where])
        for i, column_states, column_codes in zip(where, some_states, some_codes, strict=True):
            states[i], codes[i] = column_states, column_codes
    for i in np.flatnonzero(~shared):
        if spread[i] < SINGLE_SPREAD:
            one = slice(i, i + 1)
            (states[i],), (codes[i],) = _look_up(values[:, one], low[one], spread[one])
        else:
            states[i], codes[i] = np.unique(values[:, i], return_inverse=True)
    most = max(len(s) for s in states)
    # Beyond 65,536 states the table is refused; until then the codes must still be right.
    narrow = code_type(most) if most <= 1 << 16 else np.uint32
    return states, np.stack([c.astype(narrow, copy=False) for c in codes])


def _look_up(values: Integers, low: Integers, spread: Integers) -> tuple[list[Integers], Integers]:
    """Encode columns with close values, by one table for all of them."""
    n_rows, n_columns = values.shape
    width = int(spread.max()) + 1
    start = np.arange(n_columns, dtype=np.int64) * width
    step = max(1, BLOCK_CELLS // n_columns)
    chunks = [slice(first, first + step) for first in range(0, n_rows, step)]

    counts = np.zeros(n_columns * width, dtype=np.int64)
    for chunk in chunks:
        positions = offsets(values[chunk], low)
        positions += start
        counts += np.bincount(positions.ravel(), minlength=counts.size)
    present = counts.reshape(n_columns, width) > 0

    n_states = present.sum(axis=1)
    states = [low[i] + np.flatnonzero(present[i]).astype(low.dtype) for i in range(n_columns)]
    narrow = code_type(int(n_states.max()))
    codes = np.empty((n_columns, n_rows), dtype=narrow)
    gapless = bool((n_states == spread.astype(np.int64) + 1).all())
    rank = np.empty(0) if gapless else (present.cumsum(axis=1) - 1).astype(narrow).ravel()
    for chunk in chunks:
        positions = offsets(values[chunk], low)
        if not gapless:
            positions += start
        codes[:, chunk] = positions.T if gapless else rank[positions].T
    return states, codes


def offsets(values: Integers, low: Integers) -> npt.NDArray[np.int64]:
    """Return ``values - low`` as new int64; the differences are known to be small."""
    if values.dtype == np.uint64:
        return (values - low).astype(np.int64)
    return np.subtract(values, low, dtype=np.int64)
