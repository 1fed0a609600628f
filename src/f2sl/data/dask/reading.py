"""Tables on a cluster from files or a Dask DataFrame: the workers read the parts.

The first pass collects the distinct values of each column in this process. The second makes blocks of codes
(or numbers), which stay on the workers. If a worker is lost, others read its parts again. Files must have the
same path for all workers, as on a shared disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from f2sl.data.asked import Reading
from f2sl.data.column import DISCRETE, positions_of
from f2sl.data.dask.runtime import Cluster, Held
from f2sl.data.dask.table import DaskTable
from f2sl.data.formats import DataFile
from f2sl.data.names import column_names
from f2sl.data.stream.reading import (
    Asked,
    Prepared,
    Scan,
    Scanned,
    column_of,
    column_of_file,
    prepare,
    scan_file,
)
from f2sl.data.stream.table import ends_of
from f2sl.data.table import Block
from f2sl.data.values import RawColumn
from f2sl.errors import DataError, FileError

ROWS_AT_ONCE = 1 << 16
"""Rows of a file that are read at a time."""


def read_files(files: Sequence[DataFile], reading: Reading, cluster: Cluster, memory: int) -> DaskTable:
    """Read files on a cluster; each file becomes a block of rows."""
    asked = Asked.of(files, reading)
    scans = cluster.map(lambda file: cluster.submit(_scan_file, file, asked), files)
    found = ((one, one.file.location, one.schema, later) for one, later in scans)

    def begin(shared: Any, file: Scanned) -> Any:
        return cluster.submit(_convert_file, file, shared)

    def begin_column(i: int, file: Scanned) -> Any:
        return cluster.submit(_column_of_file, file, i, asked)

    return _held(found, asked, cluster, memory, reading, begin, begin_column)


def read_frame(frame: Any, reading: Reading, cluster: Cluster, memory: int) -> DaskTable:
    """Read a Dask DataFrame, whose partitions become blocks of rows."""
    own = list(column_names(frame.columns))
    asked = Asked.of_names(own, reading)
    if len(asked.columns) < len(own):
        left = set(asked.columns)
        frame = frame[[label for label, name in zip(frame.columns, own, strict=True) if name in left]]
    partitions = list(enumerate(frame.to_delayed()))
    scans = cluster.map(lambda one: cluster.compute(_scan_partition, one[1], one[0], asked), partitions)
    found = ((one, _place(one[0]), *scanned) for one, scanned in zip(partitions, scans, strict=True))

    def begin(shared: Any, one: tuple[int, Any]) -> Any:
        return cluster.compute(_convert_partition, one[1], one[0], shared)

    def begin_column(i: int, one: tuple[int, Any]) -> Any:
        return cluster.compute(_column_of_partition, one[1], one[0], i, asked)

    return _held(found, asked, cluster, memory, reading, begin, begin_column)


def _held(
    found: Iterable[tuple[Any, Path, pa.Schema, Scan]],
    asked: Asked,
    cluster: Cluster,
    memory: int,
    reading: Reading,
    begin_block: Callable[[Any, Any], Any],
    begin_column: Callable[[int, Any], Any],
) -> DaskTable:
    """Choose states from the values found in each part of a table, and make a block of each part.

    The last two arguments start making a block of a part, and reading a column of a part.
    """
    scan = asked.nothing
    parts, schemas = [], []
    for part, location, schema, later in found:
        scan.join(later)
        schemas.append((location, schema))
        if later.n_kept:
            parts.append(part)

    def read_column(i: int) -> Iterator[RawColumn]:
        return chain.from_iterable(cluster.map(partial(begin_column, i), parts))

    prepared = prepare(scan, asked, schemas, read_column, reading, memory)

    def read() -> list[Any]:
        return list(map(partial(begin_block, cluster.put(prepared)), parts))

    blocks, positions = Held(cluster, read), positions_of([column.kind for column in prepared.columns])
    low, high = prepared.ends
    table = DaskTable(
        prepared.columns, cluster, blocks, prepared.n_rows, positions, (low, high), memory, prepared.notes
    )
    of_states = table.of_kind(DISCRETE)
    if of_states:
        low[of_states], high[of_states] = ends_of([table.margins[i] for i in of_states])
    return table


def _place(number: int) -> Path:
    """Name the partition in errors."""
    return Path(f"partition {number}")


# What workers do


def _scan_file(file: DataFile, asked: Asked) -> tuple[Scanned, Scan]:
    _check_seen(file.location)
    return scan_file(file, ROWS_AT_ONCE, asked)


def _check_seen(location: Path) -> None:
    """Raise an error for a file that this worker cannot see."""
    if not location.exists():
        from distributed import get_worker

        raise FileError(
            f"{location}: the worker {get_worker().address} has no such file; all workers must see the files "
            "under the same path, as on a shared disk"
        )


def _convert_file(file: Scanned, prepared: Prepared) -> Block:
    codes, numbers = zip(*prepared.converted(file.batches(prepared.wanted)), strict=True)
    return Block(np.concatenate(codes, axis=1), np.concatenate(numbers, axis=1))


def _column_of_file(file: Scanned, i: int, asked: Asked) -> list[RawColumn]:
    return list(column_of_file(file, i, asked))


def _batch(frame: Any, number: int) -> pa.RecordBatch:
    try:
        return pa.RecordBatch.from_pandas(frame, preserve_index=False)
    except pa.ArrowException as error:
        raise DataError(f"{_place(number)}: {str(error).splitlines()[0]}") from None


def _scan_partition(frame: Any, number: int, asked: Asked) -> tuple[pa.Schema, Scan]:
    batch = _batch(frame, number)
    scan = asked.nothing
    if len(batch):
        scan.add(batch)
    return pa.schema(zip(asked.columns, batch.schema.types, strict=True)), scan


def _convert_partition(frame: Any, number: int, prepared: Prepared) -> Block:
    codes, numbers = zip(*prepared.converted([_batch(frame, number).select(prepared.wanted)]), strict=True)
    return Block(np.concatenate(codes, axis=1), np.concatenate(numbers, axis=1))


def _column_of_partition(frame: Any, number: int, i: int, asked: Asked) -> list[RawColumn]:
    return list(column_of([_batch(frame, number)], i, asked))
