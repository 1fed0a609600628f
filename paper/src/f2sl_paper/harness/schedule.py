"""Choice of the jobs that are left to run, and of those not worth trying."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, NamedTuple

from f2sl_paper.harness.job import DONE, OVER_MEMORY, OVER_TIME, SKIPPED, Key, Limits


class Known(NamedTuple):
    """Earlier end of a job, and the limits it had."""

    state: str
    limits: Limits


class Place(NamedTuple):
    """Place of a job among others: jobs of one group take longer the larger they are."""

    group: Hashable
    size: tuple[float, ...] = ()

    def leads_to(self, other: Place) -> bool:
        """Return whether the other job is of the same group and no smaller in any respect."""
        no_smaller = all(mine <= its for mine, its in zip(self.size, other.size, strict=True))
        return self.group == other.group and no_smaller


class Schedule(Generic[Key]):
    """Jobs that are left to run, given earlier results.

    Finished jobs stay as they are, failed ones are tried again, and those that exceeded a limit only if it is
    higher now. Jobs that are no smaller than one that exceeded a limit are skipped. While a job runs, no
    larger one of its group starts, unless one that large was finished already.

    Parameters
    ----------
    keys : iterable
        Keys of all jobs, in the order in which they should run.
    known : mapping of key to Known
        Earlier results, of other jobs as well.
    limits : Limits
        Limits of each job.
    place : callable
        Gives the :class:`Place` of a key.

    Attributes
    ----------
    waiting : list
        Jobs that have not started.
    to_skip : list
        Jobs that are skipped from the start and not yet stored as such.

    Examples
    --------
    >>> schedule = Schedule([500, 1000], {}, Limits(60.0, 10**9), lambda rows: Place("ggsl", (rows,)))
    >>> schedule.next(), schedule.next()
    (500, None)
    >>> schedule.ended(500, OVER_TIME), schedule.blocker(1000)
    ([1000], 500)
    """

    def __init__(
        self, keys: Iterable[Key], known: Mapping[Key, Known], limits: Limits, place: Callable[[Key], Place]
    ) -> None:
        self.limits = limits
        self._place = place
        self._over: defaultdict[Hashable, list[Key]] = defaultdict(list)
        self._done: defaultdict[Hashable, list[Key]] = defaultdict(list)
        for key, result in known.items():
            if result.state == DONE:
                self._done[place(key).group].append(key)
            elif _still_over(result, limits):
                self._over[place(key).group].append(key)
        over = {key for listed in self._over.values() for key in listed}
        self._running: list[Key] = []
        self.waiting: list[Key] = []
        self.to_skip: list[Key] = []
        for key in keys:
            state = known[key].state if key in known else None
            if state == DONE or key in over:
                continue
            if self.blocker(key) is None:
                self.waiting.append(key)
            elif state != SKIPPED:
                self.to_skip.append(key)

    def blocker(self, key: Key) -> Key | None:
        """Return a job that is no larger than this one and exceeded a limit, if there is one."""
        place = self._place(key)
        return next((over for over in self._over[place.group] if self._place(over).leads_to(place)), None)

    def next(self) -> Key | None:
        """Return the next job that may start; None if all must wait for another job to end."""
        running = [self._place(key) for key in self._running]
        for index, key in enumerate(self.waiting):
            place = self._place(key)
            if not any(other.leads_to(place) for other in running) or self._proven(place):
                self._running.append(self.waiting.pop(index))
                return key
        return None

    def ended(self, key: Key, state: str) -> list[Key]:
        """Record how a job ended; return the jobs that are skipped because of it."""
        self._running.remove(key)
        place = self._place(key)
        if state == DONE:
            self._done[place.group].append(key)
        if state not in (OVER_TIME, OVER_MEMORY):
            return []
        self._over[place.group].append(key)
        skipped = [other for other in self.waiting if place.leads_to(self._place(other))]
        self.waiting = [other for other in self.waiting if not place.leads_to(self._place(other))]
        return skipped

    def _proven(self, place: Place) -> bool:
        return any(place.leads_to(self._place(done)) for done in self._done[place.group])


def _still_over(result: Known, limits: Limits) -> bool:
    """Return whether a job exceeded a limit that is no higher now."""
    if result.state == OVER_TIME:
        return limits.seconds <= result.limits.seconds
    return result.state == OVER_MEMORY and limits.bytes <= result.limits.bytes
