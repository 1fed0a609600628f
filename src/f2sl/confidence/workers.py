"""Ways to run the replicates: in this process, in forked processes, or on the workers of a Dask cluster.

A replicate consists mostly of short calls from Python, during which threads would wait for each other: on two
cores, two threads are slower than one, and two processes are nearly twice as fast. Forked processes have the
table and the compiled loops from the start.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, cast

from f2sl._threads import one_blas_thread
from f2sl.data.memory.table import MemoryTable
from f2sl.errors import F2SLError
from f2sl.learners.resample import Replicate, Resampling

if TYPE_CHECKING:
    from f2sl.data.dask.runtime import Cluster

AHEAD = 2
"""Replicates that a process has at a time: one to work on, and the next."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_here(resampling: Resampling, table: MemoryTable, numbers: Iterable[int]) -> Iterator[Replicate]:
    """Run replicates one after another in this process."""
    for number in numbers:
        yield resampling.run(table, number)


def run_in_processes(
    resampling: Resampling, table: MemoryTable, numbers: Sequence[int], n_jobs: int
) -> Iterator[Replicate]:
    """Run replicates in separate processes; yield each when it finishes, in any order.

    The first runs in this process, which compiles what is not compiled yet and shows errors before any
    process starts.
    """
    yield from run_here(resampling, table, numbers[:1])
    left = iter(numbers[1:])
    n_jobs = min(n_jobs, len(numbers) - 1)
    if n_jobs < 2:
        yield from run_here(resampling, table, left)
        return
    with _started(resampling, table, n_jobs) as pipes:
        busy = dict.fromkeys(pipes, 0)
        for pipe in [pipe for _ in range(AHEAD) for pipe in pipes]:
            _hand_out(pipe, left, busy)
        while any(busy.values()):
            for ready in wait([pipe for pipe, n in busy.items() if n]):
                pipe = cast(Connection, ready)
                found = _received(pipe)
                busy[pipe] -= 1
                _hand_out(pipe, left, busy)
                yield found


def _hand_out(pipe: Connection, left: Iterator[int], busy: dict[Connection, int]) -> None:
    for number in left:
        with suppress(ConnectionError):  # the process is gone; this is noticed when its result is read
            pipe.send(number)
        busy[pipe] += 1
        return


def _received(pipe: Connection) -> Replicate:
    try:
        found = pipe.recv()
    except (EOFError, OSError):
        raise F2SLError(
            "a process that learns from resampled rows was killed, perhaps because memory was short; "
            "use fewer jobs"
        ) from None
    if isinstance(found, BaseException):
        raise found
    assert isinstance(found, Replicate)
    return found


@contextmanager
def _started(resampling: Resampling, table: MemoryTable, n_jobs: int) -> Iterator[list[Connection]]:
    """Start processes for the duration of a ``with`` block; yield a pipe to each."""
    # Elsewhere than on Linux, libraries of the system do not survive forking.
    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pipes: list[Connection] = []
    processes = []
    try:
        with _signals_wait():
            for _ in range(n_jobs):
                ours, theirs = multiprocessing.Pipe()
                pipes.append(ours)
                # If a process held our ends, the others would not notice that we are gone.
                unwanted = pipes.copy() if context.get_start_method() == "fork" else []
                work = (resampling, table, theirs, unwanted)
                process = context.Process(target=_work, args=work, daemon=True)
                with warnings.catch_warnings():
                    # That there are threads is known: those of NumPy's and of the display. What runs in the
                    # new process uses neither.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    process.start()
                processes.append(process)
                theirs.close()
        yield pipes
    finally:
        for pipe in pipes:
            pipe.close()
        for process in processes:
            process.kill()
            process.join()


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Hold back signals, so that none reaches a process that is not ready for it."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover - Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(
    resampling: Resampling, table: MemoryTable, pipe: Connection, unwanted: Iterable[Connection]
) -> None:
    """Run the replicates whose numbers arrive through a pipe, until it is closed."""
    for other in unwanted:
        other.close()
    # A terminal interrupts all processes at once; this one ends when the one that started it wants it to.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    warnings.simplefilter("ignore")
    gc.freeze()  # what was there before is shared with the other processes as long as no one touches it
    with suppress(EOFError, ConnectionError), one_blas_thread(of_scipy=True):
        while True:
            number = pipe.recv()
            try:
                found: Any = resampling.run(table, number)
            except Exception as error:
                found = _sendable(error)
            pipe.send(found)


def _end_with_parent() -> None:
    """Wait until the parent process ends, then end this one at once, even in the middle of its work."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _sendable(error: Exception) -> Exception:
    """Return an error unchanged, or its message if it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def run_on_cluster(
    resampling: Resampling, table: MemoryTable, numbers: Iterable[int], cluster: Cluster
) -> Iterator[Replicate]:
    """Run replicates on the workers of a cluster: the table is sent once, and each replicate is a task."""
    from f2sl.data.dask.runtime import Held

    sent = Held(cluster, lambda: cluster.scatter([(resampling, table)])[0])
    yield from cluster.map(lambda number: cluster.submit(_task, sent.get(), number), numbers)


def _task(sent: tuple[Resampling, MemoryTable], number: int) -> Replicate:
    resampling, table = sent
    return resampling.run(table, number)
