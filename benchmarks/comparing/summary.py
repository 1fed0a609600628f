"""Means over data sets and cells.

A *cell* is a network with a number of rows. A learner *has* a cell when all of the data sets there were
measured; one that was stopped on any of them does not have it, and gets no number for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from comparing.store import Key

NEAR = 1.1
"""How far above the lowest SHD still counts as near it."""

MEASURES: dict[str, Callable[[Mapping[str, Any]], float]] = {
    "shd": lambda run: run["shd"],
    "shd_per_edge": lambda run: run["shd"] / run["edges"],
    "shd_cpdag": lambda run: run["shd_cpdag"],
    "cpdag_per_edge": lambda run: run["shd_cpdag"] / run["edges"],
    "f1": lambda run: run["f1"],
    "skeleton_f1": lambda run: run["skeleton_f1"],
    "bdeu": lambda run: run["bdeu"],
    "sid": lambda run: run["sid"],
    "ancestor_aid": lambda run: run["ancestor_aid"],
    "seconds": lambda run: run["seconds"],
    "log_times": lambda run: math.log(run["seconds"] / run["beside"]),
}
"""What is averaged, from the result of one run; `log_times` is against the yardstick."""


class Cell(NamedTuple):
    """A network and a number of rows."""

    network: str
    rows: int


class Summary:
    """The results of some learners, cell by cell."""

    def __init__(
        self, results: Mapping[Key, Mapping[str, Any]], learners: Sequence[str], networks: Sequence[str]
    ) -> None:
        self.learners = [name for name in learners if any(key.learner == name for key in results)]
        self._runs: dict[tuple[str, Cell], dict[int, Mapping[str, Any]]] = {}
        sets: dict[Cell, set[int]] = {}
        for key, result in results.items():
            if key.learner in self.learners and key.network in networks:
                cell = Cell(key.network, key.rows)
                self._runs.setdefault((key.learner, cell), {})[key.data_set] = result
                sets.setdefault(cell, set()).add(key.data_set)
        self.sets = sets
        self.cells = sorted(sets, key=lambda cell: (networks.index(cell.network), cell.rows))
        self.shared = [cell for cell in self.cells if all(self.has(name, cell) for name in self.learners)]

    def sets_of_each(self) -> str:
        """Describe how many data sets the cells have."""
        numbers = sorted({len(sets) for sets in self.sets.values()})
        if numbers == [1]:
            return "one data set of each"
        return " to ".join(map(str, dict.fromkeys((numbers[0], numbers[-1])))) + " data sets of each"

    def has(self, learner: str, cell: Cell) -> bool:
        """Return whether a learner was measured on all data sets of a cell."""
        runs = self._runs.get((learner, cell), {})
        return set(runs) == self.sets[cell] and all("shd" in run for run in runs.values())

    def cells_of(self, learner: str) -> list[Cell]:
        """List the cells that a learner has."""
        return [cell for cell in self.cells if self.has(learner, cell)]

    def why_not(self, learner: str, cell: Cell) -> str:
        """Return why a learner does not have a cell."""
        runs = self._runs.get((learner, cell), {}).values()
        limits = [run[why] for run in runs for why in ("stopped", "not run") if why in run]
        if limits:
            return f"over {max(limits):g} s"
        told = [why for why in ("over memory", "failed") if any(why in run for run in runs)]
        return told[0] if told else "not run yet"

    def mean(self, learner: str, cell: Cell, measure: str) -> float:
        """Average a measure over the data sets of a cell that the learner has."""
        return fmean(MEASURES[measure](run) for run in self._runs[learner, cell].values())

    def over(self, learner: str, cells: Iterable[Cell], measure: str) -> float:
        """Average a measure over cells; not a number where there are none."""
        found = [self.mean(learner, cell, measure) for cell in cells]
        return fmean(found) if found else math.nan

    def lowest(self, cell: Cell, measure: str = "shd") -> float:
        """Return the lowest mean SHD of those that have a cell."""
        means = (self.mean(name, cell, measure) for name in self.learners if self.has(name, cell))
        return min(means, default=math.nan)

    def within(self, learner: str, factor: float) -> int:
        """Count the cells in which a learner's mean SHD is at most so many times the lowest."""
        return sum(
            self.mean(learner, cell, "shd") <= factor * self.lowest(cell) for cell in self.cells_of(learner)
        )

    def below_best_score(self, learner: str, cells: Iterable[Cell]) -> float:
        """Return by how much a learner's BDeu falls short of the best in the cell, in nats for each row."""
        gaps = []
        for cell in cells:
            best = max(self.mean(other, cell, "bdeu") for other in self.learners if self.has(other, cell))
            gaps.append((best - self.mean(learner, cell, "bdeu")) / cell.rows)
        return fmean(gaps) if gaps else math.nan
