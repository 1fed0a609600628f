"""Learners on Gaussian data: how right they are, and how fast F2SL-c is beside causal-learn's PC.

    python benchmarks/gaussian.py                     # the tables of docs/evidence/gaussian.md; minutes
    python benchmarks/gaussian.py --tables speed      # needs causal-learn: .venv-peers has it
    python benchmarks/gaussian.py --learners f2sl-c,tc --networks 2

Networks are random graphs with up to 4 parents and 10 children of a variable, coefficients of 0.5 to 2 of
either sign, and noise of variance 1. Each learner that is timed against others runs in a process of its own,
stopped after a limit; seconds are from a frame of floats to the graph, without imports and compilation.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import sys
import time
import warnings
from typing import Any

import numpy as np

import f2sl
from f2sl.graph import DAG

ROWS = 1000
ALPHA = 0.01
LEARNERS = "f2sl-c,f2sl-s,pc-stable,mmhc-c,mmhc,gsbn,tc"
DELTAS = (0.0025, 0.01, 0.0225, 0.05, 0.1)


def linear_data(variables: int, edges: int, rows: int, random_state: int) -> tuple[Any, DAG]:
    """Draw a network and rows of it."""
    network = f2sl.random_network(variables, edges, kind="continuous", random_state=random_state)
    return network.sample(rows, random_state=random_state), network.graph


def accuracy(learners: list[str], networks: int, edges: int) -> None:
    """Print how right each learner is on networks of 100 variables."""
    print(f"\n100 variables, {edges} edges, {ROWS:,} rows, means over {networks} networks")
    print(f"{'':<12}{'skeleton F1':>12}{'SHD':>8}{'SHD of CPDAGs':>15}{'seconds':>9}")
    data = [linear_data(100, edges, ROWS, random_state) for random_state in range(networks)]
    for name in learners:
        f2sl.learn(data[0][0], name)  # compiles what is not yet in the cache
        figures = []
        for frame, truth in data:
            started = time.perf_counter()
            graph = f2sl.learn(frame, name).graph_
            seconds = time.perf_counter() - started
            found = f2sl.compare(truth, graph)
            # Of a score the DAG that it found, of tests the graph as it is.
            as_found = f2sl.compare(truth, graph if graph.dag is None else graph.dag, convention="paper")
            figures.append((found.adjacency_f1, as_found.shd, found.shd, seconds))
        f1, shd, of_classes, seconds = np.mean(figures, axis=0)
        print(f"{name:<12}{f1:>12.3f}{shd:>8.1f}{of_classes:>15.1f}{seconds:>9.3f}", flush=True)


def thresholds(networks: int) -> None:
    """Print what other thresholds of FCBF make of F2SL-c, by the number of rows."""
    print(f"\nF2SL-c, 100 variables, 100 edges: SHD by delta, means over {networks} networks")
    print(f"{'rows':>8}" + "".join(f"{delta:>10g}" for delta in DELTAS))
    for rows in (300, 1000, 5000):
        data = [linear_data(100, 100, rows, random_state) for random_state in range(networks)]
        means = [
            np.mean(
                [
                    f2sl.compare(truth, f2sl.F2SLc(delta=delta).fit(frame), convention="paper").shd
                    for frame, truth in data
                ]
            )
            for delta in DELTAS
        ]
        print(f"{rows:>8,}" + "".join(f"{mean:>10.1f}" for mean in means), flush=True)


def timed(name: str, variables: int, edges: int, answer: Any) -> None:
    """Run in a process of its own: learn once, tell the seconds and how right it is."""
    warnings.simplefilter("ignore")
    frame, truth = linear_data(variables, edges, ROWS, random_state=1)
    if name == "causal-learn PC":
        from causallearn.search.ConstraintBased.PC import pc

        def learn() -> Any:
            marks = pc(frame.to_numpy(), alpha=ALPHA, indep_test="fisherz", show_progress=False).G.graph
            adjacent = np.argwhere(np.triu(marks != 0, 1)).tolist()
            return f2sl.PDAG(list(frame), [], [(frame.columns[a], frame.columns[b]) for a, b in adjacent])
    else:
        f2sl.learn(frame.iloc[:, :20], name)  # compiles what is not yet in the cache

        def learn() -> Any:
            return f2sl.learn(frame, name).graph_

    started = time.perf_counter()
    graph = learn()
    answer.put((time.perf_counter() - started, f2sl.compare(truth, graph).adjacency_f1))


def speed(learners: list[str], variables: int, limit: float) -> None:
    """Print how long each learner takes for many variables."""
    print(f"\n{variables:,} variables, {variables:,} edges, {ROWS:,} rows")
    print(f"{'':<18}{'seconds':>10}{'skeleton F1':>13}")
    context = mp.get_context("spawn")
    for name in [*learners, "causal-learn PC"]:
        answer = context.Queue()
        process = context.Process(target=timed, args=(name, variables, variables, answer))
        process.start()
        started = time.monotonic()
        while process.is_alive() and time.monotonic() - started < limit and answer.empty():
            process.join(0.2)
        if not answer.empty():
            seconds, f1 = answer.get()
            print(f"{name:<18}{seconds:>10.3f}{f1:>13.3f}", flush=True)
        else:
            print(
                f"{name:<18}{'over ' + format(limit, 'g') if process.is_alive() else 'failed':>10}",
                flush=True,
            )
            process.kill()
        process.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tables", default="accuracy,thresholds", help="also speed, which needs causal-learn"
    )
    parser.add_argument("--learners", default=LEARNERS, help="by commas")
    parser.add_argument("--networks", type=int, default=10, help="how many the means are over")
    parser.add_argument("--variables", type=int, default=1000, help="of the table of speed")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each learner of that table")
    options = parser.parse_args()
    learners, tables = options.learners.split(","), options.tables.split(",")
    if "accuracy" in tables:
        for edges in (100, 200):
            accuracy(learners, options.networks, edges)
    if "thresholds" in tables:
        thresholds(options.networks)
    if "speed" in tables:
        speed(learners, options.variables, options.limit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
