"""The backward step of FCBF, for many targets at once, on the sparse graph of relevant pairs."""

from __future__ import annotations

import numpy as np

from f2sl._jit import Array, kernel


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
    at: a pair that is not in it is weaker than every candidate is to the target.
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
