"""From files named on the command line to a table of states or of real numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from f2sl.cli.options import parse_bins
from f2sl.errors import FileError

if TYPE_CHECKING:
    from f2sl.data.opening import Table


@dataclass(frozen=True)
class Reading:
    """Which file or folder to read, and how, as it was written on the command line."""

    path: Path
    delimiter: str | None
    header: bool
    bins: list[str] | None
    binning: str
    missing: str
    kind: str
    engine: str
    memory: str | None
    scheduler: str | None
    jobs: int | None
    drop: Sequence[str] = ()

    def check(self) -> None:
        """Refuse what is no option, and a file that is not there, at once: reading takes a while to load."""
        from f2sl._memory import memory_limit
        from f2sl._threads import resolve_jobs

        parse_bins(self.bins)
        memory_limit(self.memory, self.engine)
        resolve_jobs(self.jobs)
        try:
            there = self.path.exists()
        except OSError as error:
            raise FileError(f"{self.path}: {error.strerror or error}") from None
        if not there:
            raise FileError(f"{self.path}: no such file")

    def params(self) -> dict[str, Any]:
        """What learners call these options, those left at their defaults excepted."""
        params = {
            name: getattr(self, name)
            for name in ("binning", "missing", "kind", "engine", "memory", "scheduler")
        }
        params["bins"] = parse_bins(self.bins)
        usual = {"bins": None, "binning": "quantile", "missing": "error", "kind": "auto"}
        usual |= {"engine": "auto", "memory": None, "scheduler": None}
        return {name: value for name, value in params.items() if value != usual[name]}

    def read(self, learner: str, kinds: tuple[str, ...]) -> Table:
        """Read the table, as one of the kinds that a learner takes."""
        from f2sl._memory import memory_limit
        from f2sl._progress import stage
        from f2sl._threads import resolve_jobs
        from f2sl.data import kind_for
        from f2sl.data.opening import open_table

        with stage("reading the table"):
            table = open_table(
                self.path,
                kind_for(self.kind, kinds, learner),
                engine=self.engine,
                memory=memory_limit(self.memory),
                scheduler=self.scheduler,
                n_workers=resolve_jobs(self.jobs),
                bins=parse_bins(self.bins),
                binning=self.binning,
                missing=self.missing,
                min_variables=2,
                delimiter=self.delimiter,
                header=self.header,
                drop=self.drop,
            )
        if self.header and all(_is_number(name) for name in table.names):
            note = "all columns are called by numbers; if the first line is data, say --no-header"
            return replace(table, notes=(*table.notes, note))
        return table


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
