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
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from f2sl._threads import one_blas_thread
from f2sl.data.memory.table import MemoryTable
from f2sl.errors import F2SLError
from f2sl.learners.resample import Replicate, Resampling

if TYPE_CHECKING:
    from f2sl.data.dask.runtime import Cluster

AHEAD = 2
"""Replicates that a process has at a time: one to work on, and the next."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_work: tuple[Resampling, MemoryTable]
"""What a process that was started here learns from."""


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
    # Elsewhere than on Linux, libraries of the system do not survive forking.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    others = multiprocessing.active_children()
    pool = ProcessPoolExecutor(n_jobs, context, _begin, (resampling, table))
    try:
        with _signals_wait(), warnings.catch_warnings():
            # That there are threads is known: those of NumPy's and of the display. What runs in the new
            # processes uses neither.
            warnings.simplefilter("ignore", DeprecationWarning)
            running = {pool.submit(_learn, number) for number in islice(left, AHEAD * n_jobs)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(_learn, number) for number in islice(left, len(done))}
            for task in done:
                yield task.result()
    except BrokenProcessPool:
        raise F2SLError(
            "a process that learns from resampled rows was killed, perhaps because memory was short; "
            "use fewer jobs"
        ) from None
    finally:
        for process in multiprocessing.active_children():
            if process not in others:
                process.kill()
        pool.shutdown(cancel_futures=True)


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


def _begin(resampling: Resampling, table: MemoryTable) -> None:
    """Prepare a new process: it is silent, heeds no interrupt, and ends with the one that started it."""
    global _work
    _work = resampling, table
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


def _end_with_parent() -> None:
    """Wait until the parent process ends, then end this one at once, even in the middle of its work."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _learn(number: int) -> Replicate:
    """Run a replicate in a process that `_begin` has prepared; an error that cannot be sent is described."""
    try:
        with one_blas_thread(of_scipy=True):
            return _task(_work, number)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            raise RuntimeError(f"{type(error).__name__}: {error}") from None
        raise


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
