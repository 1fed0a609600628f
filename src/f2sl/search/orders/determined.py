"""Search where columns determine others: hidden parents, and copies that have to move together.

Let m and f be the two alleles of a gene that a parent has, g how many of them are of one kind, and c the
allele that a child inherits: m or f, as z says. Given g, c is independent of m and of f, because either is as
likely to be passed on; and it is independent of z unless m and f are given. So tests leave c with g as its
only neighbor, and no single change of the parents {g} raises the score. But m and f determine g, and
therefore tell all that g tells. With them in its place z shows, and explains c.

So a parent that is determined by its own parents is replaced by these, and a further variable is looked for
given them (:meth:`Determined.gaining`). With z, f and g are as good as z, f and m: each two of m, f and g
determine the third. BDs scores both alike, and BDeu even prefers g, which has more states, because it spreads
the weight of its prior over configurations that cannot occur. Of sets with the same likelihood the one with
fewer configurations is chosen in the end (:meth:`Determined.simplified`).

A variable is determined if each configuration of its parents goes with one of its states, in a table with
five samples for each cell. With missing values nothing is replaced: likelihoods of families are then
estimated from different samples.

Columns that determine each other one to one are *copies*: given one of them, another tells nothing more. Of
two copies the first in an order has the parents, the second has the first as its only parent, and the effects
may have either. So no move of one variable brings both behind a new parent: whichever stays before it keeps
the parents that it had there, and the other one hangs on it. They have to move together. A search in which
each group of copies is one variable makes such moves; its order, with every copy behind its original
(:func:`with_copies`), is one more to start from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl.constraints import Constraints
from f2sl.data.engines import product_of_columns
from f2sl.search.orders.parent_sets import RELATIVE_TOLERANCE
from f2sl.stats.answers import IndependenceTest
from f2sl.stats.scores.base import FamilyScores
from f2sl.stats.tests.base import SAMPLES_PER_CELL

Scored = Callable[[Integers, Integers], Floats]
"""Scores families: children, and a row of parents for each, ascending behind entries of -1."""


class Likelihoods(NamedTuple):
    """Log likelihoods of families, which are exactly 0 where the parents determine the child.

    `states` has the number of states of each variable, and `n_rows` is the number of samples.
    """

    of_families: FamilyScores
    states: Integers
    n_rows: int


class Determined:
    """Replaces parents by those that determine them.

    Parameters
    ----------
    likelihoods : Likelihoods
    scored : callable
        Scores of families.
    test : IndependenceTest
        Says which sets are small enough to look for a further parent.
    constraints : Constraints
        Forbidden edges are not made, and required ones stay.
    limits : (n,) int64
        Largest number of parents of each variable.
    """

    def __init__(
        self,
        likelihoods: Likelihoods,
        scored: Scored,
        test: IndependenceTest,
        constraints: Constraints,
        limits: Integers,
    ) -> None:
        self._fit, states, self._n_rows = likelihoods
        # The last entry stands for no parent, -1.
        self._states = np.append(states, 1.0)
        self._scored, self._test, self._rules, self._limits = scored, test, constraints, limits
        self._tried: dict[tuple[int, ...], Integers] = {}

    def gaining(
        self, parents: Integers, others: Callable[[int], Integers]
    ) -> Iterator[tuple[int, Integers, Integers]]:
        """Yield variables v, replaced parents of v, and who raises the score beside these, highest first.

        Children that are determined themselves are left out: nothing is hidden from them. So is who was
        tried before.

        Parameters
        ----------
        parents : (n, most) int64
            The parents of each variable, ascending behind entries of -1.
        others : callable
            Returns the variables that may be parents of one variable in the present order.
        """
        determined = self._are_determined(parents)
        tasks = list(self._replacements(parents, determined, ~determined))
        children = np.array([v for v, _ in tasks], np.int64)
        scores_now = self._scored(children, parents[children]).tolist()
        for (v, replaced), now in zip(tasks, scores_now, strict=True):
            if (replaced >= 0).sum() == self._limits[v]:
                continue
            key = (v, *replaced.tolist())
            tried = self._tried.get(key, replaced)
            u = np.setdiff1d(others(v), tried)
            self._tried[key] = np.append(tried, u)
            max_sizes = self._test.max_configurations(np.full(len(u), v), u)
            u = u[self._test.configurations(replaced[None, replaced >= 0]) <= max_sizes]
            more = np.column_stack([np.tile(replaced[1:], (len(u), 1)), u])
            scores = self._scored(np.full(len(u), v), np.sort(more, axis=1))
            gain = scores > now + RELATIVE_TOLERANCE * max(1.0, abs(now))
            if gain.any():
                yield v, replaced, u[np.argsort(-scores, kind="stable")][: gain.sum()]

    def simplified(self, parents: Integers) -> Integers:
        """Replace parents by those that determine them where that takes fewer configurations.

        The likelihood must stay the same: what determines a parent may tell more than it, but that is for the
        score to judge. The parents returned come before their children in every order in which `parents` do.
        """
        parents = parents.copy()
        everyone = np.ones(len(parents), np.bool_)
        while tasks := list(self._replacements(parents, self._are_determined(parents), everyone)):
            children = np.array([v for v, _ in tasks])
            replaced = np.array([own for _, own in tasks])
            fewer = self._configurations(replaced) < self._configurations(parents[children])
            children, replaced = children[fewer], replaced[fewer]
            fits = self._fit.score_all(children, replaced) == self._fit.score_all(children, parents[children])
            if not fits.any():
                break
            # One replacement for each child at a time, the first.
            changed, first = np.unique(children[fits], return_index=True)
            parents[changed] = replaced[fits][first]
        return parents

    def _replacements(
        self, parents: Integers, determined: Mask, children: Mask
    ) -> Iterator[tuple[int, Integers]]:
        """Yield some of the children with their parents, one replaced by those that determine it."""
        most = parents.shape[1]
        pairs = pairs_of(np.flatnonzero(children), parents[children])
        pairs = pairs[determined[pairs[:, 1]] & ~self._rules.requires(pairs[:, 1], pairs[:, 0])]
        for v, g in pairs.tolist():
            found = np.setdiff1d(np.append(parents[v], parents[g]), [-1, g])
            if len(found) <= self._limits[v] and self._rules.allows(found, np.full(len(found), v)).all():
                yield v, np.append(np.full(most - len(found), -1), found)

    def _are_determined(self, parents: Integers) -> Mask:
        """Return which variables are determined by their parents."""
        everyone, cells = np.arange(len(parents)), self._configurations(parents) * self._states[:-1]
        found = np.asarray((parents[:, -1] >= 0) & (cells * SAMPLES_PER_CELL <= self._n_rows))
        found[found] = self._fit.score_all(everyone[found], parents[found]) == 0.0
        return found

    def _configurations(self, parents: Integers) -> Floats:
        """Return how many configurations sets of parents have."""
        return product_of_columns(self._states[parents])


def pairs_of(children: Integers, parents: Integers) -> Integers:
    """Return families as pairs of a child and one of its parents.

    Examples
    --------
    >>> pairs_of(np.array([4, 7]), np.array([[-1, 2], [5, 6]])).tolist()
    [[4, 2], [7, 5], [7, 6]]
    """
    row, position = np.nonzero(parents >= 0)
    return np.column_stack([children[row], parents[row, position]])


def originals(n: int, pairs: Integers) -> Integers:
    """Return for each of n variables the first of its copies, itself if it has none.

    Examples
    --------
    >>> originals(5, np.array([[1, 3], [3, 4]])).tolist()
    [0, 1, 2, 1, 1]
    """
    first = np.arange(n)
    ends = np.concatenate([pairs, pairs[:, ::-1]]).T
    while True:
        before = first.copy()
        np.minimum.at(first, ends[1], first[ends[0]])
        if (first == before).all():
            return first


def candidates_of_originals(
    start: Integers, candidates: Integers, first: Integers
) -> tuple[Integers, Integers]:
    """Return the candidates with every copy replaced by its original; copies themselves have none.

    Parameters
    ----------
    start, candidates : (n + 1,) and (m,) int64
        The candidates of v are ``candidates[start[v]:start[v + 1]]``; so are those returned.
    first : (n,) int64
        The original of each variable.

    Examples
    --------
    >>> start, candidates = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])  # 0 - 1 - 2, and 2 is a copy of 1
    >>> [found.tolist() for found in candidates_of_originals(start, candidates, np.array([0, 1, 1]))]
    [[0, 1, 2, 2], [1, 0]]
    """
    n = len(start) - 1
    owners = np.repeat(np.arange(n), np.diff(start))
    owners, found = np.divmod(np.unique(first[owners] * n + first[candidates]), n)
    others = owners != found
    return np.searchsorted(owners[others], np.arange(n + 1)), found[others]


def with_copies(order: Integers, first: Integers) -> Integers:
    """Return an order with every copy right behind its original, copies by number.

    Examples
    --------
    >>> with_copies(np.array([2, 3, 1, 0]), first=np.array([0, 1, 1, 1])).tolist()
    [1, 2, 3, 0]
    """
    position = np.argsort(order)
    return np.lexsort((np.arange(len(order)), position[first]))
