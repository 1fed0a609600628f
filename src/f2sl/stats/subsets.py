"""Subsets of a few candidates, as index arrays: written once for every search through conditioning sets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, combinations, islice
from math import comb

import numpy as np

from f2sl._arrays import Integers

SUBSETS_AT_A_TIME = 1 << 15
"""Most subsets in one array; where there are more, they come in several."""


@lru_cache(maxsize=256)
def _few_places(n: int, size: int) -> Integers:
    """Places of all subsets, remembered; only asked for where there are few."""
    return next(_places(n, size))


def _places(n: int, size: int) -> Iterator[Integers]:
    """Places of all subsets of `size` among `n` things, in lexicographic order."""
    all_subsets = combinations(range(n), size)
    left = comb(n, size)
    while left > 0:
        rows = min(left, SUBSETS_AT_A_TIME)
        flat = chain.from_iterable(islice(all_subsets, rows))
        places = np.fromiter(flat, np.int64, rows * size).reshape(rows, size)
        places.setflags(write=False)
        yield places
        left -= rows


def subsets(members: Integers, size: int) -> Iterator[Integers]:
    """All subsets of `size` of `members`, one a row, in the order of the members, a bounded number at a time.

    Examples
    --------
    >>> [part.tolist() for part in subsets(np.array([7, 8, 9]), 2)]
    [[[7, 8], [7, 9], [8, 9]]]
    >>> [part.shape for part in subsets(np.array([7]), 0)], list(subsets(np.array([7]), 2))
    ([(1, 0)], [])
    """
    n = len(members)
    if comb(n, size) > SUBSETS_AT_A_TIME:
        yield from (members[places] for places in _places(n, size))
    elif n >= size:
        yield members[_few_places(n, size)]
