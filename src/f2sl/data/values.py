"""One column as it comes in, before it is read as discrete or continuous.

A column from any library has one of three forms: *integers*, *reals*, or *labels* (strings, booleans,
categories) that a library has already numbered. Anything else is :class:`Refused`, with a keyword for the
reason; one message then lists the reasons of all columns.

Integers get codes many columns at a time and without sorting, as discrete data are mostly small integers. For
a column whose values are close together, a table with one entry for each value between the smallest and the
largest is enough: mark the values that occur, number the marks from left to right, and look up every cell.
One ``bincount`` marks a whole block of columns, each in its own part of one long table. Columns whose values
are far apart are sorted, one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Integers, Mask
from f2sl.data.column import code_type

BLOCK_CELLS = 1 << 20
"""Number of cells processed at a time, which limits temporary memory to a few times 8 MB."""

BLOCK_COLUMNS = 1 << 12
"""Columns worked on at once."""

SHARED_SPREAD = 1 << 8
"""Span of values below which columns share one table; 4,096 columns fill 8 MB."""

SINGLE_SPREAD = 1 << 16
"""Span of values below which a column has its own table; other columns are sorted."""

Whole = npt.NDArray[Any]
"""Whole of any width."""


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


def encode_integers(values: Whole) -> tuple[list[Whole], Whole]:
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
    states: list[Whole] = [low] * values.shape[1]
    codes: list[Whole] = [low] * values.shape[1]
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


def _look_up(values: Whole, low: Whole, spread: Whole) -> tuple[list[Whole], Whole]:
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


def offsets(values: Whole, low: Whole) -> npt.NDArray[np.int64]:
    """Return ``values - low`` as new int64; the differences are known to be small."""
    if values.dtype == np.uint64:
        return (values - low).astype(np.int64)
    return np.subtract(values, low, dtype=np.int64)


LAST_EXACT = 2.0**53
"""Above this all floats are whole numbers, and do not tell neighboring integers apart."""


class Refused(Exception):
    """Column that cannot be read."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class RawColumn:
    """Values of one column.

    Attributes
    ----------
    form : {"integers", "reals", "labels"}
        Meaning of `values`: the numbers themselves, or positions in `labels`.
    values : ndarray
        One for each row; arbitrary where missing.
    missing : ndarray of bool, or None
        The rows without a value; None if there are none.
    labels : tuple
        For labels: what the positions stand for.
    declared : bool
        True if all of `labels` are states, in their order, even if they do not occur.
    weights : ndarray of int64, or None
        Number of rows of the table that each value represents, if the values are the distinct ones in
        ascending order; None for one row each.
    only_ends : bool
        True if the values are only the smallest and the largest of very many.
    unit : str
        What the numbers of dates and times count; empty for other columns.
    """

    form: Literal["integers", "reals", "labels"]
    values: npt.NDArray[Any]
    missing: Mask | None = None
    labels: tuple[object, ...] = ()
    declared: bool = False
    weights: Integers | None = None
    only_ends: bool = False
    unit: str = ""

    @property
    def n_missing(self) -> int:
        """Number of rows without a value."""
        if self.missing is None:
            return 0
        return int(self.missing.sum() if self.weights is None else self.weights[self.missing].sum())

    def numbers(self) -> npt.NDArray[np.float64]:
        """Return the values as floats, NaN where missing."""
        numbers = self.values.astype(np.float64)
        if self.missing is not None:
            numbers[self.missing] = np.nan
        return numbers

    @property
    def present(self) -> RawColumn:
        """Column without the rows that have no value."""
        return self if self.missing is None else self.rows(~self.missing)

    @cached_property
    def counted(self) -> tuple[npt.NDArray[Any], Integers]:
        """The distinct values, and the number of rows that have each."""
        column = self.present
        if column.weights is not None:
            return column.values, column.weights
        return distinct(column.values)

    @property
    def merged(self) -> RawColumn:
        """The distinct values with their weights, a missing value last."""
        present = self.present
        values, where = np.unique(present.values, return_inverse=True)
        weights = np.bincount(where.reshape(-1), present.weights, len(values)).astype(np.int64)
        labels = tuple(self.labels[value] for value in values.tolist()) if self.form == "labels" else ()
        values = np.arange(len(labels)) if labels else values
        missing = None
        if self.n_missing:
            values, weights = np.append(values, values[:1]), np.append(weights, self.n_missing)
            missing = np.arange(len(values)) == len(values) - 1
        return RawColumn(self.form, values, missing, labels, weights=weights, unit=self.unit)

    def rows(self, keep: Mask | Integers) -> RawColumn:
        """Return the column with only the rows to `keep`: a mask, or their numbers."""
        missing = None if self.missing is None else some(self.missing[keep])
        weights = None if self.weights is None else self.weights[keep]
        return replace(self, values=self.values[keep], missing=missing, weights=weights)


