"""Finished replicates in a file of JSON lines, each written before the next is waited for.

The first line describes the run; then follows one line for each replicate. A killed process leaves at most
one unfinished line, at the end, which is cut off.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from f2sl.errors import FileError, OptionError
from f2sl.graph.atomic import claimed
from f2sl.learners.resample import Replicate

SUFFIX = ".replicates"


class Journal:
    """Finished replicates of a run, beside the file of its result."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        self._left = False

    @classmethod
    @contextmanager
    def beside(cls, out: Path, asked: Mapping[str, Any], resume: bool) -> Iterator[Journal]:
        """Open the journal of a run whose result goes to `out`, for this process alone.

        Raises
        ------
        FileError
            If one exists and `resume` is False, if it belongs to another run, or if another process writes to
            it.
        """
        path = out.with_name(out.name + SUFFIX)
        try:
            if path.exists() and not resume:
                raise FileError(
                    f"{path} holds the finished replicates of an interrupted run; continue with "
                    "resume=True, or remove the file",
                    path=str(path),
                )
            with (
                path.open("ab+") as file,
                claimed(path, f"another process writes to {path}; choose another file"),
            ):
                journal = cls._begun(path, file, asked)
                try:
                    yield journal
                finally:
                    if next(journal.finished(), None) is None:
                        journal.remove()
            if journal._left:
                path.unlink(missing_ok=True)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"cannot write {path}: {error.strerror or error}", path=str(path)) from None

    @classmethod
    def _begun(cls, path: Path, file: BinaryIO, asked: Mapping[str, Any]) -> Journal:
        """Write the first line of a new journal, or compare that of an old one."""
        file.seek(0)
        content = file.read()
        whole = content.rfind(b"\n") + 1
        file.truncate(whole)
        if not whole:
            file.write(json.dumps(dict(asked)).encode() + b"\n")
            file.flush()
        else:
            try:
                before = json.loads(content[: content.index(b"\n")])
            except (ValueError, RecursionError):
                before = None
            check_same(path, before, asked)
        return cls(path, file)

    def finished(self) -> Iterator[Replicate]:
        """Read the stored replicates."""
        self._file.seek(0)
        self._file.readline()
        for number, line in enumerate(self._file, start=2):
            try:
                position, complete, edges = json.loads(line)
                yield Replicate(int(position), np.array(edges, np.int64), bool(complete))
            except (ValueError, TypeError):
                raise FileError(
                    f"{self.path}, line {number}: not a replicate; remove the file", path=str(self.path)
                ) from None

    def add(self, replicate: Replicate) -> None:
        """Write a replicate, in a single step."""
        line = [replicate.number, replicate.complete, replicate.edges.tolist()]
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        self._file.flush()

    def remove(self) -> None:
        """Remove the file, which is no longer needed; on Windows it is removed when it is closed."""
        try:
            self.path.unlink(missing_ok=True)
        except PermissionError:
            self._left = True


def check_same(path: Path, before: Any, asked: Mapping[str, Any]) -> None:
    """Raise an error if stored replicates come from other data or other options.

    Examples
    --------
    >>> asked = {"learner": "F2SLc", "options": {}, "random_state": 2, "rows": 9, "table": "1f"}
    >>> check_same(Path("c.json"), asked | {"random_state": 1}, asked)
    Traceback (most recent call last):
        ...
    f2sl.errors.OptionError: cannot resume: c.json belongs to another run: random_state was 1 and is now 2; \
give the same options and data, or choose another file
    """
    same_form = isinstance(before, dict) and before.keys() == asked.keys()
    if not same_form or not isinstance(before["options"], dict):
        raise FileError(
            f"{path}: not a file of replicates that this version can continue from; remove it", path=str(path)
        )
    other = [
        f"{what} was {before[what]} and is now {value}"
        for what, value in asked.items()
        if what not in ("options", "rows", "table") and before[what] != value
    ]
    if before["learner"] == asked["learner"]:
        options = before["options"], asked["options"]
        other += [
            f"{name} was {options[0].get(name)} and is now {value}"
            for name, value in options[1].items()
            if options[0].get(name) != value
        ]
    if any(before[what] != asked[what] for what in ("rows", "table")):
        other.append("the table has other columns, rows or values")
    if other:
        raise OptionError(
            f"cannot resume: {path} belongs to another run: {'; '.join(other)}; give the same options and "
            "data, or choose another file"
        )
