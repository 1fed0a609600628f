"""List the kernels that each learner calls, with types, in the order of their first calls.

    python tools/list_kernels.py    # writes src/f2sl/_ahead.json

Run it after changing a kernel's arguments or a learner's steps. A list that is out of date makes first runs
slower, not wrong.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import f2sl
from f2sl import _ahead, _shortcuts
from f2sl.learners.base import STRUCTURE

WITHOUT_KERNELS = ("dag-gnn", "notears")
N_ROWS = 1000
SHARE_MISSING = 0.02
MOST_SECONDS = 60.0
"""Limit of each fit, after which hardly any kernel is called for the first time."""
MOST_OF_EXACT = 10
"""Columns for the exact search, which refuses many."""


def tables(folder: Path) -> dict[str, Path]:
    """Write a table of each kind, with and without missing values; the mixed have both kinds of columns."""
    states = f2sl.load_network("alarm").sample(N_ROWS, random_state=1)
    rng = np.random.default_rng(1)
    values = rng.normal(size=(N_ROWS, 20))
    for i in range(2, 20):
        values[:, i] += values[:, rng.integers(i, size=2)].sum(axis=1)
    numbers = pd.DataFrame(values).add_prefix("number ")
    found = {}
    for kind, frame in (
        ("discrete", states),
        ("continuous", numbers),
        ("mixed", states.iloc[:, :12].join(numbers)),
    ):
        missing = frame.mask(rng.random(frame.shape) < SHARE_MISSING)
        for name, one in ((kind, frame), (f"{kind}, missing", missing)):
            found[name] = folder / f"{name}.csv"
            one.to_csv(found[name], index=False)
    return found


def called(algorithm: str, table: str) -> list[Any]:
    """Learn from a table; return the kernels that were called, which is known only in a new process."""
    found: list[Any] = []
    load = _shortcuts.Cache.load_overload

    def recorded(cache: Any, signature: Any, context: Any) -> Any:
        found.append(_ahead.describe(cache._py_func, signature))
        return load(cache, signature, context)

    _shortcuts.Cache.load_overload = recorded  # type: ignore[method-assign]
    warnings.simplefilter("ignore")
    names = pd.read_csv(table, nrows=0).columns
    options: dict[str, Any] = {"time_limit": MOST_SECONDS}
    if algorithm == "exact":
        options["drop"] = list(names[MOST_OF_EXACT:])
    with suppress(f2sl.F2SLError):  # not every learner takes every kind, or as many columns
        f2sl.learn(table, algorithm, **options)
    return found


def main() -> None:
    kernels: dict[str, int] = {}
    needed: dict[str, dict[str, list[int]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        written = tables(Path(folder))
        for entry in STRUCTURE:
            if entry.name in WITHOUT_KERNELS:
                continue
            for kind, table in written.items():
                command = [sys.executable, __file__, entry.name, str(table)]
                found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
                if found:
                    numbers = [kernels.setdefault(json.dumps(kernel), len(kernels)) for kernel in found]
                    needed.setdefault(entry.load().__name__, {})[kind] = numbers
                print(entry.name, kind, len(found), flush=True)
    lines = ",\n".join(kernels)
    of_learners = ",\n".join(f"{json.dumps(name)}: {json.dumps(kinds)}" for name, kinds in needed.items())
    _ahead.LIST.write_text(
        f'{{"kernels": [\n{lines}\n],\n"needed": {{\n{of_learners}\n}}}}\n', encoding="utf-8"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(called(*sys.argv[1:])))
    else:
        main()
