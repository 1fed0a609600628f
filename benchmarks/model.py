"""What very large tables would take on a cluster: a model from measured rates, and points to check it by.

    python benchmarks/model.py                # about six minutes

F2SL-c learns from small tables on a cluster of one worker. Noted are core-seconds, the time that processes
computed, which other work on the machine changes little: those of the worker, whose part is divided among
the cores of a cluster, and those of the process that learns, with the scheduler in it, whose part is not.
From these come rates; from the rates what other tables take, some of which are measured beside it; and then,
on paper, a million variables by a thousand rows and a thousand variables by ten billion rows.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from distributed import Client, LocalCluster

import f2sl
from f2sl._progress import Display, showing
from f2sl.data.dask.runtime import Cluster
from f2sl.data.dask.table import CELLS_AT_ONCE, FAN_IN, LEAST_CELLS, MOST_WORK, ROWS_AT_ONCE
from f2sl.data.memory.engine import MemoryEngine, choose_for_pair
from f2sl.network.sampling import sample_table
from stream import write_files

STATES, WIDE_ROWS, EDGES_PER_VARIABLE = 3, 1000, 1.2
READ, PAIRS, TESTS = "reading the table", "measuring all pairs", "looking for v-structures"
REDUNDANT, ORIENT, REST = "dropping redundant neighbors", "orienting edges", "all else"
SMALL_WIDE, CHECKED_WIDE, PAPER_WIDE = (5_000, 20_000), 40_000, 1_000_000
Shape = tuple[int, int, int]
"""Variables, rows and files of a tall table."""
SMALL_TALL, MANY_FILES = (400, 500_000, 5), (200, 12_000, 60)
CHECKED_TALL = (50, 4_000_000, 40), (600, 700_000, 7)
PAPER_TALL = (1_000, 10_000_000_000, 2_000)
CORES, CORES_OF_MACHINE = (10, 100, 1_000), 32
NETWORK, STORAGE = 1.25e9, 5e9
"""Bytes a second that are assumed: into each machine, and out of the files' storage to all together."""
CALLS, IDLE_SECONDS = 2_000, 4.0


@dataclass
class Run:
    """What a fit takes: core-seconds of each stage on the workers and here, calls, tests."""

    workers: Counter[str] = field(default_factory=Counter)
    here: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    passes: Counter[str] = field(default_factory=Counter)
    tests: float = 0


class Meter(Display):
    """Notes what processes compute in each stage, less what they compute when there is nothing to do."""

    def __init__(self, client: Client) -> None:
        self.client, self.run, self.stage = client, Run(), REST
        before = self._now()
        time.sleep(IDLE_SECONDS)
        self.last = self._now()
        self.idle = (self.last - before) / (self.last - before)[2]

    def _now(self) -> np.ndarray:
        there = sum(self.client.run(time.process_time).values())
        return np.array([there, time.process_time(), time.perf_counter()])

    def begin(self, stage: str) -> None:
        """Hear that a stage begins."""
        passed = self._now() - self.last
        there, here, _ = passed - self.idle * passed[2]
        self.run.workers[self.stage] += there
        self.run.here[self.stage] += here
        self.stage, self.last = stage, self._now()

    def end(self) -> None:
        """Hear that the stage is over."""
        self.begin(REST)


