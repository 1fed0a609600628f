"""Learn from hundreds of real tables as a new user would: `f2sl learn TABLE`, and nothing else.

    python -m venv .venv-real
    .venv-real/bin/pip install -r benchmarks/real_tables/requirements.txt
    .venv-real/bin/python benchmarks/real_tables/tables.py .real-tables      # writes the tables
    python benchmarks/real_tables --label after --source src                 # goes on where it was
    python benchmarks/real_tables --report                                   # the page and its figure

Results go to benchmarks/results/real_tables_LABEL.jsonl. Tables with over 2,000 rows are also learned from
two random halves; their agreement is the share of the edges (directions aside) of one half that are in the
other, the mean of both ways.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from report import write_report
from running import SECONDS, learned

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def agreement(halves: list[dict[str, Any]]) -> float | None:
    """Return the share of one half's edges that the other has, the mean of both ways; None without edges."""
    one, other = ({frozenset((a, b)) for a, _, b in half["edge_list"]} for half in halves)
    both = [len(one & other) / len(some) for some in (one, other) if some]
    return round(sum(both) / len(both), 4) if both else None


def measured(described: dict[str, Any], folder: Path, source: Path, seconds: int) -> dict[str, Any]:
    """Learn from a table and from its halves; return one line of the results."""
    name = described["table"]
    whole = learned(folder / f"{name}.csv", source, seconds)
    whole.pop("edge_list", None)
    paths = [folder / "halves" / f"{name}.{half}.csv" for half in (1, 2)]
    if whole["error"] is None and paths[0].exists():
        halves = [learned(path, source, seconds) for path in paths]
        failed = [half["error"] for half in halves if half["error"]]
        whole |= {"halves": failed[0]} if failed else {"agreement": agreement(halves)}
    return {**described, **whole}


def results(path: Path) -> Iterator[dict[str, Any]]:
    """Read the lines of a file of results."""
    if path.exists():
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python benchmarks/real_tables", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--label", default="after", help="name of this version, for the file of results")
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="folder with the package f2sl")
    parser.add_argument("--tables", type=Path, default=ROOT / ".real-tables", help="folder of the tables")
    parser.add_argument("--only", default="", help="only tables whose name holds one of these, by commas")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="processor seconds for each run")
    parser.add_argument("--jobs", type=int, default=1, help="tables at a time, each on a core of its own")
    parser.add_argument("--report", action="store_true", help="only write the page and its figure")
    return parser.parse_args()


def run(asked: argparse.Namespace) -> None:
    """Measure all tables that have no result yet, small ones first."""
    path = RESULTS / f"real_tables_{asked.label}.jsonl"
    done = {line["table"] for line in results(path)}
    chosen = map(json.loads, (asked.tables / "chosen.json").read_text(encoding="utf-8").splitlines())
    parts = asked.only.split(",")
    wanted = [one for one in chosen if one["table"] not in done and any(p in one["table"] for p in parts)]
    wanted.sort(key=lambda one: one["rows"] * one["columns"])
    cores: queue.Queue[int] = queue.Queue()
    for core in sorted(os.sched_getaffinity(0))[-asked.jobs :]:
        cores.put(core)

    def on_own_core() -> None:  # what a thread starts runs where the thread runs
        os.sched_setaffinity(0, {cores.get()})

    with (
        path.open("a", encoding="utf-8") as out,
        ThreadPoolExecutor(asked.jobs, initializer=on_own_core) as pool,
    ):
        for line in pool.map(
            lambda one: measured(one, asked.tables, asked.source.resolve(), asked.seconds), wanted
        ):
            out.write(json.dumps(line) + "\n")
            out.flush()
            told = (
                line["error"]
                or f"{line['edges']} edges, {line['decided']} decided, halves {line.get('agreement')}"
            )
            print(f"{line['table']:45}{line['seconds']:7.2f} s{line['megabytes']:6} MB  {told}", flush=True)


def main() -> None:
    """Measure, or write the page."""
    asked = options()
    if asked.report:
        write_report(
            {label: list(results(RESULTS / f"real_tables_{label}.jsonl")) for label in ("before", "after")}
        )
    else:
        run(asked)


if __name__ == "__main__":
    main()
