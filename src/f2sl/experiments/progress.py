"""How far a run has come, and how long the rest will take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from statistics import fmean

from f2sl.experiments.plan import Cell, cell_of
from f2sl.experiments.store import Unit


@dataclass(frozen=True)
class Standing:
    """Units of this call so far; `seconds_left` is None while nothing is known."""

    total: int
    ended: Counter[str]
    running: tuple[Unit, ...]
    seconds_left: float | None


class Watch:
    """Hears how a run goes on; this one shows nothing."""

    def preparing(self, text: str) -> None:
        """Hear what is done before units can run."""

    def going(self, standing: Standing) -> None:
        """Hear how far it has come, several times a second."""


class Pace:
    """Guesses how long units will take, from those of the same cell, learner, or any.

    Examples
    --------
    >>> pace = Pace(jobs=2)
    >>> first, second = (Unit("mildew", 500, number, "gsbn", "paper") for number in (1, 2))
    >>> pace.seconds_left([second])
    >>> pace.took(first, 3.0)
    >>> pace.seconds_left([second])
    1.5
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._seconds: defaultdict[Hashable, list[float]] = defaultdict(list)

    def took(self, unit: Unit, seconds: float) -> None:
        """Hear how long a unit took."""
        for key in _likeness(cell_of(unit)):
            self._seconds[key].append(seconds)

    def seconds_left(self, units: Iterable[Unit]) -> float | None:
        """Guess how long all these will take."""
        if not self._seconds:
            return None
        cells = Counter(cell_of(unit) for unit in units)
        return sum(number * self._guess(cell) for cell, number in cells.items()) / self._jobs

    def _guess(self, cell: Cell) -> float:
        return next(fmean(self._seconds[key]) for key in _likeness(cell) if key in self._seconds)


def _likeness(cell: Cell) -> tuple[Hashable, ...]:
    """List what a cell has in common with others, from much to nothing."""
    return cell, (cell.network, cell.learner), cell.learner, None
