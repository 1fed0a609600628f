"""The file of figures: one cell for each network, number of rows and learner, written after each of them."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from f2sl.experiments.machine import describe
from f2sl.graph.atomic import write_atomically
from learners import PACKAGES

Cell = dict[str, Any]
"""A network, its variables, rows, a learner, and figures or one of "stopped", "failed", "not_run"."""


class Results:
    """Cells in a file; what is there when it is opened stays, unless it was measured elsewhere."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.setting: dict[str, Any] = {
            "machine": describe()["machine"],
            "versions": {"python": describe()["versions"]["python"]}
            | {package: version(package) for package in PACKAGES},
        }
        self.cells: list[Cell] = []
        if path.exists():
            stored = json.loads(path.read_text(encoding="utf-8"))
            self.cells = stored.pop("cells")
            if stored != self.setting:
                raise SystemExit(
                    f"{path} holds figures of another machine or of other versions; move it away, "
                    "or name another file with --json"
                )

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

    def hopeless(self, variables: int, rows: int, learner: str) -> str | None:
        """Say where a learner was stopped on a table no larger in either way, if it was."""
        for cell in self.cells:
            smaller = cell["variables"] <= variables and cell["rows"] <= rows
            if cell["learner"] == learner and "stopped" in cell and smaller:
                return f"stopped on {cell['network']} at {cell['rows']:,} rows"
        return None
