"""A display of progress on a terminal, drawn with Rich."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from f2sl._progress import Display

SECONDS_BEFORE_SHOWING = 0.3


class RichDisplay(Display):
    """Draws a bar for the stage under way; where there is no terminal it stays quiet."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._stage = ""
        self._done = 0.0
        self._since = 0.0

    def begin(self, stage: str) -> None:
        """Remember the stage; it is drawn once it has lasted a moment."""
        self._stage, self._done, self._since = stage, 0.0, time.monotonic()
        if self._progress is not None:
            self._task = self._progress.add_task(stage, total=1.0)
        elif self.console.is_terminal:
            self._progress = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}%"),
                TimeElapsedColumn(),
                console=self.console,
                transient=True,
            )
            self._progress.start()
            self._task = self._progress.add_task(stage, total=1.0)

    def advance(self, share: float) -> None:
        """Move the bar."""
        self._done += share
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=min(1.0, self._done))

    def end(self) -> None:
        """Take the bar away."""
        if self._progress is not None and self._task is not None:
            self._progress.remove_task(self._task)
            self._task = None

    def note(self, text: str) -> None:
        """Print a line above the bar, on a terminal only."""
        if self.console.is_terminal:
            self.console.print(f"[dim]{text}[/dim]", highlight=False)

    def close(self) -> None:
        """End drawing."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
