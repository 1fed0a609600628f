"""Connection to a Dask cluster: submitting work, and recovering from lost workers and connections.

Work is split into independent pieces. A lost worker loses its current work and its data. Dask repeats its own
work; f2sl sends its data again (:class:`Held`) and submits all unfinished pieces again. So the result is
complete, or there is one error.
"""

from __future__ import annotations

import glob
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import count, islice
from pathlib import Path
from typing import Any, Generic, TypeVar

from f2sl._notes import Use
from f2sl._version import __version__
from f2sl.errors import ClusterError, OptionError

CONNECT_SECONDS = 10.0
"""Seconds for a scheduler to answer, and for its first worker to appear."""

PATIENCE_SECONDS = 30.0
"""Seconds to wait for a lost connection to return, or for workers to appear."""

LOOK_SECONDS = 2.0
"""Seconds between two checks for workers while waiting for results."""

SHORTEST_SLEEP, LONGEST_SLEEP = 0.0005, 0.02
"""Shortest and longest time between two checks for a result, in seconds."""

MOST_LOSSES = 5
"""Largest number of losses in a row, without any result, before giving up."""

AHEAD = 4
"""Number of pieces for each thread of the cluster to submit before taking the first results."""

Value = TypeVar("Value")
Piece = TypeVar("Piece")


