"""The file of figures: the machine and versions they were measured with, and a line for each cell."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from f2sl.experiments.harness.job import DONE, FAILED, Ended, Limits
from f2sl.experiments.harness.lines import NONE, Lines
from f2sl.experiments.harness.machine import describe
from f2sl.experiments.harness.schedule import Known, Place
from f2sl.network.bundled import bundled_sizes
from learners import PACKAGES

Cell = dict[str, Any]
"""A network, its variables, rows, a learner, and figures or one of "stopped", "failed", "not run"."""
VARIABLES = {size.name: size.variables for size in bundled_sizes()}


class Key(NamedTuple):
    """One cell: a learner on one table."""

    network: str
    rows: int
    learner: str


def place_of(key: Key) -> Place:
    """Return the place of a cell in a schedule: a learner that was stopped is not run on larger tables."""
    return Place(key.learner, (VARIABLES[key.network], key.rows))


class Results(Lines[Key]):
    """Figures in a file; cells in `again` are measured again."""

    def __init__(self, path: Path, limits: Limits = NONE, again: Collection[Key] = ()) -> None:
        super().__init__(path, Key, limits)
        self._again = again
        self._started: dict[Key, Cell] = {}

    @property
    def cells(self) -> list[Cell]:
        """All cells, in the order in which they were first measured."""
        return [{**key._asdict(), **found} for key, found in self.results.items()]

    def leave_others(self) -> None:
        """Move the file aside if its figures are of another machine or of other versions."""
        setting = describe(PACKAGES)
        if self.heads and self.heads != [setting]:
            aside = self.path.with_name(f"{self.path.stem}.others{self.path.suffix}")
            self.path.replace(aside)
            print(f"{aside} now holds the figures of another machine or of other versions", flush=True)
            self.results = {}
        self.heads = [setting]

    def known(self) -> dict[Key, Known]:
        """Return how cells ended so far; those that failed are not tried again unless asked for."""
        return {
            key: stored._replace(state=DONE) if stored.state == FAILED else stored
            for key, stored in super().known().items()
            if key not in self._again
        }

    def start(self, key: Key) -> None:
        """Take note of when a cell starts, and of the load of the machine before."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._started[key] = {"date": now, "load": os.getloadavg()[0]}

    def record(self, ended: Ended[Key]) -> Cell:
        """Return what is stored of a cell beside its key."""
        size = {"variables": VARIABLES[ended.key.network]}
        if over := ended.blocked_by:
            return size | {"not run": f"stopped on {over.network} at {over.rows:,} rows"}
        brief = replace(ended, message=" ".join(ended.message.split())[:300])
        return size | self._started[ended.key] | super().record(brief)

    def shown(self, key: Key) -> str:
        """Return a cell as a line for the terminal."""
        cell = self.results[key]
        where = f"{key.network:<11}{key.rows:>6,}  {key.learner:<24}"
        if "seconds" in cell:
            return (
                f"{where}{cell['seconds']:>10.3f} s  SHD {cell['shd']:>5}  F1 {cell['f1']:.3f}"
                f"{cell['above_mb']:>8.0f} MB more, {cell['peak_mb']:.0f} in all"
            )
        return where + "".join(
            f"{word}: {cell[word]}" for word in ("stopped", "failed", "not run") if word in cell
        )
