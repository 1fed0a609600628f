"""FindVstructure: which unshielded triples of a skeleton are colliders (Algorithm 3 of the F2SL paper).

In a triple A - C - D with A and D not linked, C is a *collider* (A -> C <- D, a v-structure) if
A and D can be separated without C and are dependent once C is known. The three steps:

1. A independent of D given C: not a v-structure.
2. A independent of D, and dependent given C: a v-structure.
3. Some subset S of the neighbours of A or of D, without C, makes A and D independent, and
   they are dependent given S and C: a v-structure.

A test that is unreliable separates nothing, and counts as dependence where dependence is asked
for. Tests go out in batches, one size of conditioning set after another. The neighbours of A are those
in the skeleton: PC(A) after the symmetry rule, where the paper does not say which it means.

Where v-structures claim opposite directions for one edge, the edge points the way that more of
them claim, and stays undirected where as many claim one as the other. Edges are oriented in the order
of their claims, most first and equals by name, and an orientation that would close a directed cycle is
left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from f2sl._progress import stage
from f2sl.counting.protocol import Integers
from f2sl.skeleton import Skeleton
from f2sl.stats.independence import INDEPENDENT, IndependenceTest
from f2sl.stats.subsets import subsets

TESTS_PER_BATCH = 200_000


@dataclass
class VStructures:
    """Colliders found, as rows (A, C, D) with A < D, and what separated the pairs that were separated."""

    triples: Integers
    separating_sets: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)


def unshielded_triples(skeleton: Skeleton) -> Integers:
    """List all A - C - D with A < D not linked, as rows (A, C, D), ordered by (A, D, C)."""
    parts = []
    for c in range(skeleton.n):
        around = skeleton.adjacent_to(c)
        if len(around) > 1:
            for pairs in subsets(around, 2):
                parts.append(np.column_stack([pairs[:, 0], np.full(len(pairs), c), pairs[:, 1]]))
    if not parts:
        return np.empty((0, 3), np.int64)
    triples = np.concatenate(parts)
    triples = triples[~skeleton.linked(triples[:, 0], triples[:, 2])]
    return np.asarray(triples[np.lexsort((triples[:, 1], triples[:, 2], triples[:, 0]))])


def find_v_structures(
    skeleton: Skeleton, test: IndependenceTest, max_cond_vars: int | None = 3
) -> VStructures:
    """Run FindVstructure on all unshielded triples of a skeleton."""
    with stage("looking for v-structures") as advance:
        open_triples = unshielded_triples(skeleton)
        found = VStructures(np.empty((0, 3), np.int64))
        colliders: list[Integers] = []

        # Step 1: separated by C itself.
        a, c, d = open_triples.T
        by_c = test.answer(a, d, c[:, None]) == INDEPENDENT
        _remember(found, a[by_c], d[by_c], c[by_c][:, None])
        open_triples = open_triples[~by_c]
        advance(0.3)

        # Step 2: independent as they are. Each pair is asked once, whatever the number of its C.
        pairs, pair_of = _pairs(open_triples)
        apart = test.answer(pairs[:, 0], pairs[:, 1], np.empty((len(pairs), 0), np.int64)) == INDEPENDENT
        _remember(found, pairs[apart, 0], pairs[apart, 1], np.empty((int(apart.sum()), 0), np.int64))
        colliders.append(open_triples[apart[pair_of]])
        open_triples = open_triples[~apart[pair_of]]
        advance(0.1)

        # Step 3: separated by some of the neighbours of either.
        most = int(np.diff(skeleton.start).max(initial=0))
        most = most if max_cond_vars is None else min(max_cond_vars, most)
        for size in range(1, most + 1):
            new = _search_subsets(skeleton, test, open_triples, size, found)
            colliders.append(open_triples[new])
            open_triples = open_triples[~new]
            advance(0.6 / most)
    found.triples = np.concatenate(colliders)
    return found


def _pairs(triples: Integers) -> tuple[Integers, Integers]:
    """Give the distinct pairs (A, D) of triples that are sorted by them, and the pair of each triple."""
    ends = triples[:, ::2]
    new = np.ones(len(ends), np.bool_)
    new[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    return ends[new], np.cumsum(new) - 1


def _remember(found: VStructures, a: Integers, d: Integers, given: Integers) -> None:
    for pair, members in zip(zip(a.tolist(), d.tolist(), strict=True), given.tolist(), strict=True):
        found.separating_sets.setdefault(pair, tuple(members))


def _search_subsets(
    skeleton: Skeleton, test: IndependenceTest, triples: Integers, size: int, found: VStructures
) -> np.ndarray:
    """Say which triples are colliders by some separating set of `size` (step 3)."""
    is_collider = np.zeros(len(triples), np.bool_)
    pairs, pair_of = _pairs(triples)
    first_triple = np.searchsorted(pair_of, np.arange(len(pairs) + 1))

    def candidates() -> Iterator[tuple[int, Integers]]:
        """For each pair, subsets of A's neighbours and then of D's, for as long as it has an open triple."""
        for number, (a, d) in enumerate(pairs.tolist()):
            own = slice(first_triple[number], first_triple[number + 1])
            for sets in _candidate_sets(skeleton, test, a, d, triples[own, 1], size):
                if is_collider[own].all():
                    break
                yield number, sets

    for which, given in _batches(candidates()):
        a, d = pairs[which].T
        separated = test.answer(a, d, given) == INDEPENDENT
        _remember(found, a[separated], d[separated], given[separated])
        # Every C of a separated pair that is not in the set itself is asked for.
        of_pair, sets = which[separated], given[separated]
        repeats = first_triple[of_pair + 1] - first_triple[of_pair]
        row = np.repeat(np.arange(len(of_pair)), repeats)
        within = np.arange(len(row)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        triple = first_triple[of_pair][row] + within
        c = triples[triple, 1]
        asked = ~is_collider[triple] & (sets[row] != c[:, None]).all(axis=1)
        row, triple, c = row[asked], triple[asked], c[asked]
        joined = np.column_stack([sets[row], c])
        still = test.answer(triples[triple, 0], triples[triple, 2], joined) == INDEPENDENT
        is_collider[triple[~still]] = True
    return is_collider


def _candidate_sets(
    skeleton: Skeleton, test: IndependenceTest, a: int, d: int, middle: Integers, size: int
) -> Iterator[Integers]:
    """Subsets of the neighbours of A and then of D that a reliable test can be made with, some at a time.

    What separates A and D may not hold C; with several C between them, a set that holds one of them may
    still serve the others.
    """
    near_a, near_d = skeleton.adjacent_to(a), skeleton.adjacent_to(d)
    if len(middle) == 1:
        near_a, near_d = near_a[near_a != middle[0]], near_d[near_d != middle[0]]
    yield from test.worth_asking(a, d, near_a, size)
    for sets in test.worth_asking(a, d, near_d, size):
        # What lies within A's neighbours as well has been asked already.
        yield sets[~np.isin(sets, near_a).all(axis=1)]


def _batches(sets: Iterable[tuple[int, Integers]]) -> Iterator[tuple[Integers, Integers]]:
    """Gather sets of many pairs into batches of bounded size: the pair of each set, and the sets."""
    numbers: list[Integers] = []
    rows: list[Integers] = []
    load = 0
    for number, given in sets:
        if not len(given):
            continue
        numbers.append(np.full(len(given), number))
        rows.append(given)
        load += len(given)
        if load >= TESTS_PER_BATCH:
            yield np.concatenate(numbers), np.concatenate(rows)
            numbers, rows, load = [], [], 0
    if rows:
        yield np.concatenate(numbers), np.concatenate(rows)


def directions(triples: Integers) -> list[tuple[int, int]]:
    """Settle what the v-structures claim: arrows (from, to), the most claimed first.

    Examples
    --------
    Two v-structures claim 0 -> 1, one claims 1 -> 0:

    >>> directions(np.array([[0, 1, 2], [0, 1, 3], [1, 0, 4]]))
    [(0, 1), (2, 1), (3, 1), (4, 0)]
    """
    claims: Counter[tuple[int, int]] = Counter()
    for a, c, d in triples.tolist():
        claims[a, c] += 1
        claims[d, c] += 1
    settled = [(u, v) for (u, v), n in claims.items() if n > claims.get((v, u), 0)]
    return sorted(settled, key=lambda arrow: (-claims[arrow], arrow))
