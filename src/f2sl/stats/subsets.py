"""Subsets of a few candidates, as index arrays: written once for every search through conditioning sets."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, combinations
from math import comb

import numpy as np

from f2sl.counting.protocol import Integers


@lru_cache(maxsize=256)
def subset_places(n: int, size: int) -> Integers:
    """Places of all subsets of `size` among `n` things, in lexicographic order, one subset a row.

    Examples
    --------
    >>> subset_places(3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    >>> subset_places(2, 0).shape
    (1, 0)
    """
    flat = chain.from_iterable(combinations(range(n), size))
    places = np.fromiter(flat, np.int64, comb(n, size) * size).reshape(comb(n, size), size)
    places.setflags(write=False)
    return places


def subsets(members: Integers, size: int) -> Integers:
    """All subsets of `size` of `members`, one a row, in the order of the members.

    Examples
    --------
    >>> subsets(np.array([7, 8, 9]), 2).tolist()
    [[7, 8], [7, 9], [8, 9]]
    """
    return members[subset_places(len(members), size)]
