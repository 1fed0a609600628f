"""Threads: one pool for all counting of an engine, and one thread for linear algebra.

Kernels run without Python's lock, so plain threads use all cores. Work is cut into pieces
that do not depend on each other, and results come back in the order of the pieces: the answer is
the same for any number of threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from numbers import Integral
from typing import TypeVar

from f2sl.errors import OptionError

Piece = TypeVar("Piece")
Result = TypeVar("Result")

MOST_PER_CORE = 8
"""Threads or processes for each core that are ever started: more would only wait, and take memory."""

AHEAD = 8
"""Number of pieces for each thread to submit before taking the first results."""


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
        raise OptionError(
            f"n_jobs must be a whole number other than 0 (all cores if left out), not {n_jobs!r}"
        )
    cores = available_cores()
    return min(int(n_jobs), MOST_PER_CORE * cores) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def note_of_jobs(n_jobs: int | None, jobs: str = "threads") -> list[str]:
    """Return a note if `n_jobs` asks for more `jobs` than are started.

    Examples
    --------
    >>> note_of_jobs(1), len(note_of_jobs(10**6))
    ([], 1)
    """
    used = resolve_jobs(n_jobs)
    if n_jobs is None or n_jobs <= used:
        return []
    return [
        f"{used} {jobs} instead of the {n_jobs:,} asked for: {MOST_PER_CORE} for each core of this machine"
    ]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit linear algebra libraries to one thread during a ``with`` block.

    On matrices of a few dozen rows, threads wait for each other far longer than they compute. And with one
    thread, the order of sums does not depend on the number of cores.
    """
    import scipy.linalg  # noqa: F401 - a library that is loaded later would not hear of the limit
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


class Threads:
    """Run a function over pieces of work, results in order.

    The pool starts with the first call that has more than one piece, and ends with
    `close` or at the end of a ``with`` block.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = resolve_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def map(self, function: Callable[[Piece], Result], pieces: Iterable[Piece]) -> Iterator[Result]:
        """Yield ``function(piece)`` for each piece, in order; stop cleanly when interrupted.

        Pieces are requested a few at a time, so they can be made as they are needed.
        """
        left = iter(pieces)
        first = list(islice(left, 2))
        if self.n_threads == 1 or len(first) <= 1:
            yield from map(function, chain(first, left))
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_threads, thread_name_prefix="f2sl")
        begun = islice(chain(first, left), AHEAD * self.n_threads)
        futures = deque([self._pool.submit(function, piece) for piece in begun])
        try:
            while futures:
                result = futures.popleft().result()
                futures.extend(self._pool.submit(function, piece) for piece in islice(left, 1))
                yield result
        finally:
            for future in futures:
                future.cancel()

    def close(self) -> None:
        """End the threads; work that has not begun is dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
