"""Measure how near learners come to linear networks from numbers, beside FLOP and causal-learn's searches.

    python benchmarks/linear.py                              # goes on where it was; hours in all
    python benchmarks/linear.py --networks random-100-200-weak --rows 300,1000 --sets 1,2,3
    python benchmarks/linear.py --learners "causal-learn BOSS,causal-learn GES" --limit 120 --sets 1
    python benchmarks/linear.py --report   # the tables of docs/evidence/gaussian.md, on the terminal

``random-100-200-weak`` has 100 variables and 200 edges drawn from all pairs, ``scale-free-...`` children that
prefer parents with many edges; coefficients are 0.3 to 1 (weak) or 0.5 to 2 (strong) of either sign, noise
of variance 1. Columns are standardised, shuffled and renamed: neither variances nor names tell the order.
FLOP is that of flopsearch with its recommended penalty and 20 restarts; the learners of causal-learn have
their defaults, which are a BIC with the same penalty. What is not installed is left out. A learner that was
stopped is not run on larger tables of the same kind of network.
Each result is stored at once: the SHD of CPDAGs, skeleton F1, seconds by the clock and of processors, and
with gadjid the ancestor AID: the share of pairs whose effect the learned graph would adjust for wrongly; and
by how much the score of the graph, as F2SL-h computes it, exceeds that of the true one.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import f2sl
from comparing.causal_learn import MODULES as MODULE_OF
from comparing.causal_learn import run_search
from f2sl.data.engines import open_engine
from f2sl.stats.scores.gaussian import GaussianBIC
from f2sl_paper.harness.job import Limits, Measured, Task, Work
from f2sl_paper.harness.lines import Lines, claimed_results
from f2sl_paper.harness.machine import describe, total_memory
from f2sl_paper.harness.schedule import Place
from f2sl_paper.settings import seed_of

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
WARM_UP = ("random-20-40-weak", 200, 0)
"""Data set that learners are given before they are measured."""
SHD, SECONDS, ABOVE = "shd_cpdag", "processor_seconds", "score_above_truth"
SAME_SCORE = 0.01
"""Scores that differ by less count as equal."""
MAIN = ["F2SL-h", FLOP]
"""Learners that are compared in each cell."""


class Key(NamedTuple):
    """One run: a learner on one data set."""

    learner: str
    network: str
    rows: int
    data_set: int


def parts(network: str) -> tuple[str, int, int, str]:
    """Return the kind, variables, edges and weights that a network's name says."""
    kind, n, m, weights = network.rsplit("-", 3)
    return kind, int(n), int(m), weights


def flop(frame: Any) -> f2sl.PDAG:
    """Run flopsearch."""
    import flopsearch

    marks = np.asarray(flopsearch.flop(frame.to_numpy(), FLOP_PENALTY, restarts=FLOP_RESTARTS))
    lines = np.argwhere(np.triu(marks == 2))
    return f2sl.PDAG.from_arrays(tuple(frame), np.argwhere(marks == 1), lines)


def causal_learn(search: str, frame: Any) -> f2sl.PDAG:
    """Run a search of causal-learn."""
    return run_search(search, frame.to_numpy(), tuple(frame))


def own(algorithm: str, frame: Any, **options: Any) -> f2sl.PDAG:
    return f2sl.learn(frame, algorithm, **options).graph_


OWN = {"F2SL-h": "f2sl-h", "F2SL-c": "f2sl-c", "MMHC": "mmhc", "GSBN": "gsbn"}
VARIANTS: dict[str, dict[str, Any]] = {
    "F2SL-h fast": {"effort": "fast"},
    "F2SL-h thorough": {"effort": "thorough"},
    "F2SL-h edges free": {"edge_cost": 0.0},
    "F2SL-h edge cost log 11": {"edge_cost": math.log(11.0)},
    "F2SL-h BGe": {"score": "bge"},
}
"""F2SL-h with other options than its defaults."""
SEARCHES = {"causal-learn BOSS": "boss", "causal-learn GRaSP": "grasp", "causal-learn GES": "ges"}
MODULES = {FLOP: "flopsearch", **{name: MODULE_OF[search] for name, search in SEARCHES.items()}}
"""Module of each learner of another library."""
SLOW = list(SEARCHES)
LEARNERS: dict[str, Callable[[Any], f2sl.PDAG]] = {
    **{name: partial(own, algorithm) for name, algorithm in OWN.items()},
    FLOP: flop,
    **{name: partial(causal_learn, search) for name, search in SEARCHES.items()},
    **{name: partial(own, "f2sl-h", **options) for name, options in VARIANTS.items()},
}


