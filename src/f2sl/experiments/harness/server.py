"""The process that jobs are started from.

It prepares what all jobs need, such as data and compiled loops, then starts a process for each job it is
sent. Forked processes share what was prepared and start within milliseconds; fresh ones share nothing.
Whatever a job does to its memory or its threads ends with its process.

The runner starts the server and talks to it through a pipe. The server ends with that pipe, however the other
end was lost, and its jobs with it.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

from f2sl.errors import F2SLError
from f2sl.experiments.harness.job import (
    DONE,
    FAILED,
    OVER_MEMORY,
    OVER_TIME,
    Begun,
    Ended,
    Job,
    Order,
    Ready,
    Stage,
)
from f2sl.experiments.harness.machine import peak_bytes

STARTING_SECONDS = 300.0
"""Time for a job to import what it needs and to get its data ready; its own time starts after that."""
NO_MEMORY = ("can't allocate memory", "not enough memory", "can't start new thread")
"""What errors other than MemoryError say when a process is at its limit: PyTorch's, and a new thread's."""
FRESH = "--fresh"


@dataclass
class Child:
    """The process of a job; it is stopped at `deadline`, for the reason `overdue`."""

    pid: int
    key: Any
    deadline: float
    overdue: Ended[Any] | None = None
    begun: bool = False


class Server:
    """Prepares the work, then runs jobs until the pipe is closed."""

    def __init__(self, control: Connection) -> None:
        self._control = control
        order: Order = control.recv()
        self._work, self._limits = order
        self._children: dict[Connection, Child] = {}

    def serve(self) -> None:
        """Work until the other end closes the pipe or is gone."""
        try:
            preparing = self._work.prepare()
            while True:
                self._control.send(Stage(next(preparing)))
        except StopIteration as prepared:
            ready = Ready(prepared.value)
        except (F2SLError, MemoryError) as error:
            self._control.send(error)
            return
        gc.collect()
        gc.freeze()  # forked processes share memory as long as no one touches it
        self._control.send(ready)
        try:
            while True:
                for pipe in wait([self._control, *self._children], self._patience()):
                    if pipe is self._control:
                        self._start(self._control.recv())
                    elif isinstance(pipe, Connection):
                        self._receive(pipe)
                self._stop_overdue()
        finally:
            for child in self._children.values():
                os.kill(child.pid, signal.SIGKILL)

    def _start(self, key: Any) -> None:
        """Start the process of a job."""
        try:
            job = Job(key, self._work.task(key), self._limits.bytes)
        except Exception as error:
            self._control.send(_ended_by(key, error))
            return
        ours, theirs = Pipe()
        pid = os.fork()
        if pid == 0:
            with suppress(BaseException):
                # The other ends must be closed here, or no one would notice that the server is gone.
                self._control.close()
                ours.close()
                if self._work.fresh:
                    os.set_inheritable(theirs.fileno(), True)
                    os.execv(sys.executable, [*command(theirs), FRESH])
                run(job, theirs)
            os._exit(0)
        theirs.close()
        self._children[ours] = Child(pid, key, time.monotonic() + STARTING_SECONDS)
        if self._work.fresh:
            with suppress(ConnectionError):  # it has crashed, which is noticed soon
                ours.send(job)

    def _receive(self, pipe: Connection) -> None:
        """Take a message of a job; a job that ends without one has crashed."""
        child = self._children[pipe]
        try:
            message: Begun | Ended[Any] = pipe.recv()
        except (EOFError, OSError):  # the latter in the middle of a message
            message = self._crashed(child)
        if isinstance(message, Begun):
            child.begun, child.deadline = True, time.monotonic() + self._limits.seconds
            return
        with suppress(ChildProcessError):
            os.waitpid(child.pid, 0)
        pipe.close()
        del self._children[pipe]
        self._control.send(message)

    def _crashed(self, child: Child) -> Ended[Any]:
        _, status = os.waitpid(child.pid, 0)
        if child.overdue is not None:
            return child.overdue
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGKILL:
            return Ended(child.key, OVER_MEMORY, "killed by the system, as is done where memory is short")
        return Ended(child.key, FAILED, f"the process {how_it_ended(code)}, without a result")

    def _patience(self) -> float | None:
        """Return the seconds until the first deadline."""
        first = min((child.deadline for child in self._children.values()), default=float("inf"))
        return None if first == float("inf") else max(0.0, first - time.monotonic())

    def _stop_overdue(self) -> None:
        for child in self._children.values():
            if child.deadline <= time.monotonic():
                late = f"not ready after {STARTING_SECONDS:g} s"
                child.overdue = Ended(child.key, OVER_TIME) if child.begun else Ended(child.key, FAILED, late)
                child.deadline = float("inf")
                os.kill(child.pid, signal.SIGKILL)


def command(pipe: Connection) -> list[str]:
    """Return the command that starts this module with one end of a pipe."""
    return [sys.executable, "-P", "-m", __spec__.name, str(pipe.fileno())]


def how_it_ended(code: int) -> str:
    """Describe how a process ended; a code below 0 is that of a signal.

    Examples
    --------
    >>> how_it_ended(3), how_it_ended(-9)
    ('ended with code 3', 'was ended by SIGKILL')
    """
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def run(job: Job, pipe: Connection) -> None:
    """Run a job in this process, which is its own, and report when it begins and how it ended."""
    _silence()
    warnings.simplefilter("ignore")
    unlimited = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_DATA, (job.memory_limit, unlimited))
    try:
        found = job.task(lambda: pipe.send(Begun()))
        ended = Ended(job.key, DONE, found.message, found.seconds, peak_bytes(), found.measures)
    except Exception as error:
        resource.setrlimit(resource.RLIMIT_DATA, (unlimited, unlimited))
        ended = _ended_by(job.key, error)
    pipe.send(ended)


def _ended_by(key: Any, error: Exception) -> Ended[Any]:
    for_memory = isinstance(error, MemoryError) or any(text in str(error) for text in NO_MEMORY)
    message = str(error) if isinstance(error, F2SLError) else f"{type(error).__name__}: {error}"
    return Ended(key, OVER_MEMORY if for_memory else FAILED, message)


def _silence() -> None:
    """Leave the terminal to the process that shows progress on it."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def main() -> None:
    """Serve the process at the other end of the pipe whose number is the first argument."""
    pipe = Connection(int(sys.argv[1]))
    with suppress(EOFError, ConnectionError):
        if FRESH in sys.argv:
            run(pipe.recv(), pipe)
        else:
            Server(pipe).serve()


if __name__ == "__main__":
    main()
