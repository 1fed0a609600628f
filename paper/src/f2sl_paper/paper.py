"""The figures of the F2SL paper: means and standard deviations over ten data sets.

Yu, Ling, Liu, Li, Wang, Li. Feature Selection for Efficient Local-to-Global Bayesian Network Structure
Learning. Tables 1 to 7.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Figure(NamedTuple):
    """Mean and standard deviation."""

    mean: float
    deviation: float

    def agrees(self, mean: float, last_digit: float) -> bool:
        """Return whether a mean is within two standard deviations of this one, or within 10 %.

        The paper rounds: half of the last digit that it prints is within any bound.
        """
        return abs(mean - self.mean) <= max(2 * self.deviation, 0.1 * self.mean) + last_digit / 2


@cache
def figures(table: str) -> dict[tuple[str, int, str], dict[str, Figure]]:
    """Read a table: by network, rows and algorithm (in small letters), the figure of each measure.

    Where the paper prints "-" (no result within 48 hours) there are no figures. The normalised tables have
    no standard deviations; theirs are 0.

    Examples
    --------
    >>> figures("structure_errors")["mildew", 500, "gsbn"]["shd"]
    Figure(mean=41.4, deviation=0.52)
    >>> figures("structure_errors")["munin", 500, "ggsl"]
    {}
    """
    found = {}
    for row in _rows(table):
        key = row.pop("network").lower(), int(row.pop("size")), row.pop("algorithm").lower()
        measures = [name for name in row if not name.endswith("_sd")]
        found[key] = {
            name: Figure(float(row[name]), float(row.get(f"{name}_sd", 0))) for name in measures if row[name]
        }
    return found


def gave_up(network: str, rows: int, learner: str) -> bool:
    """Return whether the paper prints "-" for a learner: no result within 48 hours.

    Examples
    --------
    >>> gave_up("munin", 500, "ggsl"), gave_up("mildew", 500, "ggsl")
    (True, False)
    """
    return any(
        figures(table).get((network, rows, learner)) == {} for table in ("structure_errors", "pc_learners")
    )


@cache
def networks() -> dict[str, dict[str, int]]:
    """Read table 1: by network, what it is like.

    Examples
    --------
    >>> networks()["mildew"]["variables"]
    35
    """
    return {row.pop("network").lower(): {name: int(row[name]) for name in row} for row in _rows("networks")}


def _rows(table: str) -> list[dict[str, str]]:
    text = files("f2sl_paper").joinpath("paper_figures", f"{table}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
