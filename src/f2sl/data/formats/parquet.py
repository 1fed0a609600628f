"""Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from f2sl.data.formats.base import BYTES_OF_CELL, Batches, DataFile, TableFormat, valid


class Parquet(TableFormat):
    """Apache Parquet, by PyArrow."""

    name = "Parquet"
    suffixes = (".parquet", ".pq")
    first_bytes = (b"PAR1",)

    def read(self, file: DataFile) -> pa.Table:
        """Read a whole file into memory."""
        # One file, and not a data set: a folder called year=2020 must not add a column.
        with valid(file), _opened(file) as opened:
            return opened.read()

    def schema(self, file: DataFile) -> pa.Schema:
        """Return the names and types of the columns."""
        with valid(file), _opened(file) as opened:
            return opened.schema_arrow

    def batches(self, file: DataFile, names: Sequence[str], rows: int) -> Batches:
        """Yield some columns, at most `rows` rows at a time."""
        with valid(file), _opened(file, buffer_size=1 << 16, pre_buffer=False) as opened:
            for batch in opened.iter_batches(rows, columns=list(names), use_threads=True):
                yield batch.select(names)

    def bytes_in_memory(self, file: DataFile, most: int) -> int:
        """Estimate the memory from the numbers of rows and columns."""
        with valid(file), _opened(file) as opened:
            described = opened.metadata
        return int(described.num_rows * described.num_columns * BYTES_OF_CELL)

    def write(self, table: pa.Table, stream: Any) -> None:
        """Write a table."""
        from pyarrow import parquet as pq

        pq.write_table(table, stream)


def _opened(file: DataFile, **how: Any) -> Any:
    from pyarrow import parquet as pq  # here: with it come file systems, and most tables are text

    return pq.ParquetFile(str(file.location) if file.packing is None else file.content(), **how)
