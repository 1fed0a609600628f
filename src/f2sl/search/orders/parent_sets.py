"""Find the sets of parents worth having for each variable.

In a given order each variable takes the best-scoring set of parents among its candidates that stand before
it. A set that is not better than one of its own subsets is never taken, whatever the order: wherever it fits,
so does the subset. Few sets are left, and a search over orders needs no other scores.

Sets are scored by size, all of one size in one batch: every single candidate, and beyond that only sets that
extend one of the `WIDTH` best sets of the size before by one candidate (a beam search). It ends when there
are none. Of a variable with very many candidates only the `MOST_CANDIDATES` that make the
best single parents are used; the others may still be its children.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl.constraints import Constraints

WIDTH = 10
"""Sets of each variable and size that are extended by one more parent."""
MOST_CANDIDATES = 64
"""Candidates of a variable, so that a position in its list takes six bits of a key."""
MOST_PARENTS = 8
LOWEST = -1e100
"""Score of families that cannot be: with too many parents, or too many states."""
RELATIVE_TOLERANCE = 1e-11
"""Share of its size by which a score must be higher to count as higher."""


class FamiliesAtOnce(Protocol):
    """Scores many families of one size, such as :class:`~f2sl.stats.scores.base.FamilyScores`."""

    def score_all(self, children: Integers, parents: Integers) -> Floats:
        """Score families: a row of parents, in ascending order, for each child."""


@dataclass(frozen=True)
class ParentSets:
    """Sets of parents worth having, as flat arrays.

    Parameters
    ----------
    first : (n + 1,) int64
        The sets of variable v are ``first[v]`` to ``first[v + 1]``, best first. The last one is always the
        empty set: every other set has been kept because it beats its subsets, and so the empty set. Where
        parents are required, it is there for orders that break this, with a score that none would choose.
    start : (n_sets + 1,) int64
        The members of set s are ``members[start[s]:start[s + 1]]``, ascending.
    members : int64
        Members of all sets, one set after another.
    scores : (n_sets,) float64
        Score of each set's family, with the prior of its edges.
    """

    first: Integers
    start: Integers
    members: Integers
    scores: Floats

    def arrows(self, chosen: Integers) -> Integers:
        """Return the edges, as rows (parent, child), if variable v has the parents of set ``chosen[v]``."""
        # `within` counts 0, 1, ... through each set: the flat form of a range for each v.
        sizes = self.start[chosen + 1] - self.start[chosen]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        parents = self.members[np.repeat(self.start[chosen], sizes) + within]
        return np.column_stack([parents, np.repeat(np.arange(len(chosen)), sizes)])

    def with_more(self, owners: Integers, more: Integers, scores: Floats) -> ParentSets:
        """Return these sets and more of some owners, best first; equals behind those that were there.

        `more` has a set in each row, ascending; negative entries are no members.
        """
        n = len(self.first) - 1
        owners = np.concatenate([np.repeat(np.arange(n), np.diff(self.first)), owners])
        sizes = np.concatenate([np.diff(self.start), (more >= 0).sum(axis=1)])
        flat = np.concatenate([self.members, more[more >= 0]])
        return _sorted(n, owners, np.concatenate([self.scores, scores]), sizes, flat)

    def with_those(self, other: ParentSets, of: Mask) -> ParentSets:
        """Return these sets, with those of `other` for the variables where `of` is True."""
        parts = []
        for sets, wanted in ((self, ~of), (other, of)):
            owners, sizes = np.repeat(np.arange(len(of)), np.diff(sets.first)), np.diff(sets.start)
            kept = wanted[owners]
            flat = sets.members[np.repeat(kept, sizes)]
            parts.append((owners[kept], sets.scores[kept], sizes[kept], flat))
        return _sorted(len(of), *map(np.concatenate, zip(*parts, strict=True)))

    def holding(self, near_start: Integers, candidates: Integers) -> tuple[Integers, Integers]:
        """List, for each variable u and each of its candidates v, the sets of v that have u as a member.

        Returns where the list of each entry of `candidates` begins (one more entry for the end), and the
        lists one after another: numbers of sets, best first. Every member of a set of v must have v as a
        candidate.
        """
        n = len(near_start) - 1
        # `pairs` is ascending, because owners are and candidates are within each owner: so a bisection finds
        # the entry of each (member u, owner v). The stable sort keeps the numbers of each entry ascending,
        # best first.
        pairs = np.repeat(np.arange(n), np.diff(near_start)) * n + candidates
        owners = np.repeat(np.arange(n), np.diff(self.first))
        numbers = np.repeat(np.arange(len(self.scores)), np.diff(self.start))
        slots = np.searchsorted(pairs, self.members * n + owners[numbers])
        start = np.concatenate([[0], np.cumsum(np.bincount(slots, minlength=len(pairs)))])
        return start, numbers[np.argsort(slots, kind="stable")]


@dataclass(frozen=True)
class _Level:
    """Scored sets of one size, in ascending order of their `keys`.

    Parameters
    ----------
    owners : (m,) int64
        Variable whose parents each set would be.
    positions : (m, size) int64
        Members as positions in the owner's list of candidates, ascending in each row.
    scores : (m,) float64
        Score of each set's family.
    best : (m,) float64
        Score of the set or of its best scored subset, whichever is higher. Carrying it from size to size
        means that a set need only be compared with its subsets of one member less.
    useful : (m,) bool
        True if the set itself is better than all of its scored subsets.
    """

    owners: Integers
    positions: Integers
    scores: Floats
    best: Floats
    useful: np.ndarray

    @property
    def keys(self) -> Integers:
        """Number that identifies each set, (m,) int64."""
        return _keys(self.owners, self.positions)


def _keys(owners: Integers, positions: Integers) -> Integers:
    """Return one number of each set: the bits of its variable, then six for each member's position.

    Numbers can be sorted and bisected as whole arrays, where rows would need a lexicographic sort. Of sets
    of the same size, the order of the keys is that of (owner, positions).
    """
    keys = owners.copy()
    for column in positions.T:
        keys = keys * MOST_CANDIDATES + column
    return keys


def most_parents(n: int) -> int:
    """Return how many members a set of one of n variables may have: its key has to fit into 63 bits."""
    return min(MOST_PARENTS, (63 - (n - 1).bit_length()) // (MOST_CANDIDATES - 1).bit_length())


def parent_sets(
    families: FamiliesAtOnce,
    start: Integers,
    candidates: Integers,
    *,
    edge_log_prior: float = 0.0,
    max_parents: int | None = None,
    constraints: Constraints | None = None,
    width: int = WIDTH,
) -> ParentSets:
    """Find the sets of parents worth having for each variable.

    Parameters
    ----------
    families : FamiliesAtOnce
        Scores of families.
    start, candidates : (n + 1,) and (m,) int64
        The candidates of v are ``candidates[start[v]:start[v + 1]]``, ascending.
    edge_log_prior : float
        Added to a score for each parent.
    max_parents : int, optional
        Largest number of parents.
    constraints : Constraints, optional
        Forbidden edges make no parent, and all sets but the last hold the required parents. These are not
        counted among the 8 parents that a set may have.
    width : int
        Number of sets of each variable and size that are extended.
    """
    n = len(start) - 1
    most = most_parents(n) if max_parents is None else min(most_parents(n), max_parents)
    if not constraints:
        return _ranked(n, list(_levels(families, start, candidates, edge_log_prior, most, width)))
    owners = np.repeat(np.arange(n), np.diff(start))
    free = constraints.allows(candidates, owners) & ~constraints.requires(candidates, owners)
    candidates = candidates[free]
    start = np.concatenate([[0], np.cumsum(np.bincount(owners[free], minlength=n))])
    required = [constraints.required_parents(v) for v in range(n)]
    families = _WithRequired(families, required, edge_log_prior, max_parents)
    found = _ranked(n, list(_levels(families, start, candidates, edge_log_prior, most, width)))
    return _with_required(found, required)


class _WithRequired:
    """Scores of families with their required parents added."""

    def __init__(
        self, families: FamiliesAtOnce, required: list[Integers], prior: float, max_parents: int | None
    ) -> None:
        self.families = families
        self.required = required
        self.sizes = np.array([len(parents) for parents in required])
        self.prior = prior
        self.max_parents = max_parents

    def score_all(self, children: Integers, parents: Integers) -> Floats:
        """Score families; those with too many parents, or that are too large, score `LOWEST`."""
        scores = np.full(len(children), LOWEST)
        sizes = self.sizes[children]
        for size in np.unique(sizes).tolist():
            if self.max_parents is not None and size + parents.shape[1] > self.max_parents:
                continue
            rows = np.flatnonzero(sizes == size)
            owners = children[rows]
            always = np.array([self.required[v] for v in owners.tolist()], np.int64).reshape(len(rows), size)
            whole = np.sort(np.column_stack([parents[rows], always]), axis=1)
            scores[rows] = self.families.score_all(owners, whole) + self.prior * size
        return np.asarray(np.maximum(scores, LOWEST))


def _with_required(found: ParentSets, required: list[Integers]) -> ParentSets:
    """Add the required parents to all sets, and append the empty set for variables that have any."""
    n, n_sets = len(required), len(found.scores)
    owners = np.repeat(np.arange(n), np.diff(found.first))
    having = np.flatnonzero([len(parents) for parents in required])
    # No order gains as much as breaking one requirement costs: more than all variables can gain together.
    worst = found.scores[found.first[1:] - 1]
    price = 1.0 + 2.0 * float((found.scores[found.first[:-1]] - worst).sum())
    owners = np.concatenate([owners, having])
    scores = np.concatenate([found.scores, worst[having] - price])
    # Sets are renumbered by a stable sort: the empty ones, put at the end, come last of their owners.
    order = np.argsort(owners, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    sizes = np.diff(found.start)
    extra = [required[v] for v in owners[:n_sets].tolist()]
    members = np.concatenate([found.members, *extra]).astype(np.int64)
    sets = number[np.repeat(np.concatenate([np.arange(n_sets)] * 2), [*sizes, *map(len, extra)])]
    position = np.lexsort((members, sets))
    first = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
    start = np.concatenate([[0], np.cumsum(np.bincount(sets, minlength=len(order)))])
    return ParentSets(first, start, members[position], scores[order])


def _levels(
    families: FamiliesAtOnce, start: Integers, candidates: Integers, prior: float, most: int, width: int
) -> Iterator[tuple[_Level, Integers]]:
    """Score sets of 0, 1, 2, ... parents; yield each size with its sets' members, (m, size) int64."""
    n = len(start) - 1
    everyone = np.arange(n)
    scores = families.score_all(everyone, np.empty((n, 0), np.int64))
    none = _Level(everyone, np.empty((n, 0), np.int64), scores, scores, np.ones(n, np.bool_))
    yield none, np.empty((n, 0), np.int64)
    if not most or not len(candidates):
        return
    owners = np.repeat(everyone, np.diff(start))
    singles = families.score_all(owners, candidates[:, None]) + prior
    # From here on `candidates` are the shortened lists, and positions are positions in these.
    start, candidates, owners, singles = _best_singles(n, owners, candidates, singles)
    positions = (np.arange(len(candidates)) - start[owners])[:, None]
    level = _level(none, owners, positions, singles)
    yield level, candidates[:, None]
    degrees = np.diff(start)
    for size in range(2, most + 1):
        # Singles may be extended that are worse than no parent: two variables may explain a third together
        # where neither does alone.
        extended = np.ones(len(owners), np.bool_) if size == 2 else level.useful
        base = _best_sets(level, extended, width)
        owners, positions = _extended(owners[base], positions[base], degrees)
        if not len(owners):
            return
        members = candidates[start[owners][:, None] + positions]
        scores = families.score_all(owners, members) + prior * size
        level = _level(level, owners, positions, scores)
        yield level, members


