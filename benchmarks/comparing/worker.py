"""One run after another in a child process, which is killed when a run takes too long.

Seconds are those of ``fit``, from a frame of categories to the graph, after a call on a small table that
compiles what is not compiled yet. The yardstick learns the same data right before, so that the ratio of the
two does not depend on what else the machine does at the time; short runs are repeated, and the
shortest of each counts.
"""

from __future__ import annotations

import multiprocessing as mp
import time
import warnings
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import f2sl
from comparing.data import DataSet, draw, network_of
from comparing.learners import EQUIVALENT_SAMPLE_SIZE, YARDSTICK, Configuration
from f2sl.reading import open_table
from f2sl.stats.choose import make_score
from f2sl.storage.memory.engine import MemoryEngine

REPEATS, SHORT = 3, 1.0
"""How often a run is made that takes less than so many seconds."""
BEGUN, LEARNED = "begun", "learned"


class Run(NamedTuple):
    """What one run learns."""

    configuration: Configuration
    network: str
    rows: int
    data_set: int


class Worker:
    """A child process that makes runs as long as they keep within the limit, and a new one after that."""

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Any = None

    def measure(self, run: Run, limit: float) -> dict[str, Any]:
        """Give the measures of a run, or what became of it: stopped at the limit, or failed."""
        if self._process is None:
            context = mp.get_context("spawn")
            self._pipe, other = context.Pipe()
            self._process = context.Process(target=_serve, args=(other,), daemon=True)
            self._process.start()
            other.close()
        try:
            self._pipe.send(run)
            answer = self._pipe.recv()
            if answer == BEGUN:
                if not self._pipe.poll(limit):
                    self.close()
                    return {"stopped": limit}
                answer = self._pipe.recv()
            if answer == LEARNED:
                answer = self._pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode
            self.close()
            return {"failed": f"the process ended with code {code}"}
        found: dict[str, Any] = answer
        return found

    def close(self) -> None:
        """End the child process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None


def _serve(pipe: Connection) -> None:
    warnings.simplefilter("ignore")
    warm: set[str] = set()
    while True:
        try:
            run: Run = pipe.recv()
        except EOFError:
            return
        try:
            _make(run, pipe, warm)
        except Exception as error:
            pipe.send({"failed": f"{type(error).__name__}: {error}"})


def _make(run: Run, pipe: Connection, warm: set[str]) -> None:
    data = _data(run.network, run.rows, run.data_set)
    for configuration in (YARDSTICK, run.configuration):
        if configuration.name not in warm:
            configuration.make().fit(_data("child", 500, 0).frame)
            warm.add(configuration.name)
    beside = seconds = float("inf")
    pipe.send(BEGUN)
    for _ in range(REPEATS):
        _, spent = _timed(YARDSTICK, data)
        beside = min(beside, spent)
        graph, spent = _timed(run.configuration, data)
        seconds = min(seconds, spent)
        if spent > SHORT:
            break
    pipe.send(LEARNED)
    pipe.send(measures(data, graph.to_dag()) | {"seconds": round(seconds, 5), "beside": round(beside, 5)})


def _timed(configuration: Configuration, data: DataSet) -> tuple[f2sl.PDAG, float]:
    learner = configuration.make()
    started = time.perf_counter()
    learner.fit(data.frame)
    return learner.graph_, time.perf_counter() - started


@lru_cache(maxsize=2)
def _network(name: str) -> f2sl.BayesianNetwork:
    return network_of(name)


@lru_cache(maxsize=2)
def _data(name: str, rows: int, data_set: int) -> DataSet:
    return draw(_network(name), rows, data_set)


def measures(data: DataSet, learned: f2sl.DAG) -> dict[str, float]:
    """Compare a learned DAG with the truth, and score it."""
    found = f2sl.compare(data.truth, learned)
    return {
        "edges": found.true_edges,
        "shd": found.shd,
        "shd_cpdag": found.shd_cpdag,
        "f1": round(found.f1, 5),
        "skeleton_f1": round(found.skeleton_f1, 5),
        "bdeu": round(bdeu(data.frame, learned), 2),
    }


def bdeu(frame: Any, graph: f2sl.DAG) -> float:
    """Score a DAG by BDeu alone, without a prior for edges: the same for all learners."""
    table = open_table(frame).in_name_order()
    number = {name: place for place, name in enumerate(table.names)}
    families = [
        (number[name], tuple(sorted(number[parent] for parent in graph.parents(name))))
        for name in table.names
    ]
    with MemoryEngine(table) as engine:
        return float(make_score(engine, "bdeu", EQUIVALENT_SAMPLE_SIZE).score(families).sum())
