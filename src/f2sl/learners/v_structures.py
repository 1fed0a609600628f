"""Directions from independence tests: v-structures, then what follows from them by Meek's rules.

FindVstructure (Algorithm 3 of F2SL) finds the colliders among the unshielded triples of a skeleton.
In a triple A - C - D with A and D not adjacent, C is a *collider* (A -> C <- D, a v-structure) if
A and D can be separated without C and are dependent once C is known. The three steps:

1. A independent of D given C: not a v-structure.
2. A independent of D, and dependent given C: a v-structure.
3. Some subset S of the neighbors of A or of D, without C, makes A and D independent, and
   they are dependent given S and C: a v-structure.

An inconclusive test separates nothing, and counts as dependence where a step requires dependence. Tests are
made in batches, one size of conditioning set after another. The neighbors of A are those in the skeleton,
that is, PC(A) after the symmetry rule; the paper does not say which it means.

If v-structures claim opposite directions for one edge, the majority decides; in a tie the edge stays
undirected. Edges are oriented in the order of their number of claims, largest first and equals by name, and
an orientation that would close a directed cycle is left out.

Triples are rows (A, C, D) of int64 with A < D, always ordered by (A, D, C). So the triples of one pair (A, D)
are adjacent, and each question about a pair is asked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl._progress import stage
from f2sl.constraints import Constraints
from f2sl.graph import PDAG, apply_meek_rules
from f2sl.graph.cycle_guard import CycleGuard
from f2sl.learners.local.separating_sets import Collected, SeparatingSets
from f2sl.learners.skeleton import Skeleton
from f2sl.stats.answers import INDEPENDENT, SUBSETS_AT_A_TIME, IndependenceTest, subsets

TESTS_PER_BATCH = 200_000
"""Number of tests in one batch for the engine: enough for all threads, and bounded in memory."""
MEMBERS_AT_A_TIME = 1_000_000
"""Neighbors of both ends of some pairs, listed for all of these pairs at a time."""
TRIPLES_PER_PART = 500_000
"""Number of triples in one batch: a variable with many neighbors has far more in all."""

NOTHING = -1
"""Stands for no variable."""


@dataclass(frozen=True)
class VStructures:
    """Colliders found, (m, 3) int64, ordered by (A, D, C); and the sets that separated pairs."""

    triples: Integers
    separating_sets: SeparatingSets[int]


def unshielded_triples(skeleton: Skeleton) -> Integers:
    """List all A - C - D with A < D not adjacent, as rows (A, C, D), ordered by (A, D, C)."""
    return np.concatenate([np.empty((0, 3), np.int64), *(part for part, _ in triples_in_parts(skeleton))])


def triples_in_parts(skeleton: Skeleton, size: int | None = None) -> Iterator[tuple[Integers, float]]:
    """Yield the unshielded triples in parts, all those of one A together, and the share of each part.

    A part comes from at most `size` paths A - C - D, unless those of one A are more. The share is that of
    the paths, for reporting progress.
    """
    n, start, neighbors = skeleton.n, skeleton.start, skeleton.neighbors
    owner = np.repeat(np.arange(n), np.diff(start))
    # Each edge is there twice, as A's neighbor C and as C's neighbor A. Sorted by their other ends, the
    # edges come in the order of these twins: twin[l] is the position of A in C's list, if l is that of C in
    # A's. The neighbors of C after A, hence all D > A, are those from there to the end of C's list. No path
    # is listed before it is needed: `paths` only counts those of all A before each.
    twin = np.lexsort((owner, neighbors))
    beyond = start[neighbors + 1] - twin - 1
    paths = np.concatenate([[0], np.cumsum(beyond)])[start]
    first = 0
    while paths[first] < paths[-1]:
        last = n
        if size is not None:
            last = max(first + 1, int(np.searchsorted(paths, paths[first] + size, side="right")) - 1)
        edges = slice(start[first], start[last])
        repeats = beyond[edges]
        a, c = (np.repeat(ends[edges], repeats) for ends in (owner, neighbors))
        # `within` counts 0, 1, ... for each edge A - C: which of the D it is.
        within = np.arange(len(a)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        d = neighbors[np.repeat(twin[edges] + 1, repeats) + within]
        apart = ~skeleton.adjacent(a, d)
        triples = np.column_stack([a[apart], c[apart], d[apart]])
        # They come by (A, C, D), and the sort is stable: by (A, D, C) afterwards.
        order = np.argsort(triples[:, 0] * n + triples[:, 2], kind="stable")
        yield triples[order], float(paths[last] - paths[first]) / float(paths[-1])
        first = last


def find_v_structures(
    skeleton: Skeleton,
    test: IndependenceTest,
    max_cond_vars: int | None = 3,
    constraints: Constraints | None = None,
) -> VStructures:
    """Run FindVstructure on all unshielded triples of a skeleton that the constraints do not decide.

    `max_cond_vars` is the largest set S of step 3; None for no limit.
    """
    most = int(np.diff(skeleton.start).max(initial=0))
    most = most if max_cond_vars is None else min(max_cond_vars, most)
    colliders = [np.empty((0, 3), np.int64)]
    separated = Collected(skeleton.n)
    with stage("looking for v-structures") as advance:
        for triples, share in triples_in_parts(skeleton, TRIPLES_PER_PART):
            if constraints:
                triples = triples[constraints.may_be_tested(triples)]
            is_collider = np.zeros(len(triples), np.bool_)
            for part, found in _colliders(skeleton, test, triples, most, separated):
                is_collider[found] = True
                advance(share * part)
            colliders.append(triples[is_collider])
            separated.end_part()
    return VStructures(np.concatenate(colliders), separated.finish())


def _colliders(
    skeleton: Skeleton, test: IndependenceTest, triples: Integers, most: int, separated: Collected
) -> Iterator[tuple[float, Integers]]:
    """Run the three steps on some triples; yield the share of the work of each, and the colliders it found.

    Colliders are positions in `triples`. `left` has the positions of the triples that are still open. `most`
    is the largest set of step 3; `separated` collects the separating sets.
    """
    # Step 1: separated by C itself.
    a, c, d = triples.T
    by_c = test.answer(a, d, c[:, None]) == INDEPENDENT
    separated.add(a[by_c], d[by_c], c[by_c][:, None])
    left = np.flatnonzero(~by_c)
    yield 0.5, left[:0]

    # Step 2: independent as they are. Each pair is asked once, whatever the number of its C.
    pairs, pair_of = _pairs(triples[left])
    apart = test.answer(pairs[:, 0], pairs[:, 1], np.empty((len(pairs), 0), np.int64)) == INDEPENDENT
    separated.add(pairs[apart, 0], pairs[apart, 1], np.empty((int(apart.sum()), 0), np.int64))
    yield 0.1, left[apart[pair_of]]
    left = left[~apart[pair_of]]

    # Step 3: separated by some of the neighbors of either.
    for size in range(1, most + 1):
        if not len(left):
            break
        new = _search_subsets(skeleton, test, triples[left], size, separated)
        yield 0.4 / most, left[new]
        left = left[~new]


def _pairs(triples: Integers) -> tuple[Integers, Integers]:
    """Return the distinct pairs (A, D) of triples that are sorted by them, and the pair of each triple."""
    ends = triples[:, ::2]
    new = np.ones(len(ends), np.bool_)
    new[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    return ends[new], np.cumsum(new) - 1


def _search_subsets(
    skeleton: Skeleton, test: IndependenceTest, triples: Integers, size: int, separated: Collected
) -> np.ndarray:
    """Return which triples are colliders by some separating set of `size` (step 3), a bool for each."""
    # The triples of pair p are first_triple[p] to first_triple[p + 1].
    is_collider = np.zeros(len(triples), np.bool_)
    pairs, pair_of = _pairs(triples)
    first_triple = np.searchsorted(pair_of, np.arange(len(pairs) + 1))
    # If neither variable of a pair has `size` neighbors, there is no set to try. If there is only one C,
    # it does not count.
    alone = np.where(np.diff(first_triple) == 1, triples[first_triple[:-1], 1], NOTHING)
    others = np.diff(skeleton.start)[pairs] - (alone != NOTHING)[:, None]
    hopeful = np.flatnonzero((others >= size).any(axis=1))
    if not len(hopeful):
        return is_collider

    def candidates() -> Iterator[tuple[Integers, Integers]]:
        """Yield pairs with sets to try, of the pairs that have an open triple.

        Runs between the batches below, so that it sees what they have found in `is_collider`.
        """
        for first, last in _ranges(others[hopeful].sum(axis=1), MEMBERS_AT_A_TIME):
            own = hopeful[first:last]
            for which, sets in _candidate_sets(skeleton, test, pairs[own], alone[own], size):
                still_open = np.logical_or.reduceat(~is_collider, first_triple[:-1])[own[which]]
                yield own[which[still_open]], sets[still_open]

    for which, given in _batches(candidates()):
        a, d = pairs[which].T
        apart = test.answer(a, d, given) == INDEPENDENT
        if not apart.any():
            continue
        separated.add(a[apart], d[apart], given[apart])
        # Each separated pair is now tested with each of its open C that is not in the set itself. All
        # combinations (`row` of the batch, `triple`) are listed flat, as in `triples_in_parts`.
        of_pair, sets = which[apart], given[apart]
        row, within = _unrolled(first_triple[of_pair + 1] - first_triple[of_pair])
        triple = first_triple[of_pair][row] + within
        c = triples[triple, 1]
        asked = ~is_collider[triple] & (sets[row] != c[:, None]).all(axis=1)
        row, triple, c = row[asked], triple[asked], c[asked]
        joined = np.column_stack([sets[row], c])
        still = test.answer(triples[triple, 0], triples[triple, 2], joined) == INDEPENDENT
        is_collider[triple[~still]] = True
    return is_collider


def _candidate_sets(
    skeleton: Skeleton, test: IndependenceTest, pairs: Integers, alone: Integers, size: int
) -> Iterator[tuple[Integers, Integers]]:
    """Yield sets to try for pairs (A, D), in parts: the positions of their pairs, and the sets.

    They are the subsets of A's neighbors and then of D's, pair after pair, that allow a reliable test. A set
    that separates A and D must not contain C; with several C between them, a set that contains one of them
    may still serve the others. `alone` has the C of the pairs with only one, and NOTHING for the others.
    """
    # Each pair has two sides, A and D: side s belongs to pair s // 2, and `members` has the neighbors of all
    # sides one after another, without those that no reliable test can have.
    of_sides = pairs.ravel()
    lengths = np.diff(skeleton.start)[of_sides]
    side, within = _unrolled(lengths)
    members = skeleton.neighbors[skeleton.start[of_sides][side] + within]
    weights = test.configurations(members[:, None])
    max_sizes = np.repeat(test.max_configurations(*pairs.T), 2)
    usable = (members != alone[side // 2]) & (weights <= max_sizes[side])
    side, members, weights = side[usable], members[usable], weights[usable]
    # Subsets of D's neighbors that are all A's as well have been tried before.
    again = (side % 2 == 1) & skeleton.adjacent(pairs[side // 2, 0], members)
    start = np.searchsorted(side, np.arange(len(of_sides) + 1))
    lengths = np.diff(start)
    # Configurations multiply. Where those of the `size` smallest members are too many, so are all others.
    order = np.lexsort((weights, side))
    smallest = order[np.arange(len(side)) - start[side] < size]
    fewest = np.ones(len(of_sides))
    np.multiply.at(fewest, side[smallest], weights[smallest])
    n_subsets = np.array([comb(n, size) for n in range(int(lengths.max(initial=0)) + 1)], np.float64)
    n_sets = np.where(fewest <= max_sizes, n_subsets[lengths], 0.0)
    for first, last in _ranges(n_sets, SUBSETS_AT_A_TIME):
        own = first + np.flatnonzero(n_sets[first:last])
        # Positions in `members`, for all sides with as many members at once.
        found: Iterable[tuple[Integers, Integers]] = (
            (
                np.repeat(group, len(positions)),
                (start[group][:, None, None] + positions).reshape(-1, size),
            )
            for n in np.unique(lengths[own]).tolist()
            for group in [own[lengths[own] == n]]
            for positions in subsets(np.arange(n), size)
        )
        if len(own) > 1:  # of one alone there may be too many sets to hold at a time
            sides, chosen = (np.concatenate(part) for part in zip(*found, strict=True))
            order = np.argsort(sides, kind="stable")
            found = [(sides[order], chosen[order])]
        for sides, chosen in found:
            sets = members[chosen]
            wanted = (test.configurations(sets) <= max_sizes[sides]) & ~again[chosen].all(axis=1)
            yield sides[wanted] // 2, sets[wanted]


def _unrolled(lengths: Integers) -> tuple[Integers, Integers]:
    """Return, for lists of these lengths one after another, each entry's list and its position there."""
    of = np.repeat(np.arange(len(lengths)), lengths)
    return of, np.arange(len(of)) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _ranges(loads: Integers | Floats, most: int) -> Iterator[tuple[int, int]]:
    """Cut a list into ranges with a load of at most `most`, or of one entry with more.

    Examples
    --------
    >>> list(_ranges(np.array([3, 4, 9, 1, 1]), 7))
    [(0, 2), (2, 3), (3, 5)]
    """
    total = np.cumsum(loads)
    first = 0
    while first < len(loads):
        reach = most + (total[first - 1] if first else 0)
        last = max(first + 1, int(np.searchsorted(total, reach, side="right")))
        yield first, last
        first = last


