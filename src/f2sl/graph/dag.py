"""Directed acyclic graphs, the structures of Bayesian networks.

In a *DAG* every edge is directed and no path of arrows leads back to its start. The *descendants* of a node
are the nodes that can be reached from it along the arrows; its *ancestors* are the nodes that it can be
reached from. A *topological order* lists every node after its parents. The *Markov blanket* of a node, its
parents, its children and the other parents of its children, separates it from all other nodes.

**d-separation.** A path between two nodes is *blocked* by a set of observed nodes when it contains

- a *chain* ``a -> m -> b`` or a *fork* ``a <- m -> b`` whose middle is observed, or
- a *collider* ``a -> m <- b`` where neither the middle nor any of its descendants is observed.

Two sets of nodes are *d-separated* when every path between them is blocked; they are then independent given
the observed nodes in every distribution that the DAG describes. The search follows the paths outward from one
side and visits each node at most once from a child and once from a parent, so its time is proportional to the
edges it meets [1]_.

**Equivalence.** DAGs with the same skeleton and v-structures cannot be told apart by independences. An arrow
that points the same way in all of them is *compelled*; one that some of them reverse is *reversible*. The
*CPDAG* draws the compelled ones directed and the reversible ones undirected. Chickering [2]_ labels the
arrows in one pass over the nodes in topological order; the latest parent of a node decides for all arrows
into it.

References
----------
.. [1] R. D. Shachter. Bayes-ball: the rational pastime. UAI 1998.
   D. Koller, N. Friedman. Probabilistic Graphical Models. 2009, Algorithm 3.1.
.. [2] D. M. Chickering. A transformational characterization of equivalent Bayesian
   network structures. UAI 1995.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from f2sl._extensions import imported
from f2sl.constraints import find_cycle
from f2sl.errors import GraphError, unknown_name
from f2sl.graph._arrays import Adjacency, IntArray, adjacency, first_topological_order
from f2sl.graph.pdag import PDAG


class DAG(PDAG):
    """Directed acyclic graph over named nodes; immutable.

    Parameters
    ----------
    nodes
        The names, distinct and not empty. Their order is kept.
    directed
        Pairs ``(a, b)`` for ``a -> b``.
    weights
        Strengths of edges, by pair; edges may be left out.

    Attributes
    ----------
    is_consistent_extension : bool
        False when this DAG was made from a PDAG that admits no consistent extension.
    arrowheads_lost : int
        Number of arrowheads of that PDAG that were reversed.
    pdag : PDAG or None
        The graph that this DAG was made from by `to_dag`; JSON files keep it.
    by_score : bool
        True if a learner found this DAG by its score; JSON files keep it.

    Examples
    --------
    >>> sprinkler = DAG(["rain", "sprinkler", "wet"], [("rain", "wet"), ("sprinkler", "wet")])
    >>> sprinkler.topological_order()
    ['rain', 'sprinkler', 'wet']
    >>> sprinkler.d_separated("rain", "sprinkler")
    True
    >>> sprinkler.d_separated("rain", "sprinkler", given=["wet"])
    False
    """

    is_consistent_extension: bool = True
    arrowheads_lost: int = 0
    pdag: PDAG | None = None
    by_score: bool = False

    def __init__(
        self,
        nodes: Sequence[str],
        directed: Iterable[tuple[str, str]] = (),
        *,
        weights: Mapping[tuple[str, str], float] | None = None,
    ) -> None:
        super().__init__(nodes, directed, weights=weights)

    def _check(self) -> None:
        if len(self._undirected):
            a, b = self._named(self._undirected[:1])[0]
            raise GraphError(f"a DAG has no undirected edges, but there is {a!r} - {b!r}")
        if len(self._order) < self.n_nodes:
            cycle = find_cycle(self._rank[self._directed].tolist())
            by_name = sorted(self._nodes)
            way = [repr(by_name[i]) for i in cycle]
            shown = way if len(way) <= 8 else [*way[:4], "...", *way[-3:]]
            raise GraphError(f"a DAG has no directed cycle, but there is {' -> '.join([*shown, way[0]])}")

    @cached_property
    def _order(self) -> IntArray:
        """Node numbers in topological order, the first name first where there is a choice."""
        by_name = self._rank.argsort()
        return by_name[first_topological_order(self.n_nodes, self._rank[self._directed])]

    @cached_property
    def _relatives(self) -> tuple[list[list[int]], list[list[int]]]:
        """Parents and children of each node."""
        return self._parents.lists(), self._children.lists()

    def topological_order(self) -> list[str]:
        """Return the names, parents before children, the first by name where there is a choice."""
        return self._names(self._order)

    def ancestors(self, name: str) -> list[str]:
        """Return the nodes from which arrows lead to `name`, without itself, in node order."""
        return self._reached(name, self._parents)

    def descendants(self, name: str) -> list[str]:
        """Return the nodes to which arrows lead from `name`, without itself, in node order."""
        return self._reached(name, self._children)

    def _reached(self, name: str, along: Adjacency) -> list[str]:
        start = self._number(name)
        seen, todo = {start}, [start]
        while todo:
            new = set(along.of(todo.pop()).tolist()) - seen
            seen |= new
            todo.extend(new)
        return [self._nodes[i] for i in sorted(seen - {start})]

    def markov_blanket(self, name: str) -> list[str]:
        """Return the parents, the children and their other parents, in node order."""
        node = self._number(name)
        children = self._children.of(node).tolist()
        blanket = set(self._parents.of(node).tolist()).union(children)
        for child in children:
            blanket.update(self._parents.of(child).tolist())
        return [self._nodes[i] for i in sorted(blanket - {node})]

    def d_separated(
        self, x: str | Iterable[str], y: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Return whether `given` blocks every path between `x` and `y`.

        The introduction of :mod:`f2sl.graph.dag` defines it.

        Parameters
        ----------
        x, y, given
            A name, or several; no name may be in two of them.
        """
        sides = [
            {self._number(name) for name in ([side] if isinstance(side, str) else side)}
            for side in (x, y, given)
        ]
        for a, b in ((0, 1), (0, 2), (1, 2)):
            if shared := sides[a] & sides[b]:
                raise GraphError(f"{self._nodes[min(shared)]!r} is on two sides of a d-separation")
        (x_nodes, y_nodes, known), (parents, children) = sides, self._relatives
        opened, waiting = set(known), list(known)  # the colliders that are open
        while waiting:
            new = set(parents[waiting.pop()]) - opened
            opened |= new
            waiting += new
        # True: came from a child (or starts here); False: came from a parent.
        todo = [(node, True) for node in x_nodes]
        seen = set(todo)
        for node, from_child in todo:  # grows as it is gone through
            if node in y_nodes:
                return False
            steps = [] if node in known else [(child, False) for child in children[node]]
            if node not in known if from_child else node in opened:
                steps += [(parent, True) for parent in parents[node]]
            todo += [step for step in steps if step not in seen]
            seen.update(steps)
        return True

    def to_dowhy(self, data: Any, treatment: str, outcome: str) -> Any:
        """Return a ``dowhy.CausalModel`` of this graph, to identify and estimate an effect with DoWhy.

        Parameters
        ----------
        data : pandas.DataFrame
            The samples, one column for each node.
        treatment, outcome : str
            Estimate the effect of the first node on the second.

        Raises
        ------
        OptionError
            If DoWhy is not installed.
        GraphError
            If one of the nodes is unknown.
        """
        for name in (treatment, outcome):
            if name not in self.nodes:
                raise GraphError(unknown_name("node", name, self.nodes))
        dowhy = imported("dowhy", "to_dowhy", "dowhy")
        return dowhy.CausalModel(data, treatment, outcome, graph=self.to_networkx())

    def reorder(self, nodes: Sequence[str]) -> Self:
        """Return the same graph with its nodes listed in the order of `nodes`."""
        moved = super().reorder(nodes)
        moved.is_consistent_extension = self.is_consistent_extension
        moved.arrowheads_lost = self.arrowheads_lost
        moved.by_score = self.by_score
        return moved

    def to_dag(self) -> DAG:
        """Return this graph."""
        return self


