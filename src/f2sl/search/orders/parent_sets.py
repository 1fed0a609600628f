"""Which sets of parents are worth having, by variable.

In a given order of all variables each may choose its parents among its candidates that stand before it, and
takes the set with the best score. A set that is not better than one of its own subsets is never taken,
whatever the order: where it could be, so could the subset. What is left are few sets, and a search over
orders needs no other scores.

Sets are scored by size, all of one size in one batch: every single candidate, every pair, and beyond that
only what extends one of the `WIDTH` best sets of the size before by one candidate. Where there is none such
the search ends. Of a variable with very many candidates only the `MOST_CANDIDATES` that make the best
single parents are looked at; the others may still be its children.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from f2sl._arrays import Floats, Integers

WIDTH = 10
MOST_CANDIDATES = 64
MOST_PARENTS = 8
RELATIVE_TOLERANCE = 1e-11
"""By so much, of its size, must a score be higher to count as higher."""


class FamiliesAtOnce(Protocol):
    """Whatever scores many families of one size: :class:`~f2sl.stats.scores.FamilyScore`, for one."""

    def score_all(self, children: Integers, parents: Integers) -> Floats:
        """Score families: a row of parents, in ascending order, for each child."""


@dataclass(frozen=True)
class ParentSets:
    """Sets of parents worth having: those of variable v are ``first[v]`` to ``first[v + 1]``, best first.

    The members of set s are ``members[start[s]:start[s + 1]]``. The empty set is the last of each variable.
    """

    first: Integers
    start: Integers
    members: Integers
    scores: Floats

    def arrows(self, chosen: Integers) -> Integers:
        """Rows (parent, child) of the graph in which variable v has the parents of set ``chosen[v]``."""
        sizes = self.start[chosen + 1] - self.start[chosen]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        parents = self.members[np.repeat(self.start[chosen], sizes) + within]
        return np.column_stack([parents, np.repeat(np.arange(len(chosen)), sizes)])

    def holding(self, near_start: Integers, candidates: Integers) -> tuple[Integers, Integers]:
        """Numbers of the sets that hold u, for each v that is a candidate of u: of v's sets, best first.

        Gives where the numbers of each pair begin, in the order of `candidates`, and the numbers.
        """
        n = len(near_start) - 1
        pairs = np.repeat(np.arange(n), np.diff(near_start)) * n + candidates
        owners = np.repeat(np.arange(n), np.diff(self.first))
        numbers = np.repeat(np.arange(len(self.scores)), np.diff(self.start))
        slots = np.searchsorted(pairs, self.members * n + owners[numbers])
        start = np.concatenate([[0], np.cumsum(np.bincount(slots, minlength=len(pairs)))])
        return start, numbers[np.argsort(slots, kind="stable")]


@dataclass(frozen=True)
class _Level:
    """Scored sets of one size, as places in their variable's list of candidates; ordered by `keys`.

    `best` is the score of each set or of its best subset, whichever is higher, and `useful` says where it
    is its own.
    """

    owners: Integers
    places: Integers
    scores: Floats
    best: Floats
    useful: np.ndarray

    @property
    def keys(self) -> Integers:
        """One number for each set."""
        return _keys(self.owners, self.places)


def _keys(owners: Integers, places: Integers) -> Integers:
    """Make one number of each set: the bits of its variable, then six for each member's place."""
    keys = owners.copy()
    for column in places.T:
        keys = keys * MOST_CANDIDATES + column
    return keys


def _most_in_a_key(n: int) -> int:
    """How many members a set of one of n variables may have, so that its key has no more than 63 bits."""
    return (63 - (n - 1).bit_length()) // (MOST_CANDIDATES - 1).bit_length()


def parent_sets(
    families: FamiliesAtOnce,
    start: Integers,
    candidates: Integers,
    *,
    edge_log_prior: float = 0.0,
    max_parents: int | None = None,
    width: int = WIDTH,
) -> ParentSets:
    """Find the sets of parents worth having; those of v are among ``candidates[start[v]:start[v + 1]]``.

    `edge_log_prior` is added to a score for each parent. No set has more than `max_parents`, and of sets
    with two members or more the `width` best of each variable are extended.
    """
    n = len(start) - 1
    most = min(MOST_PARENTS, _most_in_a_key(n))
    if max_parents is not None:
        most = min(most, max_parents)
    return _ranked(n, list(_levels(families, start, candidates, edge_log_prior, most, width)))


