"""Progress of a run, and the time that the rest will take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Generic

from f2sl_paper.harness.job import Key


@dataclass(frozen=True)
class Standing:
    """Progress of a run; `seconds_left` is None until a job has ended."""

    total: int
    ended: Counter[str]
    running: tuple[Any, ...]
    seconds_left: float | None


class Watch:
    """Receives the progress of a run; this one ignores it."""

    def preparing(self, text: str) -> None:
        """Receive what is being prepared."""

    def going(self, standing: Standing) -> None:
        """Receive how far the run has come, several times a second."""


class Pace(Generic[Key]):
    """Estimates how long jobs will take, from those that have ended.

    `likeness` lists what a job has in common with others, from much to little; the mean of those with most
    in common counts.

    Examples
    --------
    >>> pace = Pace(jobs=2, likeness=lambda key: (key,))
    >>> pace.seconds_left(["mmhc"])
    >>> pace.took("gsbn", 3.0)
    >>> pace.seconds_left(["mmhc"])
    1.5
    """

    def __init__(self, jobs: int, likeness: Callable[[Key], tuple[Hashable, ...]]) -> None:
        self._jobs = jobs
        self._likeness = likeness
        self._seconds: defaultdict[Hashable, list[float]] = defaultdict(list)

    def took(self, key: Key, seconds: float) -> None:
        """Record how long a job took."""
        for alike in (*self._likeness(key), None):
            self._seconds[alike].append(seconds)

    def seconds_left(self, keys: Iterable[Key]) -> float | None:
        """Estimate the total time of these jobs; None if no job has ended."""
        if not self._seconds:
            return None
        closest = Counter(
            next(alike for alike in (*self._likeness(key), None) if alike in self._seconds) for key in keys
        )
        return sum(number * fmean(self._seconds[alike]) for alike, number in closest.items()) / self._jobs
