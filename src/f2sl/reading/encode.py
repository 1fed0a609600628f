"""From the columns that a user has to a table of codes and numbers.

What is a state:

- strings and booleans: the values that occur, ascending;
- integers with at most 1,000 distinct values: likewise;
- categories (pandas, Polars ``Enum``, Arrow dictionaries): all that are declared, in
  the declared order, whether they occur or not.

Nothing else is guessed at. Real numbers are cut into intervals only if `bins` asks for it. Missing values
stay what they are, unless `missing` makes a state of them, drops their rows, or refuses them.

Columns of integers that come in blocks are numbered a block at a time; all others one by one. What was done
to them is kept for the table's notes, and what is wrong with them for one error at the end.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from f2sl._arrays import Floats, Mask
from f2sl.errors import DataError, OptionError
from f2sl.reading.binning import BINNINGS, cut
from f2sl.reading.check import MAX_INTEGERS, Problems, check_numbers, check_size
from f2sl.reading.frames import Source
from f2sl.reading.integers import block_width, encode_integers
from f2sl.reading.kinds import AUTO, Bins, Kinds, column_kinds
from f2sl.reading.values import RawColumn, Refused
from f2sl.storage.memory.table import MemoryTable
from f2sl.table.column import MAX_STATES, NUMBER, STATES, Column, code_type, places_of
from f2sl.table.names import listing

MISSING_LABEL = "<missing>"

AVAILABLE = "available"
"""Missing values stay gaps, and each question is answered from the rows that have what it asks for."""

STATE_OF_NUMBERS = 'missing="state" makes missing values a state, and real numbers have none; say "drop"'

Labels = tuple[object, ...]


@dataclass(frozen=True)
class Reading:
    """The options of :func:`f2sl.open_table` that say what becomes of the columns, checked."""

    names: Sequence[str] | None = None
    kinds: Kinds = AUTO
    bins: Bins = None
    binning: str = "quantile"
    missing: str = AVAILABLE
    drop: tuple[str, ...] = ()


def encode(source: Source, reading: Reading | None = None, whole: str = STATES) -> MemoryTable:
    """Read columns into memory.

    `whole` is what to take real numbers for that are all whole: see :func:`f2sl.reading.kinds.column_kinds`.

    Examples
    --------
    >>> from f2sl.reading.frames import open_source
    >>> columns = {"a": [0.5, 1.5, 9.0, 9.5], "b": ["x", None, "x", "y"]}
    >>> table = encode(open_source(columns), Reading(bins=2, missing="state"))
    >>> table.states
    (('[0.5, 9)', '[9, 9.5]'), ('x', 'y', '<missing>'))
    >>> table.codes.tolist()
    [[0, 0, 1, 1], [0, 2, 0, 1]]
    """
    reading = reading or Reading()
    return Encoder(source, column_kinds(source, reading.kinds, reading.bins, whole), reading).run()


def bin_count(k: Any, column: str | None = None) -> int:
    """Check one number of bins."""
    where = "" if column is None else f" for column {column!r}"
    try:
        count = operator.index(k)
    except TypeError:
        raise OptionError(f"bins takes a whole number of at least 2{where}, got {k!r}") from None
    if isinstance(k, bool) or count < 2:
        raise OptionError(f"bins takes a whole number of at least 2{where}, got {k!r}")
    return count


class Encoder:
    """The work of one call: reads the source column by column and gathers codes, numbers and problems."""

    def __init__(self, source: Source, kinds: tuple[str, ...], reading: Reading) -> None:
        self.source = source
        self.kinds = kinds
        self.reading = reading
        self.bins = reading.bins
        self.problems = Problems()
        self.cut_columns: dict[int, list[str]] = defaultdict(list)
        self.gap_columns: list[str] = []
        self.missing_columns: list[str] = []
        self.states: list[Labels] = [()] * len(kinds)
        self.gaps = [0] * len(kinds)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table, once they are encoded."""
        return tuple(map(Column, self.source.names, self.kinds, self.states, self.gaps))

    def run(self) -> MemoryTable:
        """Encode all columns, or raise one error about those that cannot be."""
        names, n_rows = self.source.names, self.source.n_rows
        self.check_shape()
        keep = complete_rows(self.source) if self.reading.missing == "drop" else None
        n_kept = n_rows if keep is None else int(keep.sum())
        self.check_kept(n_kept)
        self.places = places_of(self.kinds)
        self.codes: npt.NDArray[Any] = np.empty((self.kinds.count(STATES), n_kept), dtype=np.uint8)
        self.numbers = np.empty((self.kinds.count(NUMBER), n_kept))
        in_blocks = keep is None and NUMBER not in self.kinds
        for i in self._encode_blocks() if in_blocks else range(len(names)):
            self.encode_column(i, keep)
        self.raise_problems(n_kept)
        return MemoryTable(self.columns, self.codes, self.numbers, self.notes(n_rows - n_kept))

    def check_shape(self) -> None:
        """Refuse what is wrong with a table before its columns are looked at."""
        numeric = NUMBER in self.kinds
        if self.reading.missing == "state" and numeric and STATES not in self.kinds:
            raise OptionError(STATE_OF_NUMBERS)
        check_size(self.source.names, self.source.n_rows, min_rows=2 if numeric else 1)

    def check_kept(self, n_kept: int) -> None:
        """Refuse numbers of which too few rows are complete."""
        n_dropped = self.source.n_rows - n_kept
        if NUMBER in self.kinds and n_dropped and n_kept < 2:
            raise DataError(
                f'missing="drop" would drop {n_dropped} of {self.source.n_rows} rows, and at least 2 are '
                "needed; leave out the columns that miss most"
            )

    def raise_problems(self, n_kept: int) -> None:
        """Raise one error about all columns that cannot be read, or about a table without complete rows."""
        self.problems.raise_any()
        if n_kept == 0:
            raise DataError(
                f'no row is complete: missing="drop" would drop all {self.source.n_rows} rows; '
                'make missing values a state with missing="state", or leave out the columns that have most'
            )

    def store_codes(self, i: int, codes: npt.NDArray[Any], most_states: int) -> None:
        """Keep the codes of some columns, from `i` on, all of them states."""
        wanted = code_type(most_states)
        if np.dtype(wanted).itemsize > self.codes.itemsize:
            self.codes = self.codes.astype(wanted)
        self.codes[self.places[i] : self.places[i] + len(codes)] = codes

    def store_numbers(self, i: int, numbers: Floats) -> None:
        """Keep the numbers of a column."""
        self.numbers[self.places[i]] = numbers

    def bins_for(self, name: str) -> int | None:
        """Return into how many intervals a column is to be cut that is named for it."""
        return self.bins.get(name) if isinstance(self.bins, Mapping) else None

    def _encode_blocks(self) -> list[int]:
        """Encode the columns that come in blocks of integers; return those left to do one by one."""
        names = self.source.names
        left: list[int] = []
        width = block_width(self.source.n_rows)
        for first in range(0, len(names), width):
            last = min(first + width, len(names))
            block = self.source.block(first, last)
            if block is None:
                left.extend(range(first, last))
                continue
            boolean = block.dtype.kind == "b"
            states, codes = encode_integers(block.view(np.uint8) if boolean else block)
            most = max(map(len, states))
            if most > MAX_STATES:
                left.extend(range(first, last))
                continue
            self.store_codes(first, codes, most)
            for i, values in enumerate(states, start=first):
                if len(values) > MAX_INTEGERS or self.bins_for(names[i]) is not None:
                    left.append(i)
                elif boolean:
                    self.states[i] = tuple(values.astype(np.bool_).tolist())
                else:
                    self.states[i] = tuple(values.tolist())
        return left

    def encode_column(self, i: int, keep: Mask | None) -> None:
        """Encode one column, or note why it cannot be."""
        name = self.source.names[i]
        try:
            column = self.read_column(i)
            if keep is not None:
                column = column.rows(keep)
            if self.reading.missing == AVAILABLE:
                self.gaps[i] = column.n_missing
            if self.kinds[i] == NUMBER:
                self.store_numbers(i, self._numbers(column))
                return
            if column.missing is not None and self.reading.missing == "error":
                self.problems.add("missing", name, self._share(column))
            if column.from_reals:
                self.gap_columns.append(name)
            codes, labels = self._codes(name, column)
            if not labels and self.gaps[i]:
                raise Refused("empty")
        except Refused as refused:
            self.problems.add(refused.reason, name, refused.detail)
            return
        self.states[i] = labels
        self.store_codes(i, codes[np.newaxis], len(labels) + (self.gaps[i] > 0))

    def read_column(self, i: int) -> RawColumn:
        """Read a column as it comes."""
        return self.source.column(i)

    def _share(self, column: RawColumn) -> str:
        return f"{column.n_missing} of {self.source.n_rows} rows"

    def _numbers(self, column: RawColumn) -> Floats:
        """Take a column for numbers, or refuse it."""
        if column.form == "labels":
            raise Refused("labels")
        if column.missing is not None and self.reading.missing != AVAILABLE:
            raise Refused("missing numbers", self._share(column))
        numbers = column.numbers()
        known = numbers[~np.isnan(numbers)]
        if not len(known):
            raise Refused("empty")
        check_numbers(known)
        return numbers

    def _codes(self, name: str, column: RawColumn) -> tuple[npt.NDArray[Any], Labels]:
        """Number the states of one column, a missing value last."""
        gaps = column.missing
        if gaps is None:
            codes, labels = self._codes_without_gaps(name, column)
        else:
            some_codes, labels = self._codes_without_gaps(name, column.rows(~gaps))
            codes = np.full(len(gaps), len(labels), dtype=np.int64)
            codes[~gaps] = some_codes
            if self.reading.missing == AVAILABLE:
                if len(labels) == MAX_STATES:
                    raise Refused("many", f"{len(labels):,}")
                return codes, labels
            label = MISSING_LABEL
            while label in labels:
                label += "_"
            labels = (*labels, label)
            self.missing_columns.append(name)
        if len(labels) > MAX_STATES:
            raise Refused("many", f"{len(labels):,}")
        return codes, labels

    def _codes_without_gaps(self, name: str, column: RawColumn) -> tuple[npt.NDArray[Any], Labels]:
        values, k = column.values, self.bins_for(name)
        if column.form == "labels":
            if k is not None:
                raise OptionError(
                    f"bins: column {name!r} holds labels, and only numbers can be cut into intervals"
                )
            return (values, column.labels) if column.declared else _occurring(values, column.labels)
        if column.form == "reals" and np.isinf(values).any():
            raise Refused("infinite")
        if column.form == "integers":
            if values.size == 0:
                return values, ()
            if k is None:
                (states,), (codes,) = encode_integers(values.reshape(-1, 1))
                if len(states) <= MAX_INTEGERS:
                    return codes, tuple(states.tolist())
                if not isinstance(self.bins, int):
                    raise Refused("integers", f"{len(states):,}")
        k = self.bins if k is None and isinstance(self.bins, int) else k
        if k is None:
            raise Refused("whole" if (values == np.floor(values)).all() else "reals")
        codes, labels = cut(values, k, self.reading.binning, column.weights)
        self.cut_columns[len(labels)].append(name)
        return codes, labels

    def notes(self, n_dropped: int) -> tuple[str, ...]:
        """Say what was assumed, dropped, replaced and cut."""
        notes = []
        numbers = [name for name, kind in zip(self.source.names, self.kinds, strict=True) if kind == NUMBER]
        if numbers and self.reading.kinds == AUTO:
            if len(numbers) == len(self.kinds):
                notes.append(
                    f"all {len(numbers)} columns read as real numbers (bins= would cut them into states)"
                )
            else:
                notes.append(f"{_columns(numbers)} read as real numbers, and the others as states")
        if any(self.gaps):
            notes.append(_told_gaps(self.source.names, self.gaps, self.source.n_rows))
        if n_dropped:
            notes.append(f"dropped {n_dropped} of {self.source.n_rows} rows with missing values")
        if self.missing_columns:
            notes.append(f"{_columns(self.missing_columns)}: missing values became a state")
        if self.gap_columns:
            notes.append(f"{_columns(self.gap_columns)}: whole floats with missing values read as integers")
        for n, columns in sorted(self.cut_columns.items()):
            bins = "bin" if n == 1 else "bins"
            notes.append(f"{_columns(columns)} cut into {n} {BINNINGS[self.reading.binning]} {bins}")
        return tuple(notes)


