"""What the benchmarks share: timing tasks side by side, a yardstick for the machine, and peaks of memory."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from sampling import independent

VARIABLES, ROWS, STATES = 801, 1000, 3
GRAM_PRODUCT = "one-hot Gram product (float32)"


def timed(tasks: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Seconds of each task: the least over interleaved repeats, after one run to warm up."""
    best = dict.fromkeys(tasks, np.inf)
    for task in tasks.values():
        task()
    for _ in range(repeats):
        for name, task in tasks.items():
            started = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def gram_product() -> Callable[[], object]:
    """Make the task that tells machines apart: all tables of 801 ternary variables by one matrix product."""
    noise = independent(VARIABLES, ROWS, STATES)
    one_hot = np.concatenate([(noise == state) for state in range(STATES)], axis=1).astype(np.float32)
    return lambda: one_hot.T @ one_hot


def peak_megabytes(code: str) -> float:
    """Largest resident set of a new process that runs some code, with this folder on its path."""
    framed = (
        "import resource, sys; sys.path.insert(0, sys.argv[1])\n"
        f"{code}\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", framed, sys.path[0]], capture_output=True, text=True, check=True
    )
    return float(done.stdout)