def _best_singles(
    n: int, owners: Integers, candidates: Integers, scores: Floats
) -> tuple[Integers, Integers, Integers, Floats]:
    """Keep the `MOST_CANDIDATES` best single parents of each variable, in their order.

    Returns where each variable's candidates begin, and candidates, owners and scores of those kept.
    """
    kept = best_of_each(owners, scores, MOST_CANDIDATES)
    start = np.concatenate([[0], np.cumsum(np.bincount(owners[kept], minlength=n))])
    return start, candidates[kept], owners[kept], scores[kept]


def best_of_each(owners: Integers, scores: Floats, most: int) -> Integers:
    """Return the positions of the `most` best of each owner, ascending; of equal scores the earlier win."""
    # lexsort is stable. Sorted by owner, the rank within an owner is the distance from its first entry.
    order = np.lexsort((-scores, owners))
    ordered = owners[order]
    rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return np.sort(order[rank < most])


def _level(below: _Level, owners: Integers, positions: Integers, scores: Floats) -> _Level:
    """Return a level: compare scored sets with their scored subsets of one member less.

    A subset that was not scored was not in the beam, and does not count.
    """
    # Keys of a level are ascending, so that each subset is found by bisection. Where a key is beyond the last
    # one, `at` is moved to the last, which then does not match.
    keys_below = below.keys
    best_subset = np.full(len(owners), -np.inf)
    for left_out in range(positions.shape[1]):
        wanted = _keys(owners, np.delete(positions, left_out, axis=1))
        at = np.minimum(np.searchsorted(keys_below, wanted), len(keys_below) - 1)
        best_subset = np.where(keys_below[at] == wanted, np.maximum(best_subset, below.best[at]), best_subset)
    useful = scores > best_subset + RELATIVE_TOLERANCE * np.maximum(1.0, np.abs(scores))
    return _Level(owners, positions, scores, np.maximum(scores, best_subset), useful)