def draw_edges(kind: str, n: int, m: int, draws: np.random.Generator) -> np.ndarray:
    """Draw edges from earlier to later variables."""
    if kind == "random":
        earlier, later = np.triu_indices(n, 1)
        chosen = draws.choice(len(earlier), m, replace=False)
        return np.column_stack([earlier[chosen], later[chosen]])
    degrees, edges = np.ones(n), []
    for v in range(1, n):
        parents = draws.choice(v, min(m // n, v), replace=False, p=degrees[:v] / degrees[:v].sum())
        degrees[parents] += 1.0
        degrees[v] += len(parents)
        edges += [(u, v) for u in parents.tolist()]
    return np.array(edges)


@lru_cache(maxsize=2)
def data(network: str, rows: int, data_set: int) -> tuple[Any, f2sl.DAG]:
    """Draw a network and a data set of it."""
    kind, size, m, weights = parts(network)
    draws = np.random.default_rng([seed_of(rows, data_set), size, m])
    edges = draw_edges(kind, size, m, draws)
    coefficients = np.zeros((size, size))
    values = draws.uniform(*WEIGHTS[weights], len(edges)) * draws.choice([-1.0, 1.0], len(edges))
    coefficients[tuple(edges.T)] = values
    sample = draws.standard_normal((rows, size))
    for v in range(size):
        sample[:, v] += sample[:, :v] @ coefficients[:v, v]
    sample = (sample - sample.mean(axis=0)) / sample.std(axis=0)
    names = [f"V{number:05d}" for number in draws.permutation(size).tolist()]
    frame = pd.DataFrame(sample, columns=names)[draws.permutation(names).tolist()]
    return frame, f2sl.DAG.from_arrays(tuple(names), edges)


@dataclass
class Runs(Work[Key]):
    """Runs learners on data sets drawn in the server."""

    def prepare(self) -> Generator[str, None, None]:
        """Compile the inner loops."""
        warnings.simplefilter("ignore")
        yield "compiling inner loops"
        for learner in OWN:
            LEARNERS[learner](data(*WARM_UP)[0])

    def task(self, key: Key) -> Task:
        """Return the task of a run."""
        return partial(measure, key.learner, *data(key.network, key.rows, key.data_set))


def measure(learner: str, frame: Any, truth: f2sl.DAG, begin: Callable[[], None]) -> Measured:
    """Learn from a data set and compare with the truth."""
    if learner in SLOW:
        import_module(MODULES[learner])
    else:  # A process that was forked copies each page on its first use, which takes up to 25 ms.
        LEARNERS[learner](data(*WARM_UP)[0])
    begin()
    started, of_processors = time.perf_counter(), time.process_time()
    found = LEARNERS[learner](frame)
    seconds, of_processors = time.perf_counter() - started, time.process_time() - of_processors
    compared = f2sl.compare(
        truth.to_cpdag(), found.reorder(truth.nodes), distances=find_spec("gadjid") is not None
    )
    figures = {SHD: compared.shd, "skeleton_f1": round(compared.adjacency_f1, 5)}
    if compared.distances is not None:
        pairs = truth.n_nodes * (truth.n_nodes - 1)
        figures["ancestor_aid"] = round(compared.distances.ancestor_aid / pairs, 5)
    figures[ABOVE] = round(score(frame, found.to_dag()) - score(frame, truth), 3)
    return Measured(seconds, {**figures, "processor_seconds": round(of_processors, 3)})


def score(frame: Any, graph: f2sl.DAG) -> float:
    """Return the score that F2SL-h maximises: BIC less log(variables) for each edge."""
    table = f2sl.open_table(frame).in_name_order()
    place = {name: v for v, name in enumerate(table.names)}
    families = [
        (v, tuple(sorted(place[parent] for parent in graph.parents(name)))) for name, v in place.items()
    ]
    with open_engine(table, 1) as engine:
        return math.fsum(GaussianBIC().bind(engine).score(families)) - graph.n_edges * math.log(len(place))


class Results(Lines[Key]):
    """Results by learner, network, rows and data set."""

    def head(self, key: Key) -> dict[str, Any]:
        """Return where a learner runs."""
        return {"learner": key.learner, **describe()}


Cell = dict[str, dict[int, dict[str, Any]]]
"""Results of one network and number of rows, by learner and data set."""


def place(key: Key) -> Place:
    """Return the group of a run, by kind, density and weights, and its size."""
    kind, n, m, weights = parts(key.network)
    return Place((key.learner, kind, m / n, weights), (n, key.rows))


def mean_of(cell: Cell, learner: str, sets: Iterable[int], figures: Sequence[str]) -> np.ndarray | None:
    """Return a learner's mean figures over data sets, or None if it lacks one."""
    found = [cell.get(learner, {}).get(number, {}) for number in sets]
    if not all(name in one for one in found for name in figures):
        return None
    return np.mean([[one[name] for name in figures] for one in found], axis=0)


def shared(cell: Cell, learners: Iterable[str], finished: bool = True) -> list[int]:
    """List the data sets that all these learners have finished, or have been given."""
    given = [{s for s, one in cell.get(name, {}).items() if SHD in one or not finished} for name in learners]
    return sorted(set.intersection(*given))


def line(*entries: Any) -> str:
    return f"| {' | '.join(map(str, entries))} |"


def header(*names: str, text: int = 1) -> list[str]:
    """Return the head of a table whose first columns are text."""
    return [line(*names), line(*["---"] * text, *["---:"] * (len(names) - text))]


def by_cells(cells: dict[tuple[str, int], Cell]) -> list[str]:
    """Make the table with a row for each network and number of rows that F2SL-h and FLOP have."""
    names, figures = [*OWN, FLOP], (SHD, "skeleton_f1", SECONDS)
    lines = header("network", "rows", "sets", *names)
    for (network, rows), cell in cells.items():
        if sets := shared(cell, MAIN):
            means = [mean_of(cell, name, sets, figures) for name in names]
            told = ["" if it is None else f"{it[0]:.1f} ({it[1]:.2f}, {it[2]:.1f} s)" for it in means]
            lines.append(line(network, f"{rows:,}", len(sets), *told))
    return lines


def by_size(cells: dict[tuple[str, int], Cell]) -> list[str]:
    """Make the table of means by kind, variables and density, over the same cells."""
    groups = defaultdict(list)
    for (network, _), cell in cells.items():
        if sets := shared(cell, MAIN):
            kind, n, m, _ = parts(network)
            means = np.array([mean_of(cell, name, sets, (SHD, SECONDS)) for name in MAIN])
            groups[kind, n, m].append((len(sets), means))
    lines = header("networks", "cells", "data sets", *MAIN, "near FLOP", "slower than FLOP")
    groups["all", 0, 0] = [one for group in groups.values() for one in group]
    for (kind, n, m), group in groups.items():
        means = np.array([means for _, means in group])
        told = [f"{shd:.1f} ({seconds:.2f} s)" for shd, seconds in means.mean(axis=0)]
        ours, theirs = means[:, 0], means[:, -1]
        near, slower = (ours[:, 0] <= 1.1 * theirs[:, 0]).sum(), (ours[:, 1] > theirs[:, 1]).sum()
        name = f"{kind}, {n} variables, {m} edges" if n else "mean of all cells"
        lines.append(line(name, len(group), sum(sets for sets, _ in group), *told, near, slower))
    return lines


def beside_causal_learn(cells: dict[tuple[str, int], Cell]) -> list[str]:
    """Make the table of the data sets that causal-learn's learners were given."""
    names, figures = ["F2SL-h", FLOP, *SLOW], (SHD, "ancestor_aid", SECONDS)
    lines = header("network", "rows", "sets", *names)
    for (network, rows), cell in cells.items():
        sets = [one for one in shared(cell, SLOW, finished=False) if one in shared(cell, names[:2])]
        if sets:
            means = [mean_of(cell, name, sets, figures) for name in names]
            told = ["stopped" if it is None else f"{it[0]:.1f} ({it[1]:.3f}, {it[2]:.1f} s)" for it in means]
            lines.append(line(network, f"{rows:,}", len(sets), *told))
    return lines


def by_variants(cells: dict[tuple[str, int], Cell]) -> list[str]:
    """Make the table of F2SL-h's variants, on the data sets that all of them have."""
    names = ["F2SL-h", *VARIANTS]
    lines = header("network", "rows", "sets", *names)
    for (network, rows), cell in cells.items():
        if sets := shared(cell, names):
            means = np.array([mean_of(cell, name, sets, (SHD, SECONDS)) for name in names])
            told = [f"{shd:.1f} ({seconds:.2f} s)" for shd, seconds in means]
            lines.append(line(network, f"{rows:,}", len(sets), *told))
    return lines


def by_scores(cells: dict[tuple[str, int], Cell]) -> list[str]:
    """Make the table of how often F2SL-h's score reaches that of FLOP's graph and of the truth."""
    groups = defaultdict(list)
    for (network, _), cell in cells.items():
        for one in shared(cell, MAIN):
            ours, theirs = (cell[name][one].get(ABOVE) for name in MAIN)
            if ours is not None and theirs is not None:
                groups[parts(network)[:3]].append((ours - theirs, ours, theirs))
    lines = header(
        "networks",
        "data sets",
        "above FLOP",
        "as FLOP",
        "below FLOP",
        "F2SL-h below truth",
        "FLOP below truth",
    )
    for (kind, n, m), group in groups.items():
        more, ours, theirs = np.array(group).T
        beside = [more > SAME_SCORE, abs(more) <= SAME_SCORE, more < -SAME_SCORE]
        below = [ours < -SAME_SCORE, theirs < -SAME_SCORE]
        name = f"{kind}, {n} variables, {m} edges"
        lines.append(line(name, len(group), *(int(one.sum()) for one in (*beside, *below))))
    return lines


def report(results: dict[Key, dict[str, Any]]) -> str:
    """Make all tables."""
    found: dict[tuple[str, int], Cell] = defaultdict(lambda: defaultdict(dict))
    for key, figures in results.items():
        found[key.network, key.rows][key.learner][key.data_set] = figures
    cells = dict(sorted(found.items(), key=lambda it: (parts(it[0][0]), it[0][1])))
    tables = [make(cells) for make in (by_size, by_scores, by_cells, beside_causal_learn, by_variants)]
    return "\n\n".join("\n".join(table) for table in tables)


def plan(chosen: argparse.Namespace) -> Iterator[Key]:
    """List all runs, small ones first; learners of one data set after each other."""
    chosen_learners = chosen.learners.split(",")
    learners = [
        name for name in chosen_learners if find_spec(MODULES.get(name, "f2sl").partition(".")[0]) is not None
    ]
    for network in chosen.networks.split(","):
        for rows in sorted(map(int, chosen.rows.split(","))):
            for data_set in map(int, chosen.sets.split(",")):
                for learner in learners:
                    yield Key(learner, network, rows, data_set)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS), help="only these, by commas")
    parser.add_argument(
        "--learners", default=",".join([*OWN, FLOP]), help=f"by commas, of {', '.join(LEARNERS)}"
    )
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--sets", default=",".join(map(str, SETS)))
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each run")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of results")
    parser.add_argument("--report", action="store_true", help="print the table from what is there")
    chosen = parser.parse_args()
    store = Results(chosen.results, Key, Limits(chosen.limit, total_memory()))
    if not chosen.report:
        with claimed_results(chosen.results):
            store.complete(Runs(), plan(chosen), place)
    print(report(store.results))
    return 0


if __name__ == "__main__":
    import linear  # this file by its name, under which the server of the jobs can import it

    sys.exit(linear.main())
