"""Find the best network over k variables by dynamic programming over their subsets.

A set of variables is a *mask*, an integer with bit i for variable i, so that arrays over sets are
indexed by masks and a subset always comes before its supersets. A family's score is the difference of two
sets' values (`stats/scores/sets.py`), an exact int64; an entry that is not above `LEAST` is not a value but
marks a set that need not be considered. Scores that are sums start at `LEAST` and never fall below it, so
that the sum of two does not overflow.

values : (2^k,) int64
    Value of each set.
best_of : (k, 2^(k - 1)) int64
    Best score of each variable v with parents within each set that does not contain v. Bit v is
    squeezed out of the mask (`_squeeze`), which halves the largest array of the search.
best : (2^k,) int64
    Score of the best network over each set.
rules : (3, k) int64
    For each variable the largest number of parents, the mask of forbidden and that of required parents.
"""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, inner, kernel, popcount
from f2sl.stats.scores.base import LEAST

MOST, FORBIDDEN, REQUIRED = 0, 1, 2
"""Rows of `rules`."""


@inner
def _admissible(rules: Array, v: int, parents: int) -> bool:
    """Return whether variable `v` may have exactly these parents."""
    if parents & rules[FORBIDDEN, v] or rules[REQUIRED, v] & ~parents:
        return False
    return bool(popcount(np.uint64(parents)) <= rules[MOST, v])


@inner
def _family(values: Array, v: int, parents: int) -> int:
    """Return the score of variable `v` with these parents; `LEAST` if a set's value is unknown."""
    below, above = values[parents], values[parents | 1 << v]
    return above - below if below > LEAST and above > LEAST else LEAST


@inner
def _squeeze(mask: int, v: int) -> int:
    """Remove bit `v`, which is 0, from a mask: higher bits move down by one."""
    low = (1 << v) - 1
    return (mask & low) | (mask >> 1 & ~low)


@inner
def best_parents(values: Array, v: int, rules: Array, best: Array) -> None:
    """Find, for every set of candidates, the score of the best parents of `v` within it.

    values : (2^k,) int64; best : (2^(k - 1),) int64, output, by squeezed mask: a row of `best_of`.
    """
    half = len(best)
    low = (1 << v) - 1
    # First the score of v with exactly these parents; sets that break a rule may only serve as candidates.
    for squeezed in range(half):
        candidates = (squeezed & low) | (squeezed & ~low) << 1
        if _admissible(rules, v, candidates):
            best[squeezed] = _family(values, v, candidates)
        else:
            best[squeezed] = LEAST
    # Then the maximum over all subsets, one bit after another: after the pass of a bit, each entry is the
    # best over all subsets that differ from it in the bits so far. Each pass is linear in the number of
    # sets, where comparing every set with all of its subsets would take 3^(k - 1) steps.
    step = 1
    while step < half:
        for first in range(0, half, 2 * step):
            for without in range(first, first + step):
                best[without + step] = max(best[without + step], best[without])
        step *= 2


@inner
def best_order(best_of: Array, best: Array) -> None:
    """Find the score of the best network over every set of variables.

    The best network over a set has some variable last, whose parents may be any of the others. So its score
    is that of the best network over the others, plus that of the best parents among them (`best_of[v]`, from
    `best_parents`), for the best choice of the last one. Masks are visited in ascending order, so that
    the sets with one variable less are done. `best` is the output.
    """
    k = len(best_of)
    best[0] = 0
    for members in range(1, len(best)):
        top = LEAST
        for v in range(k):
            if members >> v & 1:
                others = members ^ 1 << v
                score = best[others] + best_of[v, _squeeze(others, v)]
                top = max(top, score)  # the sum of two that are `LEAST` is the least that fits 64 bits
        best[members] = top


@inner
def read_off(values: Array, rules: Array, best_of: Array, best: Array, parents: Array) -> None:
    """Follow the best scores back to a network: write a mask of parents for each variable.

    Only scores are stored on the way up, not choices: they are found again by comparing for equality, which
    is exact for integers. If several variables may come last, the last one does; of equally good sets of
    parents the smallest is taken, and of these the one with the first members.

    parents : (k,) int64, output.
    """
    # From the set of all variables, remove the last one of its best network, again and again. Some variable
    # always matches, since the best score was made from one.
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
        # (subset - 1) & others enumerates all subsets of `others`, in descending order, down to the empty
        # set.
        chosen, fewest = others, len(best_of)
        subset = others
        while True:
            n = popcount(np.uint64(subset))
            if n <= fewest and _admissible(rules, v, subset) and _family(values, v, subset) == score:
                # Of two sets of one size the first has the lowest bit in which they differ.
                different = subset ^ chosen
                if n < fewest or subset & different & -different:
                    chosen, fewest = subset, n
            if subset == 0:
                break
            subset = (subset - 1) & others
        parents[v] = chosen
        members = others


