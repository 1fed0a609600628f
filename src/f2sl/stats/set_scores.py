"""Compute scores of families from one number for each set of variables.

A score that is the same for all DAGs of a Markov equivalence class is a difference: with S a set of
variables and Q the number of all its configurations, seen or not, ::

    score(v | P) = G(P + v) - G(P)

    BDeu   G(S) = sum over the occupied cells of log Gamma(n + ess / Q) - log Gamma(ess / Q)
    BIC    G(S) = sum of n log n - log(N) / 2 * Q

So n variables need 2^n tables, where n 2^(n-1) families would have to be scored. Each G is rounded to
*fixed point*, a whole number of small units. Then scores of families and whole networks are exact integers:
equivalent DAGs have equal scores (reversing a covered edge leaves the same sets), so have DAGs
in which a column takes the place of its copy, and no comparison of scores needs a tolerance.

Each set is counted at most once. A tree of sets (:class:`_SetTree`) gives every set that was asked for a
number, and arrays by these numbers hold the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from f2sl._arrays import Floats, Integers
from f2sl.errors import OptionError, unknown_name
from f2sl.stats import _kernels
from f2sl.stats._kernels import UNKNOWN
from f2sl.stats.information import LogTable, sums_of_tables
from f2sl.storage.protocol import CountingEngine, Queries, Tables

Nodes = NDArray[np.int32]

LEAST = _kernels.LEAST
"""Lower bound of the values of sets; the marks `UNKNOWN` and `IMPOSSIBLE` are below it."""

IMPOSSIBLE = UNKNOWN + 1
"""Marks a set that is too large for any family over it to be in a best network."""

MOST_MEMBERS = 40
"""Variables that a set may have, for the choice of the unit: more than any search over all subsets can do."""

COUNTS_REMEMBERED = 128
"""Counts below this are so frequent that their terms are kept while a batch is worked on."""

SETS_PER_BATCH = 1 << 15
"""Sets counted in one call of the engine, which bounds the memory of a batch."""


@dataclass(frozen=True)
class Ceilings:
    """Upper bounds of the scores of families.

    A family of variable v over a set S, and every family of v with these parents and others, scores at most
    ``- weights[v] * sizes[S]`` units. Sizes grow with the set, so the size of a subset is a valid bound where
    that of the set is not known yet (0).

    weights : (k,) float64; sizes : (2^k,) float64, by mask; slack : values that differ by more than this
    many units do so whatever was rounded.

    BIC
        The likelihood is at most 1, so the score is at most minus the penalty, log(N) / 2 * Q (1 - 1 / r)
        (de Campos and Ji 2011, *Efficient structure learning of Bayesian networks using constraints*).
    BDeu
        The score is the log probability of the child's states, predicted one sample after another. The first
        time that a state appears with a configuration of the parents, its probability is at most 1 / r: with
        n samples seen there it is a / (r a + n), where a is the prior of a cell. So the score is at most
        - log r for each occupied cell, and more parents only add to these. De Campos and Ji 2011 count the
        occupied configurations of the parents, which are fewer; Correia, Cussens and de Campos 2020, *On
        pruning for score-based Bayesian network structure learning*, have further bounds.
    """

    weights: Floats
    sizes: Floats
    slack: int

    def learn(self, masks: Integers, occupied: NDArray[np.int32]) -> None:
        """Update the sizes of some sets by their numbers of occupied cells (0 for BIC, which knows them)."""
        self.sizes[masks] = np.maximum(self.sizes[masks], occupied)


class SetScores:
    """Computes the numbers G(S) from an engine's counts, each set once.

    Parameters
    ----------
    engine : CountingEngine
        Engine that counts the tables.
    score : {"bdeu", "bic"}
        Score whose families are differences of these numbers.
    equivalent_sample_size : float
        Weight of BDeu's prior, in samples.

    Attributes
    ----------
    unit : float
        Value of one unit in nats.
    n_sets : int
        Number of sets counted.
    """

    def __init__(
        self, engine: CountingEngine, score: str = "bdeu", equivalent_sample_size: float = 10.0
    ) -> None:
        if score not in SET_SCORES:
            raise OptionError(unknown_name("score", score, SET_SCORES))
        self.engine = engine
        self.score = score
        self.equivalent_sample_size = equivalent_sample_size
        self.n_sets = 0
        # By the sets' numbers in the tree, and as long as the tree has room.
        self._tree = _SetTree()
        self._values: Integers = np.full(self._tree.room, UNKNOWN, np.int64)
        self._occupied: NDArray[np.int32] = np.zeros(self._tree.room, np.int32)
        self._penalty = 0.5 * math.log(engine.n_rows)
        self._largest_table = self._find_largest_table()
        # Engines return floats: values have to be whole numbers of at most 53 bits.
        self.unit = 2.0 ** (math.ceil(math.log2(max(self._largest_value(), 1.0))) - 52)
        self._formula = SetFormula(
            score, equivalent_sample_size, self.unit, self._penalty, LogTable(engine.n_rows)
        )
        self._values[0] = int(self._formula(_everything(engine))[0, 0])

    def _find_largest_table(self) -> float:
        """Return the number of configurations above which BIC penalises a set more than it can explain.

        For any v of a set with Q configurations, score(v | the others) <= - penalty (Q - Q / r), which is at
        most - penalty Q / 2, and score(v | nothing) >= - N log r - penalty (r - 1). (A variable with one
        state needs no parents anyway.)
        """
        if self.score != "bic" or self._penalty == 0.0:
            return math.inf
        states = max(2, int(self.engine.cardinalities.max()))
        return 2.0 * (self.engine.n_rows * math.log(states) / self._penalty + states)

    def _largest_value(self) -> float:
        """Return an upper bound of the absolute value of G, in nats."""
        n, ess = self.engine.n_rows, self.equivalent_sample_size
        if self.score == "bic":
            penalty = self._penalty * self._largest_table if self._penalty else 0.0
            return n * math.log(n + 1.0) + penalty
        # The term of a cell with n samples lies between log(ess / Q) and n log(n + ess).
        log_q = float(np.log(np.sort(self.engine.cardinalities)[-MOST_MEMBERS:]).sum())
        return n * max(math.log(n + ess + 1.0), log_q - math.log(ess))

    @property
    def n_remembered(self) -> int:
        """Number of sets that are remembered, including those too large to be counted."""
        return self._tree._used

    def anew(self) -> SetScores:
        """Return an object for the same scores that remembers no sets, to free memory."""
        return SetScores(self.engine, self.score, self.equivalent_sample_size)

    def lattices(self, members: Integers) -> Integers:
        """Return the values of all subsets of each row of `members`.

        Parameters
        ----------
        members : (m, k) int64
            Sets of k variables, each row in ascending order. Ask for many at once: what is not known
            of all of them is counted together.

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
        words = masks.reshape(len(masks), _n_words(len(members)))
        nodes = self._tree.subsets(np.ascontiguousarray(members, np.int64), words)
        self._count(nodes)
        return self._values[nodes], self._occupied[nodes]

    def ceilings(self, members: Integers) -> Ceilings:
        """Return upper bounds of the scores of all families over some variables."""
        states = self.engine.cardinalities[members].astype(np.float64)
        # A G sums up to n rounded terms, each off by half a unit and by the rounding of lgamma, which is
        # that of its largest value; a comparison of two families has four of them.
        n, ess = self.engine.n_rows, self.equivalent_sample_size
        lost = 4.0 * float(np.spacing(math.lgamma(n + ess))) / self.unit
        slack = math.ceil(4 * n * (1.0 + lost))
        if self.score == "bdeu":
            return Ceilings(np.log(states) / self.unit, np.zeros(1 << len(members)), slack)
        # BIC's sizes are numbers of configurations, known beforehand: each variable doubles the list of
        # masks.
        sizes = np.ones(1)
        for k in states:
            sizes = np.concatenate([sizes, sizes * k])
        return Ceilings(self._penalty * (1.0 - 1.0 / states) / self.unit, sizes, slack)

    def _count(self, nodes: Integers) -> None:
        """Count those sets among `nodes` whose values are not known; `nodes` are numbers of the tree."""
        if len(self._values) < self._tree.room:
            more = self._tree.room - len(self._values)
            self._values = np.concatenate([self._values, np.full(more, UNKNOWN)])
            self._occupied = np.concatenate([self._occupied, np.zeros(more, np.int32)])
        # In the order of their numbers, most sets begin with the same variables as the one before, which
        # engines that refine groups of samples use.
        new = np.unique(nodes[self._values[nodes] == UNKNOWN])
        for first in range(0, len(new), SETS_PER_BATCH):
            batch = new[first : first + SETS_PER_BATCH]
            queries = self._tree.queries(batch)
            sizes = _kernels.table_sizes(queries.variables, queries.start, self.engine.cardinalities)
            # BIC rules out sets that are too large, before they are counted.
            possible = sizes <= self._largest_table
            if not possible.all():
                self._values[batch[~possible]] = IMPOSSIBLE
                batch = batch[possible]
                queries = self._tree.queries(batch)
            sums = self.engine.evaluate(queries, self._formula, 2)
            self._values[batch] = sums[:, 0].astype(np.int64)
            self._occupied[batch] = sums[:, 1].astype(np.int32)
            self.n_sets += len(batch)


