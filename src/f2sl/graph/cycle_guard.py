"""Check for one arrow after another whether it would close a directed cycle.

Searching the whole graph for every new arrow is too slow for large graphs. After Bender, Fineman, Gilbert and
Tarjan [1]_, each node has a *level*, such that no arrow leads to a lower level. A new arrow ``v -> w`` that
leads to a higher level closes no cycle. For any other, search backward from `v` along the arrows within its
level and forward from `w` along the arrows up to that level, in alternation. If the two searches meet, there
is a cycle; if one of them ends first, there is none. In that case the nodes that `w` leads to are lifted to
the level of `v`, or to the next one if the backward search met many arrows (about the square root of their
number). So nodes move to a new level only if many arrows lie behind them, which keeps levels few and lifting
rare.

References
----------
.. [1] M. A. Bender, J. T. Fineman, S. Gilbert, R. E. Tarjan. A new approach to
   incremental cycle detection and related problems. ACM Transactions on Algorithms 12,
   2015, section 2.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from f2sl.graph._arrays import IntArray, adjacency, first_topological_order, strong_components


class CycleGuard:
    """Accepts arrows one by one and rejects those that would close a directed cycle.

    Parameters
    ----------
    n
        The number of nodes.
    directed
        The arrows to begin with. They may already form cycles; nodes on a common cycle
        then count as one.
    n_edges
        Largest number of arrows.

    Examples
    --------
    >>> guard = CycleGuard(3, np.array([[0, 1]]), n_edges=3)
    >>> guard.add(1, 2), guard.add(2, 0)
    (True, False)
    """

    def __init__(self, n: int, directed: IntArray, n_edges: int) -> None:
        group, arrows, m = np.arange(n), directed, n
        if len(first_topological_order(n, directed)) < n:
            group = strong_components(n, directed)
            arrows = np.unique(group[directed], axis=0)
            arrows = arrows[arrows[:, 0] != arrows[:, 1]]
            m = int(group.max()) + 1
        self._group: list[int] = group.tolist()
        self._children = adjacency(m, arrows[:, 0], arrows[:, 1]).lists()
        self._level = [0] * m
        # The parents of each node that are on its own level.
        self._beside = adjacency(m, arrows[:, 1], arrows[:, 0]).lists()
        # Several times the root was mostly slower on random graphs; the quarter is not finely tuned.
        self._steps = isqrt(n_edges) // 4 + 1
        self._refused: set[tuple[int, int]] = set()

    def add(self, a: int, b: int) -> bool:
        """Add ``a -> b`` and return True, or return False if that would close a cycle."""
        if not self.fits(a, b):
            return False
        v, w = self._group[a], self._group[b]
        self._children[v].append(w)
        if self._level[v] == self._level[w]:
            self._beside[w].append(v)
        return True

    def fits(self, a: int, b: int) -> bool:
        """Return whether ``a -> b`` would close no cycle, without adding it."""
        v, w = self._group[a], self._group[b]
        if (v, w) in self._refused:
            return False
        if self._level[v] >= self._level[w] and not self._make_room(v, w):
            self._refused.add((v, w))  # for good: arrows are never taken away
            return False
        return True

    def _make_room(self, v: int, w: int) -> bool:
        """Search from both ends in turn; lift the nodes that `w` leads to, or return False if one is `v`."""
        level, top = self._level, self._level[v]
        if v == w:
            return False
        behind, ahead = {v}, {w}
        back, forth = [v], [w]
        steps_back = steps_forth = 0
        while forth:
            if back and steps_back <= steps_forth:
                node = back.pop()
                steps_back += len(self._beside[node]) + 1
                for parent in self._beside[node]:
                    if parent in ahead:
                        return False
                    if parent not in behind:
                        behind.add(parent)
                        back.append(parent)
                if not back and level[w] == top:
                    return True  # a way from w to v would have been within this level
            else:
                node = forth.pop()
                steps_forth += len(self._children[node]) + 1
                for child in self._children[node]:
                    if child in behind:
                        return False
                    if child not in ahead and level[child] <= top:
                        ahead.add(child)
                        forth.append(child)
        # Lift what is ahead: it contains all nodes below the new level that it leads to.
        to = top if steps_back <= self._steps else top + 1
        lifted = [node for node in ahead if level[node] < to]
        for node in lifted:
            level[node], self._beside[node] = to, []
        for node in lifted:
            for child in self._children[node]:
                if level[child] == to:
                    self._beside[child].append(node)
        return True