def _levels(
    families: FamiliesAtOnce, start: Integers, candidates: Integers, prior: float, most: int, width: int
) -> Iterator[tuple[_Level, Integers]]:
    """Score sets of 0, 1, 2, ... parents; gives with each size its sets' members."""
    n = len(start) - 1
    everyone = np.arange(n)
    scores = families.score_all(everyone, np.empty((n, 0), np.int64))
    none = _Level(everyone, np.empty((n, 0), np.int64), scores, scores, np.ones(n, np.bool_))
    yield none, np.empty((n, 0), np.int64)
    if not most or not len(candidates):
        return
    owners = np.repeat(everyone, np.diff(start))
    singles = families.score_all(owners, candidates[:, None]) + prior
    start, candidates, owners, singles = _best_singles(n, owners, candidates, singles)
    places = (np.arange(len(candidates)) - start[owners])[:, None]
    level = _level(none, owners, places, singles)
    yield level, candidates[:, None]
    degrees = np.diff(start)
    for size in range(2, most + 1):
        base = np.arange(len(owners)) if size == 2 else _best_sets(level, width)
        owners, places = _extended(owners[base], places[base], degrees)
        if not len(owners):
            return
        members = candidates[start[owners][:, None] + places]
        scores = families.score_all(owners, members) + prior * size
        level = _level(level, owners, places, scores)
        yield level, members


def _best_singles(
    n: int, owners: Integers, candidates: Integers, scores: Floats
) -> tuple[Integers, Integers, Integers, Floats]:
    """Keep the candidates that make the best single parents, as many as may be, in their order."""
    kept = _best_of_each(owners, scores, MOST_CANDIDATES)
    start = np.concatenate([[0], np.cumsum(np.bincount(owners[kept], minlength=n))])
    return start, candidates[kept], owners[kept], scores[kept]


def _best_of_each(owners: Integers, scores: Floats, most: int) -> Integers:
    """Places of the best of each owner, in their order; of equals the earlier are better."""
    order = np.lexsort((-scores, owners))
    ordered = owners[order]
    rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return np.sort(order[rank < most])


def _level(below: _Level, owners: Integers, places: Integers, scores: Floats) -> _Level:
    """Compare scored sets with their subsets of one member less, where these were scored."""
    keys_below = below.keys
    best_subset = np.full(len(owners), -np.inf)
    for left_out in range(places.shape[1]):
        wanted = _keys(owners, np.delete(places, left_out, axis=1))
        at = np.minimum(np.searchsorted(keys_below, wanted), len(keys_below) - 1)
        best_subset = np.where(keys_below[at] == wanted, np.maximum(best_subset, below.best[at]), best_subset)
    useful = scores > best_subset + RELATIVE_TOLERANCE * np.maximum(1.0, np.abs(scores))
    return _Level(owners, places, scores, np.maximum(scores, best_subset), useful)


def _best_sets(level: _Level, width: int) -> Integers:
    """Choose the best useful sets of each variable, which larger sets are made of."""
    useful = np.flatnonzero(level.useful)
    return useful[_best_of_each(level.owners[useful], level.scores[useful], width)]


def _extended(owners: Integers, places: Integers, degrees: Integers) -> tuple[Integers, Integers]:
    """All sets of one member more than one of these, each once, ordered by their keys."""
    room = degrees[owners]
    which = np.repeat(np.arange(len(room)), room)
    added = np.arange(len(which)) - np.repeat(np.cumsum(room) - room, room)
    new = (places[which] != added[:, None]).all(axis=1)
    larger = np.sort(np.column_stack([places[which], added])[new], axis=1)
    owners = owners[which][new]
    _, at = np.unique(_keys(owners, larger), return_index=True)
    return owners[at], larger[at]


def _ranked(n: int, levels: list[tuple[_Level, Integers]]) -> ParentSets:
    """List the useful sets of each variable, best first; equals by size, then by their members' names."""
    owners = np.concatenate([level.owners[level.useful] for level, _ in levels])
    scores = np.concatenate([level.scores[level.useful] for level, _ in levels])
    sizes = np.concatenate([np.full(int(level.useful.sum()), m.shape[1]) for level, m in levels])
    flat = np.concatenate([m[level.useful].ravel() for level, m in levels])
    at = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    order = np.lexsort((np.arange(len(owners)), -scores, owners))
    first = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
    sizes_in_order = sizes[order]
    start = np.concatenate([[0], np.cumsum(sizes_in_order)])
    within = np.arange(start[-1]) - np.repeat(start[:-1], sizes_in_order)
    return ParentSets(first, start, flat[np.repeat(at[order], sizes_in_order) + within], scores[order])
