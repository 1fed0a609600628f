"""Tables for tests, and engines on them: of codes and of numbers, drawn at random or with a known graph."""

import numpy as np
import pandas as pd

from f2sl.data.column import Column
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.memory.table import MemoryTable


def table_of_codes(names, states, codes, notes=()):
    codes = np.asarray(codes)
    columns = tuple(Column(name, "discrete", labels) for name, labels in zip(names, states, strict=True))
    return MemoryTable(columns, codes, np.empty((0, codes.shape[1])), notes)


def table_of_numbers(names, numbers):
    numbers = np.asarray(numbers, np.float64)
    columns = tuple(Column(name, "continuous") for name in names)
    return MemoryTable(columns, np.empty((0, numbers.shape[1]), np.uint8), numbers)


def make_table(codes, cardinalities=None):
    """Make a table from a matrix of codes, one row for each variable, names in the order of the rows."""
    codes = np.asarray(codes)
    if cardinalities is None:
        cardinalities = codes.max(axis=1) + 1
    names = tuple(f"v{i:04d}" for i in range(len(codes)))
    return table_of_codes(names, tuple(tuple(range(int(k))) for k in cardinalities), codes)


def make_engine(codes, cardinalities=None, n_jobs=1):
    return MemoryEngine(make_table(codes, cardinalities), n_jobs)


def random_codes(random_state, n_rows, cardinalities):
    """Draw independent variables, each state as likely as another."""
    rng = np.random.default_rng(random_state)
    return np.stack([rng.integers(0, k, n_rows) for k in cardinalities])


def related_codes(random_state, n_rows, n_variables, most_states=4):
    """Draw variables that depend on earlier ones; some are copies or functions, so that ties occur."""
    rng = np.random.default_rng(random_state)
    rows = [rng.integers(0, rng.integers(2, most_states + 1), n_rows)]
    while len(rows) < n_variables:
        k = int(rng.integers(2, most_states + 1))
        base = rows[rng.integers(len(rows))]
        kind = rng.integers(5)
        if kind == 0:
            new = rng.permutation(base.max() + 1)[base]
        elif kind == 1:
            new = base % 2
        elif kind == 2:
            new = (base + rows[rng.integers(len(rows))]) % k
        elif kind == 3:
            new = rng.integers(0, k, n_rows)
        else:
            new = np.where(rng.random(n_rows) < 0.3, rng.integers(0, k, n_rows), base % k)
        rows.append(new)
    return np.stack([rows[i] for i in rng.permutation(n_variables)])


def related_numbers(random_state, n_rows=200, n_variables=5):
    """Draw continuous columns that depend on earlier ones, of very different scales."""
    rng = np.random.default_rng(random_state)
    rows = [rng.normal(size=n_rows)]
    while len(rows) < n_variables:
        rows.append(rows[rng.integers(len(rows))] + rng.normal(size=n_rows))
    scales = 10.0 ** rng.integers(-4, 5, n_variables)
    names = tuple(f"v{i}" for i in range(n_variables))
    return table_of_numbers(names, np.stack(rows) * scales[:, None] + 3.0)


def collider(rows: int = 2000, random_state: int = 0) -> pd.DataFrame:
    """a -> c <- b and c -> d, strong enough to be found for certain."""
    rng = np.random.default_rng(random_state)
    a, b = rng.integers(0, 2, (2, rows))
    c = np.where(rng.random(rows) < 0.9, a + b, rng.integers(0, 3, rows))
    d = np.where(rng.random(rows) < 0.9, c, rng.integers(0, 3, rows))
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d})