def chosen_rows(column: RawColumn, rows: Mask | Integers) -> RawColumn:
    """Return a column with only some rows, in which real numbers may all be whole."""
    column = column.rows(rows)
    if column.form != "reals":
        return column
    return replace(reals(column.values, column.missing), unit=column.unit)


def some(missing: Mask | None) -> Mask | None:
    """Return the mask, or None if it marks nothing."""
    return missing if missing is not None and missing.any() else None


def reals(values: npt.NDArray[Any], missing: Mask | None = None) -> RawColumn:
    """Return a column of floats; NaN counts as missing.

    Whole numbers are read as the integers they are: many libraries have no other way to store integers with
    missing values.

    Examples
    --------
    >>> reals(np.array([2.0, np.nan])).form, reals(np.array([2.0, 3.5])).form
    ('integers', 'reals')
    """
    numbers = values.astype(np.float64, copy=False)
    is_missing = np.isnan(numbers)
    missing = some(is_missing if missing is None else is_missing | missing)
    filled = numbers if missing is None else np.where(missing, 0.0, numbers)
    if is_whole(filled):
        return RawColumn("integers", filled.astype(np.int64), missing)
    return RawColumn("reals", numbers, missing)


def is_whole(numbers: npt.NDArray[Any]) -> bool:
    """Return whether all floats are whole; floats beyond `LAST_EXACT` always are, and do not count."""
    return bool(((numbers == np.floor(numbers)) & (np.abs(numbers) <= LAST_EXACT)).all())


def numpy_column(values: npt.NDArray[Any], missing: Mask | None = None) -> RawColumn:
    """Return a column from a one-dimensional array.

    Examples
    --------
    >>> numpy_column(np.array([True, False])).labels
    (False, True)
    """
    missing = some(missing)
    match values.dtype.kind:
        case "i" | "u":
            return RawColumn("integers", values, missing)
        case "b":
            return RawColumn("labels", values.astype(np.uint8), missing, (False, True))
        case "f":
            return reals(values, missing)
        case "U" | "S" | "O" | "T":
            from f2sl.data.arrow import object_column

            return object_column(values, missing)
        case "M" | "m":  # Arrow knows fewer units than NumPy
            from f2sl.data.arrow import object_column

            return object_column(values.astype(f"{values.dtype.kind}8[us]"), missing)
        case "c":
            raise Refused("complex")
        case _:
            raise Refused("type", str(values.dtype))


def number_of(text: str) -> int | float | None:
    """Return a text as a number, an integer if it is whole; None if it is not a number.

    Examples
    --------
    >>> number_of("-999.0"), number_of("0.5"), number_of("unknown")
    (-999, 0.5, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    if not number.is_integer():
        return None if np.isnan(number) else number
    try:
        return int(text)  # exact, however large
    except ValueError:
        return int(number)


def without(column: RawColumn, na: Iterable[str]) -> tuple[RawColumn, set[str]]:
    """Set values in `na` to missing; return also which of them occur.

    Numbers are compared as numbers, labels as text without white space at their ends.

    Examples
    --------
    >>> column, found = without(numpy_column(np.array([1.5, -999.0])), ["-999", "unknown"])
    >>> column.missing.tolist(), found
    ([False, True], {'-999'})
    """
    found = set()
    na = () if column.unit else na  # numbers are no dates
    is_missing = np.zeros(len(column.values), np.bool_)
    left = list(column.labels)
    for text in na:
        number = number_of(text)
        if column.form == "labels":
            named = [label for label in left if _is_named(label, text, number)]
            here = np.isin(column.values, [column.labels.index(label) for label in named])
            left = [label for label in left if label not in named]
        elif number is None:
            continue
        else:
            here = column.values == (number if column.form == "integers" else float(number))
        if column.missing is not None:
            here &= ~column.missing
        if here.any():
            found.add(text)
            is_missing |= here
    if not found and len(left) == len(column.labels):
        return column, found
    missing = some(is_missing if column.missing is None else is_missing | column.missing)
    if column.form == "reals":
        return reals(column.values, missing), found
    values = column.values
    if column.form == "labels":
        position = {label: i for i, label in enumerate(left)}
        ranks = np.array([position.get(label, 0) for label in column.labels])
        values = ranks[values]
    return replace(column, values=values, missing=missing, labels=tuple(left)), found


def _is_named(label: object, text: str, number: int | float | None) -> bool:
    if isinstance(label, str):
        return label.strip() == text.strip()
    return number is not None and not isinstance(label, (bool, np.bool_)) and label == number


@dataclass(frozen=True)
class TextOptions:
    """Options of :func:`f2sl.open_table` for reading text."""

    delimiter: str | None = None
    header: bool = True
    encoding: str | None = None
    comment: str | None = None
    na: tuple[str, ...] = ()
