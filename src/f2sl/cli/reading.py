"""Options of reading a table on the command line, and ``f2sl check``, which shows how one is read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from f2sl._notes import Note, Use, of_kind
from f2sl._options import CATALOGUE, Option
from f2sl._reading import KINDS, READING
from f2sl.cli import output
from f2sl.cli.errors import Reported
from f2sl.cli.options import AsJson, DataFile, parameter, postponed, records, spread, texts
from f2sl.cli.output import count
from f2sl.cli.program import examples
from f2sl.errors import FileError, OptionError, printable

if TYPE_CHECKING:
    from f2sl.data.table import Table


@dataclass(frozen=True)
class TableOptions:
    """File or folder to read, number of threads, and all options of reading, under their names in Python."""

    data: str
    jobs: int | None
    given: Mapping[str, Any]

    @classmethod
    def of(cls, data: str, n_jobs: int | None, **values: Any) -> TableOptions:
        """Return what was given on the command line, in Python's terms."""
        by_kind = {kind: values.pop(kind, None) or [] for kind in KINDS}
        given = {name: option.default for name, option in READING.items() if name != "names"}
        for name, value in values.items():
            if switch := READING[name].switch:
                given[name] = switch[1] if value else given[name]
            elif value is not None:
                given[name] = value
        given["bins"] = postponed(parse_bins, given["bins"])
        given["kinds"] = postponed(_kinds, given["kinds"], by_kind) or READING["kinds"].default
        return cls(data, n_jobs, given)

    @property
    def location(self) -> Path | None:
        """Path of the file or folder; None for the standard input."""
        return None if self.data == "-" else Path(self.data)

    def check(self) -> None:
        """Check the existence of the file before reading, which may take long."""
        if not self.data:
            raise FileError("the path is empty; give a file, a folder, or - for the standard input")
        try:
            there = self.location is None or self.location.exists()
        except OSError as error:
            raise FileError(f"{self.data}: {error.strerror or error}", path=str(self.data)) from None
        if not there:
            raise FileError(f"{self.data}: no such file", path=str(self.data))

    def options(self) -> dict[str, Any]:
        """Return the options under their names in `open_table`."""
        return dict(self.given)

    def for_resampling(self) -> TableOptions:
        """Return the options with the table in memory; the scheduler is used for the replicates."""
        engine = "auto" if self.given["engine"] == "dask" else self.given["engine"]
        return replace(self, given={**self.given, "engine": engine, "scheduler": None})

    def noted(self, table: Table) -> Table:
        """Return the table, with a note if its first line may have been data."""
        return table.with_notes(*self.with_names(table.notes, table.names))

    def with_names(self, notes: Iterable[Note], names: Sequence[str]) -> list[Note]:
        """Return notes, with one more if the first line may have been data and none says so."""
        notes = list(notes)
        are_numbers = len(names) > 0 and all(map(_is_number, names))
        if self.given["header"] and are_numbers and not of_kind(notes, "names-like-values"):
            text = "all column names are numbers; if the first line is data, use "
            notes.append(Note("names", text, Use("header", False)))
        return notes


def _kinds(of_all: str, by_kind: Mapping[str, Sequence[str]]) -> str | dict[str, str]:
    """Return the kinds of columns: one for all, or those that have been named."""
    named: dict[str, str] = {}
    for kind, columns in by_kind.items():
        for name in columns:
            if named.setdefault(name, kind) != kind:
                flags = " and ".join(f"--{one}" for one in reversed(KINDS))
                raise OptionError(f"{flags} both name column {name!r}", columns=[name])
    if named and of_all != READING["kinds"].default:
        flags = " and ".join(f"--{one}" for one in reversed(KINDS))
        raise OptionError(f"--kinds applies to all columns: leave it out beside {flags}")
    return named or of_all


def parse_bins(given: Sequence[str] | None) -> dict[str, int | str] | None:
    """Parse the values of ``--bins``: a number or auto for all columns (``*``), or ``column=number``.

    Examples
    --------
    >>> parse_bins(["5"])
    {'*': 5}
    >>> parse_bins(["auto", "age=4", "a=b=3"])
    {'*': 'auto', 'age': 4, 'a=b': 3}
    """
    if not given:
        return None
    columns: dict[str, int | str] = {}
    for text in given:
        column, equals, number = text.rpartition("=")
        column = column if equals else "*"
        if number != "auto" and not number.strip("-").isdecimal():
            raise OptionError(f"--bins takes a whole number, auto or COLUMN=NUMBER, not {text!r}")
        if column in columns:
            where = f"column {column!r}" if equals else "all columns"
            raise OptionError(f"--bins is given twice for {where}")
        columns[column] = number if number == "auto" else int(number)
    return columns


def _parameters() -> list[inspect.Parameter]:
    """Return the parameters of commands that read a table: the data, and the options of reading."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    found = [inspect.Parameter("data", keyword, annotation=DataFile), parameter(CATALOGUE["n_jobs"])]
    for option in READING.values():
        if option.name != "names":
            default = None if option.repeats or option.switch else option.default
            found.append(parameter(option, default=default))
        if option.name == "kinds":
            for kind in KINDS:
                own = Option(kind, option.check, repeats=True, metavar="COLUMN", purpose=option.purpose)
                found.append(parameter(own.says(f"Columns to treat as {kind}.")))
    return found


def with_reading_options(command: Callable[..., None], but: Sequence[str] = ()) -> Callable[..., None]:
    """Replace the parameter ``reading`` of a command by the file and the options of reading, `but` some."""
    after = "algorithm" if "algorithm" in inspect.signature(command).parameters else None
    own = [one for one in _parameters() if one.name not in but]
    return spread(command, "reading", own, TableOptions.of, after=after)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


CHECK_EXAMPLES = examples(
    "f2sl check people.csv",
    "f2sl check people.csv --bins 5 --discrete region --drop id --json",
)


@with_reading_options
def check(reading: TableOptions, as_json: AsJson = False) -> None:
    """Show how each column of a table is read, and all problems, each with the option that solves it.

    Nothing is written. The exit code is 2 if there are problems.
    """
    reading.check()
    from f2sl.data.open import check as check_table

    report = check_table(reading.data, **reading.options())
    problems = texts(report.problems)
    notes = reading.with_names(report.notes, [column.name for column in report.columns if column.kind])
    if as_json:
        columns = [column._asdict() for column in report.columns]
        found = {"notes": records(notes), "problems": records(report.problems)}
        output.show_json({"rows": report.n_rows, "columns": columns, **found})
    else:
        rows = [tuple(printable(str(cell)) for cell in column) for column in report.columns]
        title = f"{printable(reading.data)}: {count(report.n_rows, 'row')}, {count(len(rows), 'column')}"
        headings = ("column", "kind", "values", "missing", "read as", "why")
        output.show(output.columns(title, headings, rows, right=[3]))
        lines = [("Note", note) for note in texts(notes)]
        lines += [("Problem", problem) for problem in problems]
        if lines:
            output.show(output.pairs((label, printable(text)) for label, text in lines))
    if problems:
        raise Reported(
            f"{count(len(problems), 'problem')}: {problems[0]}"
            if as_json
            else f"{count(len(problems), 'problem')}; see above"
        )
