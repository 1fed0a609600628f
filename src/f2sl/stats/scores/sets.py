"""Compute scores of families from one number for each set of variables.

A score that is the same for all DAGs of a Markov equivalence class is a difference: with S a set of
variables and Q the number of all its configurations, seen or not, ::

    score(v | P) = G(P + v) - G(P)

    BDeu   G(S) = sum over the occupied cells of log Gamma(n + ess / Q) - log Gamma(ess / Q)
    BIC    G(S) = sum of n log n - log(N) / 2 * Q

So n variables need 2^n tables instead of scores of n 2^(n-1) families. Each G is rounded to *fixed point*, a
whole number of small units. Then scores of families and whole networks are exact integers. Equivalent DAGs
have equal scores (reversing a covered edge leaves the same sets), and so do DAGs in which a column is
replaced by its copy; no comparison of scores needs a tolerance.

Each set is counted at most once. A tree of sets (:class:`_SetTree`) numbers the sets in the order of first
use, and arrays by these numbers hold the values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.data.engines import CountingEngine, Queries, Tables
from f2sl.stats.scores import _kernels
from f2sl.stats.scores.base import IMPOSSIBLE, UNKNOWN, FamilyScores, words_for

Nodes = NDArray[np.int32]

SETS_PER_BATCH = 1 << 15
"""Sets counted in one call of the engine, which bounds the memory of a batch."""


@dataclass(frozen=True)
class Ceilings:
    """Upper bounds of the scores of families.

    A family of variable v over a set S, and every family of v with these parents and others, scores at most
    ``- weights[v] * sizes[S]`` units. Sizes grow with the set, so the size of a subset is a valid bound while
    that of the set is unknown (0).

    weights : (k,) float64; sizes : (2^k,) float64, by mask; slack : values that differ by more than this
    many units do so whatever was rounded.
    """

    weights: Floats
    sizes: Floats
    slack: int

    def learn(self, masks: Integers, occupied: NDArray[np.int32]) -> None:
        """Update the sizes of some sets by their numbers of occupied cells (0 for BIC, which knows them)."""
        self.sizes[masks] = np.maximum(self.sizes[masks], occupied)


class SetFormula:
    """Formula for G, in units, and the number of cells that are not empty (0 if not needed).

    It is small and holds no values, because formulas are sent to other processes.

    Attributes
    ----------
    unit : float
        Value of one unit in nats. Engines return floats: values have to be whole numbers of at most 53 bits.
    largest_table : float
        Number of configurations above which no family over a set can be in a best network: such sets are
        not counted.
    """

    unit: float
    largest_table: float = math.inf

    def __call__(self, tables: Tables) -> Floats:
        """Return both for each table, (n_tables, 2) float64."""
        raise NotImplementedError

    def ceilings(self, states: Floats, n_rows: int) -> Ceilings:
        """Return upper bounds of all family scores over variables with these numbers of states."""
        raise NotImplementedError


class SetDecomposable(Protocol):
    """Score that is a difference of numbers of sets."""

    def set_formula(self, engine: Any) -> SetFormula:
        """Return the formula for G(S) on an engine's counts."""

    def bind(self, engine: Any) -> FamilyScores:
        """Prepare the score to score families on an engine's data."""


class SetScores:
    """Values G(S) from an engine's counts, each set computed once.

    Parameters
    ----------
    engine : CountingEngine
        Engine that counts the tables.
    score : SetDecomposable
        Score whose families are differences of these numbers, such as ``BDeu(1.0)``.

    Attributes
    ----------
    formula : SetFormula
        Formula for the values.
    unit : float
        Value of one unit in nats.
    n_sets : int
        Number of sets counted.
    """

    def __init__(self, engine: CountingEngine, score: SetDecomposable) -> None:
        self.engine = engine
        self.score = score
        self.n_sets = 0
        # By the sets' numbers in the tree, and as long as the tree has room.
        self._tree = _SetTree()
        self._values: Integers = np.full(self._tree.capacity, UNKNOWN, np.int64)
        self._occupied: NDArray[np.int32] = np.zeros(self._tree.capacity, np.int32)
        self.formula = score.set_formula(engine)
        self.unit = self.formula.unit
        self._values[0] = int(self.formula(_everything(engine))[0, 0])

    @property
    def n_remembered(self) -> int:
        """Number of sets that are remembered, including those too large to be counted."""
        return self._tree._used

    def anew(self) -> SetScores:
        """Return an object for the same scores that remembers no sets, to free memory."""
        return SetScores(self.engine, self.score)

    def lattices(self, members: Integers) -> Integers:
        """Return the values of all subsets of each row of `members`.

        Parameters
        ----------
        members : (m, k) int64
            Sets of k variables, each row in ascending order. Pass many at once: all sets without a value are
            counted together.

        Returns
        -------
        (m, 2**k) int64
            In column `mask` the value, in units, of the members whose bits are set in `mask` (bit i for
            member i).
        """
        nodes = self._tree.lattices(np.ascontiguousarray(members, np.int64))
        self._count(nodes.ravel())
        values: Integers = self._values[nodes]
        return values

    def subsets(self, members: Integers, masks: Integers) -> tuple[Integers, NDArray[np.int32]]:
        """Return the values of some subsets of `members`, and the numbers of their cells that are not empty.

        members : (k,) int64, one set, ascending; masks : (m,) int64, bit i stands for member i, or (m, words)
        for more than 63 members (:func:`words_of`). Returns (m,) int64 and (m,) int32.
        """
        words = masks.reshape(len(masks), words_for(len(members)))
        nodes = self._tree.subsets(np.ascontiguousarray(members, np.int64), words)
        self._count(nodes)
        return self._values[nodes], self._occupied[nodes]

    def ceilings(self, members: Integers) -> Ceilings:
        """Return upper bounds of the scores of all families over some variables."""
        return self.formula.ceilings(
            self.engine.cardinalities[members].astype(np.float64), self.engine.n_rows
        )

    def _count(self, nodes: Integers) -> None:
        """Count the sets among `nodes`, numbers of the tree, that have no value yet."""
        if len(self._values) < self._tree.capacity:
            more = self._tree.capacity - len(self._values)
            self._values = np.concatenate([self._values, np.full(more, UNKNOWN)])
            self._occupied = np.concatenate([self._occupied, np.zeros(more, np.int32)])
        # In the order of their numbers, most sets begin with the same variables as the one before, which
        # engines that refine groups of samples use.
        new = np.unique(nodes[self._values[nodes] == UNKNOWN])
        for first in range(0, len(new), SETS_PER_BATCH):
            batch = new[first : first + SETS_PER_BATCH]
            queries = self._tree.queries(batch)
            # Sets that are too large for any best network are ruled out before they are counted.
            possible = table_sizes(queries, self.engine.cardinalities) <= self.formula.largest_table
            if not possible.all():
                self._values[batch[~possible]] = IMPOSSIBLE
                batch = batch[possible]
                queries = self._tree.queries(batch)
            sums = self.engine.evaluate(queries, self.formula, 2)
            self._values[batch] = sums[:, 0].astype(np.int64)
            self._occupied[batch] = sums[:, 1].astype(np.int32)
            self.n_sets += len(batch)


