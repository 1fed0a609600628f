"""Scores of families from one number for each set of variables.

A score that is the same for all DAGs of a Markov equivalence class is a difference: with S a set of
variables and Q the number of all its configurations, seen or not, ::

    score(v | P) = G(P + v) - G(P)

    BDeu   G(S) = sum over the occupied cells of log Gamma(n + ess / Q) - log Gamma(ess / Q)
    BIC    G(S) = sum of n log n - log(N) / 2 * Q

So n variables need 2^n tables, where n 2^(n-1) families would have to be scored. Each G is rounded to
*fixed point*, a whole number of small units. Then scores of families and whole networks are exact: DAGs
that are equivalent have equal scores (turning a covered edge leaves the same sets), so have those
in which a column takes the place of its copy, and nothing that compares scores needs a tolerance.

A set is counted once, whoever asks for it, and the tree of sets knows which were.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.stats.scores import _kernels
from f2sl.stats.scores.base import IMPOSSIBLE, UNKNOWN, words_for
from f2sl.storage.protocol import CountingEngine, Queries, Tables

Nodes = NDArray[np.int32]

SETS_PER_BATCH = 1 << 15


@dataclass(frozen=True)
class Ceilings:
    """Upper bounds of the scores of families.

    A family of variable v over a set S, and every family of v with these parents and others, scores at most
    ``- weights[v] * sizes[S]`` units. Sizes grow with the set, so the size of a subset may stand in for one
    that is not known (0). Two values that differ by more than `slack` do so in spite of all rounding.
    """

    weights: Floats
    sizes: Floats
    slack: int

    def learn(self, masks: Integers, occupied: NDArray[np.int32]) -> None:
        """Take note of how many cells of some sets are occupied."""
        self.sizes[masks] = np.maximum(self.sizes[masks], occupied)


class SetFormula:
    """Formula for G(S) in units, with the number of cells that are not empty (0 where that is not needed).

    Attributes
    ----------
    unit : float
        What a value is to be multiplied with, for a log score in nats. Values have to fit into the 53 bits of
        a float, which is what engines return.
    largest_table : float
        Sets with more configurations are not counted: no family over them can be in a best network.
    """

    unit: float
    largest_table: float = math.inf

    def __call__(self, tables: Tables) -> Floats:
        """Return both for each table."""
        raise NotImplementedError

    def ceilings(self, states: Floats, n_rows: int) -> Ceilings:
        """Bound what families over variables with so many states can score, with any number of parents."""
        raise NotImplementedError


class SetDecomposable(Protocol):
    """A score that is a difference of numbers of sets."""

    def set_formula(self, engine: Any) -> SetFormula:
        """Make the formula for G(S) on an engine's counts."""


class SetScores:
    """The numbers G(S) on an engine's counts, each set counted once.

    Parameters
    ----------
    engine : CountingEngine
        Where tables are counted.
    score : SetDecomposable
        The score whose differences are wanted, such as ``BDeu(1.0)``.

    Attributes
    ----------
    unit : float
        What a value is to be multiplied with, for a log score in nats.
    n_sets : int
        How many sets were counted.
    """

    def __init__(self, engine: CountingEngine, score: SetDecomposable) -> None:
        self.engine = engine
        self.score = score
        self.n_sets = 0
        self._tree = _SetTree()
        self._values: Integers = np.full(self._tree.room, UNKNOWN, np.int64)
        self._occupied: NDArray[np.int32] = np.zeros(self._tree.room, np.int32)
        self._formula = score.set_formula(engine)
        self.unit = self._formula.unit
        self._values[0] = int(self._formula(_everything(engine))[0, 0])

    @property
    def n_remembered(self) -> int:
        """Number of sets that are remembered, those too large to be counted included."""
        return self._tree._used

    def anew(self) -> SetScores:
        """Return the same scores with nothing remembered."""
        return SetScores(self.engine, self.score)

    def lattices(self, members: Integers) -> Integers:
        """Return the values of all subsets of each row of `members`.

        Parameters
        ----------
        members : array of shape (m, k)
            Sets of k variables, each row in ascending order. Ask for many at once: what is not known
            of all of them is counted together.

        Returns
        -------
        array of shape (m, 2**k)
            In column `mask` the value, in units, of the members whose bits are set in `mask` (bit i for
            member i).
        """
        nodes = self._tree.lattices(np.ascontiguousarray(members, np.int64))
        self._count(nodes.ravel())
        values: Integers = self._values[nodes]
        return values

    def subsets(self, members: Integers, masks: Integers) -> tuple[Integers, NDArray[np.int32]]:
        """Return the values of some subsets of `members`, and the numbers of their cells that are not empty.

        `members` is one set, ascending; bit i of a mask stands for member i. Masks of more than 63 members
        are rows of several words (:func:`words_of`).
        """
        words = masks.reshape(len(masks), words_for(len(members)))
        nodes = self._tree.subsets(np.ascontiguousarray(members, np.int64), words)
        self._count(nodes)
        return self._values[nodes], self._occupied[nodes]

    def ceilings(self, members: Integers) -> Ceilings:
        """Bound what families over some variables can score, however many parents they have."""
        return self._formula.ceilings(
            self.engine.cardinalities[members].astype(np.float64), self.engine.n_rows
        )

    def _count(self, nodes: Integers) -> None:
        """Count those sets among `nodes` that are not known."""
        if len(self._values) < self._tree.room:
            more = self._tree.room - len(self._values)
            self._values = np.concatenate([self._values, np.full(more, UNKNOWN)])
            self._occupied = np.concatenate([self._occupied, np.zeros(more, np.int32)])
        # By number, each set shares much with the one before: engines may use that.
        new = np.unique(nodes[self._values[nodes] == UNKNOWN])
        for first in range(0, len(new), SETS_PER_BATCH):
            batch = new[first : first + SETS_PER_BATCH]
            queries = self._tree.queries(batch)
            sizes = table_sizes(queries, self.engine.cardinalities)
            possible = sizes <= self._formula.largest_table
            if not possible.all():
                self._values[batch[~possible]] = IMPOSSIBLE
                batch = batch[possible]
                queries = self._tree.queries(batch)
            sums = self.engine.evaluate(queries, self._formula, 2)
            self._values[batch] = sums[:, 0].astype(np.int64)
            self._occupied[batch] = sums[:, 1].astype(np.int32)
            self.n_sets += len(batch)


