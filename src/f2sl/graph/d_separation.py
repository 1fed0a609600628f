"""d-separation: the independences that a DAG implies.

A path between two nodes is *blocked* by a set of observed nodes when it contains

- a *chain* ``a -> m -> b`` or a *fork* ``a <- m -> b`` whose middle is observed, or
- a *collider* ``a -> m <- b`` where neither the middle nor any of its descendants is observed.

Two sets of nodes are *d-separated* when every path between them is blocked; they are
then independent given the observed nodes in every distribution that the DAG describes.

The search follows the paths outward from one side and visits each node at most once from a child and once
from a parent, so its time is proportional to the edges it meets [1]_.

Examples
--------
>>> fork = DSeparation(parents=[[], [0], [0]], children=[[1, 2], [], []])
>>> fork.separated({1}, {2}, set())
False
>>> fork.separated({1}, {2}, {0})
True

References
----------
.. [1] R. D. Shachter. Bayes-ball: the rational pastime. UAI 1998.
.. [2] D. Koller, N. Friedman. Probabilistic Graphical Models. 2009, Algorithm 3.1.
"""

from __future__ import annotations

from collections.abc import Collection, Set


class DSeparation:
    """Answers questions of d-separation on one DAG over the nodes 0, 1, ...

    Parameters
    ----------
    parents, children
        For each node the nodes that point at it, and those it points at.
    """

    def __init__(self, parents: list[list[int]], children: list[list[int]]) -> None:
        self._parents = parents
        self._children = children

    def separated(self, x: Set[int], y: Set[int], given: Set[int]) -> bool:
        """Return whether `given` blocks every path between `x` and `y`; all disjoint."""
        return y.isdisjoint(self._search(x, given, y))

    def connected(self, x: Set[int], given: Set[int]) -> set[int]:
        """Return all nodes that some path not blocked by `given` joins to `x`.

        Examples
        --------
        >>> collider = DSeparation(parents=[[], [], [0, 1]], children=[[2], [2], []])
        >>> collider.connected({0}, set())
        {2}
        """
        return self._search(x, given, ())

    def _search(self, x: Set[int], given: Set[int], stop_at: Collection[int]) -> set[int]:
        """Return the nodes reached; stop at the first node in `stop_at` and return only that one."""
        opened = self._with_ancestors(given)
        # True: came from a child (or starts here); False: came from a parent.
        todo = [(node, True) for node in x]
        seen = set(todo)
        reached: set[int] = set()
        while todo:
            node, from_child = todo.pop()
            if node not in given and node not in x:
                if node in stop_at:
                    return {node}
                reached.add(node)
            steps: list[tuple[int, bool]] = []
            if node not in given:
                steps += [(child, False) for child in self._children[node]]
            if node not in given if from_child else node in opened:
                steps += [(parent, True) for parent in self._parents[node]]
            for step in steps:
                if step not in seen:
                    seen.add(step)
                    todo.append(step)
        return reached

    def _with_ancestors(self, nodes: Set[int]) -> set[int]:
        """Return `nodes` and all their ancestors: the colliders that are open."""
        found, todo = set(nodes), list(nodes)
        while todo:
            for parent in self._parents[todo.pop()]:
                if parent not in found:
                    found.add(parent)
                    todo.append(parent)
        return found
