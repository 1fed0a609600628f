"""The process that units are forked from.

It opens the data, and has each learner learn a small table once, so that all inner loops are compiled. Then
it forks a process for each unit: that takes milliseconds, no compiling is timed, and whatever a unit does
to its memory or its threads ends with it. It has one thread only, and so forking is safe; packages that start
threads of their own are loaded by the units that need them.

:class:`~f2sl.experiments.runner.Runner` starts it, and tells it by a pipe what to do. It ends with that pipe,
however the other end was lost, and its units with it.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait

from f2sl.errors import F2SLError
from f2sl.experiments.launch import ended
from f2sl.experiments.messages import Begun, Ended, Order, Ready, Stage
from f2sl.experiments.sources import Source, open_source
from f2sl.experiments.store import FAILED, OVER_MEMORY, OVER_TIME, Unit
from f2sl.experiments.worker import run_unit, warm_up
from f2sl.table import Table


@dataclass
class Child:
    """The process of a unit; its time is up at `deadline`, once it has begun."""

    pid: int
    unit: Unit
    deadline: float = float("inf")
    overdue: bool = False


class Server:
    """Prepares data and learners, then runs units until the pipe is closed."""

    def __init__(self, control: Connection) -> None:
        self._control = control
        self._order: Order = control.recv()
        self._sources: dict[str, Source] = {}
        self._tables: dict[tuple[str, int, int], Table] = {}
        self._children: dict[Connection, Child] = {}

    def serve(self) -> None:
        """Work until the other end closes the pipe, or is no more."""
        try:
            for text in self._prepare():
                self._control.send(Stage(text))
            facts = tuple(source.facts() for source in self._sources.values())
        except (F2SLError, MemoryError) as error:
            self._control.send(error)
            return
        gc.collect()
        gc.freeze()  # units share what is there, as long as nobody touches it
        self._control.send(Ready(facts))
        try:
            while True:
                for pipe in wait([self._control, *self._children], self._patience()):
                    if pipe is self._control:
                        self._start(self._control.recv())
                    elif isinstance(pipe, Connection):
                        self._hear(pipe)
                self._end_overdue()
        finally:
            for child in self._children.values():
                os.kill(child.pid, signal.SIGKILL)

    def _prepare(self) -> Iterator[str]:
        """Open all data, and have all inner loops compiled."""
        wanted = list(dict.fromkeys((unit.network, unit.rows, unit.data_set) for unit in self._order.units))
        for network in dict.fromkeys(network for network, _, _ in wanted):
            yield f"opening the data of {network}"
            source = self._sources[network] = open_source(network, self._order.folder)
            for name, rows, data_set in wanted:
                if name == network:
                    self._tables[name, rows, data_set] = source.table(rows, data_set)
        yield "compiling inner loops"
        warm_up((unit.learner, unit.setting) for unit in self._order.units)

    def _start(self, unit: Unit) -> None:
        """Fork a process for a unit."""
        reading, writing = Pipe(duplex=False)
        order, truth = self._order, self._sources[unit.network].truth
        table = self._tables[unit.network, unit.rows, unit.data_set]
        pid = os.fork()
        if pid == 0:
            self._control.close()  # or nobody would notice that the server is gone
            with suppress(BaseException):
                run_unit(unit, table, truth, order.threads, order.memory_limit, writing)
            os._exit(0)
        writing.close()
        self._children[reading] = Child(pid, unit)

    def _hear(self, pipe: Connection) -> None:
        """Take what a unit's process has to say; one that ended without a word has crashed."""
        child = self._children[pipe]
        try:
            said: Begun | Ended = pipe.recv()
        except (EOFError, OSError):  # the latter in the middle of what it says
            said = self._crashed(child)
        if isinstance(said, Begun):
            child.deadline = time.monotonic() + self._order.time_limit
            return
        with suppress(ChildProcessError):
            os.waitpid(child.pid, 0)
        pipe.close()
        del self._children[pipe]
        self._control.send(said)

    def _crashed(self, child: Child) -> Ended:
        _, status = os.waitpid(child.pid, 0)
        if child.overdue:
            return Ended(child.unit, OVER_TIME)
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGKILL:
            return Ended(child.unit, OVER_MEMORY, "killed by the system, as is done where memory is short")
        return Ended(child.unit, FAILED, f"the process {ended(code)}, without a result")

    def _patience(self) -> float | None:
        """Tell how long to wait before some unit's time is up."""
        first = min((child.deadline for child in self._children.values()), default=float("inf"))
        return None if first == float("inf") else max(0.0, first - time.monotonic())

    def _end_overdue(self) -> None:
        for child in self._children.values():
            if child.deadline <= time.monotonic():
                child.overdue, child.deadline = True, float("inf")
                os.kill(child.pid, signal.SIGKILL)


def main() -> None:
    """Serve the process at the other end of the pipe whose number is the argument."""
    with suppress(EOFError, ConnectionError):
        Server(Connection(int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
