"""The file of results: ``results.sqlite``, with a row for each unit that has ended.

A *unit* is one learner with one setting on one data set. Every change is a transaction of its own with a
rollback journal, so that a killed process or a full disk loses no finished result.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, field, fields
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from f2sl._version import __version__
from f2sl.errors import FileError

Record = TypeVar("Record")

FILE = "results.sqlite"
FORMAT = "1"

SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE runs (id INTEGER PRIMARY KEY, started TEXT NOT NULL, description TEXT NOT NULL);
CREATE TABLE networks (
    network TEXT, source TEXT, variables INTEGER, edges INTEGER, max_in INTEGER, max_out INTEGER,
    min_pc INTEGER, max_pc INTEGER, min_states INTEGER, max_states INTEGER,
    PRIMARY KEY (network, source)
);
CREATE TABLE units (
    network TEXT, rows INTEGER, data_set INTEGER, learner TEXT, setting TEXT,
    source TEXT NOT NULL, random_state INTEGER, state TEXT NOT NULL, seconds REAL, peak_bytes INTEGER,
    time_limit REAL, memory_limit INTEGER, message TEXT NOT NULL, measures TEXT,
    run INTEGER NOT NULL REFERENCES runs (id),
    PRIMARY KEY (network, rows, data_set, learner, setting)
);
"""


WRONG_VALUES = (ValueError, TypeError, RecursionError)
"""Errors of reading values that f2sl did not store."""


class Unit(NamedTuple):
    """One learner with one setting on one data set: the unit of running and storing."""

    network: str
    rows: int
    data_set: int
    learner: str
    setting: str


@dataclass(frozen=True)
class Outcome:
    """Outcome of a unit; `seconds` and `measures` are set only if it was done."""

    unit: Unit
    source: str
    random_state: int | None
    state: str
    run: int
    seconds: float | None = None
    peak_bytes: int | None = None
    time_limit: float | None = None
    memory_limit: int | None = None
    message: str = ""
    measures: dict[str, float] = field(default_factory=dict)


COLUMNS = ", ".join([*Unit._fields, *(part.name for part in fields(Outcome)[1:])])
"""Columns of the table of units, in the order of the fields of an outcome."""


@dataclass(frozen=True)
class NetworkFacts:
    """Size of a network, as in the paper's table 1."""

    network: str
    source: str
    variables: int
    edges: int
    max_in: int
    max_out: int
    min_pc: int
    max_pc: int
    min_states: int
    max_states: int


DESCRIBED = {
    "machine": {"processor": str, "cores": int, "memory": int, "system": str},
    "versions": dict,
    "threads": int,
    "jobs": int,
    "time_limit": (int, float),
    "memory_limit": (int, float),
}
"""Fields that the description of a run must have, and their types; it may have more."""


@dataclass(frozen=True)
class Results:
    """Content of a file of results; `runs` describe the calls that filled it."""

    outcomes: tuple[Outcome, ...]
    runs: dict[int, dict[str, Any]]
    networks: tuple[NetworkFacts, ...]


class Store:
    """File of results in a folder, opened for writing; created if it does not exist."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        there = self.path.exists()
        with self._telling("open"):
            self._database = sqlite3.connect(self.path, isolation_level=None)
            try:
                self._database.execute("PRAGMA synchronous = FULL")
                if not _tables(self._database):
                    self._create()
                _check(self._database, self.path)
            except BaseException:
                self._database.close()
                if not there:
                    self.path.unlink(missing_ok=True)
                raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def outcomes(self) -> dict[Unit, Outcome]:
        """Return what is stored so far."""
        with self._telling("read"):
            return {outcome.unit: outcome for outcome in _outcomes(self._database)}

    def add_run(self, started: str, description: Mapping[str, Any]) -> int:
        """Store how and where a call runs; return its number."""
        with self._telling("write"):
            row = (started, json.dumps(description))
            done = self._database.execute("INSERT INTO runs (started, description) VALUES (?, ?)", row)
        return int(done.lastrowid or 0)

    def add_networks(self, facts: Iterable[NetworkFacts]) -> None:
        """Store the sizes of networks."""
        self._put("networks", [astuple(one) for one in facts])

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Store outcomes of units, all or none; they replace earlier outcomes of the same units."""
        self._put(f"units ({COLUMNS})", [_row(outcome) for outcome in outcomes])

    def _put(self, table: str, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        marks = ", ".join("?" * len(rows[0]))
        with self._telling("write"), self._transaction():
            self._database.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)

    def _create(self) -> None:
        with self._transaction():
            for statement in SCHEMA.split(";")[:-1]:
                self._database.execute(statement)
            about = [("format", FORMAT), ("f2sl", __version__)]
            self._database.executemany("INSERT INTO about VALUES (?, ?)", about)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    @contextmanager
    def _telling(self, verb: str) -> Iterator[None]:
        """Turn errors of the database into one line about the file."""
        try:
            yield
        except (sqlite3.Error, OSError, *WRONG_VALUES) as error:
            if isinstance(error, FileError):
                raise
            advice = ""
            if verb == "write":
                advice = "; finished results are kept: make room; the same command continues"
            raise FileError(f"cannot {verb} {self.path}: {error}{advice}") from None


