"""Starting the server, and ending it with all that it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe

from f2sl.experiments.messages import Order

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Linear algebra has one thread: nothing that is forked has others, and sums are the same on any machine."""


@contextmanager
def launched(order: Order) -> Iterator[Connection]:
    """Start a server for the length of a ``with`` block; gives our end of the pipe to it.

    It has a session of its own, so that Ctrl-C reaches this process alone, which then ends all others.
    """
    ours, theirs = Pipe()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "f2sl.experiments.server", str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        env={
            **os.environ,
            **dict.fromkeys(ONE_THREAD, "1"),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
        start_new_session=True,
    )
    try:
        theirs.close()
        ours.send(order)
        yield ours
    finally:
        ours.close()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
