"""Progress of long work, reported to a display.

Learners report to whatever display is current; by default nobody listens. The command line
and ``verbose=True`` put a display in place that draws bars on a terminal.

Examples
--------
>>> class Printer(Display):
...     def begin(self, stage):
...         print(stage)
>>> with showing(Printer()):
...     with stage("counting pairs") as advance:
...         advance(0.5)
counting pairs
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from f2sl._deadline import checkpoint


class Display:
    """Receives the beginning, progress and end of stages; this base class shows nothing."""

    def begin(self, stage: str) -> None:
        """Receive the beginning of a stage."""

    def advance(self, share: float) -> None:
        """Receive the share (of 1) of the stage that was finished since the last call."""

    def end(self) -> None:
        """Receive the end of the stage."""

    def note(self, text: str) -> None:
        """Receive a note to print on a line."""


_current: ContextVar[Display | None] = ContextVar("f2sl_display", default=None)
_in_place: list[Display] = []


@contextmanager
def showing(display: Display) -> Iterator[Display]:
    """Use `display` as the current one during a ``with`` block."""
    token = _current.set(display)
    _in_place.append(display)
    try:
        yield display
    finally:
        _in_place.remove(display)
        _current.reset(token)


def _unseen(share: float) -> None:
    """Report to nobody."""
    checkpoint()


@contextmanager
def stage(name: str) -> Iterator[Callable[[float], None]]:
    """Report a stage to the current display; yield a function that reports finished shares.

    Its beginning and each report are checkpoints of the time limit.
    """
    checkpoint()
    display = _current.get()
    if display is None:
        yield _unseen
        return
    display.begin(name)

    def advance(share: float) -> None:
        display.advance(share)
        checkpoint()

    try:
        yield advance
    finally:
        display.end()


def note(text: str) -> bool:
    """Pass a note to the current display, from any thread; return whether there is a display."""
    if _in_place:
        _in_place[-1].note(text)
    return bool(_in_place)
