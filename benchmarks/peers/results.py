"""The file of figures: the machine and versions they were measured with, and a line for each cell."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from f2sl.network.bundled import bundled_sizes
from f2sl_paper.harness.job import Ended, Limits
from f2sl_paper.harness.lines import NONE, Lines
from f2sl_paper.harness.machine import describe
from f2sl_paper.harness.schedule import Place
from learners import PACKAGES

Cell = dict[str, Any]
"""Network, variables, rows, learner, and figures or one of "stopped", "over memory", "failed", "not run"."""
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
    """Figures in a file."""

    def __init__(self, path: Path, limits: Limits = NONE) -> None:
        super().__init__(path, Key, limits)
        self._started: dict[Key, Cell] = {}

    @property
    def cells(self) -> list[Cell]:
        """All cells, in the order in which they were first measured."""
        return [{**key._asdict(), **found} for key, found in self.results.items()]

    def leave_others(self) -> None:
        """Move the file aside if its figures are of another machine or of other versions."""
        if self.heads not in ([], [describe(PACKAGES)]):
            aside = self.path.with_name(f"{self.path.stem}.others{self.path.suffix}")
            self.path.replace(aside)
            print(f"{aside} now holds the figures of another machine or of other versions", flush=True)
            self.heads, self.results = [], {}

    def head(self, key: Key) -> Cell:
        """Return the machine and the versions."""
        return describe(PACKAGES)

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
