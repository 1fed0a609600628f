"""f2sl beside its peers, on the same data in one run.

    make bench-peers                                  # everything: hours; started again, it goes on
    python benchmarks/peers --networks alarm,munin1 --rows 1000 --limit 60 --learners F2SL,MMHC
    python benchmarks/peers --report                  # tables and charts from the figures there are

Each learner runs in a fresh process, stopped after --limit seconds. Seconds are from a frame of
categories (for pyAgrum and causal-learn from their own forms of the data) to the graph; imports, sampling and
f2sl's compilation are not in them. Figures go to benchmarks/results/peers.jsonl, cell by cell; those of
another machine or of other versions are moved aside first.

A learner that was stopped is not run on tables with as many or more variables and as many or more rows,
unless --all says so; such a cell says where the learner was stopped, and has no figures.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from f2sl_paper.harness.job import Limits
from f2sl_paper.harness.lines import claimed_results
from f2sl_paper.harness.schedule import Place
from learners import QUICK, SLOW, names
from measure import Cells
from report import write_report
from results import VARIABLES, Key, Results, place_of

NETWORKS = "alarm,hailfinder,andes,munin1,pigs,link,munin2,munin3,munin"
RESULTS = Path(__file__).parents[1] / "results" / "peers.jsonl"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python benchmarks/peers", description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default=NETWORKS, help="names, by commas")
    parser.add_argument("--rows", default="1000,5000", help="numbers of rows, by commas")
    parser.add_argument("--learners", default="", help="only those whose name holds one of these, by commas")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that a learner may learn")
    parser.add_argument("--memory", type=float, default=12.0, help="gigabytes that its process may take")
    parser.add_argument("--all", action="store_true", help="run what is not likely to end, too")
    parser.add_argument("--again", action="store_true", help="measure again what has been measured")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file of figures")
    parser.add_argument("--report", action="store_true", help="only write tables and charts into docs/")
    return parser.parse_args()


def plan(chosen: argparse.Namespace) -> Iterator[Key]:
    """List all cells, smaller tables first."""
    wanted = chosen.learners.split(",")
    for group in (QUICK, SLOW):
        for rows in sorted(map(int, chosen.rows.split(","))):
            for network in sorted(chosen.networks.split(","), key=VARIABLES.__getitem__):
                for learner in names(group):
                    if any(part in learner for part in wanted):
                        yield Key(network, rows, learner)


def main() -> int:
    chosen = options()
    if chosen.report:
        results = Results(chosen.results)
        if not results.cells:
            raise SystemExit(f"{chosen.results} holds no figures to report")
        write_report(results)
        return 0
    with claimed_results(chosen.results), tempfile.TemporaryDirectory(prefix="f2sl-peers-") as folder:
        keys = list(plan(chosen))
        limits = Limits(chosen.limit, int(chosen.memory * 2**30))
        results = Results(chosen.results, limits)
        results.leave_others()
        if not chosen.again:  # failures are figures, too
            keys = [key for key in keys if "failed" not in results.results.get(key, ())]
        place = Place if chosen.all else place_of
        results.complete(Cells(Path(folder)), keys, place, keys if chosen.again else ())
    return 0


if __name__ == "__main__":
    sys.exit(main())