def _batches(sets: Iterable[tuple[Integers, Integers]]) -> Iterator[tuple[Integers, Integers]]:
    """Gather sets into batches of bounded size; yield the pair of each set, and the sets."""
    parts: list[tuple[Integers, Integers]] = []
    load = 0
    for part in sets:
        parts.append(part)
        load += len(part[0])
        if load >= TESTS_PER_BATCH:
            yield np.concatenate([which for which, _ in parts]), np.concatenate([given for _, given in parts])
            parts, load = [], 0
    if load:
        yield np.concatenate([which for which, _ in parts]), np.concatenate([given for _, given in parts])


def directions(triples: Integers) -> list[tuple[int, int]]:
    """Return the arrows (from, to) that most v-structures claim for an edge, the most claimed first.

    Examples
    --------
    Two v-structures claim 0 -> 1, one claims 1 -> 0:

    >>> directions(np.array([[0, 1, 2], [0, 1, 3], [1, 0, 4]]))
    [(0, 1), (2, 1), (3, 1), (4, 0)]
    """
    if not len(triples):
        return []
    n = int(triples.max()) + 1
    keys, n_claims = np.unique(triples[:, [0, 2]] * n + triples[:, [1]], return_counts=True)
    u, v = np.divmod(keys, n)
    back = v * n + u
    at = np.minimum(np.searchsorted(keys, back), len(keys) - 1)
    resolved = n_claims > np.where(keys[at] == back, n_claims[at], 0)
    order = np.lexsort((keys, -n_claims))
    order = order[resolved[order]]
    return list(zip(u[order].tolist(), v[order].tolist(), strict=True))


