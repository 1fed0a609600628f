"""Search loops: values of sets in, the best network out.

A set of up to k variables is a mask, a number with bit i for variable i. A family's score is the
difference of two sets' values (`stats/set_scores.py`); what is not above `LEAST` is no value but a mark: of a
set that need not be looked at.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, kernel, popcount
from f2sl.stats._kernels import LEAST


@kernel
def _family(values: Array, v: int, parents: int) -> int:
    """Score variable `v` with these parents; `LEAST` where that is not known."""
    below, above = values[parents], values[parents | 1 << v]
    return above - below if below > LEAST and above > LEAST else LEAST


@kernel
def _squeeze(mask: int, v: int) -> int:
    """Leave bit `v` out of a mask that does not have it: bits above move down by one."""
    low = (1 << v) - 1
    return (mask & low) | (mask >> 1 & ~low)


@kernel
def best_parents(values: Array, v: int, max_parents: int, best: Array) -> None:
    """Find for every set of candidates the score of the best parents of `v` within it.

    Candidates are all variables but `v`: bits above v's move down by one.
    """
    half = len(best)
    low = (1 << v) - 1
    for squeezed in range(half):
        candidates = (squeezed & low) | (squeezed & ~low) << 1
        if popcount(np.uint64(squeezed)) > max_parents:
            best[squeezed] = LEAST
        else:
            best[squeezed] = _family(values, v, candidates)
    step = 1
    while step < half:
        for first in range(0, half, 2 * step):
            for without in range(first, first + step):
                best[without + step] = max(best[without + step], best[without])
        step *= 2


@kernel
def best_order(best_of: Array, best: Array) -> None:
    """Find the score of the best network over every set of variables.

    The best network over a set has some variable last, whose parents may be any of the others:
    the best over the others, and the best parents among them (`best_of[v]`, from `best_parents`).
    """
    k = len(best_of)
    best[0] = 0
    for members in range(1, len(best)):
        top = LEAST
        for v in range(k):
            if members >> v & 1:
                others = members ^ 1 << v
                score = best[others] + best_of[v, _squeeze(others, v)]
                top = max(top, score)
        best[members] = top


@kernel
def read_off(values: Array, max_parents: int, best_of: Array, best: Array, parents: Array) -> None:
    """Follow the best scores back to a network: a mask of parents for each variable.

    Of several variables that may come last it takes the last; of parents that are equally good, the fewest,
    and of these the ones that come first.
    """
    members = len(best) - 1
    while members:
        v = len(best_of) - 1
        while True:
            if members >> v & 1:
                others = members ^ 1 << v
                score = best_of[v, _squeeze(others, v)]
                if best[others] + score == best[members]:
                    break
            v -= 1
        chosen, fewest = others, len(best_of)
        some = others
        while True:
            n = popcount(np.uint64(some))
            if n <= fewest and n <= max_parents and _family(values, v, some) == score:
                different = some ^ chosen
                if n < fewest or some & different & -different:
                    chosen, fewest = some, n
            if some == 0:
                break
            some = (some - 1) & others
        parents[v] = chosen
        members = others


@kernel
def best_networks(lattices: Array, max_parents: int, parents: Array, scores: Array) -> None:
    """Find the best network over each row of set values: its parents' masks, and its score."""
    size, k = lattices.shape[1], parents.shape[1]
    best_of = np.empty((k, size // 2), np.int64)
    best = np.empty(size, np.int64)
    for row in range(len(lattices)):
        values = lattices[row]
        for v in range(k):
            best_parents(values, v, max_parents, best_of[v])
        best_order(best_of, best)
        read_off(values, max_parents, best_of, best, parents[row])
        scores[row] = best[size - 1]


@kernel
def _next_of_same_size(mask: int) -> int:
    """Give the next larger mask with as many bits."""
    lowest = mask & -mask
    ripple = mask + lowest
    return ripple | ((mask ^ ripple) >> 2) // lowest


@kernel
def choose_families(
    level: int,
    weights: Array,
    slack: int,
    sizes: Array,
    open_for: Array,
    best_of: Array,
    wanted: Array,
) -> None:
    """Find which families with `level` parents may be in a best network, and want their sets counted.

    A family and all with more parents score at most minus the variable's weight times the size of its
    set, or of any set within. Where some of its parents alone do better, they are all out.
    `open_for[parents]` has a bit for each variable whose family with these parents, and possibly
    more, is still of interest.
    """
    k = len(weights)
    everything = (1 << k) - 1
    parents = (1 << level) - 1
    while parents <= everything:
        possible = everything ^ parents
        for u in range(k):
            if parents >> u & 1:
                possible &= open_for[parents ^ 1 << u]
        left = 0
        for v in range(k):
            if not possible >> v & 1:
                continue
            best = LEAST
            size = max(sizes[parents], sizes[parents | 1 << v])
            for u in range(k):
                if parents >> u & 1:
                    fewer = parents ^ 1 << u
                    best = max(best, best_of[v, _squeeze(fewer, v)])
                    size = max(size, sizes[fewer | 1 << v])
            if best - slack <= -weights[v] * size:
                left |= 1 << v
                best_of[v, _squeeze(parents, v)] = best
                wanted[parents] = wanted[parents | 1 << v] = True
        open_for[parents] = left
        if parents == 0:
            break
        parents = _next_of_same_size(parents)


@kernel
def score_families(
    level: int,
    weights: Array,
    slack: int,
    values: Array,
    sizes: Array,
    open_for: Array,
    best_of: Array,
) -> int:
    """Score the families that `choose_families` has left, their sets now being counted; returns how many."""
    k = len(weights)
    scored = 0
    parents = (1 << level) - 1
    while parents < 1 << k:
        for v in range(k):
            if open_for[parents] >> v & 1:
                scored += 1
                place = _squeeze(parents, v)
                best_of[v, place] = max(best_of[v, place], _family(values, v, parents))
                if best_of[v, place] - slack > -weights[v] * sizes[parents | 1 << v]:
                    open_for[parents] ^= 1 << v
        if parents == 0:
            break
        parents = _next_of_same_size(parents)
    return scored
