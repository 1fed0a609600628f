"""The file of results: a head for each learner, with its options and its machine, and a line for each run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from comparing.learners import Configuration
from f2sl_paper.harness.job import Limits
from f2sl_paper.harness.lines import NONE, Lines
from f2sl_paper.harness.machine import describe
from f2sl_paper.harness.schedule import Place


class Key(NamedTuple):
    """One run: a learner on one data set."""

    learner: str
    network: str
    rows: int
    data_set: int


def place_of(key: Key) -> Place:
    """Return the place of a run in a schedule: a learner stopped on a network is not run on more rows."""
    return Place((key.learner, key.network), (key.rows,))


class Store(Lines[Key]):
    """Results by learner, network, rows and data set; `configurations` are those of the runs to be stored."""

    def __init__(
        self, path: Path, limits: Limits = NONE, configurations: Iterable[Configuration] = ()
    ) -> None:
        super().__init__(path, Key, limits)
        self._configurations = {configuration.name: configuration for configuration in configurations}

    def head(self, key: Key) -> dict[str, Any]:
        """Return a learner's options, and where it runs."""
        configuration = self._configurations[key.learner]
        about = {"algorithm": configuration.algorithm, "options": configuration.options}
        # By way of JSON, which has lists where Python may have tuples.
        return json.loads(json.dumps({"learner": key.learner, **about, **describe()}))

    def forget(self, algorithms: Iterable[str]) -> None:
        """Drop the results of all learners with these algorithms."""
        dropped = {head["learner"] for head in self.heads if head["algorithm"] in set(algorithms)}
        if dropped:
            self.heads = [head for head in self.heads if head["learner"] not in dropped]
            self.results = {key: found for key, found in self.results.items() if key.learner not in dropped}
            self.write()

    def fits(self, configuration: Configuration) -> bool:
        """Return whether the stored results of a learner, if any, come from the same options."""
        options = json.loads(json.dumps(configuration.options))
        return all(h["options"] == options for h in self.heads if h["learner"] == configuration.name)

    def write(self) -> None:
        """Replace the file, results in the order of their keys."""
        self.results = dict(sorted(self.results.items()))
        super().write()
