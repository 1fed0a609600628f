"""Results as lines of JSON: one for each learner, with its options and where it ran, and one for each run.

The file is written anew after every run and then put in its place, so that it is whole whenever a program
ends.
"""

from __future__ import annotations

import fcntl
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from comparing.learners import Configuration
from f2sl.experiments.machine import describe


class Key(NamedTuple):
    """What a result is of."""

    learner: str
    network: str
    rows: int
    data_set: int


@contextmanager
def claimed(path: Path) -> Iterator[Path]:
    """Keep other processes from writing to a file of results; the lock goes with the process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit(f"another process writes to {path}; wait for it, or choose another file by --results")
        yield path


class Store:
    """Results by learner, network, rows and data set."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.learners: dict[str, dict[str, Any]] = {}
        self.results: dict[Key, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                found = json.loads(line)
                if "algorithm" in found:
                    self.learners[found["learner"]] = found
                else:
                    self.results[Key(*(found.pop(name) for name in Key._fields))] = found

    def forget(self, learner: str) -> None:
        """Drop a learner's results."""
        self.learners.pop(learner, None)
        self.results = {key: result for key, result in self.results.items() if key.learner != learner}
        self._write()

    def fits(self, configuration: Configuration) -> bool:
        """Say whether what is known of a learner, if anything, comes from these options."""
        known = self.learners.get(configuration.name)
        # By way of JSON, which has lists where Python may have tuples.
        return known is None or known["options"] == json.loads(json.dumps(configuration.options))

    def add(self, configuration: Configuration, key: Key, result: dict[str, Any]) -> None:
        """Keep the result of a run."""
        self.learners.setdefault(
            configuration.name,
            {
                "learner": configuration.name,
                "algorithm": configuration.algorithm,
                "options": configuration.options,
                **describe(),
            },
        )
        self.results[key] = result
        self._write()

    def done(self, key: Key, limit: float) -> bool:
        """Say whether a run need not be made: it was measured, or stopped at no shorter a limit."""
        found = self.results.get(key, {"failed": "never made"})
        return "failed" not in found and all(found.get(why, limit) >= limit for why in ("stopped", "not run"))

    def stopped_before(self, key: Key, limit: float) -> bool:
        """Say whether the learner was stopped on this network with no more rows, and so need not be run."""
        return any(
            (other.learner, other.network) == (key.learner, key.network)
            and other.rows <= key.rows
            and result.get("stopped", 0.0) >= limit
            for other, result in self.results.items()
        )

    def _lines(self) -> Iterator[str]:
        for about in self.learners.values():
            yield json.dumps(about)
        for key, result in sorted(self.results.items()):
            yield json.dumps(key._asdict() | result)

    def _write(self) -> None:
        beside = self.path.with_suffix(".part")
        beside.write_text("".join(f"{line}\n" for line in self._lines()), encoding="utf-8")
        beside.replace(self.path)
