"""f2sl beside its peers, on the same data in one run.

    make bench-peers                       # alarm, munin1, pigs and link at 1,000 rows; needs an hour at most
    python benchmarks/peers.py --networks alarm --limit 60 --learners MMPC,MMHC

Peers: PyBNesian (MMPC, MMHC; C++), pyAgrum (hill climbing; C++), pgmpy and causal-learn (PC; Python). Each
learner runs in a process of its own, stopped after a limit. Seconds are from the form of the data that the
learner works on (a frame of categories for f2sl and PyBNesian, pyAgrum's own database, codes) to the
graph; imports, sampling and f2sl's compilation are not in them. Same data, significance 0.01,
conditioning sets of at most 3 where a learner takes such a bound.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import platform
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROWS = 1000
ALPHA = 0.01


def ours(name: str) -> Callable[[Any], Any]:
    def run(frame: Any) -> Any:
        import f2sl

        learner = {"F2SL-c": f2sl.F2SLc, "F2SL-s": f2sl.F2SLs, "MMHC": f2sl.MMHC, "PC-stable": f2sl.PCStable}[
            name
        ]
        return lambda: learner().fit(frame).graph_

    return run


def our_mmpc(frame: Any) -> Any:
    from f2sl.counting.memory import MemoryEngine
    from f2sl.data import as_table
    from f2sl.local.mmpc import MMPC
    from f2sl.skeleton import join
    from f2sl.structure.local_to_global import as_graph

    def learn() -> Any:
        table = as_table(frame).in_name_order()
        with MemoryEngine(table) as engine:
            return as_graph(join(MMPC(symmetry="none").learn_all(engine), "and"), table.names)

    return learn


def our_hill_climbing(frame: Any) -> Any:
    """Hill climbing over all pairs, as the peers do it: no skeleton."""
    from itertools import combinations

    import numpy as np

    from f2sl.counting.memory import MemoryEngine
    from f2sl.data import as_table
    from f2sl.graph import DAG
    from f2sl.search.hill_climbing import hill_climb
    from f2sl.stats.scores import FamilyScore

    def learn() -> Any:
        table = as_table(frame).in_name_order()
        edges = np.array(list(combinations(range(table.n_variables), 2)))
        with MemoryEngine(table) as engine:
            found = hill_climb(FamilyScore(engine, "bic"), table.n_variables, edges, max_stall=1)
        return DAG.from_arrays(table.names, found.arrows)

    return learn


def pybnesian_mmpc(frame: Any) -> Any:
    import pybnesian as pbn

    def learn() -> Any:
        found = pbn.MMPC().estimate(pbn.ChiSquare(frame), alpha=ALPHA)
        return list(map(tuple, found.arcs())), list(map(tuple, found.edges()))

    return learn


def pybnesian_mmhc(frame: Any) -> Any:
    import pybnesian as pbn

    def learn() -> Any:
        found = pbn.MMHC().estimate(
            pbn.ChiSquare(frame),
            pbn.ArcOperatorSet(),
            pbn.BDe(frame, iss=10),
            bn_type=pbn.DiscreteBNType(),
            alpha=ALPHA,
        )
        return list(map(tuple, found.arcs())), []

    return learn


def pyagrum_hill_climbing(frame: Any) -> Any:
    import pyagrum as gum

    learner = gum.BNLearner(frame)
    learner.useGreedyHillClimbing()
    learner.useScoreBIC()

    def learn() -> Any:
        dag = learner.learnDAG()
        return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in dag.arcs()], []

    return learn


def pgmpy_pc(frame: Any) -> Any:
    from pgmpy.estimators import PC

    def learn() -> Any:
        found = PC(frame).estimate(
            variant="stable",
            ci_test="g_sq",
            significance_level=ALPHA,
            max_cond_vars=3,
            return_type="pdag",
            show_progress=False,
        )
        return list(found.directed_edges), list(found.undirected_edges)

    return learn


def causal_learn_pc(frame: Any) -> Any:
    from causallearn.search.ConstraintBased.PC import pc

    codes = frame.apply(lambda column: column.astype("category").cat.codes).to_numpy()

    def learn() -> Any:
        marks = pc(codes, alpha=ALPHA, indep_test="gsq", stable=True, show_progress=False).G.graph
        names, n = list(frame.columns), len(frame.columns)
        arrows = [
            (names[i], names[j]) for i in range(n) for j in range(n) if marks[i, j] == -1 and marks[j, i] == 1
        ]
        lines = [(names[i], names[j]) for i in range(n) for j in range(i) if marks[i, j] == marks[j, i] == -1]
        return arrows, lines

    return learn


LEARNERS: dict[str, Callable[[Any], Any]] = {
    "f2sl F2SL-c": ours("F2SL-c"),
    "f2sl F2SL-s": ours("F2SL-s"),
    "f2sl MMPC": our_mmpc,
    "PyBNesian MMPC": pybnesian_mmpc,
    "f2sl MMHC": ours("MMHC"),
    "PyBNesian MMHC": pybnesian_mmhc,
    "f2sl hill climbing": our_hill_climbing,
    "pyAgrum hill climbing": pyagrum_hill_climbing,
    "f2sl PC-stable": ours("PC-stable"),
    "pgmpy PC": pgmpy_pc,
    "causal-learn PC": causal_learn_pc,
}


def measure(name: str, network: str, rows: int, answer: Any) -> None:
    """Run in a process of its own: learn up to three times while that is short, tell the shortest time."""
    warnings.simplefilter("ignore")
    import resource

    import f2sl

    net = f2sl.load_network(network)
    frame = net.sample(rows, seed=1).astype(str).astype("category")
    if name.startswith("f2sl"):
        LEARNERS[name](f2sl.load_example("alarm"))()  # compiles what is not yet in the cache
    learn = LEARNERS[name](frame)
    best, graph = float("inf"), None
    for _ in range(3):
        started = time.perf_counter()
        graph = learn()
        best = min(best, time.perf_counter() - started)
        if best > 5:
            break
    if isinstance(graph, tuple):
        arrows, lines = graph
        both = {frozenset(a) for a in arrows} & {frozenset(line) for line in lines}
        lines = [line for line in lines if frozenset(line) not in both]
        twice = {frozenset(a) for a in arrows if a[::-1] in set(arrows)}
        lines += [tuple(sorted(pair)) for pair in twice]
        arrows = [a for a in arrows if frozenset(a) not in twice]
        graph = f2sl.PDAG(list(frame.columns), arrows, lines)
    found = f2sl.compare(net.graph, graph.to_dag())
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answer.put(
        {"seconds": best, "shd": found.shd, "skeleton_f1": found.skeleton_f1, "f1": found.f1, "mb": megabytes}
    )


def run(name: str, network: str, rows: int, limit: float) -> dict[str, Any]:
    context = mp.get_context("spawn")
    answer = context.Queue()
    process = context.Process(target=measure, args=(name, network, rows, answer))
    process.start()
    started = time.monotonic()
    while process.is_alive() and time.monotonic() - started < limit and answer.empty():
        process.join(0.2)
    if not answer.empty():
        result: dict[str, Any] = answer.get()
        process.join()
        return result
    if process.is_alive():
        process.kill()
        process.join()
        return {"stopped": limit}
    return {"failed": process.exitcode}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default="alarm,munin1,pigs,link")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument(
        "--limit", type=float, default=300.0, help="seconds for each learner, reading included"
    )
    parser.add_argument("--learners", default="", help="only those whose name holds one of these, by commas")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE as well")
    options = parser.parse_args()
    packages = ("f2sl", "pybnesian", "pyagrum", "pgmpy", "causal-learn")
    print(", ".join(f"{package} {version(package)}" for package in packages))
    wanted = options.learners.split(",")
    learners = [name for name in LEARNERS if any(part in name for part in wanted)]
    results: dict[str, dict[str, Any]] = {}
    for network in options.networks.split(","):
        print(f"\n{network}, {options.rows:,} rows")
        print(f"{'':<24}{'seconds':>10}{'SHD':>7}{'skeleton F1':>13}{'MB':>7}")
        results[network] = {}
        for name in learners:
            found = results[network][name] = run(name, network, options.rows, options.limit)
            if "seconds" in found:
                figures = f"{found['seconds']:>10.3f}{found['shd']:>7}{found['skeleton_f1']:>13.3f}"
                figures += f"{found['mb']:>7.0f}"
            else:
                figures = f"{'over ' + format(options.limit, 'g') if 'stopped' in found else 'failed':>10}"
            print(f"{name:<24}{figures}", flush=True)
    if options.json:
        told = {"machine": platform.platform(), "rows": options.rows, "results": results}
        options.json.write_text(json.dumps(told, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
