"""Results in a file of JSON lines, which people can read and version control can compare.

First come *heads*, which describe what results have in common, such as a learner's options; then a line for
each job: the fields of its key, and what was measured or one of "stopped" (the seconds after which it was),
"failed" (why) and "not run" (why not). The file is replaced as a whole after every result.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, NamedTuple

from f2sl.errors import F2SLError, FileError
from f2sl.experiments.harness.job import DONE, FAILED, OVER_TIME, SKIPPED, Ended, Key, Limits, Work
from f2sl.experiments.harness.schedule import Place, Schedule
from f2sl.graph.atomic import write_atomically

STATES = {"stopped": OVER_TIME, "failed": FAILED, "not run": SKIPPED}


class Stored(NamedTuple):
    """How a job ended earlier."""

    state: str
    time_limit: float | None
    memory_limit: int | None = None


class Lines(Generic[Key]):
    """Results by key, in a file.

    Parameters
    ----------
    path : Path
        The file; what is in it is read.
    key_type : type
        The class of keys, a named tuple.
    limits : Limits, optional
        Limits of the jobs to be stored.
    """

    def __init__(self, path: Path, key_type: Any, limits: Limits | None = None) -> None:
        self.path = path
        self.limits = limits
        self.heads: list[dict[str, Any]] = []
        self.results: dict[Key, dict[str, Any]] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            found = json.loads(line)
            if found.keys() >= set(key_type._fields):
                self.results[key_type(*(found.pop(name) for name in key_type._fields))] = found
            else:
                self.heads.append(found)

    def known(self) -> dict[Key, Stored]:
        """Return how jobs ended so far, for a schedule."""
        return {
            key: Stored(
                next((state for word, state in STATES.items() if word in found), DONE), found.get("stopped")
            )
            for key, found in self.results.items()
        }

    def complete(self, work: Work[Key], keys: Iterable[Key], place: Callable[[Key], Place]) -> None:
        """Run the jobs that have no result yet, one at a time, and store each as it ends."""
        from f2sl.experiments.harness.runner import Runner

        if self.limits is None:
            raise ValueError("jobs need limits to run")
        schedule = Schedule(keys, self.known(), self.limits, place)
        if schedule.waiting or schedule.to_skip:
            Runner(work, schedule, self).run()

    def begin(self, prepared: Any) -> None:
        """Start a run."""

    def start(self, key: Key) -> None:
        """Start a job."""

    def keep(self, ended: Iterable[Ended[Key]]) -> None:
        """Store and print how jobs ended."""
        jobs = list(ended)
        for job in jobs:
            self.results[job.key] = self.record(job)
        if jobs:
            self.write()
        for job in jobs:
            print(self.shown(job.key), flush=True)

    def record(self, ended: Ended[Key]) -> dict[str, Any]:
        """Return what is stored of a job beside its key."""
        if ended.state == DONE:
            return {"seconds": ended.seconds} | ended.measures
        seconds = None if self.limits is None else self.limits.seconds
        if ended.state == OVER_TIME:
            return {"stopped": seconds}
        return {"not run": seconds} if ended.state == SKIPPED else {"failed": ended.message}

    def shown(self, key: Key) -> str:
        """Return a result as a line for the terminal."""
        return f"{key}: {self.results[key]}"

    def write(self) -> None:
        """Replace the file."""
        results = ({**key._asdict(), **found} for key, found in self.results.items())  # type: ignore[attr-defined]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, (json.dumps(line) + "\n" for line in (*self.heads, *results)))


@contextmanager
def claimed(path: Path, refusal: str) -> Iterator[None]:
    """Keep other processes from claiming the same folder or lock file.

    The lock is the system's, and goes with the process, however that ends.

    Raises
    ------
    FileError
        With the words of `refusal`, if another process has it.
    """
    import fcntl

    lock = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FileError(refusal) from None
        yield
    finally:
        os.close(lock)


@contextmanager
def claimed_results(path: Path) -> Iterator[None]:
    """Claim a file of results for a benchmark; errors and Ctrl-C end the program with one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with claimed(path.with_suffix(".lock"), f"another process writes to {path}; choose another file"):
            yield
    except KeyboardInterrupt:
        print(f"interrupted; what was finished is in {path}, and the same command goes on", file=sys.stderr)
        sys.exit(130)
    except F2SLError as error:
        sys.exit(str(error))
