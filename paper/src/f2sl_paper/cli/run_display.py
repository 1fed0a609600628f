"""Progress of the experiments on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
)

from f2sl_paper.harness.progress import Standing, Watch


@contextmanager
def run_display(quiet: bool) -> Iterator[Watch]:
    """Return a watch that draws progress on standard error, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield Watch()
        return
    with RunDisplay(Console(stderr=True)) as display:
        yield display


class RunDisplay(Watch):
    """Progress bar with the running experiments and the remaining time."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn("line"),
            BarColumn(16),
            TextColumn("{task.description}", markup=False),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=None)

    def __enter__(self) -> RunDisplay:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def preparing(self, text: str) -> None:
        """Show what is being prepared."""
        self._progress.update(self._task, description=text)

    def going(self, standing: Standing) -> None:
        """Update the bar."""
        self._progress.update(
            self._task,
            description=described(standing),
            total=standing.total,
            completed=sum(standing.ended.values()),
        )


def described(standing: Standing) -> str:
    """Return the progress of a run as one line.

    Examples
    --------
    >>> from collections import Counter
    >>> from f2sl_paper.store import Unit
    >>> running = (Unit("mildew", 500, 1, "gsbn", "paper"),)
    >>> described(Standing(9, Counter(done=3, failed=1), running, 75.2))
    '3 of 9 done, 1 running, 1 failed, about 0:01:16 left: gsbn on mildew'
    """
    ended = standing.ended
    parts = [
        f"{ended['done']} of {standing.total} done",
        f"{len(standing.running)} running",
        f"{ended['failed']} failed",
    ]
    over = ended["time"] + ended["memory"] + ended["skipped"]
    if over:
        parts.append(f"{over} over limits")
    if standing.seconds_left is not None:
        parts.append(f"about {timedelta(seconds=round(standing.seconds_left + 0.5))} left")
    busy = ", ".join(dict.fromkeys(f"{unit.learner} on {unit.network}" for unit in standing.running))
    return f"{', '.join(parts)}: {busy}"
