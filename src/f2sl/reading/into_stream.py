"""From files larger than memory to a table of codes (or numbers) on disk.

The files are gone through twice. The first time finds which values each column has, hence names, kinds and
states, the same as if all were read into memory; the second time writes the codes. What cannot be learned
from is refused in between, in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from f2sl.errors import DataError, unknown_name
from f2sl.reading.agreement import Agreement
from f2sl.reading.arrow import arrow_column
from f2sl.reading.batches import Batches, BatchReader
from f2sl.reading.coder import Coder, DigestEncoder
from f2sl.reading.digest import MOST_DISTINCT, Digest
from f2sl.reading.encode import bins_for
from f2sl.reading.encoder import nothing_complete
from f2sl.reading.files import DataFile, naming
from f2sl.reading.kinds import read_as_numbers, settled_kind
from f2sl.reading.numeric import REASONS as NUMERIC_REASONS
from f2sl.reading.numeric import check_missing, numbers_of, too_few_complete
from f2sl.reading.problems import Problems
from f2sl.reading.shape import check_size
from f2sl.reading.sources import DigestSource
from f2sl.reading.values import Column, Mask, Refused, some
from f2sl.storage.stream.table import BlockFile, StreamedTable, block_type, ends_of
from f2sl.table.names import chosen_names

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
    """What the first pass has found in one file; `schema` is that of the columns wanted."""

    reader: BatchReader
    stamp: tuple[int, int]
    schema: pa.Schema

    @property
    def place(self) -> Path:
        """Where the file is."""
        return self.reader.file.place


@dataclass(frozen=True)
class Contents:
    """What the first pass has found in all rows."""

    columns: list[str]
    source: DigestSource
    n_kept: int


@dataclass(frozen=True)
class Prepared:
    """What the second pass makes of the values: by `coders` codes of `states`, or numbers as they are."""

    kind: str
    states: tuple[tuple[object, ...], ...]
    coders: Sequence[Coder]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    notes: tuple[str, ...]
    drop_rows: bool

    @property
    def type(self) -> np.dtype[Any]:
        """The type of what is written."""
        return block_type(self.states) if self.kind == "discrete" else np.dtype(np.float64)

    def convert(self, i: int, column: Column) -> npt.NDArray[Any]:
        """Give what is written for some values of column `i`."""
        return self.coders[i].codes(column) if self.kind == "discrete" else column.values


def read_streamed(
    files: Sequence[DataFile],
    memory: int,
    *,
    kind: str = "auto",
    names: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    bins: int | Mapping[str, int] | None = None,
    binning: str = "quantile",
    missing: str = "error",
    min_variables: int = 1,
    whole: Literal["discrete", "gaussian"] = "discrete",
    rows_per_block: int | None = None,
) -> StreamedTable:
    """Read files in blocks, as :func:`f2sl.reading.as_either` would read them as a whole.

    Parameters
    ----------
    files : sequence of DataFile
        Where the rows are.
    memory : int
        Bytes that reading, and working with the table then, may take.
    drop : sequence of str
        Columns to leave out.
    kind, names, bins, binning, missing, min_variables, whole
        As in :func:`f2sl.reading.as_either`.
    rows_per_block : int, optional
        How many rows are held at a time; by default as many as the memory allows.
    """
    first = BatchReader(files[0], 1).schema()
    rows = rows_per_block or _rows_per_block(len(first), memory)
    found, contents = _first_pass(files, rows, drop, names, missing == "drop")
    columns, drop_rows = contents.columns, missing == "drop"

    def read_column(i: int) -> Iterator[Column]:
        return chain.from_iterable(column_of_file(file, columns, i, drop_rows) for file in found)

    prepared = prepare(
        contents,
        read_column,
        memory,
        kind=kind,
        bins=bins,
        binning=binning,
        missing=missing,
        min_variables=min_variables,
        whole=whole,
    )
    return _write(found, contents, prepared, rows, memory)


def _rows_per_block(n_columns: int, memory: int) -> int:
    """How many rows to hold at a time."""
    rows = int(memory * SHARE_OF_BLOCK / (BYTES_OF_CELL * max(1, n_columns)))
    return max(SMALLEST_BLOCK, min(LARGEST_BLOCK, rows // 64 * 64))


def _first_pass(
    files: Sequence[DataFile], rows: int, drop: Sequence[str], names: Sequence[str] | None, drop_rows: bool
) -> tuple[list[Scanned], Contents]:
    """Find out which values the columns have."""
    readers = [BatchReader(file, rows) for file in files]
    columns = columns_of(readers, drop)
    found: list[Scanned] = []
    scan = Scan.of_nothing(len(columns), drop_rows)
    for reader in readers:
        one, scan = scan_file(reader, columns, scan)
        found.append(one)
    check_types((one.place, one.schema) for one in found)
    return found, gathered(scan, columns, names)


def columns_of(readers: Sequence[BatchReader], drop: Sequence[str]) -> list[str]:
    """List the columns that files have in common, without some; refuse files that have others."""
    agreement = Agreement()
    for reader in readers:
        agreement.columns(reader.file.place, reader.schema().names)
    for column in drop:
        if column not in agreement.names:
            raise DataError(unknown_name("column", column, agreement.names))
    return [name for name in agreement.names if name not in drop]


def scan_file(reader: BatchReader, columns: Sequence[str], before: Scan) -> tuple[Scanned, Scan]:
    """Find out which values a file has, beside those known before."""
    stamp = _stamp(reader.file)

    def look(batches: Batches) -> Scan:
        scan = deepcopy(before)
        for batch in batches:
            scan.add(batch)
        return scan

    settled, scan = reader.scan(columns, look)
    if scan.n_rows == before.n_rows:
        raise DataError(f"{reader.file.place}: the file has a header and no rows")
    return Scanned(settled, stamp, _chosen(settled.schema(), columns)), scan


def check_types(found: Iterable[tuple[Path, pa.Schema]]) -> None:
    """Refuse files, or other parts of a table, whose columns hold different things."""
    agreement = Agreement()
    for place, schema in found:
        agreement.types(place, schema)


def gathered(scan: Scan, columns: list[str], names: Sequence[str] | None) -> Contents:
    """Put together what was found in all rows."""
    called = chosen_names(names, len(columns)) or tuple(columns)
    return Contents(columns, DigestSource(called, scan.n_rows, scan.digests), scan.n_kept)


def _chosen(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    return pa.schema([schema.field(name) for name in columns])


@dataclass
class Scan:
    """What is known of the rows seen so far; with `drop_rows`, those that miss something are not kept."""

    digests: list[Digest]
    drop_rows: bool
    n_rows: int = 0
    n_kept: int = 0

    @classmethod
    def of_nothing(cls, n_columns: int, drop_rows: bool) -> Scan:
        """Begin with no rows."""
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
        keep = _complete(columns, len(batch)) if self.drop_rows else None
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


def _column_or_refusal(array: Any) -> Column | Refused:
    try:
        return arrow_column(array)
    except Refused as refused:
        return refused


def _complete(columns: Sequence[Column | Refused], n_rows: int) -> Mask | None:
    """Find the rows without missing values; None if that is all of them."""
    gaps = [column.missing for column in columns if isinstance(column, Column) and column.missing is not None]
    return ~np.logical_or.reduce(gaps) if gaps else None


def prepare(
    contents: Contents,
    read_column: Callable[[int], Iterable[Column]],
    memory: int,
    *,
    kind: str,
    bins: int | Mapping[str, int] | None,
    binning: str,
    missing: str,
    min_variables: int,
    whole: Literal["discrete", "gaussian"],
) -> Prepared:
    """Choose states, and codes for them, or refuse what cannot be learned from.

    `read_column` gives all values of a column, part by part, for one that is cut into intervals as a whole.
    """
    source, n_rows = contents.source, contents.source.n_rows
    n_dropped = n_rows - contents.n_kept
    all_rows = DigestSource(source.names, n_rows, source.digests, with_dropped=True)
    found = settled_kind(all_rows, kind, bins, whole)
    if found == "discrete":
        check_size(source.names, n_rows, min_variables)
        whole_column = partial(_whole_column, contents, read_column, memory)
        encoder = DigestEncoder(
            source, bins_for(bins, source.names), binning, missing, whole_column=whole_column
        )
        states, coders, notes = encoder.encode(n_dropped)
        if not contents.n_kept:
            raise nothing_complete(n_rows)
        nothing = np.zeros(len(states))
        return Prepared(found, states, coders, nothing, nothing, notes, missing == "drop")
    check_missing(missing)
    check_size(source.names, n_rows, min_variables, min_rows=2)
    if n_dropped and contents.n_kept < 2:
        raise too_few_complete(n_dropped, n_rows)
    notes = (read_as_numbers(len(source.names)),) if kind == "auto" else ()
    if n_dropped:
        notes = (*notes, f"dropped {n_dropped} of {n_rows} rows with missing values")
    return Prepared(found, (), (), *_ends_of_numbers(source), notes, missing == "drop")


def _ends_of_numbers(source: DigestSource) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Find the least and the greatest number of each column."""
    problems = Problems(NUMERIC_REASONS)
    low, high = np.zeros(len(source.names)), np.zeros(len(source.names))
    for i, name in enumerate(source.names):
        try:
            numbers = numbers_of(source, i, None)
            low[i], high[i] = numbers.min(), numbers.max()
        except Refused as refused:
            problems.add(refused.reason, name, refused.detail)
    problems.raise_any()
    return low, high


