"""The cells as work for the harness: one learner on one sampled table, in a fresh process.

The published networks list their variables more or less from causes to effects, which flatters learners that
break ties by the position of a column, and their names may do so to those that break them by name. So the
columns are shuffled and renamed after their new positions, with a fixed seed. Columns that have one value
only in a sample tell nothing, and some peers fail on them: they are left out, and are nodes without edges.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import f2sl
from f2sl_paper.harness.job import Measured, Task, Work
from f2sl_paper.harness.machine import peak_bytes, status_bytes
from learners import OURS, Learn, load
from results import Key

SEED = 1
REPEATS, ENOUGH_SECONDS = 20, 3.0
"""A learner runs up to so many times, as long as all its runs took less than so long; the shortest counts."""


class Sample(NamedTuple):
    """A frame of categories, the true graph over its columns, and those left out for having one value."""

    frame: Any
    truth: f2sl.DAG
    constant: list[str]


def make_sample(network: str, rows: int) -> Sample:
    net = f2sl.load_network(network)
    frame = net.sample(rows, random_state=SEED).astype(str).astype("category")
    shuffled = np.random.default_rng(SEED).permutation(list(frame.columns)).tolist()
    digits = len(str(len(shuffled)))
    name = {old: f"x{place:0{digits}}" for place, old in enumerate(shuffled)}
    frame = frame[shuffled].rename(columns=name)
    truth = f2sl.DAG(list(frame.columns), [(name[a], name[b]) for a, b in net.graph.directed_edges])
    constant = [column for column in frame.columns if len(frame[column].cat.categories) < 2]
    return Sample(frame.drop(columns=constant), truth, constant)


def stored_sample(folder: Path, network: str, rows: int) -> Path:
    """Sample a table into a folder, once."""
    path = folder / f"{network}-{rows}.pickle"
    if not path.exists():
        path.write_bytes(pickle.dumps(make_sample(network, rows)))
    return path


@dataclass
class Cells(Work[Key]):
    """Runs learners on sampled tables, which are kept in a folder."""

    fresh = True
    folder: Path

    def task(self, key: Key) -> Task:
        """Return the task of a cell; its table is sampled by the first learner that needs it."""
        return partial(measure, key.learner, stored_sample(self.folder, key.network, key.rows))


def measure(name: str, table: Path, begin: Callable[[], None]) -> Measured:
    """Run a learner; return its seconds, memory and accuracy."""
    sample: Sample = pickle.loads(table.read_bytes())
    learner = load(name)
    before = status_bytes("VmRSS")
    if name.startswith(OURS):
        learner(f2sl.load_example("alarm"))()  # compiles what is not yet in the cache
    learn = learner(sample.frame)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets the peak
    begin()
    graph, times = _timed(learn)
    peak = peak_bytes()
    memory = {"peak_mb": peak / 2**20, "above_mb": (peak - before) / 2**20}
    return Measured(times["seconds"], {**times, **memory, **_accuracy(sample, graph)})


def _timed(learn: Learn) -> tuple[f2sl.PDAG, dict[str, Any]]:
    """Run a learner some times; return the least seconds, and the least of all cores together."""
    runs: list[float] = []
    of_cores: list[float] = []
    while not runs or (len(runs) < REPEATS and sum(runs) < ENOUGH_SECONDS):
        started, busy = time.perf_counter(), time.process_time()
        graph = learn()
        of_cores.append(time.process_time() - busy)
        runs.append(time.perf_counter() - started)
    return graph, {"seconds": min(runs), "cpu_seconds": min(of_cores), "runs": len(runs)}


def _accuracy(sample: Sample, graph: f2sl.PDAG) -> dict[str, Any]:
    """Compare the DAG that extends what was learned with the truth."""
    nodes = [*graph.nodes, *sample.constant]
    learned = f2sl.DAG(nodes, graph.to_dag().directed_edges)
    found = f2sl.compare(sample.truth, learned, convention="paper")
    return {
        "shd": found.shd,
        "f1": found.arrowhead_f1,
        "skeleton_f1": found.adjacency_f1,
        "edges": found.learned_edges,
    }
