"""Formats that PyArrow reads: Parquet, Arrow (files of blocks with an index, or streams), JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.json as arrow_json

from f2sl.data.formats.base import BYTES_OF_CELL, Batches, DataFile, TableFormat, valid


class Parquet(TableFormat):
    """Apache Parquet, by PyArrow."""

    name = "Parquet"
    suffixes = (".parquet", ".pq")
    first_bytes = (b"PAR1",)

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory."""
        # One file, and not a data set: a folder called year=2020 must not add a column.
        with valid(file), _opened_parquet(file) as opened:
            return opened.read()

    def schema(self, file: DataFile) -> pa.Schema:
        """Return the names and types of the columns."""
        with valid(file), _opened_parquet(file) as opened:
            return opened.schema_arrow

    def batches(self, file: DataFile, names: Sequence[str], rows: int) -> Batches:
        """Yield some columns, at most `rows` rows at a time."""
        with valid(file), _opened_parquet(file, buffer_size=1 << 16, pre_buffer=False) as opened:
            for batch in opened.iter_batches(rows, columns=list(names), use_threads=True):
                yield batch.select(names)

    def bytes_in_memory(self, file: DataFile, most: int) -> int:
        """Estimate the memory from the numbers of rows and columns."""
        with valid(file), _opened_parquet(file) as opened:
            described = opened.metadata
        return int(described.num_rows * described.num_columns * BYTES_OF_CELL)

    def write(self, table: pa.Table, stream: Any) -> None:
        """Write a table."""
        from pyarrow import parquet as pq

        pq.write_table(table, stream)


def _opened_parquet(file: DataFile, **how: Any) -> Any:
    from pyarrow import parquet as pq  # here: with it come file systems, and most tables are text

    return pq.ParquetFile(str(file.location) if file.packing is None else file.content(), **how)


class Arrow(TableFormat):
    """Apache Arrow, by PyArrow."""

    name = "Arrow"
    suffixes = (".arrow", ".feather", ".ipc")
    first_bytes = (b"ARROW1", b"\xff\xff\xff\xff")

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory."""
        with valid(file), file.content() as source:
            table = _opened(source).read_all()
            table.validate(full=True)
            return table

    def schema(self, file: DataFile) -> pa.Schema:
        """Return the names and types of the columns."""
        with valid(file), file.content() as source:
            return _opened(source).schema

    def batches(self, file: DataFile, names: Sequence[str], rows: int) -> Batches:
        """Yield some columns, at most `rows` rows at a time."""
        with valid(file), file.content() as source:
            for block in _blocks(_opened(source)):
                chosen = block.select(names)
                chosen.validate(full=True)  # what a damaged file says of itself may lead anywhere
                for first in range(0, len(chosen), rows):
                    yield chosen.slice(first, rows)

    def bytes_in_memory(self, file: DataFile, most: int) -> int:
        """Count the rows from the first column: compressed blocks do not store their size."""
        with valid(file), file.content() as source:
            types = _opened(source).schema.types
            source.seek(0)
            first_column = _opened(source, pa.ipc.IpcReadOptions(included_fields=[0] if types else []))
            return int(sum(map(len, _blocks(first_column))) * sum(map(_bytes_of_cell, types)))

    def write(self, table: pa.Table, stream: Any) -> None:
        """Write a table, with an index of its blocks."""
        with pa.ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)


def _opened(source: Any, options: Any = None) -> Any:
    try:
        return pa.ipc.open_file(source, options=options)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source, options=options)


def _blocks(opened: Any) -> Iterable[pa.RecordBatch]:
    """Yield the blocks of rows of an open file."""
    if hasattr(opened, "get_batch"):
        return map(opened.get_batch, range(opened.num_record_batches))
    blocks: Iterable[pa.RecordBatch] = opened
    return blocks


def _bytes_of_cell(dtype: pa.DataType) -> float:
    """Return the bytes of a cell of a type; text has the usual estimate."""
    try:
        return float(getattr(dtype, "index_type", dtype).bit_width / 8)
    except ValueError:
        return BYTES_OF_CELL


def like_json_lines(start: bytes) -> bool:
    r"""Return whether a file that begins so has an object on each line, whatever its suffix.

    Examples
    --------
    >>> like_json_lines(b'{"a": 1}\n{"a": 2}\n'), like_json_lines(b'[{"a": 1},\n {"a": 2}]'), like_json_lines(b"a\n1")
    (True, False, False)
    """  # noqa: E501
    first, _, rest = start.lstrip().partition(b"\n")
    try:
        return rest.lstrip().startswith(b"{") and isinstance(json.loads(first), dict)
    except ValueError:
        return False


class JSONLines(TableFormat):
    """JSON lines, by PyArrow."""

    name = "JSON lines"
    suffixes = (".jsonl", ".ndjson")

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory."""
        with valid(file), file.open() as stream:
            return arrow_json.read_json(stream)

    def write(self, table: pa.Table, stream: Any) -> None:
        """Write an object for each row."""
        for row in table.to_pylist():
            stream.write(json.dumps(row).encode() + b"\n")
