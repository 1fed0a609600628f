"""Learn from one mixed table by another library, in the interpreter that has it; mixed.py starts this.

    python benchmarks/mixed_peers.py PyBNesian 60 < table.pickle

The table is a pickle of (name, values) pairs: numbers as floats, states as whole numbers. The second argument
is the limit of processor seconds. Prints the arrows, the lines and the processor seconds as JSON.

PyBNesian climbs over conditional linear Gaussian networks by BIC. causal-learn has no score for mixed tables
but one of kernels, whose time grows with the cube of the rows: its PC uses a randomised kernel test of
independence ("RCIT"), its BOSS takes the codes of states for numbers ("BOSS").
"""

from __future__ import annotations

import io
import json
import pickle
import random
import resource
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np

Edges = tuple[list[Any], list[Any]]
Columns = list[tuple[str, Any]]
ALPHA = 0.01


def pybnesian(columns: Columns) -> Callable[[], Edges]:
    """Climb over conditional linear Gaussian networks by BIC."""
    import pandas as pd
    import pybnesian as pbn

    frame = pd.DataFrame(dict(columns))
    for name, values in columns:
        if values.dtype != float:
            frame[name] = pd.Categorical(pd.Series([f"s{code}" for code in values], dtype=object))

    def learn() -> Edges:
        found = pbn.hc(frame, bn_type=pbn.CLGNetworkType(), score="bic", operators=["arcs"])
        return found.arcs(), []

    return learn


def of_marks(columns: Columns, marks: Any) -> Edges:
    """Read causal-learn's matrix: -1 at a tail and 1 at a head, in the row of the end that has the mark."""
    names = [name for name, _ in columns]

    def named(pairs: Any) -> list[tuple[str, str]]:
        return [(names[u], names[v]) for u, v in pairs]

    lines = np.triu((marks == marks.T) & (marks != 0))
    return named(np.argwhere((marks == -1) & (marks.T == 1))), named(np.argwhere(lines))


def causal_learn_boss(columns: Columns) -> Callable[[], Edges]:
    """Search over orders by BIC of numbers, codes of states among them."""
    from causallearn.search.PermutationBased.BOSS import boss

    random.seed(1)
    values = np.column_stack([values.astype(float) for _, values in columns])
    return lambda: of_marks(columns, boss(values).graph)


def causal_learn_pc(columns: Columns) -> Callable[[], Edges]:
    """Run PC with a randomised kernel test."""
    from causallearn.search.ConstraintBased.PC import pc

    np.random.seed(1)  # noqa: NPY002, the generator that the test draws from
    values = np.column_stack([values.astype(float) for _, values in columns])
    return lambda: of_marks(columns, pc(values, ALPHA, "rcit", show_progress=False).G.graph)


PEERS = {
    "PyBNesian": pybnesian,
    "causal-learn BOSS": causal_learn_boss,
    "causal-learn RCIT": causal_learn_pc,
}


def main() -> None:
    learn = PEERS[sys.argv[1]](pickle.load(sys.stdin.buffer))
    spent, limit = time.process_time(), int(float(sys.argv[2]))
    resource.setrlimit(resource.RLIMIT_CPU, (int(spent) + limit, int(spent) + limit + 1))
    with redirect_stdout(io.StringIO()):
        arrows, lines = learn()
    print(json.dumps({"arrows": arrows, "lines": lines, "seconds": time.process_time() - spent}))


if __name__ == "__main__":
    main()
