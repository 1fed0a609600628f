"""Find the best network over a few variables exactly.

Dynamic programming over subsets (Silander and Myllymaki 2006, *A simple approach for finding the globally
optimal Bayesian network structure*): in a DAG over a set of variables some variable comes last. The best DAG
over the set is the best DAG over the other variables, plus the best parents of the last variable among them.
So the search finds the best parents of every variable within every set of candidates, then the best last
variable of every set, and follows these back to the optimum.

Scores are exact whole numbers (`stats/scores/sets.py`), so networks that are equally good tie exactly, and
a rule chooses among them: of the variables that may come last the last one, of equally good sets of parents
the smallest, and of these the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from f2sl._arrays import Integers
from f2sl._deadline import Deadline
from f2sl.constraints import Constraints
from f2sl.search import _kernels
from f2sl.stats.scores.base import UNKNOWN
from f2sl.stats.scores.sets import SetScores

SETS_PER_STEP = 1 << 14
"""Sets counted between two checks of the deadline."""


@dataclass(frozen=True)
class BestNetworks:
    """Best networks of m problems over k variables each.

    ``parents[i, v]``, (m, k) int64, is the mask of the parents of member v (bit u for member u), and
    ``scores[i]``, (m,) int64, the score in the units of the set values.
    """

    parents: Integers
    scores: Integers


def family_rules(k: int, max_parents: int | None = None, constraints: Constraints | None = None) -> Integers:
    """Return which families of k variables are admissible, as the kernels take it.

    Rows are the largest number of parents, the mask of forbidden and that of required parents, one column for
    each variable.
    """
    rules = np.zeros((3, k), np.int64)
    rules[_kernels.MOST] = k if max_parents is None else max_parents
    if constraints:
        return np.asarray(rules_of_all(np.arange(k)[None], max_parents, constraints)[0])
    return rules


def rules_of_all(members: Integers, max_parents: int | None, constraints: Constraints | None) -> Integers:
    """Return the rules of many problems: each row of `members`, (m, k), numbers its variables."""
    m, k = members.shape
    rules = np.tile(family_rules(k, max_parents), (m, 1, 1))
    if constraints:
        parents, children = members[:, :, None], members[:, None, :]
        bits = (1 << np.arange(k))[:, None]
        rules[:, _kernels.FORBIDDEN] = np.where(constraints.allows(parents, children), 0, bits).sum(axis=1)
        rules[:, _kernels.REQUIRED] = np.where(constraints.requires(parents, children), bits, 0).sum(axis=1)
    return rules


def best_networks(
    lattices: Integers, max_parents: int | None = None, constraints: Constraints | None = None
) -> BestNetworks:
    """Find the best network over each row of `lattices`.

    Parameters
    ----------
    lattices : array of shape (m, 2**k)
        For each problem the values of all sets of its k variables, as
        :meth:`~f2sl.stats.scores.sets.SetScores.lattices` gives them.
    max_parents : int, optional
        Largest number of parents of a variable.
    constraints : Constraints, optional
        Forbidden and required edges among the k variables.

    Examples
    --------
    >>> found = best_networks(np.array([[0, -5, -5, -8]]))  # together better than the two alone
    >>> found.parents.tolist(), found.scores.tolist()
    ([[0, 1]], [-8])
    """
    k = lattices.shape[1].bit_length() - 1
    parents = np.zeros((len(lattices), k), np.int64)
    scores = np.empty(len(lattices), np.int64)
    rules = family_rules(k, max_parents, constraints)
    _kernels.best_networks(np.ascontiguousarray(lattices), rules, parents, scores)
    return BestNetworks(parents, scores)


@dataclass(frozen=True)
class Lattice:
    """Values of the sets that a best network may need, and how far counting them came.

    ``values[mask]``, (2^k,) int64, is below :data:`~f2sl.stats.scores.base.LEAST` if a set was not counted.
    All families with up to `max_parents` parents were considered; `complete` says whether these are all that
    are allowed, and `interrupted` whether Ctrl-C is the reason if not.
    """

    values: Integers
    n_families: int
    max_parents: int
    complete: bool
    interrupted: bool = False


def count_lattice(
    scores: SetScores,
    members: Integers,
    max_parents: int | None = None,
    deadline: Deadline | None = None,
    advance: Callable[[float], None] | None = None,
    constraints: Constraints | None = None,
) -> Lattice:
    """Count those subsets of `members` that a best network may need.

    Families are considered by their number of parents. If a family is worse than one with fewer parents, and
    would be with any parents added (:class:`~f2sl.stats.scores.sets.Ceilings`), it and all larger ones are
    left out. A set is counted if some family needs it.

    Parameters
    ----------
    scores : SetScores
        Source of the values, which it remembers.
    members : (k,) int64
        The variables, in ascending order.
    max_parents : int, optional
        Largest number of parents of a variable.
    deadline : Deadline, optional
        When to stop, as on Ctrl-C; families with as few parents as are required are considered in any case.
    advance : callable, optional
        Called with the share of the work that each finished piece makes up.
    constraints : Constraints, optional
        Forbidden and required edges among the members, numbered by their positions.
    """
    k = len(members)
    most = max(0, k - 1 if max_parents is None else min(max_parents, k - 1))
    ceilings = scores.ceilings(members)
    rules = family_rules(k, max_parents, constraints)
    bounds = (ceilings.weights, ceilings.slack, rules)
    values = np.full(1 << k, UNKNOWN)
    values[0] = scores.subsets(members, np.zeros(1, np.int64))[0][0]
    # Uninitialised: the kernels write an entry of `best_of` before they read it.
    best_of = np.empty((k, 1 << k >> 1), np.int64)
    open_for = np.zeros(1 << k, np.int64)
    wanted = np.zeros(1 << k, np.bool_)
    n_families = level = 0
    n_sets = sum(math.comb(k, size) for size in range(1, most + 2))
    # A level is left out as a whole or done as a whole, so that what is returned early is a sound answer to
    # the question with fewer parents. The first levels are always done, up to the number of parents that are
    # required of some variable: without them there would be no network at all.
    least = 0 if not constraints else int(np.bincount(constraints.required[:, 1]).max(initial=0))
    try:
        for level in range(most + 1):
            _kernels.choose_families(level, *bounds, ceilings.sizes, open_for, best_of, wanted)
            # Sets marked as impossible are not UNKNOWN, and not asked for again.
            wanted &= values == UNKNOWN
            masks = np.flatnonzero(wanted)
            wanted[:] = False
            for first in range(0, len(masks), SETS_PER_STEP):
                if deadline is not None and level > least and deadline.passed:
                    return Lattice(values, n_families, level - 1, complete=False)
                some = masks[first : first + SETS_PER_STEP]
                values[some], occupied = scores.subsets(members, some)
                ceilings.learn(some, occupied)
                if advance is not None:
                    advance(math.comb(k, level + 1) / n_sets * len(some) / len(masks))
            n_families += _kernels.score_families(level, *bounds, values, ceilings.sizes, open_for, best_of)
    except KeyboardInterrupt:
        if level <= least:
            raise
        return Lattice(values, n_families, level - 1, complete=False, interrupted=True)
    return Lattice(values, n_families, most, complete=True)


def bytes_needed(k: int) -> int:
    """Estimate the largest memory that a search over all networks of k variables takes."""
    # For each set: value, size, marks, and its entry in the tree of sets with room to grow. For each family:
    # a score; there are k / 2 families for each set.
    return (1 << k) * (200 + 8 * k // 2)


def seconds_needed(k: int, n_rows: int, n_threads: int, max_parents: int | None = None) -> float:
    """Estimate the time of a search over all networks of k variables if no set is left out.

    Constants are seconds measured on one core of a server processor: for counting a set, for each of its
    samples, and for each step of the dynamic programming.
    """
    most = k if max_parents is None else min(k, max_parents + 1)
    sets = sum(math.comb(k, size) for size in range(most + 1))
    return sets * (2e-6 + 8e-9 * n_rows) / n_threads + 3e-9 * k * k * (1 << k)
