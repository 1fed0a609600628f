"""Where a table is held while it is learned from: in memory, or on disk and gone through in blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from f2sl.errors import DataError, OptionError, unknown_name
from f2sl.reading.encode import check_reading
from f2sl.reading.files import DataFile, data_files, is_path
from f2sl.reading.io import blocks_of, not_valid, open_arrow, read_table
from f2sl.reading.kinds import as_either
from f2sl.storage.dask.runtime import Cluster
from f2sl.storage.dask.table import ClusteredTable
from f2sl.storage.memory.table import DiscreteTable, NumericTable
from f2sl.storage.moments import BlockTable
from f2sl.storage.stream.table import StreamedTable

if TYPE_CHECKING:
    import pyarrow as pa

ENGINES = ("auto", "memory", "stream", "dask")

WithStates = DiscreteTable | BlockTable
Table = WithStates | NumericTable

BYTES_OF_CELL = 8
"""What a cell takes in memory, in most types; its code, the planes and copies in between are far less."""

UNPACKED = 8
"""How many times larger than a packed text its content is taken to be."""


def is_dask_frame(data: Any) -> bool:
    """Tell whether data are a Dask DataFrame; refuse what else Dask has."""
    if type(data).__module__.partition(".")[0] != "dask":
        return False
    if not hasattr(data, "columns") or data.ndim != 2:
        told = f"a {type(data).__name__} of Dask's was handed over"
        raise DataError(f"{told}, which has no named columns; make a Dask DataFrame of it")
    return True


def has_states(table: Table) -> TypeGuard[WithStates]:
    """Tell whether a table holds states, and not real numbers."""
    return table.kind == "discrete"


def check_engine(engine: Any) -> None:
    """Refuse a name that is none of an engine's."""
    if engine not in ENGINES:
        raise OptionError(f"engine must be one of {', '.join(map(repr, ENGINES))}, not {engine!r}")


def open_table(
    data: Any,
    kind: str = "auto",
    *,
    engine: str = "auto",
    memory: int,
    scheduler: Any = None,
    n_workers: int = 1,
    names: Sequence[str] | None = None,
    bins: int | Mapping[str, int] | None = None,
    binning: str = "quantile",
    missing: str = "error",
    min_variables: int = 1,
    whole: Literal["discrete", "gaussian"] = "discrete",
    delimiter: str | None = None,
    header: bool = True,
    drop: Sequence[str] = (),
) -> Table:
    """Read a table of states or of real numbers, into memory, into blocks on disk, or into a cluster.

    Parameters
    ----------
    data : anything that :func:`f2sl.as_table` takes, or a table that this function has opened
        A path may be that of a folder of files, and there may be a list of paths. With a cluster, it may be
        a Dask DataFrame.
    engine : {"auto", "memory", "stream", "dask"}
        Where to hold it; by default in memory, unless it comes from files and would take more than `memory`.
        A note says so.
    memory : int
        Bytes that the table, and learning from it, may take.
    scheduler : str or dask.distributed.Client, optional
        Where the cluster is; without it, `n_workers` processes of this machine are one.
    delimiter, header
        How to read text: see :func:`f2sl.reading.read_table`.
    drop : sequence of str
        Columns of files to leave out.
    kind, names, bins, binning, missing, min_variables, whole
        As in :func:`f2sl.reading.as_either`.
    """
    check_engine(engine)
    check_reading(bins, binning, missing)
    reading: dict[str, Any] = {"names": names, "bins": bins, "binning": binning, "missing": missing}
    reading |= {"min_variables": min_variables, "whole": whole}
    if isinstance(data, StreamedTable | ClusteredTable):
        return _as_it_is(data, kind, engine)
    if is_dask_frame(data):
        if engine not in ("auto", "dask"):
            raise OptionError(f'engine={engine!r}: a Dask DataFrame was handed over, which is for "dask"')
        engine, scheduler = "dask", scheduler or Cluster.current_client()
    _check_scheduler(engine, scheduler)
    if engine == "dask":
        reading |= {"delimiter": delimiter, "header": header, "drop": drop}
        return _on_cluster(data, kind, Cluster.connect(scheduler, n_workers, memory), memory, reading)
    if not is_path(data):
        if engine == "stream":
            raise OptionError('engine="stream" reads files, and these data are in memory; hand over a path')
        return as_either(data, kind, **reading)
    files = data_files(data, delimiter, header)
    needed = sum(map(bytes_in_memory, files)) if engine == "auto" else 0
    if engine == "stream" or needed > memory:
        from f2sl.reading.into_stream import read_streamed

        table = read_streamed(files, memory, kind=kind, drop=drop, **reading)
        if engine == "stream":
            return table
        told = f"read in blocks: in memory the table would take about {needed / 1e6:,.0f} MB"
        return replace(table, notes=(f"{told}, and {memory / 1e6:,.0f} MB are allowed", *table.notes))
    content = read_table(data, delimiter=delimiter, header=header)
    for column in drop:
        if column not in content.column_names:
            raise DataError(unknown_name("column", column, content.column_names))
    return as_either(content.drop_columns(list(dict.fromkeys(drop))) if drop else content, kind, **reading)


