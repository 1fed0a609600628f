"""The encoding of one table, column by column.

Columns of integers that come in blocks are numbered a block at a time; all others one
by one. What was done to them is kept for the table's notes, and what is wrong with them
for one error at the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from f2sl.errors import DataError, OptionError
from f2sl.reading.binning import KINDS, cut
from f2sl.reading.integers import block_width, encode_integers
from f2sl.reading.problems import MAX_INTEGERS, Problems
from f2sl.reading.shape import complete_rows
from f2sl.reading.sources import Source
from f2sl.reading.values import Column, Mask, Refused
from f2sl.storage.memory.table import MAX_STATES, DiscreteTable, code_type
from f2sl.table.names import listing

MISSING_LABEL = "<missing>"

Labels = tuple[object, ...]


@dataclass
class Encoder:
    """The work of one call: reads the source column by column and gathers codes and problems."""

    source: Source
    bins: int | Mapping[str, int] | None
    binning: str
    missing: str
    problems: Problems = field(default_factory=Problems)
    cut_columns: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    gap_columns: list[str] = field(default_factory=list)
    missing_columns: list[str] = field(default_factory=list)

    def run(self) -> DiscreteTable:
        """Encode all columns, or raise one error about those that cannot be."""
        names, n_rows = self.source.names, self.source.n_rows
        keep = complete_rows(self.source) if self.missing == "drop" else None
        n_kept = n_rows if keep is None else int(keep.sum())
        self.states: list[Labels] = [()] * len(names)
        self.codes: npt.NDArray[Any] = np.empty((len(names), n_kept), dtype=np.uint8)
        for i in self._encode_blocks() if keep is None else range(len(names)):
            self._encode_column(i, keep)
        self.problems.raise_any()
        if n_kept == 0:
            raise nothing_complete(n_rows)
        return DiscreteTable(names, tuple(self.states), self.codes, self._notes(n_rows - n_kept))

    def _store(self, first: int, codes: npt.NDArray[Any], most_states: int) -> None:
        wanted = code_type(most_states)
        if np.dtype(wanted).itemsize > self.codes.itemsize:
            self.codes = self.codes.astype(wanted)
        self.codes[first : first + len(codes)] = codes

    def _bins_for(self, name: str) -> int | None:
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
            self._store(first, codes, most)
            for i, values in enumerate(states, start=first):
                if len(values) > MAX_INTEGERS or self._bins_for(names[i]) is not None:
                    left.append(i)
                elif boolean:
                    self.states[i] = tuple(values.astype(np.bool_).tolist())
                else:
                    self.states[i] = tuple(values.tolist())
        return left

    def _encode_column(self, i: int, keep: Mask | None) -> None:
        name = self.source.names[i]
        try:
            column = self._column(i)
            if keep is not None:
                column = column.rows(keep)
            if column.missing is not None and self.missing == "error":
                self.problems.add("missing", name, f"{column.n_missing} of {self.source.n_rows} rows")
            if column.from_reals:
                self.gap_columns.append(name)
            codes, labels = self._codes(name, column)
        except Refused as refused:
            self.problems.add(refused.reason, name, refused.detail)
            return
        self.states[i] = labels
        self._store(i, codes[np.newaxis], len(labels))

    def _column(self, i: int) -> Column:
        return self.source.column(i)

    def _codes(self, name: str, column: Column) -> tuple[npt.NDArray[Any], Labels]:
        """Number the states of one column, a missing value last."""
        gaps = column.missing
        if gaps is None:
            codes, labels = self._codes_without_gaps(name, column)
        else:
            some_codes, labels = self._codes_without_gaps(name, column.rows(~gaps))
            codes = np.full(len(gaps), len(labels), dtype=np.int64)
            codes[~gaps] = some_codes
            label = MISSING_LABEL
            while label in labels:
                label += "_"
            labels = (*labels, label)
            self.missing_columns.append(name)
        if len(labels) > MAX_STATES:
            raise Refused("many", f"{len(labels):,}")
        return codes, labels

    def _codes_without_gaps(self, name: str, column: Column) -> tuple[npt.NDArray[Any], Labels]:
        values, k = column.values, self._bins_for(name)
        if column.kind == "labels":
            if k is not None:
                raise OptionError(
                    f"bins: column {name!r} holds labels, and only numbers can be cut into intervals"
                )
            return (values, column.labels) if column.declared else _occurring(values, column.labels)
        if column.kind == "reals":
            return self._cut_reals(name, column, k)
        if values.size == 0:
            return values, ()
        if k is None:
            (states,), (codes,) = encode_integers(values.reshape(-1, 1))
            if len(states) <= MAX_INTEGERS:
                return codes, tuple(states.tolist())
            if not isinstance(self.bins, int):
                raise Refused("integers", f"{len(states):,}")
            k = self.bins
        return self._cut(name, column, k)

    def _cut_reals(self, name: str, column: Column, k: int | None) -> tuple[npt.NDArray[Any], Labels]:
        values = column.values
        if np.isinf(values).any():
            raise Refused("infinite")
        if k is None and isinstance(self.bins, int):
            k = self.bins
        if k is None:
            raise Refused("whole" if (values == np.floor(values)).all() else "reals")
        return self._cut(name, column, k)

    def _cut(self, name: str, column: Column, k: int) -> tuple[npt.NDArray[Any], Labels]:
        codes, labels = cut(column.values, k, self.binning, column.weights)
        self.cut_columns[len(labels)].append(name)
        return codes, labels

    def _notes(self, n_dropped: int) -> tuple[str, ...]:
        notes = []
        if n_dropped:
            notes.append(f"dropped {n_dropped} of {self.source.n_rows} rows with missing values")
        if self.missing_columns:
            notes.append(f"{_columns(self.missing_columns)}: missing values became a state")
        if self.gap_columns:
            notes.append(f"{_columns(self.gap_columns)}: whole floats with missing values read as integers")
        for n, columns in sorted(self.cut_columns.items()):
            notes.append(
                f"{_columns(columns)} cut into {n} {KINDS[self.binning]} {'bin' if n == 1 else 'bins'}"
            )
        return tuple(notes)


def nothing_complete(n_rows: int) -> DataError:
    """Make the error for a table all of whose rows miss something."""
    return DataError(
        f'no row is complete: missing="drop" would drop all {n_rows} rows; '
        'make missing values a state with missing="state", or leave out the columns that have most'
    )


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
