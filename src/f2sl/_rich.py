"""A display of progress on a terminal, drawn with Rich."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from f2sl._progress import Display, showing

SECONDS_BEFORE_SHOWING = 0.3
"""Seconds before a bar is drawn; shorter work draws nothing."""
SECONDS_BEFORE_TELLING = 5.0
"""Shortest total time, in seconds, for which the remaining time is shown."""


@contextmanager
def on_terminal() -> Iterator[None]:
    """Draw the progress of a ``with`` block on the terminal."""
    display = RichDisplay()
    try:
        with showing(display):
            yield
    finally:
        display.close()


class RichDisplay(Display):
    """Display that draws a bar for the current stage; silent without a terminal.

    A stage that does not report its progress gets a bar that moves to and fro, not one stuck at 0 %.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn("line"),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            _Percentage(),
            TimeElapsedColumn(),
            _TimeLeft(),
            console=self.console,
            transient=True,
        )
        self._tasks: list[tuple[TaskID, float]] = []
        self._timer: threading.Timer | None = None

    def begin(self, stage: str) -> None:
        """Begin a stage; drawing starts once the first stages have lasted a moment."""
        if not self.console.is_terminal:
            return
        self._tasks.append((self._progress.add_task(stage, total=None), 0.0))
        if self._timer is None:
            self._timer = threading.Timer(SECONDS_BEFORE_SHOWING, self._progress.start)
            self._timer.daemon = True
            self._timer.start()

    def advance(self, share: float) -> None:
        """Move the bar."""
        if self._tasks:
            task, done = self._tasks[-1]
            self._tasks[-1] = task, done + share
            self._progress.update(task, total=1.0, completed=min(1.0, done + share))

    def end(self) -> None:
        """Remove the bar."""
        if self._tasks:
            self._progress.remove_task(self._tasks.pop()[0])

    def note(self, text: str) -> None:
        """Print a line above the bar, on a terminal only."""
        if self.console.is_terminal:
            self.console.print(Text(text, style="dim"))

    def close(self) -> None:
        """End drawing, and give the terminal back as it was."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
            self._timer = None
        if self._progress.live.is_started:
            self._progress.stop()


class _TimeLeft(ProgressColumn):
    """Column with the time left at the pace so far, once it is known and long enough."""

    def render(self, task: Task) -> Text:
        if task.total is None or not task.elapsed or not 0 < task.percentage < 100:
            return Text("")
        left = task.elapsed * (100 / task.percentage - 1)
        if task.elapsed + left < SECONDS_BEFORE_TELLING:
            return Text("")
        return Text(f"about {timedelta(seconds=round(left))} left")


class _Percentage(ProgressColumn):
    """Column with the share that is done, once it is known."""

    def render(self, task: Task) -> Text:
        return Text("" if task.total is None else f"{task.percentage:>3.0f}%")
