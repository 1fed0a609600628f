"""Runs of F2SL-h on tables with missing values, as work for the harness."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import f2sl
from comparing.data import draw, network_of
from f2sl_paper.harness.job import Measured, Task, Work

COMPLETE = "complete"
WAYS = COMPLETE, "available", "drop", "state"


class Key(NamedTuple):
    """One run: a way to treat missing values, on one data set."""

    way: str
    network: str
    rows: int
    mechanism: str
    share: int
    data_set: int


def with_gaps(frame: Any, mechanism: str, share: float, random_state: int) -> Any:
    """Take a share of the values away."""
    dealing = np.random.default_rng(random_state)
    gone = frame.copy()
    for place, column in enumerate(frame.columns):
        chance = np.full(len(frame), share)
        if mechanism == "mar":
            # The states of the next column but one are halved at random.
            cause = frame[frame.columns[(place + 2) % frame.shape[1]]].astype("category").cat
            half = dealing.permutation(len(cause.categories)) % 2 == 0
            chance = np.where(half[cause.codes], 1.5 * share, 0.5 * share)
            chance *= share / chance.mean()
        gone[column] = frame[column].where(dealing.random(len(frame)) >= chance)
    return gone


def run(key: Key, begin: Callable[[], None]) -> Measured:
    """Learn from one data set."""
    data = draw(network_of(key.network), key.rows, key.data_set)
    frame, reading = data.frame, {}
    if key.way != COMPLETE:
        random_state = 1000 * key.data_set + key.share + (500 if key.mechanism == "mar" else 0)
        frame, reading = with_gaps(frame, key.mechanism, key.share / 100, random_state), {"missing": key.way}
    begin()
    started = time.perf_counter()
    try:
        learned = f2sl.learn(frame, "f2sl-h", **reading).dag_
    except f2sl.F2SLError:  # no row was left
        learned = f2sl.DAG(list(frame.columns), [])
    seconds = time.perf_counter() - started
    return Measured(seconds, {"shd_cpdag": f2sl.compare(data.truth, learned).shd})


class Runs(Work[Key]):
    """Runs F2SL-h."""

    def prepare(self) -> Generator[str, None, None]:
        """Compile the inner loops."""
        warnings.simplefilter("ignore")
        yield "compiling inner loops"
        for way in WAYS:
            run(Key(way, "child", 500, "mcar", 5, 0), lambda: None)

    def task(self, key: Key) -> Task:
        """Return the task of a run."""
        return partial(run, key)
