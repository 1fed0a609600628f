"""Threads: one pool for all counting of an engine, and one thread for linear algebra.

Kernels run without Python's lock, so plain threads use all cores. Work is cut into pieces
that do not depend on each other, and results come back in the order of the pieces: the answer is
the same for any number of threads.

The thread that asks only waits, also if one thread does the work: Python handles Ctrl-C in its main thread
between two instructions, and a kernel there would delay it until its end. When the work is interrupted or out
of time, pieces that have begun are not waited for. Their threads are daemons, so they do not keep the process
alive either. For that, pieces must not multiply or decompose matrices: that is done by the thread that asks,
or by :func:`interruptibly`. If OpenBLAS's own threads work for another thread when the process ends, OpenBLAS
may wait for them forever, or crash.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from itertools import islice
from numbers import Integral
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from f2sl._deadline import checkpoint
from f2sl._notes import Note, Use
from f2sl.errors import OptionError

Piece = TypeVar("Piece")
Result = TypeVar("Result")

MOST_PER_CORE = 8
"""Threads or processes for each core that are ever started: more would only wait, and take memory."""

AHEAD = 8
"""Number of pieces for each thread to submit before taking the first results."""

SECONDS_TO_WAIT = 0.1
"""Time between two looks at the deadline while a piece is worked on."""
LONG_CALL = 1 << 18
"""Values of an array from which a call of a library may take more than a tenth of a second."""
_LONG = "f2sl_long"
SECONDS_TO_END = 0.1
"""Time for idle threads to end; one with a long piece is left behind."""


def available_cores() -> int:
    """Count the cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - not every system tells
        return os.cpu_count() or 1


def resolve_jobs(n_jobs: int | None) -> int:
    """Return the number of threads for scikit-learn's `n_jobs`; None means all cores.

    Examples
    --------
    >>> resolve_jobs(2)
    2
    """
    if n_jobs is None:
        return available_cores()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        message = f" must be a whole number other than 0 (all cores if left out), not {n_jobs!r}"
        raise OptionError(Use("n_jobs"), message)
    cores = available_cores()
    return min(int(n_jobs), MOST_PER_CORE * cores) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def note_of_jobs(n_jobs: int | None, jobs: str = "threads") -> list[Note]:
    """Return a note if `n_jobs` asks for more `jobs` than are started.

    Examples
    --------
    >>> note_of_jobs(1), len(note_of_jobs(10**6))
    ([], 1)
    """
    used = resolve_jobs(n_jobs)
    if n_jobs is None or n_jobs <= used:
        return []
    capped = (
        f"{used} {jobs} instead of the {n_jobs:,} asked for: {MOST_PER_CORE} for each core of this machine"
    )
    return [Note("jobs", capped, used=used, asked=n_jobs)]


_limited: set[bool] = set()
"""The limits of `one_blas_thread` in force: without SciPy's library, and with it."""


@contextmanager
def one_blas_thread(of_scipy: bool = False) -> Iterator[None]:
    """Limit linear algebra libraries to one thread during a ``with`` block.

    On matrices of a few dozen rows, threads wait for each other far longer than they compute. And with one
    thread, the order of sums does not depend on the number of cores. SciPy has a library of its own, which is
    limited, and loaded, if `of_scipy` is true.
    """
    if of_scipy in _limited or True in _limited:
        yield
        return
    if of_scipy:
        import scipy.linalg  # noqa: F401 - a library that is loaded later would not hear of the limit
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        _limited.add(of_scipy)
        try:
            yield
        finally:
            _limited.discard(of_scipy)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> Any:
    """Return what limits the loaded libraries; another may be loaded only once there are more modules."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class _Task(Generic[Result]):
    """A piece of work, run by one thread while another waits for its result.

    Like a future of the standard library, in less than half the time: many pieces take less than that.
    """

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call, self._pending = call, threading.Lock()
        self._pending.acquire()
        self._error: BaseException | None = None
        self.dropped = False

    def run(self) -> None:
        """Do the work, unless the task has been dropped."""
        if self.dropped:
            return
        try:
            self._value = self._call()
        except BaseException as error:
            self._error = error
        self._pending.release()

    def result(self) -> Result:
        """Wait for the result; notice the deadline meanwhile, and Ctrl-C where it does not end a wait."""
        checkpoint()
        while not self._pending.acquire(timeout=SECONDS_TO_WAIT):
            checkpoint()
        if self._error is not None:
            raise self._error
        return self._value


def interruptibly(function: Callable[..., Result], *arrays: Any) -> Result:
    """Return what one call of a library makes of arrays; the deadline and Ctrl-C end the wait for a long one.

    The interpreter still waits for it when it ends: a library that is unloaded under a call crashes. The
    command line ends without (`unfinished_calls`).

    Examples
    --------
    >>> import numpy as np
    >>> interruptibly(np.linalg.inv, np.array([[0.5]])).tolist()
    [[2.0]]
    """
    if all(array.size < LONG_CALL for array in arrays):  # to start a thread would take longer
        return function(*arrays)
    task = _Task(partial(function, *arrays))
    threading.Thread(target=task.run, name=_LONG, daemon=False).start()
    return task.result()


def unfinished_calls() -> bool:
    """Return whether some call that `interruptibly` no longer waits for is still at work."""
    return any(thread.name == _LONG for thread in threading.enumerate())


class Threads:
    """Run a function over pieces of work, results in order.

    The threads start with the first call, and end with `close` or at the end of a ``with`` block.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = resolve_jobs(n_jobs)
        self._tasks: SimpleQueue[_Task[Any] | None] = SimpleQueue()
        self._workers: list[threading.Thread] = []

    def map(self, function: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
        """Yield ``function(piece)`` for each piece, in order; stop cleanly when interrupted.

        Pieces are requested a few at a time, so they can be made as they are needed.
        """
        if threading.current_thread() in self._workers:  # a thread that waited for itself would wait forever
            yield from map(function, pieces)
            return
        left = iter(pieces)
        begun = deque(self._begin(function, piece) for piece in islice(left, AHEAD * self.n_threads))
        try:
            while begun:
                result = begun.popleft().result()
                begun.extend(self._begin(function, piece) for piece in islice(left, 1))
                yield result
        finally:
            for task in begun:
                task.dropped = True

    def _begin(self, function: Callable[[Piece], Result], piece: Piece) -> _Task[Result]:
        if not self._workers:
            self._workers = [
                threading.Thread(target=_work, args=(self._tasks,), name=f"f2sl_{i}", daemon=True)
                for i in range(self.n_threads)
            ]
            weakref.finalize(self, _end, self._tasks, self.n_threads)
            for worker in self._workers:
                worker.start()
        task = _Task(partial(function, piece))
        self._tasks.put(task)
        return task

    def close(self) -> None:
        """End the threads; work that has not begun is dropped, and what has begun is not waited for."""
        _end(self._tasks, len(self._workers))
        until = time.monotonic() + SECONDS_TO_END
        for worker in self._workers:
            worker.join(max(0.0, until - time.monotonic()))
        self._workers = []

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _work(tasks: SimpleQueue[_Task[Any] | None]) -> None:
    """Run tasks until there is a None among them."""
    while (task := tasks.get()) is not None:
        task.run()
        del task  # so that nothing of it is kept while this thread waits


def _end(tasks: SimpleQueue[_Task[Any] | None], n_threads: int) -> None:
    """Drop the tasks that have not begun, and end the threads."""
    with suppress(Empty):
        while True:
            tasks.get_nowait()
    for _ in range(n_threads):
        tasks.put(None)
