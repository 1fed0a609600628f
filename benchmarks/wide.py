"""F2SL-c on tables with very many variables: seconds and peak memory of each stage.

    python benchmarks/wide.py                  # 1,000, 5,000 and 20,000 variables
    python benchmarks/wide.py --full           # 100,000 as well: minutes
    python benchmarks/wide.py --sizes 10000    # others

Ternary variables, 1,000 rows, sampled from a sparse random network with 1.2 edges for each variable. Each
size runs in a process of its own, whose largest resident set so far is told beside each stage. Before and
after the fit the bare AND-and-popcount walk is timed on a slice of the same planes: some variables with all
others, tile by tile, on all cores.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numba
import numpy as np

import f2sl
from f2sl._jit import popcount
from f2sl._progress import Display, showing
from f2sl._threads import available_cores
from f2sl.data.memory.engine import MemoryEngine
from f2sl.network.sampling import sample_table
from f2sl_paper.harness.machine import peak_bytes

ROWS, STATES, EDGES_PER_VARIABLE = 1000, 3, 1.2
SIZES, FULL = (1_000, 5_000, 20_000), 100_000
TILE = 128
SLICE_PAIRS = 20_000_000
LARGEST_RATIO, LARGEST_GIGABYTES = 3.0, 4.0
AIMED_FROM = 5_000
"""Of fewer variables the pairs take so short a time that handing them to threads is most of it."""
FORMATS = ("json", "csv", "dot", "graphml", "gml")


@numba.njit(nogil=True)
def bare_tiles(planes, first, last, height, k, out):
    """AND and popcount of variables 0 to `height` with those from `first` to `last`, but for last states."""
    words = planes.shape[1]
    for left in range(first, last, TILE):
        for i in range(height):
            for j in range(left, min(left + TILE, last)):
                for a in range(k - 1):
                    for b in range(k - 1):
                        bits = 0
                        for w in range(words):
                            bits += popcount(planes[i * k + a, w] & planes[j * k + b, w])
                        out[i] += bits


def bare_seconds_a_pair(planes, n: int) -> float:
    """Seconds for each pair of a bare walk over a slice, with all cores: the least of three."""
    height = min(n, max(1, SLICE_PAIRS // n))
    cores = available_cores()
    borders = np.linspace(0, n, 4 * cores + 1).astype(int)

    def walk(part: int) -> None:
        bare_tiles(planes, borders[part], borders[part + 1], height, STATES, np.zeros(height, np.int64))

    best = np.inf
    with ThreadPoolExecutor(cores) as pool:
        for _ in range(4):  # the first compiles
            started = time.perf_counter()
            list(pool.map(walk, range(4 * cores)))
            best = min(best, time.perf_counter() - started)
    return best / (height * n)


class Stopwatch(Display):
    """Notes seconds and peak memory of stages: those told here, and those that the learner tells."""

    def __init__(self) -> None:
        self.stages: dict[str, tuple[float, float]] = {}
        self.begun: list[tuple[str, float]] = []

    def begin(self, stage: str) -> None:
        """Hear that a stage begins."""
        self.begun.append((stage, time.perf_counter()))

    def end(self) -> None:
        """Hear that the stage is over."""
        stage, started = self.begun.pop()
        self.stages[stage] = time.perf_counter() - started, peak_bytes() / 2**20

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Note a stage of the benchmark's own."""
        self.begin(name)
        yield
        self.end()


def measure(n: int) -> dict:
    """All stages of one size, in this process."""
    watch = Stopwatch()
    with watch.stage("drawing a network"):
        network = f2sl.random_network(
            n, round(EDGES_PER_VARIABLE * n), states=(STATES, STATES), random_state=1
        )
    with watch.stage("sampling"):
        table = sample_table(network, ROWS, random_state=1)
    truth = network.graph
    del network
    f2sl.F2SLc().fit(table.codes[:100].T)  # compiles, or loads what was compiled
    with MemoryEngine(table) as engine:
        bare = bare_seconds_a_pair(engine._planes, n)
        data = np.ascontiguousarray(table.codes.T)
        del table
        with showing(watch), watch.stage("F2SLc().fit, all in all"):
            model = f2sl.F2SLc().fit(data)
        bare = min(bare, bare_seconds_a_pair(engine._planes, n))
    graph = model.graph_
    with watch.stage("to_dag"):
        graph.to_dag()
    with watch.stage("to_cpdag"):
        graph.to_cpdag()
    with watch.stage("to_networkx"):
        graph.to_networkx()
    with watch.stage("compare"):
        comparison = f2sl.compare(truth, graph)
    with tempfile.TemporaryDirectory() as folder:
        for suffix in FORMATS:
            path = Path(folder, f"graph.{suffix}")
            with watch.stage(f"save .{suffix}"):
                graph.save(path)
            with watch.stage(f"load .{suffix}"):
                f2sl.load_graph(path)
    return {
        "variables": n,
        "stages": watch.stages,
        "bare_seconds": bare * n * (n - 1) / 2,
        "peak_megabytes": peak_bytes() / 2**20,
        "graph": repr(graph),
        "skeleton_f1": comparison.adjacency_f1,
        "tests": model.n_tests_,
    }


def report(figures: dict) -> bool:
    """Print the figures of one size; says whether they are within what was aimed at."""
    pairs, bare = figures["stages"]["measuring all pairs"][0], figures["bare_seconds"]
    gigabytes = figures["peak_megabytes"] / 1024
    print(
        f"\n{figures['variables']:,} variables: {figures['graph']}, skeleton F1 {figures['skeleton_f1']:.3f}"
    )
    for stage, (seconds, megabytes) in figures["stages"].items():
        print(f"  {stage:<32} {seconds:>9.2f} s   peak {megabytes:>7,.0f} MB")
    print(f"  {'bare walk, from a slice':<32} {bare:>9.2f} s")
    met = pairs <= LARGEST_RATIO * bare or figures["variables"] < AIMED_FROM
    met &= gigabytes <= LARGEST_GIGABYTES
    print(f"  all pairs / bare walk {pairs / bare:.2f} (at most {LARGEST_RATIO:g}),", end=" ")
    print(f"peak {gigabytes:.2f} GB (at most {LARGEST_GIGABYTES:g}): {'met' if met else 'NOT MET'}")
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help=f"with {FULL:,} variables, too")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of variables")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as well")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return 0
    print(f"{available_cores()} cores, {ROWS:,} rows, {STATES} states each")
    found, met = [], True
    for n in (*options.sizes, *([FULL] if options.full else [])):
        command = [sys.executable, __file__, "--one", str(n)]
        found.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        met &= report(found[-1])
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
