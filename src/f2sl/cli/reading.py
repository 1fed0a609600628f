"""Options of reading a table on the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from f2sl._notes import Note, Use
from f2sl.cli.options import (
    Binning,
    Bins,
    Comment,
    DataFile,
    DateParts,
    Delimiter,
    Drop,
    Encoding,
    Engine,
    Jobs,
    Keep,
    Kinds,
    Memory,
    MergeAliases,
    Missing,
    Na,
    NoHeader,
    Number,
    Scheduler,
    States,
    Transform,
    Weights,
    parse_bins,
    spread,
)
from f2sl.errors import FileError, OptionError

if TYPE_CHECKING:
    from f2sl.data.table import Table


@dataclass(frozen=True)
class TableOptions:
    """File or folder to read and the options of reading, as given on the command line."""

    data: DataFile
    jobs: Jobs = None
    bins: Bins = None
    binning: Binning = "quantile"
    missing: Missing = "available"
    kinds: Kinds = "auto"
    number: Number = None
    states: States = None
    weights: Weights = None
    merge_aliases: MergeAliases = False
    transform: Transform = "auto"
    engine: Engine = "auto"
    memory: Memory = None
    scheduler: Scheduler = None
    delimiter: Delimiter = None
    no_header: NoHeader = False
    encoding: Encoding = None
    comment: Comment = None
    na: Na = None
    drop: Drop = None
    keep: Keep = None
    date_parts: DateParts = None

    @property
    def place(self) -> Path | None:
        """Path of the file or folder; None for the standard input."""
        return None if self.data == "-" else Path(self.data)

    def check(self) -> None:
        """Check options and the existence of the file before reading, which may take long."""
        self.options()
        if not self.data:
            raise FileError("the path is empty; give a file, a folder, or - for the standard input")
        try:
            there = self.place is None or self.place.exists()
        except OSError as error:
            raise FileError(f"{self.data}: {error.strerror or error}") from None
        if not there:
            raise FileError(f"{self.data}: no such file")

    def options(self) -> dict[str, Any]:
        """Return the options under their names in `open_table`."""
        names = ("binning", "missing", "weights", "transform", "engine", "memory", "scheduler")
        options = {name: getattr(self, name) for name in (*names, "delimiter", "encoding", "comment")}
        return options | {
            "kinds": self._kinds(),
            "bins": parse_bins(self.bins),
            "aliases": "merge" if self.merge_aliases else "keep",
            "header": not self.no_header,
            "na": self.na or (),
            "drop": self.drop or (),
            "keep": self.keep or (),
            "date_parts": self.date_parts or (),
        }

    def for_resampling(self) -> TableOptions:
        """Return the options with the table in memory; the scheduler is used for the replicates."""
        return replace(self, engine="auto" if self.engine == "dask" else self.engine, scheduler=None)

    def _kinds(self) -> str | dict[str, str]:
        number, states = self.number or [], self.states or []
        for name in number:
            if name in states:
                raise OptionError(f"--number and --states both name column {name!r}", columns=[name])
        if (number or states) and self.kinds != "auto":
            raise OptionError("--kinds applies to all columns: leave it out beside --number and --states")
        named = dict.fromkeys(number, "number") | dict.fromkeys(states, "states")
        return named or self.kinds

    def noted(self, table: Table) -> Table:
        """Return the table, with a note if its first line may have been data."""
        if not self.no_header and all(_is_number(name) for name in table.names):
            text = "all column names are numbers; if the first line is data, use "
            return table.with_notes(*table.notes, Note("names", text, Use("header", False)))
        return table


def with_reading_options(command: Callable[..., None], but: Sequence[str] = ()) -> Callable[..., None]:
    """Replace the parameter ``reading`` of a command by the file and the options of reading, `but` some."""
    after = "algorithm" if "algorithm" in inspect.signature(command).parameters else None
    fields = inspect.signature(TableOptions, eval_str=True).parameters.values()
    own = [field for field in fields if field.name not in but]
    return spread(command, "reading", own, TableOptions, after=after)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
