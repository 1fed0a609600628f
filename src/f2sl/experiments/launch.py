"""Starting the server, and ending it with all that it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe

from f2sl.errors import F2SLError
from f2sl.experiments.messages import Order

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Linear algebra has one thread: nothing that is forked has others, and sums are the same on any machine."""


@contextmanager
def launched(order: Order) -> Iterator[Connection]:
    """Start a server for the length of a ``with`` block; gives our end of the pipe to it.

    It has a session of its own, so that Ctrl-C reaches this process alone, which then ends all others.

    Raises
    ------
    F2SLError
        If it ends before it is told to: somebody killed it, or the system did for want of memory.
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
    except (EOFError, ConnectionError):
        raise F2SLError(
            f"the process that units run from {ended(process.wait())}; what was finished is kept, and the "
            "same command goes on"
        ) from None
    finally:
        ours.close()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def ended(code: int) -> str:
    """Put into words how a process ended; below 0 the code is that of a signal.

    Examples
    --------
    >>> ended(3), ended(-9)
    ('ended with code 3', 'was ended by SIGKILL')
    """
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