@dataclass(frozen=True)
class SetFormula:
    """Formula for G, in units, and the number of cells that are not empty (0 for BIC, which needs none).

    A small object without the values, because formulas travel to other processes.
    """

    score: str
    equivalent_sample_size: float
    unit: float
    penalty: float
    table: LogTable

    def __call__(self, tables: Tables) -> Floats:
        """Return both for each table, (n_tables, 2) float64."""
        return SET_SCORES[self.score](self, tables)

    def _bdeu(self, tables: Tables) -> Floats:
        # Tables with equally many cells have the same prior, and share the terms of small counts.
        queries = tables.queries
        sizes = _kernels.table_sizes(queries.variables, queries.start, tables.cardinalities)
        different, which = np.unique(sizes, return_inverse=True)
        sums = np.empty((len(queries), 2))
        _kernels.set_sums(
            tables.counts,
            tables.group_start,
            tables.first_group,
            tables.n_groups,
            self.equivalent_sample_size / sizes,
            np.full((len(different), COUNTS_REMEMBERED), UNKNOWN),
            which,
            self.unit,
            sums,
        )
        return sums

    def _bic(self, tables: Tables) -> Floats:
        queries = tables.queries
        sizes = _kernels.table_sizes(queries.variables, queries.start, tables.cardinalities)
        cells, _ = sums_of_tables(tables, self.table)
        # Likelihood and penalty are rounded apart, so that each depends on its own numbers alone.
        fit = np.rint(cells * (self.table.unit / self.unit))
        return np.column_stack([fit - np.rint(self.penalty * sizes / self.unit), np.zeros(len(queries))])


