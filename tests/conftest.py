"""What several test files share: tables from codes, engines on them, and the two ways the suite is run."""

import numpy as np
import pytest
from hypothesis import settings
from numba import config

from f2sl.storage.memory.engine import MemoryEngine
from f2sl.storage.memory.table import MemoryTable

# Kernels are compiled during some example; how long that takes says nothing about the example.
settings.register_profile("f2sl", deadline=None, max_examples=15 if config.DISABLE_JIT else 60)
settings.load_profile("f2sl")
few_examples = settings(max_examples=4 if config.DISABLE_JIT else 15)
"""For tests that learn many times in each example."""

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too slow without compiled kernels")


def make_table(codes, cardinalities=None):
    """Make a table from a matrix of codes, one row for each variable, names in the order of the rows."""
    codes = np.asarray(codes)
    if cardinalities is None:
        cardinalities = codes.max(axis=1) + 1
    names = tuple(f"v{i:04d}" for i in range(len(codes)))
    return MemoryTable.of_codes(names, tuple(tuple(range(int(k))) for k in cardinalities), codes)


def make_engine(codes, cardinalities=None, n_jobs=1):
    return MemoryEngine(make_table(codes, cardinalities), n_jobs)


def random_codes(seed, n_rows, cardinalities):
    """Draw independent variables, each state as likely as another."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, k, n_rows) for k in cardinalities])


def related_codes(seed, n_rows, n_variables, most_states=4):
    """Draw variables that depend on earlier ones; some are copies or functions, so that ties occur."""
    rng = np.random.default_rng(seed)
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


def related_numbers(seed, n_rows=200, n_variables=5):
    """Draw columns of real numbers that depend on earlier ones, of very different scales."""
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=n_rows)]
    while len(rows) < n_variables:
        rows.append(rows[rng.integers(len(rows))] + rng.normal(size=n_rows))
    scales = 10.0 ** rng.integers(-4, 5, n_variables)
    names = tuple(f"v{i}" for i in range(n_variables))
    return MemoryTable.of_numbers(names, np.stack(rows) * scales[:, None] + 3.0)
