"""Tables on disk from files larger than memory.

The files are read twice. The first pass collects the distinct values of each column, which give the same
names, kinds and states as reading everything into memory. The second pass writes codes and numbers. Tables
that cannot be learned from are refused in between, with the same messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa

from f2sl._arrays import Integers, Mask
from f2sl._notes import Note, Use
from f2sl.data.arrow import arrow_column
from f2sl.data.column import CONTINUOUS, DISCRETE, KINDS, Column, codes_of, of_kind
from f2sl.data.dates import DateReader
from f2sl.data.digest import MOST_DISTINCT, Coder, Digest, DigestEncoder
from f2sl.data.files import Agreement, missing_of, own_names, remarks_of, schema_of
from f2sl.data.formats import Batches, DataFile, naming
from f2sl.data.frames import Source, rows_by_weight
from f2sl.data.names import Reading, chosen_columns, describe_weights
from f2sl.data.stream import BlockFile, StreamTable
from f2sl.data.table import Block, Ends
from f2sl.data.values import RawColumn, Refused, some, without
from f2sl.errors import DataError

LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 16, 1 << 6
"""Rows of a block."""

SHARE_OF_BLOCK = 1 / 8
"""Share of the memory limit for a block of rows from a file; several are held at once."""

BYTES_TO_CUT = 64
"""Bytes of a row while a whole column is cut into intervals."""

BYTES_OF_CELL = 16
"""Bytes of a cell while it is read, in Arrow's and in NumPy's form."""


@dataclass(frozen=True)
class Scanned:
    """Result of the first pass over one file, to be read `rows` rows at a time.

    `schema` is that of the requested columns, `own` has the file's own names of them, and `stamp` shows
    whether the file has changed since.
    """

    file: DataFile
    rows: int
    stamp: tuple[int, int]
    schema: pa.Schema
    own: tuple[str, ...]

    def batches(self, wanted: Sequence[int]) -> Batches:
        """Yield some of the columns once more."""
        if _stamp(self.file) != self.stamp:
            raise DataError(f"{self.file.location}: the file was changed while it was read; run again")
        with naming(self.file.location):
            yield from self.file.format.batches(self.file, [self.own[i] for i in wanted], self.rows)


@dataclass(frozen=True)
class Prepared:
    """Conversion of values in the second pass: codes of states by `coders`, or unchanged numbers.

    `ends` are the smallest and the largest value of each continuous column. `wanted` are the columns that the
    second pass reads, by number: those of the table, others whose missing values drop rows, and last the
    weights; `asked` says so. `positions` says for each column of the table which of `wanted` it is made of,
    and `readers` converts its dates.
    """

    columns: tuple[Column, ...]
    wanted: list[int]
    positions: list[int]
    readers: Sequence[DateReader | None]
    coders: Sequence[Coder | None]
    ends: Ends
    notes: tuple[Note, ...]
    n_rows: int
    asked: ColumnsToRead

    def converted(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Block]:
        """Yield the kept rows of each batch: codes and numbers side by side."""
        of_states, of_numbers = (of_kind(self.columns, kind) for kind in KINDS)
        for found, n_kept in self.asked.kept_rows(batches):
            kept = [
                found[index] if reader is None else reader(found[index])
                for index, reader in zip(self.positions, self.readers, strict=True)
            ]
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

    `memory` is the number of bytes that reading, and later work with the table, may use. It determines how
    many rows are held at a time by default.
    """
    asked = ColumnsToRead.of(files, reading)
    fitting = int(memory * SHARE_OF_BLOCK / (BYTES_OF_CELL * max(1, len(asked.columns))))
    rows = rows_per_block or max(SMALLEST_BLOCK, min(LARGEST_BLOCK, fitting // 64 * 64))
    found: list[Scanned] = []
    scan = asked.nothing
    for file in files:
        one, later = scan_file(file, rows, asked)
        found.append(one)
        scan.join(later)
    schemas = [(one.file.location, one.schema) for one in found]

    def read_column(i: int) -> Iterator[RawColumn]:
        return chain.from_iterable(column_of_file(one, i, asked) for one in found)

    prepared = prepare(scan, asked, schemas, read_column, reading, memory)
    sizes = {DISCRETE: np.dtype(codes_of(prepared.columns)).itemsize, CONTINUOUS: 8}
    BlockFile.check_space(prepared.n_rows * sum(sizes[column.kind] for column in prepared.columns))
    blocks = (block for one in found for block in prepared.converted(one.batches(prepared.wanted)))
    written = StreamTable.of_blocks(prepared.columns, blocks, rows, prepared.ends, memory)
    return written.with_notes(*prepared.notes)


@dataclass(frozen=True)
class ColumnsToRead:
    """Columns to read from the parts of a table, and the column of weights.

    `positions` has the one that each column of the table, with a name in `names`, is made of; `parts` has the
    part of a date that it is. `wrong` has messages on options that name unknown columns.
    """

    columns: list[str]
    positions: list[int]
    names: tuple[str, ...]
    parts: list[str]
    wrong: list[Note]
    weights: int | None
    drop_rows: bool
    na: tuple[str, ...]

    @classmethod
    def of(cls, files: Sequence[DataFile], reading: Reading) -> ColumnsToRead:
        """Return the columns that all files have; refuse files with other columns."""
        agreement = Agreement()
        for file in files:
            agreement.columns(file.location, schema_of(file).names)
        return cls.of_names(agreement.names, reading)

    @classmethod
    def of_names(cls, own: Sequence[str], reading: Reading) -> ColumnsToRead:
        """Choose among columns with these names."""
        chosen, names, parts, wrong = chosen_columns(own, reading)
        read = {index: i for i, index in enumerate(dict.fromkeys(chosen))}
        positions = [read[index] for index in chosen]
        weights = positions[names.index(reading.weights)] if reading.weights in names else None
        drop_rows = reading.missing == "drop"
        return cls([own[i] for i in read], positions, names, parts, wrong, weights, drop_rows, reading.na)

    @property
    def nothing(self) -> Scan:
        """Return an empty scan."""
        return Scan([Digest(self.drop_rows) for _ in self.columns], self)

    def rows(self, batch: pa.RecordBatch, na_found: set[str]) -> Iterator[tuple[Columns, Mask | None, int]]:
        """Yield the rows of a batch, repeated by weight, many at a time; those to keep, and their number.

        All are kept if the mask is None. Those of `na` that occur are added to `na_found`.
        """
        columns: Columns = []
        for array in batch.columns:
            try:
                column, found = without(arrow_column(array), self.na)
                na_found |= found
                columns.append(column)
            except Refused as refused:
                columns.append(refused)
        parts: list[Integers] = [np.arange(len(batch))]
        if self.weights is not None:
            try:
                weight = columns[self.weights]
                if isinstance(weight, Refused):
                    raise Refused("weights")
                rows = rows_by_weight(weight)
                parts = [rows[i : i + LARGEST_BLOCK] for i in range(0, len(rows), LARGEST_BLOCK)]
            except Refused as refused:
                columns[self.weights] = refused
        for part in parts:
            own = columns if self.weights is None else _rows_of(columns, part)
            keep = _complete(own) if self.drop_rows else None
            yield own, keep, len(part) if keep is None else int(keep.sum())

    def kept_rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[list[RawColumn], int]]:
        """Yield the columns of each batch, with the kept rows and their number."""
        for batch in batches:
            for columns, keep, n_kept in self.rows(batch, set()):
                columns = columns if keep is None else _rows_of(columns, keep)
                # Nobody asks for those that are refused.
                yield cast(list[RawColumn], columns), n_kept


def scan_file(file: DataFile, rows: int, asked: ColumnsToRead) -> tuple[Scanned, Scan]:
    """Find the distinct values of a file."""
    stamp = _stamp(file)
    names = own_names(file)
    own = tuple(names[name] for name in asked.columns)

    def read(batches: Batches) -> Scan:
        scan = asked.nothing
        for batch in batches:
            scan.add(batch)
        return scan

    with naming(file.location):
        resolved, scan = file.format.scan(file, own, rows, read)
    if not scan.n_read:
        raise DataError(f"{file.location}: the file has a header but no rows")
    schema = schema_of(resolved)
    found = pa.schema([schema.field(name) for name in asked.columns], metadata=schema.metadata)
    return Scanned(resolved, rows, stamp, found, own), scan


@dataclass
class Scan:
    """Digest of the rows seen so far: `n_read` counts each once, and `n_rows` as often as its weight says.

    `na_found` are the missing values by name that occur.
    """

    digests: list[Digest]
    asked: ColumnsToRead
    na_found: set[str] = field(default_factory=set)
    n_read: int = 0
    n_rows: int = 0
    n_kept: int = 0

    def join(self, later: Scan) -> None:
        """Add the digest of rows that follow all these."""
        self.n_read += later.n_read
        self.na_found |= later.na_found
        self.n_rows += later.n_rows
        self.n_kept += later.n_kept
        for digest, other in zip(self.digests, later.digests, strict=True):
            digest.join(other)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add further rows."""
        self.n_read += len(batch)
        for columns, keep, n_kept in self.asked.rows(batch, self.na_found):
            self.n_rows += n_kept if keep is None else len(keep)
            self.n_kept += n_kept
            for digest, column, dtype in zip(self.digests, columns, batch.schema.types, strict=True):
                if digest.refused is not None:
                    continue
                try:
                    if isinstance(column, Refused):
                        raise column
                    digest.add(column, dtype, keep)
                except Refused as refused:
                    digest.refused = refused


Columns = list[RawColumn | Refused]


def _rows_of(columns: Columns, chosen: Integers | Mask) -> Columns:
    return [one if isinstance(one, Refused) else one.rows(chosen) for one in columns]


def _complete(columns: Sequence[RawColumn | Refused]) -> Mask | None:
    """Return the rows without missing values; None if all rows are complete."""
    is_missing = [
        column.missing for column in columns if isinstance(column, RawColumn) and column.missing is not None
    ]
    return ~np.logical_or.reduce(is_missing) if is_missing else None


def prepare(
    scan: Scan,
    asked: ColumnsToRead,
    schemas: Sequence[tuple[Path, pa.Schema]],
    read_column: Callable[[int], Iterable[RawColumn]],
    reading: Reading,
    memory: int,
) -> Prepared:
    """Choose kinds, states and codes; raise an error for a table that cannot be learned from.

    `schemas` are those of the parts of the table, which must agree. `read_column` gives all values of a
    column, part by part, for one that is cut into intervals as a whole.
    """
    agreement = Agreement()
    for location, schema in schemas:
        agreement.types(location, schema)
    at = asked.weights
    chosen = [i for i, index in enumerate(asked.positions) if index != at]
    positions = [asked.positions[i] for i in chosen]
    notes = remarks_of(schema for _, schema in schemas)
    if at is not None:
        notes.append(describe_weights(str(reading.weights), scan.n_read, scan.n_rows))
    source = Source(
        tuple(asked.names[i] for i in chosen),
        scan.n_rows,
        lambda i: scan.digests[positions[i]].column(),
        missing=lambda i: scan.digests[positions[i]].n_missing,  # in rows that are not kept as well
    )
    na_found = scan.na_found | missing_of(schema for _, schema in schemas)
    parts = [asked.parts[i] for i in chosen]
    encoder = DigestEncoder(source, reading, parts, asked.wrong, notes, na_found)
    if at is not None and (refused := scan.digests[at].refused) is not None:
        encoder.problems.add("weights", str(reading.weights), refused.detail)

    def whole_column(i: int) -> RawColumn:
        """Read one column into memory, if it fits."""
        needed = scan.n_kept * BYTES_TO_CUT
        if needed > memory:
            raise DataError(
                f"column {source.names[i]!r} has more than {MOST_DISTINCT:,} different numbers; "
                f"cutting them into intervals takes {needed / 1e6:,.0f} MB, but {memory / 1e6:,.0f} MB are "
                "allowed; allow more with ",
                Use("memory", ...),
                ", or round the numbers",
            )
        alike = source.column(i)
        values, is_missing = [], []
        for column in read_column(positions[i]):
            values.append(column.values.astype(alike.values.dtype))
            gaps = np.zeros(len(values[-1]), np.bool_) if column.missing is None else column.missing
            is_missing.append(gaps)
        joined = np.concatenate(values), some(np.concatenate(is_missing))
        return RawColumn(alike.form, *joined, unit=alike.unit)

    columns, kept, coders, ends, notes_of_all = encoder.prepare(scan.n_kept, whole_column)
    wanted = list(dict.fromkeys(positions[i] for i in kept))
    position = {index: n for n, index in enumerate(wanted)}
    if asked.drop_rows:  # what a column that is left out misses drops rows as well
        others = {index for i, index in enumerate(positions) if index not in position and source.n_missing(i)}
        wanted += sorted(others)
    wanted += [] if at is None else [at]
    where, readers = [position[positions[i]] for i in kept], [encoder.readers[i] for i in kept]
    again = replace(asked, weights=None if at is None else len(wanted) - 1)
    return Prepared(columns, wanted, where, readers, coders, ends, notes_of_all, scan.n_kept, again)


def column_of_file(one: Scanned, i: int, asked: ColumnsToRead) -> Iterator[RawColumn]:
    """Yield the values of one column in a file, part by part."""
    if asked.drop_rows:  # which rows are kept depends on all columns
        return column_of(one.batches(range(len(one.own))), i, asked)
    with_weights = [i] if asked.weights is None else [i, asked.weights]
    alone = replace(asked, weights=None if asked.weights is None else 1)
    return column_of(one.batches(with_weights), 0, alone)


def column_of(batches: Iterable[pa.RecordBatch], i: int, asked: ColumnsToRead) -> Iterator[RawColumn]:
    """Yield one column of each batch, with the kept rows."""
    return (columns[i] for columns, _ in asked.kept_rows(batches))


def _stamp(file: DataFile) -> tuple[int, int]:
    """Return a file's size and time of modification, to notice changes."""
    with naming(file.location):
        status = file.location.stat()
    return status.st_size, status.st_mtime_ns
