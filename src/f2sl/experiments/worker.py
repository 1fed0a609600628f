"""One unit: a learner on one data set, timed and measured, in a process with limits of its own."""

from __future__ import annotations

import os
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from f2sl.errors import F2SLError, F2SLWarning
from f2sl.experiments.messages import Begun, Ended
from f2sl.experiments.settings import LEARNERS, PC, options_of
from f2sl.experiments.sources import SampledSource
from f2sl.experiments.store import DONE, FAILED, OVER_MEMORY, Unit
from f2sl.graph import DAG, compare, compare_pc
from f2sl.local.base import LOCAL
from f2sl.local.found import FoundSets
from f2sl.storage.engine import open_engine
from f2sl.structure.base import STRUCTURE
from f2sl.table import Table

NO_MEMORY = ("can't allocate memory", "not enough memory", "can't start new thread")
"""What errors other than MemoryError say when a process is at its limit: PyTorch's, and a new thread's."""


WARM_UP = "mildew", 200
"""The network, and the rows drawn from it, that learners warm up with. Its variables have from 3 to 100
states, and so all ways of counting are met."""
SHORT = 0.1
"""Seconds below which a unit is done once more, and the quicker time counts: a process that has just been
forked spends milliseconds on memory that it touches for the first time."""


class Measured(NamedTuple):
    """What a learner took, how near it came to the truth, and what it has to say."""

    seconds: float
    measures: dict[str, float]
    message: str = ""


def run_unit(
    unit: Unit, table: Table, truth: DAG, threads: int, memory_limit: int, parent: Connection
) -> None:
    """Run a unit in this process, which is its own, and tell its parent when it begins and how it ended."""
    _silence()
    resource.setrlimit(resource.RLIMIT_DATA, (memory_limit, resource.RLIM_INFINITY))
    try:
        found = measure(unit, table, truth, threads, lambda: parent.send(Begun()))
        said = Ended(unit, DONE, found.message, found.seconds, _peak_bytes(), found.measures)
    except Exception as error:
        resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        said = Ended(unit, OVER_MEMORY if _for_memory(error) else FAILED, _told(error))
    parent.send(said)


def measure(
    unit: Unit, table: Table, truth: DAG, threads: int, begin: Callable[[], None] = lambda: None
) -> Measured:
    """Learn from a table, and compare with the truth.

    `begin` is called when all is ready. The seconds are those of learning from then on: of counting and
    searching, not of reading.
    """
    warnings.simplefilter("ignore", F2SLWarning)
    kind = LEARNERS[unit.learner].kind
    registry = LOCAL if kind == PC else STRUCTURE
    learner = registry.create(unit.learner, options_of(unit.learner, unit.setting))
    learner.check_options()
    ordered = table.in_name_order()
    work = _of_sets if kind == PC else _of_structure
    begin()
    found = work(learner, ordered, truth, threads)
    if found.seconds < SHORT:
        again = work(learner, ordered, truth, threads)
        found = found._replace(seconds=min(found.seconds, again.seconds))
    return found


def warm_up(learners: Iterable[tuple[str, str]]) -> None:
    """Have learners, each with a setting, learn a small table, so that all their inner loops are compiled.

    Those without such loops are left out: they are slow, and may start threads, which do not survive a fork.
    """
    network, rows = WARM_UP
    source = SampledSource(network)
    table = source.table(rows, 1)
    for learner, setting in dict.fromkeys(learners):
        if LEARNERS[learner].compiled:
            measure(Unit(network, rows, 1, learner, setting), table, source.truth, threads=1)


def _of_structure(learner: Any, table: Table, truth: DAG, threads: int) -> Measured:
    if "n_jobs" in learner.option_defaults():
        learner.set_params(n_jobs=threads)
    model = learner.fit(table)
    said = "" if model.complete_ else "; ".join(model.notes_)
    seconds = model.timings_["total"] - model.timings_["read"]
    return Measured(seconds, compare(truth, model.graph_.to_dag()).as_dict(), said)


def _of_sets(learner: Any, table: Table, truth: DAG, threads: int) -> Measured:
    started = time.perf_counter()
    with open_engine(table, threads) as engine:
        sets = learner.settled(table.one_kind()).learn_all(engine)
    seconds = time.perf_counter() - started
    found = FoundSets.of(sets, table.names, table.names)
    return Measured(seconds, compare_pc(truth, found).as_dict())


def _silence() -> None:
    """Leave the terminal to the process that draws on it."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _peak_bytes() -> int:
    """Tell the most memory that this process had, with what it shares with the one it was forked from."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _for_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or any(said in str(error) for said in NO_MEMORY)


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, F2SLError) else f"{type(error).__name__}: {error}"
