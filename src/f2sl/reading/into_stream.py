"""From files larger than memory to a table of codes and numbers on disk.

The files are gone through twice. The first time finds which values each column has, hence names, kinds and
states, the same as if all were read into memory; the second time writes codes and numbers. What cannot be
learned from is refused in between, in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from f2sl._arrays import Mask
from f2sl.errors import DataError
from f2sl.reading.arrow import arrow_column
from f2sl.reading.digest import MOST_DISTINCT, Coder, Digest, DigestEncoder, DigestSource
from f2sl.reading.encode import Reading
from f2sl.reading.files import Agreement, schema_of
from f2sl.reading.formats import Batches, DataFile, naming
from f2sl.reading.frames import kept_columns
from f2sl.reading.kinds import column_kinds
from f2sl.reading.values import RawColumn, Refused, some
from f2sl.storage.stream.table import BlockFile, BlockWriter, StreamTable
from f2sl.table.column import KINDS, NUMBER, STATES, Column, codes_of, of_kind
from f2sl.table.names import chosen_names
from f2sl.table.table import Block, Ends

LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 16, 1 << 6
"""Rows of a block."""

SHARE_OF_BLOCK = 1 / 8
"""Of the memory allowed, what a block of rows may take as it comes from a file; several are held at once."""

BYTES_TO_CUT = 64
"""What a row takes while a column is cut into intervals as a whole."""

BYTES_OF_CELL = 16
"""What a cell takes while it is read, in Arrow's form and in NumPy's."""


@dataclass(frozen=True)
class Scanned:
    """What the first pass has found in one file, to be read `rows` rows at a time.

    `schema` is that of the columns wanted, and `stamp` tells whether the file has changed since.
    """

    file: DataFile
    rows: int
    stamp: tuple[int, int]
    schema: pa.Schema

    def batches(self, columns: Sequence[str]) -> Batches:
        """Go through the file once more."""
        if _stamp(self.file) != self.stamp:
            raise DataError(f"{self.file.place}: the file was changed while it was read; start again")
        with naming(self.file.place):
            yield from self.file.format.batches(self.file, columns, self.rows)


@dataclass(frozen=True)
class Prepared:
    """What the second pass makes of the values: by `coders` codes of states, or numbers as they are.

    `ends` are the least and the greatest number of each column of numbers.
    """

    columns: tuple[Column, ...]
    coders: Sequence[Coder | None]
    ends: Ends
    notes: tuple[str, ...]
    n_rows: int
    drop_rows: bool

    @property
    def bytes_of_row(self) -> int:
        """What a row takes once it is written."""
        sizes = {STATES: np.dtype(codes_of(self.columns)).itemsize, NUMBER: 8}
        return sum(sizes[column.kind] for column in self.columns)

    def converted(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Block]:
        """Give what is to be kept of each batch: codes and numbers side by side."""
        of_states, of_numbers = (of_kind(self.columns, kind) for kind in KINDS)
        for columns, keep, n_rows in _read(batches, self.drop_rows):
            n_kept = n_rows if keep is None else int(keep.sum())
            kept = columns if keep is None else [column.rows(keep) for column in columns]
            codes = np.empty((len(of_states), n_kept), codes_of(self.columns))
            numbers = np.empty((len(of_numbers), n_kept))
            for row, i in enumerate(of_states):
                coder = self.coders[i]
                assert coder is not None
                codes[row] = coder.codes(kept[i])
            for row, i in enumerate(of_numbers):
                numbers[row] = kept[i].numbers()
            yield Block(codes, numbers)


def read_streamed(
    files: Sequence[DataFile], reading: Reading, memory: int, rows_per_block: int | None = None
) -> StreamTable:
    """Read files in blocks, as they would be read into memory as a whole.

    `memory` are the bytes that reading, and working with the table then, may take; by default as many rows
    are held at a time as it allows.
    """
    rows = rows_per_block or _rows_per_block(len(schema_of(files[0])), memory)
    columns = columns_of(files, reading.drop)
    found: list[Scanned] = []
    scan = Scan.of_nothing(len(columns), reading.missing == "drop")
    for file in files:
        one, scan = scan_file(file, rows, columns, scan)
        found.append(one)
    check_types((one.file.place, one.schema) for one in found)

    def read_column(i: int) -> Iterator[RawColumn]:
        return chain.from_iterable(column_of_file(one, columns, i, scan.drop_rows) for one in found)

    prepared = prepare(scan, columns, read_column, reading, memory)
    BlockFile.check_space(prepared.n_rows * prepared.bytes_of_row)
    writer = BlockWriter(prepared.columns, rows)
    for one in found:
        for block in prepared.converted(one.batches(columns)):
            writer.append(block.codes, block.numbers)
    return writer.finish(prepared.ends, memory, prepared.notes)


def _rows_per_block(n_columns: int, memory: int) -> int:
    """Return how many rows to hold at a time."""
    rows = int(memory * SHARE_OF_BLOCK / (BYTES_OF_CELL * max(1, n_columns)))
    return max(SMALLEST_BLOCK, min(LARGEST_BLOCK, rows // 64 * 64))


def columns_of(files: Sequence[DataFile], drop: Sequence[str]) -> list[str]:
    """List the columns that files have in common, without some; refuse files that have others."""
    agreement = Agreement()
    for file in files:
        agreement.columns(file.place, schema_of(file).names)
    return kept_columns(agreement.names, drop)


def scan_file(file: DataFile, rows: int, columns: Sequence[str], before: Scan) -> tuple[Scanned, Scan]:
    """Find out which values a file has, beside those known before."""
    stamp = _stamp(file)

    def look(batches: Batches) -> Scan:
        scan = deepcopy(before)
        for batch in batches:
            scan.add(batch)
        return scan

    with naming(file.place):
        settled, scan = file.format.scan(file, columns, rows, look)
    if scan.n_rows == before.n_rows:
        raise DataError(f"{file.place}: the file has a header and no rows")
    schema = schema_of(settled)
    return Scanned(settled, rows, stamp, pa.schema([schema.field(name) for name in columns])), scan


def check_types(found: Iterable[tuple[Path, pa.Schema]]) -> None:
    """Refuse files, or other parts of a table, whose columns hold different things."""
    agreement = Agreement()
    for place, schema in found:
        agreement.types(place, schema)


@dataclass
class Scan:
    """What is known of the rows seen so far; with `drop_rows`, those that miss something are not kept."""

    digests: list[Digest]
    drop_rows: bool
    n_rows: int = 0
    n_kept: int = 0

    @classmethod
    def of_nothing(cls, n_columns: int, drop_rows: bool) -> Scan:
        """Begin, with no rows seen."""
        return cls([Digest(drop_rows) for _ in range(n_columns)], drop_rows)

    def join(self, later: Scan) -> None:
        """Add what is known of rows that come after all these."""
        self.n_rows += later.n_rows
        self.n_kept += later.n_kept
        for digest, other in zip(self.digests, later.digests, strict=True):
            digest.join(other)

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at some more rows."""
        columns = [_column_or_refusal(array) for array in batch.columns]
        keep = _complete(columns) if self.drop_rows else None
        self.n_rows += len(batch)
        self.n_kept += len(batch) if keep is None else int(keep.sum())
        for digest, column, array in zip(self.digests, columns, batch.columns, strict=True):
            if digest.refused is not None:
                continue
            try:
                if isinstance(column, Refused):
                    raise column
                digest.add(column, array.type, keep)
            except Refused as refused:
                digest.refused = refused


