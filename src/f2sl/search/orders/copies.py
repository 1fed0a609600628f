"""Find an order of variables that are not copies of each other, and put the copies behind their originals.

Columns that determine each other one to one are *copies*: given one of them, another tells nothing more. Of
two copies the first in an order has the parents, the second has the first as its only parent, and the effects
may have either. So no move of one variable brings both behind a new parent: whichever stays before it keeps
the parents that it had there, and the other one hangs on it. They have to move together. A search in which
each group of copies is one variable makes such moves, and its order is one more to start from.
"""

from __future__ import annotations

import numpy as np

from f2sl._arrays import Integers


def originals(n: int, pairs: Integers) -> Integers:
    """Return for each of n variables the first of its copies, itself if it has none.

    Examples
    --------
    >>> originals(5, np.array([[1, 3], [3, 4]])).tolist()
    [0, 1, 2, 1, 1]
    """
    first = np.arange(n)
    ends = np.concatenate([pairs, pairs[:, ::-1]]).T
    while True:
        before = first.copy()
        np.minimum.at(first, ends[1], first[ends[0]])
        if (first == before).all():
            return first


def candidates_of_originals(
    start: Integers, candidates: Integers, first: Integers
) -> tuple[Integers, Integers]:
    """Return the candidates with every copy replaced by its original; copies themselves have none.

    Parameters
    ----------
    start, candidates : (n + 1,) and (m,) int64
        The candidates of v are ``candidates[start[v]:start[v + 1]]``; so are those returned.
    first : (n,) int64
        The original of each variable.

    Examples
    --------
    >>> start, candidates = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])  # 0 - 1 - 2, and 2 is a copy of 1
    >>> [found.tolist() for found in candidates_of_originals(start, candidates, np.array([0, 1, 1]))]
    [[0, 1, 2, 2], [1, 0]]
    """
    n = len(start) - 1
    owners = np.repeat(np.arange(n), np.diff(start))
    owners, found = np.divmod(np.unique(first[owners] * n + first[candidates]), n)
    others = owners != found
    return np.searchsorted(owners[others], np.arange(n + 1)), found[others]


def with_copies(order: Integers, first: Integers) -> Integers:
    """Return an order with every copy right behind its original, copies by number.

    Examples
    --------
    >>> with_copies(np.array([2, 3, 1, 0]), first=np.array([0, 1, 1, 1])).tolist()
    [1, 2, 3, 0]
    """
    position = np.argsort(order)
    return np.lexsort((np.arange(len(order)), position[first]))