def _on_cluster(
    data: Any, kind: str, cluster: Cluster, memory: int, reading: dict[str, Any]
) -> ClusteredTable:
    """Let a cluster read files; what is in memory here is sent to it."""
    try:
        files = {name: reading.pop(name) for name in ("delimiter", "header", "drop")}
        if is_path(data):
            from f2sl.reading.into_dask import read_files

            found = data_files(data, files["delimiter"], files["header"])
            return read_files(found, cluster, memory, kind=kind, drop=files["drop"], **reading)
        if is_dask_frame(data):
            from f2sl.reading.into_dask import read_frame

            return read_frame(data, cluster, memory, kind=kind, **reading)
        return ClusteredTable.of_table(as_either(data, kind, **reading), cluster, memory)
    except BaseException:
        cluster.close()
        raise


def _check_scheduler(engine: str, scheduler: Any) -> None:
    """Refuse a cluster's address where no cluster is asked for."""
    if scheduler is not None and engine != "dask":
        raise OptionError(f'scheduler is for engine="dask", and engine is {engine!r}')


def _as_it_is(table: BlockTable, kind: str, engine: str) -> BlockTable:
    own = "stream" if isinstance(table, StreamedTable) else "dask"
    if engine not in ("auto", own):
        raise OptionError(f"engine={engine!r}: a table opened with {own!r} was handed over")
    if kind not in ("auto", table.kind):
        raise DataError(f"a table of another kind was handed over where a {kind} one is needed")
    return table


def bytes_in_memory(file: DataFile) -> int:
    """Guess how much memory a file's table would take."""
    size = file.place.stat().st_size
    if file.kind != "text" and file.packing is None:
        import pyarrow as pa

        try:
            return _bytes_of_parquet(file) if file.kind == "Parquet" else _bytes_of_arrow(file)
        except (pa.ArrowException, OSError) as error:
            raise not_valid(file, error) from None
    if file.packing is not None:
        size *= UNPACKED
    if file.kind != "text":
        return size
    lines = file.sample.splitlines()
    cells_of_line = lines[0].count(file.delimiter.encode()) + 1
    return int(size / len(file.sample) * len(lines) * cells_of_line * BYTES_OF_CELL)


def _bytes_of_parquet(file: DataFile) -> int:
    import pyarrow.parquet as pq

    described = pq.read_metadata(str(file.place))
    return int(described.num_rows * described.num_columns * BYTES_OF_CELL)


def _bytes_of_arrow(file: DataFile) -> int:
    """Count the rows by the first column: blocks may be compressed, and their description is out of reach."""
    import pyarrow as pa

    with pa.memory_map(str(file.place)) as source:
        types = open_arrow(source).schema.types
        source.seek(0)
        first_column = open_arrow(source, pa.ipc.IpcReadOptions(included_fields=[0] if types else []))
        return int(sum(map(len, blocks_of(first_column))) * sum(map(_bytes_of_cell, types)))


def _bytes_of_cell(kind: pa.DataType) -> float:
    """Say what a cell of a type takes; of text, which has no fixed size, as elsewhere."""
    try:
        return float(getattr(kind, "index_type", kind).bit_width / 8)
    except ValueError:
        return BYTES_OF_CELL
