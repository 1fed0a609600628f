"""The runs as work for the harness: a learner on one data set, timed beside a yardstick and measured.

Seconds are those of ``fit``, from a frame of categories to the graph, after inner loops were compiled. The
yardstick learns from the same data right before, so that the ratio of the two does not depend on what else
the machine does at the time. Short runs are repeated, and the shortest of each counts.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any

import f2sl
from comparing.data import DataSet, draw, network_of
from comparing.learners import CAUSAL_LEARN, EQUIVALENT_SAMPLE_SIZE, YARDSTICK, Configuration
from comparing.store import Key
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.open import open_table
from f2sl.stats.choose import make_score
from f2sl_paper.harness.job import Measured, Task, Work

REPEATS, SHORT = 3, 1.0
"""How often a run is made that takes less than so many seconds."""


@dataclass
class Runs(Work[Key]):
    """Runs learners, by the names of their configurations, on data sets drawn in the server."""

    configurations: tuple[Configuration, ...]

    def prepare(self) -> Generator[str, None, None]:
        """Compile the inner loops of all learners of f2sl."""
        warnings.simplefilter("ignore")
        yield "compiling inner loops"
        ours = [one for one in self.configurations if one.algorithm != CAUSAL_LEARN]
        for configuration in (YARDSTICK, *ours):
            configuration.make().fit(_data("child", 500, 0).frame)

    def task(self, key: Key) -> Task:
        """Return the task of a run."""
        configuration = next(one for one in self.configurations if one.name == key.learner)
        return partial(measure, configuration, _data(key.network, key.rows, key.data_set))


@lru_cache(maxsize=2)
def _network(name: str) -> f2sl.BayesianNetwork:
    return network_of(name)


@lru_cache(maxsize=2)
def _data(name: str, rows: int, data_set: int) -> DataSet:
    return draw(_network(name), rows, data_set)


def measure(configuration: Configuration, data: DataSet, begin: Callable[[], None]) -> Measured:
    """Learn from a data set, time it beside the yardstick, and compare with the truth."""
    beside = seconds = float("inf")
    begin()
    for _ in range(REPEATS):
        _, spent = _timed(YARDSTICK, data)
        beside = min(beside, spent)
        learner, spent = _timed(configuration, data)
        seconds = min(seconds, spent)
        if spent > SHORT:
            break
    times = {"seconds": round(seconds, 5), "beside": round(beside, 5)}
    return Measured(seconds, measures(data, learner.graph_.to_dag()) | above_truth(data, learner) | times)


def _timed(configuration: Configuration, data: DataSet) -> tuple[Any, float]:
    learner = configuration.make()
    started = time.perf_counter()
    learner.fit(data.frame)
    return learner, time.perf_counter() - started


def measures(data: DataSet, learned: f2sl.DAG) -> dict[str, float]:
    """Compare a learned DAG with the truth, and score it; count wrong effects if gadjid is installed."""
    counts_effects = find_spec("gadjid") is not None
    found = f2sl.compare(data.truth, learned, distances=counts_effects, convention="paper")
    effects = {}
    if counts_effects:
        classes = f2sl.compare(data.truth.to_cpdag(), learned.to_cpdag(), distances=True)
        effects = {"sid": found.distances.sid, "ancestor_aid": classes.distances.ancestor_aid}
    return {
        **effects,
        "edges": found.true_edges,
        "shd": found.shd,
        "shd_cpdag": f2sl.compare(data.truth, learned).shd,
        "f1": round(found.arrowhead_f1, 5),
        "skeleton_f1": round(found.adjacency_f1, 5),
        "bdeu": round(scored(data.frame, learned), 2),
    }


def above_truth(data: DataSet, learner: Any) -> dict[str, float]:
    """Return by how much F2SL-h's own score exceeds that of the true graph; nothing of other learners."""
    if not isinstance(learner, f2sl.F2SLh):
        return {}
    score, weight = learner.options_in_use_["score"], learner.equivalent_sample_size_
    truth = scored(data.frame, data.truth, score, weight)
    return {"above_truth": round(learner.score_ - truth + learner.edge_cost_ * data.truth.n_edges, 2)}


def scored(frame: Any, graph: f2sl.DAG, score: str = "bdeu", weight: float = EQUIVALENT_SAMPLE_SIZE) -> float:
    """Score a DAG, without a prior for edges; by default as all learners are compared."""
    table = open_table(frame).in_name_order()
    number = {name: place for place, name in enumerate(table.names)}
    families = [
        (number[name], tuple(sorted(number[parent] for parent in graph.parents(name))))
        for name in table.names
    ]
    with MemoryEngine(table) as engine:
        return float(make_score(engine, score, weight).score(families).sum())
