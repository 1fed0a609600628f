"""Which runs are made, in which order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from comparing.learners import Configuration
from comparing.store import Key, Store
from comparing.worker import Run


def ready(configurations: Sequence[Configuration], store: Store) -> list[Configuration]:
    """Leave out, with a note, what this version of f2sl does not know; refuse results of other options."""
    found = []
    for configuration in configurations:
        if why := configuration.why_not():
            print(f"left out: {configuration.name} ({why})", flush=True)
        elif not store.fits(configuration):
            sys.exit(
                f"{store.path} has results of {configuration.name!r} with other options; "
                f"forget them by --again {configuration.algorithm}, or choose another file by --results"
            )
        else:
            found.append(configuration)
    return found


def plan(
    configurations: Sequence[Configuration], networks: Sequence[str], rows: Sequence[int], sets: Sequence[int]
) -> Iterator[Run]:
    """List all runs, few rows first; learners of one data set after each other."""
    for size in sorted(rows):
        for network in networks:
            for data_set in sets:
                for configuration in configurations:
                    yield Run(configuration, network, size, data_set)


def make_all(
    runs: Iterable[Run], store: Store, limit: float, measure: Callable[[Run, float], dict[str, Any]]
) -> None:
    """Make the runs that the store has no result of, one at a time.

    A learner that was stopped is not run on more data of the same network.
    """
    for run in runs:
        key = Key(run.configuration.name, run.network, run.rows, run.data_set)
        if store.done(key, limit):
            continue
        result = {"not run": limit} if store.stopped_before(key, limit) else measure(run, limit)
        store.add(run.configuration, key, result)
        print(told(key, result), flush=True)


def told(key: Key, result: dict[str, Any]) -> str:
    """Put a result on a line."""
    head = f"{key.network:<28}{key.rows:>6,} {key.data_set}  {key.learner:<24}"
    if "shd" not in result:
        return head + ", ".join(f"{what}: {why}" for what, why in result.items())
    return (
        f"{head}SHD {result['shd']:>5}  of CPDAGs {result['shd_cpdag']:>5}  Ar_F1 {result['f1']:.3f}  "
        f"{result['seconds']:.3f} s, {result['seconds'] / result['beside']:.1f} times the yardstick"
    )
