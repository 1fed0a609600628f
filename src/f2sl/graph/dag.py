"""Directed acyclic graphs, the structures of Bayesian networks.

In a *DAG* every edge is directed and no path of arrows leads back to its start. The *descendants* of a node
are the nodes that can be reached from it along the arrows; its *ancestors* are the nodes that it can be
reached from. A *topological order* lists every node after its parents. The *Markov blanket* of a node, its
parents, its children and the other parents of its children, separates it from all other nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

from f2sl._extensions import imported
from f2sl.errors import GraphError, unknown_name
from f2sl.graph._arrays import Adjacency, IntArray, find_cycle, first_topological_order
from f2sl.graph.d_separation import DSeparation
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
            cycle = find_cycle(self.n_nodes, self._rank[self._directed])
            by_name = sorted(self._nodes)
            way = [repr(by_name[i]) for i in cycle or ()]
            shown = way if len(way) <= 8 else [*way[:4], "...", *way[-3:]]
            raise GraphError(f"a DAG has no directed cycle, but there is {' -> '.join([*shown, way[0]])}")

    @cached_property
    def _order(self) -> IntArray:
        """Node numbers in topological order, the first name first where there is a choice."""
        by_name = self._rank.argsort()
        return by_name[first_topological_order(self.n_nodes, self._rank[self._directed])]

    @cached_property
    def _separation(self) -> DSeparation:
        return DSeparation(self._parents.lists(), self._children.lists())

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

        See :mod:`f2sl.graph.d_separation`.

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
        return self._separation.separated(*sides)

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
        return moved

    def to_dag(self) -> DAG:
        """Return this graph."""
        return self
