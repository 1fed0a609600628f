"""The process that jobs are started from.

It prepares what all jobs need, such as data and compiled loops, then starts a process for each job it is
sent. Forked processes share what was prepared and start within milliseconds; fresh ones share nothing.
Whatever a job does to its memory or its threads ends with its process.

The runner starts the server and talks to it through a pipe: it sends work and limits, then keys one by one,
and receives stages of preparing (text), what was prepared (in a tuple), and how jobs ended. The server ends
with that pipe, however the other end was lost, and its jobs with it. A job sends None when its time starts,
then how it ended.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

from f2sl.errors import F2SLError
from f2sl_paper.harness.job import DONE, FAILED, OVER_MEMORY, OVER_TIME, Ended, Limits, Task, Work
from f2sl_paper.harness.machine import peak_bytes

STARTING_SECONDS = 300.0
"""Seconds for a job to import its modules and load its data; its own time starts afterwards."""
NO_MEMORY = ("can't allocate memory", "not enough memory", "can't start new thread")
"""Messages of errors other than MemoryError at the memory limit: PyTorch's, and a new thread's."""
FRESH = "--fresh"


@dataclass
class Child:
    """Process of a job; at `deadline` it is stopped, with `late` as its result."""

    pid: int
    late: Ended[Any]
    deadline: float
    stopped: bool = False


class Server:
    """Prepares the work, then runs jobs until the pipe is closed."""

    def __init__(self, control: Connection) -> None:
        self._control = control
        self._children: dict[Connection, Child] = {}
        self._work: Work[Any]
        self._limits: Limits
        self._work, self._limits = control.recv()

    def serve(self) -> None:
        """Work until the other end closes the pipe or is gone."""
        preparing = self._work.prepare()
        try:
            while True:
                self._control.send(next(preparing))
        except StopIteration as end:
            prepared = end.value
        except (F2SLError, MemoryError) as error:
            self._control.send(error)
            return
        gc.collect()
        gc.freeze()  # forked processes share memory until one of them writes to it
        self._control.send((prepared,))
        try:
            while True:
                first = min((child.deadline for child in self._children.values()), default=float("inf"))
                patience = None if first == float("inf") else max(0.0, first - time.monotonic())
                for pipe in wait([self._control, *self._children], patience):
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
            task = self._work.task(key)
        except Exception as error:
            self._control.send(_ended_by(key, error))
            return
        ours, theirs = Pipe()
        pid = os.fork()
        if pid == 0:
            with suppress(BaseException):
                # These ends must be closed here, or no one would notice that the server is gone.
                self._control.close()
                ours.close()
                if self._work.fresh:
                    os.set_inheritable(theirs.fileno(), True)
                    os.execv(sys.executable, [*command(theirs), FRESH])
                run(key, task, self._limits.bytes, theirs)
            os._exit(0)
        theirs.close()
        late = Ended(key, FAILED, f"not ready after {STARTING_SECONDS:g} s")
        self._children[ours] = Child(pid, late, time.monotonic() + STARTING_SECONDS)
        if self._work.fresh:
            with suppress(ConnectionError):  # it has crashed, which is noticed soon
                ours.send((key, task, self._limits.bytes))

    def _receive(self, pipe: Connection) -> None:
        """Handle a message of a job; a job that ends without a message was stopped or has crashed."""
        child = self._children[pipe]
        try:
            ended: Ended[Any] | None = pipe.recv()
        except (EOFError, OSError):  # the latter in the middle of a message
            ended = self._without_result(child)
        if ended is None:
            child.late = Ended(child.late.key, OVER_TIME)
            child.deadline = time.monotonic() + self._limits.seconds
            return
        with suppress(ChildProcessError):
            os.waitpid(child.pid, 0)
        pipe.close()
        del self._children[pipe]
        self._control.send(ended)

    def _without_result(self, child: Child) -> Ended[Any]:
        _, status = os.waitpid(child.pid, 0)
        if child.stopped:
            return child.late
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGKILL:
            short = "killed by the system, as is done where memory is short"
            return Ended(child.late.key, OVER_MEMORY, short)
        return Ended(child.late.key, FAILED, f"the process {how_it_ended(code)}, without a result")

    def _stop_overdue(self) -> None:
        for child in self._children.values():
            if child.deadline <= time.monotonic():
                child.stopped, child.deadline = True, float("inf")
                os.kill(child.pid, signal.SIGKILL)


def command(pipe: Connection) -> list[str]:
    """Return the command that starts this module with one end of a pipe."""
    return [sys.executable, "-P", "-m", __spec__.name, str(pipe.fileno())]


def how_it_ended(code: int) -> str:
    """Describe how a process ended; a negative code is that of a signal.

    Examples
    --------
    >>> how_it_ended(3), how_it_ended(-9)
    ('ended with code 3', 'was ended by SIGKILL')
    """
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


def run(key: Any, task: Task, memory_limit: int, pipe: Connection) -> None:
    """Run a job in this process, which has only this job; report when its time starts and how it ended."""
    import resource

    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # the terminal is for the process that shows progress
        os.dup2(nowhere, stream)
    warnings.simplefilter("ignore")
    unlimited = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_DATA, (memory_limit, unlimited))
    try:
        found = task(lambda: pipe.send(None))
        ended = Ended(key, DONE, found.message, found.seconds, peak_bytes(), found.measures)
    except Exception as error:
        resource.setrlimit(resource.RLIMIT_DATA, (unlimited, unlimited))
        ended = _ended_by(key, error)
    pipe.send(ended)


def _ended_by(key: Any, error: Exception) -> Ended[Any]:
    for_memory = isinstance(error, MemoryError) or any(text in str(error) for text in NO_MEMORY)
    message = str(error) if isinstance(error, F2SLError) else f"{type(error).__name__}: {error}"
    return Ended(key, OVER_MEMORY if for_memory else FAILED, message)


def main() -> None:
    """Serve the process at the other end of the pipe whose number is the first argument."""
    pipe = Connection(int(sys.argv[1]))
    with suppress(EOFError, ConnectionError):
        if FRESH in sys.argv:
            key, task, memory_limit = pipe.recv()
            run(key, task, memory_limit, pipe)
        else:
            Server(pipe).serve()


if __name__ == "__main__":
    main()
