"""Measure how near learners come to the truth from tables of states and numbers together.

    python benchmarks/mixed.py                           # goes on where it was; hours in all
    python benchmarks/mixed.py --networks random-20-50,alarm --rows 500 --sets 1,2
    python benchmarks/mixed.py --report                  # print the table of docs/evidence/mixed.md

F2SL-h learns from the tables as they are, by default and by "cg-bic", and with all numbers cut into 5
intervals; PyBNesian climbs over conditional linear Gaussian networks (needs the extra "peers"; left out
without it).

=============  ==================================================================================
random-50-25   a random network of 50 variables, 25 % of them numbers: tables of any form, linear equations
shift-50       half of 50 variables numbers: linear equations, shifted by states; states by logits of states
logit-50       the same, but states may depend on numbers as well, by logits
alarm          the published network with a random half of its variables observed as numbers: the mean of the
               state plus noise of half the distance of two means
...-skewed     the same with each number the exponential, the cube or a distribution function of what it was
=============  ==================================================================================

Columns are shuffled and renamed. Each result is stored at once; figures are the SHD of CPDAGs.
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
from f2sl.network import observed_as_numbers
from f2sl_paper.harness.job import Limits, Measured, Task, Work
from f2sl_paper.harness.lines import Lines, claimed_results
from f2sl_paper.harness.machine import describe, total_memory
from f2sl_paper.harness.schedule import Place
from f2sl_paper.settings import seed_of

RESULTS = Path(__file__).parent / "results" / "mixed_kinds.jsonl"
RANDOM = [f"random-{n}-{share}" for n in (20, 50, 100) for share in (25, 50, 75)]
DRAWN = [f"{kind}-{n}" for kind in ("shift", "logit") for n in (10, 20, 50, 100)]
PUBLISHED = ["child", "insurance", "alarm", "hailfinder"]
NETWORKS = [*DRAWN, *RANDOM, *PUBLISHED]
NETWORKS += [f"{name}-skewed" for name in NETWORKS]
ROWS, SETS = (500, 1000, 5000, 50_000), (1, 2, 3, 4, 5)
EDGES, MAX_PARENTS = 1.2, 3
"""Edges for each variable of a random network, and the most parents."""


class Key(NamedTuple):
    """One run: a learner on one data set."""

    learner: str
    network: str
    rows: int
    data_set: int


def pybnesian(frame: Any) -> f2sl.DAG:
    """Climb over conditional linear Gaussian networks by BIC."""
    import pybnesian as pbn

    kinds = {name: "category" for name in frame if frame[name].dtype != float}
    found = pbn.hc(frame.astype(kinds), bn_type=pbn.CLGNetworkType(), score="bic", operators=["arcs"])
    return f2sl.DAG(list(frame), found.arcs())


def f2sl_h(frame: Any, **options: Any) -> f2sl.PDAG:
    return f2sl.learn(frame, "f2sl-h", stability=0, **options).dag_


OWN, BY_GROUPS, BINNED, PEER = "F2SL-h", "cg-bic", "5 bins", "PyBNesian"
LEARNERS: dict[str, Callable[[Any], f2sl.PDAG]] = {
    OWN: f2sl_h,
    BY_GROUPS: partial(f2sl_h, score="cg-bic"),
    BINNED: partial(f2sl_h, bins=5),
    PEER: pybnesian,
}


def drawn(kind: str, n: int, rows: int, data_set: int) -> tuple[Any, f2sl.DAG]:
    """Draw a network of which half the variables are numbers, and rows of it.

    A parent with states shifts a number, or the logits of a child's states, by normal effects of a standard
    deviation of 0.6 to 1.6; a number, in units of its standard deviation, by 0.5 to 1.5.
    """
    rng = np.random.default_rng([data_set, n, kind == "logit"])
    order, states = rng.permutation(n), rng.permutation(n) < n // 2
    parents: dict[int, list[int]] = {v: [] for v in order.tolist()}
    left = round(EDGES * n)
    while left:
        u, v = order[np.sort(rng.choice(n, 2, replace=False))].tolist()
        allowed = kind == "logit" or not states[v] or states[u]
        if allowed and u not in parents[v] and len(parents[v]) < MAX_PARENTS:
            parents[v].append(u)
            left -= 1
    sizes = np.where(states, rng.integers(2, 5, n), 1)
    effects = {}
    for v, own in parents.items():
        for u in own:
            if states[u]:
                drawn_effects = rng.normal(size=(sizes[u], sizes[v]))
                effects[u, v] = rng.uniform(0.6, 1.6) * drawn_effects / drawn_effects.std(axis=0)
            else:
                effects[u, v] = rng.uniform(0.5, 1.5, sizes[v]) * rng.choice([-1, 1], sizes[v])
    base = {v: rng.normal(0, 0.3, sizes[v]) for v in parents}
    sample = np.random.default_rng(seed_of(rows, data_set))
    columns: dict[int, Any] = {}
    for v, own in parents.items():
        value = np.tile(base[v], (rows, 1))
        for u in own:
            column = columns[u]
            if states[u]:
                value += effects[u, v][column]
            else:
                value += ((column - column.mean()) / column.std())[:, None] * effects[u, v]
        if states[v]:
            shares = np.exp(value - value.max(axis=1, keepdims=True)).cumsum(axis=1)
            columns[v] = (shares < sample.random((rows, 1)) * shares[:, -1:]).sum(axis=1)
        else:
            columns[v] = value[:, 0] + sample.normal(size=rows)
    names = [f"x{v}" for v in range(n)]
    frame = pd.DataFrame({names[v]: columns[v] for v in range(n)})
    for v in np.flatnonzero(states):
        frame[names[v]] = "s" + frame[names[v]].astype(str)
    return frame, f2sl.DAG(names, [(names[u], names[v]) for v, own in parents.items() for u in own])


def skewed(frame: Any, data_set: int) -> Any:
    """Return a table in which each number is an increasing function of what it was."""
    rng, found = np.random.default_rng(data_set), frame.copy()
    for name in frame:
        if frame[name].dtype == float:
            value = (frame[name] - frame[name].mean()) / frame[name].std()
            found[name] = [np.exp(1.5 * value), value**3, 1 / (1 + np.exp(-4 * value))][rng.integers(3)]
    return found


@lru_cache(maxsize=2)
def data(network: str, rows: int, data_set: int) -> tuple[Any, f2sl.DAG]:
    """Draw a data set with shuffled columns and new names; columns with one value are left out."""
    seed = seed_of(rows, data_set)
    name = network.removesuffix("-skewed")
    if name.startswith(("shift-", "logit-")):
        kind, size = name.split("-")
        frame, truth = drawn(kind, int(size), rows, data_set)
    elif name.startswith("random-"):
        n, percent = map(int, name.split("-")[1:])
        how: dict[str, Any] = {"kind": "mixed", "share_numbers": percent / 100, "seed": data_set}
        net = f2sl.random_network(n, round(EDGES * n), MAX_PARENTS, **how)
        frame, truth = net.sample(rows, seed=seed), net.graph
    else:
        hidden = f2sl.load_network(name)
        observed = observed_as_numbers(hidden, seed=data_set).sample(rows, seed=seed)
        frame, truth = observed[list(hidden.variables)], hidden.graph
    if network != name:
        frame = skewed(frame, data_set)
    dealing = np.random.default_rng(seed)
    new = [f"V{number:05d}" for number in dealing.permutation(len(truth.nodes)).tolist()]
    renamed = frame.rename(columns=dict(zip(truth.nodes, new, strict=True)))[
        dealing.permutation(new).tolist()
    ]
    varying = [name for name in renamed if renamed[name].nunique() > 1]
    return renamed[varying], f2sl.DAG.from_arrays(new, truth.directed_array)


@dataclass
class Runs(Work[Key]):
    """Runs learners on data sets drawn in the server."""

    def prepare(self) -> Generator[str, None, None]:
        """Compile the inner loops."""
        warnings.simplefilter("ignore")
        yield "compiling inner loops"
        for learner in (OWN, BY_GROUPS, BINNED):
            LEARNERS[learner](data("random-20-50", 500, 0)[0])

    def task(self, key: Key) -> Task:
        """Return the task of a run."""
        return partial(measure, key.learner, *data(key.network, key.rows, key.data_set))


def measure(learner: str, frame: Any, truth: f2sl.DAG, begin: Callable[[], None]) -> Measured:
    """Learn from a data set and compare with the truth."""
    begin()
    started = time.perf_counter()
    found = LEARNERS[learner](frame)
    seconds = time.perf_counter() - started
    # Variables that were left out have no edges.
    learned = f2sl.PDAG(truth.nodes, found.directed_edges, found.undirected_edges).to_dag()
    compared = f2sl.compare(truth, learned)
    return Measured(seconds, {"shd_cpdag": compared.shd, "skeleton_f1": round(compared.adjacency_f1, 5)})


class Results(Lines[Key]):
    """Results by learner, network, rows and data set."""

    def head(self, key: Key) -> dict[str, Any]:
        """Return where a learner runs."""
        return {"learner": key.learner, **describe()}


def report(results: dict[Key, dict[str, Any]]) -> str:
    """Make the table: a row for each network and number of rows that all learners have."""
    cells: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for key, found in results.items():
        if "shd_cpdag" in found:
            cells[key.network, key.rows][key.learner].append(found["shd_cpdag"])
    names = [name for name in LEARNERS if any(name in row for row in cells.values())]
    lines = [f"| network | rows | {' | '.join(names)} |", f"| --- | ---: |{' ---: |' * len(names)}"]
    means = []
    order = NETWORKS
    for (network, rows), row in sorted(cells.items(), key=lambda cell: (order.index(cell[0][0]), cell[0][1])):
        if all(name in row for name in names):
            mean = {name: float(np.mean(row[name])) for name in names}
            means.append(mean)
            lines.append(f"| {network} | {rows:,} | {' | '.join(f'{mean[name]:.1f}' for name in names)} |")
    if not means:
        return "no cell has results of all learners"
    overall = {name: float(np.mean([mean[name] for mean in means])) for name in names}
    lines.append(f"| mean | | {' | '.join(f'{overall[name]:.1f}' for name in names)} |")
    near = sum(mean[OWN] <= 1.05 * min(mean.values()) for mean in means)
    lines.append(f"\n{OWN} is the best or within 5 % of it in {near} of {len(means)} cells.")
    return "\n".join(lines)


def plan(chosen: argparse.Namespace) -> Iterator[Key]:
    """List all runs, few rows first; learners of one data set after each other."""
    learners = [name for name in LEARNERS if name != PEER or find_spec("pybnesian")]
    for rows in sorted(map(int, chosen.rows.split(","))):
        for network in chosen.networks.split(","):
            for data_set in map(int, chosen.sets.split(",")):
                for learner in learners:
                    yield Key(learner, network, rows, data_set)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS), help="only these, by commas")
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
    import mixed  # this file by its name, under which the server of the jobs can import it

    sys.exit(mixed.main())
