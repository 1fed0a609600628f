"""The learners by score on the F2SL paper's own data, beside tables 2, 3, 4 and 6 of the paper.

    F2SL_MMHC_DATA=folder python benchmarks/paper_scores.py [network ...]

SLL-PC and S2TMB-PC with F1, precision and recall over all variables; SLL+C, SLL+G and GGSL, as DAGs, with
SHD, reverse, miss and extra, and F1, precision and recall of arrowheads. Means over ten data sets, seconds
for all variables of one. A row is "within" if every mean is within two of the paper's standard deviations or
10 %. Where the paper has no figures (over 48 hours), ours stand alone: the learner then gets an hour for
the ten data sets, and where it does not come through them it is said how far it came.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass

import numpy as np

import f2sl
from f2sl.counting.memory import MemoryEngine
from f2sl.data import as_table
from f2sl.experiments.supplement import Supplement
from f2sl.local.base import LOCAL

HOUR = 3600.0
NETWORKS = ("mildew", "hailfinder", "munin")
SIZES = (500, 1000)
PC_LEARNERS = ("sll-pc", "s2tmb-pc")
LEARNERS = ("sll+c", "sll+g", "ggsl")

# (F1, precision, recall), then their standard deviations; table 6
PC = {
    ("mildew", 500, "sll-pc"): (0.53, 0.71, 0.47, 0.03, 0.04, 0.03),
    ("mildew", 500, "s2tmb-pc"): (0.54, 0.71, 0.48, 0.03, 0.03, 0.03),
    ("hailfinder", 500, "sll-pc"): (0.12, 0.13, 0.12, 0.01, 0.02, 0.02),
    ("hailfinder", 500, "s2tmb-pc"): (0.12, 0.14, 0.13, 0.01, 0.01, 0.01),
    ("hailfinder", 1000, "sll-pc"): (0.14, 0.15, 0.14, 0.01, 0.01, 0.01),
    ("hailfinder", 1000, "s2tmb-pc"): (0.14, 0.15, 0.15, 0.01, 0.01, 0.01),
}
# (SHD, reverse, miss, extra), then their standard deviations; tables 2 and 3. In table 3 SLL+G on
# Hailfinder repeats the row of table 2.
ERRORS = {
    ("mildew", 500, "sll+c"): (41.1, 10.3, 26.9, 3.9, 2.69, 1.16, 1.10, 1.29),
    ("mildew", 500, "sll+g"): (42.3, 11.7, 26.9, 3.7, 3.30, 2.41, 1.10, 1.25),
    ("mildew", 500, "ggsl"): (45.6, 7.2, 34.5, 3.9, 1.96, 1.32, 1.58, 1.29),
    ("hailfinder", 500, "sll+c"): (99.7, 1.3, 59.7, 38.7, 3.68, 0.48, 1.06, 2.91),
    ("hailfinder", 500, "sll+g"): (99.7, 2.3, 59.9, 37.5, 3.56, 0.95, 1.20, 2.32),
    ("hailfinder", 500, "ggsl"): (91.5, 1.9, 60.6, 29.0, 10.44, 1.45, 2.63, 11.98),
    ("mildew", 1000, "sll+c"): (33.8, 7.2, 22.6, 4.0, 0.84, 0.45, 0.55, 0.0),
    ("mildew", 1000, "sll+g"): (39.0, 12.2, 22.8, 4.0, 1.73, 1.92, 0.45, 0.0),
    ("hailfinder", 1000, "sll+c"): (96.0, 1.3, 57.8, 36.9, 1.05, 0.67, 0.63, 0.88),
    ("hailfinder", 1000, "sll+g"): (99.7, 2.3, 59.9, 37.5, 3.56, 0.95, 1.20, 2.32),
    ("hailfinder", 1000, "ggsl"): (93.0, 2.3, 57.5, 33.2, 2.21, 0.67, 0.53, 2.04),
}
# (Ar_F1, Ar_Precision, Ar_Recall), then their standard deviations; table 4
ARROWHEADS = {
    ("mildew", 500, "sll+c"): (0.26, 0.38, 0.19, 0.05, 0.07, 0.03),
    ("mildew", 500, "sll+g"): (0.21, 0.32, 0.16, 0.08, 0.12, 0.06),
    ("mildew", 500, "ggsl"): (0.14, 0.28, 0.09, 0.05, 0.09, 0.04),
    ("hailfinder", 500, "sll+c"): (0.09, 0.11, 0.08, 0.02, 0.03, 0.02),
    ("hailfinder", 500, "sll+g"): (0.07, 0.09, 0.06, 0.03, 0.04, 0.03),
    ("hailfinder", 500, "ggsl"): (0.07, 0.11, 0.05, 0.04, 0.07, 0.03),
    ("mildew", 1000, "sll+c"): (0.44, 0.59, 0.35, 0.02, 0.02, 0.02),
    ("mildew", 1000, "sll+g"): (0.30, 0.40, 0.24, 0.05, 0.07, 0.04),
    ("hailfinder", 1000, "sll+c"): (0.12, 0.15, 0.10, 0.01, 0.01, 0.01),
    ("hailfinder", 1000, "sll+g"): (0.11, 0.15, 0.09, 0.03, 0.04, 0.03),
    ("hailfinder", 1000, "ggsl"): (0.12, 0.15, 0.09, 0.02, 0.02, 0.02),
}


@dataclass
class Row:
    """What one learner found on the data sets of one size: a line of figures for each, and the seconds."""

    figures: list[tuple[float, ...]]
    seconds: list[float]
    stopped: str = ""

    def mean(self) -> np.ndarray:
        """Mean figures over the data sets."""
        return np.mean(self.figures, axis=0)


def neighbours(network: Supplement, rows: int, version: int, algorithm: str, limit: float) -> tuple:
    """Figures of a PC learner on one data set, and a note if it ran out of time."""
    table = as_table(network.table(rows, version), names=network.names).in_name_order()
    with MemoryEngine(table) as engine:
        sets = LOCAL.create(algorithm, {"time_limit": limit}).learn_all(engine)
    if not sets.complete:
        return (), sets.notes[0]
    pc = {name: [table.names[m] for m in sets.of(v)[0]] for v, name in enumerate(table.names)}
    found = f2sl.compare_pc(network.truth, pc)
    return (found.f1, found.precision, found.recall), ""


def structure(network: Supplement, rows: int, version: int, algorithm: str, limit: float) -> tuple:
    """Figures of a learner of structures on one data set, and a note if it ran out of time."""
    model = f2sl.learn(network.table(rows, version), algorithm, names=network.names, time_limit=limit)
    if not model.complete_:
        return (), next(note for note in model.notes_ if note.startswith("incomplete"))
    found = f2sl.compare(network.truth, model.graph_.to_dag())
    errors = (found.shd, found.reverse, found.miss, found.extra)
    return (*errors, found.f1, found.precision, found.recall), ""


def run(learn: object, network: Supplement, rows: int, algorithm: str) -> Row:
    """Run a learner on all ten data sets, for an hour at most."""
    row, until = Row([], []), time.monotonic() + HOUR
    for version in range(1, 11):
        started = time.monotonic()
        figures, stopped = learn(network, rows, version, algorithm, max(until - started, 1e-3))
        if stopped:
            row.stopped = f"data set {version}: {stopped}"
            break
        row.figures.append(figures)
        row.seconds.append(time.monotonic() - started)
    return row


def verdict(mean: np.ndarray, paper: tuple[float, ...] | None, digits: int) -> str:
    """Say whether means are within two standard deviations or 10 % of the paper's, or half its last digit."""
    if paper is None:
        return ""
    k = len(mean)
    target, deviation = np.array(paper[:k]), np.array(paper[k:])
    allowed = np.maximum(2 * deviation, 0.1 * target) + 0.5 * 10.0**-digits
    return "within" if (np.abs(mean - target) <= allowed).all() else "differs"


