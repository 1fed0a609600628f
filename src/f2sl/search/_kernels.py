"""Search loops: values of sets in, the best network out.

A set of up to k variables is a mask, a number with bit i for variable i. A family's score is the
difference of two sets' values (`stats/set_scores.py`); values at or below `LEAST` are those of sets that need
not be looked at.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, kernel, popcount

LEAST = -(2**62)
"""At or below it are no values, but marks."""


@kernel
def _family(values: Array, v: int, parents: int) -> int:
    """Score variable `v` with these parents; `LEAST` where that is not known."""
    below, above = values[parents], values[parents | 1 << v]
    return above - below if below > LEAST and above > LEAST else LEAST


@kernel
def best_parents(values: Array, v: int, max_indegree: int, best: Array) -> None:
    """Find for every set of candidates the score of the best parents of `v` within it.

    Candidates are all variables but `v`: bits above v's move down by one.
    """
    half = len(best)
    low = (1 << v) - 1
    for squeezed in range(half):
        candidates = (squeezed & low) | (squeezed & ~low) << 1
        if popcount(np.uint64(squeezed)) > max_indegree:
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
                low = (1 << v) - 1
                score = best[others] + best_of[v, (others & low) | (others >> 1 & ~low)]
                top = max(top, score)
        best[members] = top


@kernel
def read_off(values: Array, max_indegree: int, best_of: Array, best: Array, parents: Array) -> None:
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
                low = (1 << v) - 1
                score = best_of[v, (others & low) | (others >> 1 & ~low)]
                if best[others] + score == best[members]:
                    break
            v -= 1
        chosen, fewest = others, len(best_of)
        some = others
        while True:
            n = popcount(np.uint64(some))
            if n <= fewest and n <= max_indegree and _family(values, v, some) == score:
                different = some ^ chosen
                if n < fewest or some & different & -different:
                    chosen, fewest = some, n
            if some == 0:
                break
            some = (some - 1) & others
        parents[v] = chosen
        members = others


@kernel
def best_networks(lattices: Array, max_indegree: int, parents: Array, scores: Array) -> None:
    """Find the best network over each row of set values: its parents' masks, and its score."""
    size, k = lattices.shape[1], parents.shape[1]
    best_of = np.empty((k, size // 2), np.int64)
    best = np.empty(size, np.int64)
    for row in range(len(lattices)):
        values = lattices[row]
        for v in range(k):
            best_parents(values, v, max_indegree, best_of[v])
        best_order(best_of, best)
        read_off(values, max_indegree, best_of, best, parents[row])
        scores[row] = best[size - 1]
