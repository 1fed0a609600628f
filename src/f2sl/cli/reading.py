"""From a file named on the command line to a table of states or of real numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from f2sl.errors import DataError, FileError, unknown_name

if TYPE_CHECKING:
    from f2sl.data import DiscreteTable, NumericTable


@dataclass(frozen=True)
class Reading:
    """Which file to read, and how."""

    path: Path
    delimiter: str | None
    header: bool
    bins: int | dict[str, int] | None
    binning: str
    missing: str
    kind: str
    drop: tuple[str, ...] = ()

    def check_exists(self) -> None:
        """Refuse a file that is not there, at once: what reads files takes a while to load."""
        try:
            there = self.path.exists()
        except OSError as error:
            raise FileError(f"{self.path}: {error.strerror or error}") from None
        if not there:
            raise FileError(f"{self.path}: no such file")

    def params(self) -> dict[str, Any]:
        """What learners call these options, those left at their defaults excepted."""
        params = {"bins": self.bins, "binning": self.binning, "missing": self.missing, "kind": self.kind}
        usual = {"bins": None, "binning": "quantile", "missing": "error", "kind": "auto"}
        return {name: value for name, value in params.items() if value != usual[name]}

    def read(self, learner: str, kinds: tuple[str, ...]) -> DiscreteTable | NumericTable:
        """Read the table, as one of the kinds that a learner takes."""
        from f2sl._progress import stage
        from f2sl.data import as_either, kind_for, read_table

        with stage("reading the table"):
            data: Any = self.path
            if self.delimiter is not None or not self.header or self.drop:
                data = read_table(self.path, delimiter=self.delimiter, header=self.header)
            for column in self.drop:
                if column not in data.column_names:
                    raise DataError(unknown_name("column", column, data.column_names))
            if self.drop:
                data = data.drop_columns([*dict.fromkeys(self.drop)])
            table = as_either(
                data,
                kind_for(self.kind, kinds, learner),
                bins=self.bins,
                binning=self.binning,
                missing=self.missing,
                min_variables=2,
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