def _best_sets(level: _Level, among: Mask, width: int) -> Integers:
    """Return the positions of the `width` best sets of each variable among some, which are then extended."""
    positions = np.flatnonzero(among)
    return positions[best_of_each(level.owners[positions], level.scores[positions], width)]


def _extended(owners: Integers, positions: Integers, degrees: Integers) -> tuple[Integers, Integers]:
    """Return owners and positions of all sets with one member more than one of these.

    Each set comes once, in ascending order of keys, as a level needs it. `degrees` has the number of
    candidates of each variable.
    """
    # Each set is paired with every candidate of its owner; pairs that repeat a member are dropped.
    n_candidates = degrees[owners]
    which = np.repeat(np.arange(len(n_candidates)), n_candidates)
    added = np.arange(len(which)) - np.repeat(np.cumsum(n_candidates) - n_candidates, n_candidates)
    new = (positions[which] != added[:, None]).all(axis=1)
    larger = np.sort(np.column_stack([positions[which], added])[new], axis=1)
    owners = owners[which][new]
    _, at = np.unique(_keys(owners, larger), return_index=True)
    return owners[at], larger[at]


def _ranked(n: int, levels: list[tuple[_Level, Integers]]) -> ParentSets:
    """List the useful sets of each variable, best first; equals by size, then by their members."""
    # Levels are concatenated by size and each is ordered by its keys, so that the position in the
    # concatenation breaks ties in the right order.
    owners = np.concatenate([level.owners[level.useful] for level, _ in levels])
    scores = np.concatenate([level.scores[level.useful] for level, _ in levels])
    sizes = np.concatenate([np.full(int(level.useful.sum()), m.shape[1]) for level, m in levels])
    flat = np.concatenate([m[level.useful].ravel() for level, m in levels])
    return _sorted(n, owners, scores, sizes, flat)


def _sorted(n: int, owners: Integers, scores: Floats, sizes: Integers, flat: Integers) -> ParentSets:
    """Sort sets, given by their members one set after another, by owner, best first; equals as they come."""
    at = np.cumsum(sizes) - sizes
    order = np.lexsort((np.arange(len(owners)), -scores, owners))
    first = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))])
    sizes_in_order = sizes[order]
    start = np.concatenate([[0], np.cumsum(sizes_in_order)])
    within = np.arange(start[-1]) - np.repeat(start[:-1], sizes_in_order)
    return ParentSets(first, start, flat[np.repeat(at[order], sizes_in_order) + within], scores[order])
