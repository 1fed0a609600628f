"""Discrete tables and numbers together, for tests."""

import numpy as np

from f2sl.data.column import Column
from f2sl.data.memory.table import MemoryTable


def _alike(a, b):
    """Return whether one discrete column determines another."""
    joint = len(set(zip(a.tolist(), b.tolist(), strict=True)))
    return joint == max(len(set(a.tolist())), len(set(b.tolist())))


def mixed_columns(
    random_state, n_rows=120, kinds=("discrete", "continuous", "discrete", "continuous", "continuous")
):
    """Draw columns that depend on earlier ones, of both kinds; all states occur, and no two are copies."""
    rng = np.random.default_rng(random_state)
    columns = []
    for v, kind in enumerate(kinds):
        signal = rng.normal(size=n_rows)
        for u in range(v):
            if rng.random() < 0.5:
                own = columns[u].astype(float)
                signal = signal + rng.normal() * (own - own.mean()) / own.std()
        if kind == "continuous":
            columns.append(signal * 10.0 ** rng.integers(-3, 4) + rng.normal(0, 10))
        else:
            k = int(rng.integers(2, 4))
            shares = np.arange(1, k) / k
            codes = np.searchsorted(np.quantile(signal, shares), signal)
            while any(np.issubdtype(own.dtype, np.integer) and _alike(own, codes) for own in columns):
                signal = signal + rng.normal(0, signal.std(), n_rows)
                codes = np.searchsorted(np.quantile(signal, shares), signal)
            columns.append(codes)
    return columns


def mixed_table(
    columns,
    kinds=("discrete", "continuous", "discrete", "continuous", "continuous"),
    states=None,
    missing=None,
):
    """Make a table of columns of these kinds, names in their order.

    `states` are the numbers of states, where not all of them occur; `missing` says which values are missing.
    """
    described, held = [], {"discrete": [], "continuous": []}
    for i, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        is_missing = np.zeros(len(column), bool) if missing is None else missing[i]
        k = 0 if kind == "continuous" else int(column.max()) + 1 if states is None else states[i]
        described.append(Column(f"v{i}", kind, tuple(range(k)), int(is_missing.sum())))
        held[kind].append(np.where(is_missing, np.nan if kind == "continuous" else k, column))
    codes, numbers = (
        np.array(held[kind]).reshape(-1, len(columns[0])) for kind in ("discrete", "continuous")
    )
    return MemoryTable(tuple(described), codes.astype(np.int64), numbers)


def drawn_missing(random_state, columns, share=0.1):
    """Draw which values are missing; the second and third columns have all."""
    missing = np.random.default_rng(random_state).random((len(columns), len(columns[0]))) < share
    missing[1:3] = False
    return missing
