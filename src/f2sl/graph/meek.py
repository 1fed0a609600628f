"""Orient the edges that follow from the arrows of a graph by Meek's rules.

Assume that a PDAG has all v-structures of the DAGs it stands for. Then an undirected edge ``a - b`` must be
``a -> b`` in every consistent extension when ``b -> a`` would make a new v-structure
or a directed cycle. Meek [1]_ found the four patterns in which this happens
(``x / y`` says that `x` and `y` are not adjacent):

1. ``p -> a``, with ``p / b``.
2. ``a -> c -> b``.
3. ``a - c -> b`` and ``a - d -> b``, with ``c / d``.
4. ``a - d -> c -> b`` and ``a - c``, with ``d / b``.

The first three complete a skeleton with its v-structures to the CPDAG; the fourth is
needed when other arrows are known as well.

A graph learned from data may contradict itself, and then the order of the rules matters. Here the undirected
edges wait in a list sorted by their two names; the first is removed from the list and oriented if a rule says
so, and the edges this could affect are put back. If rules imply both directions, the one from the first name
to the second is tried first. An orientation that would close a directed cycle is never made: if no other is
possible, the edge stays undirected. So the rules always end, add no directed cycle, and depend on the names
only, not on the order of columns.

References
----------
.. [1] C. Meek. Causal inference and causal explanation with background knowledge.
   UAI 1995.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from f2sl.errors import GraphError
from f2sl.graph._arrays import IntArray, adjacency, both_ways
from f2sl.graph.cycle_guard import CycleGuard
from f2sl.graph.extension import directed_by, extension_order
from f2sl.graph.pdag import PDAG

if TYPE_CHECKING:
    from f2sl.knowledge import Knowledge


def apply_meek_rules(pdag: PDAG, applied: dict[tuple[str, str], int] | None = None) -> PDAG:
    """Orient the edges that follow from the arrows of `pdag` by Meek's rules 1 to 4.

    Parameters
    ----------
    pdag
        Any PDAG; if it has a consistent extension, the result is the usual closure under the rules.
    applied
        Dictionary that receives, by arrow, the number of the rule that made it.

    Returns
    -------
    PDAG
        The same adjacencies and weights with every arrowhead of `pdag`, and more.

    Examples
    --------
    >>> graph = PDAG(["a", "b", "c", "d"], [("a", "c"), ("b", "c")], [("c", "d")])
    >>> apply_meek_rules(graph).directed_edges
    [('a', 'c'), ('b', 'c'), ('c', 'd')]
    """
    # Nodes are numbered by name from here on, so that the order of pairs of numbers is that of names.
    rank, n = pdag._rank, pdag.n_nodes
    marks = _Marks(n, rank[pdag.directed_array], rank[pdag.undirected_array])
    by_name = np.argsort(rank)
    # What the rules orient holds in every consistent extension. So if there is one, no
    # cycle can arise, and none needs to be checked for.
    _, consistent = extension_order(pdag)
    guard = None if consistent else CycleGuard(n, rank[pdag.directed_array], pdag.n_edges)
    # Every undirected edge is in exactly one of two places: on the list, or laid aside because no rule
    # applied when it was last looked at and nothing has changed around it since.
    waiting = _Waiting(rank[pdag.undirected_array])
    while waiting.edges:
        a, b = heapq.heappop(waiting.edges)
        for x, y in ((a, b), (b, a)):
            rule = marks.follows(x, y)
            if rule and (guard is None or guard.add(x, y)):
                if applied is not None:
                    applied[pdag.nodes[by_name[x]], pdag.nodes[by_name[y]]] = rule
                marks.orient(x, y)
                waiting.wake_around(y)  # as p -> a, or as the last arrow of rules 2, 3, 4
                for p, q in marks.affected(x, y):
                    waiting.wake(p, q)
                break
        else:
            waiting.aside[a].add(b)
            waiting.aside[b].add(a)
    directed, undirected = marks.edges()
    return pdag._remarked(by_name[directed], by_name[undirected])


def narrowed(cpdag: PDAG, knowledge: Knowledge) -> PDAG:
    """Return the graph of the DAGs in a class that obey the knowledge.

    Links with one allowed direction get it; Meek's four rules then orient all that follows.

    Examples
    --------
    >>> from f2sl import Knowledge
    >>> chain = PDAG(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
    >>> narrowed(chain, Knowledge(required=[("a", "b"), ("c", "b")]))
    Traceback (most recent call last):
        ...
    f2sl.errors.GraphError: no DAG of this class obeys the knowledge: it makes the v-structure 'a' -> 'b' <- 'c'
    """  # noqa: E501
    graph = apply_meek_rules(directed_by(knowledge, cpdag))
    against = knowledge.check(graph)
    new = sorted(set(graph.v_structures()) - set(cpdag.v_structures()))
    against += [f"it makes the v-structure {a!r} -> {c!r} <- {b!r}" for a, c, b in new]
    if graph.has_directed_cycle():
        against.append("it makes a cycle")
    if against:
        raise GraphError(f"no DAG of this class obeys the knowledge: {'; '.join(against)}")
    graph.knowledge = knowledge
    return graph


class _Waiting:
    """Undirected edges: a heap of edges to check, and edges set aside until a neighbor changes.

    At a node with many edges most are still on the heap while one after another is oriented. Waking looks
    only at the edges set aside, so the time does not grow with the square of a node's edges.
    """

    def __init__(self, undirected: IntArray) -> None:
        # A sorted list is a heap. Each edge is a pair with the smaller node first.
        edges = np.sort(undirected, axis=1)
        ordered = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
        self.edges: list[tuple[int, int]] = [(a, b) for a, b in ordered.tolist()]
        self.aside: defaultdict[int, set[int]] = defaultdict(set)

    def wake(self, a: int, b: int) -> None:
        """Put ``a - b`` back on the heap if it was set aside."""
        if b in self.aside[a]:
            self.aside[a].discard(b)
            self.aside[b].discard(a)
            heapq.heappush(self.edges, (a, b) if a < b else (b, a))

    def wake_around(self, node: int) -> None:
        """Put all edges of `node` that were set aside back on the heap."""
        # A copy, because waking changes the set.
        for other in list(self.aside[node]):
            self.wake(node, other)


class _Marks:
    """Edges of a graph while they are oriented, as sets for each node; nodes are numbered by name.

    `parents`, `children` and `neighbors` (undirected) partition `adjacent`, which does not change.
    """

    def __init__(self, n: int, directed: IntArray, undirected: IntArray) -> None:
        self.parents = adjacency(n, directed[:, 1], directed[:, 0]).sets()
        self.children = adjacency(n, directed[:, 0], directed[:, 1]).sets()
        self.neighbors = adjacency(n, *both_ways(undirected)).sets()
        self.adjacent = adjacency(n, *both_ways(np.concatenate((directed, undirected)))).sets()

    def follows(self, a: int, b: int) -> int:
        """Return the number of the first rule that turns ``a - b`` into ``a -> b``, or 0."""
        if not self.parents[a] <= self.adjacent[b]:
            return 1
        if not self.children[a].isdisjoint(self.parents[b]):
            return 2
        between = self.neighbors[a] & self.parents[b]  # all c with a - c -> b
        for c in between:
            # c is in `between`, but not adjacent to itself.
            if len(between & self.adjacent[c]) < len(between) - 1:
                return 3
            if not self.neighbors[a] & self.parents[c] <= self.adjacent[b]:
                return 4
        return 0

    def orient(self, a: int, b: int) -> None:
        """Orient ``a - b`` as ``a -> b``."""
        self.neighbors[a].discard(b)
        self.neighbors[b].discard(a)
        self.children[a].add(b)
        self.parents[b].add(a)

    def affected(self, x: int, y: int) -> Iterator[tuple[int, int]]:
        """Yield the undirected edges, other than those of y, that the new arrow ``x -> y`` may orient."""
        # Where ``x -> y`` is not the last arrow of a pattern, another one leads on from y.
        if not self.children[y]:
            return
        for other in self.neighbors[x] & self.children[y]:  # as a -> c in rule 2
            yield x, other
        for a in self.neighbors[x] & self.neighbors[y]:  # as d -> c in rule 4
            for b in self.neighbors[a] & self.children[y]:
                yield a, b

    def edges(self) -> tuple[IntArray, IntArray]:
        """Return the directed and the undirected edges as arrays."""
        arrows = [(a, b) for a, others in enumerate(self.children) for b in others]
        lines = [(a, b) for a, others in enumerate(self.neighbors) for b in others if a < b]
        return (
            np.array(arrows, dtype=np.int64).reshape(-1, 2),
            np.array(lines, dtype=np.int64).reshape(-1, 2),
        )
