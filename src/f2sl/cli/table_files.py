"""Tables that commands write: CSV, Parquet or Arrow, by the suffix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from f2sl.errors import FileError

if TYPE_CHECKING:
    from f2sl.reading import DiscreteTable


def check_table_file(path: Path) -> None:
    """Make sure, before any work, that a table can be written to `path`."""
    from f2sl.graph.atomic import check_can_write

    _writer(path)
    check_can_write(path)


def table_bytes(table: DiscreteTable, path: Path) -> bytes:
    """Return what to write to `path`: states by name; Parquet and Arrow declare those that do not occur."""
    import pyarrow as pa

    from f2sl.network.sampling import to_arrow

    stream = pa.BufferOutputStream()
    _writer(path)(to_arrow(table), stream)
    content: bytes = stream.getvalue().to_pybytes()
    return content


def _write_csv(table: Any, stream: Any) -> None:
    import csv
    import io

    import pyarrow as pa
    from pyarrow.csv import WriteOptions, write_csv

    plain = pa.table([column.cast(pa.string()) for column in table.columns], names=table.column_names)
    # PyArrow would put every name of a header in quotes.
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(table.column_names)
    stream.write(header.getvalue().encode())
    write_csv(plain, stream, WriteOptions(include_header=False, quoting_style="needed"))


def _write_packed_csv(table: Any, stream: Any) -> None:
    import gzip

    import pyarrow as pa

    plain = pa.BufferOutputStream()
    _write_csv(table, plain)
    stream.write(gzip.compress(plain.getvalue().to_pybytes(), mtime=0))


def _write_parquet(table: Any, stream: Any) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, stream)


def _write_arrow(table: Any, stream: Any) -> None:
    import pyarrow as pa

    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)


_WRITERS: dict[str, Callable[[Any, Any], None]] = {
    ".csv": _write_csv,
    ".csv.gz": _write_packed_csv,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
}


def _writer(path: Path) -> Callable[[Any, Any], None]:
    name = path.name.lower()
    for suffix, writer in _WRITERS.items():
        if name.endswith(suffix):
            return writer
    raise FileError(f"cannot write {path}: no table format has this suffix. Known: {', '.join(_WRITERS)}")