def read_results(folder: str | os.PathLike[str]) -> Results:
    """Read all results of a folder.

    Raises
    ------
    FileError
        If there are none, they are of another version, or the file is damaged.
    """
    path = Path(folder) / FILE
    if not path.is_file():
        if Path(folder).is_file():
            raise FileError(f"{folder} is a file, not a folder with results; give the folder that has {FILE}")
        what = "no such folder" if not Path(folder).is_dir() else f"no {FILE} in it"
        raise FileError(f"{folder}: {what}; f2sl reproduce --out {folder} makes one")
    # What a killed process left unfinished is rolled back on opening, which takes the right to write.
    mode = "rw" if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK) else "ro"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)) as database:
            _check(database, path)
            runs = database.execute("SELECT id, started, description FROM runs ORDER BY id").fetchall()
            names = ", ".join(part.name for part in fields(NetworkFacts))
            networks = database.execute(f"SELECT {names} FROM networks").fetchall()
            return Results(
                outcomes=tuple(_outcomes(database)),
                runs={number: _run(started, text) for number, started, text in runs},
                networks=tuple(_checked(NetworkFacts(*row)) for row in networks),
            )
    except (sqlite3.Error, *WRONG_VALUES) as error:
        raise FileError(f"{path}: cannot be read as results of f2sl reproduce ({error})") from None


def _check(database: sqlite3.Connection, path: Path) -> None:
    """Raise an error for a file that is not of this version."""
    if not {"about", "runs", "networks", "units"} <= _tables(database):
        raise FileError(f"{path}: not a file of results of f2sl reproduce; choose another folder")
    about = dict(database.execute("SELECT key, value FROM about"))
    if about != {"format": FORMAT, "f2sl": __version__}:
        made_by = f"f2sl {about.get('f2sl')} (format {about.get('format')})"
        raise FileError(
            f"{path}: made by {made_by}, but this is f2sl {__version__} (format {FORMAT}), whose results may "
            "differ; choose another folder"
        )


def _tables(database: sqlite3.Connection) -> set[str]:
    return {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _outcomes(database: sqlite3.Connection) -> Iterator[Outcome]:
    # An order of its own, so that sums over data sets are the same to the last bit however units came in.
    order = "network, rows, learner, setting, data_set"
    for row in database.execute(f"SELECT {COLUMNS} FROM units ORDER BY {order}"):
        values: list[Any] = [*row[5:-1], json.loads(row[-1]) if row[-1] else {}]
        yield _checked(Outcome(_checked(Unit(*row[:5])), *values))


def _run(started: Any, text: Any) -> dict[str, Any]:
    """Return the description of a run; all that is shown of it must be there."""
    if not isinstance(started, str):
        raise ValueError(f"a run started {started!r}")
    run = json.loads(text)
    _check_described(run, DESCRIBED)
    return {"started": started, **run}


def _check_described(found: Any, wanted: Mapping[str, Any]) -> None:
    if not isinstance(found, dict):
        raise ValueError(f"a run is described by {found!r}")
    for key, kind in wanted.items():
        value = found.get(key)
        if isinstance(kind, dict):
            _check_described(value, kind)
        elif not isinstance(value, kind) or not _plausible(value):
            raise ValueError(f"{key} of a run is {value!r}")


def _plausible(value: Any) -> bool:
    """Return whether a value is not a number, or a finite one of at least 0, as all stored numbers are."""
    return not isinstance(value, int | float) or 0 <= value < math.inf


def _checked(record: Record) -> Record:
    """Return a record that has values of the types it declares; SQLite stores any."""
    declared: Any = type(record)
    for name, kind in _kinds(declared).items():
        value = getattr(record, name)
        if not isinstance(value, kind) or isinstance(value, bool) or not _plausible(value):
            raise ValueError(f"{name} is {value!r}")
        if isinstance(value, dict) and not all(
            isinstance(number, int | float) and math.isfinite(number) for number in value.values()
        ):
            raise ValueError(f"{name} are {value!r}")
    return record


@cache
def _kinds(record: Any) -> dict[str, tuple[type[Any], ...]]:
    """Return the types that each field of a record may have; whole numbers are numbers."""
    kinds = {}
    for name, declared in get_type_hints(record).items():
        either = get_args(declared) if get_origin(declared) is UnionType else [declared]
        allowed = [get_origin(one) or one for one in either]
        kinds[name] = (*allowed, int) if float in allowed else tuple(allowed)
    return kinds


def _row(outcome: Outcome) -> tuple[Any, ...]:
    """Return the values of an outcome in the order of `COLUMNS`."""
    unit, *values, measures = (getattr(outcome, part.name) for part in fields(Outcome))
    return (*unit, *values, json.dumps(measures) if measures else None)
