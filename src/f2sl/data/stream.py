"""From files larger than memory to a table of codes (or numbers) on disk.

The files are gone through twice. The first time finds which values each column has, hence names, kinds and
states, the same as if all were read into memory; the second time writes the codes. What cannot be learned
from is refused in between, in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from f2sl.data._agreement import Agreement
from f2sl.data._arrow import arrow_column
from f2sl.data._batches import Batches, BatchReader
from f2sl.data._coder import Coder, DigestEncoder
from f2sl.data._columns import Column, Mask, Refused, some
from f2sl.data._digest import MOST_DISTINCT, Digest
from f2sl.data._encoder import nothing_complete
from f2sl.data._files import DataFile, naming
from f2sl.data._problems import Problems
from f2sl.data._shape import check_size
from f2sl.data._sources import DigestSource
from f2sl.data.encode import bins_for
from f2sl.data.kinds import read_as_numbers, settled_kind
from f2sl.data.names import chosen_names
from f2sl.data.numeric import REASONS as NUMERIC_REASONS
from f2sl.data.numeric import check_missing, numbers_of, too_few_complete
from f2sl.data.streamed import BlockFile, StreamedTable, block_type
from f2sl.errors import DataError, unknown_name

LARGEST_BLOCK, SMALLEST_BLOCK = 1 << 16, 1 << 6
"""Rows of a block."""

SHARE_OF_BLOCK = 1 / 8
"""Of the memory allowed, what a block of rows may take as it comes from a file; several are held at once."""

BYTES_TO_CUT = 64
"""What a row takes while a column is cut into intervals as a whole."""

BYTES_OF_CELL = 16
"""What a cell takes while it is read, in Arrow's form and in NumPy's."""


@dataclass(frozen=True)
class _Contents:
    """What the first pass over some files has found."""

    readers: list[BatchReader]
    stamps: list[tuple[int, int]]
    columns: list[str]
    source: DigestSource
    n_kept: int


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
    """Read files in blocks, as :func:`f2sl.data.as_either` would read them as a whole.

    Parameters
    ----------
    files : sequence of DataFile
        Where the rows are.
    memory : int
        Bytes that reading, and working with the table then, may take.
    drop : sequence of str
        Columns to leave out.
    kind, names, bins, binning, missing, min_variables, whole
        As in :func:`f2sl.data.as_either`.
    rows_per_block : int, optional
        How many rows are held at a time; by default as many as the memory allows.
    """
    first = BatchReader(files[0], 1).schema()
    rows = rows_per_block or _rows_per_block(len(first), memory)
    contents = _first_pass(files, rows, drop, names, missing == "drop")
    source, n_rows = contents.source, contents.source.n_rows
    n_dropped = n_rows - contents.n_kept
    all_rows = DigestSource(source.names, n_rows, source.digests, with_dropped=True)
    found = settled_kind(all_rows, kind, bins, whole)
    if found == "discrete":
        check_size(source.names, n_rows, min_variables)
        whole_column = partial(_whole_column, contents, memory, missing == "drop")
        encoder = DigestEncoder(
            source, bins_for(bins, source.names), binning, missing, whole_column=whole_column
        )
        states, coders, notes = encoder.encode(n_dropped)
        if not contents.n_kept:
            raise nothing_complete(n_rows)
        return _write_codes(contents, rows, states, coders, memory, notes, missing == "drop")
    check_missing(missing)
    check_size(source.names, n_rows, min_variables, min_rows=2)
    if n_dropped and contents.n_kept < 2:
        raise too_few_complete(n_dropped, n_rows)
    notes = (read_as_numbers(len(source.names)),) if kind == "auto" else ()
    if n_dropped:
        notes = (*notes, f"dropped {n_dropped} of {n_rows} rows with missing values")
    return _write_numbers(contents, rows, memory, notes, missing == "drop")


def _rows_per_block(n_columns: int, memory: int) -> int:
    """How many rows to hold at a time."""
    rows = int(memory * SHARE_OF_BLOCK / (BYTES_OF_CELL * max(1, n_columns)))
    return max(SMALLEST_BLOCK, min(LARGEST_BLOCK, rows // 64 * 64))


def _first_pass(
    files: Sequence[DataFile], rows: int, drop: Sequence[str], names: Sequence[str] | None, drop_rows: bool
) -> _Contents:
    """Find out which values the columns have."""
    readers = [BatchReader(file, rows) for file in files]
    stamps = [_stamp(file) for file in files]
    agreement = Agreement()
    for reader in readers:
        agreement.columns(reader.file.place, reader.schema().names)
    for column in drop:
        if column not in agreement.names:
            raise DataError(unknown_name("column", column, agreement.names))
    columns = [name for name in agreement.names if name not in drop]
    scan = _Scan([Digest(drop_rows) for _ in columns])
    for i, reader in enumerate(readers):
        before = deepcopy(scan)

        def look(batches: Batches, before: _Scan = before) -> _Scan:
            scan = deepcopy(before)
            for batch in batches:
                scan.add(batch, drop_rows)
            return scan

        readers[i], scan = reader.scan(columns, look)
        if scan.n_rows == before.n_rows:
            raise DataError(f"{reader.file.place}: the file has a header and no rows")
        agreement.types(reader.file.place, _chosen(readers[i].schema(), columns))
    called = chosen_names(names, len(columns)) or tuple(columns)
    return _Contents(readers, stamps, columns, DigestSource(called, scan.n_rows, scan.digests), scan.n_kept)


def _chosen(schema: pa.Schema, columns: Sequence[str]) -> pa.Schema:
    return pa.schema([schema.field(name) for name in columns])


@dataclass
class _Scan:
    """What is known of the rows seen so far."""

    digests: list[Digest]
    n_rows: int = 0
    n_kept: int = 0

    def add(self, batch: pa.RecordBatch, drop_rows: bool) -> None:
        columns = [_column_or_refusal(array) for array in batch.columns]
        keep = _complete(columns, len(batch)) if drop_rows else None
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


def _whole_column(contents: _Contents, memory: int, drop_rows: bool, i: int) -> Column:
    """Read one column into memory, if it fits."""
    needed = contents.n_kept * BYTES_TO_CUT
    if needed > memory:
        raise DataError(
            f"column {contents.source.names[i]!r} has more than {MOST_DISTINCT:,} different numbers, and to "
            f"cut them into intervals takes {needed / 1e6:,.0f} MB, where {memory / 1e6:,.0f} MB are "
            "allowed; allow more with memory= (on the command line --memory), or round the numbers"
        )
    alike = contents.source.column(i)
    columns = contents.columns if drop_rows else [contents.columns[i]]
    values, gaps = [], []
    for reader in contents.readers:
        for batch in reader.batches(columns):
            read = [arrow_column(array) for array in batch.columns]
            keep = _complete(read, len(batch)) if drop_rows else None
            column = read[columns.index(contents.columns[i])]
            column = column if keep is None else column.rows(keep)
            values.append(column.values.astype(alike.values.dtype))
            gaps.append(np.zeros(len(values[-1]), np.bool_) if column.missing is None else column.missing)
    return Column(alike.kind, np.concatenate(values), some(np.concatenate(gaps)), from_reals=alike.from_reals)


def _write(
    contents: _Contents,
    rows: int,
    kind: np.dtype[Any],
    drop_rows: bool,
    convert: Callable[[int, Column], npt.NDArray[Any]],
    look: Callable[[npt.NDArray[Any]], None],
) -> BlockFile:
    """Go through the files once more and write what `convert` makes of each column; `look` sees it, too."""
    BlockFile.check_space(contents.n_kept * len(contents.columns) * kind.itemsize)
    blocks = BlockFile(len(contents.columns), kind, rows)
    for reader, stamp in zip(contents.readers, contents.stamps, strict=True):
        if _stamp(reader.file) != stamp:
            raise DataError(f"{reader.file.place}: the file was changed while it was read; start again")
        for batch in reader.batches(contents.columns):
            columns = [arrow_column(array) for array in batch.columns]
            keep = _complete(columns, len(batch)) if drop_rows else None
            n_rows = len(batch) if keep is None else int(keep.sum())
            block = np.empty((len(columns), n_rows), kind)
            for i, column in enumerate(columns):
                block[i] = convert(i, column if keep is None else column.rows(keep))
            look(block)
            blocks.append(block)
    blocks.finish()
    return blocks


def _stamp(file: DataFile) -> tuple[int, int]:
    """Tell one state of a file from another."""
    with naming(file.place):
        status = file.place.stat()
    return status.st_size, status.st_mtime_ns


def _write_codes(
    contents: _Contents,
    rows: int,
    states: tuple[tuple[object, ...], ...],
    coders: Sequence[Coder],
    memory: int,
    notes: tuple[str, ...],
    drop_rows: bool,
) -> StreamedTable:
    margins = [np.zeros(len(labels), np.int64) for labels in states]

    def look(block: npt.NDArray[Any]) -> None:
        for counts, codes in zip(margins, block, strict=True):
            counts += np.bincount(codes, minlength=len(counts))

    def convert(i: int, column: Column) -> npt.NDArray[Any]:
        return coders[i].codes(column)

    blocks = _write(contents, rows, block_type(states), drop_rows, convert, look)
    low = np.array([np.flatnonzero(counts)[0] for counts in margins], np.float64)
    high = np.array([np.flatnonzero(counts)[-1] for counts in margins], np.float64)
    places = np.arange(len(states))
    names = contents.source.names
    return StreamedTable("discrete", names, blocks, places, states, tuple(margins), low, high, memory, notes)


def _write_numbers(
    contents: _Contents, rows: int, memory: int, notes: tuple[str, ...], drop_rows: bool
) -> StreamedTable:
    names = contents.source.names
    problems = Problems(NUMERIC_REASONS)
    low, high = np.zeros(len(names)), np.zeros(len(names))
    for i, name in enumerate(names):
        try:
            numbers = numbers_of(contents.source, i, None)
            low[i], high[i] = numbers.min(), numbers.max()
        except Refused as refused:
            problems.add(refused.reason, name, refused.detail)
    problems.raise_any()
    blocks = _write(
        contents, rows, np.dtype(np.float64), drop_rows, lambda i, column: column.values, lambda block: None
    )
    return StreamedTable("gaussian", names, blocks, np.arange(len(names)), (), (), low, high, memory, notes)
