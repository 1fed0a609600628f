"""Consistent extensions: from a PDAG to a DAG.

A *consistent extension* of a PDAG is a DAG with the same skeleton that keeps every arrowhead and has no
v-structure that the PDAG did not have. Dor and Tarsi [1]_ build one from the end: find a node that may come
last, direct its edges towards it, remove it, and continue with the rest. A node may come last when no arrow
leaves it and when giving arrowheads to its undirected edges makes no new v-structure, that is, when each of
its undirected neighbors is adjacent to all its other adjacent nodes. If several nodes may come last, the last
by name is taken, so that an edge that nothing else decides points from the earlier name to the later. If at
some point no node may come last, there is no consistent extension.

Learned graphs often have none. Then the DAG follows from these two rules:

1. If the arrows have directed cycles, a small set of them is reversed; otherwise every arrowhead is kept.
2. When no node may come last, take among the nodes that no arrow leaves the one that makes the fewest new
   v-structures; among equals, the last by name.

One loop implements both: each node has a count of the v-structures it would make if it came last now, and a
node with the smallest count is taken; zero is Dor and Tarsi's condition. When a node is removed, the counts
are updated through its triangles, so the time grows with the edges and triangles of the graph.

A *feedback arc set* is a set of arrows with at least one from every directed cycle. Reversing a smallest such
set makes a graph acyclic with the fewest changes, but finding one is hard in general [2]_. Cycles live inside
the *strongly connected components* (each node can reach every other), so each component is treated
separately: a component of up to eight nodes by the best of all orders, a larger one by the greedy order of
Eades, Lin and Smyth [3]_: sinks to the back, sources to the front, and when there are neither, the node with
the most arrows out less arrows in to the front. Equal choices go to the smaller node number, and callers
number nodes by name.

A graph that was learned with knowledge about its edges stores it, and its extension obeys it: undirected
edges with only one allowed direction get that direction first.

References
----------
.. [1] D. Dor, M. Tarsi. A simple algorithm to construct a consistent extension of a
   partially oriented graph. Technical report R-185, UCLA, 1992.
.. [2] R. M. Karp. Reducibility among combinatorial problems. 1972.
.. [3] P. Eades, X. Lin, W. F. Smyth. A fast and effective heuristic for the feedback
   arc set problem. Information Processing Letters 47, 1993.
"""

from __future__ import annotations

import heapq
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from f2sl.errors import GraphError
from f2sl.graph._arrays import IntArray, adjacency, both_ways, first_topological_order, strong_components
from f2sl.graph.dag import DAG
from f2sl.graph.pdag import PDAG

if TYPE_CHECKING:
    from f2sl.knowledge import Knowledge


def consistent_extension(pdag: PDAG) -> DAG:
    """Return a DAG that extends `pdag`, consistently where that is possible.

    Parameters
    ----------
    pdag
        Any PDAG, even one with directed cycles. If it has `knowledge`, the DAG obeys it.

    Returns
    -------
    DAG
        Over the same nodes and adjacencies, with the weights. Its attribute
        ``is_consistent_extension`` says whether it is one, and ``arrowheads_lost`` how
        many arrowheads were reversed. The order of the nodes has no effect.

    Raises
    ------
    GraphError
        If the knowledge contradicts the arrows, or directs the edges into a cycle.

    Examples
    --------
    >>> chain = PDAG(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    >>> consistent_extension(chain).directed_edges
    [('a', 'b'), ('b', 'c')]
    >>> square = PDAG(["a", "b", "c", "d"], undirected=[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    >>> consistent_extension(square).is_consistent_extension
    False
    """
    origin, knowledge = pdag, pdag.knowledge
    pdag = directed_by(knowledge, pdag) if knowledge else pdag
    index, consistent = extension_order(pdag)
    rows = np.concatenate((pdag.directed_array, pdag.undirected_array))
    backwards = index[rows[:, 0]] > index[rows[:, 1]]
    directed = np.where(backwards[:, None], rows[:, ::-1], rows)
    dag = DAG.from_arrays(pdag.nodes, directed, weights_directed=pdag._weights_of(directed))
    dag.is_consistent_extension = consistent
    dag._learned_like(origin)
    dag.arrowheads_lost = int(backwards[: len(pdag.directed_array)].sum())
    against = knowledge.check(dag) if knowledge else []
    if against:
        message = "; ".join(against)
        raise GraphError(f"no DAG with these edges obeys the graph's knowledge: {message}")
    return dag


def directed_by(knowledge: Knowledge, pdag: PDAG) -> PDAG:
    """Direct the undirected edges for which the knowledge allows only one direction.

    Examples
    --------
    >>> from f2sl import Knowledge
    >>> directed_by(Knowledge(roots=["b"]), PDAG(["a", "b"], undirected=[("a", "b")])).directed_edges
    [('b', 'a')]
    """
    rules, lines = knowledge.constraints(pdag.nodes), pdag.undirected_array
    forward, back = rules.allows(*lines.T), rules.allows(*lines.T[::-1])
    forced = np.concatenate((lines[forward & ~back], lines[back & ~forward][:, ::-1]))
    graph = pdag._remarked(np.concatenate((pdag.directed_array, forced)), lines[forward == back])
    graph.read_as = pdag.read_as
    return graph


def extension_order(pdag: PDAG) -> tuple[IntArray, bool]:
    """Return each node's position in the order of the extension, and whether the extension is consistent."""
    rank, n = pdag._rank, pdag.n_nodes
    given, undirected = rank[pdag.directed_array], rank[pdag.undirected_array]
    directed = without_cycles(n, given)
    index, made = _last_first(n, directed, undirected)
    return index[rank], made == 0 and bool((directed == given).all())


