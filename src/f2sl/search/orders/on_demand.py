"""Find the sets of parents that an order needs and that were not scored beforehand.

:mod:`~f2sl.search.orders.parent_sets` extends only the best sets of each size. With many rows these are all
sets of a variable's strongest neighbours, among them its children: the sets that it needs in an order in
which its children come later may be missing, however well they score.

So for an order that the search ends with, sets are grown on demand (as in BOSS: Andrews and others 2023). A
variable is asked for the parents that it would have at each place of the order, and at its own place without
one of its parents or with one candidate more: the orders that one move away from this one. Each time the best
known set that fits gains or loses one member at a time until neither raises the score.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from f2sl._arrays import Integers
from f2sl.constraints import Constraints
from f2sl.search.orders.parent_sets import MOST_PARENTS, RELATIVE_TOLERANCE, WIDTH, ParentSets
from f2sl.stats.scores.base import FamilyScores

Members = frozenset[int]


def crowded(sets: ParentSets, width: int = WIDTH) -> Integers:
    """Return the variables that have more sets of two or more members of one size than were extended."""
    n = len(sets.first) - 1
    sizes = np.diff(sets.start)
    counts = np.zeros((n, int(sizes.max(initial=0)) + 1), np.int64)
    np.add.at(counts, (np.repeat(np.arange(n), np.diff(sets.first)), sizes), 1)
    return np.flatnonzero((counts[:, 2:] > width).any(axis=1))


def with_demanded(
    score: FamilyScores,
    sets: ParentSets,
    order: Integers,
    *,
    edge_log_prior: float,
    max_parents: int | None = None,
    constraints: Constraints | None = None,
) -> ParentSets | None:
    """Return `sets` with those added that `order` and its neighbours need; None if none are missing."""
    n = len(order)
    rules = constraints or Constraints.none(n)
    most = max_parents if max_parents is not None else n
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    tasks: list[_Task] = []
    for v in crowded(sets).tolist():
        required = frozenset(rules.required_parents(v).tolist())
        # Who is in none of the sets is no better parent than nobody, alone or with any other.
        known = _known(sets, v)
        near = np.array(sorted(frozenset().union(*known) - required), np.int64)
        near = near[np.argsort(place[near])]
        before = int(np.searchsorted(place[near], place[v]))
        fitting: dict[Members, None] = {}
        own = _best_of(known, frozenset(near[:before].tolist()) | required)
        for allowed in _neighbours(near.tolist(), before, own - required):
            fitting[allowed | required] = None
        limit = min(most, MOST_PARENTS + len(required))
        for allowed in fitting:
            begin = _best_of(known, allowed)
            if required <= begin:
                tasks.append(_Task(v, allowed, required, limit, begin, known[begin]))
    _settle(tasks, score, edge_log_prior)
    new = {(task.v, task.members): task.value for task in tasks if task.changed}
    return _merged(sets, new) if new else None


class _Task:
    """A variable, who may be its parents, and those found so far with their score."""

    def __init__(
        self, v: int, allowed: Members, required: Members, limit: int, members: Members, value: float
    ) -> None:
        self.v, self.allowed, self.required, self.limit = v, allowed, required, limit
        self.members, self.value = members, value
        self.changed = False

    def larger(self) -> list[Members]:
        """List the sets with one member more."""
        if len(self.members) >= self.limit:
            return []
        return [self.members | {w} for w in sorted(self.allowed - self.members)]

    def smaller(self) -> list[Members]:
        """List the sets with one member less."""
        return [self.members - {w} for w in sorted(self.members - self.required)]


def _known(sets: ParentSets, v: int) -> dict[Members, float]:
    """Return the sets of v with their scores, best first."""
    numbers = range(sets.first[v], sets.first[v + 1])
    return {
        frozenset(sets.members[sets.start[s] : sets.start[s + 1]].tolist()): float(sets.scores[s])
        for s in numbers
    }


def _best_of(known: dict[Members, float], allowed: Members) -> Members:
    """Return the best known set within `allowed`; the empty set always is."""
    return next(members for members in known if members <= allowed)


def _neighbours(near: list[int], before: int, own: Members) -> Iterator[Members]:
    """List who of `near`, in their order, may be parents at each place, or one move of another from here."""
    for count in range(len(near) + 1):
        yield frozenset(near[:count])
    here = frozenset(near[:before])
    for w in near[:before]:
        if w in own:
            yield here - {w}
    for w in near[before:]:
        yield here | {w}


def _settle(tasks: list[_Task], score: FamilyScores, prior: float) -> None:
    """Add or drop one member at a time until neither raises the score; all tasks side by side."""
    growing, shrinking = tasks, list[_Task]()
    while growing or shrinking:
        asked = [(t, t.larger()) for t in growing] + [(t, t.smaller()) for t in shrinking]
        families = [(t.v, tuple(sorted(members))) for t, sets in asked for members in sets]
        values = iter((score.score(families) + prior * np.array([len(p) for _, p in families])).tolist())
        # Who has grown or shrunk grows next; who has not grown shrinks; who has done neither is ready.
        grown, failed = list[_Task](), list[_Task]()
        for number, (t, sets) in enumerate(asked):
            found = [(next(values), members) for members in sets]
            value, members = max(found, key=lambda pair: pair[0], default=(-np.inf, t.members))
            if value > t.value + RELATIVE_TOLERANCE * max(1.0, abs(value)):
                t.members, t.value, t.changed = members, value, True
                grown.append(t)
            elif number < len(growing):
                failed.append(t)
        growing, shrinking = grown, failed


def _merged(sets: ParentSets, new: dict[tuple[int, Members], float]) -> ParentSets:
    """Put sets among those of their variables, best first; equals behind those that were there."""
    n = len(sets.first) - 1
    added = [sorted(members) for _, members in new]
    owners = np.concatenate([np.repeat(np.arange(n), np.diff(sets.first)), [v for v, _ in new]])
    scores = np.concatenate([sets.scores, list(new.values())])
    sizes = np.concatenate([np.diff(sets.start), [len(members) for members in added]])
    members = np.concatenate([sets.members, *added]).astype(np.int64)
    at = np.cumsum(sizes) - sizes
    order = np.lexsort((np.arange(len(owners)), -scores, owners))
    first = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
    start = np.concatenate([[0], np.cumsum(sizes[order])])
    within = np.arange(start[-1]) - np.repeat(start[:-1], sizes[order])
    return ParentSets(first, start, members[np.repeat(at[order], sizes[order]) + within], scores[order])
