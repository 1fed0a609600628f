"""The file of results: a head for each learner, with its options and its machine, and a line for each run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from comparing.learners import Configuration
from f2sl.experiments.harness.job import Ended, Limits
from f2sl.experiments.harness.lines import NONE, Lines
from f2sl.experiments.harness.machine import describe
from f2sl.experiments.harness.schedule import Place


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

    @property
    def learners(self) -> dict[str, dict[str, Any]]:
        """The heads by the names of learners."""
        return {head["learner"]: head for head in self.heads}

    def forget(self, algorithms: Iterable[str]) -> None:
        """Drop the results of all learners with these algorithms."""
        kept = [head for head in self.heads if head["algorithm"] not in set(algorithms)]
        if kept != self.heads:
            self.heads = kept
            self.results = {key: found for key, found in self.results.items() if key.learner in self.learners}
            self.write()

    def fits(self, configuration: Configuration) -> bool:
        """Return whether the stored results of a learner, if any, come from the same options."""
        known = self.learners.get(configuration.name)
        # By way of JSON, which has lists where Python may have tuples.
        return known is None or known["options"] == json.loads(json.dumps(configuration.options))

    def keep(self, ended: Iterable[Ended[Key]]) -> None:
        """Store and print how runs ended, with the options of their learners."""
        runs = list(ended)
        for name in dict.fromkeys(run.key.learner for run in runs):
            if name not in self.learners:
                configuration = self._configurations[name]
                about = {"algorithm": configuration.algorithm, "options": configuration.options}
                self.heads.append({"learner": name, **about, **describe()})
        super().keep(runs)

    def write(self) -> None:
        """Replace the file, results in the order of their keys."""
        self.results = dict(sorted(self.results.items()))
        super().write()

    def shown(self, key: Key) -> str:
        """Return a result as a line for the terminal."""
        found = self.results[key]
        head = f"{key.network:<28}{key.rows:>6,} {key.data_set}  {key.learner:<24}"
        if "shd" not in found:
            return head + ", ".join(f"{what}: {why}" for what, why in found.items())
        return (
            f"{head}SHD {found['shd']:>5}  of CPDAGs {found['shd_cpdag']:>5}  Ar_F1 {found['f1']:.3f}  "
            f"{found['seconds']:.3f} s, {found['seconds'] / found['beside']:.1f} times the yardstick"
        )
