"""The systems that the F2SL paper is measured against, on the paper's own data, beside its tables.

    F2SL_MMHC_DATA=folder python benchmarks/paper_tables.py
    F2SL_MMHC_DATA=folder python benchmarks/paper_tables.py --algorithms gsbn,mmhc --networks mildew --sets 3

Learners of parents and children against table 6, learners of whole structures (as DAGs) against tables 2
to 4. Means over ten data sets, names in the order of the columns, or dealt out at random by ``--shuffled``:
where nothing decides a direction, names do. Options as in the paper; seconds are for one data set, all
variables. A measure that is farther from the paper's than two of its standard deviations and 10 % is
marked with a star; docs/evidence/reproduction.md says what is known about those.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import f2sl
from f2sl.data.memory.engine import MemoryEngine
from f2sl.data.open import open_table
from f2sl.learners.local.base import LOCAL
from f2sl_paper.paper import Figure, figures
from f2sl_paper.supplement import Supplement

ERRORS = ("shd", "reverse", "miss", "extra")
RATES = ("f1", "precision", "recall")
# PC learners are measured without symmetry, as the paper's figures are (docs/evidence/reproduction.md).
PC_OPTIONS = {name: {"symmetry": "none"} for name in ("mmpc", "hiton-pc", "pc-simple")}
STRUCTURES = ("gsbn", "mmhc", "mmhc-c")


@dataclass
class DataSet:
    """One data set with its names and the graph it came from."""

    table: np.ndarray
    names: list[str]
    truth: f2sl.DAG


def load(source: Supplement, rows: int, sets: int, shuffled: bool) -> list[DataSet]:
    """The first so many data sets of a network, their names dealt out at random if that is asked for."""
    found = []
    for version in range(1, sets + 1):
        names = source.names
        if shuffled:
            names = np.random.default_rng(version).permutation(names).tolist()
        truth = f2sl.DAG.from_arrays(names, source.truth.directed_array)
        found.append(DataSet(source.table(rows, version), names, truth))
    return found


def of_pc_learner(algorithm: str, data: DataSet) -> tuple[dict[str, float], float]:
    """The rates of one data set, and the seconds."""
    ordered = open_table(data.table, names=data.names, kinds="discrete").in_name_order()
    with MemoryEngine(ordered) as engine:
        started = time.perf_counter()
        sets = LOCAL.create(algorithm, PC_OPTIONS[algorithm]).learn_all(engine)
        seconds = time.perf_counter() - started
    pc = {name: [ordered.names[m] for m in sets.of(v)[0]] for v, name in enumerate(ordered.names)}
    return f2sl.compare_pc(data.truth, pc).as_dict(), seconds


def of_structure_learner(algorithm: str, data: DataSet) -> tuple[dict[str, float], float]:
    """Errors and rates of one data set, and the seconds."""
    model = f2sl.learn(data.table, algorithm, names=data.names, kinds="discrete")
    found = f2sl.compare(data.truth, model.dag_, convention="paper").as_dict()
    figures = {name.removeprefix("arrowhead_"): value for name, value in found.items()}
    return figures, model.timings_["total"]


def expected(network: str, rows: int, algorithm: str) -> dict[str, Figure]:
    """The paper's figures for a row, in the order in which they are printed."""
    key = network, rows, algorithm
    if algorithm in LOCAL:
        return {name: figures("pc_learners")[key][name] for name in RATES if figures("pc_learners")[key]}
    errors, rates = figures("structure_errors")[key], figures("arrowheads")[key]
    return {name: errors[name] for name in ERRORS if errors} | {name: rates[name] for name in RATES if rates}


def names_of_measures(algorithm: str) -> tuple[str, ...]:
    """What a learner is measured by."""
    return RATES if algorithm in LOCAL else (*ERRORS, *RATES)


def heading(algorithm: str) -> str:
    """The head of a learner's table."""
    return (
        f"\n{algorithm:<20}"
        + "".join(f"{name:>18}" for name in names_of_measures(algorithm))
        + f"{'seconds':>10}"
    )


def line(
    network: str,
    rows: int,
    algorithm: str,
    runs: list[tuple[dict[str, float], float]],
    paper: dict[str, Figure],
) -> str:
    """A row of a learner's table: means over data sets, the paper's in brackets."""
    cells = []
    for name in names_of_measures(algorithm):
        digits = 1 if name in ERRORS else 3
        mean = float(np.mean([found[name] for found, _ in runs]))
        cell = f"{mean:.{digits}f}"
        if name in paper:
            last_digit = 0.1 if name in ERRORS else 0.01
            star = "" if paper[name].agrees(mean, last_digit) else "*"
            cell += f" ({paper[name].mean:.{min(digits, 2)}f}){star:<1}"
        else:
            cell += " (-) "
        cells.append(f"{cell:>18}")
    seconds = float(np.mean([spent for _, spent in runs]))
    return f"{network:<11}{rows:>6,}   " + "".join(cells) + f"{seconds:>10.2f}"


def lines(
    networks: list[str],
    sizes: list[int],
    algorithms: list[str],
    sets: int,
    folder: str,
    shuffled: bool = False,
) -> Iterator[str]:
    """Head and rows of each learner's table."""
    for algorithm in algorithms:
        measure = of_pc_learner if algorithm in LOCAL else of_structure_learner
        yield heading(algorithm)
        for network in networks:
            source = Supplement(folder, network)
            for rows in sizes:
                paper = expected(network, rows, algorithm)
                if algorithm in LOCAL and not paper:
                    continue  # over 48 hours in the paper; here it is no shorter than the sets are many
                runs = [measure(algorithm, data) for data in load(source, rows, sets, shuffled)]
                yield line(network, rows, algorithm, runs, paper)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", default="mildew,hailfinder,munin")
    parser.add_argument("--sizes", default="500,1000")
    parser.add_argument("--algorithms", default=",".join([*PC_OPTIONS, *STRUCTURES]))
    parser.add_argument(
        "--sets", type=int, default=10, help="data sets of each network and size (at most 10)"
    )
    parser.add_argument("--shuffled", action="store_true", help="deal the names out at random")
    options = parser.parse_args()
    folder = os.environ.get("F2SL_MMHC_DATA")
    if not folder:
        print("set F2SL_MMHC_DATA to the folder with mildew_data.zip, hailf_data.zip and munin_data.zip")
        return 2
    print("f2sl (the paper); * where they differ by more than two standard deviations and 10 %")
    sizes = [int(size) for size in options.sizes.split(",")]
    networks, algorithms = options.networks.split(","), options.algorithms.split(",")
    for line in lines(networks, sizes, algorithms, options.sets, folder, options.shuffled):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
