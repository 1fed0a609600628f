"""f2sl beside its peers, on the same data in one run.

    make bench-peers                                  # everything: hours; started again, it goes on
    python benchmarks/peers --networks alarm,munin1 --rows 1000 --limit 60 --learners F2SL,MMHC
    python benchmarks/peers --report                  # tables and charts from the figures there are

Each learner runs in a process of its own, stopped after --limit seconds. Seconds are from a frame of
categories (for pyAgrum and causal-learn from their own forms of the data) to the graph; imports, sampling and
f2sl's compilation are not in them. Figures go to benchmarks/results/peers.json, cell by cell; those of
another machine or of other versions are moved aside first.

A learner that was stopped is not run on tables with as many or more variables and as many or more rows,
unless --all says so; such a cell says where the learner was stopped, and has no figures.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import f2sl
from learners import QUICK, SLOW, names
from measure import measure
from report import write_report
from results import Cell, Results
from tables import stored_task

NETWORKS = "alarm,hailfinder,andes,munin1,pigs,link,munin2,munin3,munin"
RESULTS = Path(__file__).parents[1] / "results" / "peers.json"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python benchmarks/peers", description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=NETWORKS, help="names, by commas")
    parser.add_argument("--rows", default="1000,5000", help="numbers of rows, by commas")
    parser.add_argument("--learners", default="", help="only those whose name holds one of these, by commas")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that a learner may learn")
    parser.add_argument("--memory", type=float, default=12.0, help="gigabytes that its process may take")
    parser.add_argument("--all", action="store_true", help="run what is not likely to end, too")
    parser.add_argument("--again", action="store_true", help="measure again what has been measured")
    parser.add_argument("--json", type=Path, default=RESULTS, metavar="FILE", help="where the figures are")
    parser.add_argument("--report", action="store_true", help="only write tables and charts into docs/")
    return parser.parse_args()


def plan(chosen: argparse.Namespace) -> Iterator[tuple[str, int, int, str]]:
    """Go through networks with their variables, rows and learners, smaller tables first."""
    sizes = {network: f2sl.load_network(network).graph.n_nodes for network in chosen.networks.split(",")}
    wanted = chosen.learners.split(",")
    for group in (QUICK, SLOW):
        for rows in sorted(map(int, chosen.rows.split(","))):
            for network in sorted(sizes, key=lambda name: sizes[name]):
                for learner in names(group):
                    if any(part in learner for part in wanted):
                        yield network, sizes[network], rows, learner


def show(cell: Cell) -> str:
    where = f"{cell['network']:<11}{cell['rows']:>6,}  {cell['learner']:<24}"
    if "seconds" in cell:
        return (
            f"{where}{cell['seconds']:>10.3f} s  SHD {cell['shd']:>5}  F1 {cell['f1']:.3f}"
            f"{cell['above_mb']:>8.0f} MB more, {cell['peak_mb']:.0f} in all"
        )
    why = ("stopped", "failed", "not_run")
    return where + "".join(f"{word.replace('_', ' ')}: {cell[word]}" for word in why if word in cell)


def is_settled(cell: Cell | None, chosen: argparse.Namespace) -> bool:
    """Tell whether nothing is left to be measured; what was stopped earlier than now may end now."""
    if cell is None or chosen.again or "not_run" in cell:
        return False
    return bool(cell.get("stopped", chosen.limit) >= chosen.limit)


def run(chosen: argparse.Namespace, results: Results, folder: Path) -> None:
    for network, variables, rows, learner in plan(chosen):
        there = results.find(network, rows, learner)
        if is_settled(there, chosen):
            continue
        found: dict[str, Any]
        hopeless = None if chosen.all else results.hopeless(network, variables, rows, learner, chosen.limit)
        if hopeless:
            found = {"not_run": hopeless}
        else:
            found = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "load": os.getloadavg()[0]}
            found |= measure(learner, stored_task(folder, network, rows), chosen.limit, chosen.memory)
        cell = {"network": network, "variables": variables, "rows": rows, "learner": learner, **found}
        if cell != there:
            results.put(cell)
            print(show(cell), flush=True)


def main() -> int:
    chosen = options()
    results = Results(chosen.json)
    if chosen.report:
        if not results.cells:
            raise SystemExit(f"{chosen.json} holds no figures to report")
        write_report(results)
        return 0
    results.leave_others()
    with tempfile.TemporaryDirectory(prefix="f2sl-peers-") as folder:
        run(chosen, results, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
