"""From files named on the command line to a table of states or of real numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from f2sl.cli.options import (
    Binning,
    Bins,
    DataFile,
    Delimiter,
    Drop,
    Engine,
    Jobs,
    Kinds,
    Memory,
    Missing,
    NoHeader,
    Scheduler,
    parse_bins,
    spread,
)
from f2sl.errors import FileError

if TYPE_CHECKING:
    from f2sl.table import Table


@dataclass(frozen=True)
class Reading:
    """Which file or folder to read, and how, as it was written on the command line."""

    data: DataFile
    jobs: Jobs = None
    bins: Bins = None
    binning: Binning = "quantile"
    missing: Missing = "available"
    kinds: Kinds = "auto"
    engine: Engine = "auto"
    memory: Memory = None
    scheduler: Scheduler = None
    delimiter: Delimiter = None
    no_header: NoHeader = False
    drop: Drop = None

    def check(self) -> None:
        """Refuse what is no option, and a file that is not there, at once: reading takes a while to load."""
        from f2sl._memory import memory_limit
        from f2sl._threads import resolve_jobs

        parse_bins(self.bins)
        memory_limit(self.memory, self.engine)
        resolve_jobs(self.jobs)
        try:
            there = self.data.exists()
        except OSError as error:
            raise FileError(f"{self.data}: {error.strerror or error}") from None
        if not there:
            raise FileError(f"{self.data}: no such file")

    def options(self) -> dict[str, Any]:
        """Return what `open_table` calls these options."""
        names = ("binning", "missing", "kinds", "engine", "memory", "scheduler", "delimiter")
        options = {name: getattr(self, name) for name in names}
        return options | {
            "bins": parse_bins(self.bins),
            "header": not self.no_header,
            "drop": self.drop or (),
        }

    def read(self, algorithm: str, learner: Any) -> Table:
        """Read the table, as one of the kinds that a learner takes."""
        from f2sl._progress import stage
        from f2sl.reading.open import open_for

        with stage("reading the table"):
            table = open_for(learner.takes, algorithm, self.data, self.jobs, **self.options())
        if not self.no_header and all(_is_number(name) for name in table.names):
            note = "all columns are called by numbers; if the first line is data, say --no-header"
            return table.with_notes(*table.notes, note)
        return table


def with_reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Turn the parameter ``reading`` of a command into the file and one option for each way of reading it."""
    fields = inspect.signature(Reading, eval_str=True).parameters.values()
    return spread(command, "reading", list(fields), Reading, after="algorithm")


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