SET_SCORES: dict[str, Callable[[SetFormula, Tables], Floats]] = {
    "bdeu": SetFormula._bdeu,
    "bic": SetFormula._bic,
}
"""Scores that are differences of set values, by name."""


def words_of(masks: Sequence[int], n_members: int) -> Integers:
    """Return masks of any size as rows of 64-bit words, the first of which has the bits of members 0 to 63.

    Python's integers have no largest one; the kernels' do.

    Examples
    --------
    >>> words_of([5, 1 << 64], 65).tolist()
    [[5, 0], [0, 1]]
    """
    n_words = _n_words(n_members)
    bits = b"".join([mask.to_bytes(8 * n_words, "little") for mask in masks])
    return np.frombuffer(bits, "<i8").reshape(len(masks), n_words)


def _n_words(n_members: int) -> int:
    return max(1, -(-n_members // 64))


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
    """Gives sets of variables numbers, in the order in which they are first asked for.

    A tree with a hash table, in arrays that the kernels work on (`stats/_kernels.py`, "A tree of sets",
    describes them). A Python dictionary would need a tuple or an integer of its own for each of millions of
    sets, and could not be used in a kernel.
    """

    def __init__(self) -> None:
        self.room = 1 << 12
        """Number of sets that there is room for, a power of two."""
        self._used = 1
        self._keys: Integers = np.full(2 * self.room, -1, np.int64)
        self._nodes: Nodes = np.zeros(2 * self.room, np.int32)
        self._parents: Nodes = np.zeros(self.room, np.int32)
        self._smallest: Nodes = np.zeros(self.room, np.int32)

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
        """Make the tree at least twice as large, with room for `least` more sets."""
        # Nodes keep their numbers. Slots of the hash table depend on its size, so all keys are entered again.
        room = self.room
        while room < self._used + least or room == self.room:
            room *= 2
        more = np.zeros(room - self.room, np.int32)
        self._parents = np.concatenate([self._parents, more])
        self._smallest = np.concatenate([self._smallest, more])
        keys, nodes = np.full(2 * room, -1, np.int64), np.zeros(2 * room, np.int32)
        _kernels.put_again(keys, nodes, self._keys, self._nodes)
        self._keys, self._nodes, self.room = keys, nodes, room