def table_sizes(queries: Queries, cardinalities: Integers) -> Floats:
    """Return the number of cells of each query's full table."""
    return _kernels.table_sizes(queries.variables, queries.start, cardinalities)


def unit_for(largest: float) -> float:
    """Return the unit in which values up to `largest`, in nats, are whole numbers of at most 53 bits."""
    return float(2.0 ** (math.ceil(math.log2(max(largest, 1.0))) - 52))


def slack_for(n_rows: int, largest: float, unit: float) -> int:
    """Return by how many units two values may differ because of rounding.

    A G sums up to n rounded terms, each off by half a unit and by the rounding of lgamma, which is that of
    its largest value, lgamma(`largest`); a comparison of two families has four of them.
    """
    lost = 4.0 * float(np.spacing(math.lgamma(largest))) / unit
    return math.ceil(4 * n_rows * (1.0 + lost))


def _everything(engine: CountingEngine) -> Tables:
    """Return the table of the empty set: one cell that holds all samples."""
    borders = np.array([0, 1])
    return Tables(
        Queries(np.empty(0, np.int64), np.zeros(2, np.int64)),
        engine.cardinalities,
        counts=np.array([engine.n_rows]),
        cell_start=borders,
        group_start=borders,
        first_group=np.zeros(1, np.int64),
        n_groups=np.ones(1, np.int64),
        full=np.ones(1, np.bool_),
        n_rows=engine.n_rows,
    )


class _SetTree:
    """Numbers of sets of variables, in the order of first use.

    A tree with a hash table, in arrays that the kernels work on (`scores/_kernels.py`, "A tree of sets",
    describes them). A Python dictionary would need a tuple or an integer of its own for each of millions of
    sets, and could not be used in a kernel.
    """

    def __init__(self) -> None:
        self.capacity = 1 << 12
        """Number of sets that there is room for, a power of two."""
        self._used = 1
        self._keys: Integers = np.full(2 * self.capacity, -1, np.int64)
        self._nodes: Nodes = np.zeros(2 * self.capacity, np.int32)
        self._parents: Nodes = np.zeros(self.capacity, np.int32)
        self._smallest: Nodes = np.zeros(self.capacity, np.int32)

    def lattices(self, members: Integers) -> Integers:
        """Return the numbers of all subsets of each row of `members`, (m, 2^k) int64."""
        # The kernel stops where the room might not suffice, and goes on from there when there is more.
        found = np.empty((len(members), 1 << members.shape[1]), np.int64)
        done = 0
        while True:
            done, self._used = _kernels.find_lattices(*self._arrays(), members, done, found)
            if done == len(members):
                return found
            self._grow(found.shape[1])

    def subsets(self, members: Integers, masks: Integers) -> Integers:
        """Return the numbers of some subsets of one set, (m,) int64."""
        found = np.empty(len(masks), np.int64)
        done = 0
        while True:
            done, self._used = _kernels.find_subsets(*self._arrays(), members, masks, done, found)
            if done == len(masks):
                return found
            self._grow(len(members))

    def queries(self, nodes: Integers) -> Queries:
        """Turn numbers of sets into a batch of queries."""
        return Queries(*_kernels.list_members(self._parents, self._smallest, nodes))

    def _arrays(self) -> tuple[Integers, Nodes, Nodes, Nodes, int]:
        return self._keys, self._nodes, self._parents, self._smallest, self._used

    def _grow(self, least: int) -> None:
        """At least double the size of the tree, with space for `least` more sets."""
        # Nodes keep their numbers. Slots of the hash table depend on its size, so all keys are entered again.
        capacity = self.capacity
        while capacity < self._used + least or capacity == self.capacity:
            capacity *= 2
        more = np.zeros(capacity - self.capacity, np.int32)
        self._parents = np.concatenate([self._parents, more])
        self._smallest = np.concatenate([self._smallest, more])
        keys, nodes = np.full(2 * capacity, -1, np.int64), np.zeros(2 * capacity, np.int32)
        _kernels.put_again(keys, nodes, self._keys, self._nodes)
        self._keys, self._nodes, self.capacity = keys, nodes, capacity
