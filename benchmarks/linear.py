"""Measure how near learners come to linear networks from numbers, beside FLOP.

    python benchmarks/linear.py                              # goes on where it was; hours in all
    python benchmarks/linear.py --networks random-100-200-weak --rows 300,1000 --sets 1,2,3
    python benchmarks/linear.py --report   # the table of docs/evidence/gaussian.md, on the terminal

``random-100-200-weak`` has 100 variables and 200 edges drawn from all pairs, ``scale-free-...`` children that
prefer parents with many edges; coefficients are 0.3 to 1 (weak) or 0.5 to 2 (strong) of either sign, noise
of variance 1. Columns are standardised, shuffled and renamed: neither variances nor names tell the order.
FLOP is that of flopsearch with its recommended penalty and 20 restarts (left out where it is not installed).
Each result is stored at once: the SHD of CPDAGs, skeleton F1, seconds by the clock and of processors.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import f2sl
from f2sl.experiments.harness.job import Limits, Measured, Task, Work
from f2sl.experiments.harness.lines import Lines, claimed_results
from f2sl.experiments.harness.machine import describe, total_memory
from f2sl.experiments.harness.schedule import Place
from f2sl.experiments.settings import seed_of

RESULTS = Path(__file__).parent / "results" / "linear.jsonl"
NETWORKS = [
    f"random-{n}-{n * degree // 2}-{weights}"
    for n in (20, 50, 100, 200, 500)
    for degree in (2, 4, 8)
    for weights in ("weak", "strong")
] + [f"scale-free-{n}-{2 * n}-{weights}" for n in (20, 100, 500) for weights in ("weak", "strong")]
ROWS, SETS = (200, 1000, 5000), (1, 2, 3, 4, 5)
WEIGHTS = {"weak": (0.3, 1.0), "strong": (0.5, 2.0)}
FLOP, FLOP_PENALTY, FLOP_RESTARTS = "FLOP", 2.0, 20


class Key(NamedTuple):
    """One run: a learner on one data set."""

    learner: str
    network: str
    rows: int
    data_set: int


def flop(frame: Any) -> f2sl.PDAG:
    """Run flopsearch."""
    import flopsearch

    marks = np.asarray(flopsearch.flop(frame.to_numpy(), FLOP_PENALTY, restarts=FLOP_RESTARTS))
    lines = np.argwhere(np.triu(marks == 2))
    return f2sl.PDAG.from_arrays(tuple(frame), np.argwhere(marks == 1), lines)


def own(algorithm: str, frame: Any) -> f2sl.PDAG:
    model = f2sl.learn(frame, algorithm)
    return getattr(model, "cpdag_", model.graph_)


OWN = {"F2SL-h": "f2sl-h", "BOSS": "boss", "F2SL-c": "f2sl-c", "MMHC": "mmhc", "GSBN": "gsbn"}
LEARNERS: dict[str, Callable[[Any], f2sl.PDAG]] = {
    **{name: partial(own, algorithm) for name, algorithm in OWN.items()},
    FLOP: flop,
}


def draw_edges(kind: str, n: int, m: int, random: np.random.Generator) -> np.ndarray:
    """Draw edges from earlier to later variables."""
    if kind == "random":
        earlier, later = np.triu_indices(n, 1)
        chosen = random.choice(len(earlier), m, replace=False)
        return np.column_stack([earlier[chosen], later[chosen]])
    degrees, edges = np.ones(n), []
    for v in range(1, n):
        parents = random.choice(v, min(m // n, v), replace=False, p=degrees[:v] / degrees[:v].sum())
        degrees[parents] += 1.0
        degrees[v] += len(parents)
        edges += [(u, v) for u in parents.tolist()]
    return np.array(edges)


@lru_cache(maxsize=2)
def data(network: str, rows: int, data_set: int) -> tuple[Any, f2sl.DAG]:
    """Draw a network and a data set of it."""
    kind, n, m, weights = network.rsplit("-", 3)
    size = int(n)
    random = np.random.default_rng([seed_of(rows, data_set), size, int(m)])
    edges = draw_edges(kind, size, int(m), random)
    coefficients = np.zeros((size, size))
    values = random.uniform(*WEIGHTS[weights], len(edges)) * random.choice([-1.0, 1.0], len(edges))
    coefficients[tuple(edges.T)] = values
    sample = random.standard_normal((rows, size))
    for v in range(size):
        sample[:, v] += sample[:, :v] @ coefficients[:v, v]
    sample = (sample - sample.mean(axis=0)) / sample.std(axis=0)
    names = [f"V{number:05d}" for number in random.permutation(size).tolist()]
    frame = pd.DataFrame(sample, columns=names)[random.permutation(names).tolist()]
    return frame, f2sl.DAG.from_arrays(tuple(names), edges)


@dataclass
class Runs(Work[Key]):
    """Runs learners on data sets drawn in the server."""

    def prepare(self) -> Generator[str, None, None]:
        """Compile the inner loops."""
        warnings.simplefilter("ignore")
        yield "compiling inner loops"
        for learner in OWN:
            LEARNERS[learner](data("random-20-40-weak", 200, 0)[0])

    def task(self, key: Key) -> Task:
        """Return the task of a run."""
        return partial(measure, key.learner, *data(key.network, key.rows, key.data_set))


def measure(learner: str, frame: Any, truth: f2sl.DAG, begin: Callable[[], None]) -> Measured:
    """Learn from a data set and compare with the truth."""
    begin()
    started, of_processors = time.perf_counter(), time.process_time()
    found = LEARNERS[learner](frame)
    seconds, of_processors = time.perf_counter() - started, time.process_time() - of_processors
    compared = f2sl.compare(truth.to_cpdag(), found.reorder(truth.nodes))
    figures = {"shd_cpdag": compared.shd_cpdag, "skeleton_f1": round(compared.skeleton_f1, 5)}
    return Measured(seconds, {**figures, "processor_seconds": round(of_processors, 3)})


class Results(Lines[Key]):
    """Results by learner, network, rows and data set."""

    def head(self, key: Key) -> dict[str, Any]:
        """Return where a learner runs."""
        return {"learner": key.learner, **describe()}


def report(results: dict[Key, dict[str, Any]]) -> str:
    """Make the table: a row for each network and number of rows that all learners have."""
    cells: dict[tuple[str, int], dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for key, found in results.items():
        if "shd_cpdag" in found:
            cells[key.network, key.rows][key.learner].append(
                (found["shd_cpdag"], found["skeleton_f1"], found["processor_seconds"])
            )
    names = [name for name in LEARNERS if any(name in row for row in cells.values())]
    lines = [
        f"| network | rows | sets | {' | '.join(names)} |",
        f"| --- | ---: | ---: |{' ---: |' * len(names)}",
    ]
    means = []
    for (network, rows), row in sorted(cells.items()):
        if all(name in row for name in names):
            mean = [np.mean(row[name], axis=0) for name in names]
            means.append(mean)
            shown = " | ".join(f"{shd:.1f} ({f1:.2f}, {seconds:.1f} s)" for shd, f1, seconds in mean)
            lines.append(f"| {network} | {rows:,} | {len(row[names[0]])} | {shown} |")
    if not means:
        return "no cell has results of all learners"
    shown = " | ".join(
        f"{shd:.1f} ({f1:.2f}, {seconds:.1f} s)" for shd, f1, seconds in np.mean(means, axis=0)
    )
    lines.append(f"| mean | | | {shown} |")
    if FLOP in names:
        ours, theirs = (np.array(means)[:, names.index(name), 0] for name in ("F2SL-h", FLOP))
        near = int((ours <= 1.1 * theirs).sum())
        lines.append(f"\nF2SL-h is at most 10 % above FLOP in {near} of {len(means)} cells.")
    return "\n".join(lines)


def plan(chosen: argparse.Namespace) -> Iterator[Key]:
    """List all runs, small ones first; learners of one data set after each other."""
    learners = [name for name in chosen.learners.split(",") if name != FLOP or find_spec("flopsearch")]
    for network in chosen.networks.split(","):
        for rows in sorted(map(int, chosen.rows.split(","))):
            for data_set in map(int, chosen.sets.split(",")):
                for learner in learners:
                    yield Key(learner, network, rows, data_set)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS), help="only these, by commas")
    parser.add_argument("--learners", default=",".join(LEARNERS), help="only these, by commas")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--sets", default=",".join(map(str, SETS)))
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each run")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of results")
    parser.add_argument("--report", action="store_true", help="print the table from what is there")
    chosen = parser.parse_args()
    store = Results(chosen.results, Key, Limits(chosen.limit, total_memory()))
    if not chosen.report:
        with claimed_results(chosen.results):
            store.complete(Runs(), plan(chosen), lambda key: Place((key.learner, key.network), (key.rows,)))
    print(report(store.results))
    return 0


if __name__ == "__main__":
    import linear  # this file by its name, under which the server of the jobs can import it

    sys.exit(linear.main())
