"""Distinct values of columns and their counts, from which codes are made.

Reading gathers a :class:`Digest` of each column, batch by batch. States depend on nothing else: encoding the
distinct values as if each were a row (:class:`DigestEncoder`) gives the states, and the refusals, of the
whole table. A :class:`Coder` then finds the codes of a column's values, batch by batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from f2sl._arrays import Floats, Integers, Mask
from f2sl._notes import Note
from f2sl.data.column import MAX_STATES, Column
from f2sl.data.encode import Encoder
from f2sl.data.names import Labels
from f2sl.data.table import Ends
from f2sl.data.values import SINGLE_SPREAD, RawColumn, Refused, distinct, is_whole, offsets

MOST_DISTINCT = MAX_STATES
"""Different numbers of a column that are kept account of; with more it has no states, unless it is cut."""

CodeArray = npt.NDArray[np.uint16]


class Digest:
    """Distinct values of one column; with `drop_rows`, rows that miss something are not kept.

    Examples
    --------
    >>> from f2sl.data.arrow import arrow_column
    >>> digest = Digest()
    >>> for values in (["b", None], ["a", "b"]):
    ...     digest.add(arrow_column(pa.array(values)), pa.string(), None)
    >>> digest.column().labels, digest.column().weights.tolist()
    (('a', 'b'), [1, 2, 1])
    """

    def __init__(self, drop_rows: bool = False) -> None:
        self._drop_rows = drop_rows
        self.refused: Refused | None = None
        self.too_many = False
        self.n_missing = 0
        self._labels: dict[object, int] = {}
        self._declared = False
        self._is_labels = False
        self._unit = ""
        self.came_as_reals = False
        self._whole = True
        self._values: npt.NDArray[Any] = np.empty(0, np.int64)
        self._counts: Integers = np.empty(0, np.int64)

    def add(self, column: RawColumn, dtype: pa.DataType, keep: Mask | None) -> None:
        """Add the values of some rows, of an Arrow type; rows not kept add only their presence."""
        self.n_missing += column.n_missing
        values = (column if keep is None else column.rows(keep)).present.values
        if column.form == "labels":
            counts = np.bincount(values, minlength=len(column.labels))
            self._add_labels(zip(column.labels, counts.tolist(), strict=True), column.declared)
            return
        self._unit = column.unit
        if pt.is_floating(dtype) or pt.is_decimal(dtype) or column.unit:
            self.came_as_reals = True
            self._whole &= column.form == "integers" or is_whole(values)
        self._add_numbers(values)

    def _add_labels(self, counted: Iterable[tuple[object, int]], declared: bool) -> None:
        self._is_labels = True
        self._declared = declared
        for label, n in counted:
            if n or declared:
                self._labels[label] = self._labels.get(label, 0) + n
        if len(self._labels) > MAX_STATES:
            raise Refused("many", f"more than {MAX_STATES:,}")

    def _add_numbers(self, values: npt.NDArray[Any]) -> None:
        if not len(values):
            return
        if self.too_many:
            self._values = _ends(_joined(self._values, _wide(_ends(values))))
            return
        found, counts = distinct(values)
        self._add_distinct(_wide(found), counts)

    def _add_distinct(self, found: npt.NDArray[Any], counts: Integers) -> None:
        if self.came_as_reals:
            found = found.astype(np.float64)
        if np.array_equal(found, self._values):
            self._counts = self._counts + counts
            return
        if len(self._values):
            found, where = np.unique(_joined(self._values, found), return_inverse=True)
            counts = np.bincount(where.reshape(-1), np.concatenate([self._counts, counts])).astype(np.int64)
        self._values, self._counts = found, counts
        if len(self._values) > MOST_DISTINCT:
            self.too_many = True
            self._values = self._values[[0, -1]]
            self._counts = np.zeros(2, np.int64)

    def join(self, later: Digest) -> None:
        """Add the digest of rows that follow all these."""
        self.n_missing += later.n_missing
        self.refused = self.refused or later.refused
        self.came_as_reals |= later.came_as_reals
        self._whole &= later._whole
        self._unit = self._unit or later._unit
        try:
            if later._is_labels:
                self._add_labels(later._labels.items(), later._declared)
            if len(later._values):
                self._join_numbers(later)
        except Refused as refused:
            self.refused = self.refused or refused

    def _join_numbers(self, later: Digest) -> None:
        if later.too_many and not self.too_many:
            self.too_many = True
            self._values = _ends(_joined(self._values, later._values))
            self._counts = np.zeros(2, np.int64)
        elif self.too_many:
            self._add_numbers(later._values)
        else:
            self._add_distinct(later._values, later._counts)

    def column(self) -> RawColumn:
        """Return the distinct values of the kept rows as a column, a missing value last."""
        if self.refused is not None:
            raise self.refused
        gap = [self.n_missing] if self.n_missing and not self._drop_rows else []
        if self._is_labels:
            labels = tuple(self._labels) if self._declared else tuple(sorted(self._labels))  # type: ignore[type-var]
            weights = np.array([*(self._labels[label] for label in labels), *gap], np.int64)
            values = np.arange(len(weights))
            return RawColumn("labels", values, _last(values, gap), labels, self._declared, weights=weights)
        values = np.concatenate([self._values, np.zeros(len(gap), self._values.dtype)])
        weights = np.concatenate([self._counts, np.array(gap, np.int64)])
        form: Literal["integers", "reals"] = "integers"
        if self.came_as_reals:
            values = values.astype(np.float64)
            form = "integers" if self._whole and is_whole(values) else "reals"
            values = values.astype(np.int64) if form == "integers" else values
        missing = _last(values, gap)
        return RawColumn(form, values, missing, weights=weights, only_ends=self.too_many, unit=self._unit)


class DigestEncoder(Encoder):
    """Source whose rows are the distinct values of each column.

    If a column has more distinct values than a digest stores, `whole_column` gives all values, which are
    needed to cut them into intervals.
    """

    whole_column: Callable[[int], RawColumn]

    def prepare(
        self, n_kept: int, whole_column: Callable[[int], RawColumn]
    ) -> tuple[tuple[Column, ...], list[int], list[Coder | None], Ends, tuple[Note, ...]]:
        """Return the columns, which of the source's they are, their coders, the ends of numbers, and notes.

        `n_kept` is the number of rows of the table that are kept. One error lists all problems.
        """
        self.whole_column = whole_column
        self._coders: list[Coder | None] = [None] * len(self.kinds)
        if self.begin(n_kept):
            self.encode_columns(range(len(self.kinds)), None)
        self.finish()
        kept = self.kept
        low, high = (np.array([self._range.get(i, (0.0, 0.0))[end] for i in kept]) for end in (0, 1))
        return self.columns, kept, [self._coders[i] for i in kept], (low, high), self.notes()

    def read_column(self, i: int, keep: Mask | None) -> RawColumn:
        """Return the distinct values of a column, or all values if there are very many and it is cut."""
        column = self.source.column(i)
        if column.only_ends and (self._parts[i] or self._choose(self.source.names[i], column)[1] is not None):
            column = self.whole_column(i)
        converted = self.of_dates(i, column)
        self._current = column if converted is column else converted.merged
        return self._current

    def store_codes(self, i: int, codes: npt.NDArray[Any], most_states: int) -> None:
        """Store the coder of a column."""
        self._coders[i] = Coder.of(self._current, codes[0].astype(np.uint16))

    def store_numbers(self, i: int, numbers: Floats) -> None:
        """Keep nothing: numbers are written as they are."""
        self._coders[i] = None


class Coder:
    """Finds the codes of one column's values.

    Examples
    --------
    >>> coder = Coder.of(RawColumn("integers", np.array([5, 7])), np.array([0, 1], np.uint16))
    >>> coder.codes(RawColumn("integers", np.array([7, 5, 7]))).tolist()
    [1, 0, 1]
    """

    def __init__(self, labels: Labels, values: npt.NDArray[Any], codes: CodeArray, gap: int) -> None:
        self._of_label = dict(zip(labels, codes.tolist(), strict=True)) if labels else {}
        self._values, self._codes, self._missing = values, codes, gap
        self._lookup: CodeArray | None = None
        if values.dtype.kind in "iu" and len(codes) and int(values[-1]) - int(values[0]) < SINGLE_SPREAD:
            # Between two values that begin a stretch of codes lie others of the first's.
            steps = np.arange(int(values[-1]) - int(values[0]) + 1, dtype=values.dtype)
            self._lookup = codes[np.searchsorted(values, values[0] + steps, side="right") - 1]

    @classmethod
    def of(cls, column: RawColumn, codes: CodeArray) -> Coder:
        """Set all distinct values, which have their codes, in any order."""
        gap = 0
        if column.missing is not None:
            gap = int(codes[column.missing.argmax()])
            codes, column = codes[~column.missing], column.rows(~column.missing)
        if column.form == "labels":
            return cls(column.labels, column.values, codes, gap)
        values, first = np.unique(column.values, return_index=True)
        codes = codes[first]
        # Equal codes side by side, as intervals have them, are known by the first of their values.
        begins = np.diff(codes.astype(np.int64), prepend=-1) != 0
        return cls((), values[begins], codes[begins], gap)

    def codes(self, column: RawColumn) -> CodeArray:
        """Return the codes of some rows."""
        if column.missing is not None:
            codes = np.full(len(column.values), self._missing, np.uint16)
            codes[~column.missing] = self.codes(column.rows(~column.missing))
            return codes
        if column.form == "labels":
            codes = np.array([self._of_label.get(label, 0) for label in column.labels], np.uint16)
            return codes[column.values] if len(codes) else codes
        values = column.values
        if np.uint64 in (values.dtype, self._values.dtype):
            values = values.astype(self._values.dtype)  # with a signed type NumPy would make floats of them
        if self._lookup is not None and values.dtype.kind in "iu":
            positions = offsets(values, self._values[0])
            return np.asarray(self._lookup[np.minimum(positions, len(self._lookup) - 1)])
        return np.asarray(self._codes[np.searchsorted(self._values, values, side="right") - 1])


def _last(values: npt.NDArray[Any], gap: list[int]) -> Mask | None:
    """Mark the last value as missing, if there is a gap."""
    return np.arange(len(values)) == len(values) - 1 if gap else None


def _joined(some: npt.NDArray[Any], more: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Join numbers; integers stay integers, and must all fit into one 64-bit type."""
    if not len(some):
        return more
    if {some.dtype.kind, more.dtype.kind} == {"i", "u"}:
        if min(some.min(), more.min()) < 0:
            raise Refused("long")
        some, more = some.astype(np.uint64), more.astype(np.uint64)
    return np.concatenate([some, more])


def _ends(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the smallest and the largest number."""
    return np.array([values.min(), values.max()])


def _wide(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert integers of all widths to one type; large unsigned 64-bit integers keep theirs."""
    if values.dtype.kind == "f" or (values.dtype == np.uint64 and values[-1] > np.iinfo(np.int64).max):
        return values
    return values.astype(np.int64)
