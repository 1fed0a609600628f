"""The file of figures: one cell for each network, number of rows and learner, written after each of them."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from f2sl.experiments.harness.machine import describe
from f2sl.graph.atomic import write_atomically
from learners import PACKAGES

Cell = dict[str, Any]
"""A network, its variables, rows, a learner, and figures or one of "stopped", "failed", "not_run"."""


class Results:
    """Cells in a file, and the machine and versions they were measured with; others are left alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.setting: dict[str, Any] = _this_setting()
        self.cells: list[Cell] = []
        if path.exists():
            self.setting = json.loads(path.read_text(encoding="utf-8"))
            self.cells = self.setting.pop("cells")

    def leave_others(self) -> None:
        """Begin anew, beside the file, where it holds figures of another machine or of other versions."""
        if self.setting != _this_setting():
            aside = self.path.with_name(f"{self.path.stem}.others{self.path.suffix}")
            self.path.replace(aside)
            print(f"{aside} now holds the figures of another machine or of other versions", flush=True)
            self.setting, self.cells = _this_setting(), []

    def find(self, network: str, rows: int, learner: str) -> Cell | None:
        """Return the cell of that name, if there is one."""
        for cell in self.cells:
            if (cell["network"], cell["rows"], cell["learner"]) == (network, rows, learner):
                return cell
        return None

    def put(self, cell: Cell) -> None:
        """Put a cell in the place of an older one of the same name, and write the file."""
        older = self.find(cell["network"], cell["rows"], cell["learner"])
        if older is not None:
            self.cells.remove(older)
        self.cells.append(cell)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, json.dumps({**self.setting, "cells": self.cells}, indent=1) + "\n")

    def hopeless(self, network: str, variables: int, rows: int, learner: str, limit: float) -> str | None:
        """Say where a learner was stopped, no earlier, on another table that is no larger, if it was."""
        for cell in self.cells:
            smaller = cell["variables"] <= variables and cell["rows"] <= rows
            other = (cell["network"], cell["rows"]) != (network, rows)
            if cell["learner"] == learner and cell.get("stopped", 0) >= limit and smaller and other:
                return f"stopped on {cell['network']} at {cell['rows']:,} rows"
        return None


def _this_setting() -> dict[str, Any]:
    here = describe()
    versions = {package: version(package) for package in PACKAGES}
    return {
        "machine": here["machine"],
        "versions": {"python": here["versions"]["python"], **versions},
    }
