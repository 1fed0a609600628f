"""From a table to the engine that answers questions about it, wherever the table is held.

An engine says which questions it can answer: ``engine.counts`` counts states, ``engine.moments`` has the
variances and correlations of numbers, and either is None where the table has no such columns. Tests, scores
and measures ask for the one that they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from f2sl.storage.dask.table import ClusteredTable
from f2sl.storage.memory.table import DiscreteTable
from f2sl.storage.moments import Moments
from f2sl.storage.protocol import CountingEngine
from f2sl.storage.stream.table import StreamedTable

if TYPE_CHECKING:
    from f2sl.storage.dask.engine import ClusterEngine
    from f2sl.storage.memory.engine import MemoryEngine
    from f2sl.storage.stream.engine import StreamEngine

Engine = CountingEngine | Moments
"""What learners ask of the data."""


def open_engine(
    table: Any, n_jobs: int | None = None
) -> Moments | MemoryEngine | StreamEngine | ClusterEngine:
    """Open the engine of a table; a ``with`` block closes it."""
    if isinstance(table, StreamedTable) and table.kind == "discrete":
        from f2sl.storage.stream.engine import StreamEngine

        return StreamEngine(table, n_jobs)
    if isinstance(table, ClusteredTable) and table.kind == "discrete":
        from f2sl.storage.dask.engine import open_cluster_engine

        return open_cluster_engine(table)
    if not isinstance(table, DiscreteTable):
        return Moments.of_table(table, n_jobs)
    from f2sl.storage.memory.engine import MemoryEngine

    return MemoryEngine(table, n_jobs)