@kernel
def best_networks(lattices: Array, rules: Array, parents: Array, scores: Array) -> None:
    """Find the best network over each row of set values: its parents' masks, and its score.

    lattices : (m, 2^k) int64; parents : (m, k) int64, output; scores : (m,) int64, output.
    """
    size, k = lattices.shape[1], parents.shape[1]
    best_of = np.empty((k, size // 2), np.int64)
    best = np.empty(size, np.int64)
    for row in range(len(lattices)):
        values = lattices[row]
        for v in range(k):
            best_parents(values, v, rules, best_of[v])
        best_order(best_of, best)
        read_off(values, rules, best_of, best, parents[row])
        scores[row] = best[size - 1]


@inner
def _next_of_same_size(mask: int) -> int:
    """Return the next larger mask with the same number of bits (Gosper's hack); the mask is not 0."""
    lowest = mask & -mask
    ripple = mask + lowest
    return ripple | ((mask ^ ripple) >> 2) // lowest


@kernel
def choose_families(
    level: int,
    weights: Array,
    slack: int,
    rules: Array,
    sizes: Array,
    open_for: Array,
    best_of: Array,
    wanted: Array,
) -> None:
    """Find which families with `level` parents may be in a best network, and mark their sets for counting.

    A family, and each with the same parents and more, scores at most minus the variable's weight times
    the size of its set, or of any subset of it (`stats/scores/sets.py`, `Ceilings`). Where a subset of the
    parents scores more than that, by more than rounding, all these families are ruled out.

    Levels must be visited from 0 on, each followed by `score_families`.

    Parameters
    ----------
    weights : (k,) float64
        Weight of each variable in the bound.
    slack : int
        Difference of two values above which it cannot be due to rounding.
    sizes : (2^k,) float64
        Size of each set; 0 where it is not known yet.
    open_for : (2^k,) int64
        ``open_for[parents]`` has a bit for each variable whose family with these parents, or with more, is
        still of interest. Written for all sets of this level.
    best_of : (k, 2^(k - 1)) int64
        Best score so far of v with parents within a set. Written only where ``open_for[parents]`` has bit v,
        and read only there: other entries are uninitialised memory.
    wanted : (2^k,) bool
        Output: sets that have to be counted.
    """
    k = len(weights)
    everything = (1 << k) - 1
    parents = (1 << level) - 1
    while parents <= everything:
        # A family is possible only if it is with each set of one parent less.
        possible = everything ^ parents
        for u in range(k):
            if parents >> u & 1:
                possible &= open_for[parents ^ 1 << u]
        left = 0
        for v in range(k):
            # More parents never mend a forbidden one; a required one that is not there yet may still come.
            if not possible >> v & 1 or parents & rules[FORBIDDEN, v]:
                continue
            # The best score of v with fewer of these parents, and the largest size known of a set within the
            # family: the set itself is not counted yet.
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
        # Level 0 has one mask alone, of which there is no next.
        if parents == 0:
            break
        parents = _next_of_same_size(parents)


@kernel
def score_families(
    level: int,
    weights: Array,
    slack: int,
    rules: Array,
    values: Array,
    sizes: Array,
    open_for: Array,
    best_of: Array,
) -> int:
    """Score the families that `choose_families` left open, after counting their sets; return their number.

    Closes those in `open_for` whose supersets cannot do better any more. Arrays are those of
    `choose_families`; values : (2^k,) int64; `sizes` now has those of the sets just counted.
    """
    k = len(weights)
    scored = 0
    parents = (1 << level) - 1
    while parents < 1 << k:
        for v in range(k):
            if open_for[parents] >> v & 1:
                scored += 1
                position = _squeeze(parents, v)
                if _admissible(rules, v, parents):
                    best_of[v, position] = max(best_of[v, position], _family(values, v, parents))
                # Now that the set's own size is known, the bound may rule out all families with more parents.
                if best_of[v, position] - slack > -weights[v] * sizes[parents | 1 << v]:
                    open_for[parents] ^= 1 << v
        if parents == 0:
            break
        parents = _next_of_same_size(parents)
    return scored
