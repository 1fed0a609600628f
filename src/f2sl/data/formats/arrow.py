"""Arrow files (Feather): with an index of their blocks of rows, or as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from f2sl.data.formats.base import BYTES_OF_CELL, Batches, DataFile, TableFormat, valid


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
