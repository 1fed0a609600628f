"""Real clusters for tests: worker processes that can be killed, and a network that can be cut."""

import gc
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import dask
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context

from f2sl._progress import Display, showing
from f2sl.data.dask.runtime import Cluster

# Workers are forked from a process that has imported everything, which is far quicker than beginning anew.
dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
LOADED = [
    "distributed",
    "f2sl.data.dask.table",
    "f2sl.data.dask.reading",
    "f2sl.stats.scores.tables",
    "pandas",
]
get_mp_context().set_forkserver_preload(LOADED)


@contextmanager
def running(n_workers):
    """Start a scheduler and worker processes, with a client; all end with the block."""
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        memory_limit=None,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )
    try:
        with Client(cluster, set_as_default=False) as client:
            yield client
    finally:
        with suppress(Exception):  # Dask may trip over ending workers that were killed or cut off
            cluster.close()


@contextmanager
def lone_worker(client, first="pass"):
    """Start a worker that runs some code `first`, and that nobody replaces; gives its process."""
    code = f"{first}; from distributed.cli.dask_worker import main; main()"
    command = [sys.executable, "-c", code, client.scheduler.address]
    quiet = subprocess.DEVNULL
    options = ["--no-nanny", "--nthreads", "1", "--no-dashboard"]
    with subprocess.Popen([*command, *options], stdout=quiet, stderr=quiet) as process:
        try:
            client.wait_for_workers(1, timeout=60)
            yield process
        finally:
            process.kill()


def processes(client):
    """Give the process ids of the workers."""
    return list(client.run(os.getpid).values())


def forgets_all(client):
    """Tell whether the scheduler has nothing left to keep, or to do, within a time."""
    return becomes_empty(
        lambda: client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))  # only their names
    )


def lets_go_of_all(client):
    """Tell whether nobody here wants anything of the scheduler any more, within a time.

    What a scheduler makes of that when it has lost workers is its own affair.
    """
    return becomes_empty(lambda: client.futures)


def becomes_empty(left, seconds=60.0):
    """Look again and again whether nothing is left, for some time."""
    gc.collect()  # a future's error may hold it in a circle
    end = time.monotonic() + seconds
    while left():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def killing(client, n=1):
    """Make what ends some workers with SIGKILL."""
    chosen = processes(client)[:n]

    def kill():
        for process in chosen:
            os.kill(process, signal.SIGKILL)

    return kill


def at_result(monkeypatch, number, action):
    """Do something just before result `number` is waited for, with work under way; gives the calls so far."""
    calls = []
    wait = Cluster._result

    def watched(self, future):
        calls.append(number)  # not the future: who holds it makes the cluster hold the result
        if len(calls) == number:
            action()
        return wait(self, future)

    monkeypatch.setattr(Cluster, "_result", watched)
    return calls


@contextmanager
def in_stage(monkeypatch, stage, action):
    """Do something while the first result of a stage is waited for; the stage must come."""
    display, done, wait = _Stage(), [], Cluster._result

    def watched(self, future):
        if display.name == stage and not done:
            done.append(stage)
            action()
        return wait(self, future)

    with monkeypatch.context() as patch, showing(display):
        patch.setattr(Cluster, "_result", watched)
        yield
    assert done == [stage]


class _Stage(Display):
    """Knows which stage is under way."""

    name = None

    def begin(self, stage):
        self.name = stage

    def end(self):
        self.name = None


class Proxy:
    """Stands between a client and a scheduler, and can cut the connection for a time."""

    def __init__(self, address):
        host, _, port = address.removeprefix("tcp://").rpartition(":")
        self._target = host, int(port)
        self._open = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self._port = self._server.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        threading.Thread(target=self._listen, args=(self._server,), daemon=True).start()

    def _listen(self, server):
        while True:
            try:
                near, _ = server.accept()
            except OSError:
                return
            far = socket.create_connection(self._target)
            self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()

    def close(self):
        """Cut all connections, and refuse new ones."""
        _shut(self._server)
        while self._open:
            _shut(self._open.pop())

    def cut(self, seconds):
        """Cut all connections, and refuse new ones for a time; returns at once."""
        self.close()

        def again():
            time.sleep(seconds)
            self._server = socket.create_server(("127.0.0.1", self._port))
            self._listen(self._server)

        threading.Thread(target=again, daemon=True).start()


def _pass_on(one, other):
    try:
        while data := one.recv(1 << 16):
            other.sendall(data)
    except OSError:
        pass
    finally:
        _shut(one)
        _shut(other)


def _shut(connection):
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
