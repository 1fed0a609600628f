"""Skeletons: one undirected graph from the PC sets of all variables.

In a Bayesian network X is adjacent to Y exactly if Y is adjacent to X. Sets learned one by one need not
agree: the AND rule keeps an edge that both sets name, the OR rule one that either names (step 2 of the F2SL
approach). The strength of an edge is the smaller of its two strengths. If the search of a variable did not
finish, the other end decides alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl.constraints import Constraints
from f2sl.graph import DAG, PDAG
from f2sl.learners.local.base import Neighborhoods


@dataclass(frozen=True)
class Skeleton:
    """Undirected graph over variables 0 to n - 1.

    `edges` has one row (a, b) with a < b for each edge, in ascending order; `strengths` has the strength of
    each edge, NaN if unknown. The neighbors of v are ``neighbors[start[v]:start[v + 1]]``, ascending.
    """

    n: int
    edges: Integers
    strengths: Floats
    start: Integers
    neighbors: Integers

    def adjacent_to(self, variable: int) -> Integers:
        """Neighbors of one variable, ascending."""
        return self.neighbors[self.start[variable] : self.start[variable + 1]]

    def adjacent(self, first: Integers, second: Integers) -> np.ndarray:
        """Return for each pair whether it is an edge."""
        if not len(self.edges):
            return np.zeros(len(first), np.bool_)
        position = np.minimum(self.positions(first, second), len(self.edges) - 1)
        low, high = np.minimum(first, second), np.maximum(first, second)
        return np.asarray((self.edges[position, 0] == low) & (self.edges[position, 1] == high))

    def positions(self, first: Integers, second: Integers) -> Integers:
        """Return the position of each pair among the edges, or where it would have to be inserted."""
        wanted = np.minimum(first, second) * self.n + np.maximum(first, second)
        return np.searchsorted(self.edges[:, 0] * self.n + self.edges[:, 1], wanted)

    def with_more(self, edges: Integers, strengths: Floats) -> Skeleton:
        """Return the skeleton with further edges (a, b), a < b, in any order."""
        edges = np.concatenate([self.edges, edges])
        order = np.lexsort((edges[:, 1], edges[:, 0]))
        return from_edges(self.n, edges[order], np.concatenate([self.strengths, strengths])[order])


def join(sets: Neighborhoods, symmetry: str = "and") -> Skeleton:
    """Join PC sets into a skeleton by the AND or the OR rule."""
    n = len(sets.start) - 1
    owner = np.repeat(np.arange(n), np.diff(sets.start))
    key = np.minimum(owner, sets.members) * n + np.maximum(owner, sets.members)
    order = np.argsort(key, kind="stable")
    unique, start, votes = np.unique(key[order], return_index=True, return_counts=True)
    edges = np.column_stack(np.divmod(unique, n))
    weakest = np.fmin.reduceat(np.append(sets.strengths[order], np.nan), start)  # NaN if no end knows
    have_a_say = 2 if sets.finished is None else sets.finished[edges].sum(axis=1)
    chosen = votes >= (have_a_say if symmetry == "and" else 1)
    return from_edges(n, edges[chosen], weakest[chosen])


def constrained(skeleton: Skeleton, constraints: Constraints) -> Skeleton:
    """Remove forbidden adjacencies, and add required ones with unknown strength (NaN).

    Examples
    --------
    >>> two = from_edges(3, np.array([[0, 1], [1, 2]]), np.array([0.5, 0.7]))
    >>> rules = Constraints.of(3, forbidden=[(0, 1), (1, 0)], required=[(2, 0)])
    >>> constrained(two, rules).edges.tolist()
    [[0, 2], [1, 2]]
    """
    if not constraints:
        return skeleton
    kept = constraints.allows_adjacency(*skeleton.edges.T)
    required = np.unique(np.sort(constraints.required, axis=1), axis=0)
    new = required[~skeleton.adjacent(*required.T)]
    left = from_edges(skeleton.n, skeleton.edges[kept], skeleton.strengths[kept])
    return left.with_more(new, np.full(len(new), np.nan))


def from_edges(n: int, edges: Integers, strengths: Floats) -> Skeleton:
    """Build a skeleton from its edges, given in ascending order."""
    here = np.concatenate([edges[:, 0], edges[:, 1]])
    there = np.concatenate([edges[:, 1], edges[:, 0]])
    order = np.lexsort((there, here))
    start = np.concatenate([[0], np.cumsum(np.bincount(here, minlength=n))]).astype(np.int64)
    return Skeleton(n, edges.astype(np.int64), strengths, start, there[order].astype(np.int64))


def as_graph(skeleton: Skeleton, names: tuple[str, ...]) -> PDAG:
    """Return an undirected graph of a skeleton."""
    return PDAG._unchecked(names, skeleton.edges[:0], skeleton.edges, None, skeleton.strengths)


def weighted_dag(skeleton: Skeleton, names: tuple[str, ...], arrows: Integers) -> DAG:
    """Return a DAG of arrows among a skeleton's edges, with the skeleton's strengths."""
    weights = skeleton.strengths[skeleton.positions(*arrows.T)]
    return DAG.from_arrays(names, arrows, weights_directed=weights)
