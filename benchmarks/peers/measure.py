"""One learner on one table, in a process of its own that is stopped at a limit."""

from __future__ import annotations

import multiprocessing as mp
import os
import pickle
import resource
import signal
import time
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import f2sl
from graphs import Learn
from learners import OURS, load
from tables import Task

REPEATS, ENOUGH_SECONDS = 20, 3.0
"""A learner runs up to so many times, as long as all its runs took less than so long; the shortest counts."""
_STARTING_SECONDS = 300.0
"""For imports, reading the table and compiling."""


def measure(name: str, table: Path, limit: float, memory: float) -> dict[str, Any]:
    """Run a learner; tells its figures, or why there are none."""
    context = mp.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_work, args=(there, name, table, memory))
    process.start()
    there.close()
    try:
        if not here.poll(_STARTING_SECONDS):
            return {"failed": f"not ready to learn after {_STARTING_SECONDS:g} s"}
        begun = here.recv()
        if begun is None and not here.poll(limit):
            return {"stopped": limit}
        return dict(begun or here.recv())
    except EOFError:
        process.join()
        return {"failed": f"its process ended with {process.exitcode}"}
    finally:
        _end(process)


def _end(process: Any) -> None:
    """End a process with all that it started."""
    if process.is_alive():
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
    process.join()


def _work(answer: Connection, name: str, table: Path, memory: float) -> None:
    """In the new process: say None when the clock starts, and then the figures or what went wrong."""
    os.setsid()
    limit = int(memory * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("ignore")
    try:
        task: Task = pickle.loads(table.read_bytes())
        learner = load(name)
        before = _megabytes("VmRSS")
        if name.startswith(OURS):
            learner(f2sl.load_example("alarm"))()  # compiles what is not yet in the cache
        learn = learner(task.frame)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
        answer.send(None)
        graph, seconds = _timed(learn)
        peak = _megabytes("VmHWM")
        answer.send({**seconds, "peak_mb": peak, "above_mb": peak - before, **_accuracy(task, graph)})
    except Exception as error:
        answer.send({"failed": f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]})


def _timed(learn: Learn) -> tuple[f2sl.PDAG, dict[str, Any]]:
    """Run a learner some times; tells the least seconds, and the least of all cores together."""
    runs: list[float] = []
    of_cores: list[float] = []
    while not runs or (len(runs) < REPEATS and sum(runs) < ENOUGH_SECONDS):
        started, busy = time.perf_counter(), time.process_time()
        graph = learn()
        of_cores.append(time.process_time() - busy)
        runs.append(time.perf_counter() - started)
    return graph, {"seconds": min(runs), "cpu_seconds": min(of_cores), "runs": len(runs)}


def _accuracy(task: Task, graph: f2sl.PDAG) -> dict[str, Any]:
    """Compare the DAG that extends what was learned with the truth."""
    nodes = [*graph.nodes, *task.constant]
    learned = f2sl.PDAG(nodes, graph.directed_edges, graph.undirected_edges).to_dag()
    found = f2sl.compare(task.truth, learned)
    return {
        "shd": found.shd,
        "f1": found.f1,
        "skeleton_f1": found.skeleton_f1,
        "edges": found.learned_edges,
    }


def _megabytes(field: str) -> float:
    """Read a line of Linux's account of the process."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {field}")
