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
from typing import TYPE_CHECKING

import numpy as np

from f2sl.errors import GraphError
from f2sl.graph._arrays import IntArray, adjacency, both_ways
from f2sl.graph.cycle_guard import CycleGuard
from f2sl.graph.extension import directed_by
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
    directed, undirected = rank[pdag.directed_array], np.sort(rank[pdag.undirected_array], axis=1)
    marks = _Marks(n, directed, undirected)
    by_name = np.argsort(rank)
    guard = CycleGuard(n, directed, pdag.n_edges)
    # Every undirected edge is in exactly one of two places: on a heap of edges to look at, or laid aside, at
    # both its ends, because no rule applied when it was last looked at and nothing has changed around it
    # since. At a node with many edges most are still on the heap while one after another is oriented. What is
    # woken is looked for only among those laid aside, so the time does not grow with the square of a node's
    # edges. (A sorted list is a heap.)
    waiting = [(a, b) for a, b in undirected[np.lexsort((undirected[:, 1], undirected[:, 0]))].tolist()]
    aside: defaultdict[int, set[int]] = defaultdict(set)
    while waiting:
        a, b = heapq.heappop(waiting)
        for x, y in ((a, b), (b, a)):
            rule = marks.follows(x, y)
            if rule and guard.add(x, y):
                if applied is not None:
                    applied[pdag.nodes[by_name[x]], pdag.nodes[by_name[y]]] = rule
                # Around y the arrow counts as p -> a, or as the last arrow of rules 2, 3, 4.
                for p, q in [*((y, other) for other in aside[y]), *marks.orient(x, y)]:
                    if q in aside[p]:
                        aside[p].discard(q)
                        aside[q].discard(p)
                        heapq.heappush(waiting, (p, q) if p < q else (q, p))
                break
        else:
            aside[a].add(b)
            aside[b].add(a)
    arrows = [(a, b) for a, others in enumerate(marks.children) for b in others]
    lines = [(a, b) for a, others in enumerate(marks.neighbors) for b in others if a < b]
    return pdag._remarked(
        by_name[np.array(arrows, dtype=np.int64).reshape(-1, 2)],
        by_name[np.array(lines, dtype=np.int64).reshape(-1, 2)],
    )


def narrowed(cpdag: PDAG, knowledge: Knowledge) -> PDAG:
    """Return the graph of the DAGs in a class that obey the knowledge.

    Edges with one allowed direction get it; Meek's four rules then orient all that follows.

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

    def orient(self, x: int, y: int) -> list[tuple[int, int]]:
        """Orient ``x - y``; return the undirected edges, other than those of y, that this may orient."""
        self.neighbors[x].discard(y)
        self.neighbors[y].discard(x)
        self.children[x].add(y)
        self.parents[y].add(x)
        # Where ``x -> y`` is not the last arrow of a pattern, another one leads on from y.
        ahead = self.children[y]
        if not ahead:
            return []
        as_rule_2 = [(x, other) for other in self.neighbors[x] & ahead]  # as a -> c
        as_rule_4 = [  # as d -> c
            (a, b) for a in self.neighbors[x] & self.neighbors[y] for b in self.neighbors[a] & ahead
        ]
        return as_rule_2 + as_rule_4