def orient_by_independence(
    skeleton: Skeleton, names: tuple[str, ...], triples: Integers, constraints: Constraints | None = None
) -> PDAG:
    """Orient the v-structures `triples` of a skeleton, then apply Meek's rules.

    Variables are numbered in the order of `names`, which are sorted. Required edges come first, then the
    edges with one allowed direction; where that would close a directed cycle, such an edge is dropped. A
    v-structure against the constraints is left out as a whole (see `agreeing`). So what the rules find
    undirected may point either way.
    """
    with stage("orienting edges"):
        return apply_meek_rules(pattern_of(skeleton, names, triples, constraints))


def pattern_of(
    skeleton: Skeleton, names: tuple[str, ...], triples: Integers, constraints: Constraints | None = None
) -> PDAG:
    """Orient edges by constraints and v-structures, without Meek's rules."""
    edge_of = {(a, b): e for e, (a, b) in enumerate(skeleton.edges.tolist())}
    guard = CycleGuard(skeleton.n, skeleton.edges[:0], n_edges=len(skeleton.edges))
    arrows: list[tuple[int, int]] = []
    positions: list[int] = []
    loose = np.ones(len(skeleton.edges), np.bool_)
    forced: list[tuple[int, int]] = []
    if constraints:
        forced, triples = _forced(skeleton, constraints), triples[agreeing(skeleton, triples, constraints)]
    one_way = set(forced)
    for u, v in dict.fromkeys([*forced, *directions(triples)]):
        position = edge_of[min(u, v), max(u, v)]
        fits = guard.add(u, v)
        if fits:
            arrows.append((u, v))
            positions.append(position)
        if fits or (u, v) in one_way:
            loose[position] = False
    return PDAG._unchecked(
        names,
        np.array(arrows, np.int64).reshape(-1, 2),
        skeleton.edges[loose],
        skeleton.strengths[positions],
        skeleton.strengths[loose],
    )


