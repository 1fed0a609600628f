"""Measure what the order of time is worth: SHD with the true order of the variables cut into three tiers.

    python benchmarks/knowledge.py                       # the table of docs/howto/knowledge.md
    python benchmarks/knowledge.py --networks alarm --sets 1

Each network's variables, in the topological order of the true graph, are cut into three tiers of equal size.
Each data set has 1,000 rows and its columns in an order drawn at random. The first table has the distance to
the true DAG. The second has that between what can be known: the learned and the true graph's equivalence
classes, with tiers as far as these direct them (MPDAGs).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from statistics import mean

import numpy as np

import f2sl
from f2sl.errors import F2SLWarning

NETWORKS = ("alarm", "insurance", "hailfinder", "andes")
LEARNERS = ("f2sl-h", "f2sl-c", "mmhc")
ROWS, N_TIERS = 1000, 3


def tiers_of(graph: f2sl.DAG) -> f2sl.Knowledge:
    """Cut the true order into tiers."""
    return f2sl.Knowledge(
        tiers=[part.tolist() for part in np.array_split(graph.topological_order(), N_TIERS)]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--sets", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", F2SLWarning)
    found: dict[tuple[str, str, bool, bool], list[int]] = {}
    for name in arguments.networks:
        network = f2sl.load_network(name)
        known = tiers_of(network.graph)
        for random_state in range(arguments.sets):
            frame = network.sample(ROWS, random_state=random_state)
            columns = np.random.default_rng(random_state).permutation(frame.columns)
            table = f2sl.open_table(frame[columns])
            for learner in LEARNERS:
                for informed in (False, True):
                    started = time.perf_counter()
                    given = known if informed else None
                    model = f2sl.learn(table, learner, knowledge=given)
                    learned = model.graph_ if model.graph_.dag is None else model.dag_
                    shd = f2sl.compare(network, learned, convention="paper").shd
                    found.setdefault((name, learner, informed, False), []).append(shd)
                    both = (graph.to_cpdag(given) for graph in (network.graph, model.dag_))
                    classes = f2sl.compare(*both, convention="paper").shd  # with tiers MPDAGs
                    found.setdefault((name, learner, informed, True), []).append(classes)
                    if informed and (against := known.check(model.graph_)):
                        raise SystemExit(f"{learner} on {name}: {against}")
                    seconds = time.perf_counter() - started
                    print(
                        f"  {name} {random_state} {learner} {informed}: {shd} in {seconds:.1f} s", flush=True
                    )
    for classes in (False, True):
        report(arguments.networks, found, classes)


def report(names: Sequence[str], found: dict[tuple[str, str, bool, bool], list[int]], classes: bool) -> None:
    """Print one table."""
    print("\n| network |" + "".join(f" {learner} | with tiers |" for learner in LEARNERS))
    print("| --- |" + " ---: | ---: |" * len(LEARNERS))
    cells = [(learner, informed) for learner in LEARNERS for informed in (False, True)]
    rows = {name: [mean(found[name, *cell, classes]) for cell in cells] for name in names}
    rows["mean"] = [mean(column) for column in zip(*rows.values(), strict=True)]
    for name, row in rows.items():
        print(f"| {name} |" + "".join(f" {value:.1f} |" for value in row))


if __name__ == "__main__":
    main()