def table_sizes(queries: Queries, cardinalities: Integers) -> Floats:
    """Return the number of cells of each query's full table."""
    return _kernels.table_sizes(queries.variables, queries.start, cardinalities)


def unit_for(largest: float) -> float:
    """Return the unit in which values up to `largest`, in nats, fit into the 53 bits of a float."""
    return float(2.0 ** (math.ceil(math.log2(max(largest, 1.0))) - 52))


def slack_for(n_rows: int, largest: float, unit: float) -> int:
    """Return by how many units two values differ in spite of all rounding.

    Each G is rounded, and the logarithms of Gamma lose something where they are large, as that of `largest`.
    """
    lost = 4.0 * float(np.spacing(math.lgamma(largest))) / unit
    return math.ceil(4 * n_rows * (1.0 + lost))


def _everything(engine: CountingEngine) -> Tables:
    """Count the empty set: one cell that holds all samples."""
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
    """Numbers for sets of variables, given out as sets are met for the first time."""

    def __init__(self) -> None:
        self.room = 1 << 12
        """Number of sets that there is room for."""
        self._used = 1
        self._keys: Integers = np.full(2 * self.room, -1, np.int64)
        self._nodes: Nodes = np.zeros(2 * self.room, np.int32)
        self._parents: Nodes = np.zeros(self.room, np.int32)
        self._smallest: Nodes = np.zeros(self.room, np.int32)

    def lattices(self, members: Integers) -> Integers:
        """Return the numbers of all subsets of each row of `members`."""
        found = np.empty((len(members), 1 << members.shape[1]), np.int64)
        done = 0
        while True:
            done, self._used = _kernels.find_lattices(*self._arrays(), members, done, found)
            if done == len(members):
                return found
            self._grow(found.shape[1])

    def subsets(self, members: Integers, masks: Integers) -> Integers:
        """Return the numbers of some subsets of one set."""
        found = np.empty(len(masks), np.int64)
        done = 0
        while True:
            done, self._used = _kernels.find_subsets(*self._arrays(), members, masks, done, found)
            if done == len(masks):
                return found
            self._grow(len(members))

    def queries(self, nodes: Integers) -> Queries:
        """Turn numbers of sets into questions to an engine."""
        return Queries(*_kernels.list_members(self._parents, self._smallest, nodes))

    def _arrays(self) -> tuple[Integers, Nodes, Nodes, Nodes, int]:
        return self._keys, self._nodes, self._parents, self._smallest, self._used

    def _grow(self, least: int) -> None:
        """Make the tree at least twice as large, with room for `least` sets more."""
        room = self.room
        while room < self._used + least or room == self.room:
            room *= 2
        more = np.zeros(room - self.room, np.int32)
        self._parents = np.concatenate([self._parents, more])
        self._smallest = np.concatenate([self._smallest, more])
        keys, nodes = np.full(2 * room, -1, np.int64), np.zeros(2 * room, np.int32)
        _kernels.put_again(keys, nodes, self._keys, self._nodes)
        self._keys, self._nodes, self.room = keys, nodes, room
