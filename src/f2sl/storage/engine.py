"""From a table to the engine that answers questions about it, wherever the table is held.

An engine says which questions it can answer: ``engine.counts`` counts states, ``engine.moments`` has the
variances and correlations of numbers, and either is None where the table has no such columns. Tests, scores
and measures ask for the one that they need.
"""

from __future__ import annotations

from typing import Any

from f2sl.storage.moments import Moments
from f2sl.storage.protocol import CountingEngine
from f2sl.table.column import NUMBER
from f2sl.table.table import Table

Engine = CountingEngine | Moments
"""What learners ask of the data."""


def open_engine(table: Table, n_jobs: int | None = None) -> Any:
    """Open the engine of a table; a ``with`` block closes it.

    Raises
    ------
    DataError
        If the table has columns of both kinds; names them.
    """
    if table.one_kind() == NUMBER:
        return Moments.of_table(table, n_jobs)
    return table.counting_engine(n_jobs)
