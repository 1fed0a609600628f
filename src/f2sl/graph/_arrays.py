"""Edge lists as integer arrays: the shared, name-free ground of this package.

A graph's edges are the rows of an ``(m, 2)`` array of node numbers. Everything
here works on such arrays in time that grows with the edges, never with the
square of the nodes. A *pair* is an adjacency without its mark; its *key* is
``low * n + high``, one integer, so that pairs can be sorted and looked up.
"""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]


class Adjacency(NamedTuple):
    """Sorted child numbers of each node (compressed rows)."""

    start: IntArray
    target: IntArray

    def of(self, node: int) -> IntArray:
        """Return the targets of `node`, ascending."""
        return self.target[self.start[node] : self.start[node + 1]]

    def has(self, node: int, other: int) -> bool:
        """Return whether `node` points at `other`, by bisection."""
        row = self.of(node)
        at = int(np.searchsorted(row, other))
        return at < row.size and int(row[at]) == other

    def lists(self) -> list[list[int]]:
        """Return the rows as plain lists, which loops in Python read faster."""
        flat, ends = self.target.tolist(), self.start.tolist()
        return [flat[a:b] for a, b in pairwise(ends)]

    def sets(self) -> list[set[int]]:
        """Return the rows as sets."""
        flat, ends = self.target.tolist(), self.start.tolist()
        return [set(flat[a:b]) for a, b in pairwise(ends)]


def adjacency(n: int, source: IntArray, target: IntArray) -> Adjacency:
    """Gather the targets of each of `n` nodes.

    Examples
    --------
    >>> adjacency(3, np.array([2, 0, 2]), np.array([1, 1, 0])).lists()
    [[1], [], [0, 1]]
    """
    order = np.lexsort((target, source))
    start = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=n), out=start[1:])
    return Adjacency(start, target[order])


def both_ways(edges: IntArray) -> tuple[IntArray, IntArray]:
    """Return sources and targets of the edges read in both directions."""
    return np.concatenate((edges[:, 0], edges[:, 1])), np.concatenate((edges[:, 1], edges[:, 0]))


def pair_keys(n: int, edges: IntArray) -> IntArray:
    """Return one integer for each adjacency, the same for both directions.

    Examples
    --------
    >>> pair_keys(10, np.array([[2, 7], [7, 2]])).tolist()
    [27, 27]
    """
    keys: IntArray = edges.min(axis=1) * n + edges.max(axis=1) if edges.size else np.empty(0, dtype=np.int64)
    return keys


def first_topological_order(n: int, directed: IntArray) -> list[int]:
    """Order the nodes causes first, the smallest number first where there is a choice.

    Kahn (1962) with a heap. Nodes on a directed cycle, or behind one, are left
    out: the order is complete exactly when the arrows are acyclic.

    Examples
    --------
    >>> first_topological_order(4, np.array([[3, 0], [0, 1]]))
    [2, 3, 0, 1]
    >>> first_topological_order(3, np.array([[0, 1], [1, 0]]))
    [2]
    """
    if not len(directed):
        return list(range(n))
    children = adjacency(n, directed[:, 0], directed[:, 1]).lists()
    waiting = np.bincount(directed[:, 1], minlength=n).tolist()
    ready = [node for node in range(n) if not waiting[node]]
    order = []
    while ready:
        node = heapq.heappop(ready)
        order.append(node)
        for child in children[node]:
            waiting[child] -= 1
            if not waiting[child]:
                heapq.heappush(ready, child)
    return order


def find_cycle(n: int, directed: IntArray) -> list[int] | None:
    """Return the nodes of one directed cycle in the order of its arrows, or None.

    Examples
    --------
    >>> find_cycle(3, np.array([[0, 1], [1, 2], [2, 0]]))
    [0, 1, 2]
    """
    order = first_topological_order(n, directed)
    if len(order) == n:
        return None
    left = set(range(n)).difference(order)
    parents = adjacency(n, directed[:, 1], directed[:, 0])
    # Every node left has a parent that is left too, so walking up must come round.
    node = min(left)
    met: dict[int, int] = {}
    walk: list[int] = []
    while node not in met:
        met[node] = len(walk)
        walk.append(node)
        node = next(p for p in parents.of(node).tolist() if p in left)
    cycle = walk[met[node] :][::-1]
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]


def strong_components(n: int, directed: IntArray) -> IntArray:
    """Label the nodes so that two have the same label when each can reach the other."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(directed), dtype=np.int8)
    matrix = csr_matrix((ones, (directed[:, 0], directed[:, 1])), shape=(n, n))
    _, labels = connected_components(matrix, directed=True, connection="strong")
    return np.asarray(labels, dtype=np.int64)