def _column_or_refusal(array: Any) -> RawColumn | Refused:
    try:
        return arrow_column(array)
    except Refused as refused:
        return refused


def _complete(columns: Sequence[RawColumn | Refused]) -> Mask | None:
    """Find the rows without missing values; None if that is all of them."""
    gaps = [
        column.missing for column in columns if isinstance(column, RawColumn) and column.missing is not None
    ]
    return ~np.logical_or.reduce(gaps) if gaps else None


def _read(
    batches: Iterable[pa.RecordBatch], drop_rows: bool
) -> Iterator[tuple[list[RawColumn], Mask | None, int]]:
    """Give the columns of each batch, the rows to keep (None for all), and the number of rows."""
    for batch in batches:
        columns = [arrow_column(array) for array in batch.columns]
        yield columns, _complete(columns) if drop_rows else None, len(batch)


def prepare(
    scan: Scan,
    columns: Sequence[str],
    read_column: Callable[[int], Iterable[RawColumn]],
    reading: Reading,
    memory: int,
) -> Prepared:
    """Choose kinds and states, and codes for them, or refuse what cannot be learned from.

    `read_column` gives all values of a column, part by part, for one that is cut into intervals as a whole.
    """
    names = chosen_names(reading.names, len(columns)) or tuple(columns)
    source = DigestSource(names, scan.n_rows, scan.digests)
    all_rows = DigestSource(names, scan.n_rows, scan.digests, with_dropped=True)
    kinds = column_kinds(all_rows, reading.kinds, reading.bins)
    encoder = DigestEncoder(source, kinds, reading)
    found = encoder.prepare(scan.n_kept, partial(_whole_column, source, scan.n_kept, read_column, memory))
    return Prepared(*found, scan.n_kept, scan.drop_rows)


def _whole_column(
    source: DigestSource,
    n_kept: int,
    read_column: Callable[[int], Iterable[RawColumn]],
    memory: int,
    i: int,
) -> RawColumn:
    """Read one column into memory, if it fits."""
    needed = n_kept * BYTES_TO_CUT
    if needed > memory:
        raise DataError(
            f"column {source.names[i]!r} has more than {MOST_DISTINCT:,} different numbers, and to "
            f"cut them into intervals takes {needed / 1e6:,.0f} MB, where {memory / 1e6:,.0f} MB are "
            "allowed; allow more with memory= (on the command line --memory), or round the numbers"
        )
    alike = source.column(i)
    values, gaps = [], []
    for column in read_column(i):
        values.append(column.values.astype(alike.values.dtype))
        gaps.append(np.zeros(len(values[-1]), np.bool_) if column.missing is None else column.missing)
    joined = np.concatenate(values), some(np.concatenate(gaps))
    return RawColumn(alike.form, *joined, from_reals=alike.from_reals)


def column_of_file(one: Scanned, columns: Sequence[str], i: int, drop_rows: bool) -> Iterator[RawColumn]:
    """Give the values that a file has of one of the columns, part by part."""
    wanted = columns if drop_rows else columns[i : i + 1]
    return column_of(one.batches(wanted), i if drop_rows else 0, drop_rows)


def column_of(batches: Iterable[pa.RecordBatch], i: int, drop_rows: bool) -> Iterator[RawColumn]:
    """Give one column of each batch, with the rows that are kept."""
    if not drop_rows:
        yield from (arrow_column(batch.column(i)) for batch in batches)
        return
    for columns, keep, _ in _read(batches, drop_rows):
        yield columns[i] if keep is None else columns[i].rows(keep)


def _stamp(file: DataFile) -> tuple[int, int]:
    """Tell one state of a file from another."""
    with naming(file.place):
        status = file.place.stat()
    return status.st_size, status.st_mtime_ns