def _forced(skeleton: Skeleton, constraints: Constraints) -> list[tuple[int, int]]:
    """Return the arrows that the constraints force on the edges of a skeleton, required ones first."""
    a, b = skeleton.edges.T
    forward, back = constraints.allows(a, b), constraints.allows(b, a)
    forced = np.concatenate([skeleton.edges[forward & ~back], skeleton.edges[back & ~forward][:, ::-1]])
    return [(u, v) for u, v in [*constraints.required.tolist(), *sorted(forced.tolist())]]


def agreeing(skeleton: Skeleton, triples: Integers, constraints: Constraints) -> Mask:
    """Return for each v-structure whether it agrees with the constraints.

    It does not agree if they forbid one of its arrows, or if an arrow closes a directed cycle with the arrows
    that they force, or with these and arrows that at least as many v-structures claim. Cycles of v-structures
    alone do not involve the constraints.
    """
    forced = _forced(skeleton, constraints)
    guard = _guard(skeleton, forced)
    a, c, d = triples.T
    agree = constraints.allows(a, c) & constraints.allows(d, c)
    agree &= np.array([guard.fits(a, c) and guard.fits(d, c) for a, c, d in triples.tolist()], np.bool_)
    while (against := _against(skeleton, triples[agree], forced)) is not None:
        u, v = against
        agree &= ~((c == v) & ((a == u) | (d == u)))
    return agree


def _against(skeleton: Skeleton, triples: Integers, forced: list[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the first arrow of v-structures that closes a cycle with forced arrows."""
    together, alone = _guard(skeleton, forced), _guard(skeleton, [])
    for u, v in directions(triples):
        if together.add(u, v):
            alone.add(u, v)
        elif alone.fits(u, v):
            return u, v
    return None


def _guard(skeleton: Skeleton, arrows: list[tuple[int, int]]) -> CycleGuard:
    """Return a guard against cycles with these arrows, except those that close a cycle."""
    guard = CycleGuard(skeleton.n, skeleton.edges[:0], n_edges=len(skeleton.edges))
    for u, v in arrows:
        guard.add(u, v)
    return guard
