"""Tables for the benchmarks, and the yardstick that tells machines apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

VARIABLES, ROWS, STATES = 801, 1000, 3
GRAM_PRODUCT = "one-hot Gram product (float32)"


def independent(variables: int, rows: int, states: int = 3, random_state: int = 0) -> NDArray[np.int64]:
    """Columns that have nothing to do with each other."""
    return np.random.default_rng(random_state).integers(0, states, (rows, variables))


def sparse_network(variables: int, rows: int, states: int = 3, random_state: int = 0) -> NDArray[np.int64]:
    """Rows sampled from a random network with about 1.2 edges for each variable, columns shuffled.

    Each variable has 0 to 3 parents among the earlier ones; a row of its probability table prefers one
    state, with a weight drawn from 0.5 to 0.9.
    """
    rng = np.random.default_rng(random_state)
    table = np.empty((rows, variables), np.int64)
    for v in range(variables):
        n_parents = min(v, int(rng.choice([0, 1, 2, 3], p=[0.2, 0.5, 0.2, 0.1])))
        parents = rng.choice(v, n_parents, replace=False) if n_parents else []
        configuration = np.zeros(rows, np.int64)
        for parent in parents:
            configuration = configuration * states + table[:, parent]
        preferred = rng.integers(0, states, states**n_parents)
        weight = rng.uniform(0.5, 0.9, states**n_parents)
        follow = rng.random(rows) < weight[configuration]
        table[:, v] = np.where(follow, preferred[configuration], rng.integers(0, states, rows))
    return table[:, rng.permutation(variables)]


def gram_product() -> Callable[[], object]:
    """Make the task that tells machines apart: all tables of 801 ternary variables by one matrix product."""
    noise = independent(VARIABLES, ROWS, STATES)
    one_hot = np.concatenate([(noise == state) for state in range(STATES)], axis=1).astype(np.float32)
    return lambda: one_hot.T @ one_hot
