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

from f2sl._arrays import Integers
from f2sl._deadline import Deadline
from f2sl.search import _kernels
from f2sl.stats.scores.base import UNKNOWN
from f2sl.stats.scores.sets import SetScores

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


def best_networks(lattices: Integers, max_indegree: int | None = None) -> BestNetworks:
    """Find the best network over each row of `lattices`.

    Parameters
    ----------
    lattices : array of shape (m, 2**k)
        For each problem the values of all sets of its k variables, as
        :meth:`~f2sl.stats.scores.sets.SetScores.lattices` gives them.
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


@dataclass(frozen=True)
class Lattice:
    """The values of the sets that a best network may need, and how they were come by.

    ``values[mask]`` is below :data:`~f2sl.stats.scores.base.LEAST` where a set was not counted. All families
    with up to `max_parents` parents were looked at; `complete` says whether that is as many as there may be,
    and `interrupted` whether Ctrl-C was why not.
    """

    values: Integers
    n_families: int
    max_parents: int
    complete: bool
    interrupted: bool = False


def count_lattice(
    scores: SetScores,
    members: Integers,
    max_indegree: int | None = None,
    deadline: Deadline | None = None,
    advance: Callable[[float], None] | None = None,
) -> Lattice:
    """Count those subsets of `members` that a best network may need.

    Families are gone through by their number of parents. Where a family loses to one with fewer parents, and
    would whatever parents were added (:class:`~f2sl.stats.scores.sets.Ceilings`), it and all with more are
    left out; a set is counted if some family needs it.

    Parameters
    ----------
    scores : SetScores
        Where values come from, and are remembered.
    members : array of int
        The variables, in ascending order.
    max_indegree : int, optional
        The most parents that a variable may have.
    deadline : Deadline, optional
        When to stop, as on Ctrl-C; families without parents are looked at anyway.
    advance : callable, optional
        Told the share of the work that each finished piece makes up.
    """
    k = len(members)
    most = max(0, k - 1 if max_indegree is None else min(max_indegree, k - 1))
    ceilings = scores.ceilings(members)
    bounds = (ceilings.weights, ceilings.slack)
    values = np.full(1 << k, UNKNOWN)
    values[0] = scores.subsets(members, np.zeros(1, np.int64))[0][0]
    best_of = np.empty((k, 1 << k >> 1), np.int64)
    open_for = np.zeros(1 << k, np.int64)
    wanted = np.zeros(1 << k, np.bool_)
    n_families = level = 0
    n_sets = sum(math.comb(k, size) for size in range(1, most + 2))
    try:
        for level in range(most + 1):
            _kernels.choose_families(level, *bounds, ceilings.sizes, open_for, best_of, wanted)
            wanted &= values == UNKNOWN
            masks = np.flatnonzero(wanted)
            wanted[:] = False
            for first in range(0, len(masks), SETS_PER_STEP):
                if deadline is not None and level > 0 and deadline.passed:
                    return Lattice(values, n_families, level - 1, complete=False)
                some = masks[first : first + SETS_PER_STEP]
                values[some], occupied = scores.subsets(members, some)
                ceilings.learn(some, occupied)
                if advance is not None:
                    advance(math.comb(k, level + 1) / n_sets * len(some) / len(masks))
            n_families += _kernels.score_families(level, *bounds, values, ceilings.sizes, open_for, best_of)
    except KeyboardInterrupt:
        if level == 0:
            raise
        return Lattice(values, n_families, level - 1, complete=False, interrupted=True)
    return Lattice(values, n_families, most, complete=True)


def bytes_needed(k: int) -> int:
    """Estimate the memory that a search over all networks of k variables takes at most."""
    # Of a set: value, size, marks, and its place in the tree of sets with room to grow; of a family: a score.
    return (1 << k) * (200 + 8 * k // 2)


def seconds_needed(k: int, n_rows: int, n_threads: int, max_indegree: int | None = None) -> float:
    """Estimate the time of a search over all networks of k variables, were no set left out.

    The figures are those of one core of a server processor.
    """
    most = k if max_indegree is None else min(k, max_indegree + 1)
    sets = sum(math.comb(k, size) for size in range(most + 1))
    return sets * (2e-6 + 8e-9 * n_rows) / n_threads + 3e-9 * k * k * (1 << k)
