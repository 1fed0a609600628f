"""Constraints on the edges of a graph: which are forbidden, and which are required.

Learners work on variables by number, and so does this module. Every search and every orientation asks a
:class:`Constraints` which edges it may use, so that a rule about edges is written once. Without constraints
(:meth:`Constraints.none`, the default everywhere) every edge is allowed and asking costs nothing.

An edge is directed here, from a parent to a child. An *adjacency* is an edge whatever its direction: it is
forbidden if both directions are. A user's knowledge, by name, is a :class:`~f2sl.Knowledge`, which makes
constraints for the variables of a table.

>>> rules = Constraints.of(4, forbidden=[(0, 1)], required=[(2, 3)])
>>> rules.allows(np.array([0, 1, 3]), np.array([1, 0, 2])).tolist()
[False, True, False]
>>> rules.allows_adjacency(np.array([0]), np.array([1])).tolist()
[True]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Self

import numpy as np

from f2sl._arrays import Integers, Mask

ANY = np.iinfo(np.int64).max - 1
"""The last level of `into`: a variable that may have any parent."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """Forbidden and required directed edges among `n` variables.

    Parameters
    ----------
    n : int
        Number of variables.
    forbidden : ndarray of int64
        The edges that no graph may have, as ascending numbers ``parent * n + child``. The opposite of every
        required edge is among them.
    required : ndarray of int64, shape (m, 2)
        The edges (parent, child) that every graph must have.
    out, into : ndarray of int64, shape (n,), optional
        Levels that express tiers, roots and leaves without a list of edges: a graph may have u -> v only if
        ``out[u] <= into[v]``.
    """

    n: int
    forbidden: Integers
    required: Integers
    out: Integers | None = None
    into: Integers | None = None

    @classmethod
    def none(cls, n: int) -> Self:
        """Return constraints that allow every edge and require none."""
        return cls(n, np.empty(0, np.int64), np.empty((0, 2), np.int64))

    @classmethod
    def of(
        cls,
        n: int,
        forbidden: Iterable[tuple[int, int]] = (),
        required: Iterable[tuple[int, int]] = (),
        out: Integers | None = None,
        into: Integers | None = None,
    ) -> Self:
        """Build constraints from lists of edges (parent, child), and from levels."""
        must = np.array(sorted(set(required)), np.int64).reshape(-1, 2)
        never = np.array(list(forbidden), np.int64).reshape(-1, 2)
        never = np.concatenate([never, must[:, ::-1]])
        return cls(n, np.unique(never[:, 0] * n + never[:, 1]), must, out, into)

    def __bool__(self) -> bool:
        """Return whether anything is forbidden or required."""
        return bool(len(self.forbidden) or len(self.required) or self.out is not None)

    def allows(self, parents: Integers, children: Integers) -> Mask:
        """Return for each edge whether a graph may have it."""
        if self.out is None or self.into is None:
            allowed = np.ones(np.broadcast_shapes(parents.shape, children.shape), np.bool_)
        else:
            allowed = self.out[parents] <= self.into[children]
        if len(self.forbidden):
            edges = parents * self.n + children
            position = np.minimum(np.searchsorted(self.forbidden, edges), len(self.forbidden) - 1)
            allowed &= self.forbidden[position] != edges
        return allowed

    def allows_adjacency(self, first: Integers, second: Integers) -> Mask:
        """Return for each pair whether a graph may connect it, in one direction at least."""
        return self.allows(first, second) | self.allows(second, first)

    def may_be_tested(self, triples: Integers) -> Mask:
        """Return for each row (A, C, D), A - C - D, whether a test of A and D can show A -> C <- D.

        It can, unless the edge of A and D is forbidden and the constraints already decide the other two
        edges: both must point to C, or one of them must not.

        Examples
        --------
        >>> apart = [(0, 2), (2, 0)]
        >>> chain = np.array([[0, 1, 2]])
        >>> [bool(Constraints.of(3, [*apart, *more]).may_be_tested(chain)) for more in ([], [(0, 1)])]
        [True, False]
        """
        a, c, d = triples.T
        into, out = self.allows(a, c) & self.allows(d, c), self.allows(c, a) | self.allows(c, d)
        return np.asarray(self.allows_adjacency(a, d) | (into & out))

    def requires(self, parents: Integers, children: Integers) -> Mask:
        """Return for each edge whether every graph must have it."""
        return np.isin(parents * self.n + children, self.required @ [self.n, 1])

    def requires_adjacency(self, first: Integers, second: Integers) -> Mask:
        """Return for each pair whether every graph must connect it."""
        return self.requires(first, second) | self.requires(second, first)

    def matrix(self) -> Mask | None:
        """Return the allowed edges as a matrix with a row for each parent; None if all are allowed."""
        if not self:
            return None
        everyone = np.arange(self.n)
        return self.allows(everyone[:, None], everyone)

    def isolated(self) -> Mask:
        """Return for each variable whether no graph may connect it to another.

        Examples
        --------
        >>> Constraints.of(3, [(0, 1), (1, 0), (0, 2), (2, 0)]).isolated().tolist()
        [True, False, False]
        """
        allowed = self.matrix()
        if allowed is None:
            return np.zeros(self.n, np.bool_)
        np.fill_diagonal(allowed, False)
        return np.asarray(~(allowed.any(axis=0) | allowed.any(axis=1)))

    def required_parents(self, variable: int) -> Integers:
        """Return the parents that this variable must have, ascending."""
        return np.sort(self.required[self.required[:, 1] == variable, 0])

    def restrict_to(self, variables: Integers) -> Constraints:
        """Return the constraints among some variables, renumbered in the order given."""
        number = np.full(self.n, -1)
        number[variables] = np.arange(len(variables))

        def inside(edges: Integers) -> list[tuple[int, int]]:
            new = number[edges]
            return [(u, v) for u, v in new[(new >= 0).all(axis=1)].tolist()]

        forbidden = np.column_stack(np.divmod(self.forbidden, self.n))
        levels = (None if level is None else level[variables] for level in (self.out, self.into))
        return Constraints.of(len(variables), inside(forbidden), inside(self.required), *levels)

    def may_be_adjacent(self, variable: int) -> Mask:
        """Return for each variable whether an edge to this one is allowed; not to itself."""
        everyone = np.arange(self.n)
        allowed = self.allows_adjacency(np.full(self.n, variable), everyone)
        allowed[variable] = False
        return allowed

    def may_be_in_blanket(self, variable: int) -> Mask:
        """Return for every variable whether it may be in this one's Markov blanket: adjacent, or a spouse.

        Two variables may be spouses if a third may be a child of both.

        Examples
        --------
        >>> apart = [(0, 1), (1, 0)]
        >>> Constraints.of(3, apart).may_be_in_blanket(0).tolist()
        [False, True, True]
        >>> Constraints.of(3, [*apart, (1, 2)]).may_be_in_blanket(0).tolist()
        [False, False, True]
        """
        allowed = self.may_be_adjacent(variable)
        everyone = np.arange(self.n)
        children = np.flatnonzero(self.allows(np.full(self.n, variable), everyone) & (everyone != variable))
        for other in np.flatnonzero(~allowed).tolist():
            common = children[children != other]
            allowed[other] = self.allows(np.full(len(common), other), common).any()
        allowed[variable] = False
        return allowed

    def must_be_adjacent(self, variable: int) -> Integers:
        """Return the variables that must be adjacent to this one, ascending."""
        ends = self.required[(self.required == variable).any(axis=1)]
        return np.unique(ends[ends != variable])

    def must_be_in_blanket(self, variable: int) -> Integers:
        """Return the variables that must be adjacent to this one, and required parents of its children."""
        children = self.required[self.required[:, 0] == variable, 1]
        parents = self.required[np.isin(self.required[:, 1], children), 0]
        found = np.union1d(self.must_be_adjacent(variable), parents)
        return np.asarray(found[found != variable])


def find_cycle(arrows: Iterable[Sequence[int]]) -> list[int]:
    """Return the nodes of one directed cycle in the order of its arrows, the smallest first; empty if none.

    Examples
    --------
    >>> find_cycle([(2, 1), (1, 3), (3, 2), (0, 1)])
    [1, 3, 2]
    """
    parents: dict[int, list[int]] = {}
    for a, b in sorted(map(tuple, arrows)):
        parents.setdefault(b, []).append(a)
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        cycle: list[int] = error.args[1][1:]
        first = cycle.index(min(cycle))
        return cycle[first:] + cycle[:first]
    return []