def _told_gaps(names: Sequence[str], gaps: Sequence[int], n_rows: int) -> str:
    """Say how many values are missing where, and what becomes of them."""
    at = sorted((i for i, n in enumerate(gaps) if n), key=lambda i: -gaps[i])
    told = listing([f"{names[i]!r} ({gaps[i]:,})" for i in at], limit=5)
    share = sum(gaps) / (n_rows * len(names))
    return (
        f"{sum(gaps):,} values are missing ({share:.1%}), in column{'s' * (len(at) > 1)} {told}: "
        "each question is answered from the rows that have all of its columns"
    )


def complete_rows(source: Source) -> Mask | None:
    """Find the rows without missing values; None if that is all of them."""
    incomplete = np.zeros(source.n_rows, dtype=np.bool_)
    width = block_width(source.n_rows)
    for first in range(0, len(source.names), width):
        last = min(first + width, len(source.names))
        if source.block(first, last) is not None:
            continue
        for i in range(first, last):
            try:
                gaps = source.column(i).missing
            except Refused:
                continue  # told when the column is read
            if gaps is not None:
                incomplete |= gaps
    return ~incomplete if incomplete.any() else None


def _columns(names: list[str]) -> str:
    return f"{'column' if len(names) == 1 else 'columns'} {listing([repr(name) for name in names])}"


def _occurring(positions: npt.NDArray[Any], labels: Labels) -> tuple[npt.NDArray[Any], Labels]:
    """Leave out the labels that do not occur, as happens when rows are dropped."""
    present = np.bincount(positions, minlength=len(labels)) > 0
    if present.all():
        return positions, labels
    rank = present.cumsum() - 1
    return rank[positions], tuple(
        label for label, there in zip(labels, present.tolist(), strict=True) if there
    )
