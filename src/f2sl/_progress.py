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


class Display:
    """Hears of stages as they begin, go on and end; this one shows nothing."""

    def begin(self, stage: str) -> None:
        """Hear that a stage begins."""

    def advance(self, share: float) -> None:
        """Hear that a further share (of 1) of the stage is done."""

    def end(self) -> None:
        """Hear that the stage is over."""

    def note(self, text: str) -> None:
        """Hear something worth a line."""


_NOBODY = Display()
_current: ContextVar[Display] = ContextVar("f2sl_display")
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


@contextmanager
def stage(name: str) -> Iterator[Callable[[float], None]]:
    """Report a stage to the current display; yield a function that reports finished shares."""
    display = _current.get(_NOBODY)
    display.begin(name)
    try:
        yield display.advance
    finally:
        display.end()


def note(text: str) -> bool:
    """Pass a note to the current display, from any thread; return whether there is a display."""
    if _in_place:
        _in_place[-1].note(text)
    return bool(_in_place)
