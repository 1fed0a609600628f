"""Edge lists as integer arrays: the shared, name-free ground of this package.

A graph's edges are the rows of an ``(m, 2)`` array of node numbers. Everything
here works on such arrays in time that grows with the edges, never with the
square of the nodes. A *pair* is an adjacency without its mark; its *key* is
``low * n + high``, one integer, so that pairs can be sorted and looked up.

The checks of a graph's nodes and edges are here, too. They are made once, when a graph is made: names are
distinct non-empty strings, edges join two different known nodes, and two nodes are joined at most once. Every
error names the edge.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from f2sl.errors import GraphError, unknown_name

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


def strong_components(n: int, directed: IntArray) -> IntArray:
    """Label the nodes so that two have the same label when each can reach the other."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(directed), dtype=np.int8)
    matrix = csr_matrix((ones, (directed[:, 0], directed[:, 1])), shape=(n, n))
    _, labels = connected_components(matrix, directed=True, connection="strong")
    return np.asarray(labels, dtype=np.int64)


def checked_nodes(nodes: Sequence[str]) -> tuple[str, ...]:
    """Return the names as a tuple of plain strings; raise an error for one that is not a name."""
    if isinstance(nodes, str):
        raise GraphError(f"nodes must be a sequence of names, not the one string {nodes!r}")
    names = tuple(nodes)
    if {*map(type, names)} <= {str} and "" not in names and len(set(names)) == len(names):
        return names
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise GraphError(f"node {position} is {name!r}, a {type(name).__name__}; names must be strings")
        if not name:
            raise GraphError(f"node {position} has an empty name")
    if len(set(names)) != len(names):
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise GraphError(f"two nodes have the same name {name!r}")
            seen.add(name)
    return tuple(map(str, names))


def numbered_edges(edges: Iterable[tuple[str, str]], index: Mapping[str, int], which: str) -> IntArray:
    """Turn edges between names into rows of node numbers."""
    rows = []
    for edge in edges:
        if isinstance(edge, str) or len(edge) != 2:
            raise GraphError(f"{edge!r} is not an edge; an edge is a pair of names")
        for name in edge:
            if not isinstance(name, str) or name not in index:
                raise GraphError(f"{which} edge {tuple(edge)!r}: {unknown_name('node', name, index)}")
        rows.append((index[edge[0]], index[edge[1]]))
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def edge_rows(edges: ArrayLike | None, n: int, which: str) -> IntArray:
    """Return `edges` as an ``(m, 2)`` array of valid node numbers."""
    given: np.ndarray[Any, Any] = np.asarray(() if edges is None else edges)
    if given.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2:
        raise GraphError(f"{which} edges must be an array of shape (m, 2), not {given.shape}")
    if given.dtype.kind not in "iu":
        raise GraphError(f"{which} edges must be integers, the numbers of the nodes, not {given.dtype}")
    outside = ((given < 0) | (given >= n)).any(axis=1)
    if outside.any():
        row = int(outside.argmax())
        raise GraphError(f"{which} edge {row} is {tuple(given[row].tolist())}, but there are {n} nodes")
    return given.astype(np.int64)


def check_simple(nodes: tuple[str, ...], directed: IntArray, undirected: IntArray) -> None:
    """Raise an error for loops and nodes that are joined more than once."""
    every = np.concatenate((directed, undirected))
    loops = every[:, 0] == every[:, 1]
    if loops.any():
        name = nodes[int(every[int(loops.argmax()), 0])]
        raise GraphError(f"edge from {name!r} to itself")
    keys = pair_keys(len(nodes), every)
    order = np.argsort(keys, kind="stable")
    again = keys[order][1:] == keys[order][:-1]
    if not again.any():
        return
    at = int(again.argmax())
    first, second = int(order[at]), int(order[at + 1])
    a, b = (nodes[i] for i in every[first].tolist())
    if second < len(directed):
        same = bool((every[first] == every[second]).all())
        raise GraphError(
            f"edge {a!r} -> {b!r} is given twice"
            if same
            else f"edge between {a!r} and {b!r} is directed both ways; give it once, as undirected"
        )
    if first >= len(directed):
        raise GraphError(f"edge {a!r} - {b!r} is given twice")
    raise GraphError(f"edge between {a!r} and {b!r} is both directed and undirected")


def edge_weights(weights: ArrayLike | None, m: int, which: str) -> FloatArray | None:
    """Return one weight for each edge, NaN for edges without one; None if no edge has a weight."""
    if weights is None:
        return None
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (m,):
        raise GraphError(f"weights of the {which} edges must have shape ({m},), not {given.shape}")
    if np.isinf(given).any():
        raise GraphError(f"the weight of {which} edge {int(np.isinf(given).argmax())} is infinite")
    return None if np.isnan(given).all() else given + 0.0  # a copy, with -0.0 made 0.0


def matched_weights(
    weights: Mapping[tuple[str, str], float] | None,
    directed: Sequence[tuple[str, str]],
    undirected: Sequence[tuple[str, str]],
) -> tuple[list[float] | None, list[float] | None]:
    """Return the weight of each edge from a mapping by names, NaN where it has none."""
    if weights is None:
        return None, None
    slot = {edge: (0, i) for i, edge in enumerate(directed)}
    for i, (a, b) in enumerate(undirected):
        slot[a, b] = slot[b, a] = (1, i)
    found = ([float("nan")] * len(directed), [float("nan")] * len(undirected))
    for edge, weight in weights.items():
        if edge not in slot:
            raise GraphError(f"weight given for {edge!r}, which is not an edge of the graph")
        side, i = slot[edge]
        if found[side][i] == found[side][i]:
            raise GraphError(f"weight of the undirected edge {edge!r} is given twice")
        if not isinstance(weight, (int, float, np.number)) or not np.isfinite(weight):
            raise GraphError(f"weight of edge {edge!r} is {weight!r}; it must be a finite number")
        found[side][i] = float(weight)
    return found