def _last_first(n: int, directed: IntArray, undirected: IntArray) -> tuple[IntArray, int]:
    """Return the place of each node, filled from the last, and the v-structures made."""
    adjacent = adjacency(n, *both_ways(np.concatenate((directed, undirected)))).sets()
    neighbors = adjacency(n, *both_ways(undirected)).sets()
    children = np.bincount(directed[:, 0], minlength=n).tolist()
    degree = [len(others) for others in adjacent]
    lines = [len(others) for others in neighbors]
    shielded = _shielded_pairs(adjacent, neighbors)

    def would_make(node: int) -> int:
        """Count pairs around `node`, one of them a neighbor, that are not adjacent."""
        k = lines[node]
        return k * (k - 1) // 2 + k * (degree[node] - k) - shielded[node]

    # The last by name comes first out of the heap.
    heap = [(would_make(node), -node) for node in range(n) if not children[node]]
    heapq.heapify(heap)
    left = bytearray(b"\x01") * n
    index = np.zeros(n, dtype=np.int64)
    last, made = n, 0
    while heap:
        cost, node = heapq.heappop(heap)
        node = -node
        if not left[node] or cost != would_make(node):
            continue  # outdated: it was entered again when it changed
        made += cost
        last -= 1
        index[node] = last
        left[node] = False
        for other in adjacent[node]:
            if not left[other]:
                continue
            line = other in neighbors[node]
            around = neighbors[other]
            for third in adjacent[node] & adjacent[other]:
                if left[third] and (line or third in around):
                    shielded[other] -= 1
            degree[other] -= 1
            if line:
                lines[other] -= 1
            else:
                children[other] -= 1
            if not children[other]:
                heapq.heappush(heap, (would_make(other), -other))
    return index, made


def _shielded_pairs(adjacent: list[set[int]], neighbors: list[set[int]]) -> list[int]:
    """Count for each node the adjacent pairs around it that include a neighbor.

    Each triangle is met once, at its edge between the two smallest numbers.
    """
    count = [0] * len(adjacent)
    for a, around in enumerate(adjacent):
        for b in around:
            if b < a:
                continue
            for c in around & adjacent[b]:
                if c < b:
                    continue
                ab, ac, bc = b in neighbors[a], c in neighbors[a], c in neighbors[b]
                count[a] += ab or ac
                count[b] += ab or bc
                count[c] += ac or bc
    return count


EXACT_UP_TO = 8


def without_cycles(n: int, directed: IntArray) -> IntArray:
    """Return the arrows without directed cycles, some of them reversed.

    Examples
    --------
    >>> without_cycles(3, np.array([[0, 1], [1, 2], [2, 0]])).tolist()
    [[0, 1], [1, 2], [0, 2]]
    """
    if len(first_topological_order(n, directed)) == n:
        return directed
    component = strong_components(n, directed)
    inside = component[directed[:, 0]] == component[directed[:, 1]]
    members: dict[int, set[int]] = {}
    arrows: dict[int, list[tuple[int, int]]] = {}
    for a, b in directed[inside].tolist():
        label = int(component[a])
        members.setdefault(label, set()).update((a, b))
        arrows.setdefault(label, []).append((a, b))
    index = np.zeros(n, dtype=np.int64)
    for label, nodes in members.items():
        arrange = _best_order if len(nodes) <= EXACT_UP_TO else _greedy_order
        for position, node in enumerate(arrange(sorted(nodes), arrows[label])):
            index[node] = position
    turned = inside & (index[directed[:, 0]] > index[directed[:, 1]])
    return np.where(turned[:, None], directed[:, ::-1], directed)


def _best_order(nodes: list[int], arrows: list[tuple[int, int]]) -> list[int]:
    """Return the order with the fewest arrows pointing back, the first such by number.

    Dynamic programming over the set of nodes placed so far.
    """
    index = {node: i for i, node in enumerate(nodes)}
    into = [0] * len(nodes)  # the parents of each node, as bits
    for a, b in arrows:
        into[index[b]] |= 1 << index[a]

    @cache
    def best(placed: int) -> tuple[int, tuple[int, ...]]:
        """Return how many arrows the best order of the rest turns, and that order."""
        found = []
        for i in range(len(nodes)):
            if not placed >> i & 1:
                turned, order = best(placed | 1 << i)
                found.append(((into[i] & ~placed).bit_count() + turned, (i, *order)))
        return min(found, default=(0, ()))

    return [nodes[i] for i in best(0)[1]]


def _greedy_order(nodes: list[int], arrows: list[tuple[int, int]]) -> list[int]:
    """Return the order of Eades, Lin and Smyth."""
    children: dict[int, list[int]] = {node: [] for node in nodes}
    parents: dict[int, list[int]] = {node: [] for node in nodes}
    for a, b in arrows:
        children[a].append(b)
        parents[b].append(a)
    out = {node: len(children[node]) for node in nodes}
    into = {node: len(parents[node]) for node in nodes}

    def urgency(node: int) -> tuple[int, int, int]:
        rank = 0 if not out[node] else 1 if not into[node] else 2
        return rank, into[node] - out[node], node

    heap = [urgency(node) for node in nodes]
    heapq.heapify(heap)
    left = set(nodes)
    front: list[int] = []
    back: list[int] = []
    while heap:
        entry = heapq.heappop(heap)
        node = entry[2]
        if node not in left or entry != urgency(node):
            continue  # outdated: it was entered again when it changed
        left.remove(node)
        (back if entry[0] == 0 else front).append(node)
        for others, degree in ((children[node], into), (parents[node], out)):
            for other in others:
                if other in left:
                    degree[other] -= 1
                    heapq.heappush(heap, urgency(other))
    return front + back[::-1]
