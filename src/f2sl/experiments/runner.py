"""Units handed out, and what comes back kept."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from f2sl._threads import available_cores
from f2sl.errors import F2SLError
from f2sl.experiments.launch import launched
from f2sl.experiments.machine import describe
from f2sl.experiments.messages import Ended, Order, Ready, Stage
from f2sl.experiments.plan import Schedule
from f2sl.experiments.progress import Pace, Standing, Watch
from f2sl.experiments.settings import seed_of
from f2sl.experiments.sources import SAMPLED
from f2sl.experiments.store import SKIPPED, NetworkFacts, Outcome, Store, Unit

SECONDS_BETWEEN_LOOKS = 0.2


class Runner:
    """Runs the units of a schedule, several at a time, and keeps each in a store as it ends.

    Parameters
    ----------
    store : Store
        Where to.
    schedule : Schedule
        What is to run.
    sources : dict of str to str
        By network, where its data come from.
    jobs : int
        Units at a time.
    time_limit, memory_limit
        Seconds and bytes for each.
    watch : Watch
        Hears how it goes on.
    """

    def __init__(
        self,
        store: Store,
        schedule: Schedule,
        sources: dict[str, str],
        jobs: int,
        time_limit: float,
        memory_limit: int,
        watch: Watch,
    ) -> None:
        self._store = store
        self._schedule = schedule
        self._sources = sources
        self._jobs = jobs
        self._threads = max(1, available_cores() // jobs)
        self._time_limit = time_limit
        self._memory_limit = memory_limit
        self._watch = watch
        self._total = len(schedule.waiting)
        self._pace = Pace(jobs)
        self._begun: dict[Unit, float] = {}
        self._ended: Counter[str] = Counter()
        self._run = 0
        self._told = 0.0

    def run(self, folder: Path | None) -> None:
        """Run all; `folder` is that of the paper's data. What is wrong with the data is told before."""
        waiting = tuple(self._schedule.waiting)
        order = Order(waiting, folder, self._threads, self._time_limit, self._memory_limit)
        with launched(order) as server:
            facts = self._prepared(server)
            self._run = self._store.add_run(
                datetime.now(UTC).isoformat(timespec="seconds"), self._description()
            )
            self._store.add_networks(facts)
            self._store.add(self._skipped(self._schedule.to_skip))
            self._hand_out(server)
            while self._begun:
                self._tell()
                if server.poll(SECONDS_BETWEEN_LOOKS):
                    ended = self._ended_by(server.recv())
                    self._hand_out(server)  # first, since what is kept waits for the disk
                    self._store.add(ended)

    def _prepared(self, server: Connection) -> tuple[NetworkFacts, ...]:
        """Wait until units can run."""
        while True:
            said: Stage | Ready | F2SLError | MemoryError = server.recv()
            if isinstance(said, Exception):
                raise said
            if isinstance(said, Ready):
                return said.facts
            self._watch.preparing(said.text)

    def _hand_out(self, server: Connection) -> None:
        """Keep as many units running as there are jobs."""
        while len(self._begun) < self._jobs and (unit := self._schedule.next()) is not None:
            server.send(unit)
            self._begun[unit] = time.monotonic()

    def _ended_by(self, said: Ended) -> list[Outcome]:
        """Take up how a unit ended; gives what is to be kept of it and of those skipped because of it."""
        self._pace.took(said.unit, time.monotonic() - self._begun.pop(said.unit))
        skipped = self._schedule.ended(said.unit, said.state)
        self._ended.update([said.state, *[SKIPPED] * len(skipped)])
        outcome = replace(
            self._outcome(said.unit, said.state, said.message),
            seconds=said.seconds,
            peak_bytes=said.peak_bytes,
            measures=said.measures,
        )
        return [outcome, *self._skipped(skipped)]

    def _tell(self) -> None:
        """Tell how far it has come, unless that was told a moment ago."""
        if time.monotonic() < self._told + SECONDS_BETWEEN_LOOKS:
            return
        left = self._pace.seconds_left([*self._begun, *self._schedule.waiting])
        self._watch.going(Standing(self._total, self._ended.copy(), tuple(self._begun), left))
        self._told = time.monotonic()

    def _skipped(self, units: Iterable[Unit]) -> list[Outcome]:
        return [self._outcome(unit, SKIPPED, self._schedule.why_skipped(unit)) for unit in units]

    def _outcome(self, unit: Unit, state: str, message: str) -> Outcome:
        source = self._sources[unit.network]
        return Outcome(
            unit=unit,
            source=source,
            seed=seed_of(unit.rows, unit.data_set) if source == SAMPLED else None,
            state=state,
            run=self._run,
            time_limit=self._time_limit,
            memory_limit=self._memory_limit,
            message=message,
        )

    def _description(self) -> dict[str, Any]:
        return {
            **describe(),
            "threads": self._threads,
            "jobs": self._jobs,
            "time_limit": self._time_limit,
            "memory_limit": self._memory_limit,
        }