def told(values: object, digits: int) -> str:
    return " ".join(f"{value:.{digits}f}" for value in values)


def show(what: str, mean: np.ndarray, paper: tuple[float, ...] | None, digits: int, seconds: str) -> None:
    theirs = "over 48 hours" if paper is None else told(paper[: len(mean)], digits)
    ours = told(mean, digits + 1 if digits == 2 else digits)
    print(f"{what:<30} {ours:<22} {theirs:<22} {verdict(mean, paper, digits):<8} {seconds}", flush=True)


def main() -> int:
    folder = os.environ.get("F2SL_MMHC_DATA")
    if not folder:
        print("set F2SL_MMHC_DATA to the folder with mildew_data.zip, hailf_data.zip and munin_data.zip")
        return 2
    print(f"{'':<30} {'ours':<22} {'paper':<22} {'':<8} seconds")
    for name in sys.argv[1:] or NETWORKS:
        network = Supplement(folder, name)
        for rows in SIZES:
            for algorithm in (*PC_LEARNERS, *LEARNERS):
                learn = neighbours if algorithm in PC_LEARNERS else structure
                row = run(learn, network, rows, algorithm)
                key = (name, rows, algorithm)
                if row.stopped:
                    print(f"{' '.join(map(str, key)):<30} {len(row.figures)} data sets, then {row.stopped}")
                if not row.figures:
                    continue
                mean, seconds = row.mean(), f"{np.mean(row.seconds):.2f}"
                what = f"{name} {rows} {algorithm}"
                if algorithm in PC_LEARNERS:
                    show(f"{what} PC", mean, PC.get(key), 2, seconds)
                else:
                    show(f"{what} SHD", mean[:4], ERRORS.get(key), 1, seconds)
                    show(f"{what} arrows", mean[4:], ARROWHEADS.get(key), 2, "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