def batches_of(file: Scanned, columns: Sequence[str]) -> Batches:
    """Go through a file once more."""
    if _stamp(file.reader.file) != file.stamp:
        raise DataError(f"{file.place}: the file was changed while it was read; start again")
    return file.reader.batches(columns)


def converted(batches: Iterable[pa.RecordBatch], prepared: Prepared) -> Iterator[npt.NDArray[Any]]:
    """Give what is to be written: for each batch a matrix with a row for each variable."""
    for batch in batches:
        values = [arrow_column(array) for array in batch.columns]
        keep = _complete(values, len(batch)) if prepared.drop_rows else None
        block = np.empty((len(values), len(batch) if keep is None else int(keep.sum())), prepared.type)
        for i, column in enumerate(values):
            block[i] = prepared.convert(i, column if keep is None else column.rows(keep))
        yield block


def _whole_column(
    contents: Contents, read_column: Callable[[int], Iterable[Column]], memory: int, i: int
) -> Column:
    """Read one column into memory, if it fits."""
    needed = contents.n_kept * BYTES_TO_CUT
    if needed > memory:
        raise DataError(
            f"column {contents.source.names[i]!r} has more than {MOST_DISTINCT:,} different numbers, and to "
            f"cut them into intervals takes {needed / 1e6:,.0f} MB, where {memory / 1e6:,.0f} MB are "
            "allowed; allow more with memory= (on the command line --memory), or round the numbers"
        )
    alike = contents.source.column(i)
    values, gaps = [], []
    for column in read_column(i):
        values.append(column.values.astype(alike.values.dtype))
        gaps.append(np.zeros(len(values[-1]), np.bool_) if column.missing is None else column.missing)
    return Column(alike.kind, np.concatenate(values), some(np.concatenate(gaps)), from_reals=alike.from_reals)


