"""Results in a file of JSON lines, which people can read and version control can compare.

First come *heads*, which describe what results have in common, such as a learner's options; then a line for
each job: the fields of its key, and what was measured or one of "stopped" (the seconds after which it was),
"over memory" (the bytes that were allowed), "failed" (why) and "not run" (why not). The file is replaced as a
whole after every result.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from f2sl.errors import F2SLError
from f2sl.graph.atomic import claimed, write_atomically
from f2sl_paper.harness.job import (
    DONE,
    FAILED,
    OVER_MEMORY,
    OVER_TIME,
    SKIPPED,
    Ended,
    Keeper,
    Key,
    Limits,
    Work,
)
from f2sl_paper.harness.schedule import Known, Place, Schedule

NONE = Limits(0.0, 0)
WORDS = {OVER_TIME: "stopped", SKIPPED: "not run", OVER_MEMORY: "over memory", FAILED: "failed"}


class Lines(Keeper[Key]):
    """File of results by key, a named tuple of class `key_type`; `limits` are those of new jobs."""

    def __init__(self, path: Path, key_type: Any, limits: Limits = NONE) -> None:
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

    def known(self) -> dict[Key, Known]:
        """Return how jobs ended so far."""
        return {
            key: Known(
                next((state for state, word in WORDS.items() if word in found), DONE),
                Limits(found.get("stopped", 0.0), found.get("over memory", 0)),
            )
            for key, found in self.results.items()
        }

    def complete(
        self,
        work: Work[Key],
        keys: Iterable[Key],
        place: Callable[[Key], Place],
        again: Collection[Key] = (),
    ) -> None:
        """Run the jobs that have no result yet, or are in `again`, and store each as it ends."""
        from f2sl_paper.harness.runner import Runner

        known = {key: result for key, result in self.known().items() if key not in again}
        schedule = Schedule(keys, known, self.limits, place)
        if schedule.waiting or schedule.to_skip:
            Runner(work, schedule, self).run()

    def keep(self, ended: Iterable[Ended[Key]]) -> None:
        """Store and print how jobs ended."""
        new = {job.key: self.record(job) for job in ended}
        if not new:
            return
        for head in map(self.head, new):
            if head and head not in self.heads:
                self.heads.append(head)
        self.results |= new
        self.write()
        for key, found in new.items():
            rounded = {name: round(it, 4) if isinstance(it, float) else it for name, it in found.items()}
            print(*_fields(key).values(), rounded, flush=True)

    def record(self, ended: Ended[Key]) -> dict[str, Any]:
        """Return what is stored of a job beside its key."""
        if ended.state == DONE:
            return {"seconds": ended.seconds} | ended.measures
        if ended.state == OVER_MEMORY:
            return {WORDS[OVER_MEMORY]: self.limits.bytes}
        return {WORDS[ended.state]: ended.message or self.limits.seconds}

    def head(self, key: Key) -> dict[str, Any]:
        """Return the head of a job's result, which others may share."""
        return {}

    def write(self) -> None:
        """Replace the file."""
        results = (_fields(key) | found for key, found in self.results.items())
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, (json.dumps(line) + "\n" for line in (*self.heads, *results)))


def _fields(key: Any) -> dict[str, Any]:
    return dict(key._asdict())


@contextmanager
def claimed_results(path: Path) -> Iterator[None]:
    """Claim a file of results for a benchmark; errors and Ctrl-C end the program with one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with claimed(path.with_suffix(".lock"), f"another process writes to {path}; choose another file"):
            yield
    except KeyboardInterrupt:
        print(f"interrupted; finished results are in {path}; the same command continues", file=sys.stderr)
        sys.exit(130)
    except F2SLError as error:
        sys.exit(str(error))
