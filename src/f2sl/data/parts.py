"""From files to a table that a cluster holds: its workers read them, each file once for each of two passes.

Files must have the same path for all workers, as on a disk that they share. The first pass brings here which
values each column has; the second makes blocks of codes (or numbers), which stay where they are made. A
worker that is lost costs nothing but time: others read its files again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from f2sl.data._batches import BatchReader
from f2sl.data._files import DataFile
from f2sl.data.cluster import Cluster, Held
from f2sl.data.clustered import ClusteredTable
from f2sl.data.stream import Prepared, Scan, Scanned, columns_of, converted, gathered, prepare, scan_file
from f2sl.data.streamed import ends_of

ROWS_AT_ONCE = 1 << 16
"""Rows of a file that are read at a time."""


def read_files(
    files: Sequence[DataFile],
    cluster: Cluster,
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
) -> ClusteredTable:
    """Let a cluster read files, as :func:`f2sl.data.as_either` would read them as a whole.

    Parameters are those of :func:`f2sl.data.stream.read_streamed`; each file becomes a block of rows.
    """
    drop_rows = missing == "drop"
    readers = [BatchReader(file, ROWS_AT_ONCE) for file in files]
    columns = columns_of(readers, drop)
    scan = Scan.of_nothing(len(columns), drop_rows)
    found: list[Scanned] = []
    for one, later in cluster.map(lambda reader: cluster.submit(_scan, reader, columns, drop_rows), readers):
        scan.join(later)
        found.append(one)
    contents = gathered(found, scan, columns, names, drop_rows)
    prepared = prepare(
        contents,
        kind=kind,
        bins=bins,
        binning=binning,
        missing=missing,
        min_variables=min_variables,
        whole=whole,
    )

    def read() -> list[Any]:
        shared = cluster.put((columns, prepared, drop_rows))
        return [cluster.submit(_convert, file, shared) for file in contents.files]

    table = ClusteredTable(
        prepared.kind,
        contents.source.names,
        cluster,
        Held(cluster, read),
        contents.n_kept,
        np.arange(len(columns)),
        prepared.states,
        prepared.low,
        prepared.high,
        memory,
        prepared.notes,
    )
    if table.kind == "gaussian":
        return table
    low, high = ends_of(table.margins)
    return replace(table, low=low, high=high)


# What workers do


def _scan(reader: BatchReader, columns: Sequence[str], drop_rows: bool) -> tuple[Scanned, Scan]:
    return scan_file(reader, columns, Scan.of_nothing(len(columns), drop_rows))


def _convert(file: Scanned, shared: tuple[Sequence[str], Prepared, bool]) -> npt.NDArray[Any]:
    columns, prepared, drop_rows = shared
    blocks = list(converted(file, columns, prepared, drop_rows))
    return np.concatenate(blocks, axis=1)
