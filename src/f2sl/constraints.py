"""Constraints on the edges of a graph: which arcs are forbidden, and which are required.

Learners work on variables by number, and so does this module. Every search and every orientation asks a
:class:`Constraints` which arcs it may use, so that a rule about edges is written once. Without constraints
(:meth:`Constraints.none`, which all of them take by default) each question has the answer "allowed" and costs
nothing.

An *arc* is an edge with a direction, from a parent to a child. A *link* is an edge whatever its direction: it
is forbidden if both its arcs are.

>>> rules = Constraints.of(4, forbidden=[(0, 1)], required=[(2, 3)])
>>> rules.allows(np.array([0, 1, 3]), np.array([1, 0, 2])).tolist()
[False, True, False]
>>> rules.allows_link(np.array([0]), np.array([1])).tolist()
[True]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from f2sl._arrays import Integers, Mask


@dataclass(frozen=True, eq=False)
class Constraints:
    """Forbidden and required arcs among `n` variables.

    Parameters
    ----------
    n : int
        Number of variables.
    forbidden : ndarray of int64
        The arcs that no graph may have, as ascending numbers ``parent * n + child``. The opposite of every
        required arc is among them.
    required : ndarray of int64, shape (m, 2)
        The arcs (parent, child) that every graph must have.
    """

    n: int
    forbidden: Integers
    required: Integers

    @classmethod
    def none(cls, n: int) -> Self:
        """Return constraints that allow every arc and require none."""
        return cls(n, np.empty(0, np.int64), np.empty((0, 2), np.int64))

    @classmethod
    def of(
        cls,
        n: int,
        forbidden: Iterable[tuple[int, int]] = (),
        required: Iterable[tuple[int, int]] = (),
    ) -> Self:
        """Build constraints from lists of arcs (parent, child)."""
        must = np.array(sorted(set(required)), np.int64).reshape(-1, 2)
        never = np.array(list(forbidden), np.int64).reshape(-1, 2)
        never = np.concatenate([never, must[:, ::-1]])
        return cls(n, np.unique(never[:, 0] * n + never[:, 1]), must)

    def __bool__(self) -> bool:
        """Return whether anything is forbidden or required."""
        return bool(len(self.forbidden) or len(self.required))

    def allows(self, parents: Integers, children: Integers) -> Mask:
        """Return for each arc whether a graph may have it."""
        if not len(self.forbidden):
            return np.ones(len(parents), np.bool_)
        arcs = parents * self.n + children
        place = np.minimum(np.searchsorted(self.forbidden, arcs), len(self.forbidden) - 1)
        return np.asarray(self.forbidden[place] != arcs)

    def allows_link(self, first: Integers, second: Integers) -> Mask:
        """Return for each pair whether a graph may link it, in one direction at least."""
        return self.allows(first, second) | self.allows(second, first)

    def requires(self, parents: Integers, children: Integers) -> Mask:
        """Return for each arc whether every graph must have it."""
        return np.isin(parents * self.n + children, self.required @ [self.n, 1])

    def allowed_parents(self, variable: int) -> Mask:
        """Return for every variable whether it may be a parent of this one; itself may not."""
        everyone = np.arange(self.n)
        allowed = self.allows(everyone, np.full(self.n, variable))
        allowed[variable] = False
        return allowed

    def matrix(self) -> Mask | None:
        """Return which arcs are allowed as a matrix with a row for each parent; None if all are."""
        if not self:
            return None
        everyone = np.arange(self.n)
        parents, children = np.repeat(everyone, self.n), np.tile(everyone, self.n)
        return self.allows(parents, children).reshape(self.n, self.n)

    def required_parents(self, variable: int) -> Integers:
        """Return the parents that this variable must have, ascending."""
        return np.sort(self.required[self.required[:, 1] == variable, 0])

    def some(self, variables: Integers) -> Constraints:
        """Return the constraints among some variables, renumbered in the order given."""
        number = np.full(self.n, -1)
        number[variables] = np.arange(len(variables))

        def inside(arcs: Integers) -> list[tuple[int, int]]:
            new = number[arcs]
            return [(u, v) for u, v in new[(new >= 0).all(axis=1)].tolist()]

        forbidden = np.column_stack(np.divmod(self.forbidden, self.n))
        return Constraints.of(len(variables), inside(forbidden), inside(self.required))
