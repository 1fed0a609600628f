"""Tables of states and numbers together, for tests."""

import numpy as np

from f2sl.storage.memory.table import MemoryTable
from f2sl.table.column import Column


def mixed_columns(seed, n_rows=120, kinds=("states", "number", "states", "number", "number")):
    """Draw columns that depend on earlier ones, of both kinds; all states occur."""
    rng = np.random.default_rng(seed)
    columns = []
    for v, kind in enumerate(kinds):
        signal = rng.normal(size=n_rows)
        for u in range(v):
            if rng.random() < 0.5:
                own = columns[u].astype(float)
                signal = signal + rng.normal() * (own - own.mean()) / own.std()
        if kind == "number":
            columns.append(signal * 10.0 ** rng.integers(-3, 4) + rng.normal(0, 10))
        else:
            k = int(rng.integers(2, 4))
            columns.append(np.searchsorted(np.quantile(signal, np.arange(1, k) / k), signal))
    return columns


def mixed_table(columns, kinds=("states", "number", "states", "number", "number")):
    """Make a table of columns of these kinds, names in their order."""
    described = [
        Column(f"v{i}", kind, () if kind == "number" else tuple(range(int(column.max()) + 1)))
        for i, (column, kind) in enumerate(zip(columns, kinds, strict=True))
    ]
    parts = [
        np.array([column for column, own in zip(columns, kinds, strict=True) if own == kind]).reshape(
            -1, len(columns[0])
        )
        for kind in ("states", "number")
    ]
    return MemoryTable(tuple(described), parts[0].astype(np.int64), parts[1])
