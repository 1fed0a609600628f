"""The paper's units as work for the harness: a learner on one data set, timed and compared with the truth."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from f2sl.data.engines import open_engine
from f2sl.data.table import Table
from f2sl.errors import F2SLWarning
from f2sl.graph import DAG, compare, compare_pc
from f2sl.learners.base import STRUCTURE
from f2sl.learners.local.base import LOCAL
from f2sl.learners.local.found import FoundSets
from f2sl_paper.harness.job import Measured, Task, Work
from f2sl_paper.settings import LEARNERS, PC, options_of
from f2sl_paper.sources import SampledSource, Source, open_source
from f2sl_paper.store import NetworkFacts, Unit

WARM_UP = "mildew", 200
"""The network, and the number of rows drawn from it, that learners warm up with. Its variables have from 3 to
100 states, so that all ways of counting are compiled."""
SHORT = 0.1
"""Seconds below which a unit is run twice, and the shorter time counts: a process that has just been forked
spends milliseconds on memory that it touches for the first time."""


@dataclass
class Learning(Work[Unit]):
    """Task that learns from the paper's data in `folder`, or from sampled data, with a number of threads."""

    units: tuple[Unit, ...]
    folder: Path | None
    threads: int
    _sources: dict[str, Source] = field(default_factory=dict)
    _tables: dict[tuple[str, int, int], Table] = field(default_factory=dict)

    def prepare(self) -> Generator[str, None, tuple[NetworkFacts, ...]]:
        """Open all data, and compile all inner loops; return the facts of the networks."""
        wanted = list(dict.fromkeys((unit.network, unit.rows, unit.data_set) for unit in self.units))
        for network in dict.fromkeys(network for network, _, _ in wanted):
            yield f"opening the data of {network}"
            source = self._sources[network] = open_source(network, self.folder)
            for name, rows, data_set in wanted:
                if name == network:
                    self._tables[name, rows, data_set] = source.table(rows, data_set)
        yield "compiling inner loops"
        warm_up((unit.learner, unit.setting) for unit in self.units)
        return tuple(source.facts() for source in self._sources.values())

    def task(self, key: Unit) -> Task:
        """Return the task of a unit."""
        table = self._tables[key.network, key.rows, key.data_set]
        return partial(measure, key, table, self._sources[key.network].truth, self.threads)


def measure(
    unit: Unit, table: Table, truth: DAG, threads: int, begin: Callable[[], None] = lambda: None
) -> Measured:
    """Learn from a table, and compare with the truth.

    `begin` is called when all is ready. The seconds are those of learning from then on: of counting and
    searching, not of reading.
    """
    warnings.simplefilter("ignore", F2SLWarning)
    role = LEARNERS[unit.learner].role
    registry = LOCAL if role == PC else STRUCTURE
    learner = registry.create(unit.learner, options_of(unit.learner, unit.setting))
    learner.check_options()
    ordered = table.in_name_order()
    work = _of_sets if role == PC else _of_structure
    begin()
    found = work(learner, ordered, truth, threads)
    if found.seconds < SHORT:
        again = work(learner, ordered, truth, threads)
        found = found._replace(seconds=min(found.seconds, again.seconds))
    return found


def warm_up(learners: Iterable[tuple[str, str]]) -> None:
    """Compile all inner loops of learners, each with a setting, by learning from a small table.

    Learners without such loops are left out: they are slow, and may start threads, which do not survive a
    fork.
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
    if "stability" in learner.option_defaults():
        learner.set_params(stability=0)  # what is measured is the learning of the graph
    model = learner.fit(table)
    said = "" if model.complete_ else "; ".join(model.notes_)
    seconds = model.timings_["total"] - model.timings_["read"]
    found = compare(truth, model.dag_, convention="paper").as_dict()
    return Measured(seconds, {name.removeprefix("arrowhead_"): value for name, value in found.items()}, said)


def _of_sets(learner: Any, table: Table, truth: DAG, threads: int) -> Measured:
    started = time.perf_counter()
    with open_engine(table, threads) as engine:
        sets = learner.resolve_auto(table.kind).learn_all(engine)
    seconds = time.perf_counter() - started
    found = FoundSets.of(sets, table.names, table.names)
    return Measured(seconds, compare_pc(truth, found).as_dict())