class Cluster:
    """Connection to a scheduler; `own` closes everything that was started for it.

    Make one with :meth:`connect`.
    """

    def __init__(self, client: Any, address: str, own: ExitStack) -> None:
        self.client = client
        self.address = address
        self.generation = 0
        """Number of losses so far; data sent before a loss must be sent again."""
        self._close = weakref.finalize(self, own.close)

    @classmethod
    def connect(cls, scheduler: Any, n_workers: int, memory: int) -> Cluster:
        """Connect to a scheduler by its address or through a client; None starts workers on this machine.

        `n_workers` and `memory` apply to these: the number of processes, and the bytes that they may use
        together.

        Raises
        ------
        ClusterError
            If there is no answer, there are no workers, or workers run other versions.
        """
        try:
            import distributed
        except ImportError as error:
            needs = f' needs Dask, which cannot be imported ({error}): pip install "f2sl[cluster]"'
            raise OptionError(Use("engine", "dask"), needs) from None
        if isinstance(scheduler, distributed.Client):
            if scheduler.asynchronous:
                raise OptionError(
                    Use("scheduler"), ": the client is asynchronous; pass one with asynchronous=False"
                )
            if scheduler.status != "running":
                raise ClusterError(Use("scheduler"), ": the client is not connected; make a new one")
            cluster = cls(scheduler, str(scheduler.scheduler.address), ExitStack())
        elif scheduler is None:
            cluster = cls._local(distributed, n_workers, memory)
        elif isinstance(scheduler, str):
            own = ExitStack()
            cluster = cls(own.enter_context(_client(distributed, scheduler, scheduler)), scheduler, own)
        else:
            raise OptionError(
                Use("scheduler"),
                f" takes an address such as tcp://host:8786, or a dask.distributed.Client, not {scheduler!r}",
            )
        try:
            cluster._wait_for_workers(CONNECT_SECONDS)
            cluster._check_versions()
        except BaseException:
            cluster.close()
            raise
        return cluster

    @classmethod
    def _local(cls, distributed: Any, n_workers: int, memory: int) -> Cluster:
        """Start workers on this machine, which cannot be reached without their keys.

        Workers run whatever they are sent, and their ports are open to every user of the machine.
        """
        import logging

        import dask

        try:
            security = distributed.Security.temporary()
        except ImportError as error:
            raise OptionError(f'workers need keys ({error}): pip install "f2sl[cluster]"') from None

        with ExitStack() as opened:

            def start() -> Any:
                with _script_unknown():
                    return distributed.LocalCluster(
                        n_workers=n_workers,
                        threads_per_worker=1,
                        memory_limit=max(1, memory // n_workers),
                        dashboard_address="127.0.0.1:0",
                        security=security,
                        # Keys are written to a temporary folder for a moment; a worker killed then leaves it.
                        env={"TMPDIR": folder},
                        silence_logs=logging.CRITICAL,  # what matters comes here as an error
                    )

            with _not_interrupted():  # until it is certain that everything started here will be ended
                folder = opened.enter_context(_folder_of_workers())
                opened.enter_context(dask.config.set({"temporary-directory": folder}))
                begun = _out_of_reach(start, opened)
            local = begun.result()
            address = local.scheduler_address
            client = opened.enter_context(_client(distributed, local, address))
            return cls(client, address, opened.pop_all())

    def close(self) -> None:
        """Close the connection and everything that was started for it; a client of the caller stays open."""
        self._close()

    @property
    def closed(self) -> bool:
        """True if the connection was closed."""
        return not self._close.alive

    @property
    def workers(self) -> dict[str, Any]:
        """Information on each worker, by its address; waits for a lost connection."""
        for losses in count(1):
            with suppress(_Lost):
                return self._workers_now()
            self._recover("the scheduler was asked for its workers", losses)
        raise AssertionError("the last loss is an error")

    def _workers_now(self) -> dict[str, Any]:
        try:
            workers: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        except OSError as error:
            raise _Lost("the scheduler cannot be asked") from error
        return workers

    @property
    def n_threads(self) -> int:
        """Number of pieces of work that can run at the same time."""
        return max(1, sum(int(worker["nthreads"]) for worker in self.workers.values()))

    @property
    def memory_of_worker(self) -> int | None:
        """Memory limit of the smallest worker in bytes; None if no worker has a limit."""
        limits = (worker["memory_limit"] for worker in self.workers.values())
        return min((int(limit) for limit in limits if limit), default=None)

    def _wait_for_workers(self, seconds: float) -> None:
        try:
            self.client.wait_for_workers(1, timeout=seconds)
        except TimeoutError:
            raise ClusterError(
                f"{self.address}: the scheduler has no workers; start some with dask worker {self.address}"
            ) from None

    @staticmethod
    def current_client() -> Any:
        """Return Dask's default client of this process, or None."""
        try:
            from distributed import default_client

            return default_client()
        except (ImportError, ValueError):
            return None

    def _check_versions(self) -> None:
        """Raise an error for workers with other versions, whose results may differ or fail."""
        # Functions are sent by name, and arrays in NumPy's form: f2sl must be the same, the others nearly so.
        try:
            all_found = self.client.get_versions(check=False)
            here = _main_versions(all_found["client"])
            for address, found in all_found["workers"].items():
                for what, there in _main_versions(found).items():
                    if there != here[what]:
                        message = f"the worker runs {what} {there}, but this process runs {here[what]}"
                        raise ClusterError(f"{address}: {message}; install the same version")
            for address, version in self.client.run(_version_maker()).items():
                _check_version(version, address)
        except ClusterError:
            raise
        except OSError as error:
            raise ClusterError(f"{self.address}: a worker was lost ({error}); run again") from None

    # Work

    def submit(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Submit one call of a function of f2sl; return its Dask future."""
        return self.client.submit(_run, __version__, function, *arguments, pure=False, **options)

    def compute(self, function: Callable[..., Any], delayed: Any, *arguments: Any) -> Any:
        """Submit one call of a function on a delayed Dask value; return its future."""
        from dask import delayed as later

        return self.client.compute(later(_run, pure=False)(__version__, function, delayed, *arguments))

    def put(self, value: Any) -> Any:
        """Send a value that several calls need; it must be small, because the scheduler keeps it, too."""
        return self.submit(_itself, value)

    def scatter(self, values: list[Any]) -> list[Any]:
        """Send values that only workers keep, and that may be lost; return their futures."""
        try:
            return list(self.client.scatter(values, hash=False))
        except (TimeoutError, KeyError, OSError) as error:  # losing workers meanwhile raises various errors
            raise _Lost("no worker was there to send data to") from error

    def map(self, begin: Callable[[Piece], Any], pieces: Iterable[Piece]) -> Iterator[Any]:
        """Yield the result of each piece, in order; `begin` submits a piece and returns a future.

        After a loss, all unfinished pieces are submitted again.
        """
        left = iter(pieces)
        window: deque[list[Any]] = deque()
        capacity = AHEAD * self.n_threads
        losses = 0
        try:
            while True:
                window.extend([piece, None] for piece in islice(left, capacity - len(window)))
                if not window:
                    return
                try:
                    for entry in window:
                        if entry[1] is None:
                            entry[1] = begin(entry[0])
                    result = self._result(window[0][1])
                except _losses() as error:
                    losses += 1
                    # Futures keep their errors, whose frames keep futures: the cluster would never release
                    # anything.
                    self._recover(str(error.with_traceback(None)), losses)
                    for entry in window:
                        entry[1] = None
                    continue
                losses = 0
                window.popleft()
                yield result
        finally:
            begun = [future for _, future in window if future is not None]
            if begun and self.client.status == "running":
                with suppress(*_losses()):
                    self.client.cancel(begun)

    def _result(self, future: Any) -> Any:
        """Wait for a result as long as there are workers."""
        from distributed import KilledWorker

        self._wait_for(future)
        try:
            return future.result(timeout=PATIENCE_SECONDS)
        except TimeoutError as error:
            if future.status == "error":
                raise future.exception() from None
            raise _Lost("a result did not come back from its worker") from error
        except KilledWorker as error:
            raise ClusterError(
                f"{self.address}: several workers died on the same work ({error}); run again, with more "
                "memory for each worker if memory was short"
            ) from None

    def _wait_for(self, future: Any) -> None:
        """Wait until a future is done.

        It is polled: the time limit of Dask's own wait may cancel a result that has just arrived.
        """
        begun = looked = time.monotonic()
        deserted: float | None = None
        while not future.done():
            now = time.monotonic()
            if now - looked > LOOK_SECONDS:
                looked = now
                deserted = None if self._workers_now() else deserted or now
                if deserted is not None and now - deserted > PATIENCE_SECONDS:
                    raise ClusterError(f"{self.address}: all workers are gone; start workers and run again")
            time.sleep(min(max((now - begun) / 10, SHORTEST_SLEEP), LONGEST_SLEEP))

    def _recover(self, error: str, losses: int) -> None:
        """Wait for a connection and a worker, and mark all data as to be sent again."""
        if losses > MOST_LOSSES:
            raise ClusterError(f"{self.address}: the work was lost {losses} times ({error}); run again")
        end = time.monotonic() + PATIENCE_SECONDS
        while self.client.status != "running":
            if self.client.status in ("closed", "closing") or time.monotonic() > end:
                raise ClusterError(
                    f"{self.address}: the connection to the scheduler was lost and did not return; run again"
                ) from None
            time.sleep(0.1)
        self._wait_for_workers(PATIENCE_SECONDS)
        self.generation += 1


class _Lost(Exception):
    """Signal that data were lost or could not be sent."""


class Held(Generic[Value]):
    """Value held by the cluster, created on first use and again after a loss."""

    def __init__(self, cluster: Cluster, make: Callable[[], Value]) -> None:
        self._cluster = cluster
        self._make = make
        self._made: tuple[int, Value] | None = None

    def get(self) -> Value:
        """Return the value."""
        if self._made is None or self._made[0] != self._cluster.generation:
            self._made = None
            self._made = self._cluster.generation, self._make()
        return self._made[1]

    def release(self) -> None:
        """Release the value."""
        self._made = None


def _client(distributed: Any, target: Any, address: str) -> Any:
    """Connect to a scheduler."""
    try:
        if isinstance(target, str):
            _greet(target)
        return distributed.Client(target, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError, KeyError) as error:
        lines = str(error).strip().splitlines()
        raise ClusterError(
            f"{address}: no Dask scheduler answers at this address"
            + (f" ({lines[0][:200].rstrip(' .')})" if lines else "")
        ) from None


@contextmanager
def _not_interrupted() -> Iterator[None]:
    """Delay interrupts until the end of a block; only the main thread receives them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[tuple[int, Any]] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers = {number: handler for number, handler in before.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda number, frame: heard.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for first, frame in heard[:1]:
        handlers[signal.Signals(first)](first, frame)


def _folder_of_workers() -> tempfile.TemporaryDirectory[str]:
    """Create a folder for workers of this machine; remove folders of killed processes."""
    prefix = f"f2sl-{socket.gethostname()}-"
    for old in Path(tempfile.gettempdir()).glob(f"{glob.escape(prefix)}*-*"):
        process = old.name.removeprefix(prefix).partition("-")[0]
        if process.isdecimal() and not _in_use(old, int(process)):
            shutil.rmtree(old, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}-")


def _in_use(folder: Path, process: int) -> bool:
    """Return whether the process with that number runs, and is the one that made the folder.

    Numbers of processes are used again, soon so in a container; such a process began after the folder changed
    for the last time.
    """
    import psutil  # type: ignore[import-untyped]

    try:
        began = float(psutil.Process(process).create_time())
        return began <= folder.stat().st_mtime + 1  # a second, because clocks differ a bit
    except (psutil.NoSuchProcess, FileNotFoundError):
        return False
    except psutil.Error:  # of another user
        return True


@contextmanager
def _script_unknown() -> Iterator[None]:
    """Start processes without importing the script that runs here.

    They would run the script again unless it tests ``__name__``. Functions are sent to workers by module
    name, or with their code.
    """
    script = vars(sys.modules["__main__"])
    known: dict[str, Any] = {name: script[name] for name in ("__spec__", "__file__") if name in script}
    script.update(dict.fromkeys(known))
    try:
        yield
    finally:
        script.update(known)


def _out_of_reach(start: Callable[[], Any], opened: ExitStack) -> Future[Any]:
    """Start workers that Ctrl-C does not reach, to be ended with `opened`.

    A terminal interrupts all processes at once. Workers must learn of it from this process, and must not be
    interrupted while they start. Threads and processes inherit the set of blocked signals.
    """
    from multiprocessing import resource_tracker

    def begin() -> Any:
        if hasattr(signal, "pthread_sigmask"):
            resource_tracker.ensure_running()  # lets the signal through again where it begins
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        return start()

    thread = ThreadPoolExecutor(1)
    begun = thread.submit(begin)
    opened.callback(lambda: _close(begun.result()))
    thread.shutdown(wait=False)
    return begun


def _close(local: Any) -> None:
    """End the workers of this machine."""
    with suppress(KeyError):  # Dask's own supervision fails on a worker that was lost right after it started
        local.close()


def _greet(address: str) -> None:
    """Wait until a scheduler answers; Dask itself would wait for ever for a silent one."""
    import asyncio

    from distributed.comm import connect
    from distributed.security import Security

    async def greeted() -> None:
        comm = await connect(address, CONNECT_SECONDS, **Security().get_connection_args("client"))
        await comm.close()

    with ThreadPoolExecutor(1) as thread:  # there may be a loop in this one, as in a notebook
        thread.submit(asyncio.run, asyncio.wait_for(greeted(), CONNECT_SECONDS)).result()


def _losses() -> tuple[type[BaseException], ...]:
    """List the exceptions that mean lost work, lost data or a lost connection."""
    from concurrent.futures import CancelledError

    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    return _Lost, CancelledError, CommClosedError, ClosedClientError


def _main_versions(found: dict[str, Any]) -> dict[str, str]:
    """Return the versions that must agree, from Dask's information on a process."""
    versions = {"Python": found["host"]["python"], "NumPy": found["packages"]["numpy"]}
    return {what: ".".join(str(version).split(".")[:2]) for what, version in versions.items()}


def _version_maker() -> Callable[[], str | None]:
    """Return a function that is sent with its code, for workers that may lack f2sl."""

    def version() -> str | None:
        try:
            from importlib import import_module

            return str(import_module("f2sl").__version__)
        except ImportError:
            return None

    return version


def _check_version(version: str | None, address: str) -> None:
    if version != __version__:
        there = "has no f2sl" if version is None else f"runs f2sl {version}"
        raise ClusterError(
            f"{address}: the worker {there}, but this process runs f2sl {__version__}; "
            "install the same version"
        )


def _run(version: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function on a worker; checks the version of workers that joined later."""
    if version != __version__:
        from distributed import get_worker

        message = f"the worker runs f2sl {__version__}, but the caller runs f2sl {version}"
        raise ClusterError(f"{get_worker().address}: {message}; install the same version")
    return function(*arguments)


def _itself(value: Any) -> Any:
    return value
