"""Time limit of a fit, and how work stops at it or on Ctrl-C with what it has found.

A fit has one :class:`Deadline`. While it is the current one, :func:`checkpoint` raises :class:`TimeUp` once
the time is up. Checkpoints are where long work is cut into pieces: between the pieces that threads work on,
and where progress is reported. So no function needs the deadline as an argument to stop. Work that has
something worth keeping is put into a block of :class:`keeping`, which ends early at the limit or on Ctrl-C.

Examples
--------
>>> deadline, found = Deadline(1e-9), []
>>> with limited(deadline):
...     with keeping("only the first number was found"):
...         found.append(1)
...         checkpoint()
...         found.append(2)
>>> found, deadline.undone
([1], 'only the first number was found')
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from f2sl._notes import Note


class TimeUp(BaseException):
    """Raised by :func:`checkpoint` when the time is up; no handler of errors may catch it."""


class Deadline:
    """Time limit that starts when the object is created.

    Parameters
    ----------
    seconds : float, optional
        None for no limit.

    Attributes
    ----------
    undone : str or None
        What was not done, once the work has stopped early.
    interrupted : bool
        True if Ctrl-C stopped it.

    Examples
    --------
    >>> Deadline(None).passed, Deadline(1e-9).passed
    (False, True)
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self.undone: str | None = None
        self.interrupted = False

    @property
    def passed(self) -> bool:
        """True if the time is up."""
        return self._end is not None and time.monotonic() >= self._end

    @property
    def left(self) -> float | None:
        """Seconds left, at least a millisecond; None without a limit."""
        return None if self._end is None else max(1e-3, self._end - time.monotonic())

    @property
    def stopped(self) -> bool:
        """True if the work has stopped early; what follows should only put the result together."""
        return self.undone is not None

    def stop(self, undone: str, interrupted: bool = False) -> None:
        """Record that the work stops early, and what is not done; no checkpoint raises from here on."""
        self.undone, self.interrupted = undone, interrupted

    @property
    def note(self) -> Note:
        """Note for the user on why the result is incomplete."""
        why = "interrupted" if self.interrupted else f"the time limit of {self.seconds:g} s was reached"
        return Note("incomplete", f"incomplete: {why}; {self.undone}", interrupted=self.interrupted)


_current: ContextVar[Deadline | None] = ContextVar("f2sl_deadline", default=None)


@contextmanager
def limited(deadline: Deadline | None) -> Iterator[None]:
    """Make a deadline, or none, the current one during a ``with`` block."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Deadline:
    """Return the current deadline; one without a limit if there is none."""
    return _current.get() or Deadline()


@contextmanager
def keeping(undone: str, found: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """End a block early, without an error, at the time limit or on Ctrl-C, and keep what it has found.

    The current deadline then remembers that the work has stopped. Without a current one, nothing is caught.

    Parameters
    ----------
    undone : str
        What is not done if the block ends early, for a note.
    found : callable
        Whether there is something to keep; otherwise the block ends like any other.
    """
    deadline = _current.get()
    try:
        yield
    except (TimeUp, KeyboardInterrupt) as error:
        # A second Ctrl-C, while the result is put together, is an interrupt like any other.
        if deadline is None or deadline.stopped or not found():
            raise
        deadline.stop(undone, isinstance(error, KeyboardInterrupt))


def checkpoint() -> None:
    """Raise :class:`TimeUp` if the current deadline has passed and the work has not stopped yet."""
    deadline = _current.get()
    if deadline is not None and deadline.seconds is not None and deadline.passed and not deadline.stopped:
        raise TimeUp
