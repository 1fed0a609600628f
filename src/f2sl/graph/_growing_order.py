"""Would this arrow close a directed cycle? A topological order that grows with the arrows.

The order of the nodes is kept such that every arrow points forward. An arrow that
already points forward is free; for one that points back, only the nodes between its
ends in the order are looked at, and moved (Pearce and Kelly [1]_). Arrows that are
there from the start may already form cycles; nodes on a common cycle count as one.

References
----------
.. [1] D. J. Pearce, P. H. J. Kelly. A dynamic topological sort algorithm for directed
   acyclic graphs. ACM Journal of Experimental Algorithmics 11, 2007.
"""

from __future__ import annotations

import numpy as np

from f2sl.graph._arrays import IntArray, adjacency, first_topological_order, strong_components


class GrowingOrder:
    """Takes arrows one by one and refuses those that would close a directed cycle.

    Parameters
    ----------
    n
        The number of nodes.
    directed
        The arrows to begin with.
    preferred
        A place for each node; the nearer the arrows to come follow it, the less work.

    Examples
    --------
    >>> order = GrowingOrder(3, np.array([[0, 1]]), np.array([0, 1, 2]))
    >>> order.add(1, 2), order.add(2, 0)
    (True, False)
    """

    def __init__(self, n: int, directed: IntArray, preferred: IntArray) -> None:
        group = np.arange(n)
        if len(first_topological_order(n, directed)) < n:
            group = strong_components(n, directed)
        # Groups are numbered by their first place in the preferred order, so that the
        # smallest number first is the preferred one first.
        by_place = np.argsort(preferred)
        _, first, number = np.unique(group[by_place], return_index=True, return_inverse=True)
        renumber = np.empty(len(first), dtype=np.int64)
        renumber[np.argsort(first)] = np.arange(len(first))
        groups = np.empty(n, dtype=np.int64)
        groups[by_place] = renumber[number]
        arrows = np.unique(groups[directed].reshape(-1, 2), axis=0)
        arrows = arrows[arrows[:, 0] != arrows[:, 1]]
        m = len(first)
        self._group: list[int] = groups.tolist()
        self._children = adjacency(m, arrows[:, 0], arrows[:, 1]).lists()
        self._parents = adjacency(m, arrows[:, 1], arrows[:, 0]).lists()
        self._place = [0] * m
        for place, node in enumerate(first_topological_order(m, arrows)):
            self._place[node] = place

    def add(self, a: int, b: int) -> bool:
        """Add ``a -> b`` and return True, or return False if that would close a cycle."""
        start, end = self._group[a], self._group[b]
        if start == end:
            return False
        place = self._place
        if place[start] > place[end] and not self._make_room(start, end):
            return False
        self._children[start].append(end)
        self._parents[end].append(start)
        return True

    def _make_room(self, start: int, end: int) -> bool:
        """Move `start` and what leads to it before `end` and what follows from it."""
        place = self._place
        low, high = place[end], place[start]
        after = self._reach(end, self._children, low, high)
        if start in after:
            return False
        before = self._reach(start, self._parents, low, high)
        moved = sorted(before, key=place.__getitem__) + sorted(after, key=place.__getitem__)
        for node, spot in zip(moved, sorted(place[node] for node in moved), strict=True):
            place[node] = spot
        return True

    def _reach(self, node: int, along: list[list[int]], low: int, high: int) -> set[int]:
        """Return what `node` leads to without leaving the stretch from `low` to `high`."""
        place = self._place
        seen, todo = {node}, [node]
        while todo:
            for other in along[todo.pop()]:
                if low <= place[other] <= high and other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen
