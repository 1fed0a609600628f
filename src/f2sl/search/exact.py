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

from dataclasses import dataclass

import numpy as np

from f2sl.counting.protocol import Integers
from f2sl.search import _kernels


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
