"""Loops of local learners.

The backward step of FCBF, for many targets at once, on the sparse graph of relevant pairs; and the steps of
the learners by score, which ask for the best network again and again.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, kernel, popcount
from f2sl.search._kernels import best_order, best_parents, read_off
from f2sl.stats._kernels import LEAST


@kernel
def list_neighbours(
    first: Array, second: Array, values: Array, start: Array, neighbours: Array, strengths: Array
) -> None:
    """Turn pairs into lists of neighbours, those of v from `start[v]` on, each by falling strength.

    Of equals those stand first that come first among the pairs.
    """
    end = start[:-1].copy()
    for p in range(len(first)):
        x, y = first[p], second[p]
        neighbours[end[x]], strengths[end[x]] = y, values[p]
        neighbours[end[y]], strengths[end[y]] = x, values[p]
        end[x] += 1
        end[y] += 1
    for v in range(len(start) - 1):
        own = slice(start[v], start[v + 1])
        order = np.argsort(-strengths[own], kind="mergesort")
        neighbours[own] = neighbours[own][order]
        strengths[own] = strengths[own][order]


@kernel
def order_by_strength(start: Array, neighbours: Array, strengths: Array, tolerance: float) -> None:
    """Put equals in the order of their names, within lists that are sorted by falling strength.

    A run of equals begins with its strongest member and takes in all that lie within
    `tolerance` of it.
    """
    for target in range(len(start) - 1):
        leader, strongest = start[target], np.inf
        for p in range(start[target], start[target + 1]):
            name, strength = neighbours[p], strengths[p]
            if strongest - strength > tolerance:
                leader, strongest = p, strength
                continue
            q = p
            while q > leader and neighbours[q - 1] > name:
                neighbours[q], strengths[q] = neighbours[q - 1], strengths[q - 1]
                q -= 1
            neighbours[q], strengths[q] = name, strength


@kernel
def drop_redundant(
    start: Array, neighbours: Array, strengths: Array, first: int, last: int, margin: float, kept: Array
) -> None:
    """For targets `first` to `last`, mark the candidates that FCBF keeps.

    In the order of their strength each kept X drops every later Y with
    strength(X, Y) > strength(Y, target) + margin. Only pairs of the sparse graph are looked
    at: a pair that is not in it is weaker than every candidate is to the target, or is taken for unrelated.
    """
    place = np.full(len(start) - 1, -1, np.int64)
    for target in range(first, last):
        begin, end = start[target], start[target + 1]
        for p in range(begin, end):
            place[neighbours[p]] = p
            kept[p] = True
        for p in range(begin, end):
            if not kept[p]:
                continue
            x = neighbours[p]
            for e in range(start[x], start[x + 1]):
                q = place[neighbours[e]]
                if q > p and kept[q] and strengths[e] > strengths[q] + margin:
                    kept[q] = False
        for p in range(begin, end):
            place[neighbours[p]] = -1


UNDECIDED, KEPT, DROPPED = 0, 1, 2
"""What becomes of a candidate."""


@kernel
def next_doubts(
    start: Array,
    neighbours: Array,
    strengths: Array,
    first: int,
    last: int,
    margin: float,
    fate: Array,
    since: Array,
    doubted: Array,
    by: Array,
) -> int:
    """For targets `first` to `last`, find by whom each candidate that is undecided may have to go next.

    A candidate Y is in doubt because of a stronger X with strength(X, Y) > strength(Y, target) + margin.
    The strongest such X that was kept, of those from ``since[Y]`` on, is written beside Y into `doubted`
    and `by` (their places in the flat lists); where it is undecided itself, Y waits. A candidate that
    nobody is left to doubt is kept. Gives how many were written.
    """
    place = np.full(len(start) - 1, -1, np.int64)
    found = 0
    for target in range(first, last):
        begin, end = start[target], start[target + 1]
        for p in range(begin, end):
            place[neighbours[p]] = p
        for q in range(begin, end):
            if fate[q] != UNDECIDED:
                continue
            y = neighbours[q]
            strongest = q
            for e in range(start[y], start[y + 1]):
                p = place[neighbours[e]]
                if since[q] <= p < strongest and fate[p] != DROPPED and strengths[e] > strengths[q] + margin:
                    strongest = p
            if strongest == q:
                fate[q] = KEPT
                continue
            since[q] = strongest
            if fate[strongest] == KEPT:
                doubted[found], by[found] = q, strongest
                found += 1
        for p in range(begin, end):
            place[neighbours[p]] = -1
    return found


@kernel
def sees(parents: Array, target: int) -> tuple[int, int]:
    """Read off a network who is linked to `target`, and who else is a parent of its children, as masks."""
    linked, co_parents = parents[target], 0
    for v in range(len(parents)):
        if parents[v] >> target & 1:
            linked |= 1 << v
            co_parents |= parents[v]
    return linked, co_parents & ~linked & ~(1 << target)


@kernel
def tell_ties_apart(values: Array, target: int, worth: int, told_apart: Array) -> None:
    """Make each link to `target` worth a fraction (`worth` of 32) of the smallest difference between scores.

    The set values that come out give every network that much more for each of these links: a set with the
    target gets it for each of its other members. No network has 32 links to one variable.
    """
    for members in range(len(values)):
        value = values[members]
        if value > LEAST:
            value *= 32
            if members >> target & 1:
                value += worth * (popcount(np.uint64(members)) - 1)
        told_apart[members] = value


@kernel
def try_in_turn(
    lattices: Array,
    rows_start: Array,
    target_place: Array,
    candidate_place: Array,
    near: Array,
    spouses: Array,
    with_spouses: Array,
    near_is_settled: Array,
    worth_of_ties: int,
    max_parents: int,
    parents: Array,
    tried: Array,
) -> None:
    """Find the best network with one candidate after another, for each search until something changes.

    Search s has the rows `rows_start[s]` to `rows_start[s + 1]`, one for each candidate: the values of all
    sets of the target, those around it, and the candidate. `near[s]` and `spouses[s]` are masks of those
    around it as they are now, without a bit for the candidate. Writes how many candidates were tried, and
    into `parents[s]` the network of the last of them, with -1 in the first place if nothing has changed.

    Of networks that are equally good it takes one with the fewest links to the target, or with the most, by
    the sign of `worth_of_ties`.
    """
    k = parents.shape[1]
    best_of = np.empty((k, 1 << (k - 1)), np.int64)
    best = np.empty(1 << k, np.int64)
    values = np.empty(1 << k, np.int64)
    for s in range(len(tried)):
        tried[s] = rows_start[s + 1] - rows_start[s]
        changed = False
        for row in range(rows_start[s], rows_start[s + 1]):
            tell_ties_apart(lattices[row], target_place[row], worth_of_ties, values)
            for v in range(k):
                best_parents(values, v, max_parents, best_of[v])
            best_order(best_of, best)
            read_off(values, max_parents, best_of, best, parents[s])
            linked, co_parents = sees(parents[s], target_place[row])
            low = (1 << candidate_place[row]) - 1
            linked_now = (near[s] & low) | (near[s] & ~low) << 1
            co_parents_now = (spouses[s] & low) | (spouses[s] & ~low) << 1
            if near_is_settled[s]:
                changed = co_parents & ~linked_now != co_parents_now
            else:
                changed = linked != linked_now or (with_spouses[s] and co_parents != co_parents_now)
            if changed:
                tried[s] = row - rows_start[s] + 1
                break
        if not changed:
            parents[s, 0] = -1
