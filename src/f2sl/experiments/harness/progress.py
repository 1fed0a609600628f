"""How far a run has come, and how long the rest will take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Generic

from f2sl.experiments.harness.job import Key


@dataclass(frozen=True)
class Standing:
    """The jobs of a run so far; `seconds_left` is None until one has ended."""

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
    """Estimates how long jobs will take, from similar ones that have ended.

    Parameters
    ----------
    jobs : int
        Number of jobs that run at a time.
    likeness : callable
        Lists what a job has in common with others, from much to little.

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
        """Take note of how long a job took."""
        for alike in (*self._likeness(key), None):
            self._seconds[alike].append(seconds)

    def seconds_left(self, keys: Iterable[Key]) -> float | None:
        """Estimate how long these jobs will take together."""
        if not self._seconds:
            return None
        alike = Counter((*self._likeness(key), None) for key in keys)
        return sum(number * self._estimate(likeness) for likeness, number in alike.items()) / self._jobs

    def _estimate(self, likeness: tuple[Hashable, ...]) -> float:
        return next(fmean(self._seconds[alike]) for alike in likeness if alike in self._seconds)