def column_of_file(file: Scanned, columns: Sequence[str], i: int, drop_rows: bool) -> Iterator[Column]:
    """Give the values that a file has of one of the columns, part by part."""
    wanted = columns if drop_rows else columns[i : i + 1]
    return column_of(batches_of(file, wanted), i if drop_rows else 0, drop_rows)


def column_of(batches: Iterable[pa.RecordBatch], i: int, drop_rows: bool) -> Iterator[Column]:
    """Give one column of each batch, with the rows that are kept."""
    for batch in batches:
        if drop_rows:
            columns = [arrow_column(array) for array in batch.columns]
            keep = _complete(columns, len(batch))
            yield columns[i] if keep is None else columns[i].rows(keep)
        else:
            yield arrow_column(batch.column(i))


def _write(
    found: Sequence[Scanned], contents: Contents, prepared: Prepared, rows: int, memory: int
) -> StreamedTable:
    """Go through the files once more and write blocks to disk."""
    BlockFile.check_space(contents.n_kept * len(contents.columns) * prepared.type.itemsize)
    blocks = BlockFile(len(contents.columns), prepared.type, rows)
    margins = [np.zeros(len(labels), np.int64) for labels in prepared.states]
    for file in found:
        for block in converted(batches_of(file, contents.columns), prepared):
            if margins:
                for counts, codes in zip(margins, block, strict=True):
                    counts += np.bincount(codes, minlength=len(counts))
            blocks.append(block)
    blocks.finish()
    low, high = prepared.low, prepared.high
    if margins:
        low, high = ends_of(margins)
    return StreamedTable(
        prepared.kind,
        contents.source.names,
        blocks,
        np.arange(len(contents.columns)),
        prepared.states,
        tuple(margins),
        low,
        high,
        memory,
        prepared.notes,
    )


def _stamp(file: DataFile) -> tuple[int, int]:
    """Tell one state of a file from another."""
    with naming(file.place):
        status = file.place.stat()
    return status.st_size, status.st_mtime_ns
