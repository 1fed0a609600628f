"""Run jobs, and store each result as it arrives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any, Generic

from f2sl.errors import F2SLError
from f2sl_paper.harness.job import SKIPPED, Ended, Keeper, Key, Work
from f2sl_paper.harness.progress import Pace, Standing, Watch
from f2sl_paper.harness.schedule import Schedule
from f2sl_paper.harness.server import command, how_it_ended

SECONDS_BETWEEN_LOOKS = 0.2
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Linear algebra has one thread where jobs are forked, so that none are lost in forking and sums are the same
on any machine."""


class Runner(Generic[Key]):
    """Runs the jobs of a schedule, `jobs` at a time, and has each stored as it ends.

    `likeness` lists what a job has in common with others, to estimate how long it takes.
    """

    def __init__(
        self,
        work: Work[Key],
        schedule: Schedule[Key],
        keeper: Keeper[Key],
        jobs: int = 1,
        likeness: Callable[[Key], tuple[Hashable, ...]] = lambda key: (key,),
        watch: Watch | None = None,
    ) -> None:
        self._work = work
        self._schedule = schedule
        self._keeper = keeper
        self._jobs = jobs
        self._watch = watch or Watch()
        self._pace = Pace(jobs, likeness)
        self._total = len(schedule.waiting)
        self._begun: dict[Key, float] = {}
        self._ended: Counter[str] = Counter()
        self._told = 0.0

    def run(self) -> None:
        """Run all jobs. Errors in preparing the work are raised before any job starts."""
        with launched(self._work.fresh) as server:
            server.send((self._work, self._schedule.limits))
            self._keeper.begin(self._prepared(server))
            self._keeper.keep(self._skipped(self._schedule.to_skip))
            self._hand_out(server)
            while self._begun:
                self._tell()
                if server.poll(SECONDS_BETWEEN_LOOKS):
                    ended = self._taken_up(server.recv())
                    self._hand_out(server)  # first, since storing waits for the disk
                    self._keeper.keep(ended)

    def _prepared(self, server: Connection) -> Any:
        """Wait until jobs can run; return the prepared data."""
        while isinstance(message := server.recv(), str):
            self._watch.preparing(message)
        if isinstance(message, Exception):
            raise message
        (prepared,) = message
        return prepared

    def _hand_out(self, server: Connection) -> None:
        while len(self._begun) < self._jobs and (key := self._schedule.next()) is not None:
            self._keeper.start(key)
            server.send(key)
            self._begun[key] = time.monotonic()

    def _taken_up(self, ended: Ended[Key]) -> list[Ended[Key]]:
        """Record how a job ended; return it with those skipped because of it."""
        self._pace.took(ended.key, time.monotonic() - self._begun.pop(ended.key))
        skipped = self._schedule.ended(ended.key, ended.state)
        self._ended.update([ended.state, *[SKIPPED] * len(skipped)])
        return [ended, *self._skipped(skipped)]

    def _skipped(self, keys: Iterable[Key]) -> list[Ended[Key]]:
        return [Ended(key, SKIPPED, blocked_by=self._schedule.blocker(key)) for key in keys]

    def _tell(self) -> None:
        """Report progress, unless it was reported a moment ago."""
        if time.monotonic() < self._told + SECONDS_BETWEEN_LOOKS:
            return
        left = self._pace.seconds_left([*self._begun, *self._schedule.waiting])
        self._watch.going(Standing(self._total, self._ended.copy(), tuple(self._begun), left))
        self._told = time.monotonic()


@contextmanager
def launched(fresh: bool) -> Iterator[Connection]:
    """Start a server for the length of a ``with`` block; gives our end of the pipe to it.

    The server is in a separate process session, so Ctrl-C reaches only this process, which then ends the
    server and everything started there.

    Raises
    ------
    F2SLError
        If the server ends early: it was killed, perhaps by the system because memory ran out.
    """
    ours, theirs = Pipe()
    threads = {} if fresh else dict.fromkeys(ONE_THREAD, "1")
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        command(theirs),
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        env={**os.environ, **threads, **path},
        start_new_session=True,
    )
    try:
        theirs.close()
        yield ours
    except (EOFError, ConnectionError):
        raise F2SLError(
            f"the process that units run from {how_it_ended(process.wait())}; finished results are kept; "
            "the same command continues"
        ) from None
    finally:
        ours.close()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
