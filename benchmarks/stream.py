"""A table many times larger than the memory allowed, learned to the end in a process that cannot have more.

    python benchmarks/stream.py                            # 21 million rows of 50 columns, 256MB; minutes
    python benchmarks/stream.py --rows 2000000 --memory 64MB --format csv

The rows are drawn from a random network, file by file, and deleted in the end. The process that learns
first learns a small table, so that everything is loaded and compiled; then it has its address space limited
to what it has by then and the memory allowed (RLIMIT_AS, as `ulimit -v` sets it), and learns the large one.
What it took at most is printed beside the limit, and what a bare pass over the blocks takes. Arrow allocates
as the system does: its own allocator has a gigabyte of addresses in reserve, which the limit would not see.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

import f2sl
from f2sl._memory import memory_limit
from f2sl.data.open import open_table
from f2sl.stats.measures.information import Information

ROWS_PER_FILE = 1_000_000
ROWS_TO_WARM_UP = 20_000
MB = 1e6


def write_files(
    folder: Path,
    columns: int,
    rows: int,
    kind: str,
    rows_per_file: int = ROWS_PER_FILE,
    states: tuple[int, int] | None = None,
) -> int:
    """Draw the table and write it, file by file; gives its bytes on disk."""
    network = f2sl.random_network(columns, columns * 6 // 5, states=states, random_state=1)
    for number, first in enumerate(range(0, rows, rows_per_file)):
        drawn = pa.Table.from_pandas(network.sample(min(rows_per_file, rows - first), random_state=number))
        path = folder / f"part-{number:04d}.{kind}"
        if kind == "csv":
            csv.write_csv(pa.table([c.cast(pa.string()) for c in drawn.columns], drawn.column_names), path)
        else:
            pq.write_table(drawn, path)
    return sum(path.stat().st_size for path in folder.iterdir())


def status(name: str) -> float:
    """What the system says of this process, in bytes."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


def learn_within(folder: Path, small: Path, memory: str, algorithm: str, n_jobs: int, out: Path) -> None:
    """Learn with a limited address space, in a process of its own."""
    options: dict[str, Any] = {"algorithm": algorithm, "memory": memory, "n_jobs": n_jobs}
    f2sl.learn(small, engine="stream", **options)
    before, space = status("VmHWM"), status("VmSize")
    limit = int(space + memory_limit(memory))
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    model = f2sl.learn(folder, **options)
    figures = {
        "seconds": model.timings_,
        "edges": model.graph_.n_edges,
        "tests": getattr(model, "n_tests_", 0),
        "notes": model.notes_,
        "interpreter": before,
        "resident": status("VmHWM") - before,
        "address space": status("VmPeak") - space,
    }
    out.write_text(json.dumps(figures), encoding="utf-8")


def bare_passes(folder: Path, memory: int, n_jobs: int) -> None:
    """Print what a pass over the blocks costs: reading alone, and counting pairs."""
    table = open_table(folder, engine="stream", memory=memory)
    cells = table.n_rows * table.n_variables
    started = time.perf_counter()
    for block in range(table.n_blocks):
        table.read(block)
    seconds = time.perf_counter() - started
    print(f"reading all blocks      {seconds:8.2f} s  {cells / seconds / MB:10,.0f} million codes a second")
    n_pairs = table.n_variables * (table.n_variables - 1) // 2
    with table.counting_engine(n_jobs) as engine:
        above = Information(engine).pairs_above(0.05)
        started = time.perf_counter()
        engine.search_pairs(above)
        seconds = time.perf_counter() - started
    rate = table.n_rows * n_pairs / seconds / MB
    print(f"all {n_pairs:,} pairs         {seconds:8.2f} s  {rate:10,.0f} million pairs of codes a second")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=21_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--memory", default="256MB")
    parser.add_argument("--format", default="parquet", choices=["parquet", "csv"])
    parser.add_argument("--algorithm", default="f2sl-c")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    memory = memory_limit(given.memory)
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # heeded by the process that is started
    with tempfile.TemporaryDirectory(prefix="f2sl-stream-") as place:
        large, small, out = Path(place, "large"), Path(place, "small"), Path(place, "figures.json")
        for folder, rows in ((large, given.rows), (small, ROWS_TO_WARM_UP)):
            folder.mkdir()
            started = time.perf_counter()
            on_disk = write_files(folder, given.columns, rows, given.format)
            seconds = time.perf_counter() - started
            print(f"{rows:,} rows drawn in {seconds:.1f} s: {on_disk / MB:,.0f} MB on disk")
        codes = given.rows * given.columns
        print(f"as codes of a byte {codes / MB:,.0f} MB, {codes / memory:.1f} times what is allowed\n")
        process = mp.get_context("spawn").Process(
            target=learn_within, args=(large, small, given.memory, given.algorithm, given.jobs, out)
        )
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(f"the learner ended with {process.exitcode}")
        figures = json.loads(out.read_text(encoding="utf-8"))
        for stage, seconds in figures["seconds"].items():
            print(f"{stage:<24}{seconds:8.2f} s")
        print(f"{figures['edges']} edges, {figures['tests']:,} tests; " + "; ".join(figures["notes"]))
        print(f"interpreter, loaded      {figures['interpreter'] / MB:8.0f} MB resident")
        print(f"beyond it, at most       {figures['resident'] / MB:8.0f} MB resident", end="")
        print(f", {figures['address space'] / MB:.0f} MB of address space, of {memory / MB:.0f} MB\n")
        bare_passes(large, memory, given.jobs)


if __name__ == "__main__":
    main()