def cpdag_of(dag: DAG) -> PDAG:
    """Return the CPDAG of `dag`; weights are kept.

    Examples
    --------
    >>> cpdag_of(DAG(["a", "b", "c", "d"], [("a", "c"), ("b", "c"), ("c", "d")]))
    PDAG(4 nodes, 3 directed and 0 undirected edges)
    >>> cpdag_of(DAG(["a", "b", "c"], [("a", "b"), ("b", "c")]))
    PDAG(3 nodes, 0 directed and 2 undirected edges)
    """
    # Here nodes are numbered in topological order.
    rows = np.argsort(dag._order)[dag.directed_array]
    parents = adjacency(dag.n_nodes, rows[:, 1], rows[:, 0]).sets()
    compelled: list[set[int]] = [set() for _ in range(dag.n_nodes)]
    for y in range(dag.n_nodes):
        if not parents[y]:
            continue
        x = max(parents[y])
        # Either way round, y -> x would make a new v-structure or a cycle: then all arrows into y hold.
        if not compelled[x] <= parents[y] or not parents[y] - {x} <= parents[x]:
            compelled[y] = parents[y]
        else:
            compelled[y] = compelled[x]
    directed = np.array([a in compelled[b] for a, b in rows.tolist()], dtype=bool)
    return dag._remarked(dag.directed_array[directed], dag.directed_array[~directed])
