"""The learners by score on the F2SL paper's own data, beside its tables, and where these have no figures.

    F2SL_MMHC_DATA=folder python benchmarks/paper_scores.py
    F2SL_MMHC_DATA=folder python benchmarks/paper_scores.py --algorithms sll+c,ggsl --networks munin

SLL-PC and S2TMB-PC against table 6; SLL+C, SLL+G and GGSL, as DAGs, against tables 2 to 4. Means over ten
data sets, names in the order of the columns, seconds for all variables of one data set. The paper has no
figures for what took it over 48 hours; here each learner has an hour for the ten data sets of a network and
size, and where that is not enough it is said how far it came. In table 3 the row of SLL+G on Hailfinder
repeats table 2.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator

import f2sl
from f2sl.errors import F2SLWarning
from f2sl.experiments.supplement import Supplement
from f2sl.local.base import LOCAL
from paper_tables import DataSet, expected, heading, line, load

HOUR = 3600.0
ALGORITHMS = ("sll-pc", "s2tmb-pc", "sll+c", "sll+g", "ggsl")


def measure(algorithm: str, data: DataSet, seconds: float) -> tuple[dict[str, float], tuple[str, ...]]:
    """The measures of one data set, or none and the notes that say how far the learner came in that time."""
    options = {"names": data.names, "algorithm": algorithm, "time_limit": seconds}
    if algorithm in LOCAL:
        found = f2sl.learn_pc(data.table, **options)
        if not found.complete:
            return {}, found.notes
        return f2sl.compare_pc(data.truth, {v: list(members) for v, members in found.items()}).as_dict(), ()
    model = f2sl.learn(data.table, **options)
    if not model.complete_:
        return {}, tuple(model.notes_)
    return f2sl.compare(data.truth, model.graph_.to_dag()).as_dict(), ()


def lines(
    networks: list[str], sizes: list[int], algorithms: list[str], sets: int, folder: str
) -> Iterator[str]:
    """Head and rows of each learner's table."""
    for algorithm in algorithms:
        yield heading(algorithm)
        for network in networks:
            source = Supplement(folder, network)
            for rows in sizes:
                until = time.monotonic() + HOUR
                runs, notes = [], ()
                for data in load(source, rows, sets, shuffled=False):
                    started = time.monotonic()
                    found, notes = measure(algorithm, data, max(until - started, 0.001))
                    if not found:
                        break
                    runs.append((found, time.monotonic() - started))
                if runs:
                    yield line(network, rows, algorithm, runs, expected(network, rows, algorithm))
                for note in notes:
                    yield f"{network:<11}{rows:>6,}   {len(runs)} data sets; {note}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default="mildew,hailfinder,munin")
    parser.add_argument("--sizes", default="500,1000")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS))
    parser.add_argument(
        "--sets", type=int, default=10, help="data sets of each network and size (at most 10)"
    )
    options = parser.parse_args()
    folder = os.environ.get("F2SL_MMHC_DATA")
    if not folder:
        print("set F2SL_MMHC_DATA to the folder with mildew_data.zip, hailf_data.zip and munin_data.zip")
        return 2
    warnings.simplefilter("ignore", F2SLWarning)  # of large networks that are climbed to
    print("f2sl (the paper); * where they differ by more than two standard deviations and 10 %")
    sizes = [int(size) for size in options.sizes.split(",")]
    for text in lines(
        options.networks.split(","), sizes, options.algorithms.split(","), options.sets, folder
    ):
        print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
