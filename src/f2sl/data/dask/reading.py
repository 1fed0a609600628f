"""Tables on a cluster from files or a Dask DataFrame: the workers read the parts.

The first pass collects the distinct values of each column in this process. The second makes blocks of codes
(or numbers), which stay on the workers. If a worker is lost, others read its parts again. Files must have the
same path for all workers, as on a shared disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from f2sl.data.column import positions_of
from f2sl.data.dask.runtime import Cluster, Held
from f2sl.data.dask.table import DaskTable
from f2sl.data.formats import DataFile
from f2sl.data.names import Reading, column_names
from f2sl.data.reading import (
    ColumnsToRead,
    Prepared,
    Scan,
    Scanned,
    column_of,
    column_of_file,
    prepare,
    scan_file,
)
from f2sl.data.table import Block
from f2sl.data.values import RawColumn
from f2sl.errors import DataError, FileError

ROWS_AT_ONCE = 1 << 16
"""Rows of a file that are read at a time."""

Begin = Callable[..., Any]
"""Submits a function of a part of the table, a file or a partition, and further arguments."""


def read_files(files: Sequence[DataFile], reading: Reading, cluster: Cluster, memory: int) -> DaskTable:
    """Read files on a cluster; each file becomes a block of rows."""
    return _held(list(files), cluster.submit, ColumnsToRead.of(files, reading), cluster, memory, reading)


def read_frame(frame: Any, reading: Reading, cluster: Cluster, memory: int) -> DaskTable:
    """Read a Dask DataFrame, whose partitions become blocks of rows."""
    own = list(column_names(frame.columns))
    asked = ColumnsToRead.of_names(own, reading)
    if len(asked.columns) < len(own):
        left = set(asked.columns)
        frame = frame[[label for label, name in zip(frame.columns, own, strict=True) if name in left]]

    def begin(function: Callable[..., Any], one: tuple[int, Any], *arguments: Any) -> Any:
        number, delayed = one
        return cluster.compute(partial(_of_partition, function, number), delayed, *arguments)

    return _held(list(enumerate(frame.to_delayed())), begin, asked, cluster, memory, reading)


def _held(
    given: list[Any], begin: Begin, asked: ColumnsToRead, cluster: Cluster, memory: int, reading: Reading
) -> DaskTable:
    """Choose states from the values found in each part of a table, and make a block of each part."""
    scan = asked.nothing
    parts, schemas, starts = [], [], [0]
    scans = cluster.map(lambda one: begin(_scan, one, asked), given)
    for one, (scanned, location, schema, later) in zip(given, scans, strict=True):
        scan.join(later)
        schemas.append((location, schema))
        if later.n_kept:
            parts.append(one if scanned is None else scanned)
            starts.append(starts[-1] + later.n_kept)

    def read_column(i: int) -> Iterator[RawColumn]:
        return chain.from_iterable(cluster.map(lambda part: begin(_column, part, i, asked), parts))

    prepared = prepare(scan, asked, schemas, read_column, reading, memory)

    def read() -> list[Any]:
        shared = cluster.put(prepared)
        return [begin(_convert, part, shared) for part in parts]

    table = DaskTable(
        columns=prepared.columns,
        positions=positions_of([column.kind for column in prepared.columns]),
        number_ends=prepared.ends,
        memory=memory,
        notes=prepared.notes,
        cluster=cluster,
        blocks=Held(cluster, read),
        starts=tuple(starts),
    )
    _ = table.ends  # reads the rows now, and not when they are first asked for
    return table


# What workers do


class _Partition(NamedTuple):
    """Part of a Dask DataFrame: a frame of pandas."""

    number: int
    frame: Any

    @property
    def location(self) -> Path:
        """Name of the partition in errors."""
        return Path(f"partition {self.number}")

    def batch(self) -> pa.RecordBatch:
        """Return the rows."""
        try:
            return pa.RecordBatch.from_pandas(self.frame, preserve_index=False)
        except pa.ArrowException as error:
            raise DataError(f"{self.location}: {str(error).splitlines()[0]}") from None


def _of_partition(function: Callable[..., Any], number: int, frame: Any, *arguments: Any) -> Any:
    return function(_Partition(number, frame), *arguments)


def _scan(part: DataFile | _Partition, asked: ColumnsToRead) -> tuple[Scanned | None, Path, pa.Schema, Scan]:
    """Return what the second pass reads, if it is not the same, and place, schema and values of a part."""
    if isinstance(part, DataFile):
        _check_seen(part.location)
        scanned, scan = scan_file(part, ROWS_AT_ONCE, asked)
        return scanned, part.location, scanned.schema, scan
    batch, scan = part.batch(), asked.nothing
    if len(batch):
        scan.add(batch)
    return None, part.location, pa.schema(zip(asked.columns, batch.schema.types, strict=True)), scan


def _check_seen(location: Path) -> None:
    """Raise an error for a file that this worker cannot see."""
    if not location.exists():
        from distributed import get_worker

        raise FileError(
            f"{location}: the worker {get_worker().address} has no such file; all workers must see the files "
            "under the same path, as on a shared disk",
            path=str(location),
        )


def _convert(part: Scanned | _Partition, prepared: Prepared) -> Block:
    wanted = prepared.wanted
    batches = part.batches(wanted) if isinstance(part, Scanned) else [part.batch().select(wanted)]
    codes, numbers = zip(*prepared.converted(batches), strict=True)
    return Block(np.concatenate(codes, axis=1), np.concatenate(numbers, axis=1))


def _column(part: Scanned | _Partition, i: int, asked: ColumnsToRead) -> list[RawColumn]:
    if isinstance(part, Scanned):
        return list(column_of_file(part, i, asked))
    return list(column_of([part.batch()], i, asked))
