"""Tables in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from comparing.summary import NEAR, Summary

DISTANCES = ("shd", "shd_cpdag", "sid", "ancestor_aid")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Put rows under a head; all columns but the first are figures."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def number(value: float, digits: int) -> str:
    """Write a number, or a dash for what is not one."""
    return "-" if math.isnan(value) else f"{value:,.{digits}f}"


def by_cell(summary: Summary, measure: str, digits: int) -> str:
    """Return the mean of a measure for each cell and learner; the lowest distance is in bold type."""
    rows = []
    for cell in summary.cells:
        line = [f"{cell.network} {cell.rows:,}"]
        for name in summary.learners:
            if not summary.has(name, cell):
                line.append(summary.why_not(name, cell))
                continue
            mean = summary.mean(name, cell, measure)
            shown = number(mean, digits)
            best = measure in DISTANCES and mean == summary.lowest(cell, measure)
            line.append(f"**{shown}**" if best else shown)
        rows.append(line)
    return table(["network, rows", *summary.learners], rows)


def overall(summary: Summary) -> str:
    """Return each learner's means over the cells that all have."""
    head = ["", "SHD per edge", "of CPDAGs", "Ar_F1", "skeleton F1", "BDeu below the best"]
    rows = [
        [
            name,
            *(
                number(summary.over(name, summary.shared, measure), 3)
                for measure in ("shd_per_edge", "cpdag_per_edge", "f1", "skeleton_f1")
            ),
            number(summary.below_best_score(name, summary.shared), 2),
        ]
        for name in summary.learners
    ]
    return table(head, rows)


def own_cells(summary: Summary, beside: str) -> str:
    """Return each learner's means over all cells that it has, with those of another on the same cells."""
    head = [
        "",
        "cells",
        "SHD per edge",
        "Ar_F1",
        f"{beside} there",
        "lowest SHD in",
        "within 10 % in",
        "times",
    ]
    rows = []
    for name in summary.learners:
        cells = summary.cells_of(name)
        both = [cell for cell in cells if summary.has(beside, cell)]
        there = [number(summary.over(beside, both, measure), 3) for measure in ("shd_per_edge", "f1")]
        rows.append(
            [
                name,
                f"{len(cells)} of {len(summary.cells)}",
                number(summary.over(name, cells, "shd_per_edge"), 3),
                number(summary.over(name, cells, "f1"), 3),
                ", ".join(there) if both else "-",
                str(summary.within(name, 1.0)),
                str(summary.within(name, NEAR)),
                number(math.exp(summary.over(name, cells, "log_times")), 1),
            ]
        )
    return table(head, rows)


def configurations(summary: Summary) -> str:
    """Compare ways of running a learner: means over the cells that all have, by rows and in all."""
    sizes = sorted({cell.rows for cell in summary.shared})
    head = [
        "",
        *(f"SHD per edge, {size:,}" for size in sizes),
        "SHD per edge",
        "Ar_F1",
        "skeleton F1",
        "times",
    ]
    rows = []
    for name in summary.learners:
        by_size = [[cell for cell in summary.shared if cell.rows == size] for size in sizes]
        rows.append(
            [
                name,
                *(number(summary.over(name, cells, "shd_per_edge"), 3) for cells in by_size),
                *(
                    number(summary.over(name, summary.shared, measure), 3)
                    for measure in ("shd_per_edge", "f1", "skeleton_f1")
                ),
                number(math.exp(summary.over(name, summary.shared, "log_times")), 1),
            ]
        )
    return table(head, rows)
