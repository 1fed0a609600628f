"""The best network over a handful of variables, found exactly.

Dynamic programming over subsets (Silander and Myllymaki 2006, *A simple approach for finding the globally
optimal Bayesian network structure*): a DAG over a set of variables has one that comes last; the best DAG
over the set is the best over all others, with the best parents of the last among them. So the best parents of
every variable within every set of candidates, and then the best last variable of every set, lead to the
optimum.

Scores are exact whole numbers (`stats/set_scores.py`), so networks that are equally good are so exactly, and
the choice among them is a rule: of variables that may come last the last, of parents that are equally
good the fewest, and of these the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from f2sl.counting.protocol import Integers
from f2sl.search import _kernels
from f2sl.stats._kernels import UNKNOWN
from f2sl.stats.set_scores import SetScores

SETS_PER_STEP = 1 << 14
"""Sets counted between two looks at the user's patience."""


@dataclass(frozen=True)
class BestNetworks:
    """Best networks over sets of k variables, one for each row.

    ``parents[i, v]`` is the mask of the parents of member v (bit u for member u), and ``scores[i]`` the
    score in the units of the set values.
    """

    parents: Integers
    scores: Integers

    def linked(self, member: int) -> Integers:
        """Masks of the members that are parents or children of one of them, network by network."""
        masks: Integers = self.parents[:, member].copy()
        for v in range(self.parents.shape[1]):
            masks |= (self.parents[:, v] >> member & 1) << v
        return masks


def best_networks(lattices: Integers, max_indegree: int | None = None) -> BestNetworks:
    """Find the best network over each row of `lattices`.

    Parameters
    ----------
    lattices : array of shape (m, 2**k)
        For each problem the values of all sets of its k variables, as
        :meth:`~f2sl.stats.set_scores.SetScores.lattices` gives them.
    max_indegree : int, optional
        The most parents that a variable may have.

    Examples
    --------
    >>> found = best_networks(np.array([[0, -5, -5, -8]]))  # together better than the two alone
    >>> found.parents.tolist(), found.scores.tolist()
    ([[0, 1]], [-8])
    """
    k = lattices.shape[1].bit_length() - 1
    parents = np.zeros((len(lattices), k), np.int64)
    scores = np.empty(len(lattices), np.int64)
    most = k if max_indegree is None else max_indegree
    _kernels.best_networks(np.ascontiguousarray(lattices), most, parents, scores)
    return BestNetworks(parents, scores)


def count_lattice(
    scores: SetScores,
    members: Integers,
    max_indegree: int | None = None,
    advance: Callable[[float], None] | None = None,
) -> Integers:
    """Give the values of those subsets of `members` that a best network may need; others stay `UNKNOWN`.

    Families are gone through by their number of parents. Where a family loses to one with fewer parents, and
    would whatever parents were added (:class:`~f2sl.stats.set_scores.Ceilings`), it and all with more are
    left out; a set is counted if some family needs it.
    """
    k = len(members)
    most = k - 1 if max_indegree is None else min(max_indegree, k - 1)
    ceilings = scores.ceilings(members)
    values = np.full(1 << k, UNKNOWN)
    values[0] = scores.subsets(members, np.zeros(1, np.int64))[0][0]
    best_of = np.empty((k, 1 << k >> 1), np.int64)
    open_for = np.zeros(1 << k, np.int64)
    wanted = np.zeros(1 << k, np.bool_)
    for level in range(most + 1):
        bounds = (ceilings.weights, ceilings.slack)
        _kernels.choose_families(level, *bounds, ceilings.sizes, open_for, best_of, wanted)
        wanted &= values == UNKNOWN
        masks = np.flatnonzero(wanted)
        wanted[:] = False
        for first in range(0, len(masks), SETS_PER_STEP):
            some = masks[first : first + SETS_PER_STEP]
            values[some], sizes = scores.subsets(members, some)
            ceilings.learn(some, sizes)
        _kernels.score_families(level, *bounds, values, ceilings.sizes, open_for, best_of)
        if advance is not None:
            advance(math.comb(k, level + 1) / (1 << k))
    return values