def learn(client: Client, data: Any) -> Run:
    """Learn F2SL-c, and note what it takes."""
    meter = Meter(client)
    submit = Cluster.submit

    def counted(cluster: Cluster, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        meter.run.calls[meter.stage] += 1
        meter.run.passes[meter.stage] += function.__name__ in ("_batch_of", "_batch_of_pairs", "_tile_batch")
        return submit(cluster, function, *arguments, **options)

    with patch.object(Cluster, "submit", counted), showing(meter):
        model = f2sl.learn(data, "f2sl-c", engine="dask", scheduler=client)
        meter.end()
    meter.run.tests = model.n_tests_
    return meter.run


def learn_wide(client: Client, n: int) -> Run:
    """Learn a table with many variables, which is in memory here."""
    network = f2sl.random_network(n, round(EDGES_PER_VARIABLE * n), states=(STATES, STATES), random_state=1)
    return learn(client, np.ascontiguousarray(sample_table(network, WIDE_ROWS, random_state=1).codes.T))


def learn_tall(client: Client, shape: Shape) -> tuple[Run, float]:
    """Learn a table with many rows from files; gives the bytes that a cell takes there as well."""
    columns, rows, files = shape
    with tempfile.TemporaryDirectory(prefix="f2sl-model-") as place:
        on_disk = write_files(Path(place), columns, rows, "parquet", rows // files, (STATES, STATES))
        return learn(client, place), on_disk / columns / rows


def cost_of_call(client: Client) -> float:
    """Measure calls that do nothing, in this process with the scheduler."""
    cluster = Cluster.connect(client, 1, 1 << 30)
    best = np.inf
    for _ in range(3):
        before = time.process_time()
        client.gather([cluster.submit(abs, i) for i in range(CALLS)])
        best = min(best, (time.process_time() - before) / CALLS)
    return best


def cost_of_filling() -> float:
    """Measure taking a stretch of codes out of a block and setting bits in planes."""
    n = SMALL_TALL[0]
    block = np.random.default_rng(1).integers(0, STATES, (n, ROWS_AT_ONCE), np.uint8)
    best = np.inf
    for _ in range(4):  # the first may compile
        before = time.process_time()
        codes = block[np.arange(n), :]
        rows = SimpleNamespace(codes=codes, cardinalities=np.full(n, STATES))
        MemoryEngine(rows, 1).close()
        best = min(best, time.process_time() - before)
    return best / block.size


def pairs_of(n: int) -> float:
    """How many pairs there are."""
    return n * (n - 1) / 2


def passes_of_pairs(n: int) -> int:
    """How many passes over the blocks count all pairs."""
    return -int(-pairs_of(n) * STATES**2 // CELLS_AT_ONCE)


def calls_of_pass(files: int) -> float:
    """How many calls a pass over the blocks takes: one for each, and those that add up."""
    return files * FAN_IN / (FAN_IN - 1) + 2


class Model:
    """Predicts by rates: core-seconds for each of something, measured at small sizes."""

    def __init__(self, wide: tuple[Run, Run], tall: Run, many: Run, call: float, fill: float) -> None:
        (m, n), (less, more) = SMALL_WIDE, wide
        columns, rows, _ = SMALL_TALL
        self.call, self.fill = call, fill
        self.pair = more.workers[PAIRS] / pairs_of(n)
        self.test = more.workers[TESTS] / more.tests
        self.tests_wide, self.tests_tall = more.tests / n, tall.tests / columns
        stages = (READ, REDUNDANT, TESTS, ORIENT, REST)
        self.each = {stage: max(0.0, more.here[stage] - less.here[stage]) / (n - m) for stage in stages}
        self.fixed = {stage: max(0.0, less.here[stage] - m * self.each[stage]) for stage in stages}
        self.read = tall.workers[READ] / columns / rows
        self.column = (many.here[READ] - many.calls[READ] * call) / MANY_FILES[0] / MANY_FILES[2]
        self.passes = tall.passes[TESTS]
        filling = columns * fill
        counting = tall.workers[PAIRS] / rows - passes_of_pairs(columns) * filling
        self.pair_row = counting / pairs_of(columns)
        self.test_row = (tall.workers[TESTS] / rows - self.passes * filling) / tall.tests

    def wide(self, n: int, tests: float | None = None, cores: int = 1) -> Run:
        """Predict a table of so many variables, with the number of tests if it is known."""
        tests = n * self.tests_wide if tests is None else tests
        work = pairs_of(n) * choose_for_pair(WIDE_ROWS, STATES, STATES)[1]
        run = Run(tests=tests)
        run.workers.update({PAIRS: pairs_of(n) * self.pair, TESTS: tests * self.test})
        run.here.update({stage: self.fixed[stage] + n * each for stage, each in self.each.items()})
        run.calls[PAIRS] = round(work / min(work / 8 / cores, MOST_WORK))
        run.calls[TESTS] = round(tests * (STATES**3 + 1) / LEAST_CELLS)
        return run

    def tall(self, shape: Shape, tests: float | None = None) -> Run:
        """Predict a table of files, with the number of tests if it is known."""
        n, rows, files = shape
        tests = n * self.tests_tall if tests is None else tests
        filling = n * self.fill
        run = Run(tests=tests)
        run.workers[READ] = n * rows * self.read
        run.workers[PAIRS] = rows * (passes_of_pairs(n) * filling + pairs_of(n) * self.pair_row)
        run.workers[TESTS] = rows * (self.passes * filling + tests * self.test_row)
        run.here[READ] = n * files * self.column
        for stage, passes in ((READ, 2), (PAIRS, passes_of_pairs(n)), (TESTS, self.passes)):
            run.calls[stage] = round(passes * calls_of_pass(files))
        return run


def compare(name: str, predicted: Run, measured: Run, call: float) -> None:
    """Print what was predicted and measured, stage by stage."""
    print(f"\n{name}: core-seconds predicted, measured, ratio; {measured.tests:,} tests, ", end="")
    print(f"{measured.passes[TESTS]} passes for them")
    predicted.here[READ] += predicted.calls[READ] * call
    for who in ("workers", "here"):
        for stage, seconds in getattr(predicted, who).items():
            found = getattr(measured, who)[stage]
            print(f"  {who:<8}{stage:<32}{seconds:9.2f}{found:9.2f}{seconds / found:7.2f}", flush=True)


def on_paper(name: str, parts: Callable[[int], dict[str, float]]) -> None:
    """Print the seconds of each part for some numbers of cores; of parts "stage / ..." the longest counts."""
    print(f"\n{name}: seconds\n  {'cores':<52}" + "".join(f"{cores:>10,}" for cores in CORES))
    columns = [parts(cores) for cores in CORES]
    for part in columns[0]:
        print(f"  {part:<52}" + "".join(f"{column[part]:>10,.1f}" for column in columns))
    totals = []
    for column in columns:
        longest: dict[str, float] = {}
        for part, seconds in column.items():
            stage = part.partition(" / ")[0]
            longest[stage] = max(longest.get(stage, 0.0), seconds)
        totals.append(sum(longest.values()))
    print(f"  {'in all':<52}" + "".join(f"{total:>10,.1f}" for total in totals))
    print("  the largest: " + "; ".join(max(column, key=column.__getitem__) for column in columns))


def parts_of(model: Model, run: Run, cores: int) -> dict[str, float]:
    """List what is divided, what the scheduler does meanwhile, and what one process does alone."""
    parts = {}
    for stage in (READ, PAIRS, TESTS):
        parts[f"{stage} / divided"] = run.workers[stage] / cores
        parts[f"{stage} / calls"] = run.calls[stage] * model.call
    return parts | {f"alone: {stage}": seconds for stage, seconds in run.here.items()}


def wide_on_paper(model: Model, cores: int) -> dict[str, float]:
    """List the parts of the wide case; a machine has one worker, with a thread for each core."""
    table = float(PAPER_WIDE * WIDE_ROWS)
    return parts_of(model, model.wide(PAPER_WIDE, cores=cores), cores) | {
        "each worker alone: codes put together, planes": table * model.fill,
        "traffic: the table to the scheduler, and on": 2 * table / NETWORK,
        "traffic: the table to each machine": table / NETWORK if cores > CORES_OF_MACHINE else 0.0,
    }


def tall_on_paper(model: Model, cores: int, bytes_of_cell: float) -> dict[str, float]:
    """List the parts of the tall case."""
    n, rows, files = PAPER_TALL
    cells = pairs_of(n) * (STATES - 1) ** 2 + n * model.tests_tall * STATES**3
    counts = 8 * cells * files * FAN_IN / (FAN_IN - 1) * CORES_OF_MACHINE / cores
    return parts_of(model, model.tall(PAPER_TALL), cores) | {
        f"{READ} / storage, both times": 2 * n * rows * bytes_of_cell / STORAGE,
        "traffic: counts, into each machine": counts / NETWORK if cores > CORES_OF_MACHINE else 0.0,
    }


def main() -> None:
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            memory_limit=None,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster) as client,
    ):
        learn_wide(client, 2_000)  # compiles, or loads what was compiled
        learn_tall(client, (20, 50_000, 2))
        call, fill = cost_of_call(client), cost_of_filling()
        less, more = (learn_wide(client, n) for n in SMALL_WIDE)
        tall, bytes_of_cell = learn_tall(client, SMALL_TALL)
        many, _ = learn_tall(client, MANY_FILES)
        model = Model((less, more), tall, many, call, fill)
        for name, value in vars(model).items():
            for stage, one in (value if isinstance(value, dict) else {"": value}).items():
                print(f"{name + ' ' + stage:<40} {one:.3g}")
        print(f"Parquet: {bytes_of_cell:.2f} bytes a cell", flush=True)
        wide = learn_wide(client, CHECKED_WIDE)
        name = f"{CHECKED_WIDE:,} variables, {WIDE_ROWS:,} rows"
        compare(name, model.wide(CHECKED_WIDE, wide.tests), wide, call)
        for shape in CHECKED_TALL:
            run, _ = learn_tall(client, shape)
            name = "{:,} variables, {:,} rows in {:,} files".format(*shape)
            compare(name, model.tall(shape, run.tests), run, call)
    on_paper(f"{PAPER_WIDE:,} variables, {WIDE_ROWS:,} rows", lambda cores: wide_on_paper(model, cores))
    name = "{:,} variables, {:,} rows in {:,} files".format(*PAPER_TALL)
    on_paper(name, lambda cores: tall_on_paper(model, cores, bytes_of_cell))


if __name__ == "__main__":
    main()
